/* The page of accuracy: every entry of the recordings, what the reference machine did and what we do. Entries are added
 * as they are replayed; the page is written at the end, a summary first. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analysis/replay.h"

struct accuracy_page;

struct accuracy_page *accuracy_page_new(void);
void accuracy_page_free(struct accuracy_page *page);
/* Starts a file's table; `kind` as replay_file_kind says. False when the file cannot be read. */
bool accuracy_page_file(struct accuracy_page *page, const char *path, const char *kind, GError **error);
void accuracy_page_entry(struct accuracy_page *page, const char *label, const struct replay_result *result);
/* After the last entry, before it is printed. */
bool accuracy_page_end(struct accuracy_page *page, GError **error);
void accuracy_page_print(const struct accuracy_page *page, FILE *out);
/* How the summary's line of a file begins when the page is current, to be freed; NULL when the file cannot be read. */
char *accuracy_page_summary(const char *path, const char *kind, unsigned entries, unsigned exact, GError **error);
