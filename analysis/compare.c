/* See compare.h. Every cycle of a unit or port has one cause, so the causes of a component add up to the run's length,
 * and the differences of its causes add up to the difference in cycles: a share is a cause's part of that. */
#include "analysis/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/json_path.h"
#include "analysis/store.h"
#include "model/error.h"
#include "model/json_source.h"

enum {
    SHOWN = 12, /* lines of each part in the text */
};

/* One side: a run has one record, a sweep many. */
struct side {
    const char *name;
    bool is_sweep;
    GPtrArray *keys;    /* char *: how the record is called on both sides */
    GPtrArray *configs; /* json_t *, NULL-able */
    GPtrArray *results; /* json_t *, NULL-able */
    GHashTable *by_key; /* key -> place + 1 */
};

static void unref_json(void *data) {
    json_decref(data);
}

static void side_init(struct side *side, const char *name) {
    *side = (struct side){.name = name,
                          .keys = g_ptr_array_new_with_free_func(g_free),
                          .configs = g_ptr_array_new_with_free_func(unref_json),
                          .results = g_ptr_array_new_with_free_func(unref_json),
                          .by_key = g_hash_table_new(g_str_hash, g_str_equal)};
}

static void side_clear(struct side *side) {
    g_ptr_array_unref(side->keys);
    g_ptr_array_unref(side->configs);
    g_ptr_array_unref(side->results);
    g_hash_table_unref(side->by_key);
}

/* Takes the trees over. */
static void side_add(struct side *side, const char *key, json_t *config, json_t *result) {
    g_ptr_array_add(side->keys, g_strdup(key));
    g_ptr_array_add(side->configs, config);
    g_ptr_array_add(side->results, result);
    g_hash_table_insert(side->by_key, g_ptr_array_index(side->keys, side->keys->len - 1),
                        GUINT_TO_POINTER(side->keys->len));
}

/* ---- reading a side ---- */

/* Figures of recorded runs under the names results have. */
static const struct {
    const char *recorded, *ours;
} recorded_names[] = {
    {"run_cycles", "cycles"},
    {"instructions", "counts.instructions"},
    {"accepted", "traffic.accepted"},
    {"offered", "traffic.offered"},
    {"lat_avg", "traffic.latency.mean"},
    {"lat_max", "traffic.latency.max"},
    {"netlat_avg", "traffic.network_latency.mean"},
    {"netlat_p50", "traffic.network_latency.p50"},
    {"netlat_p99", "traffic.network_latency.p99"},
    {"netlat_max", "traffic.network_latency.max"},
};

static void put_at(json_t *root, const char *path, json_t *value) {
    g_auto(GStrv) parts = g_strsplit(path, ".", -1);
    unsigned last = g_strv_length(parts) - 1;
    for (unsigned i = 0; i < last; i++) {
        if (!json_object_get(root, parts[i]))
            json_object_set_new(root, parts[i], json_object());
        root = json_object_get(root, parts[i]);
    }
    json_object_set(root, parts[last], value);
}

static json_t *translate(const json_t *entry) {
    json_t *result = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(recorded_names); i++) {
        json_t *value = json_object_get(entry, recorded_names[i].recorded);
        if (json_is_number(value))
            put_at(result, recorded_names[i].ours, value);
    }
    return result;
}

static const json_t *find_entry(const json_t *list, const char *wanted) {
    static const char *const naming[] = {"name", "tag"};
    size_t index;
    json_t *entry;
    guint64 place;
    json_array_foreach(list, index, entry) for (size_t i = 0; i < G_N_ELEMENTS(naming);
                                                i++) if (g_strcmp0(json_string_value(json_object_get(entry, naming[i])),
                                                                   wanted) == 0) return entry;
    return g_ascii_string_to_unsigned(wanted, 10, 0, G_MAXUINT32, &place, NULL) ? json_array_get(list, (size_t)place)
                                                                                : NULL;
}

/* The list of entries of a file of recorded runs: its one list. */
static const json_t *entries_of(const json_t *root) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)root, key,
                        value) if (json_is_array(value) && json_is_object(json_array_get(value, 0))) return value;
    return NULL;
}

