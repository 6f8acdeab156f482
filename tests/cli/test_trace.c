/* flitsim run --trace and --trace-flits: the files are what the format wants, and agree with the result. */
#include <stdint.h>
#include <string.h>

#include <glib/gstdio.h>
#include <jansson.h>

#include "program.h"

#define CUBE "gemm:m=64,k=128,n=64"

enum {
    GROUP_LINKS = 2,
    GROUP_PORTS = 100,
    GROUP_UNITS = 1000,
};

static char *folder;

static json_t *load(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    json_error_t where;
    json_t *document = json_load_file(path, 0, &where);
    if (!document)
        g_error("%s:%d: %s", name, where.line, where.text);
    return document;
}

static int64_t whole(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ---- the checker ---- */

/* What is known of one track while its events go by. */
struct track {
    int64_t last;        /* time of the last event */
    const json_t *open;  /* the slice that has begun */
    int64_t busy_until;  /* end of the last whole slice */
    int64_t sum;         /* cycles in slices */
    GHashTable *by_name; /* slice name -> its cycles */
};

struct trace_check {
    GHashTable *tracks; /* "pid/tid" -> struct track */
    GHashTable *names;  /* "pid/tid" -> name */
    GHashTable *flows;  /* id -> number of its ends seen: 's', 't' or 'f' last */
    int64_t first, end, flow_count;
};

static void track_free(void *data) {
    struct track *track = data;
    g_hash_table_unref(track->by_name);
    g_free(track);
}

static char *track_key(int64_t group, int64_t track) {
    return g_strdup_printf("%d/%d", (int)group, (int)track);
}

static struct track *track_of(struct trace_check *check, int64_t group, int64_t number) {
    g_autofree char *key = track_key(group, number);
    struct track *track = g_hash_table_lookup(check->tracks, key);
    if (track)
        return track;
    track = g_new0(struct track, 1);
    track->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_insert(check->tracks, g_steal_pointer(&key), track);
    return track;
}

static void add_slice(struct track *track, const char *name, int64_t cycles) {
    int64_t sum = GPOINTER_TO_INT(g_hash_table_lookup(track->by_name, name));
    g_assert_cmpint(cycles, >, 0);
    track->sum += cycles;
    g_hash_table_insert(track->by_name, g_strdup(name), GINT_TO_POINTER((int)(sum + cycles)));
}

/* The two ends of an arrow in order, the second not before the first. */
static void check_flow(struct trace_check *check, const json_t *event, char phase) {
    void *id = GINT_TO_POINTER((int)whole(event, "id"));
    const json_t *before = g_hash_table_lookup(check->flows, id);
    g_assert_cmpint(whole(event, "id"), >, 0);
    if (phase == 's') {
        g_assert_null(before);
        check->flow_count++;
    } else {
        g_assert_nonnull(before);
        g_assert_cmpstr(text_of(before, "name"), ==, text_of(event, "name"));
        g_assert_cmpstr(text_of(before, "ph"), !=, "f");
        g_assert_cmpint(whole(before, "ts"), <=, whole(event, "ts"));
    }
    g_hash_table_insert(check->flows, id, (void *)event);
}

static void check_slice(struct track *track, const json_t *event, char phase) {
    int64_t at = whole(event, "ts");
    switch (phase) {
    case 'B':
        g_assert_null(track->open);
        track->open = event;
        break;
    case 'E':
        g_assert_nonnull(track->open);
        add_slice(track, text_of(track->open, "name"), at - whole(track->open, "ts"));
        track->open = NULL;
        break;
    case 'X':
        g_assert_cmpint(at, >=, track->busy_until);
        track->busy_until = at + whole(event, "dur");
        add_slice(track, text_of(event, "name"), whole(event, "dur"));
        break;
    default:
        break;
    }
}

static void check_event(struct trace_check *check, const json_t *event) {
    char phase = text_of(event, "ph")[0];
    int64_t group = whole(event, "pid"), number = whole(event, "tid"), at = whole(event, "ts");
    g_assert_true(phase && strchr("MBEXiCstf", phase));
    g_assert_true(json_is_integer(json_object_get(event, "pid")) && json_is_integer(json_object_get(event, "tid")));
    if (phase != 'E')
        g_assert_cmpstr(text_of(event, "name"), !=, "");
    if (phase == 'M') {
        char *name = g_strdup(text_of(json_object_get(event, "args"), "name"));
        g_hash_table_insert(check->names, track_key(group, number), name);
        return;
    }
    g_assert_true(json_is_integer(json_object_get(event, "ts")));
    if (strchr("stf", phase)) {
        check_flow(check, event, phase);
        return;
    }
    struct track *track = track_of(check, group, phase == 'C' ? 0 : number);
    g_assert_cmpint(at, >=, track->last);
    track->last = at;
    check->first = MIN(check->first, at);
    check->end = MAX(check->end, at + whole(event, "dur"));
    check_slice(track, event, phase);
}

static struct trace_check *check_trace(const json_t *trace) {
    struct trace_check *check = g_new0(struct trace_check, 1);
    json_t *event;
    size_t index;
    GHashTableIter iter;
    void *track;
    check->first = INT64_MAX;
    check->tracks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, track_free);
    check->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    check->flows = g_hash_table_new(NULL, NULL);
    json_array_foreach(json_object_get(trace, "traceEvents"), index, event) check_event(check, event);
    g_assert_cmpint((int64_t)index, ==, whole(json_object_get(trace, "otherData"), "events"));
    g_hash_table_iter_init(&iter, check->tracks);
    while (g_hash_table_iter_next(&iter, NULL, &track))
        g_assert_null(((struct track *)track)->open);
    g_hash_table_iter_init(&iter, check->flows);
    while (g_hash_table_iter_next(&iter, NULL, &track))
        g_assert_cmpstr(text_of(track, "ph"), ==, "f");
    return check;
}

