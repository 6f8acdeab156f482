/* Workloads from files and short forms; see workload.h. */
#include "workloads/workload.h"

#include <string.h>

#include "model/config.h"

static const struct workload_type *find_type(const char *id, gsize length) {
    for (size_t i = 0; workload_types[i]; i++)
        if (strlen(workload_types[i]->id) == length && strncmp(workload_types[i]->id, id, length) == 0)
            return workload_types[i];
    return NULL;
}

static const char *nearest_type(const char *id) {
    const char *ids[64];
    size_t count = 0;
    for (; workload_types[count] && count < G_N_ELEMENTS(ids); count++)
        ids[count] = workload_types[count]->id;
    return nearest_word(id, ids, count);
}

static const struct config_key *find_key(const struct workload_type *type, const char *name) {
    for (size_t i = 0; i < type->key_count; i++)
        if (g_str_equal(type->keys[i].path, name))
            return &type->keys[i];
    return NULL;
}

static bool unknown_type(struct json_source *source, const char *path, const char *id, GError **error) {
    const char *near = nearest_type(id);
    return json_source_error(source, error, JSON_PLACE_VALUE, path, 0, "\"%s\" is no workload, expected %s%s", id,
                             near ? "perhaps " : "one of docs/workloads.md", near ? near : "");
}

/* ---- short form ---- */

/* Length of the next KEY=VALUE: up to a comma outside brackets and quotes. */
static gsize assignment_length(const char *text) {
    int depth = 0;
    bool quoted = false;
    gsize length = 0;
    for (; text[length] && (text[length] != ',' || depth || quoted); length++) {
        if (text[length] == '"')
            quoted = !quoted;
        else if (strchr("[{(", text[length]))
            depth++;
        else if (strchr("]})", text[length]))
            depth--;
    }
    return length;
}

static bool read_assignments(struct workload *workload, const char *text, unsigned column, GError **error) {
    struct json_source *source = &workload->source;
    const char *bare = workload->type->bare_key;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    source->set_name = "workload";
    while (*text) {
        gsize length = assignment_length(text);
        g_autofree char *piece = g_strndup(text, length);
        g_autofree char *key = g_strndup(text, strcspn(piece, "="));
        if (strchr(piece, '=') && !g_hash_table_add(seen, g_strdup(key)))
            return json_source_error_at(error, "workload", 1, column + 1, key, "key is given twice, expected it once");
        g_autofree char *assignment =
            bare && !strchr(piece, '=') ? g_strdup_printf("%s=%s", bare, piece) : g_strdup(piece);
        source->set_column = column;
        if (!json_source_set(source, 1, "workload", assignment, error))
            return false;
        text += length + (text[length] == ',');
        column += (unsigned)length + 1;
    }
    source->set_name = NULL;
    source->set_column = 0;
    return true;
}

static bool load_short(struct workload *workload, const char *name, GError **error) {
    gsize length = strcspn(name, ":");
    if (!json_source_parse(&workload->source, "workload", "{}", 2, error))
        return false;
    workload->type = find_type(name, length);
    if (!workload->type) {
        g_autofree char *id = g_strndup(name, length);
        const char *near = nearest_type(id);
        return json_source_error_at(error, "workload", 1, 1, "(top)",
                                    "\"%s\" is no workload and no file, expected %s%s", id,
                                    near ? "perhaps " : "one of docs/workloads.md", near ? near : "");
    }
    return !name[length] || read_assignments(workload, name + length + 1, (unsigned)length + 1, error);
}

/* ---- file ---- */

static bool load_file(struct workload *workload, const char *path, GError **error) {
    struct json_source *source = &workload->source;
    if (!json_source_load(source, path, error))
        return false;
    const json_t *schema = json_object_get(source->root, "schema"), *id = json_object_get(source->root, "workload");
    if (!json_is_string(schema) || !g_str_equal(json_string_value(schema), WORKLOAD_SCHEMA))
        return json_source_error(source, error, JSON_PLACE_VALUE, "schema", 0,
                                 "is not \"" WORKLOAD_SCHEMA "\", expected "
                                 "that");
    if (!json_is_string(id))
        return json_source_error(source, error, JSON_PLACE_VALUE, "workload", 0,
                                 "is missing or no text, expected a workload's id");
    workload->type = find_type(json_string_value(id), json_string_length(id));
    return workload->type || unknown_type(source, "workload", json_string_value(id), error);
}

