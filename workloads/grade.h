/* How right an answer is (workloads §6): three references for C[m][n] = A[m][k] . B[n][k]^T and the distance to them.
 *
 *   R1'  the machine: block sums rounded to the accumulator format, added in sweep order, emitted as FP16. A run must
 *        equal it bit for bit.
 *   R1   the exact product of the quantised operands, rounded once to FP64; R2 the same in FP64 arithmetic. They
 * isolate accumulator and output. R3   the FP64 product of the FP16 operands: adds the cost of the number format.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/error.h"
#include "model/numeric/mxfp7.h"
#include "workloads/layout.h"

/* How the machine adds up. */
struct grade_machine {
    unsigned width;   /* fraction bits of the accumulator format, 8..16; 14 is the hardware's */
    bool double_rate; /* K blocks of one GEMM merged in pairs before rounding (golden README section 6.1) */
};

/* R1': C as FP16, [m][n] rows, from quantised entries in the order of layouts `a` and `b`, which must have the same
 * block and blocks (the chunks are the GEMMs whose blocks pair up at double rate). Returns how many elements of C
 * (padding apart) were cut to +-65504. */
size_t grade_machine_result(const struct operand_layout *a, const struct mxfp7_entry *a_entries,
                            const struct operand_layout *b, const struct mxfp7_entry *b_entries,
                            const struct grade_machine *machine, uint16_t *c);

/* The same in two halves, for partials that are added in between: accumulator tiles of 16 lanes, sub-tile rows by
 * columns, grade_tile_lanes() in all, and their emission. */
size_t grade_tile_lanes(const struct operand_layout *a, const struct operand_layout *b);
void grade_machine_tiles(const struct operand_layout *a, const struct mxfp7_entry *a_entries,
                         const struct operand_layout *b, const struct mxfp7_entry *b_entries,
                         const struct grade_machine *machine, uint32_t *tiles);
size_t grade_tiles_result(const struct operand_layout *a, const struct operand_layout *b,
                          const struct grade_machine *machine, const uint32_t *tiles, uint16_t *c);

/* R1: exact integer sums, rounded once. */
void grade_exact_result(const struct operand_layout *a, const struct mxfp7_entry *a_entries,
                        const struct operand_layout *b, const struct mxfp7_entry *b_entries, double *c);

/* The quantised operand's values, [lanes][k] rows. */
void grade_dequantise(const struct operand_layout *layout, const struct mxfp7_entry *entries, double *rows);

/* C = A . B^T in FP64, products added in the order of K, each rounded. R2 of dequantised operands, R3 of the originals.
 */
void grade_fp64_result(size_t m, size_t k, size_t n, const double *a, const double *b, double *c);

/* Distances (§6.2). rel = |got - want| / |want|, 0 where both are 0; where only want is 0 the element counts as over 10
 * % and in `undefined`, and stays out of the percentiles. A got that is not finite counts the same way. */
enum {
    GRADE_WORST = 8,
    GRADE_EDGES = 21,             /* of the error histogram: half decades, 10^-7 to 10^3 */
    GRADE_BINS = GRADE_EDGES + 2, /* exact; below the first edge; between edges; above the last */
};

struct grade_element {
    size_t index;
    double got, want, rel;
};

struct numerics {
    size_t count;
    size_t mismatches; /* elements whose got is not want rounded to FP16 */
    size_t saturated;  /* |got| = 65504 or infinite */
    size_t undefined;
    size_t over_1pct, over_10pct;
    double rel_p50, rel_p90, rel_p99, rel_max; /* interpolated between neighbours, as NumPy does */
    double fp16_ulp_max;                       /* rel_max / 2^-10 */
    double max_abs;                            /* max |got - want| over finite elements */
    size_t bins[GRADE_BINS];                   /* relative errors; adds up to count - undefined */
    struct grade_element worst[GRADE_WORST];   /* largest relative error first */
    unsigned worst_count;
    double normalised; /* max_abs / max |want|; 0 when all is 0 */
};

/* Lower edge of a bin from 1 on; that of bin 0 and 1 is 0. */
double grade_bin_low(unsigned bin);

void grade_against(const double *want, const uint16_t *got, size_t count, struct numerics *numerics);

/* Elements that differ in a bit from the machine model; `first` takes the index of the first one, or count. */
size_t grade_bit_mismatches(const uint16_t *want, const uint16_t *got, size_t count, size_t *first);
