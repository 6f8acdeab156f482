/* What changed between two runs, two sweeps, or a run and a recorded one: in configuration, in cycles, and which causes
 * of waiting account for the difference. A side is
 *
 *     DIR with result.json or results.db, a result, a store, or FILE#ENTRY: an entry of a file of recorded runs,
 *     by its name or tag, or by its place from 0.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

/* The comparison as a document, schema flitsim.compare/1 (docs/results-db.md); NULL and an error. */
json_t *compare_sides(const char *a, const char *b, GError **error);

/* The same for people, to be freed. */
char *compare_text(const json_t *comparison);
