/* Activity over time: how much of everything happened in each interval of a run. An observer of the run that keeps one
 * row an interval; the sum of every column is the run's total (checked when it is written down). */
#pragma once

#include <jansson.h>

#include "workloads/run.h"

struct series;

/* `interval` in cycles, at least 1. */
struct series *series_new(uint64_t interval);
void series_free(struct series *series);

/* To be added to run->observers before the run. */
struct run_observer *series_observer(struct series *series);

/* The result's key "series": {interval, from, columns: {name: [n, …]}, totals: {name: n}}. FS_ERROR_INTERNAL when a
 * column does not add up to what the run counted. */
json_t *series_json(const struct series *series, const struct run *run, GError **error);