static bool add_recorded(struct side *side, const struct json_source *source, const char *wanted, GError **error) {
    const json_t *entry = find_entry(entries_of(source->root), wanted);
    if (!entry)
        return json_source_error(source, error, JSON_PLACE_VALUE, "", 0,
                                 "has no entry '%s', expected its name, its tag or its place from 0", wanted);
    json_t *result = translate(entry);
    if (json_object_size(result) == 0) {
        json_decref(result);
        return json_source_error(source, error, JSON_PLACE_VALUE, "", 0,
                                 "entry '%s' has none of the figures a run has, expected run_cycles or accepted",
                                 wanted);
    }
    side_add(side, "run", NULL, result);
    return true;
}

/* What a result says of its own configuration, and the machine's file beside it when there is one. */
static json_t *config_of(const json_t *result, const char *file) {
    static const char *const own[] = {"machine", "workload", "seed", "clock_mhz", "rtl_defects", "version"};
    json_t *config = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
        json_t *value = json_object_get(result, own[i]);
        if (value)
            json_object_set(config, own[i], value);
    }
    g_autofree char *folder = g_path_get_dirname(file), *beside = g_build_filename(folder, "machine.json", NULL);
    json_t *machine = json_load_file(beside, 0, NULL);
    if (machine)
        json_object_set_new(config, "machine", machine);
    return config;
}

static bool add_document(struct side *side, const char *file, const char *entry, GError **error) {
    struct json_source source;
    if (!json_source_load(&source, file, error))
        return false;
    const char *schema = json_string_value(json_object_get(source.root, "schema"));
    bool fine = true;
    if (entry)
        fine = add_recorded(side, &source, entry, error);
    else if (schema && g_str_equal(schema, "flitsim.result/1"))
        side_add(side, "run", config_of(source.root, file), json_incref(source.root));
    else
        fine = json_source_error(&source, error, JSON_PLACE_VALUE, "schema", 0,
                                 "is %s, expected a result of flitsim.result/1, or FILE#ENTRY for a recorded run",
                                 schema ? schema : "missing");
    json_source_clear(&source);
    return fine;
}

static bool add_row(void *data, const struct store_row *row) {
    json_t *config = json_loads(row->config, 0, NULL), *result = row->result ? json_loads(row->result, 0, NULL) : NULL;
    side_add(data, row->axes, config, result);
    return true;
}

static bool add_store(struct side *side, const char *file, GError **error) {
    struct store *store = store_open(file, STORE_READ, error);
    bool fine = store && store_each(store, false, add_row, side, error);
    side->is_sweep = true;
    store_close(store);
    return fine;
}

static bool read_side(struct side *side, GError **error) {
    const char *hash = strchr(side->name, '#');
    bool folder = g_file_test(side->name, G_FILE_TEST_IS_DIR);
    g_autofree char *file = hash ? g_strndup(side->name, (gsize)(hash - side->name)) : g_strdup(side->name);
    g_autofree char *result = g_build_filename(side->name, "result.json", NULL), *store = store_file(side->name);
    if (folder && g_file_test(result, G_FILE_TEST_EXISTS))
        return add_document(side, result, NULL, error);
    if (folder || g_str_has_suffix(side->name, ".db"))
        return add_store(side, store, error);
    return add_document(side, file, hash ? hash + 1 : NULL, error);
}

/* ---- configuration ---- */

/* A path that differs, and between how many pairs. */
struct difference {
    char *path;
    json_t *a, *b; /* of the first pair */
    unsigned pairs;
};

static void difference_free(void *data) {
    struct difference *difference = data;
    g_free(difference->path);
    json_decref(difference->a);
    json_decref(difference->b);
    g_free(difference);
}

static void note_difference(GPtrArray *differences, const char *path, json_t *a, json_t *b) {
    for (guint i = 0; i < differences->len; i++) {
        struct difference *known = g_ptr_array_index(differences, i);
        if (g_str_equal(known->path, path)) {
            known->pairs++;
            return;
        }
    }
    struct difference *made = g_new(struct difference, 1);
    *made = (struct difference){.path = g_strdup(path), .a = json_incref(a), .b = json_incref(b), .pairs = 1};
    g_ptr_array_add(differences, made);
}

static void compare_trees(GPtrArray *differences, const char *path, json_t *a, json_t *b) {
    const char *key;
    json_t *value;
    if ((a && b && json_equal(a, b)) || (!a && !b))
        return;
    if (!json_is_object(a) || !json_is_object(b)) {
        note_difference(differences, path, a, b);
        return;
    }
    json_object_foreach(a, key, value) {
        g_autofree char *below = json_path_key(path, key);
        compare_trees(differences, below, value, json_object_get(b, key));
    }
    json_object_foreach(b, key, value) {
        g_autofree char *below = json_path_key(path, key);
        if (!json_object_get(a, key))
            compare_trees(differences, below, NULL, value);
    }
}

