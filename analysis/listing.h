/* The listing of vector kernels with the cycles each word took. */
#pragma once

#include <jansson.h>

#include "workloads/profile.h"

/* One object an image: cores, runs, cycles and its words. To be decref'd. */
json_t *listing_json(const struct profile *profile);
/* The same as text. To be freed. */
char *listing_text(const struct profile *profile);
