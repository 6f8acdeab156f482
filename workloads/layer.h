/* Layers that need both kinds of unit: a matrix product on the clusters and an elementwise kernel on the vector cores,
 * y = f(x W' [, x V'] [, b]) (workloads §4.6, §5.2, §5.3).
 *
 * Fused: a cluster drains its tile into a vector core's L1, the host waits for the signals of its arrival and starts
 * the core, which stores the result in the order of sub-tiles. Staged: the tiles go to memory and the cores work
 * through them from there. Layers follow one another through relayout by the host, for a sub-tile mixes four rows and
 * the mover moves whole words, and conversion by the mover. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/planner.h"
#include "workloads/streams.h"
#include "workloads/vector_model.h"
#include "workloads/vector_program.h"

enum {
    LAYER_PRODUCTS_MAX = 2,
};

/* What a layer computes. */
struct layer_shape {
    size_t m, k, n;
    unsigned products;  /* 1, or 2 of the same x */
    const char *kernel; /* text of the elementwise part; NULL: none, the product goes to memory */
    /* The same in FP64, of the product and the second product or bias; NULL: the product itself. */
    double (*value)(double first, double second);
    bool fuse;
    int form;            /* enum vector_constants, of the staged form */
    unsigned gm, gn, nk; /* forced tile, 0: the planner's choice */
    /* A weight as a sum of so many int7 terms, 0 counts as 1: the product is `terms` times as deep, x repeated in it,
     * and a row of w holds after the weights what their quantisation leaves (layer_split). */
    unsigned terms;
    const uint16_t *w[LAYER_PRODUCTS_MAX]; /* [n][layer_depth] FP16 rows, borrowed */
    const uint16_t *bias;                  /* n values or NULL; borrowed */
};

/* Values of elementwise parts in FP64; those of one operand leave the second alone. */
double layer_value_silu(double x, double unused);
double layer_value_relu(double x, double unused);
double layer_value_gelu(double x, double unused);
double layer_value_bias(double x, double bias);

/* Depth of the product: k, or with several terms `terms` times k in whole blocks. */
size_t layer_depth(const struct layer_shape *shape);
/* [n][k] FP16 weights as rows of two terms: themselves, and what is left of them once they are int7+E5M3. To be freed.
 */
uint16_t *layer_split(const uint16_t *w, size_t n, size_t k);

/* What the layers of a run share. */
struct layer_machine {
    const struct machine *machine;
    struct node *clusters, *cores, agent;
    unsigned cluster_count, core_count;
    char *kernels;
    uint64_t end; /* of memory in use */
};

/* FS_ERROR_INPUT when the machine lacks a kind of unit. */
bool layer_machine_init(struct layer_machine *machine, const struct machine *from, GError **error);
void layer_machine_clear(struct layer_machine *machine);

struct layer_counts {
    uint64_t fills, gemms, drains, imem, desc, runs, arrivals, temp_bytes;
    uint64_t relayouts, relayout_bytes;
};

struct layer {
    struct layer_shape shape;
    struct layer_machine *on;
    struct gemm_plan *plan[LAYER_PRODUCTS_MAX];
    struct vector_kernel kernel;
    struct vector_tile tile;
    /* Byte addresses. */
    uint64_t x_rows, x, w_rows[LAYER_PRODUCTS_MAX], w[LAYER_PRODUCTS_MAX], bias, temp[LAYER_PRODUCTS_MAX], arrays,
        result;
    /* What every core is sent, for the plain evaluation. */
    GArray *script;
    GArray *images; /* of struct vector_image: constant arrays */
    struct layer_counts counts;
    struct dram *memory;        /* of the machine, while the run goes on */
    const struct layer *source; /* whose result is this layer's x, or NULL */
};

/* Plans it and finds it room in memory. `source`: the layer whose result is x, or NULL. On failure nothing is left. */
bool layer_init(struct layer *layer, struct layer_machine *on, const struct layer_shape *shape,
                const struct layer *source, GError **error);
void layer_clear(struct layer *layer);

/* Puts operands into memory: weights, bias, and [m][k] rows x unless it comes from another layer. */
void layer_load(const struct layer *layer, struct dram *dram, const uint16_t *x);
/* Adds what it takes: conversions, products, elementwise part; `dram` is the machine's memory. */
bool layer_steps(struct layer *layer, struct streams *streams, struct dram *dram, GError **error);

/* [m][n] rows of the result, as the machine left them. */
void layer_result(const struct layer *layer, struct dram *dram, uint16_t *rows);
/* The same by arithmetic alone: products by the machine model (grade.h), the rest by plain evaluation. */
void layer_model(const struct layer *layer, const uint16_t *x, uint16_t *rows);