/* ---- parameters ---- */

static bool read_parameters(struct workload *workload, GError **error) {
    const struct workload_type *type = workload->type;
    const char *name;
    json_t *value;
    workload->params = g_malloc0(MAX(type->params_size, 1));
    for (size_t i = 0; i < type->key_count; i++)
        key_set_default(&type->keys[i], workload->params);
    json_object_foreach(workload->source.root, name, value) {
        const struct config_key *key = find_key(type, name);
        if (key) {
            if (!key_read(&workload->source, key, name, value, workload->params, error))
                return false;
            continue;
        }
        if (g_str_equal(name, "schema") || g_str_equal(name, "workload") || g_str_equal(name, "description"))
            continue;
        g_autofree const char **names = g_new0(const char *, type->key_count + 1);
        for (size_t i = 0; i < type->key_count; i++)
            names[i] = type->keys[i].path;
        const char *near = nearest_word(name, names, type->key_count);
        return json_source_error(&workload->source, error, JSON_PLACE_KEY, name, 0,
                                 "unknown key of workload %s, expected %s%s", type->id,
                                 near ? "perhaps " : "a key of docs/workloads.md", near ? near : "");
    }
    return !type->check || type->check(workload, error);
}

static bool apply_sets(struct workload *workload, char *const *sets, GError **error) {
    for (unsigned i = 0; sets && sets[i]; i++)
        if (config_set_is_workload(sets[i]) && !json_source_set(&workload->source, i + 1, "workload", sets[i], error))
            return false;
    return true;
}

/* A shipped workload, or NULL: the name is then a short form. */
static char *find_file(const char *name) {
    if (g_file_test(name, G_FILE_TEST_IS_REGULAR) || g_str_has_suffix(name, ".json"))
        return g_strdup(name);
    return strpbrk(name, ":/") ? NULL : config_find("workloads", name, NULL);
}

bool workload_load(struct workload *workload, const char *name, char *const *sets, GError **error) {
    *workload = (struct workload){.name = g_strdup(name)};
    gsize length = strcspn(name, ":");
    g_autofree char *file = find_type(name, length) ? NULL : find_file(name);
    bool fine = file ? load_file(workload, file, error) : load_short(workload, name, error);
    fine = fine && apply_sets(workload, sets, error) && read_parameters(workload, error);
    if (!fine)
        workload_clear(workload);
    return fine;
}

void workload_clear(struct workload *workload) {
    if (workload->params)
        for (size_t i = 0; i < workload->type->key_count; i++)
            if (workload->type->keys[i].type == KEY_STRING)
                g_free(*(char **)((char *)workload->params + workload->type->keys[i].offset));
    g_free(workload->params);
    if (workload->source.root)
        json_source_clear(&workload->source);
    g_free(workload->name);
    *workload = (struct workload){0};
}

json_t *workload_json(const struct workload *workload) {
    json_t *root = json_object();
    json_object_set_new(root, "workload", json_string(workload->type->id));
    for (size_t i = 0; i < workload->type->key_count; i++) {
        json_t *value = key_json(&workload->type->keys[i], workload->params);
        if (value)
            json_object_set_new(root, workload->type->keys[i].path, value);
    }
    return root;
}

bool workload_fits(const struct workload *workload, const struct machine *machine, GError **error) {
    if (workload->type->scope == WORKLOAD_ON_SEVERAL_MESHES || !machine->mesh_count)
        return true;
    g_set_error(
        error, FS_ERROR, FS_ERROR_INPUT,
        "(machine): has %u meshes, and %s runs on one, expected a machine of one mesh, or mesh-n, mesh-k or mesh-k4",
        machine->mesh_count, workload->type->id);
    return false;
}

bool workload_error(const struct workload *workload, const char *key, GError **error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return json_source_error(&workload->source, error, JSON_PLACE_VALUE, key, 0, "%s", text);
}

char *workload_data_file(const struct workload *workload, const char *key, const char *name) {
    g_autofree char *beside = json_source_beside(&workload->source, key, name);
    if (g_file_test(beside, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&beside);
    if (g_file_test(name, G_FILE_TEST_EXISTS) || strchr(name, '/'))
        return g_strdup(name);
    char *sample = config_find_data(name);
    return sample ? sample : g_strdup(name);
}
