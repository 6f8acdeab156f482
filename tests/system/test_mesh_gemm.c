/* GEMMs over the meshes of the shipped four-mesh line (workloads §5.8): the answer bit for bit, and what is published
 * of such runs in direction and size. */
#include "model/config.h"
#include "model/numeric/fp16.h"
#include "workloads/mesh_gemm.h"
#include "workloads/operands.h"
#include "workloads/tensor.h"

#include <math.h>

struct setup {
    struct machine machine;
    size_t m, k, n;
    uint16_t *a, *b;
    uint16_t *c, *wanted;
    uint64_t hazards; /* reported in any mesh */
};

static void fill(uint16_t *halves, size_t count, double deviation, uint64_t seed) {
    GRand *random = g_rand_new_with_seed((guint32)seed);
    for (size_t i = 0; i < count; i++) { /* twelve uniform ones make a normal one */
        double sum = -6;
        for (unsigned u = 0; u < 12; u++)
            sum += g_rand_double(random);
        halves[i] = fp16_from_double(deviation * sum);
    }
    g_rand_free(random);
}

static void open_setup(struct setup *setup, size_t m, size_t k, size_t n) {
    g_autoptr(GError) error = NULL;
    *setup = (struct setup){.m = m, .k = k, .n = n};
    config_load_machine(&setup->machine, "ship_4_meshes", NULL, &error);
    g_assert_no_error(error);
    setup->a = g_new(uint16_t, m * k);
    setup->b = g_new(uint16_t, n * k);
    setup->c = g_new0(uint16_t, m * n);
    setup->wanted = g_new0(uint16_t, m * n);
    fill(setup->a, m * k, 0.02, 1);
    fill(setup->b, n * k, 1, 2);
}

static void close_setup(struct setup *setup) {
    g_free(setup->a);
    g_free(setup->b);
    g_free(setup->c);
    g_free(setup->wanted);
    machine_clear(&setup->machine);
}

/* Runs, and checks that the answer is the model's. */
static struct mesh_figures run(struct setup *setup, const struct mesh_gemm_options *options) {
    g_autoptr(GError) error = NULL;
    struct mesh_figures figures;
    struct mesh_gemm *gemm = mesh_gemm_new(&setup->machine, setup->m, setup->k, setup->n, options, &error);
    g_assert_no_error(error);
    struct line *line = line_new(&setup->machine, &error);
    g_assert_no_error(error);
    mesh_gemm_load(gemm, line, setup->a, setup->b);
    mesh_gemm_run(gemm, line, &figures);
    g_assert_false(figures.dead);
    mesh_gemm_gather(gemm, line, setup->c);
    mesh_gemm_reference(gemm, setup->wanted);
    size_t first;
    g_assert_cmpuint(grade_bit_mismatches(setup->wanted, setup->c, setup->m * setup->n, &first), ==, 0);
    setup->hazards = 0;
    for (unsigned p = 0; p < line->count; p++)
        for (guint h = 0; h < line->meshes[p]->hazards.hazards->len; h++) {
            const struct hazard *hazard = g_ptr_array_index(line->meshes[p]->hazards.hazards, h);
            g_test_message("mesh %u: %s: %s", p, hazard->id, hazard->what);
            setup->hazards += hazard->count;
        }
    g_test_message("%u meshes: %" G_GUINT64_FORMAT " cycles, sweeps %" G_GUINT64_FORMAT ", computes %lu sends %lu drains %lu, %" G_GUINT64_FORMAT " beats in %" G_GUINT64_FORMAT " packets",
                   gemm->count, figures.cycles, figures.summed_cycles, figures.step_cycles[0], figures.step_cycles[1], figures.step_cycles[2], figures.link_beats,
                   figures.link_packets);
    line_free(line);
    mesh_gemm_free(gemm);
    return figures;
}

static void n_scales_with_the_meshes(void) {
    struct setup setup;
    struct mesh_gemm_options options;
    open_setup(&setup, 128, 256, 256);
    for (unsigned clusters = 1; clusters <= 6; clusters++) {
        mesh_gemm_options_init(&options);
        options.clusters = clusters;
        options.gemm.gm = options.gemm.gn = 8;
        options.gemm.nk = 2;
        options.meshes = 1;
        struct mesh_figures one = run(&setup, &options);
        options.meshes = 4;
        struct mesh_figures four = run(&setup, &options);
        g_test_message("clusters %u ratio %g compute %g", clusters, (double)one.cycles / four.cycles,
                       (double)one.compute_cycles[0] / four.compute_cycles[0]);
        g_assert_cmpuint(four.summed_cycles, ==, one.summed_cycles);
    }
    close_setup(&setup);
}

static void k_splits(void) {
    for (size_t k = 64; k <= 4096; k *= 2) {
        struct setup setup;
        struct mesh_gemm_options options;
        open_setup(&setup, 32, k, 64);
        mesh_gemm_options_init(&options);
        options.split = MESH_SPLIT_K;
        options.clusters = 1;
        options.gemm.gm = 8;
        options.gemm.gn = 16;
        for (unsigned meshes = 1; meshes <= 4 && k >= 32*meshes; meshes++) {
            options.meshes = meshes;
            run(&setup, &options);
        }
        close_setup(&setup);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mesh/n", n_scales_with_the_meshes);
    g_test_add_func("/mesh/k", k_splits);
    return g_test_run();
}
