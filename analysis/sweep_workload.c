/* See sweep_workload.h. */
#include "analysis/sweep_workload.h"

#include <string.h>

json_t *sweep_workload_tree(const char *name, char *const *sets, GError **error) {
    gsize length = strcspn(name, ":");
    struct json_source source;
    if (!json_source_parse(&source, "workload", "{}", 2, error))
        return NULL;
    json_object_set_new(source.root, "workload", json_stringn(name, length));
    g_auto(GStrv) pieces = g_strsplit(name[length] ? name + length + 1 : "", ",", -1);
    bool fine = true;
    for (unsigned i = 0; pieces[i] && fine; i++)
        fine = !strchr(pieces[i], '=') || json_source_set(&source, 1, "workload", pieces[i], error);
    for (unsigned i = 0; sets && sets[i] && fine; i++)
        fine = !g_str_has_prefix(sets[i], "workload.") || json_source_set(&source, i + 1, "workload", sets[i], error);
    json_t *tree = fine ? json_incref(source.root) : NULL;
    json_source_clear(&source);
    return tree;
}
