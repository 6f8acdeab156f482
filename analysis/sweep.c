/* See sweep.h. A point is made by copying the machine's file, setting the keys its axes and derived keys give as if
 * they were --set on the command line, and reading the outcome as a run would. A complaint about such a key is moved to
 * the place in the sweep file that gave it. */
#include "analysis/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/json_path.h"
#include "analysis/sweep_axes.h"
#include "analysis/sweep_point.h"
#include "analysis/sweep_workload.h"
#include "model/config.h"

#define INLINE_NAME "(inline)"

static const char *const sweep_keys[] = {
    "schema", "name",    "description", "question", "known", "machine", "workload",
    "axes",   "combine", "when",        "derive",   "seed",  "keep",    "answer",
};

/* ---- complaints ---- */

/* A complaint of another file or of a --set, taken apart: FILE:LINE:COL: PATH: REST. */
struct complaint {
    char *path;
    const char *rest;
};

static struct complaint take_apart(const char *message, const char *file) {
    struct complaint complaint = {0};
    const char *start = strstr(message + strlen(file), ": ");
    const char *end = start ? strstr(start + 2, ": ") : NULL;
    if (end) {
        complaint.path = g_strndup(start + 2, (gsize)(end - start - 2));
        complaint.rest = end + 2;
    }
    return complaint;
}

static bool speaks_of(const char *message, const char *file) {
    return file && g_str_has_prefix(message, file) && message[strlen(file)] == ':';
}

/* Says it again at `place` of the sweep file; `below`: the complaint's own path lies under that place. */
static bool say_at(const struct sweep *sweep, const char *place, bool below, const char *message, const char *file,
                   GError **error) {
    struct complaint complaint = take_apart(message, file);
    bool has_path = complaint.path && complaint.path[0] != '(';
    g_autofree char *path = below && has_path ? json_path_key(place, complaint.path) : g_strdup(place);
    bool said = below || !has_path || g_str_has_suffix(place, complaint.path);
    json_source_error(&sweep->source, error, JSON_PLACE_VALUE, path, 0, "%s%s%s", said ? "" : complaint.path,
                      said ? "" : ": ", complaint.rest ? complaint.rest : message);
    g_free(complaint.path);
    return false;
}

/* Takes over `inner`, moved to the sweep file where that is what the user has to mend. */
static bool adopt(const struct sweep_draft *draft, GError *inner, GError **error) {
    const struct sweep *sweep = draft->sweep;
    const char *message = inner->message;
    if (speaks_of(message, "--set")) {
        guint64 number = g_ascii_strtoull(message + strlen("--set:"), NULL, 10);
        const struct sweep_assignment *guilty =
            number >= 1 && number <= draft->assignments->len ? g_ptr_array_index(draft->assignments, number - 1) : NULL;
        say_at(sweep, guilty ? guilty->place : "", false, message, "--set", error);
    } else if (draft->machine.file && speaks_of(message, draft->machine.file) && strstr(message, INLINE_NAME)) {
        say_at(sweep, draft->machine_place, true, message, draft->machine.file, error);
    } else if (speaks_of(message, "workload") || speaks_of(message, draft->workload_name)) {
        say_at(sweep, draft->workload_place, false, message, "workload", error);
    } else if (speaks_of(message, draft->machine_name) && !g_file_test(draft->machine_name, G_FILE_TEST_EXISTS)) {
        say_at(sweep, draft->machine_place, false, message, draft->machine_name, error);
    } else {
        char *labels = json_dumps(draft->labels, JSON_COMPACT | JSON_REAL_PRECISION(15));
        g_set_error(error, inner->domain, inner->code, "%s (point %s)", message, labels);
        free(labels);
    }
    g_error_free(inner);
    return false;
}

/* ---- the file ---- */

static bool sweep_error(const struct sweep *sweep, const char *path, GError **error, const char *what) {
    return json_source_error(&sweep->source, error, JSON_PLACE_VALUE, path, 0, "is %s, expected %s",
                             json_kind(json_find(sweep->source.root, path)), what);
}

