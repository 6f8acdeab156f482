/* See split.h. */
#include "workloads/split.h"

#include <string.h>

#include "model/flit.h"

enum {
    SEND_SUBTILES = 4, /* sub-tiles of a burst: eight granules */
    SEND_FLITS = 2,    /* granules of a sub-tile */
    STEP_COMMANDS = 4, /* beside the kicks: clear, credit, wait, done */
    KICK_COMMANDS = 5,
    BUFFER_TILE = 2,
    ACKNOWLEDGE = 1,
    SIGNAL_MASK = 0xFFFF,
};

void split_chunks(const struct split_plan *plan, unsigned r, size_t *first, size_t *end) {
    size_t chunks = plan->gemm->chunks, share = chunks / plan->factor, more = chunks % plan->factor;
    *first = r * share + MIN(r, more);
    *end = *first + share + (r < more);
}

/* ---- the parts ---- */

/* What partner r of a tile does: its chunks of the tile's pass, the first one loading the tile. */
static void write_part(const struct split_plan *plan, unsigned t, unsigned r, struct cluster_plan *part) {
    const struct cluster_plan *whole = &plan->gemm->clusters[t];
    GArray *insts = g_array_new(FALSE, FALSE, sizeof(struct planned_inst));
    size_t first, end;
    split_chunks(plan, r, &first, &end);
    for (size_t i = 0; i < whole->inst_count; i++) {
        struct planned_inst planned = whole->insts[i];
        bool drains = planned.inst.op == CLUSTER_DRAIN;
        if (drains ? plan->form != SPLIT_MEMORY : planned.chunk < first || planned.chunk >= end)
            continue;
        if (planned.inst.op == CLUSTER_GEMM)
            planned.inst.acc = planned.chunk > first;
        if (drains)
            planned.inst.addr += r * plan->image_bytes;
        planned.last = false;
        g_array_append_val(insts, planned);
    }
    g_array_index(insts, struct planned_inst, insts->len - 1).last = true;
    part->pass_count = 1;
    part->passes = g_new(struct gemm_pass, 1);
    part->passes[0] = (struct gemm_pass){whole->passes[0].i, whole->passes[0].j, 0, insts->len};
    part->inst_count = insts->len;
    part->insts = (struct planned_inst *)(void *)g_array_free(insts, FALSE);
}

static struct round_list *part_rounds(const struct split_plan *plan, const struct node *nodes,
                                      const struct round_options *options, GError **error) {
    struct gemm_plan parts = *plan->gemm;
    parts.cluster_count = plan->tiles * plan->factor;
    parts.clusters = g_new0(struct cluster_plan, parts.cluster_count);
    for (unsigned t = 0; t < plan->tiles; t++)
        for (unsigned r = 0; r < plan->factor; r++)
            write_part(plan, t, r, &parts.clusters[t * plan->factor + r]);
    struct round_list *list = rounds_new(&parts, nodes, options, error);
    for (unsigned c = 0; c < parts.cluster_count; c++) {
        g_free(parts.clusters[c].insts);
        g_free(parts.clusters[c].passes);
    }
    g_free(parts.clusters);
    return list;
}

/* ---- the steps ---- */

/* A DRAIN by the cluster at `from`, and the signals it leads to. */
struct step_drain {
    struct node from;
    struct cluster_inst inst;
    unsigned signals;
};

static void add_command(GArray *commands, int op, uint64_t address, uint64_t data, uint64_t mask) {
    struct control_command command = {.op = (uint8_t)op, .address = address, .data = data, .mask = mask};
    g_array_append_val(commands, command);
}

static void add_kick(GArray *commands, const struct round_options *options, const struct kick *kick) {
    uint64_t window = options->window;
    add_command(commands, CONTROL_POLL, window + AGENT_PROG_STAT, 0, 1);
    add_command(commands, CONTROL_WR, window + AGENT_PROG_DST, node_byte(kick->x, kick->y), 0);
    add_command(commands, CONTROL_WR, window + AGENT_PROG_LEN, kick->length, 0);
    add_command(commands, CONTROL_WR, window + AGENT_PROG_BASE, kick->base, 0);
    add_command(commands, CONTROL_WR, window + AGENT_PROG_KICK, 1, 0);
}

