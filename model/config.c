/* See config.h. */
#include "model/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys.h"
#include "model/map.h"
#include "model/routing_table.h"

/* ---- finding ---- */

/* Folders that may hold `folder`, in the order in which they are asked; NULL-terminated. */
static char **config_places(const char *folder) {
    GPtrArray *places = g_ptr_array_new();
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *home = self ? g_path_get_dirname(self) : NULL;
    const char *own = g_getenv("FLITSIM_CONFIGS");
    if (own && own[0])
        g_ptr_array_add(places, g_build_filename(own, folder, NULL));
    if (home) {
        g_ptr_array_add(places, g_build_filename(home, "configs", folder, NULL));
        g_ptr_array_add(places, g_build_filename(home, "..", "share", "flitsim", "configs", folder, NULL));
    }
    g_ptr_array_add(places, g_build_filename(FLITSIM_SOURCE_CONFIGS, folder, NULL));
    g_ptr_array_add(places, NULL);
    return (char **)g_ptr_array_free(places, FALSE);
}

static void add_names(GPtrArray *names, const char *place) {
    GDir *folder = g_dir_open(place, 0, NULL);
    const char *entry;
    while (folder && (entry = g_dir_read_name(folder)))
        if (g_str_has_suffix(entry, ".json"))
            g_ptr_array_add(names, g_strndup(entry, strlen(entry) - strlen(".json")));
    g_clear_pointer(&folder, g_dir_close);
}

static char *nearest_shipped(char **places, const char *name) {
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; places[i]; i++)
        add_names(names, places[i]);
    char *near = g_strdup(nearest_word(name, (const char *const *)names->pdata, names->len));
    g_ptr_array_unref(names);
    return near;
}

static char *file_in(char **places, const char *name) {
    for (size_t i = 0; places[i]; i++) {
        char *file = g_build_filename(places[i], name, NULL);
        if (g_file_test(file, G_FILE_TEST_IS_REGULAR))
            return file;
        g_free(file);
    }
    return NULL;
}

static char *shipped_file(char **places, const char *name) {
    g_autofree char *base = g_strconcat(name, ".json", NULL);
    return file_in(places, base);
}

char *config_find_file(const char *folder, const char *file) {
    char **places = config_places(folder), *found = file_in(places, file);
    g_strfreev(places);
    return found;
}

char *config_find(const char *folder, const char *name, GError **error) {
    if (strchr(name, '/') || g_str_has_suffix(name, ".json") || g_file_test(name, G_FILE_TEST_IS_REGULAR))
        return g_strdup(name);
    char **places = config_places(folder);
    char *file = shipped_file(places, name);
    if (!file) {
        g_autofree char *near = nearest_shipped(places, name);
        json_source_error_at(error, name, 1, 1, "(file)", "is no file and none of the shipped %s, expected %s%s",
                             folder, near ? "perhaps " : "a file", near ? near : "");
    }
    g_strfreev(places);
    return file;
}

char *config_find_data(const char *name) {
    char **places = config_places("data"), *found = NULL;
    for (size_t i = 0; places[i] && !found; i++) {
        GDir *folder = g_dir_open(places[i], 0, NULL);
        const char *set;
        while (folder && !found && (set = g_dir_read_name(folder))) {
            g_autofree char *file = g_build_filename(places[i], set, name, NULL);
            if (g_file_test(file, G_FILE_TEST_IS_REGULAR))
                found = g_steal_pointer(&file);
        }
        g_clear_pointer(&folder, g_dir_close);
    }
    g_strfreev(places);
    return found;
}

char *config_find_kernels(void) {
    char **places = config_places("kernels"), *found = NULL;
    for (size_t i = 0; places[i] && !found; i++)
        if (g_file_test(places[i], G_FILE_TEST_IS_DIR))
            found = g_strdup(places[i]);
    g_strfreev(places);
    return found ? found : g_build_filename(FLITSIM_SOURCE_CONFIGS, "..", "workloads", "kernels", NULL);
}

/* ---- a machine ---- */

static void default_name(struct machine *machine, const char *file) {
    if (machine->name)
        return;
    machine->name = g_path_get_basename(file);
    if (g_str_has_suffix(machine->name, ".json") && strlen(machine->name) > strlen(".json"))
        machine->name[strlen(machine->name) - strlen(".json")] = '\0';
}

/* A file the machine names is meant from where the machine file lies, wherever the program is started. */
static void resolve_files(struct machine *machine, const struct json_source *source) {
    if (!machine->noc.routing_table)
        return;
    g_autofree char *name = machine->noc.routing_table;
    g_autofree char *file = json_source_beside(source, "noc.routing_table", name);
    machine->noc.routing_table = g_canonicalize_filename(file, NULL);
}

static void finish(struct machine *machine, const struct json_source *source) {
    default_name(machine, source->file);
    resolve_files(machine, source);
    for (unsigned i = 0; i < machine->mesh_count; i++) {
        struct machine *mesh = &machine->meshes[i];
        g_free(mesh->name);
        mesh->name = g_strdup_printf("%s.mesh%u", machine->name, i);
        resolve_files(mesh, source);
    }
}

/* Every mesh has a table of its own. */
static bool load_routing_table(struct machine *machine, GError **error) {
    const char *file = machine->noc.routing_table;
    if (file) {
        g_autofree char *text = json_source_read_text(file, NULL, error);
        machine->noc.table = text ? routing_table_parse(text, file, error) : NULL;
        if (!machine->noc.table)
            return false;
    }
    for (unsigned i = 0; i < machine->mesh_count; i++)
        if (!load_routing_table(&machine->meshes[i], error))
            return false;
    return true;
}

