/* From programs to rounds (workloads §3): what the host stages, and the command list that dispatches it.
 *
 * A round is one upload, one load of the command RAM and one GO. It may not exceed the staging RAM, the command RAM, or
 * the credits (every program ends in a batch completion that returns none, so C > P). Clusters take turns inside a
 * round. A program that ends in a round ends with a `last` flit; a pass longer than the staging RAM is cut into
 * windows, of which only the final one does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "model/error.h"
#include "model/isa/cluster.h"
#include "model/isa/host.h"
#include "workloads/planner.h"

enum {
    FLIT_STAGE_WRITES = STAGE_FLIT_WORDS,
    COMMAND_HOST_WRITES = CONTROL_COMMAND_WORDS,
};

struct staged_flit {
    struct cluster_inst inst;
    struct word256 payload; /* what is staged: `inst` encoded */
    uint8_t txn;            /* running number of the flit at its node, mod 256 */
    bool last;
    uint16_t x, y; /* the node */
};

/* One start of the dispatcher: flits [base, base + length) to the node at (x, y). */
struct kick {
    unsigned cluster;
    uint16_t x, y;
    unsigned base, length;
};

/* What has to hold before a round is loaded, and what the host then does. */
struct round_barrier {
    uint64_t writes; /* words that memory has taken since the run began */
    void (*act)(void *self);
    void *self;
};

struct round {
    struct round_barrier before;
    struct staged_flit *flits;
    unsigned flit_count;
    struct kick *kicks; /* in order */
    unsigned kick_count;
    struct control_command *commands;
    unsigned command_count;
    unsigned programs; /* flits with last: credits that don't come back */
};

enum round_kicks {
    KICK_PER_PASS,    /* every pass a program of its own */
    KICK_PER_CLUSTER, /* what a round holds of a cluster is one program */
    KICK_SLICES,      /* a cluster's whole list is one program, dispatched kick_flits at a time, clusters in turn: the
                         recorded runs (12 flits) */
};

enum round_wait {
    WAIT_GLOBAL,   /* one poll of the completion counter, cleared first */
    WAIT_PER_NODE, /* one poll of each node's counter, which only grows */
};

struct round_options {
    unsigned staging_flits; /* agent.staging_flits */
    unsigned commands;      /* agent.commands */
    unsigned credit;        /* seeded once a round; at most the units' instruction FIFO depth */
    unsigned kick_flits;    /* for KICK_SLICES */
    int kicks;              /* enum round_kicks */
    int wait;               /* enum round_wait */
    bool shadow;            /* skip writes of an unchanged PROG_DST, PROG_LEN, PROG_BASE */
    uint64_t window;        /* address of the agent's window as the control program sees it */
};

/* 128 flits, 128 commands, credit 32, slices of 12, per pass, global wait, shadow on, window 0. */
void round_options_init(struct round_options *options);

struct node {
    uint16_t x, y;
};

/* The dispatcher's registers as a round has left them; -1 is unknown. */
struct round_shadow {
    int64_t destination, length, base;
};

#define ROUND_SHADOW_EMPTY ((struct round_shadow){-1, -1, -1})

enum {
    ROUND_FIXED_COMMANDS = 3, /* clear, credit, done */
    ROUND_KICK_COMMANDS = 5,  /* poll, destination, length, base, kick */
};

/* Pieces of a round's command list, appended to an array of struct control_command: clear and credit; a kick, registers
 * that do not change left out; a wait for `signals` since the clear. */
void round_command_begin(const struct round_options *options, GArray *commands);
void round_command_kick(const struct round_options *options, const struct kick *kick, struct round_shadow *shadow,
                        GArray *commands);
void round_command_wait(const struct round_options *options, unsigned signals, GArray *commands);
void round_command_done(GArray *commands);

struct round_list {
    struct round *rounds;
    unsigned count;
    uint64_t flits, commands, host_writes, kicks; /* of all rounds */
};

/* Rounds for a plan whose cluster c sits at nodes[c]; coordinates 0..15. The list holds copies of the instructions.
 * FS_ERROR_INPUT when a limit leaves no room for a single program: naming it. */
struct round_list *rounds_new(const struct gemm_plan *plan, const struct node *nodes,
                              const struct round_options *options, GError **error);
void rounds_free(struct round_list *list);
typedef struct round_list round_list_ptr; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(round_list_ptr, rounds_free)

/* H = 5 F + 4 commands + 1 (§3.4): staging, command RAM, GO. */
uint64_t round_host_writes(const struct round *round);