/* One round of drains that run side by side, over when every completion and acknowledgement has come. */
static struct round step_round(const struct step_drain *drains, unsigned count, const struct round_options *options) {
    GArray *commands = g_array_new(FALSE, TRUE, sizeof(struct control_command));
    struct round round = {.flits = g_new0(struct staged_flit, count),
                          .flit_count = count,
                          .kicks = g_new0(struct kick, count),
                          .kick_count = count,
                          .programs = count};
    unsigned signals = 0;
    add_command(commands, CONTROL_WR, options->window + AGENT_SIG_DONE, 0, 0);
    add_command(commands, CONTROL_WR, options->window + AGENT_PROG_CRED, options->credit, 0);
    for (unsigned d = 0; d < count; d++) {
        struct node node = drains[d].from;
        struct staged_flit *flit = &round.flits[d];
        *flit = (struct staged_flit){.inst = drains[d].inst, .last = true, .x = node.x, .y = node.y};
        cluster_inst_encode(&flit->inst, &flit->payload, NULL);
        round.kicks[d] = (struct kick){.x = node.x, .y = node.y, .base = d, .length = 1};
        add_kick(commands, options, &round.kicks[d]);
        signals += 1 + drains[d].signals;
    }
    add_command(commands, CONTROL_POLL, options->window + AGENT_SIG_DONE, signals, SIGNAL_MASK);
    add_command(commands, CONTROL_DONE, 0, 0, 0);
    round.command_count = commands->len;
    round.commands = (struct control_command *)(void *)g_array_free(commands, FALSE);
    return round;
}

static struct cluster_inst send_to(const struct split_plan *plan, struct node to, struct node agent) {
    unsigned n = plan->gemm->tile.gm * plan->gemm->tile.gn;
    return (struct cluster_inst){.op = CLUSTER_DRAIN,
                                 .n = (uint16_t)n,
                                 .anchor = CLUSTER_ANCHOR,
                                 .dnode = 1,
                                 .dst_x = (uint8_t)to.x,
                                 .dst_y = (uint8_t)to.y,
                                 .dbuf = BUFFER_TILE,
                                 .dflags = ACKNOWLEDGE,
                                 .dack_x = (uint8_t)agent.x,
                                 .dack_y = (uint8_t)agent.y};
}

/* Appends the drains as rounds, as many to a round as command RAM, staging and credit hold. */
static void add_step(GArray *rounds, const GArray *drains, const struct round_options *options) {
    unsigned room = MIN((options->commands - STEP_COMMANDS) / KICK_COMMANDS, options->staging_flits);
    room = MAX(MIN(room, options->credit > 1 ? options->credit - 1 : 1), 1u);
    for (guint at = 0; at < drains->len; at += room) {
        struct round round =
            step_round(&g_array_index(drains, struct step_drain, at), MIN(room, drains->len - at), options);
        g_array_append_val(rounds, round);
    }
}

bool split_sends(const struct split_plan *plan, unsigned step, unsigned p, unsigned *to) {
    if (plan->form == SPLIT_CHAIN) {
        *to = p - 1;
        return p == plan->factor - 1 - step;
    }
    unsigned distance = 1u << step;
    *to = p - distance;
    return p % (2 * distance) == distance;
}

static void add_sends(struct split_plan *plan, GArray *rounds, unsigned step, const struct node *nodes,
                      const struct split_options *split, const struct round_options *options) {
    unsigned n = plan->gemm->tile.gm * plan->gemm->tile.gn, bursts = (n + SEND_SUBTILES - 1) / SEND_SUBTILES, to;
    GArray *drains = g_array_new(FALSE, FALSE, sizeof(struct step_drain));
    for (unsigned t = 0; t < plan->tiles; t++)
        for (unsigned p = 1; p < plan->factor; p++) {
            if (!split_sends(plan, step, p, &to))
                continue;
            const struct node *partners = &nodes[t * plan->factor];
            struct step_drain drain = {partners[p], send_to(plan, partners[to], split->agent), bursts};
            g_array_append_val(drains, drain);
            plan->acknowledgements += bursts;
            plan->peer_flits += bursts + SEND_FLITS * n;
        }
    add_step(rounds, drains, options);
    g_array_free(drains, TRUE);
}