static bool check_sweep_keys(const struct sweep *sweep, GError **error) {
    const json_t *schema = json_object_get(sweep->source.root, "schema"), *value;
    const char *key, *text = json_string_value(schema);
    if (!text || !g_str_equal(text, SWEEP_SCHEMA))
        return json_source_error(&sweep->source, error, JSON_PLACE_VALUE, "schema", 0, "is %s%s%s, expected \"%s\"",
                                 text ? "\"" : "", text ? text : json_kind(schema), text ? "\"" : "", SWEEP_SCHEMA);
    json_object_foreach(sweep->source.root, key, value) {
        bool known = false;
        for (size_t i = 0; i < G_N_ELEMENTS(sweep_keys); i++)
            known = known || g_str_equal(key, sweep_keys[i]);
        if (known)
            continue;
        const char *near = nearest_word(key, sweep_keys, G_N_ELEMENTS(sweep_keys));
        return json_source_error(&sweep->source, error, JSON_PLACE_KEY, key, 0, "unknown key, expected %s%s",
                                 near ? "perhaps " : "a key of docs/sweeps.md", near ? near : "");
    }
    return true;
}

static bool read_text(const struct sweep *sweep, const char *key, char **text, GError **error) {
    const json_t *value = json_object_get(sweep->source.root, key);
    if (value && !json_is_string(value))
        return sweep_error(sweep, key, error, "a text");
    if (text)
        *text = g_strdup(json_string_value(value));
    return true;
}

static bool read_texts(const struct sweep *sweep, const char *key, char ***texts, GError **error) {
    const json_t *list = json_object_get(sweep->source.root, key), *value;
    size_t index;
    if (!list)
        return true;
    if (!json_is_array(list))
        return sweep_error(sweep, key, error, "a list of texts");
    g_auto(GStrv) read = g_new0(char *, json_array_size(list) + 1);
    json_array_foreach(list, index, value) {
        g_autofree char *path = json_path_index(key, index);
        if (!json_is_string(value))
            return sweep_error(sweep, path, error, "a text");
        read[index] = g_strdup(json_string_value(value));
    }
    if (texts)
        *texts = g_steal_pointer(&read);
    return true;
}

static bool read_seed(struct sweep *sweep, GError **error) {
    const json_t *seed = json_object_get(sweep->source.root, "seed");
    if (seed && (!json_is_integer(seed) || json_integer_value(seed) < 0))
        return sweep_error(sweep, "seed", error, "a whole number from 0");
    sweep->seed = seed ? (uint64_t)json_integer_value(seed) : 1;
    return true;
}

static void default_name(struct sweep *sweep) {
    if (sweep->name)
        return;
    sweep->name = g_path_get_basename(sweep->source.file);
    if (g_str_has_suffix(sweep->name, ".json"))
        sweep->name[strlen(sweep->name) - strlen(".json")] = '\0';
}

static bool is_whole_key(const char *key) {
    return g_str_equal(key, "machine") || g_str_equal(key, "workload");
}

/* A machine or a workload that every choice of some axis brings need not be given at the top. */
static bool brought_by_axis(const struct sweep *sweep, const char *key) {
    for (guint i = 0; i < sweep->axes->len; i++) {
        const struct sweep_axis *axis = g_ptr_array_index(sweep->axes, i);
        guint bring = 0;
        for (guint c = 0; c < axis->choices->len; c++) {
            const struct sweep_choice *choice = g_ptr_array_index(axis->choices, c);
            for (guint a = 0; a < choice->assignments->len; a++)
                bring += g_str_equal(((struct sweep_assignment *)g_ptr_array_index(choice->assignments, a))->key, key);
        }
        if (bring && bring == axis->choices->len)
            return true;
    }
    return false;
}

static bool check_base(const struct sweep *sweep, const char *key, GError **error) {
    const json_t *value = json_object_get(sweep->source.root, key);
    if (json_is_string(value) || json_is_object(value) || (!value && brought_by_axis(sweep, key)))
        return true;
    return sweep_error(sweep, key, error, "a name, a file or an object");
}

static void source_free(void *data) {
    json_source_clear(data);
    g_free(data);
}

