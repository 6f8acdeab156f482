/* Loading of unit types; see plugin.h. */
#include "units/plugin.h"

#include <gmodule.h>

struct plugin_set {
    GPtrArray *modules; /* of GModule */
    GPtrArray *types;   /* of const struct unit_type, the modules' own */
    char *complaint;    /* about the type added last, or NULL */
};

static const struct unit_type *const built_in[] = {&unit_type_cluster, &unit_type_vector};

const struct unit_type *plugin_find_type(const struct plugin_set *set, const char *name) {
    for (unsigned i = 0; i < G_N_ELEMENTS(built_in); i++)
        if (g_strcmp0(built_in[i]->name, name) == 0)
            return built_in[i];
    for (guint i = 0; set && i < set->types->len; i++) {
        const struct unit_type *type = g_ptr_array_index(set->types, i);
        if (g_strcmp0(type->name, name) == 0)
            return type;
    }
    return NULL;
}

bool plugin_add_unit_type(struct plugin_set *set, const struct unit_type *type) {
    bool whole = type->name && type->create && type->destroy && type->step && type->debug_register && type->report &&
                 type->waits_for && type->digest;
    g_clear_pointer(&set->complaint, g_free);
    if (!whole)
        set->complaint = g_strdup_printf("unit type %s lacks a function", type->name ? type->name : "without a name");
    else if (plugin_find_type(set, type->name))
        set->complaint = g_strdup_printf("unit type %s exists already", type->name);
    else
        g_ptr_array_add(set->types, (void *)type);
    return !set->complaint;
}

/* ---- files ---- */

static char *beside_executable(const char *folder, const char *name) {
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *home = self ? g_path_get_dirname(self) : g_strdup(".");
    return g_build_filename(home, folder, name, NULL);
}

static char *find_file(const char *file) {
    static const char *const folders[] = {"plugins", "../plugins", "../lib/flitsim/plugins"};
    g_autofree char *name = g_path_get_basename(file);
    const char *own = g_getenv("FLITSIM_PLUGINS");
    if (g_file_test(file, G_FILE_TEST_EXISTS))
        return g_strdup(file);
    g_autofree char *named = own && own[0] ? g_build_filename(own, name, NULL) : NULL;
    if (named && g_file_test(named, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&named);
    for (unsigned i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *found = beside_executable(folders[i], name);
        if (g_file_test(found, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&found);
    }
    return NULL;
}

static bool load_file(struct plugin_set *set, const char *file, GError **error) {
    g_autofree char *found = find_file(file);
    gpointer entry = NULL;
    if (!found) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                    "plugins: %s is not there and not among the shipped plug-ins, expected a shared object", file);
        return false;
    }
    GModule *module = g_module_open(found, G_MODULE_BIND_LOCAL);
    if (!module) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "plugins: can't be loaded: %s, expected a shared object",
                    g_module_error());
        return false;
    }
    g_ptr_array_add(set->modules, module);
    if (!g_module_symbol(module, PLUGIN_ENTRY, &entry) || !entry) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "plugins: %s is no plug-in, expected it to export " PLUGIN_ENTRY,
                    found);
        return false;
    }
    if (((plugin_register *)entry)(set, PLUGIN_VERSION))
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "plugins: %s: %s, expected unit types of version %d", found,
                set->complaint ? set->complaint : "it refuses this simulator", PLUGIN_VERSION);
    return false;
}

/* ---- the set ---- */

static void close_module(void *module) {
    g_module_close(module);
}

struct plugin_set *plugin_set_load(const struct machine *machine, GError **error) {
    struct plugin_set *set = g_new0(struct plugin_set, 1);
    set->modules = g_ptr_array_new_with_free_func(close_module);
    set->types = g_ptr_array_new();
    for (char **file = machine->plugins; file && *file; file++)
        if (!load_file(set, *file, error)) {
            plugin_set_free(set);
            return NULL;
        }
    return set;
}

void plugin_set_free(struct plugin_set *set) {
    if (!set)
        return;
    g_ptr_array_unref(set->types);
    g_ptr_array_unref(set->modules);
    g_free(set->complaint);
    g_free(set);
}