static json_t *or_null(json_t *value) {
    return value ? json_incref(value) : json_null();
}

static json_t *differences_json(const GPtrArray *differences) {
    json_t *list = json_array();
    for (guint i = 0; i < differences->len; i++) {
        const struct difference *one = g_ptr_array_index(differences, i);
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:i}", "path", one->path, "a", or_null(one->a), "b",
                                              or_null(one->b), "pairs", (int)one->pairs));
    }
    return list;
}

/* ---- causes ---- */

/* Cycles of one cause in one kind of component, mean over the components of that kind, summed over pairs. */
struct cause {
    char *kind, *name;
    double cycles[2];
};

static void cause_clear(void *data) {
    struct cause *cause = data;
    g_free(cause->kind);
    g_free(cause->name);
}

static struct cause *find_cause(GArray *causes, const char *kind, const char *name) {
    for (guint i = 0; i < causes->len; i++) {
        struct cause *cause = &g_array_index(causes, struct cause, i);
        if (g_str_equal(cause->kind, kind) && g_str_equal(cause->name, name))
            return cause;
    }
    struct cause made = {.kind = g_strdup(kind), .name = g_strdup(name)};
    g_array_append_val(causes, made);
    return &g_array_index(causes, struct cause, causes->len - 1);
}

static const char *kind_of(const json_t *component) {
    const char *type = json_string_value(json_object_get(component, "type"));
    return type ? type : "memory port";
}

static unsigned count_kind(const json_t *list, const char *kind) {
    unsigned count = 0;
    size_t index;
    json_t *component;
    json_array_foreach(list, index, component) count += g_str_equal(kind_of(component), kind);
    return count;
}

static void add_causes(GArray *causes, const json_t *list, unsigned side) {
    size_t index;
    json_t *component, *cycles;
    const char *name;
    json_array_foreach(list, index, component) {
        const char *kind = kind_of(component);
        double share = 1.0 / count_kind(list, kind);
        json_object_foreach(json_object_get(component, "cycles"), name, cycles) find_cause(causes, kind, name)
            ->cycles[side] += json_number_value(cycles) * share;
    }
}

static int by_size(const void *a, const void *b) {
    const struct cause *p = a, *q = b;
    double x = fabs(p->cycles[1] - p->cycles[0]), y = fabs(q->cycles[1] - q->cycles[0]);
    if (x != y)
        return x < y ? 1 : -1;
    int order = strcmp(p->kind, q->kind);
    return order ? order : strcmp(p->name, q->name);
}

static json_t *causes_json(GArray *causes, double total) {
    json_t *list = json_array();
    g_array_sort(causes, by_size);
    for (guint i = 0; i < causes->len; i++) {
        const struct cause *cause = &g_array_index(causes, struct cause, i);
        double difference = cause->cycles[1] - cause->cycles[0];
        if (difference == 0)
            continue;
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:f, s:f, s:f, s:o}", "where", cause->kind, "cause", cause->name,
                                        "a", cause->cycles[0], "b", cause->cycles[1], "difference", difference, "share",
                                        total != 0 ? json_real(difference / total) : json_null()));
    }
    return list;
}

/* ---- figures ---- */

static const char *const figures[] = {
    "gflops",
    "peak_fraction",
    "flit_hops",
    "counts.host_writes",
    "counts.instructions",
    "counts.mem_rd_req",
    "counts.mem_rd_resp",
    "counts.mem_wr_req",
    "counts.mem_wr_data",
    "counts.dram_read_bytes",
    "counts.dram_write_bytes",
    "traffic.offered",
    "traffic.accepted",
    "traffic.latency.mean",
    "traffic.latency.p99",
    "traffic.latency.max",
    "traffic.network_latency.mean",
    "traffic.network_latency.p50",
    "traffic.network_latency.p99",
    "traffic.network_latency.max",
    "numerics.vs_model.mismatches",
    "numerics.vs_fp64.rel_p50",
};

static json_t *figures_json(const json_t *a, const json_t *b) {
    json_t *list = json_array();
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
        json_t *x = json_find(a, figures[i]), *y = json_find(b, figures[i]);
        if (json_is_number(x) && json_is_number(y))
            json_array_append_new(list, json_pack("{s:s, s:O, s:O}", "path", figures[i], "a", x, "b", y));
    }
    return list;
}

/* ---- the whole ---- */