bool sweep_read(struct sweep *sweep, const struct json_source *source, GError **error) {
    *sweep = (struct sweep){.axes = g_ptr_array_new_with_free_func(sweep_axis_free),
                            .conditions = g_ptr_array_new_with_free_func(sweep_rule_free),
                            .derived = g_ptr_array_new_with_free_func(sweep_rule_free),
                            .machines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, source_free)};
    json_source_copy(&sweep->source, source);
    bool fine = check_sweep_keys(sweep, error) && read_text(sweep, "name", &sweep->name, error) &&
                read_text(sweep, "question", &sweep->question, error) && read_text(sweep, "known", NULL, error) &&
                read_text(sweep, "description", NULL, error) && read_texts(sweep, "keep", &sweep->keep, error) &&
                read_texts(sweep, "answer", NULL, error) && read_seed(sweep, error) && sweep_read_axes(sweep, error) &&
                sweep_read_rules(sweep, error) && check_base(sweep, "machine", error) &&
                check_base(sweep, "workload", error);
    if (fine)
        default_name(sweep);
    else
        sweep_clear(sweep);
    return fine;
}

bool sweep_load(struct sweep *sweep, const char *name, GError **error) {
    struct json_source source;
    g_autofree char *file = config_find("sweeps", name, error);
    if (!file || !json_source_load(&source, file, error))
        return false;
    bool fine = sweep_read(sweep, &source, error);
    json_source_clear(&source);
    return fine;
}

void sweep_clear(struct sweep *sweep) {
    g_clear_pointer(&sweep->axes, g_ptr_array_unref);
    g_clear_pointer(&sweep->conditions, g_ptr_array_unref);
    g_clear_pointer(&sweep->derived, g_ptr_array_unref);
    g_clear_pointer(&sweep->machines, g_hash_table_unref);
    g_clear_pointer(&sweep->keep, g_strfreev);
    g_clear_pointer(&sweep->name, g_free);
    g_clear_pointer(&sweep->question, g_free);
    json_source_clear(&sweep->source);
}

json_t *sweep_about(const struct sweep *sweep) {
    static const char *const told[] = {"question", "known", "description", "answer"};
    json_t *about = json_pack("{s:s, s:[]}", "name", sweep->name, "axes");
    for (guint i = 0; i < sweep->axes->len; i++)
        json_array_append_new(json_object_get(about, "axes"),
                              json_string(((struct sweep_axis *)g_ptr_array_index(sweep->axes, i))->name));
    for (size_t i = 0; i < G_N_ELEMENTS(told); i++) {
        json_t *value = json_object_get(sweep->source.root, told[i]);
        if (value)
            json_object_set(about, told[i], value);
    }
    return about;
}

/* ---- a point: machine and workload ---- */

/* Files named in a sweep are meant from where it lies; plain names are the shipped ones. */
static char *beside_sweep(const struct sweep *sweep, const char *name, bool is_file) {
    g_autofree char *folder = g_path_get_dirname(sweep->source.file);
    if (g_path_is_absolute(name) || !is_file)
        return g_strdup(name);
    return g_str_equal(folder, ".") ? g_strdup(name) : g_build_filename(folder, name, NULL);
}

static bool is_machine_file(const char *name) {
    return strchr(name, '/') || g_str_has_suffix(name, ".json");
}

static bool open_inline(struct sweep *sweep, json_t *object, struct json_source *source, GError **error) {
    g_autofree char *file = beside_sweep(sweep, INLINE_NAME, true);
    if (!json_source_parse(source, file, "{}", 2, error))
        return false;
    json_decref(source->root);
    source->root = json_deep_copy(object);
    if (!json_object_get(source->root, "name"))
        json_object_set_new(source->root, "name", json_string(sweep->name));
    return true;
}

/* The machine's source, opened once whatever the number of points. */
static const struct json_source *open_machine(struct sweep_draft *draft, json_t *value, GError **error) {
    struct sweep *sweep = draft->sweep;
    g_autofree char *name =
        json_is_string(value) ? beside_sweep(sweep, json_string_value(value), is_machine_file(json_string_value(value)))
                              : g_strdup(draft->machine_place);
    struct json_source *source = g_hash_table_lookup(sweep->machines, name), opened;
    if (source)
        return source;
    bool fine =
        json_is_object(value) ? open_inline(sweep, value, &opened, error) : config_open_machine(&opened, name, error);
    if (!fine)
        return NULL;
    source = g_memdup2(&opened, sizeof opened);
    g_hash_table_insert(sweep->machines, g_steal_pointer(&name), source);
    return source;
}

/* The last word on which machine or workload it is. */
static json_t *whole_of(const struct sweep_draft *draft, const char *key, const char **place) {
    *place = key;
    for (guint i = draft->assignments->len; i-- > 0;) {
        const struct sweep_assignment *assignment = g_ptr_array_index(draft->assignments, i);
        if (g_str_equal(assignment->key, key)) {
            *place = assignment->place;
            return assignment->value;
        }
    }
    return json_object_get(draft->sweep->source.root, key);
}