static void check_free(struct trace_check *check) {
    g_hash_table_unref(check->tracks);
    g_hash_table_unref(check->names);
    g_hash_table_unref(check->flows);
    g_free(check);
}

/* ---- what must hold ---- */

static void slices_of_links_are_their_counters(void) {
    json_t *result = load("result.json"), *trace = load("trace.json"), *router, *port;
    struct trace_check *check = check_trace(trace);
    size_t r, p;
    int64_t number = 0;
    json_array_foreach(json_object_get(result, "routers"), r, router)
        json_array_foreach(json_object_get(router, "out"), p, port) {
        g_autofree char *key = track_key(GROUP_LINKS, ++number);
        const struct track *track = g_hash_table_lookup(check->tracks, key);
        g_assert_cmpint(track ? track->sum : 0, ==, whole(port, "flits") + whole(port, "busy"));
    }
    check_free(check);
    json_decref(trace);
    json_decref(result);
}

static void assert_causes(struct trace_check *check, const json_t *components, int64_t group) {
    json_t *component, *count;
    const char *cause;
    size_t index;
    json_array_foreach((json_t *)components, index, component) {
        g_autofree char *key = track_key(group + (int64_t)index, 1);
        g_autofree char *process = track_key(group + (int64_t)index, 0);
        const struct track *track = g_hash_table_lookup(check->tracks, key);
        g_assert_cmpstr(g_hash_table_lookup(check->names, process), ==, text_of(component, "name"));
        json_object_foreach(json_object_get(component, "cycles"), cause, count)
            g_assert_cmpint(GPOINTER_TO_INT(g_hash_table_lookup(track->by_name, cause)), ==, json_integer_value(count));
    }
}

/* A trace that ends where the accounts do has a slice for every cycle of every cause. */
static void slices_of_units_are_their_causes(void) {
    json_t *result = load("result.json");
    g_autofree char *end = g_strdup_printf("%d", (int)whole(result, "cycles"));
    assert_ended(RUN("run", "ref2", CUBE, "--out", folder, "--trace", "--trace-to", end, "--quiet"), 0);
    json_t *trace = load("trace.json");
    struct trace_check *check = check_trace(trace);
    assert_causes(check, json_object_get(result, "units"), GROUP_UNITS);
    assert_causes(check, json_object_get(result, "ports"), GROUP_PORTS);
    check_free(check);
    json_decref(trace);
    json_decref(result);
}

static void every_message_finds_its_answer(void) {
    json_t *result = load("result.json"), *trace = load("trace.json");
    const json_t *counts = json_object_get(result, "counts");
    struct trace_check *check = check_trace(trace);
    g_assert_cmpint(check->flow_count, ==,
                    whole(counts, "mem_rd_req") + whole(counts, "mem_wr_ack") + whole(counts, "instructions"));
    g_assert_true(json_is_true(json_object_get(json_object_get(trace, "otherData"), "complete")));
    check_free(check);
    json_decref(trace);
    json_decref(result);
}

static void the_window_is_kept(void) {
    assert_ended(
        RUN("run", "ref2", CUBE, "--out", folder, "--trace", "--trace-from", "300", "--trace-to", "700", "--quiet"), 0);
    json_t *trace = load("trace.json");
    struct trace_check *check = check_trace(trace);
    g_autofree char *causes = track_key(GROUP_UNITS, 1);
    g_assert_cmpint(check->first, ==, 300);
    g_assert_cmpint(check->end, ==, 700);
    g_assert_cmpint(((struct track *)g_hash_table_lookup(check->tracks, causes))->sum, ==, 400);
    check_free(check);
    json_decref(trace);
}

