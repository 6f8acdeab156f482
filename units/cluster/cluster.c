/* The cluster as a unit: life, one cycle, reports; see cluster.h. */
#include "units/cluster/cluster.h"

#include <string.h>

const char *const cluster_cause_names[CLUSTER_CAUSES] = {
    [CAUSE_IDLE] = "idle",       [CAUSE_COMPUTE] = "compute",
    [CAUSE_PACING] = "pacing",   [CAUSE_DRAIN_FULL] = "drain_full",
    [CAUSE_CASCADE] = "cascade", [CAUSE_FILL] = "wait_operands",
    [CAUSE_DRAIN] = "drain",     [CAUSE_LINK_BUSY] = "link_busy",
    [CAUSE_PEER] = "peer",       [CAUSE_SEQUENCE] = "sequence",
};

static void *create(const struct unit_context *context) {
    const struct machine *machine = context->machine;
    struct cluster *cluster = g_new0(struct cluster, 1);
    cluster->context = *context;
    cluster->params = &machine->cluster;
    cluster->fall_through = machine->noc.fall_through;
    cluster->burst_words = machine->memory.write_burst;
    cluster->fetch_transform = machine->memory.fetch_transform;
    cluster->x = context->place->x;
    cluster->y = context->place->y;
    cluster->hazards = context->hazards;
    cluster->name = context->place->name;
    const unsigned sizes[2] = {machine->cluster.l1_a, machine->cluster.l1_b};
    for (unsigned side = 0; side < 2; side++) {
        cluster->store[side] = g_new0(struct mxfp7_entry, sizes[side]);
        cluster->words_seen[side] = g_new0(uint8_t, sizes[side]);
        cluster->written[side] = g_new0(uint64_t, sizes[side] / 64 + 1);
    }
    cluster->tile = g_malloc0_n(machine->cluster.tiles, sizeof *cluster->tile);
    cluster->opened = g_new0(uint64_t, machine->cluster.tiles / 64 + 1);
    if (machine->cluster.double_rate)
        cluster->held = g_new0(struct fp22_held, machine->cluster.tiles);
    /* a batch up to the limit, and one begun over it by a program that breaks the contract */
    cluster->ring_words = 1u << g_bit_storage(2 * machine->cluster.drain_limit + 32);
    cluster->ring = g_new0(struct drain_word, cluster->ring_words);
    cluster->drain_pulse = CYCLE_NEVER;
    cluster->write_port = cluster->request = cluster->signal = FLIT_NONE;
    for (unsigned k = 0; k < ACC_LOG; k++)
        cluster->log[k].address = UINT32_MAX;
    return cluster;
}

static void destroy(void *unit) {
    struct cluster *cluster = unit;
    for (unsigned side = 0; side < 2; side++) {
        g_free(cluster->store[side]);
        g_free(cluster->words_seen[side]);
        g_free(cluster->written[side]);
    }
    g_free(cluster->tile);
    g_free(cluster->opened);
    g_free(cluster->held);
    g_free(cluster->ring);
    g_free(cluster);
}

/* ---- receive queue ---- */

static void pop_response(struct cluster *cluster, const struct flit *flit, cycle_t now) {
    const struct cluster_inst *inst = &cluster->inst;
    unsigned word = flit->rsvd & 3, n = inst->n ? inst->n : 1;
    if (flit->note && flit->note != NOTE_FILL + inst->sel + 2 * bank_of(cluster, inst->fbank))
        hazard_report(cluster->hazards, "cluster.shared_fill_side", now, cluster->name,
                      "entry %u fetched for side %c, bank %u, lands in side %c, bank %u, whose FILL is under way",
                      flit->txn, "AB"[(flit->note - NOTE_FILL) & 1], (flit->note - NOTE_FILL) >> 1, "AB"[inst->sel],
                      inst -> fbank);
    bool complete = operand_place(cluster, inst->sel, bank_of(cluster, inst->fbank) * BANK_ENTRIES + flit->txn, word,
                                  &flit->payload, now);
    cluster->counts.responses++;
    if (cluster->params->assembly == ASSEMBLY_REGISTER)
        complete = word == 3; /* silicon counts responses that name word 3, whatever their entry */
    if (complete && cluster->leave == CYCLE_NEVER && (++cluster->completed & 0xFF) == n)
        cluster->leave = now + 1; /* p + 1 */
}