static bool take_machine(struct sweep_draft *draft, GError **error) {
    GError *inner = NULL;
    json_t *value = whole_of(draft, "machine", &draft->machine_place);
    if (!json_is_string(value) && !json_is_object(value))
        return json_source_error(&draft->sweep->source, error, JSON_PLACE_VALUE, draft->machine_place, 0,
                                 "is %s, expected a machine: a name, a file or an object", json_kind(value));
    draft->machine_name = json_string_value(value);
    const struct json_source *source = open_machine(draft, value, &inner);
    if (!source)
        return adopt(draft, inner, error);
    json_source_copy(&draft->machine, source);
    return true;
}

/* An inline workload is its id with keys over it. */
static void spread_workload(struct sweep_draft *draft, json_t *object, const char *place) {
    const char *key;
    json_t *value;
    guint at = 0;
    json_object_foreach(object, key, value) {
        if (g_str_equal(key, "workload") || g_str_equal(key, "schema") || g_str_equal(key, "description"))
            continue;
        struct sweep_assignment *assignment = g_new(struct sweep_assignment, 1);
        *assignment = (struct sweep_assignment){
            .key = json_path_key("workload", key), .value = json_incref(value), .place = json_path_key(place, key)};
        g_ptr_array_insert(draft->assignments, (gint)at++, assignment);
    }
}

static bool take_workload(struct sweep_draft *draft, struct sweep_point *point, GError **error) {
    json_t *value = whole_of(draft, "workload", &draft->workload_place);
    const char *name = json_string_value(json_is_object(value) ? json_object_get(value, "workload") : value);
    if (!name)
        return json_source_error(&draft->sweep->source, error, JSON_PLACE_VALUE, draft->workload_place, 0,
                                 "is %s%s, expected a workload: a short form, a file or an object", json_kind(value),
                                 json_is_object(value) ? " without \"workload\"" : "");
    point->workload = beside_sweep(draft->sweep, name, g_str_has_suffix(name, ".json"));
    draft->workload_name = point->workload;
    if (json_is_object(value))
        spread_workload(draft, value, draft->workload_place);
    return true;
}

/* ---- a point: keys ---- */

/* Files among the values are meant from where the sweep lies, like those at its top. */
static char *assignment_text(const struct sweep *sweep, const struct sweep_assignment *assignment) {
    static const char *const files[] = {"map_file", "noc.routing_table"};
    g_autofree char *file = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        if (g_str_equal(assignment->key, files[i]) && json_is_string(assignment->value))
            file = beside_sweep(sweep, json_string_value(assignment->value), true);
    json_t *value = file ? json_string(file) : json_incref(assignment->value);
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    char *text = g_strconcat(assignment->key, "=", dump, NULL);
    free(dump);
    json_decref(value);
    return text;
}

static void forget_read(struct sweep_draft *draft) {
    if (draft->is_read)
        machine_clear(&draft->read);
    draft->is_read = false;
    g_clear_pointer(&draft->workload, json_decref);
    g_clear_pointer(&draft->sets, g_strfreev);
}

static bool take_seed(struct sweep_draft *draft, const struct sweep_assignment *assignment, GError **error) {
    if (!json_is_integer(assignment->value) || json_integer_value(assignment->value) < 0)
        return json_source_error(&draft->sweep->source, error, JSON_PLACE_VALUE, assignment->place, 0,
                                 "is %s, expected a whole number from 0", json_kind(assignment->value));
    draft->seed = (uint64_t)json_integer_value(assignment->value);
    return true;
}

static bool apply(struct sweep_draft *draft, guint index, GError **error) {
    const struct sweep_assignment *assignment = g_ptr_array_index(draft->assignments, index);
    GError *inner = NULL;
    if (g_str_equal(assignment->key, "seed"))
        return take_seed(draft, assignment, error);
    if (is_whole_key(assignment->key) || config_set_is_workload(assignment->key))
        return true;
    g_autofree char *text = assignment_text(draft->sweep, assignment);
    return json_source_set(&draft->machine, index + 1, "machine", text, &inner) || adopt(draft, inner, error);
}

