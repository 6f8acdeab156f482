/* Layers on clusters and vector cores together: fused onto delivered tiles and staged through memory (workloads §4.6,
 * §5.2, §5.3). */
#include <math.h>

#include <glib/gstdio.h>

#include "analysis/result.h"
#include "fact.h"
#include "workloads/tensor.h"

#define SHAPE "gm=8,gn=8,nk=2"

static char *run_well(const char *machine, const char *workload, const char *set) {
    struct finished_run finished;
    run_on_bench(&finished, machine, workload, SETS((char *)set), 3);
    if (finished.run.answer_wrong)
        g_error("%s: error %g", workload, finished.run.vs_fp64.normalised);
    char *digest = result_digest(&finished.run);
    finished_clear(&finished);
    return digest;
}

/* Clusters and cores at work together: the grouping does not show. */
static void same_at_any_grouping(gconstpointer workload) {
    static const char *const groupings[] = {"engine.routers_per_actor=1", "engine.routers_per_actor=2",
                                            "engine.routers_per_actor=100"};
    g_autofree char *first = run_well("ship_2x2_6_2", workload, groupings[0]);
    for (unsigned i = 1; i < G_N_ELEMENTS(groupings); i++) {
        g_autofree char *digest = run_well("ship_2x2_6_2", workload, groupings[i]);
        g_assert_cmpstr(digest, ==, first);
    }
}

static const char *const layers[] = {
    "linear_silu",
    "linear_silu:fuse=false",
    "linear_relu",
    "linear_gelu",
    "linear_scale",
    "linear_bias:m=32,k=64,n=96",
    "linear_bias:m=37,k=50,n=29",
    "linear_bias:m=37,k=50,n=29,fuse=false",
    "linear_bias:m=16,k=32,n=16,gm=1,gn=2",
    "swiglu",
    "swiglu:fuse=false",
    "geglu",
    "mlp",
    "mlp:fuse=false,activation=relu",
};

/* §5.2: 28 flits of products and one image, six descriptors, one RUN a core. Each arrival signal stands for up to
 * eight sub-tiles. The last two are §4.6's pair. */
static void counts(void) {
    static const struct {
        const char *machine, *workload;
        unsigned flits, imem, desc, runs, arrivals;
        uint64_t temp, saved;
    } rows[] = {
        {"ship_2x2_6_4", "linear_silu:" SHAPE, 312, 256, 24, 4, 32, 0, 16384},
        {"ship_2x2_6_4", "linear_relu:variant=portable," SHAPE, 248, 192, 24, 4, 32, 0, 16384},
        {"ship_2x2_6_4", "linear_bias:" SHAPE, 236, 160, 44, 4, 32, 0, 16384},
        {"ship_2x2_6_2", "linear_silu:m=32,k=64,n=32,gm=4,gn=8,nk=2", 94, 72, 12, 2, 8, 0, 4096},
        {"ship_2x2_6_2", "linear_silu:m=32,k=64,n=32,gm=4,gn=8,nk=2,fuse=false,form=mem", 107, 82, 16, 1, 0, 2048, 0},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct finished_run finished;
        run_on_bench(&finished, rows[i].machine, rows[i].workload, NULL, 1);
        g_test_message("%s", rows[i].workload);
        g_assert_cmpuint(finished_flits(&finished, FLIT_CU_INST, false), ==, rows[i].flits);
        g_assert_cmpuint(count_of(&finished, "layers.flits"), ==, rows[i].flits);
        g_assert_cmpuint(count_of(&finished, "layers.imem_flits"), ==, rows[i].imem);
        g_assert_cmpuint(count_of(&finished, "layers.desc_flits"), ==, rows[i].desc);
        g_assert_cmpuint(count_of(&finished, "layers.run_flits"), ==, rows[i].runs);
        g_assert_cmpuint(count_of(&finished, "layers.arrival_signals"), ==, rows[i].arrivals);
        g_assert_cmpuint(finished.run.system->agent.dispatch.signals, ==, rows[i].flits + rows[i].arrivals);
        g_assert_cmpuint(count_of(&finished, "layers.temp_bytes"), ==, rows[i].temp);
        g_assert_cmpuint(count_of(&finished, "layers.saved_bytes"), ==, rows[i].saved);
        finished_clear(&finished);
    }
}

/* Six fills a tile instead of eight: x stays in L1 for the second product (§5.3). */
static void gated_layers_fetch_x_once(void) {
    struct finished_run finished;
    run_on_bench(&finished, "ship_2x2_6_4", "swiglu:" SHAPE, NULL, 1);
    g_assert_cmpuint(count_of(&finished, "layers.tiles"), ==, 4);
    g_assert_cmpuint(count_of(&finished, "layers.fills"), ==, 4 * 6);
    g_assert_cmpuint(finished_flits(&finished, FLIT_MEM_RD_RESP, false), ==, 4 * 6 * 16 * 4);
    finished_clear(&finished);
}

static struct tensor *result_of(const char *workload) {
    GError *error = NULL;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "flitsim-linear-XXXXXX", NULL);
    int file = g_mkstemp(path);
    g_assert_cmpint(file, >=, 0);
    g_close(file, NULL);
    g_autofree char *full = g_strdup_printf("%s,out=%s", workload, path);
    g_autofree char *digest = run_well("ship_2x2_6_2", full, "engine.routers_per_actor=0");
    struct tensor *result = npy_read(path, &error);
    g_assert_no_error(error);
    g_remove(path);
    return result;
}

static void fused_and_staged_agree(void) {
    static const char *const pairs[][2] = {{"linear_silu:fuse=true", "linear_silu:fuse=false"},
                                           {"linear_bias:fuse=true", "linear_bias:fuse=false"},
                                           {"swiglu:fuse=true", "swiglu:fuse=false"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(pairs); i++) {
        g_autoptr(tensor_ptr) fused = result_of(pairs[i][0]), staged = result_of(pairs[i][1]);
        double difference = 0, largest = 0;
        g_assert_cmpuint(fused->count, ==, staged->count);
        for (size_t e = 0; e < fused->count; e++) {
            difference = fmax(difference, fabs(fused->data[e] - staged->data[e]));
            largest = fmax(largest, fabs(staged->data[e]));
        }
        g_assert_cmpfloat(largest, >, 0.1);
        g_assert_cmpfloat(difference, <=, 5e-3 * largest);
    }
}

static void mlp_counts_its_relayout(void) {
    struct finished_run finished;
    run_on_bench(&finished, "ship_2x2_6_2", "mlp", NULL, 1);
    g_assert_cmpuint(count_of(&finished, "layers.relayouts"), ==, 1);
    g_assert_cmpuint(count_of(&finished, "layers.relayout_bytes"), ==, 2 * 64 * 128 * 2);
    g_assert_cmpuint(finished.run.mover_writes, >, 0);
    finished_clear(&finished);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(layers); i++) {
        g_autofree char *name = g_strconcat("/linear/same_at_any_grouping/", layers[i], NULL);
        g_test_add_data_func(name, layers[i], same_at_any_grouping);
    }
    g_test_add_func("/linear/counts", counts);
    g_test_add_func("/linear/gated_layers_fetch_x_once", gated_layers_fetch_x_once);
    g_test_add_func("/linear/fused_and_staged_agree", fused_and_staged_agree);
    g_test_add_func("/linear/mlp_counts_its_relayout", mlp_counts_its_relayout);
    return g_test_run();
}
