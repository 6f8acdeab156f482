/* The samples of workloads §5.1 as their user runs them: each ends with the diagnosis named for it, and with the exit
 * status that goes with it. */
#include "cli/command.h"

struct sample_case {
    const char *id, *expected;
    const char *dead; /* diagnosis of the deadlock, or NULL: it ends */
    int status;
    int mismatches; /* -1: there are some; -2: no answer */
};

static const struct sample_case cases[] = {
    {"peer-self", "deadlock.self_peer", "deadlock.self_peer", 1, -2},
    {"credit-starve", "dispatch.credit_starved", "dispatch.credit_starved", 1, -2},
    {"credit-overrun", "deadlock.overseeded", "deadlock.overseeded", 1, -2},
    {"shared-fetch-no-rendezvous", "cluster.shared_fill_side", NULL, 1, -1},
    {"l1-wrap", "cluster.fill_wraps", NULL, 1, -1},
    {"reuse-violation", "acc.reuse", NULL, 1, -1},
    {"bias-overflow", "numerics.saturated", NULL, 1, 0},
    {"peer-add", "the right answer", NULL, 0, 0},
};

static const json_t *at(const json_t *object, const char *path) {
    g_auto(GStrv) keys = g_strsplit(path, ".", -1);
    for (char **key = keys; *key; key++)
        object = json_object_get(object, *key);
    return object;
}

static json_t *run_sample(const char *machine, const char *id, const char *set, int status) {
    struct command_folder folder;
    folder_open(&folder);
    struct command_result result = command_run(&folder, TYPED("run", machine, id, "--json", "--set", set));
    g_assert_cmpint(result.status, ==, status);
    json_t *root = json_loads(result.out, 0, NULL);
    g_assert_nonnull(root);
    command_clear(&result);
    folder_close(&folder);
    return root;
}

static void ends_as_named(gconstpointer data) {
    const struct sample_case *sample = data;
    static const char *const machines[] = {"ref2", "ref8", "ship_2x2_6_0"};
    for (unsigned m = 0; m < G_N_ELEMENTS(machines); m++) {
        json_t *result = run_sample(machines[m], sample->id, "cluster.rendezvous=false", sample->status);
        g_assert_cmpstr(json_string_value(at(result, "workload.workload")), ==, sample->id);
        g_assert_cmpstr(json_string_value(at(result, "sample.expected")), ==, sample->expected);
        g_assert_true(json_is_true(at(result, "sample.found")));
        g_assert_cmpstr(json_string_value(at(result, "deadlock.id")), ==, sample->dead);
        gint64 mismatches = json_integer_value(at(result, "numerics.vs_model.mismatches"));
        g_assert_true(json_is_null(at(result, "numerics")) == (sample->mismatches == -2));
        if (sample->mismatches == -1)
            g_assert_cmpint(mismatches, >, 0);
        if (sample->mismatches == 0)
            g_assert_cmpint(mismatches, ==, 0);
        json_decref(result);
    }
}

/* Where the flaw is taken away the same program is right. */
static void is_right_with_a_rendezvous(void) {
    json_t *wrong = run_sample("ref2", "shared-fetch-no-rendezvous", "cluster.rendezvous=false", 1);
    json_t *right = run_sample("ref2", "shared-fetch-no-rendezvous", "cluster.rendezvous=true", 0);
    g_assert_false(json_is_true(at(right, "sample.found")));
    g_assert_cmpint(json_integer_value(at(right, "numerics.vs_model.mismatches")), ==, 0);
    g_assert_cmpuint(json_array_size(at(right, "hazards")), ==, 0);
    g_assert_cmpint(json_integer_value(at(right, "counts.dram_read_bytes")), ==, (8 + 2 * 64) * 128);
    json_decref(wrong);
    json_decref(right);
}

/* workloads §6.7: 61 % of the elements at K = 2,048 and mean 5.657. */
static void saturates_as_often_as_published(void) {
    json_t *result = run_sample("ref2", "bias-overflow", "cluster.rendezvous=false", 1);
    double share = (double)json_integer_value(at(result, "numerics.vs_fp64.saturated")) / (64 * 64);
    g_test_message("%.3f", share);
    g_assert_cmpfloat(share, >, 0.55);
    g_assert_cmpfloat(share, <, 0.67);
    json_decref(result);
}

static void names_what_is_missing(void) {
    static const struct {
        const char *machine, *id, *message;
    } rows[] = {
        {"one", "credit-starve",
         "one:1:1: (machine): credit-starve: machine has 1 matmul clusters and 1 memory ports, expected at least "
         "2 and 1\n"},
        {"base2", "peer-self",
         "base2:1:1: (machine): peer-self: machine has cluster.tiles = 64, expected at least 256\n"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct command_folder folder;
        folder_open(&folder);
        struct command_result result = command_run(&folder, TYPED("run", rows[i].machine, rows[i].id));
        g_assert_cmpint(result.status, ==, 2);
        g_assert_cmpstr(result.err, ==, rows[i].message);
        command_clear(&result);
        folder_close(&folder);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/samples/ends_as_named/", cases[i].id, NULL);
        g_test_add_data_func(path, &cases[i], ends_as_named);
    }
    g_test_add_func("/samples/is_right_with_a_rendezvous", is_right_with_a_rendezvous);
    g_test_add_func("/samples/saturates_as_often_as_published", saturates_as_often_as_published);
    g_test_add_func("/samples/names_what_is_missing", names_what_is_missing);
    return g_test_run();
}
