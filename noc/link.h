/* One direction of a link as its sender sees it (noc-and-memory §3.1): may the flit go in this cycle, and hand it over.
 * Acceptance is a function of the receiver's state at the start of the cycle. */
#pragma once

#include <stdbool.h>

#include "model/cycle.h"
#include "model/flit.h"

struct link_sink {
    void *self;
    /* True if a flit offered in cycle now is taken in it. No side effects but counters of refusals. */
    bool (*accepts)(void *self, const struct flit *flit, cycle_t now);
    /* Takes the flit, accepted in cycle now; only after accepts() said so for the same cycle. */
    void (*deliver)(void *self, flit_index flit, cycle_t now);
};
