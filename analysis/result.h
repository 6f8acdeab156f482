/* A run as the result document: schema flitsim.result/1, the same keys for files, --json and everybody who reads them.
 */
#pragma once

#include <jansson.h>

#include "workloads/run.h"

#define RESULT_SCHEMA "flitsim.result/1"

/* The whole document, to be decref'd. FS_ERROR_INTERNAL when a sum that must hold does not: the causes of a component
 * against the length of the run, flits made against flits delivered. */
json_t *result_build(const struct run *run, GError **error);

/* SHA-256 over everything the simulated machine did: final memory, unit state, counters, cycles. To be freed. */
char *result_digest(const struct run *run);

/* The summary for people, to be freed. */
char *result_summary(const json_t *result);

/* 0 when every check held, 1 when the run ended but something is wrong. */
int result_status(const struct run *run);
