/* See sweep_workload.h. */
#include "analysis/sweep_workload.h"

#include "workloads/workload.h"

json_t *sweep_workload_tree(const char *name, char *const *sets, GError **error) {
    struct workload workload;
    if (!workload_load(&workload, name, sets, error))
        return NULL;
    json_t *tree = workload_json(&workload);
    workload_clear(&workload);
    return tree;
}
