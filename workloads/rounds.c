/* Cutting programs into rounds and writing their command lists; see rounds.h. */
#include "workloads/rounds.h"

#include "model/flit.h"

enum {
    COUNTER_MASK = 0xffff,
    NODE_COUNT_SHIFT = 8, /* NODE_STATUS[23:8] */
    NODES = 256,
};

void round_options_init(struct round_options *options) {
    *options = (struct round_options){
        .staging_flits = 128, .commands = 128, .credit = 32, .kick_flits = 12, .kicks = KICK_PER_PASS, .shadow = true};
}

/* A run of one cluster's instructions that is staged together. */
struct window {
    unsigned cluster;
    size_t first, count;
    bool ends; /* a program may end here */
};

struct builder {
    const struct gemm_plan *plan;
    const struct node *nodes;
    const struct round_options *options;
    GArray *windows; /* struct window, in staging order */
    GArray *rounds;  /* struct round */
    uint8_t txn[NODES];
    uint16_t signals[NODES]; /* completions of a node so far, mod 65536 */
};

/* Adds [first, first + count) in windows of at most `limit`. */
static void cut_windows(GArray *out, unsigned cluster, size_t first, size_t count, size_t limit) {
    for (size_t at = 0; at < count; at += limit) {
        size_t length = MIN(limit, count - at);
        struct window window = {cluster, first + at, length, at + length == count};
        g_array_append_val(out, window);
    }
}

/* The windows of one cluster, in order. A pass that fits is one window. A longer one is cut so that every cluster gets
 * its share of a round, or the clusters would work one after another. */
static GArray *cluster_windows(const struct builder *builder, unsigned cluster) {
    const struct round_options *options = builder->options;
    const struct cluster_plan *list = &builder->plan->clusters[cluster];
    GArray *windows = g_array_new(FALSE, FALSE, sizeof(struct window));
    if (options->kicks == KICK_SLICES) {
        cut_windows(windows, cluster, 0, list->inst_count, MIN(options->kick_flits, options->staging_flits));
        return windows;
    }
    for (size_t p = 0; p < list->pass_count; p++) {
        const struct gemm_pass *pass = &list->passes[p];
        size_t share = MAX(options->staging_flits / builder->plan->cluster_count, 1u);
        cut_windows(windows, cluster, pass->first, pass->count,
                    pass->count > options->staging_flits ? share : pass->count);
    }
    return windows;
}

/* First window of every cluster, then the second of every cluster, and so on (§2.7). */
static void interleave(struct builder *builder) {
    unsigned clusters = builder->plan->cluster_count;
    GArray **lists = g_new(GArray *, clusters);
    guint longest = 0;
    for (unsigned c = 0; c < clusters; c++) {
        lists[c] = cluster_windows(builder, c);
        longest = MAX(longest, lists[c]->len);
    }
    for (guint w = 0; w < longest; w++)
        for (unsigned c = 0; c < clusters; c++)
            if (w < lists[c]->len)
                g_array_append_val(builder->windows, g_array_index(lists[c], struct window, w));
    for (unsigned c = 0; c < clusters; c++)
        g_array_free(lists[c], TRUE);
    g_free(lists);
}

/* What a set of windows asks of a round, kicks unshadowed. */
struct demand {
    size_t flits;
    unsigned kicks, programs, nodes;
};

/* Demand of windows [from, to). With a kick a cluster, a cluster's windows share one. */
static struct demand demand_of(const struct builder *builder, guint from, guint to) {
    struct demand demand = {0};
    g_autofree uint8_t *seen = g_malloc0(builder->plan->cluster_count);
    for (guint w = from; w < to; w++) {
        const struct window *window = &g_array_index(builder->windows, struct window, w);
        bool fresh = !seen[window->cluster], merged = builder->options->kicks == KICK_PER_CLUSTER;
        seen[window->cluster] = 1;
        demand.flits += window->count;
        demand.nodes += fresh;
        demand.kicks += fresh || !merged;
        demand.programs += merged ? fresh : window->ends;
    }
    return demand;
}

static unsigned waits_of(const struct builder *builder, const struct demand *demand) {
    return builder->options->wait == WAIT_PER_NODE ? demand->nodes : 1;
}

static bool demand_fits(const struct builder *builder, const struct demand *demand) {
    const struct round_options *options = builder->options;
    return demand->flits <= options->staging_flits && demand->programs < options->credit &&
           ROUND_FIXED_COMMANDS + waits_of(builder, demand) + ROUND_KICK_COMMANDS * demand->kicks <= options->commands;
}