/* filling: a FILL executes; held: a peer sub-tile or an acknowledgement of this unit is still waiting. */
static void receive_step(struct cluster *cluster, struct unit_io *io, bool filling, bool held) {
    if (!io->recv)
        return;
    if (io->recv->type == FLIT_MEM_RD_RESP) {
        if (!filling) {
            cluster->counts.response_held++;
            hazard_report(cluster->hazards, "cluster.response_held", io->now, cluster->name,
                          "a read response waits because no FILL runs, and so does everything behind it");
            return;
        }
        pop_response(cluster, io->recv, io->now);
    } else if (io->recv->type == FLIT_CU_DATA) {
        if (held && filling)
            hazard_report(cluster->hazards, "cluster.peer_blocks_fill", io->now, cluster->name,
                          "a peer stream that waits holds up the responses of a FILL behind it");
        if (held)
            return;
        cluster_event(cluster, "unit data popped", 0, 0, io->now);
        peer_pop(cluster, io->recv, io->now);
    } else if (io->recv->type != FLIT_MEM_WR_ACK && !rendezvous_report(cluster, io->recv)) {
        hazard_report(cluster->hazards, "flit.unknown_type", io->now, cluster->name,
                      "a flit of type %u in the receive queue is popped and dropped", io->recv->type);
    }
    io->pop = true;
}

/* ---- outbound priority (§3.9): own signal, fetch descriptor, write port ---- */

static bool send_step(struct cluster *cluster, struct unit_io *io, flit_index signal, flit_index request) {
    if (!io->send_ready)
        return false;
    if (signal != FLIT_NONE) {
        io->send = signal;
        cluster->signal = FLIT_NONE;
    } else if (request != FLIT_NONE) {
        io->send = request;
        cluster->request = FLIT_NONE;
    } else if (cluster->write_port != FLIT_NONE) {
        io->send = cluster->write_port;
        return true;
    }
    return false;
}

/* ---- one cycle ---- */

static enum cluster_cause cause_of(const struct cluster *cluster, const struct cluster_flags *flags,
                                   enum cluster_cause sweep, enum sequencer_state state, bool link_refused) {
    if (sweep != CAUSE_IDLE)
        return sweep;
    if (state == SEQUENCER_FILL)
        return CAUSE_FILL;
    if (flags->sweep_busy)
        return CAUSE_CASCADE;
    if (link_refused)
        return CAUSE_LINK_BUSY;
    if (flags->open)
        return CAUSE_PEER;
    if (!flags->drain_idle || !flags->write_port_idle)
        return CAUSE_DRAIN;
    if (flags->cluster_busy)
        return CAUSE_CASCADE;
    return state == SEQUENCER_IDLE && !cluster->peer.in_burst ? CAUSE_IDLE : CAUSE_SEQUENCE;
}

static bool sequencer_idle(enum sequencer_state state) {
    return state == SEQUENCER_IDLE || state == SEQUENCER_ARMED || state == SEQUENCER_RETIRE;
}

/* Books the cycles up to, not including, `until` in which the cluster slept: it sleeps idle or in a FILL. */
static void count_sleep(struct cluster_counts *counts, enum sequencer_state state, cycle_t until) {
    uint64_t slept = until - counts->counted;
    if (state == SEQUENCER_FILL) {
        counts->fill_cycles += slept;
        counts->active_cycles += slept;
    }
    counts->counted = until;
}