static void add_final(const struct split_plan *plan, GArray *rounds, const struct node *nodes,
                      const struct round_options *options) {
    GArray *drains = g_array_new(FALSE, FALSE, sizeof(struct step_drain));
    for (unsigned t = 0; t < plan->tiles; t++) {
        const struct cluster_plan *whole = &plan->gemm->clusters[t];
        struct step_drain drain = {nodes[t * plan->factor], whole->insts[whole->inst_count - 1].inst, 0};
        g_array_append_val(drains, drain);
    }
    add_step(rounds, drains, options);
    g_array_free(drains, TRUE);
}

static unsigned step_count(const struct split_plan *plan) {
    unsigned steps = 0;
    if (plan->form == SPLIT_CHAIN)
        return plan->factor - 1;
    for (unsigned reached = 1; reached < plan->factor; reached *= 2)
        steps++;
    return steps;
}

static void append_rounds(struct round_list *list, GArray *rounds) {
    list->rounds = g_renew(struct round, list->rounds, list->count + rounds->len);
    for (guint r = 0; r < rounds->len; r++) {
        const struct round *round = &g_array_index(rounds, struct round, r);
        list->rounds[list->count++] = *round;
        list->flits += round->flit_count;
        list->commands += round->command_count;
        list->kicks += round->kick_count;
        list->host_writes += round_host_writes(round);
    }
}

/* ---- the plan ---- */

static bool choose_factor(struct split_plan *plan, unsigned clusters, const struct split_options *split,
                          GError **error) {
    size_t most = MIN(clusters / plan->tiles, plan->gemm->chunks);
    if (most == 0) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%u tiles on %u clusters, expected at most a tile a cluster",
                    plan->tiles, clusters);
        return false;
    }
    plan->factor = split->factor ? split->factor : (unsigned)most;
    if (plan->factor <= most)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                "K split %u ways: %u clusters, %u tiles and %zu chunks allow at most %zu", plan->factor, clusters,
                plan->tiles, plan->gemm->chunks, most);
    return false;
}

static struct gemm_plan *whole_plan(const struct planner_limits *limits, size_t m, size_t k, size_t n,
                                    const struct gemm_options *options, GError **error) {
    struct gemm_options whole = *options;
    whole.emit = whole.late_drain = whole.resident = false;
    whole.placement = PLACE_ROUNDROBIN;
    struct gemm_plan *first = gemm_plan_new(limits, 1, m, k, n, &whole, error);
    if (!first)
        return NULL;
    unsigned tiles = (unsigned)(first->row_tiles * first->bands);
    gemm_plan_free(first);
    return gemm_plan_new(limits, tiles, m, k, n, &whole, error);
}

struct split_plan *split_plan_new(const struct planner_limits *limits, const struct node *nodes, unsigned clusters,
                                  size_t m, size_t k, size_t n, const struct gemm_options *gemm,
                                  const struct split_options *split, const struct round_options *rounds,
                                  GError **error) {
    struct split_plan *plan = g_new0(struct split_plan, 1);
    plan->form = split->form;
    plan->gemm = whole_plan(limits, m, k, n, gemm, error);
    if (plan->gemm) {
        plan->tiles = plan->gemm->cluster_count;
        plan->image_bytes = result_bytes(&plan->gemm->c);
    }
    if (plan->gemm && choose_factor(plan, clusters, split, error))
        plan->rounds = part_rounds(plan, nodes, rounds, error);
    if (!plan->rounds) {
        split_plan_free(plan);
        return NULL;
    }
    if (plan->form == SPLIT_MEMORY)
        return plan;
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(struct round));
    plan->steps = step_count(plan);
    for (unsigned step = 0; step < plan->steps; step++)
        add_sends(plan, steps, step, nodes, split, rounds);
    add_final(plan, steps, nodes, rounds);
    append_rounds(plan->rounds, steps);
    g_array_free(steps, TRUE);
    return plan;
}

void split_plan_free(struct split_plan *plan) {
    if (!plan)
        return;
    rounds_free(plan->rounds);
    gemm_plan_free(plan->gemm);
    g_free(plan);
}