static void stage_window(struct builder *builder, const struct window *window, GArray *flits) {
    struct node node = builder->nodes[window->cluster];
    for (size_t s = 0; s < window->count; s++) {
        uint8_t *txn = &builder->txn[node_byte(node.x, node.y)];
        struct staged_flit flit = {.inst = builder->plan->clusters[window->cluster].insts[window->first + s].inst,
                                   .txn = (*txn)++,
                                   .x = node.x,
                                   .y = node.y};
        /* every planned field fits: the planner's limits are those of the fields */
        g_assert(cluster_inst_encode(&flit.inst, &flit.payload, NULL));
        g_array_append_val(flits, flit);
    }
}

/* Stages the round's windows, kick by kick. */
static void stage_round(struct builder *builder, guint from, guint to, struct round *round) {
    GArray *flits = g_array_new(FALSE, FALSE, sizeof(struct staged_flit));
    GArray *kicks = g_array_new(FALSE, FALSE, sizeof(struct kick));
    bool merged = builder->options->kicks == KICK_PER_CLUSTER;
    g_autofree uint8_t *staged = g_malloc0(to - from);
    for (guint w = from; w < to; w++) {
        if (staged[w - from])
            continue;
        const struct window *window = &g_array_index(builder->windows, struct window, w);
        struct node node = builder->nodes[window->cluster];
        struct kick kick = {window->cluster, node.x, node.y, flits->len, 0};
        bool ends = window->ends;
        for (guint v = w; v < (merged ? to : w + 1); v++) {
            const struct window *next = &g_array_index(builder->windows, struct window, v);
            if (next->cluster != window->cluster)
                continue;
            stage_window(builder, next, flits);
            staged[v - from] = 1;
            ends = next->ends;
        }
        kick.length = flits->len - kick.base;
        g_array_index(flits, struct staged_flit, flits->len - 1).last = ends;
        round->programs += ends;
        g_array_append_val(kicks, kick);
    }
    round->flit_count = flits->len;
    round->kick_count = kicks->len;
    round->flits = (struct staged_flit *)(void *)g_array_free(flits, FALSE);
    round->kicks = (struct kick *)(void *)g_array_free(kicks, FALSE);
}

static void add_command(GArray *commands, int op, uint64_t address, uint64_t data, uint64_t mask) {
    struct control_command command = {(uint8_t)op, address, data, mask};
    g_array_append_val(commands, command);
}

static void write_changed(const struct round_options *options, GArray *commands, int64_t *shadow, uint64_t offset,
                          unsigned value) {
    if (!options->shadow || *shadow != (int64_t)value)
        add_command(commands, CONTROL_WR, options->window + offset, value, 0);
    *shadow = value;
}

void round_command_begin(const struct round_options *options, GArray *commands) {
    add_command(commands, CONTROL_WR, options->window + AGENT_SIG_DONE, 0, 0);
    add_command(commands, CONTROL_WR, options->window + AGENT_PROG_CRED, options->credit, 0);
}

void round_command_kick(const struct round_options *options, const struct kick *kick, struct round_shadow *shadow,
                        GArray *commands) {
    add_command(commands, CONTROL_POLL, options->window + AGENT_PROG_STAT, 0, 1); /* the dispatcher is idle */
    write_changed(options, commands, &shadow->destination, AGENT_PROG_DST, node_byte(kick->x, kick->y));
    write_changed(options, commands, &shadow->length, AGENT_PROG_LEN, kick->length);
    write_changed(options, commands, &shadow->base, AGENT_PROG_BASE, kick->base);
    add_command(commands, CONTROL_WR, options->window + AGENT_PROG_KICK, 1, 0);
}

void round_command_wait(const struct round_options *options, unsigned signals, GArray *commands) {
    add_command(commands, CONTROL_POLL, options->window + AGENT_SIG_DONE, signals & COUNTER_MASK, COUNTER_MASK);
}

void round_command_done(GArray *commands) {
    add_command(commands, CONTROL_DONE, 0, 0, 0);
}

