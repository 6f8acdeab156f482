/* Accumulator commands on the resident tile (compute-units §5). A command is applied when its issue is decided; the
 * cycle it is given stands in `command`. */
#include <string.h>

#include "units/cluster/cluster.h"

/* With pacing off two commands may meet within the pipeline: the later one then works on the value from before the
 * earlier one, and its write erases the earlier result (§3.4). */
static void restore_stale(struct cluster *cluster, uint32_t address, cycle_t command) {
    struct acc_entry *oldest = NULL;
    for (unsigned k = 0; k < ACC_LOG; k++) {
        struct acc_entry *entry = &cluster->log[k];
        if (entry->address == address && entry->command + REUSE_DEPTH >= command && entry->command < command &&
            (!oldest || entry->command < oldest->command))
            oldest = entry;
    }
    if (!oldest)
        return;
    hazard_report(cluster->hazards, "acc.reuse", command, cluster->name,
                  "two commands to tile address %u are %u cycles apart: the second works on the value from before the "
                  "first and erases it",
                  address, (unsigned)(command - oldest->command));
    memcpy(cluster->tile[address], oldest->before, sizeof oldest->before);
}

static void log_command(struct cluster *cluster, uint32_t address, cycle_t command) {
    if (cluster->params->pacing)
        return;
    struct acc_entry *entry = &cluster->log[cluster->log_next++ % ACC_LOG];
    uint32_t current[TILE_LANES];
    memcpy(current, cluster->tile[address], sizeof current);
    restore_stale(cluster, address, command);
    entry->command = command;
    entry->address = address;
    memcpy(entry->before, current, sizeof current);
}

static void need_open(struct cluster *cluster, uint32_t address, const char *what, cycle_t command) {
    if (!bit_test(cluster->opened, address))
        hazard_report(cluster->hazards, "acc.unopened_tile", command, cluster->name,
                      "%s touches sub-tile %u, which no LOAD has opened since reset", what, address);
}

/* The first block of a pair waits for the second one (golden README 6.1). */
static void double_rate_block(struct cluster *cluster, uint32_t address, const int32_t sums[TILE_LANES],
                              const struct mxfp7_entry *a, const struct mxfp7_entry *b, bool load) {
    const struct sweep *sweep = &cluster->sweep;
    struct fp22_held *held = &cluster->held[address];
    uint32_t *tile = cluster->tile[address];
    unsigned width = cluster->params->accumulator_bits;
    if (sweep->kb % 2 == 0 && sweep->kb + 1 < sweep->nk) {
        memcpy(held->sums, sums, sizeof held->sums);
        memcpy(held->sa, a->scale, 4);
        memcpy(held->sb, b->scale, 4);
        return;
    }
    bool first_step = load || (sweep->kb == 1 && !sweep->acc);
    if (sweep->kb % 2 == 0) { /* lone last block */
        (first_step ? fp22_tile_load : fp22_tile_add)(tile, sums, a->scale, b->scale, sweep->anchor, width);
        return;
    }
    struct fp22_scaled_block one = {.sums = held->sums, .sa = held->sa, .sb = held->sb};
    struct fp22_scaled_block two = {.sums = sums, .sa = a->scale, .sb = b->scale};
    (first_step ? fp22_tile_pair_load : fp22_tile_pair_add)(tile, &one, &two, sweep->anchor, width);
}

void acc_block(struct cluster *cluster, uint32_t address, const struct mxfp7_entry *a, const struct mxfp7_entry *b,
               bool load, cycle_t command) {
    int32_t sums[TILE_LANES];
    unsigned width = cluster->params->accumulator_bits;
    uint8_t anchor = cluster->sweep.anchor;
    mxfp7_block_dot(a, b, sums);
    if (load)
        bit_set(cluster->opened, address);
    else
        need_open(cluster, address, "ADD", command);
    log_command(cluster, address, command);
    if (anchor != CLUSTER_ANCHOR && fp22_tile_wraps(sums, a->scale, b->scale, anchor, width))
        hazard_report(cluster->hazards, "acc.exponent_wrap", command, cluster->name,
                      "anchor %u makes an exponent of sub-tile %u wrap", anchor, address);
    if (cluster->params->double_rate)
        double_rate_block(cluster, address, sums, a, b, load);
    else if (load)
        fp22_tile_load(cluster->tile[address], sums, a->scale, b->scale, anchor, width);
    else
        fp22_tile_add(cluster->tile[address], sums, a->scale, b->scale, anchor, width);
}

void acc_forward(struct cluster *cluster, const struct mxfp7_entry *a, const struct mxfp7_entry *b,
                 struct word256 granules[2]) {
    int32_t sums[TILE_LANES];
    uint32_t words[TILE_LANES];
    unsigned width = cluster->params->accumulator_bits;
    mxfp7_block_dot(a, b, sums);
    fp22_tile_load(words, sums, a->scale, b->scale, cluster->sweep.anchor, width);
    fp22_tile_to_granules(words, width, granules);
}

void acc_peer(struct cluster *cluster, uint32_t address, const struct word256 granules[2], cycle_t command) {
    uint32_t incoming[TILE_LANES];
    unsigned width = cluster->params->accumulator_bits;
    need_open(cluster, address, "ADD_PEER", command);
    log_command(cluster, address, command);
    fp22_tile_from_granules(granules, width, incoming);
    fp22_tile_add_words(cluster->tile[address], incoming, width);
    cluster->counts.add_peer++;
}

void acc_emit(struct cluster *cluster, uint32_t address, struct word256 *out, cycle_t command) {
    need_open(cluster, address, "EMIT", command);
    cluster->counts.saturated += fp22_tile_emit(cluster->tile[address], cluster->params->accumulator_bits, out);
}

void acc_send(struct cluster *cluster, uint32_t address, struct word256 granules[2], cycle_t command) {
    need_open(cluster, address, "SEND", command);
    fp22_tile_to_granules(cluster->tile[address], cluster->params->accumulator_bits, granules);
    cluster->counts.send++;
}
