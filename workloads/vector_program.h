/* From a vector kernel and a shape to what a host sends: IMEM, DESC and RUN payloads, and the memory images of
 * constants (workloads §4.1 to §4.4).
 *
 * A kernel is text, workloads/kernels/NAME.vs: a block NAME with the arithmetic of one chunk of VL elements, or of one
 * row if it holds a reduction, and optionally a block NAME.once that runs once a RUN and sets constants. Conventions:
 *   v1, v2, v3   inputs, as many as the body reads before it writes them
 *   v0           the result
 *   s8 .. s12    constants, by VSETI in NAME.once
 *   s13, s14     row length and its reciprocal; set here when used
 *   s0           the vector length
 * Loads, stores, fills, drains, barrier and halt are put around it here.
 *
 * A kernel for rows longer than a vector has blocks NAME.row1, NAME.pass1, NAME.row2, NAME.pass2, .. instead of NAME:
 * of every row, row1 once, pass1 for every piece of up to 128 elements, and so on. A pass loads the inputs it reads, v7
 * if it reads that (what an earlier pass has stored there), and stores v0 if it writes it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "model/error.h"
#include "model/word.h"

enum {
    VECTOR_INPUTS_MAX = 3, /* two descriptors an input, two for the result */
    VECTOR_PASSES_MAX = 4,
};

/* Words of one block; a VSETI's value follows it. */
struct vector_block {
    uint32_t *words;
    unsigned count;
    unsigned reads; /* vector registers read before they are written, a bit each */
    bool stores;    /* writes v0 */
};

struct vector_kernel {
    char *name;
    struct vector_block once, body;
    struct vector_block row[VECTOR_PASSES_MAX], pass[VECTOR_PASSES_MAX];
    unsigned passes; /* 0: rows are not longer than a vector */
    unsigned inputs;
    bool by_row;           /* holds a reduction: a chunk is a row */
    bool whole_groups;     /* its reductions need a length that is a multiple of 16 */
    bool wants_length;     /* reads s13 */
    bool wants_reciprocal; /* reads s14 */
};

enum vector_constants {
    VECTOR_CONSTANTS_REG, /* scalar registers */
    VECTOR_CONSTANTS_MEM, /* arrays from memory, as the shipped compiler does when descriptors allow */
};

enum vector_tail {
    VECTOR_TAIL_PAD, /* the last batch runs full, the allocation is padded */
    VECTOR_TAIL_VL,  /* the last chunk sets VL, the last fills and drain are shortened */
};

struct vector_job {
    unsigned rows, cols; /* FP16, row-major; without a reduction only the product counts */
    enum vector_constants constants;
    enum vector_tail tail;
    uint64_t inputs[VECTOR_INPUTS_MAX]; /* byte addresses */
    uint64_t result;
    uint64_t arrays;         /* where constant arrays may go, VECTOR_CONSTANTS_MEM */
    unsigned words_per_flit; /* as vector.imem_words_per_flit; 0 counts as 1 */
};

struct vector_counts {
    unsigned words;                              /* of instruction memory */
    unsigned loads, alu, reductions, broadcasts; /* words of the image of a full batch */
    unsigned stores, fills;
    unsigned imem, desc, run; /* flits */
};

/* Words to be put into memory before the first RUN. */
struct vector_image {
    uint64_t address;
    struct word256 *words;
    unsigned count;
};

struct vector_program {
    GArray *payloads; /* struct word256, in the order they are sent */
    struct vector_counts counts;
    unsigned inputs; /* constant arrays included */
    unsigned batches;
    unsigned batch_words; /* of one region in L1 */
    struct vector_image images[VECTOR_INPUTS_MAX];
    unsigned image_count;
    uint64_t result_bytes; /* written; with VECTOR_TAIL_PAD every input has to be as long */
};

/* Reads DIRECTORY/NAME.vs. FS_ERROR_IO or FS_ERROR_INPUT. */
bool vector_kernel_load(struct vector_kernel *kernel, const char *directory, const char *name, GError **error);
void vector_kernel_clear(struct vector_kernel *kernel);

/* FS_ERROR_RANGE when the shape does not fit the core: rows longer than a vector or, with reductions, not of whole
 * groups of 16; more inputs than descriptors; an image larger than instruction memory. */
bool vector_program_build(struct vector_program *program, const struct vector_kernel *kernel,
                          const struct vector_job *job, GError **error);
void vector_program_clear(struct vector_program *program);

/* An elementwise kernel on tiles that clusters have drained into L1 (§4.6): one word a sub-tile, results in the same
 * order. Regions of whole chunks: the delivered tiles, the result, then an input from memory. */
struct vector_tile {
    unsigned words;     /* sub-tiles of a tile */
    unsigned delivered; /* inputs that come from clusters */
    unsigned period;    /* words of one more input that is filled from memory and repeats; 0: none. Bias: gn words */
    unsigned words_per_flit;
};

enum {
    VECTOR_TILE_CHUNK = 8, /* words of a region are rounded up to it */
};

/* Image and descriptors; the RUNs come from vector_tile_run. FS_ERROR_RANGE when kernel and tile do not suit. */
bool vector_tile_build(struct vector_program *program, const struct vector_kernel *kernel,
                       const struct vector_tile *tile, GError **error);
/* Appends a RUN with its bases: of the input from memory, if there is one, and of the result. */
void vector_tile_run(struct vector_program *program, const struct vector_tile *tile, uint64_t input, uint64_t result);
/* L1 words a tile takes. */
unsigned vector_tile_footprint(const struct vector_tile *tile);
