/* Values of a JSON tree by their path, as messages and columns write it: noc.fifo_depth, units[2].busy. */
#pragma once

#include <jansson.h>

/* NULL when it is not there. A key may itself hold dots; the longest one that exists is taken. Borrowed. */
json_t *json_find(const json_t *root, const char *path);

/* A number as short as it can be and still be read back the same; "8", "0.1". To be freed. */
char *json_number_text(const json_t *number);

/* A value as a table shows it: texts bare, numbers as above, lists and objects as compact JSON. To be freed. */
char *json_cell_text(const json_t *value);