/* At the limit every slice is closed, and the file and the user are told. */
static void the_limit_is_told(void) {
    struct outcome outcome =
        RUN("run", "ref2", CUBE, "--out", folder, "--trace", "--trace-flits", "--trace-limit", "500", "--quiet");
    json_t *trace = load("trace.json"), *facts = json_object_get(trace, "otherData");
    g_autofree char *log = g_build_filename(folder, "flits.txt", NULL);
    g_autofree char *lines = NULL;
    g_assert_cmpint(outcome.status, ==, 0);
    g_assert_nonnull(strstr(outcome.err, "the trace ends before cycle"));
    g_assert_nonnull(strstr(outcome.err, "the log of flits ends before cycle"));
    check_free(check_trace(trace));
    g_assert_true(json_is_false(json_object_get(facts, "complete")));
    g_assert_cmpint(whole(facts, "cut_at"), >, 0);
    g_assert_cmpint(whole(facts, "events"), <, 600);
    g_assert_true(g_file_get_contents(log, &lines, NULL, NULL));
    g_auto(GStrv) rows = g_strsplit(lines, "\n", -1);
    g_assert_cmpuint(g_strv_length(rows) - 1, ==, 500);
    outcome_clear(&outcome);
    json_decref(trace);
}

/* A line for every flit on every link: routers' outputs, and what units and ports sent. */
static void the_log_has_every_flit(void) {
    assert_ended(RUN("run", "ref2", CUBE, "--out", folder, "--trace-flits", "--quiet"), 0);
    json_t *result = load("result.json");
    g_autofree char *log = g_build_filename(folder, "flits.txt", NULL);
    g_autofree char *lines = NULL;
    g_assert_true(g_file_get_contents(log, &lines, NULL, NULL));
    g_auto(GStrv) rows = g_strsplit(lines, "\n", -1);
    int64_t routed = 0;
    uint64_t last = 0;
    for (unsigned i = 0; rows[i][0]; i++) {
        unsigned long cycle, waited;
        unsigned sx, sy, dx, dy, txn, final;
        char link[32], type[32];
        g_assert_cmpint(sscanf(rows[i], "%lu %31s %31s (%u,%u)->(%u,%u) txn %u last %u waited %lu", &cycle, link, type,
                               &sx, &sy, &dx, &dy, &txn, &final, &waited),
                        ==, 10);
        g_assert_cmpuint(cycle, >=, last);
        last = cycle;
        routed += link[0] == '(';
    }
    g_assert_cmpint(routed, ==, whole(result, "flit_hops"));
    json_decref(result);
}

static void a_traced_run_is_the_same(void) {
    json_t *result = load("result.json");
    struct outcome plain = RUN("run", "ref2", CUBE, "--json");
    json_t *other = json_loads(plain.out, 0, NULL);
    g_assert_cmpstr(text_of(result, "digest"), ==, text_of(other, "digest"));
    outcome_clear(&plain);
    json_decref(result);
    json_decref(other);
}

/* A trace that could hold nothing is refused, not written empty. */
static void what_cannot_be_traced_is_refused(void) {
    assert_refused(
        RUN("run", "mesh_4x4", "traffic:rate=0.1,cycles=100", "--out", folder, "--trace", "--quiet"),
        "flitsim run: --trace and --interval: workload traffic on mesh_4x4 runs no units of one mesh, expected "
        "one that does");
}

static void options_are_checked(void) {
    const struct {
        const char *option, *value, *message;
    } rows[] = {{"--trace", NULL, "flitsim run: --trace without a folder, expected --out DIR\n"},
                {"--trace-flits", NULL, "flitsim run: --trace-flits without a folder, expected --out DIR\n"},
                {"--trace-limit", "0", "flitsim run: --trace-limit is 0, expected at least 1\n"},
                {"--trace-to", "0", "flitsim run: --trace-to is 0, expected at least 1\n"},
                {"--interval", "-5", "flitsim run: --interval is -5, expected at least 0\n"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct outcome outcome = RUN("run", "ref2", CUBE, rows[i].option, rows[i].value);
        g_assert_cmpint(outcome.status, ==, 2);
        g_assert_cmpstr(outcome.err, ==, rows[i].message);
        g_assert_cmpstr(outcome.out, ==, "");
        outcome_clear(&outcome);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("flitsim-XXXXXX", NULL);
    assert_ended(RUN("run", "ref2", CUBE, "--out", folder, "--trace", "--quiet"), 0);
    g_test_add_func("/trace/slices_of_links_are_their_counters", slices_of_links_are_their_counters);
    g_test_add_func("/trace/every_message_finds_its_answer", every_message_finds_its_answer);
    g_test_add_func("/trace/a_traced_run_is_the_same", a_traced_run_is_the_same);
    g_test_add_func("/trace/slices_of_units_are_their_causes", slices_of_units_are_their_causes);
    g_test_add_func("/trace/the_window_is_kept", the_window_is_kept);
    g_test_add_func("/trace/the_limit_is_told", the_limit_is_told);
    g_test_add_func("/trace/the_log_has_every_flit", the_log_has_every_flit);
    g_test_add_func("/trace/what_cannot_be_traced_is_refused", what_cannot_be_traced_is_refused);
    g_test_add_func("/trace/options_are_checked", options_are_checked);
    int status = g_test_run();
    remove_tree(folder);
    g_free(folder);
    return status;
}
