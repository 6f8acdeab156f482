/* The vector kernels as workloads on a shipped machine: every one equals a plain evaluation of its instructions bit for
 * bit and FP64 within its tolerance, the counts of workloads §4.4 come out, and grouping the machine under actors does
 * not show in the result. */
#include "analysis/result.h"
#include "fact.h"

#define MACHINE "ship_2x2_6_2"

/* Runs it; the digest is to be freed. */
static char *run_well(const char *workload, const char *grouping) {
    struct finished_run finished;
    run_on_bench(&finished, MACHINE, workload, SETS((char *)grouping), 5);
    double tolerance = fact_of(&finished, "kernel.tolerance")->number;
    if (!(finished.run.vs_fp64.normalised <= tolerance))
        g_error("%s: error %g, tolerance %g", workload, finished.run.vs_fp64.normalised, tolerance);
    g_assert_true(finished.run.graded);
    g_assert_false(finished.run.answer_wrong);
    char *digest = result_digest(&finished.run);
    finished_clear(&finished);
    return digest;
}

static void kernel(gconstpointer workload) {
    g_autofree char *one = run_well(workload, "engine.routers_per_actor=1");
    g_autofree char *all = run_well(workload, "engine.routers_per_actor=100");
    g_assert_cmpstr(one, ==, all);
}

static const char *const kernels[] = {
    "copy",
    "neg",
    "abs",
    "exp2",
    "recip",
    "rsqrt",
    "relu",
    "relu:variant=portable",
    "sigmoid",
    "sigmoid:variant=d4",
    "silu",
    "silu:variant=d4",
    "silu:form=mem",
    "silu:tail=vl",
    "gelu",
    "gelu:variant=sigmoid",
    "add",
    "sub",
    "mul",
    "max",
    "min",
    "div",
    "affine",
    "swiglu-elementwise",
    "geglu-elementwise",
    "rotate",
    "rowsum",
    "rowmax",
    "rowmin",
    "rowsumsq",
    "softmax",
    "softmax:variant=expsum",
    "softmax:variant=wide",
    "rmsnorm",
    "rmsnorm:variant=sumsq",
    "rmsnorm:variant=inv",
    "rmsnorm:variant=wide",
    "layernorm",
    "layernorm:variant=inv",
    "layernorm:variant=wide",
    "layernorm:tail=vl",
    "group_norm:groups=4",
    "group_norm:groups=2,variant=inv",
};

static void wide_rows_take_the_wide_text(void) {
    static const char *const ids[] = {"softmax", "rmsnorm", "layernorm"};
    for (unsigned i = 0; i < G_N_ELEMENTS(ids); i++) {
        struct finished_run finished;
        g_autofree char *workload = g_strconcat(ids[i], ":rows=4,cols=512", NULL);
        g_autofree char *text = g_strconcat(ids[i], "-wide", NULL);
        run_on_bench(&finished, MACHINE, workload, NULL, 1);
        g_assert_cmpstr(fact_of(&finished, "kernel.text")->text, ==, text);
        g_assert_false(finished.run.answer_wrong);
        finished_clear(&finished);
    }
}

/* Flits of workloads §4.4 for 64 x 128 on one core; loads, ALU words, reductions of one image. */
static void counts_of_the_shipped_images(void) {
    static const struct {
        const char *workload;
        unsigned words, loads, alu, reductions, imem, desc, runs, flits;
    } rows[] = {
        {"silu:cores=1", 66, 8, 40, 0, 66, 22, 8, 96},
        {"silu:cores=1,form=mem", 82, 24, 40, 0, 82, 44, 8, 134},
        {"relu:cores=1,form=mem", 41, 16, 8, 0, 41, 33, 8, 82},
        {"affine:cores=1", 50, 24, 8, 0, 50, 44, 8, 102},
        {"softmax:cores=1,form=mem", 137, 16, 40, 16, 137, 33, 8, 178},
        {"rmsnorm:cores=1,form=mem,variant=inv", 127, 16, 56, 8, 127, 33, 8, 168},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct finished_run finished;
        run_on_bench(&finished, MACHINE, rows[i].workload, NULL, 1);
        g_test_message("%s", rows[i].workload);
        g_assert_cmpuint(count_of(&finished, "kernel.words"), ==, rows[i].words);
        g_assert_cmpuint(count_of(&finished, "kernel.loads"), ==, rows[i].loads);
        g_assert_cmpuint(count_of(&finished, "kernel.alu"), ==, rows[i].alu);
        g_assert_cmpuint(count_of(&finished, "kernel.reductions"), ==, rows[i].reductions);
        g_assert_cmpuint(count_of(&finished, "kernel.imem_flits"), ==, rows[i].imem);
        g_assert_cmpuint(count_of(&finished, "kernel.desc_flits"), ==, rows[i].desc);
        g_assert_cmpuint(count_of(&finished, "kernel.run_flits"), ==, rows[i].runs);
        g_assert_cmpuint(finished_flits(&finished, FLIT_CU_INST, false), ==, rows[i].flits);
        finished_clear(&finished);
    }
}

/* Tails by the vector length write what is asked for and no more; padded ones whole batches. */
static void tails(void) {
    struct finished_run padded, shortened;
    run_on_bench(&padded, MACHINE, "silu:rows=5,cols=100,cores=1", NULL, 1);
    run_on_bench(&shortened, MACHINE, "silu:rows=5,cols=100,cores=1,tail=vl", NULL, 1);
    g_assert_cmpuint(finished_flits(&padded, FLIT_MEM_WR_DATA, true), ==, 64);
    g_assert_cmpuint(finished_flits(&shortened, FLIT_MEM_WR_DATA, true), ==, 32);
    g_assert_cmpuint(shortened.run.cycles, <, padded.run.cycles);
    finished_clear(&padded);
    finished_clear(&shortened);
}

/* A long computation is no standstill: the kernel's beats are progress. */
static void a_long_kernel_is_no_standstill(void) {
    struct finished_run finished;
    run_on_bench(&finished, MACHINE, "softmax:rows=16,cores=1", SETS("engine.standstill_cycles=1000"), 1);
    g_assert_cmpuint(finished.run.cycles, >, 10000);
    finished_clear(&finished);
}

static void packed_instruction_words(void) {
    struct finished_run finished;
    run_on_bench(&finished, MACHINE, "silu:cores=1", SETS("vector.imem_words_per_flit=8"), 1);
    g_assert_false(finished.run.answer_wrong);
    g_assert_cmpuint(count_of(&finished, "kernel.imem_flits"), ==, 1 + (66 + 7) / 8);
    finished_clear(&finished);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *name = g_strconcat("/kernels/exact_and_close/", kernels[i], NULL);
        g_test_add_data_func(name, kernels[i], kernel);
    }
    g_test_add_func("/kernels/wide_rows_take_the_wide_text", wide_rows_take_the_wide_text);
    g_test_add_func("/kernels/counts_of_the_shipped_images", counts_of_the_shipped_images);
    g_test_add_func("/kernels/tails", tails);
    g_test_add_func("/kernels/a_long_kernel_is_no_standstill", a_long_kernel_is_no_standstill);
    g_test_add_func("/kernels/packed_instruction_words", packed_instruction_words);
    return g_test_run();
}