struct comparison {
    GPtrArray *differences;
    GArray *causes;
    json_t *pairs; /* of sweeps: points whose cycles or digest differ */
    double cycles[2];
    unsigned compared, same, unanswered;
};

static double cycles_of(const json_t *result) {
    return json_number_value(json_object_get(result, "cycles"));
}

static void compare_results(struct comparison *comparison, const char *key, json_t *a, json_t *b) {
    static const char *const lists[] = {"units", "ports"};
    const json_t *digest_a = json_object_get(a, "digest"), *digest_b = json_object_get(b, "digest");
    double cycles[] = {cycles_of(a), cycles_of(b)};
    bool both = true;
    comparison->compared++;
    for (unsigned side = 0; side < 2; side++)
        comparison->cycles[side] += cycles[side];
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) /* a recorded run has none: then nothing can be said */
        both = both && json_is_array(json_object_get(a, lists[i])) && json_is_array(json_object_get(b, lists[i]));
    for (size_t i = 0; i < G_N_ELEMENTS(lists) && both; i++) {
        add_causes(comparison->causes, json_object_get(a, lists[i]), 0);
        add_causes(comparison->causes, json_object_get(b, lists[i]), 1);
    }
    bool same_digest = digest_a && digest_b && json_equal(digest_a, digest_b);
    comparison->same += same_digest;
    if (!same_digest)
        json_array_append_new(comparison->pairs,
                              json_pack("{s:s, s:f, s:f}", "point", key, "a", cycles[0], "b", cycles[1]));
}

static void compare_pair(struct comparison *comparison, const struct side *a, guint i, const struct side *b, guint j) {
    json_t *result_a = g_ptr_array_index(a->results, i), *result_b = g_ptr_array_index(b->results, j);
    json_t *config_a = g_ptr_array_index(a->configs, i), *config_b = g_ptr_array_index(b->configs, j);
    if (config_a && config_b)
        compare_trees(comparison->differences, "", config_a, config_b);
    if (result_a && result_b)
        compare_results(comparison, g_ptr_array_index(a->keys, i), result_a, result_b);
    else
        comparison->unanswered++;
}

static json_t *conclude(struct comparison *comparison, const struct side *a, const struct side *b, unsigned pairs) {
    double total = comparison->cycles[1] - comparison->cycles[0];
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:b, s:o, s:o}", "schema", "flitsim.compare/1", "a", a->name, "b", b->name, "sweeps",
        (int)a->is_sweep, "configuration", differences_json(comparison->differences), "cycles",
        json_pack("{s:f, s:f, s:f, s:o}", "a", comparison->cycles[0], "b", comparison->cycles[1], "difference", total,
                  "ratio",
                  comparison->cycles[0] > 0 ? json_real(comparison->cycles[1] / comparison->cycles[0]) : json_null()));
    if (a->keys->len && b->keys->len && (!g_ptr_array_index(a->configs, 0) || !g_ptr_array_index(b->configs, 0)))
        json_object_set_new(root, "configuration", json_null()); /* a recorded run has none */
    json_object_set_new(root, "causes", causes_json(comparison->causes, total));
    if (a->is_sweep)
        json_object_set_new(root, "points",
                            json_pack("{s:i, s:i, s:i, s:i, s:i, s:O}", "compared", (int)comparison->compared,
                                      "same_digest", (int)comparison->same, "without_result",
                                      (int)comparison->unanswered, "only_a", (int)(a->keys->len - pairs), "only_b",
                                      (int)(b->keys->len - pairs), "different", comparison->pairs));
    else
        json_object_set_new(root, "figures",
                            figures_json(g_ptr_array_index(a->results, 0), g_ptr_array_index(b->results, 0)));
    return root;
}

static json_t *compare_read(const struct side *a, const struct side *b) {
    struct comparison comparison = {.differences = g_ptr_array_new_with_free_func(difference_free),
                                    .causes = g_array_new(FALSE, TRUE, sizeof(struct cause)),
                                    .pairs = json_array()};
    unsigned pairs = 0;
    g_array_set_clear_func(comparison.causes, cause_clear);
    for (guint i = 0; i < a->keys->len; i++) {
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(b->by_key, g_ptr_array_index(a->keys, i)));
        if (!place)
            continue;
        pairs++;
        compare_pair(&comparison, a, i, b, place - 1);
    }
    json_t *root = conclude(&comparison, a, b, pairs);
    g_ptr_array_unref(comparison.differences);
    g_array_unref(comparison.causes);
    json_decref(comparison.pairs);
    return root;
}