bool sweep_assign(struct sweep_draft *draft, struct sweep_assignment *assignment, GError **error) {
    g_ptr_array_add(draft->assignments, assignment);
    forget_read(draft);
    if (is_whole_key(assignment->key))
        return json_source_error(&draft->sweep->source, error, JSON_PLACE_KEY, assignment->place, 0,
                                 "a whole %s can't be derived, expected one of its keys", assignment->key);
    return apply(draft, draft->assignments->len - 1, error);
}

static char **texts_of(const struct sweep_draft *draft, bool workload_only) {
    GPtrArray *texts = g_ptr_array_new();
    for (guint i = 0; i < draft->assignments->len; i++) {
        const struct sweep_assignment *assignment = g_ptr_array_index(draft->assignments, i);
        if (!workload_only || config_set_is_workload(assignment->key))
            g_ptr_array_add(texts, assignment_text(draft->sweep, assignment));
    }
    g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(texts, FALSE);
}

bool sweep_draft_machine(struct sweep_draft *draft, GError **error) {
    GError *inner = NULL;
    if (draft->is_read)
        return true;
    draft->is_read = config_read_machine(&draft->read, &draft->machine, &inner);
    return draft->is_read || adopt(draft, inner, error);
}

bool sweep_draft_workload(struct sweep_draft *draft, GError **error) {
    GError *inner = NULL;
    if (draft->workload)
        return true;
    draft->sets = texts_of(draft, false);
    draft->workload = sweep_workload_tree(draft->workload_name, draft->sets, &inner);
    return draft->workload || adopt(draft, inner, error);
}

/* ---- a point: whole ---- */

/* The same configuration and program give the same key on any machine. */
static void make_key(struct sweep_point *point) {
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    char *text = json_dumps(point->config, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    g_checksum_update(sum, (const guchar *)text, -1);
    g_checksum_update(sum, (const guchar *)"\n" FLITSIM_VERSION, -1);
    g_strlcpy(point->key, g_checksum_get_string(sum), sizeof point->key);
    free(text);
    g_checksum_free(sum);
}

static bool build(struct sweep_draft *draft, struct sweep_point *point, bool *taken, GError **error) {
    if (!take_workload(draft, point, error) || !take_machine(draft, error))
        return false;
    for (guint i = 0; i < draft->assignments->len; i++)
        if (!apply(draft, i, error))
            return false;
    if (!sweep_derive(draft, error) || !sweep_conditions(draft, taken, error))
        return false;
    if (!*taken)
        return true;
    if (!sweep_draft_machine(draft, error) || !sweep_draft_workload(draft, error))
        return false;
    point->config = json_pack("{s:o, s:O, s:I}", "machine", config_machine_tree(&draft->read), "workload",
                              draft->workload, "seed", (json_int_t)draft->seed);
    point->sets = texts_of(draft, true);
    make_key(point);
    return true;
}

enum sweep_verdict sweep_resolve(struct sweep *sweep, uint64_t number, struct sweep_point *point, GError **error) {
    struct sweep_draft draft = {.sweep = sweep,
                                .assignments = g_ptr_array_new_with_free_func(sweep_assignment_free),
                                .labels = json_object(),
                                .seed = sweep->seed};
    bool taken = false;
    *point = (struct sweep_point){.number = number, .axes = json_incref(draft.labels)};
    sweep_combination(sweep, number, draft.assignments, draft.labels);
    bool fine = build(&draft, point, &taken, error);
    forget_read(&draft);
    if (draft.machine.root)
        json_source_clear(&draft.machine);
    json_decref(draft.labels);
    g_ptr_array_unref(draft.assignments);
    if (fine && taken)
        return SWEEP_POINT_TAKEN;
    sweep_point_clear(point);
    return fine ? SWEEP_POINT_LEFT_OUT : SWEEP_POINT_WRONG;
}

void sweep_point_clear(struct sweep_point *point) {
    g_clear_pointer(&point->axes, json_decref);
    g_clear_pointer(&point->config, json_decref);
    g_clear_pointer(&point->workload, g_free);
    g_clear_pointer(&point->sets, g_strfreev);
}

char *sweep_point_text(const struct sweep_point *point) {
    GString *text = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach(point->axes, name, value) {
        g_autofree char *cell = json_cell_text(value);
        g_string_append_printf(text, "%s%s=%s", text->len ? ", " : "", name, cell);
    }
    return g_string_free(text, FALSE);
}
