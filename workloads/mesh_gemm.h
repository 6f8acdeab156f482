/* A GEMM over several meshes of a line (workloads §5.8), planned, loaded, run and gathered.
 *
 *   N split  every mesh computes its columns of C from its own copy of A; nothing is exchanged.
 *   K split  every mesh computes a partial of all of C from its share of K. The partials walk inward from the ends of
 *            the line, one neighbour to the next, in accumulator format: the sender's DRAIN is remote, into buffer 2 of
 *            the same cluster of the next mesh, whose tile its own GEMM has opened before. The mesh in the middle
 *            drains the sum.
 *
 * What has to wait for each other is put into steps: a step is a list of rounds for every mesh, and the next step
 * starts when all of them are done. An agent collects one burst at a time (noc-and-memory §10.5), so within a mesh the
 * clusters send one after the other, each in a step of its own; the receiver's command list counts the
 * acknowledgements. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "units/line.h"
#include "workloads/grade.h"
#include "workloads/planner.h"
#include "workloads/rounds.h"

enum mesh_split {
    MESH_SPLIT_N,
    MESH_SPLIT_K,
};

struct mesh_gemm_options {
    int split;                /* enum mesh_split */
    unsigned meshes;          /* the first so many of the line, 0: all */
    unsigned clusters;        /* used in each mesh, 0: all (K split: as many as the smallest mesh has) */
    bool walk;                /* K split: false leaves the exchange out, for comparison: the answer is one partial */
    struct gemm_options gemm; /* image addresses are chosen here */
};

void mesh_gemm_options_init(struct mesh_gemm_options *options);

/* What one mesh does. */
struct mesh_share {
    unsigned mesh;       /* its number */
    size_t first, count; /* columns of C, or elements of K */
    struct gemm_plan *plan;
    struct node *nodes;         /* of its clusters */
    struct machine_port *ports; /* through which each cluster sends */
    struct mxfp7_entry *a, *b;  /* quantised operands, once loaded */
};

/* From one position of the line to its neighbour. */
struct mesh_hop {
    unsigned from, to;
};

enum mesh_work {
    MESH_COMPUTES,
    MESH_SENDS,
    MESH_DRAINS, /* the root of a K split */
};

struct mesh_step {
    int work;                                     /* enum mesh_work */
    struct round_list *lists[MACHINE_MAX_MESHES]; /* by position; NULL: nothing to do */
};

struct mesh_gemm {
    const struct machine *machine; /* the line's */
    struct mesh_gemm_options options;
    size_t m, k, n;
    struct mesh_share shares[MACHINE_MAX_MESHES]; /* by position in the line */
    unsigned count, root;                         /* root: position that drains a K split */
    struct mesh_hop hops[MACHINE_MAX_MESHES];
    unsigned hop_count;
    GArray *steps;    /* of struct mesh_step */
    uint64_t signals; /* of all steps: completions, and acknowledgements of bursts */
    uint64_t flits, commands, host_writes, rounds;
};

/* Plans. The machine (of several meshes) must outlive it. NULL with FS_ERROR_INPUT: nothing to split, no cluster, or as
 * gemm_choose and rounds_new. */
struct mesh_gemm *mesh_gemm_new(const struct machine *machine, size_t m, size_t k, size_t n,
                                const struct mesh_gemm_options *options, GError **error);
void mesh_gemm_free(struct mesh_gemm *gemm);

/* Quantises [m][k] and [n][k] FP16 operands and puts every mesh's share into its memory. */
void mesh_gemm_load(struct mesh_gemm *gemm, struct line *line, const uint16_t *a, const uint16_t *b);

/* What a run took. Cycles count from the first GO. A GEMM instruction is done before its sweep is, so the tail of the
 * last sweep falls into the step behind it. */
struct mesh_figures {
    cycle_t cycles;                                   /* to the last signal of any mesh */
    cycle_t host_cycles, settled_cycles;              /* to the end of the last step; of everything */
    cycle_t mesh_cycles[MACHINE_MAX_MESHES];          /* to the last one of each, by position */
    cycle_t compute_steps, send_cycles, drain_cycles; /* of all steps of a kind; drains: of the root alone */
    uint64_t compute_cycles[MACHINE_MAX_MESHES];      /* cycles of the busiest cluster's sweeps */
    uint64_t summed_cycles;                           /* sweeps of all clusters of all meshes */
    uint64_t link_beats, link_packets;
    bool dead; /* nothing moved any more */
    cycle_t dead_cycle;
};

/* Drives the line through all steps on a clock of its own. Accounts cover the cycles up to figures->cycles, or those up
 * to the standstill. */
void mesh_gemm_run(struct mesh_gemm *gemm, struct line *line, struct mesh_figures *figures);

/* The [m][n] answer out of the meshes' memories. */
void mesh_gemm_gather(const struct mesh_gemm *gemm, struct line *line, uint16_t *c);
/* The same as the machine must get it: partials added in accumulator format in the order of the hops. */
void mesh_gemm_reference(const struct mesh_gemm *gemm, uint16_t *c);
