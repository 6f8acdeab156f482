/* K split over clusters as a key of the gemm workload (workloads §2.8): the answer is graded in the order of the split,
 * and on the shape for which it is meant it pays. */
#include "claims/run_bench.h"

#define DEEP "gemm:m=64,k=4096,n=64,transform=upload"

static const struct run_fact *fact(const struct finished_run *finished, const char *key) {
    const GArray *facts = finished->run.facts;
    for (guint i = 0; i < facts->len; i++)
        if (g_str_equal(g_array_index(facts, struct run_fact, i).key, key))
            return &g_array_index(facts, struct run_fact, i);
    g_error("no fact %s", key);
}

struct split_case {
    const char *keys, *form;
    unsigned factor, steps;
};

static const struct split_case cases[] = {
    {"split=auto", "chain", 8, 7},
    {"split=auto,split_form=tree", "tree", 8, 3},
    {"split=3,split_form=tree", "tree", 3, 2},
    {"split=5,split_form=memory", "memory", 5, 0},
};

static cycle_t cycles_of(const struct split_case *split) {
    struct finished_run finished;
    g_autofree char *workload = g_strconcat(DEEP ",", split->keys, NULL);
    run_on_bench(&finished, "ref8", workload, NULL, 1);
    bool memory = g_str_equal(split->form, "memory");
    g_assert_cmpuint(fact(&finished, "split.factor")->count, ==, split->factor);
    g_assert_cmpstr(fact(&finished, "split.form")->text, ==, split->form);
    g_assert_cmpuint(fact(&finished, "split.steps")->count, ==, split->steps);
    g_assert_cmpuint(fact(&finished, "split.peer_flits")->count, ==, memory ? 0 : (split->factor - 1) * (512 + 64));
    g_assert_cmpuint(finished_flits(&finished, FLIT_CU_DATA, true), ==, fact(&finished, "split.peer_flits")->count);
    g_assert_cmpuint(fact(&finished, "split.relayout_bytes")->count, ==, memory ? (split->factor + 1) * 8192 : 0);
    g_assert_cmpuint(finished.run.system->hazards.hazards->len, ==, 0);
    g_assert_cmpfloat(finished.run.vs_fp64.normalised, <, 2e-2);
    cycle_t cycles = finished.run.cycles;
    finished_clear(&finished);
    return cycles;
}

static void is_right(gconstpointer data) {
    cycles_of(data);
}

/* One tile and eight clusters: a tree is faster than a chain, both than one cluster. */
static void pays_where_tiles_are_few(void) {
    struct finished_run one;
    run_on_bench(&one, "ref8", DEEP, NULL, 1);
    cycle_t chain = cycles_of(&cases[0]), tree = cycles_of(&cases[1]);
    g_test_message("%" G_GUINT64_FORMAT " cycles unsplit, %" G_GUINT64_FORMAT " chain, %" G_GUINT64_FORMAT " tree",
                   one.run.cycles, chain, tree);
    g_assert_cmpuint(chain, <, one.run.cycles);
    g_assert_cmpuint(tree, <, chain);
    finished_clear(&one);
}

/* FP16 in between loses what the accumulator keeps. */
static void memory_costs_accuracy(void) {
    struct finished_run tree, memory;
    run_on_bench(&tree, "ref8", DEEP ",split=8,split_form=tree", NULL, 1);
    run_on_bench(&memory, "ref8", DEEP ",split=8,split_form=memory", NULL, 1);
    g_assert_cmpfloat(memory.run.vs_quantised.rel_p50, >, 1.3 * tree.run.vs_quantised.rel_p50);
    finished_clear(&tree);
    finished_clear(&memory);
}

/* As many tiles as clusters: `auto` leaves the plan as it is. */
static void is_left_alone_where_tiles_are_many(void) {
    struct finished_run plain, automatic;
    run_on_bench(&plain, "ref8", "gemm:m=256,k=128,n=256,transform=upload", NULL, 1);
    run_on_bench(&automatic, "ref8", "gemm:m=256,k=128,n=256,transform=upload,split=auto", NULL, 1);
    g_assert_cmpuint(fact(&automatic, "split.factor")->count, ==, 1);
    g_assert_cmpuint(plain.run.cycles, ==, automatic.run.cycles);
    finished_clear(&plain);
    finished_clear(&automatic);
}

static void says_what_is_possible(void) {
    g_autoptr(GError) error = NULL;
    struct machine machine;
    struct workload workload;
    struct run run;
    config_load_machine(&machine, "ref8", NULL, &error);
    workload_load(&workload, DEEP ",split=9", NULL, &error);
    g_assert_no_error(error);
    run_init(&run, &machine, &workload);
    g_assert_false(workload.type->run(&run, &error));
    g_assert_cmpstr(error->message, ==,
                    "workload:1:46: split: K split 9 ways: 8 clusters, 1 tiles and 32 chunks allow at most 8");
    run_clear(&run);
    workload_clear(&workload);
    machine_clear(&machine);
}

static void refuses_other_words(void) {
    g_autoptr(GError) error = NULL;
    struct workload workload;
    g_assert_false(workload_load(&workload, "gemm:split=most", NULL, &error));
    g_assert_cmpstr(error->message, ==,
                    "workload:1:12: split: is \"most\", expected a whole number 0..255 clusters or auto");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/gemm_split/is_right/", cases[i].keys, NULL);
        g_test_add_data_func(path, &cases[i], is_right);
    }
    g_test_add_func("/gemm_split/pays_where_tiles_are_few", pays_where_tiles_are_few);
    g_test_add_func("/gemm_split/memory_costs_accuracy", memory_costs_accuracy);
    g_test_add_func("/gemm_split/is_left_alone_where_tiles_are_many", is_left_alone_where_tiles_are_many);
    g_test_add_func("/gemm_split/says_what_is_possible", says_what_is_possible);
    g_test_add_func("/gemm_split/refuses_other_words", refuses_other_words);
    return g_test_run();
}
