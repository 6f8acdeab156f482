/* Reading a point's workload. */
#pragma once

#include "model/json_source.h"

/* Every key of the workload as JSON, after `sets`; NULL and an error when it is wrong. */
json_t *sweep_workload_tree(const char *name, char *const *sets, GError **error);
