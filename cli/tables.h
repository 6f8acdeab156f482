/* What the commands print of a store. */
#pragma once

#include <stdbool.h>

#include "analysis/store.h"
#include "analysis/sweep.h"

/* Whether the sweep says which columns answer its question. */
bool sweep_has_answer(const struct sweep *sweep);

/* The question, and the table of its answer, on standard output. */
bool table_print_answer(struct store *store, GError **error);