bool config_read_machine(struct machine *machine, const struct json_source *source, GError **error) {
    machine_init(machine);
    if (!keys_parse(source, machine, error) || !map_parse(source, machine, error) ||
        !keys_check(source, machine, error)) {
        machine_clear(machine);
        return false;
    }
    finish(machine, source);
    if (load_routing_table(machine, error))
        return true;
    machine_clear(machine);
    return false;
}

/* "mesh_5x3": the bare mesh of that size, which needs no file. */
static bool is_bare_name(const char *name, unsigned *columns, unsigned *rows) {
    int end = 0;
    return sscanf(name, "mesh_%4ux%4u%n", columns, rows, &end) == 2 && end > 0 && !name[end];
}

bool config_open_machine(struct json_source *source, const char *name, GError **error) {
    unsigned columns, rows;
    if (is_bare_name(name, &columns, &rows) && !g_file_test(name, G_FILE_TEST_EXISTS)) {
        g_autofree char *text =
            g_strdup_printf("{\"bare\": true, \"mesh\": {\"columns\": %u, \"rows\": %u}}", columns, rows);
        return json_source_parse(source, name, text, strlen(text), error);
    }
    g_autofree char *file = config_find("machines", name, error);
    return file && json_source_load(source, file, error);
}

bool config_set_is_workload(const char *assignment) {
    return g_str_has_prefix(assignment, "workload.");
}

bool config_load_machine(struct machine *machine, const char *name, char *const *sets, GError **error) {
    struct json_source source;
    if (!config_open_machine(&source, name, error))
        return false;
    bool fine = true;
    for (unsigned i = 0; sets && sets[i] && fine; i++)
        fine = config_set_is_workload(sets[i]) || json_source_set(&source, i + 1, "machine", sets[i], error);
    fine = fine && config_read_machine(machine, &source, error);
    json_source_clear(&source);
    return fine;
}

/* ---- a machine as a file ---- */

static void add_parameter(json_t *root, const struct config_key *key, const struct machine *machine) {
    json_t *value = key_json(key, machine), *group = root;
    const char *dot = strchr(key->path, '.');
    if (!value)
        return;
    if (dot) {
        g_autofree char *name = g_strndup(key->path, (gsize)(dot - key->path));
        if (!json_object_get(root, name))
            json_object_set_new(root, name, json_object());
        group = json_object_get(root, name);
    }
    json_object_set_new(group, dot ? dot + 1 : key->path, value);
}

static void add_places(json_t *root, const struct machine *machine) {
    json_t *ports = json_array(), *units = json_array();
    for (unsigned i = 0; i < machine->port_count; i++)
        json_array_append_new(ports,
                              json_pack("{s:i, s:i}", "x", (int)machine->ports[i].x, "y", (int)machine->ports[i].y));
    for (unsigned i = 0; i < machine->unit_count; i++) {
        const struct machine_unit *unit = &machine->units[i];
        json_array_append_new(units, json_pack("{s:s, s:s, s:i, s:i, s:i}", "type", unit->type, "name", unit->name, "x",
                                               (int)unit->x, "y", (int)unit->y, "port", (int)unit->port));
    }
    json_object_set_new(root, "ports", ports);
    json_object_set_new(root, "units", units);
}

static void add_mesh(json_t *root, const struct machine *machine) {
    json_object_set_new(root, "mesh", json_pack("{s:i, s:i}", "columns", (int)machine->nx, "rows", (int)machine->ny));
    if (machine->bare)
        json_object_set_new(root, "bare", json_true());
    else
        add_places(root, machine);
}

static void add_meshes(json_t *root, const struct machine *machine) {
    json_t *meshes = json_array(), *line = json_array();
    for (unsigned i = 0; i < machine->mesh_count; i++) {
        json_t *mesh = json_object();
        add_mesh(mesh, &machine->meshes[i]);
        json_array_append_new(meshes, mesh);
        json_array_append_new(line, json_integer(machine->line[i]));
    }
    json_object_set_new(root, "meshes", meshes);
    json_object_set_new(root, "line", line);
}

/* Unit types beyond the architecture's own need a token to be known by; the token itself is free. */
static void add_tokens(json_t *tokens, GHashTable *seen, const struct machine *machine) {
    for (unsigned i = 0; i < machine->unit_count; i++) {
        char token[16];
        if (machine->units[i].kind != UNIT_PLUGIN || !g_hash_table_add(seen, machine->units[i].type))
            continue;
        snprintf(token, sizeof token, "u%02u", g_hash_table_size(seen) - 1);
        json_object_set_new(tokens, token, json_string(machine->units[i].type));
    }
    for (unsigned i = 0; i < machine->mesh_count; i++)
        add_tokens(tokens, seen, &machine->meshes[i]);
}

static void add_plugins(json_t *root, const struct machine *machine) {
    json_t *tokens = json_object(), *plugins = json_array();
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    add_tokens(tokens, seen, machine);
    for (size_t i = 0; machine->plugins && machine->plugins[i]; i++)
        json_array_append_new(plugins, json_string(machine->plugins[i]));
    g_hash_table_unref(seen);
    json_object_set_new(root, "tokens", tokens);
    json_object_set_new(root, "plugins", plugins);
}

json_t *config_machine_tree(const struct machine *machine) {
    json_t *root = json_pack("{s:s}", "schema", MACHINE_SCHEMA);
    for (size_t i = 0; i < machine_key_count; i++)
        add_parameter(root, &machine_keys[i], machine);
    (machine->mesh_count ? add_meshes : add_mesh)(root, machine);
    add_plugins(root, machine);
    return root;
}

char *config_machine_json(const struct machine *machine) {
    json_t *root = config_machine_tree(machine);
    char *dump = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    char *text = g_strconcat(dump, "\n", NULL);
    free(dump);
    json_decref(root);
    return text;
}
