/* The sweep: three nested counters that issue a sub-tile a cycle (compute-units §3.4). */
#include "units/cluster/cluster.h"

static unsigned at_least_one(unsigned value) {
    return value ? value : 1;
}

/* Idle cycles after each issue: keeps commands to one tile address `reuse_min` apart (§3.4). */
static unsigned pace_of(const struct cluster *cluster, unsigned tile, unsigned nk) {
    unsigned reuse = cluster->params->reuse_min;
    if (!cluster->params->pacing || nk <= 1 || tile >= reuse)
        return 0;
    return (reuse + tile - 1) / tile - 1;
}

/* Loads the counters in the cycle of the start pulse; they run from the next one. */
void sweep_prepare(struct cluster *cluster, cycle_t now) {
    const struct cluster_inst *inst = &cluster->inst;
    struct sweep *sweep = &cluster->sweep;
    *sweep = (struct sweep){.running = true,
                            .start = now,
                            .last_issue = sweep->last_issue,
                            .issued_any = sweep->issued_any,
                            .gm = at_least_one(inst->gm),
                            .gn = at_least_one(inst->gn),
                            .nk = at_least_one(inst->nk),
                            .acc = inst->acc,
                            .emit = inst->emit,
                            .fwd = forwards(cluster, inst),
                            .anchor = inst->anchor,
                            .aoff = inst->aoff,
                            .boff = inst->boff,
                            .abank = bank_of(cluster, inst->abank),
                            .bbank = bank_of(cluster, inst->bbank)};
    sweep->pace = pace_of(cluster, sweep->gm * sweep->gn, inst->nk);
    if (inst->emit || sweep->fwd) {
        drain_reset(cluster);
        if (!sweep->fwd)
            drain_check_format(cluster, true, now);
        cluster->batch = sweep->gm * sweep->gn * (sweep->fwd ? 2 : 1);
    }
    if (sweep->aoff + sweep->gm * sweep->nk > bank_entries(cluster, 0) ||
        sweep->boff + sweep->gn * sweep->nk > bank_entries(cluster, 1))
        hazard_report(
            cluster->hazards, "cluster.l1_offset_wraps", now, cluster->name,
            "a sweep of %ux%ux%u from A entry %u and B entry %u runs past the end of its bank and wraps in it",
            sweep->gm, sweep->gn, sweep->nk, sweep->aoff, sweep->boff);
    if (sweep->gm * sweep->gn > cluster->params->tiles)
        hazard_report(cluster->hazards, "cluster.tile_wraps", now, cluster->name,
                      "a tile of %ux%u sub-tiles is larger than the resident tile's %u: two share a place", sweep->gm,
                      sweep->gn, cluster->params->tiles);
    if (sweep->emit && !sweep->acc && sweep->nk == 1)
        hazard_report(cluster->hazards, "cluster.emit_opens_tile", now, cluster->name,
                      "a sweep of one K block both opens and emits the tile: LOAD wins and nothing is handed out");
    cluster_event(cluster, "sweep start", 0, 0, now);
}

static const struct mxfp7_entry *operand(struct cluster *cluster, unsigned side, unsigned bank, unsigned number,
                                         cycle_t now) {
    unsigned size = side ? cluster->params->l1_b : cluster->params->l1_a;
    unsigned entry = bank * BANK_ENTRIES + number % BANK_ENTRIES;
    if (entry >= size)
        entry %= size;
    if (!bit_test(cluster->written[side], entry))
        hazard_report(cluster->hazards, "cluster.l1_unwritten", now, cluster->name,
                      "a sweep reads entry %u of side %c, which was never written", entry, side ? 'B' : 'A');
    return &cluster->store[side][entry];
}

static void issued(struct cluster *cluster, uint32_t address, cycle_t now) {
    cluster_event(cluster, "issue", address, 0, now);
    cluster->sweep.last_issue = now;
    cluster->sweep.issued_any = true;
    cluster->busy_until = now + ISSUE_TO_COMMAND + COMMAND_BUSY;
}

static void count_emit(struct cluster *cluster, cycle_t now) {
    cluster->emit_times[cluster->emits_issued++ % G_N_ELEMENTS(cluster->emit_times)] = now;
}

