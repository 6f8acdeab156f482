/* Operands drawn from a seed (workloads §6.3). Every value is a function of (seed, stream, index) alone, so a matrix
 * does not depend on the order of its drawing, and is the same on every machine: the generator is integer arithmetic,
 * and the distributions use only + - * / and sqrt of IEEE doubles, which round one way everywhere; no libm function
 * with a free last bit is called. (This asks for FLT_EVAL_METHOD 0 and no contraction, which the build sets.) */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "workloads/tensor.h"

enum distribution_kind {
    DISTRIBUTION_NORMAL,  /* N(0, 1) */
    DISTRIBUTION_SCALED,  /* A standard deviation 0.02, B 1 */
    DISTRIBUTION_LOWRANK, /* A = U V / sqrt r, B = W V / sqrt r, V common; parameter r, default 16 */
    DISTRIBUTION_RELU,    /* A max(N(0, 1), 0), B N(0, 1) */
    DISTRIBUTION_BIASED,  /* N(mu, 1); parameter mu, default 4 */
    DISTRIBUTION_REAL,    /* A N(0, 1), B 0.02 t(4): heavy-tailed weights */
    DISTRIBUTION_INT,     /* A integers -63..63, B -32..31, the first of each lane's block +-60..63, lane l times
                             2^(l mod 4): quantisation is exact */
    DISTRIBUTION_EDGE,    /* a block each of: all -64, full scale, zeros, subnormals, one huge element, extremes */
    DISTRIBUTION_ZEROS,
    DISTRIBUTION_ONES,
};

struct distribution {
    int kind; /* enum distribution_kind */
    double parameter;
};

/* Parses `name` or `name:parameter`. FS_ERROR_INPUT naming what is allowed; the caller adds the place. */
bool distribution_parse(const char *text, struct distribution *distribution, GError **error);

/* A [m][k] and B [n][k] (stored transposed, workloads §1.5), every element an FP16 value. m, n, k at least 1. Free both
 * with tensor_free. */
void operands_generate(const struct distribution *distribution, uint64_t seed, unsigned m, unsigned k, unsigned n,
                       struct tensor **a, struct tensor **b);

/* 64 bits at place `index` of a stream: two rounds of the splitmix64 finaliser over seed, stream and index. */
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);
/* In (0, 1), 52 bits: (bits >> 12) + 1/2 over 2^52. */
double random_uniform(uint64_t seed, uint64_t stream, uint64_t index);
/* Integer in lo..hi, both included, lo <= hi. */
int random_integer(uint64_t seed, uint64_t stream, uint64_t index, int lo, int hi);
/* N(0, 1): the inverse distribution function at random_uniform. */
double random_normal(uint64_t seed, uint64_t stream, uint64_t index);
/* Student's t with 4 degrees of freedom. */
double random_student4(uint64_t seed, uint64_t stream, uint64_t index);