json_t *compare_sides(const char *name_a, const char *name_b, GError **error) {
    struct side a, b;
    json_t *root = NULL;
    side_init(&a, name_a);
    side_init(&b, name_b);
    if (read_side(&a, error) && read_side(&b, error)) {
        if (a.is_sweep == b.is_sweep)
            root = compare_read(&a, &b);
        else
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:1:1: (file): is a %s and %s a %s, expected two of a kind",
                        name_a, a.is_sweep ? "sweep" : "run", name_b, b.is_sweep ? "sweep" : "run");
    }
    side_clear(&a);
    side_clear(&b);
    return root;
}

/* ---- text ---- */

static double number_at(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static const char *text_at(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static void more(GString *text, size_t count) {
    if (count > SHOWN)
        g_string_append_printf(text, "  and %zu more\n", count - SHOWN);
}

static void configuration_text(GString *text, const json_t *list) {
    size_t index;
    json_t *one;
    g_string_append(text, json_array_size(list) ? "\nconfiguration\n"
                          : json_is_null(list)  ? "\nconfiguration: not recorded\n"
                                                : "\nconfiguration: the same\n");
    json_array_foreach(list, index, one) {
        g_autofree char *a = json_cell_text(json_object_get(one, "a")), *b = json_cell_text(json_object_get(one, "b"));
        g_string_append_printf(text, "  %-32s %.60s -> %.60s\n", text_at(one, "path"), a[0] ? a : "(none)",
                               b[0] ? b : "(none)");
    }
}

static void causes_text(GString *text, const json_t *list) {
    size_t index;
    json_t *one;
    g_string_append(text, json_array_size(list)
                              ? "\nwhere the cycles went, mean of each kind of component (share of the "
                                "difference)\n"
                              : "\nwhere the cycles went: no difference that is recorded\n");
    json_array_foreach(list, index, one) {
        const json_t *share = json_object_get(one, "share");
        g_autofree char *part =
            json_is_number(share) ? g_strdup_printf("%+7.1f %%", 100 * json_number_value(share)) : g_strdup("");
        if (index < SHOWN)
            g_string_append_printf(text, "  %-12s %-16s %12.0f -> %12.0f cycles %+12.0f  %s\n", text_at(one, "where"),
                                   text_at(one, "cause"), number_at(one, "a"), number_at(one, "b"),
                                   number_at(one, "difference"), part);
    }
    more(text, json_array_size(list));
}

static void figures_text(GString *text, const json_t *list) {
    size_t index;
    json_t *one;
    g_string_append(text, "\nfigures\n");
    json_array_foreach(list, index, one) if (number_at(one, "a") != number_at(one, "b")) g_string_append_printf(
        text, "  %-32s %14.6g -> %14.6g\n", text_at(one, "path"), number_at(one, "a"), number_at(one, "b"));
}

static void points_text(GString *text, const json_t *points) {
    const json_t *different = json_object_get(points, "different");
    size_t index;
    json_t *one;
    g_string_append_printf(text,
                           "\npoints: %.0f compared, %.0f the same bit for bit, %.0f without a result, %.0f only in A, "
                           "%.0f only in B\n",
                           number_at(points, "compared"), number_at(points, "same_digest"),
                           number_at(points, "without_result"), number_at(points, "only_a"),
                           number_at(points, "only_b"));
    json_array_foreach(different, index, one) if (index < SHOWN) g_string_append_printf(
        text, "  %-48s %12.0f -> %12.0f cycles\n", text_at(one, "point"), number_at(one, "a"), number_at(one, "b"));
    more(text, json_array_size(different));
}

char *compare_text(const json_t *comparison) {
    GString *text = g_string_new(NULL);
    const json_t *cycles = json_object_get(comparison, "cycles"), *points = json_object_get(comparison, "points");
    g_string_append_printf(text, "A %s\nB %s\n\ncycles %.0f -> %.0f, %+.0f (%+.2f %%)\n", text_at(comparison, "a"),
                           text_at(comparison, "b"), number_at(cycles, "a"), number_at(cycles, "b"),
                           number_at(cycles, "difference"),
                           number_at(cycles, "a") > 0 ? 100 * (number_at(cycles, "ratio") - 1) : 0);
    configuration_text(text, json_object_get(comparison, "configuration"));
    causes_text(text, json_object_get(comparison, "causes"));
    if (points)
        points_text(text, points);
    else
        figures_text(text, json_object_get(comparison, "figures"));
    return g_string_free(text, FALSE);
}