/* Every flit is answered by one signal. */
static void command_wait(struct builder *builder, const struct round *round, GArray *commands) {
    const struct round_options *options = builder->options;
    bool involved[NODES] = {false};
    for (unsigned f = 0; f < round->flit_count; f++) {
        uint8_t node = node_byte(round->flits[f].x, round->flits[f].y);
        builder->signals[node]++;
        involved[node] = true;
    }
    if (options->wait == WAIT_GLOBAL) {
        round_command_wait(options, round->flit_count, commands);
        return;
    }
    for (unsigned node = 0; node < NODES; node++)
        if (involved[node])
            add_command(commands, CONTROL_POLL, options->window + AGENT_NODE_STATUS + 8 * node,
                        (uint64_t)builder->signals[node] << NODE_COUNT_SHIFT,
                        (uint64_t)COUNTER_MASK << NODE_COUNT_SHIFT);
}

static void command_round(struct builder *builder, struct round *round) {
    const struct round_options *options = builder->options;
    GArray *commands = g_array_new(FALSE, FALSE, sizeof(struct control_command));
    struct round_shadow shadow = ROUND_SHADOW_EMPTY;
    round_command_begin(options, commands);
    for (unsigned k = 0; k < round->kick_count; k++)
        round_command_kick(options, &round->kicks[k], &shadow, commands);
    command_wait(builder, round, commands);
    round_command_done(commands);
    round->command_count = commands->len;
    round->commands = (struct control_command *)(void *)g_array_free(commands, FALSE);
}

static bool refuse(const struct builder *builder, const struct demand *demand, GError **error) {
    const struct round_options *options = builder->options;
    unsigned commands = ROUND_FIXED_COMMANDS + waits_of(builder, demand) + ROUND_KICK_COMMANDS * demand->kicks;
    if (demand->programs >= options->credit)
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "credit %u, expected more than the %u programs of a round",
                    options->credit, demand->programs);
    else if (commands > options->commands)
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "command RAM of %u, expected at least the %u of one kick",
                    options->commands, commands);
    else
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "staging RAM of %u flits, expected at least %zu",
                    options->staging_flits, demand->flits);
    return false;
}

static bool cut_rounds(struct builder *builder, GError **error) {
    for (guint from = 0, to; from < builder->windows->len; from = to) {
        struct demand demand;
        for (to = from; to < builder->windows->len; to++) {
            demand = demand_of(builder, from, to + 1);
            if (!demand_fits(builder, &demand))
                break;
        }
        if (to == from)
            return refuse(builder, &demand, error);
        struct round round = {0};
        stage_round(builder, from, to, &round);
        command_round(builder, &round);
        g_array_append_val(builder->rounds, round);
    }
    return true;
}

static struct round_list *total(GArray *rounds) {
    struct round_list *list = g_new0(struct round_list, 1);
    list->count = rounds->len;
    list->rounds = (struct round *)(void *)g_array_free(rounds, FALSE);
    for (unsigned r = 0; r < list->count; r++) {
        list->flits += list->rounds[r].flit_count;
        list->commands += list->rounds[r].command_count;
        list->kicks += list->rounds[r].kick_count;
        list->host_writes += round_host_writes(&list->rounds[r]);
    }
    return list;
}

struct round_list *rounds_new(const struct gemm_plan *plan, const struct node *nodes,
                              const struct round_options *options, GError **error) {
    struct builder builder = {
        .plan = plan,
        .nodes = nodes,
        .options = options,
        .windows = g_array_new(FALSE, FALSE, sizeof(struct window)),
        .rounds = g_array_new(FALSE, FALSE, sizeof(struct round)),
    };
    bool possible = options->staging_flits > 0 && (options->kicks != KICK_SLICES || options->kick_flits > 0);
    if (possible)
        interleave(&builder);
    else
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "no flits staged or kicked at a time, expected at least 1");
    possible = possible && cut_rounds(&builder, error);
    g_array_free(builder.windows, TRUE);
    struct round_list *list = total(builder.rounds);
    if (possible)
        return list;
    rounds_free(list);
    return NULL;
}

void rounds_free(struct round_list *list) {
    if (!list)
        return;
    for (unsigned r = 0; r < list->count; r++) {
        g_free(list->rounds[r].flits);
        g_free(list->rounds[r].kicks);
        g_free(list->rounds[r].commands);
    }
    g_free(list->rounds);
    g_free(list);
}

uint64_t round_host_writes(const struct round *round) {
    return (uint64_t)FLIT_STAGE_WRITES * round->flit_count + (uint64_t)COMMAND_HOST_WRITES * round->command_count + 1;
}
