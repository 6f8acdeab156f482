/* Recordings as files; see replay_file.h. A kind is told by the keys of its first entry, so that files of the same form
 * under any name can be replayed. */
#include "analysis/replay_file.h"

#include <jansson.h>
#include <string.h>

#include "analysis/replay_control.h"
#include "analysis/replay_curve.h"
#include "analysis/replay_gemm.h"
#include "analysis/replay_interlink.h"
#include "analysis/replay_mover.h"
#include "analysis/replay_peer.h"
#include "analysis/replay_trace.h"
#include "analysis/replay_vector.h"
#include "model/error.h"

typedef bool (*replay_function)(const json_t *entry, const json_t *description, struct replay_result *result,
                                GError **error);

static bool run_gemm(const json_t *entry, const json_t *description, struct replay_result *result, GError **error) {
    (void)description;
    return replay_gemm(entry, result, error);
}

/* In order: the first kind whose keys an entry has. */
static const struct {
    const char *name;
    const char *list;
    const char *keys[3];
    replay_function run;
} kinds[] = {
    {"GEMM", "runs", {"shape", "dispatch_chunk"}, run_gemm},
    {"traffic", "points", {"grid", "order_hash"}, replay_curve},
    {"vector", "runs", {"stream", "initial"}, replay_vector},
    {"mover", "runs", {"register_writes", "memory_seed"}, replay_mover},
    {"interlink", "runs", {"flits_injected", "control_writes"}, replay_interlink},
    {"control", "runs", {"commands", "engine"}, replay_control},
    {"peer", "runs", {"host_writes", "signals_at_agent"}, replay_peer},
    {"events", "runs", {"events", "operands"}, replay_trace},
};

struct replay_file {
    json_t *root;
    const json_t *entries, *description;
    unsigned kind;
};

static bool has_keys(const json_t *entry, const char *const *keys) {
    for (unsigned k = 0; keys[k]; k++)
        if (!json_object_get(entry, keys[k]))
            return false;
    return true;
}

static bool find_kind(struct replay_file *file) {
    for (file->kind = 0; file->kind < G_N_ELEMENTS(kinds); file->kind++) {
        file->entries = json_object_get(file->root, kinds[file->kind].list);
        if (json_array_size(file->entries) && has_keys(json_array_get(file->entries, 0), kinds[file->kind].keys))
            return true;
    }
    return false;
}

struct replay_file *replay_file_open(const char *path, GError **error) {
    json_error_t parse;
    json_t *root = json_load_file(path, 0, &parse);
    if (!root) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:%d:%d: %s", path, MAX(parse.line, 1), MAX(parse.column, 1),
                    parse.text);
        return NULL;
    }
    struct replay_file *file = g_new0(struct replay_file, 1);
    file->root = root;
    file->description = json_object_get(root, "description");
    if (!find_kind(file)) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                    "%s:1:1: no recording of a known kind, expected a list of entries of GEMM, mover, traffic, vector, "
                    "peer, control or interlink runs",
                    path);
        replay_file_close(file);
        return NULL;
    }
    return file;
}

void replay_file_close(struct replay_file *file) {
    if (!file)
        return;
    json_decref(file->root);
    g_free(file);
}

unsigned replay_file_count(const struct replay_file *file) {
    return json_array_size(file->entries);
}

const char *replay_file_kind(const struct replay_file *file) {
    return kinds[file->kind].name;
}

static void append_shape(const json_t *entry, GString *label) {
    const json_t *shape = json_object_get(entry, json_object_get(entry, "grid") ? "grid" : "shape");
    for (size_t i = 0; i < json_array_size(shape); i++)
        g_string_append_printf(label, "%s%" JSON_INTEGER_FORMAT, i ? "x" : " ",
                               json_integer_value(json_array_get(shape, i)));
}

char *replay_file_label(const struct replay_file *file, unsigned index) {
    static const char *const names[] = {"tag",      "name",  "pattern",     "offered", "clusters",
                                        "operands", "drain", "write_burst", "memory",  "attachment"};
    const json_t *entry = json_array_get(file->entries, index);
    GString *label = g_string_new(NULL);
    g_string_append_printf(label, "%s %u:", kinds[file->kind].name, index);
    append_shape(entry, label);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        const json_t *value = json_object_get(entry, names[i]);
        if (json_is_string(value))
            g_string_append_printf(label, " %s", json_string_value(value));
        else if (json_is_integer(value))
            g_string_append_printf(label, " %s=%" JSON_INTEGER_FORMAT, names[i], json_integer_value(value));
        else if (json_is_real(value))
            g_string_append_printf(label, " %s=%g", names[i], json_real_value(value));
    }
    return g_string_free(label, FALSE);
}

bool replay_file_run(const struct replay_file *file, unsigned index, struct replay_result *result, GError **error) {
    return kinds[file->kind].run(json_array_get(file->entries, index), file->description, result, error);
}