static void count_cycle(struct cluster *cluster, const struct cluster_flags *flags, enum sequencer_state state) {
    struct cluster_counts *counts = &cluster->counts;
    bool idle = sequencer_idle(state) && !flags->cluster_busy && flags->drain_idle;
    if (!idle) {
        counts->active_cycles++;
        counts->last_active = flags->now;
        if (!counts->first_active)
            counts->first_active = flags->now;
    }
    counts->counted = flags->now + 1;
    counts->compute_cycles += flags->cluster_busy;
    counts->fill_cycles += state == SEQUENCER_FILL;
    counts->gemm_cycles += state == SEQUENCER_GEMM || flags->cluster_busy;
    counts->drain_cycles += state == SEQUENCER_DRAIN || !flags->drain_idle;
    counts->sweep_cycles += flags->sweep_busy;
}

static cycle_t next_step(const struct cluster *cluster, cycle_t now) {
    bool waiting =
        cluster->state == SEQUENCER_IDLE || (cluster->state == SEQUENCER_FILL && cluster->leave == CYCLE_NEVER);
    if (!waiting || cluster->sweep.running || sweep_busy(cluster, now + 1) || now < cluster->busy_until ||
        !drain_idle(cluster) || !write_port_idle(cluster) || cluster->drain_pulse != CYCLE_NEVER ||
        cluster->ring_out != cluster->ring_in || cluster->request != FLIT_NONE || cluster->signal != FLIT_NONE ||
        cluster->peer.pending || cluster->peer.in_burst || cluster->peer.open || cluster->peer.granted)
        return now + 1;
    return CYCLE_NEVER;
}

/* Results are on their way to the drain queue, in it, or behind it. */
static bool collector_works(const struct cluster *cluster) {
    return cluster->ring_out != cluster->ring_in || cluster->emits_counted != cluster->emits_issued ||
           !write_port_idle(cluster);
}

static cycle_t step(void *unit, struct unit_io *io) {
    struct cluster *cluster = unit;
    cycle_t now = io->now;
    struct cluster_flags flags = {.now = now,
                                  .sweep_busy = sweep_busy(cluster, now),
                                  .drain_idle = drain_idle(cluster),
                                  .write_port_idle = write_port_idle(cluster),
                                  .open = cluster->peer.open,
                                  .granted = cluster->peer.granted,
                                  .d_out = (uint16_t)cluster->d_out};
    flags.cluster_busy = flags.sweep_busy || (cluster->busy_until && now <= cluster->busy_until);
    bool in_burst = cluster->peer.in_burst;
    flit_index signal = cluster->signal, request = cluster->request;
    enum sequencer_state before = cluster->state;

    count_sleep(&cluster->counts, before, now);
    sequencer_step(cluster, &flags, io);
    /* the state of this very cycle: a taken instruction counts from its accept */
    enum sequencer_state state = before == SEQUENCER_ARMED ? cluster->state : before;
    if (before == SEQUENCER_ARMED && state == SEQUENCER_RETIRE)
        state = SEQUENCER_CLOSING;
    enum cluster_cause sweep = sweep_step(cluster, &flags);
    if (cluster->drain_pulse == now || cluster->barrier || cluster->issuing)
        drain_issue_step(cluster, &flags);
    bool refused = cluster->write_port != FLIT_NONE && !io->send_ready;
    bool taken = send_step(cluster, io, signal, request);
    if (collector_works(cluster))
        collector_step(cluster, &flags, taken);
    bool held = cluster->peer.pending || signal != FLIT_NONE;
    if (in_burst || cluster->peer.open || cluster->peer.granted || cluster->peer.pending)
        peer_step(cluster, &flags, in_burst);
    receive_step(cluster, io, state == SEQUENCER_FILL, held);
    if (cluster->reporting || cluster->gathering)
        rendezvous_step(cluster);
    tensor_step(cluster);

    count_cycle(cluster, &flags, state);
    enum sequencer_state shown = sequencer_idle(state) ? SEQUENCER_IDLE : state;
    account_set(&cluster->account, cause_of(cluster, &flags, sweep, shown, refused), now);
    return next_step(cluster, now);
}

