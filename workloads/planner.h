/* From a GEMM's shape to the instructions of every cluster (workloads §2).
 *
 * C[m][n] = A[m][k] . B[n][k]^T. A plan is the choice of a tile (gm x gn sub-tiles of 4 x 4) and a chunk (nk blocks of
 * 32), who computes which tile in which order, and the instructions that do it. A pass makes one tile. Operands are
 * taken to lie in memory as layout.h packs them, results as it un-tiles them. K split over clusters (§2.8) is planned
 * on top, in split.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/error.h"
#include "model/isa/cluster.h"
#include "model/machine.h"
#include "workloads/layout.h"

enum {
    L1_BANK_ENTRIES = 256, /* reach of an 8-bit offset (compute-units §2.1) */
    FILL_COUNT_MAX = 255,  /* a fill's count is 8 bits on its way to memory, and 256 reads as 0 (C4) */
};

/* What a cluster offers (§2.1); members of machine.cluster. */
struct planner_limits {
    unsigned tiles;      /* sub-tiles resident in the accumulator */
    unsigned l1_a, l1_b; /* L1 entries a side, both halves together */
    unsigned reuse_min;  /* cycles before a sub-tile may be added to again: 5 */
};

struct planner_limits planner_limits_of(const struct machine *machine);

enum plan_schedule {
    SCHEDULE_BANDS,     /* §2.4: whole column bands, B kept where it fits, K padded to whole chunks */
    SCHEDULE_REFERENCE, /* the recorded runs: bands outermost, tiles dealt round-robin, per chunk FILL A, FILL B, GEMM,
                           nothing kept, the last chunk as short as K */
};

enum plan_placement {
    PLACE_BANDS,      /* §2.7: whole bands, or shares of one where there are fewer bands than clusters */
    PLACE_ROUNDROBIN, /* tiles in (i, j) order dealt over the clusters */
};

struct gemm_options {
    unsigned gm, gn, nk;  /* forced value, or 0 for the planner's choice */
    int schedule;         /* enum plan_schedule; the reference ignores placement and resident */
    int placement;        /* enum plan_placement */
    bool resident;        /* keep a band's B in L1 where it fits */
    bool emit;            /* fused drain where it is legal (§2.5); otherwise issuing drains everywhere */
    bool late_drain;      /* a fused DRAIN goes behind the next pass's first GEMM, or before it if that one emits */
    bool split_fills;     /* allow chunks of 256 entries, as two fills of 128; otherwise chunks end at 255 */
    bool fp16_fetch;      /* operands lie as FP16 (256 bytes an entry) and are converted on the fetch */
    unsigned write_burst; /* words per write burst, for the counts: 8 */
    uint64_t a, b, c;     /* byte addresses of the images */
};

/* Bands placement, resident, emit, bursts of 8, images at 0; nothing forced. */
void gemm_options_init(struct gemm_options *options);

struct gemm_tile {
    unsigned gm, gn, nk;
};

/* The best candidate under the limits (§2.2). m, k, n at least 1. FS_ERROR_INPUT when a forced value breaks a limit of
 * §2.1, naming limit and value. */
bool gemm_choose(const struct planner_limits *limits, size_t m, size_t k, size_t n, const struct gemm_options *options,
                 struct gemm_tile *best, GError **error);

/* Idle cycles a cluster inserts per issue of a sweep over this many sub-tiles (§2.6, I24). */
unsigned gemm_pace(unsigned subtiles, unsigned nk, unsigned reuse_min);

struct planned_inst {
    struct cluster_inst inst;
    bool last;      /* ends its pass: last bit of the flit header where a pass is a program of its own */
    uint32_t i, j;  /* tile row and band it works for */
    uint32_t chunk; /* of FILL and GEMM; the number of chunks on a DRAIN */
};

struct gemm_pass {
    uint32_t i, j;
    size_t first, count; /* instructions in the cluster's list */
};

struct cluster_plan {
    struct planned_inst *insts;
    size_t inst_count;
    struct gemm_pass *passes;
    size_t pass_count;
};

/* What the plan will do, exactly, as far as no timing decides it. */
struct plan_counts {
    uint64_t flits, fills, gemms, drains, passes;
    uint64_t rd_words;        /* converted words delivered to L1: response flits */
    uint64_t dram_read_words; /* 32-byte words read: twice rd_words with fp16_fetch */
    uint64_t wr_words, wr_bursts;
    uint64_t acc_load, acc_add, acc_emit, acc_add_emit;
    uint64_t sweep_cycles; /* issues: gm gn nk of every GEMM */
    uint64_t idle_cycles;  /* pacing */
};

struct gemm_plan {
    size_t m, k, n;
    struct planner_limits limits;
    struct gemm_options options;
    struct gemm_tile tile;
    struct operand_layout a, b;
    struct result_layout c;
    size_t row_tiles, bands, chunks;
    bool resident; /* B of a band stays in L1 */
    bool fused;    /* drains are fused */
    unsigned cluster_count;
    struct cluster_plan *clusters; /* cluster_count, some possibly without passes */
    struct plan_counts counts;
};

/* Plans for `clusters` (at least 1) equal clusters. NULL with FS_ERROR_INPUT as gemm_choose. */
struct gemm_plan *gemm_plan_new(const struct planner_limits *limits, unsigned clusters, size_t m, size_t k, size_t n,
                                const struct gemm_options *options, GError **error);
void gemm_plan_free(struct gemm_plan *plan);
typedef struct gemm_plan gemm_plan_ptr; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gemm_plan_ptr, gemm_plan_free)

/* Replays the plan on paper: every limit of §2.1 holds, every sweep reads exactly the entries its chunk needs, no fill
 * overwrites what a sweep may still read, every tile is drained exactly once after all its chunks (§2.3).
 * FS_ERROR_INTERNAL naming cluster and instruction. */
bool gemm_plan_check(const struct gemm_plan *plan, GError **error);
