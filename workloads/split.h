/* K split over clusters (workloads §2.8): several clusters compute a part of one tile each and the parts are combined
 * in the accumulators, along a chain or a tree, by peer transfers; or, without peers, by FP16 images in memory that the
 * host adds up. Every step is a round of its own, whose control program awaits all acknowledgements of the step. */
#pragma once

#include "workloads/grade.h"
#include "workloads/planner.h"
#include "workloads/rounds.h"

enum split_form {
    SPLIT_CHAIN,  /* partner S-1 sends to S-2, that one to S-3, … */
    SPLIT_TREE,   /* at distance d = 1, 2, 4 …: partner p with p mod 2d = d sends to p - d */
    SPLIT_MEMORY, /* every partner drains FP16 to an image of its own */
};

struct split_options {
    unsigned factor;   /* partners of a tile; 0: as many as clusters and chunks allow */
    int form;          /* enum split_form */
    struct node agent; /* where acknowledgements go: port 0's coordinate */
};

struct split_plan {
    struct gemm_plan *gemm; /* of the unsplit problem, one tile a virtual cluster */
    unsigned factor, tiles;
    int form;
    struct round_list *rounds; /* in order: parts, combining steps, final drain */
    unsigned steps;            /* combining steps */
    uint64_t peer_flits;       /* CU_DATA flits of all sends */
    uint64_t acknowledgements; /* of all bursts of all sends */
    uint64_t image_bytes;      /* SPLIT_MEMORY: partner r's image lies at c + r * image_bytes */
};

/* Does partner p send in the combining step, and to whom? */
bool split_sends(const struct split_plan *plan, unsigned step, unsigned p, unsigned *to);

/* Tile t's partner r sits at nodes[t * factor + r]. FS_ERROR_INPUT when there are more tiles than clusters, or a given
 * factor leaves a partner without a chunk or a cluster. */
struct split_plan *split_plan_new(const struct planner_limits *limits, const struct node *nodes, unsigned clusters,
                                  size_t m, size_t k, size_t n, const struct gemm_options *gemm,
                                  const struct split_options *split, const struct round_options *rounds,
                                  GError **error);
void split_plan_free(struct split_plan *plan);

/* Chunks [first, end) of partner r. */
void split_chunks(const struct split_plan *plan, unsigned r, size_t *first, size_t *end);

/* C [m][n] as the machine must get it: the partners' partials in accumulator format, added in the order of the steps;
 * SPLIT_MEMORY: each rounded to FP16, then added as split_add does. */
void split_reference(const struct split_plan *plan, const struct mxfp7_entry *a, const struct mxfp7_entry *b,
                     const struct grade_machine *machine, uint16_t *c);
/* What the host does with `factor` partials [count] that lie behind each other: adds them exactly, rounds once. */
void split_add(const uint16_t *parts, unsigned factor, size_t count, uint16_t *sum);