/* ---- reports ---- */

static uint64_t debug_register(const void *unit, cycle_t now) {
    const struct cluster *cluster = unit;
    struct cluster_counts counts = cluster->counts;
    count_sleep(&counts, cluster->state, now);
    return (counts.compute_cycles & 0xFFFFFFFF) << 32 | (counts.fill_cycles & 0xFFFFFFFF);
}

static void report(const void *unit, struct unit_report *report) {
    const struct cluster *cluster = unit;
    *report =
        (struct unit_report){.causes = cluster_cause_names,
                             .cause_count = CLUSTER_CAUSES,
                             .account = &cluster->account,
                             .instructions = cluster->counts.fills + cluster->counts.gemms + cluster->counts.drains};
}

struct cluster_counts cluster_counts_at(const struct cluster *cluster, cycle_t end) {
    struct cluster_counts counts = cluster->counts;
    if (end > counts.counted)
        count_sleep(&counts, cluster->state, end);
    return counts;
}

static char *waits_for(const void *unit, cycle_t now) {
    const struct cluster *cluster = unit;
    const struct cluster_inst *inst = &cluster->inst;
    if (cluster->peer.pending && !drain_idle(cluster))
        return g_strdup("its own drain to finish before it takes a peer sub-tile");
    switch (cluster->state) {
    case SEQUENCER_FILL:
        return g_strdup_printf("read responses: %u of %u entries complete", cluster->completed, inst->n ? inst->n : 1);
    case SEQUENCER_GEMM:
        return g_strdup_printf("%s before a GEMM", cluster->peer.open                   ? "a peer stream to close"
                                                   : sweep_busy(cluster, now)           ? "the sweep"
                                                   : inst->emit && !drain_idle(cluster) ? "the drain"
                                                                                        : "the accumulator");
    case SEQUENCER_DRAIN:
        if (cluster->write_port != FLIT_NONE) {
            const struct flit *flit = flit_at(cluster->context.pool, cluster->write_port);
            return g_strdup_printf("the link to take a flit for (%u,%u)", flit->dst_x, flit->dst_y);
        }
        return g_strdup(cluster->barrier ? "emitted results of a fused batch" : "results of a drain");
    default:
        break;
    }
    if (cluster->peer.in_burst)
        return g_strdup_printf("%u more flits of a burst from (%u,%u)", cluster->peer.left, cluster->peer.src_x,
                               cluster->peer.src_y);
    return NULL;
}

static uint64_t progress(const void *unit) {
    const struct cluster_counts *counts = &((const struct cluster *)unit)->counts;
    return counts->load + counts->add + counts->add_emit + counts->emit + counts->send + counts->add_peer +
           counts->responses;
}

static void digest(const void *unit, void (*feed)(void *to, const void *data, size_t size), void *to) {
    const struct cluster *cluster = unit;
    const unsigned sizes[2] = {cluster->params->l1_a, cluster->params->l1_b};
    for (unsigned side = 0; side < 2; side++)
        feed(to, cluster->store[side], sizes[side] * sizeof *cluster->store[side]);
    feed(to, cluster->tile, cluster->params->tiles * sizeof *cluster->tile);
    const struct cluster_counts *counts = &cluster->counts;
    const uint64_t values[] = {counts->fills, counts->gemms,    counts->drains, counts->load,    counts->add,
                               counts->emit,  counts->add_emit, counts->send,   counts->add_peer};
    feed(to, values, sizeof values);
}

const struct unit_type unit_type_cluster = {
    .name = "cluster",
    .type_code = 0x4D47,
    .buffers = 2,
    .drops_write_ack = true,
    .create = create,
    .destroy = destroy,
    .step = step,
    .debug_register = debug_register,
    .report = report,
    .waits_for = waits_for,
    .progress = progress,
    .digest = digest,
};