/* What-if FWD (§10.3): two granules of the block leave, so the next issue is two cycles later at the earliest. */
static void issue_forward(struct cluster *cluster, const struct mxfp7_entry *a, const struct mxfp7_entry *b,
                          cycle_t now) {
    struct word256 granules[2];
    cycle_t result = now + ISSUE_TO_COMMAND + cluster->params->accumulator_latency;
    acc_forward(cluster, a, b, granules);
    drain_queue_push(cluster, &granules[0], result - 1);
    drain_queue_push(cluster, &granules[1], result);
    count_emit(cluster, now);
    count_emit(cluster, now);
    cluster->counts.forwarded++;
    issued(cluster, 0, now);
}

static void issue(struct cluster *cluster, cycle_t now) {
    struct sweep *sweep = &cluster->sweep;
    uint32_t address = (sweep->g * sweep->gn + sweep->h) & (cluster->params->tiles - 1);
    const struct mxfp7_entry *a =
        operand(cluster, 0, sweep->abank, sweep->aoff + sweep->g * sweep->nk + sweep->kb, now);
    const struct mxfp7_entry *b =
        operand(cluster, 1, sweep->bbank, sweep->boff + sweep->h * sweep->nk + sweep->kb, now);
    bool load = sweep->kb == 0 && !sweep->acc;
    bool last_block = sweep->kb == sweep->nk - 1;
    if (sweep->fwd && last_block) {
        issue_forward(cluster, a, b, now);
        return;
    }
    acc_block(cluster, address, a, b, load, now + ISSUE_TO_COMMAND);
    if (load) {
        cluster->counts.load++;
    } else if (last_block && sweep->emit) {
        struct word256 out;
        cluster->counts.add_emit++;
        cluster->counts.saturated += fp22_tile_emit(cluster->tile[address], cluster->params->accumulator_bits, &out);
        count_emit(cluster, now);
        drain_queue_push(cluster, &out, now + ISSUE_TO_COMMAND + cluster->params->accumulator_latency);
    } else {
        cluster->counts.add++;
    }
    if (load && last_block && sweep->emit) /* counted out, but never produced (§3.11) */
        count_emit(cluster, now);
    issued(cluster, address, now);
}

/* Next (kb, g, h); false after the last one. */
static bool advance(struct sweep *sweep) {
    if (++sweep->h < sweep->gn)
        return true;
    sweep->h = 0;
    if (++sweep->g < sweep->gm)
        return true;
    sweep->g = 0;
    return ++sweep->kb < sweep->nk;
}

enum cluster_cause sweep_step(struct cluster *cluster, const struct cluster_flags *flags) {
    struct sweep *sweep = &cluster->sweep;
    if (!sweep->running || sweep->start == flags->now)
        return CAUSE_IDLE;
    if (flags->d_out >= (int64_t)cluster->params->drain_limit) {
        cluster->counts.held_cycles++;
        return CAUSE_DRAIN_FULL;
    }
    if (sweep->wait) {
        sweep->wait--;
        cluster->counts.pacing_cycles++;
        return CAUSE_PACING;
    }
    bool forwarded = sweep->fwd && sweep->kb == sweep->nk - 1;
    issue(cluster, flags->now);
    sweep->running = advance(sweep);
    sweep->wait = forwarded ? MAX(sweep->pace, 1) : sweep->pace;
    return CAUSE_COMPUTE;
}

bool sweep_will_read(const struct cluster *cluster, unsigned side, unsigned entry, unsigned *g, unsigned *h) {
    const struct sweep *sweep = &cluster->sweep;
    unsigned bank = side ? sweep->bbank : sweep->abank, offset = side ? sweep->boff : sweep->aoff;
    unsigned size = side ? cluster->params->l1_b : cluster->params->l1_a;
    if (!sweep->running || (size > BANK_ENTRIES && entry / BANK_ENTRIES != bank))
        return false;
    unsigned place = (entry + BANK_ENTRIES - offset) % BANK_ENTRIES;
    unsigned group = place / sweep->nk, kb = place % sweep->nk;
    if (group >= (side ? sweep->gn : sweep->gm))
        return false;
    /* last read of the entry in sweep order: A by (kb, group, gn-1), B by (kb, gm-1, group) */
    unsigned last_g = side ? sweep->gm - 1 : group, last_h = side ? group : sweep->gn - 1;
    uint64_t last = ((uint64_t)kb * sweep->gm + last_g) * sweep->gn + last_h;
    uint64_t next = ((uint64_t)sweep->kb * sweep->gm + sweep->g) * sweep->gn + sweep->h;
    *g = side ? (kb == sweep->kb ? sweep->g : 0) : group;
    *h = side ? group : (kb == sweep->kb && group == sweep->g ? sweep->h : 0);
    return last >= next;
}
