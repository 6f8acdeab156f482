/* Drain: explicit commands, the drain queue, burst collector and write port (compute-units §3.7–3.8). */
#include "units/cluster/cluster.h"

static struct drain_word *ring_at(struct cluster *cluster, uint64_t n) {
    return &cluster->ring[n & (cluster->ring_words - 1)];
}

/* A result that reaches the drain queue in cycle `push`; calls come in push order. */
void drain_queue_push(struct cluster *cluster, const struct word256 *data, cycle_t push) {
    if (cluster->ring_in - cluster->ring_out == cluster->ring_words) { /* only with counters that a DRAIN has zeroed */
        hazard_report(cluster->hazards, "cluster.drain_over_fused", push, cluster->name,
                      "results no longer counted fill the drain queue: one is lost");
        return;
    }
    struct drain_word *word = ring_at(cluster, cluster->ring_in++);
    word->push = push;
    word->data = *data;
}

/* Start pulse of an emitting sweep or a plain drain: the counters show 0 from the next cycle. */
void drain_reset(struct cluster *cluster) {
    cluster->d_pop = 0;
    cluster->d_out = 0;
    cluster->d_got = 0;
    cluster->emits_counted = cluster->emits_issued;
}

/* The write port's own copy of where results go. */
void drain_latch(struct cluster *cluster, cycle_t now) {
    const struct cluster_inst *inst = &cluster->inst;
    struct destination next = {.addr = inst->addr,
                               .dnode = inst->dnode,
                               .dst_x = inst->dst_x,
                               .dst_y = inst->dst_y,
                               .dbuf = inst->dbuf,
                               .dflags = inst->dflags,
                               .dack_x = inst->dack_x,
                               .dack_y = inst->dack_y,
                               .dmesh = inst->dmesh,
                               .dfin = inst->dfin};
    const struct destination *held = &cluster->destination;
    bool emitting = (cluster->sweep.running && (cluster->sweep.emit || cluster->sweep.fwd)) ||
                    cluster->emits_counted != cluster->emits_issued;
    bool outstanding = emitting || cluster->d_out > 0 || !write_port_idle(cluster);
    bool differs = held->addr != next.addr || held->dnode != next.dnode || held->dst_x != next.dst_x ||
                   held->dst_y != next.dst_y || held->dbuf != next.dbuf || held->dfin != next.dfin;
    if (outstanding && differs) {
        bool gemm = cluster->inst_op == CLUSTER_GEMM;
        hazard_report(cluster->hazards, gemm ? "cluster.emit_redirects" : "cluster.fused_dest", now, cluster->name,
                      gemm ? "an emitting GEMM that waits redirects results of the batch before it"
                           : "a DRAIN overwrites the destination of results still on their way out");
    }
    cluster->destination = next;
}

static const struct machine_unit *unit_at(const struct machine *machine, unsigned x, unsigned y) {
    for (unsigned u = 0; u < machine->unit_count; u++)
        if (machine->units[u].x == x && machine->units[u].y == y)
            return &machine->units[u];
    return NULL;
}

void drain_check_format(struct cluster *cluster, bool fused, cycle_t now) {
    const struct cluster_inst *inst = &cluster->inst;
    if (!inst->dnode || inst->dfin)
        return;
    const struct machine_unit *unit = unit_at(cluster->context.machine, inst->dst_x, inst->dst_y);
    if (fused && inst->dbuf == 2)
        hazard_report(
            cluster->hazards, "cluster.fused_peer_format", now, cluster->name,
            "an emitting GEMM sends FP16 words into buffer 2 of (%u,%u), which takes them as accumulator words",
            inst->dst_x, inst->dst_y);
    else if (inst->dbuf < 2 && unit && unit->kind == UNIT_CLUSTER)
        hazard_report(cluster->hazards, "cluster.drain_type", now, cluster->name,
                      "FP16 results go to operand buffer %u of the cluster (%u,%u), which takes them as int7 and E5M3",
                      inst->dbuf, inst->dst_x, inst->dst_y);
}

/* ---- explicit drain ---- */

static void start_pulse(struct cluster *cluster, const struct cluster_flags *flags) {
    const struct cluster_inst *inst = &cluster->inst;
    unsigned n = inst->n ? inst->n : 1;
    cluster->drain_pulse = CYCLE_NEVER;
    cluster_event(cluster, "drain start", 0, 0, flags->now);
    if (inst->fuse) {
        if (n != cluster->batch)
            hazard_report(cluster->hazards, "cluster.fused_count", flags->now, cluster->name,
                          "a fused DRAIN names %u sub-tiles where the sweep hands out %u: fewer waits for all, more "
                          "waits for ever",
                          n, cluster->batch);
        cluster->barrier = cluster->d_pop < n;
        cluster->drain_left = n;
        return;
    }
    if (!flags->drain_idle)
        hazard_report(cluster->hazards, "cluster.drain_over_fused", flags->now, cluster->name,
                      "a plain DRAIN starts while results of a fused batch are outstanding and zeroes their counters");
    if (n > cluster->params->tiles)
        hazard_report(cluster->hazards, "cluster.drain_wraps", flags->now, cluster->name,
                      "a DRAIN of %u sub-tiles is longer than the resident tile's %u and drains the start again", n,
                      cluster->params->tiles);
    drain_reset(cluster);
    drain_check_format(cluster, false, flags->now);
    cluster->batch = 0;
    cluster->issuing = true;
    cluster->send_format = inst->dnode && inst->dbuf == 2;
    cluster->drain_left = n;
    cluster->drain_next = 0;
    cluster->last_decision = CYCLE_NEVER;
}

static void decide(struct cluster *cluster, cycle_t now) {
    uint32_t address = cluster->drain_next++ & (cluster->params->tiles - 1);
    cycle_t command = now + 1, result = command + cluster->params->accumulator_latency;
    cluster->last_decision = now;
    if (cluster->send_format) {
        struct word256 granules[2];
        acc_send(cluster, address, granules, command);
        drain_queue_push(cluster, &granules[0], result - 1);
        drain_queue_push(cluster, &granules[1], result);
        cluster->d_out += 2;
    } else {
        struct word256 out;
        acc_emit(cluster, address, &out, command);
        cluster->counts.emit++;
        drain_queue_push(cluster, &out, result);
        cluster->d_out++;
    }
    cluster->busy_until = command + COMMAND_BUSY;
    cluster->issuing = --cluster->drain_left > 0;
}

/* A command a cycle (EMIT) or every other (SEND), decided one cycle before it is given. */
void drain_issue_step(struct cluster *cluster, const struct cluster_flags *flags) {
    cycle_t now = flags->now;
    if (cluster->drain_pulse == now) {
        start_pulse(cluster, flags);
        return;
    }
    if (cluster->barrier) {
        cluster->barrier = cluster->d_pop < cluster->drain_left;
        return;
    }
    if (!cluster->issuing || flags->d_out >= (int64_t)cluster->params->drain_limit)
        return;
    if (cluster->send_format && cluster->last_decision != CYCLE_NEVER && cluster->last_decision + 1 == now)
        return;
    decide(cluster, now);
}

/* ---- collector and write port ---- */

/* Words whose push cycle has come get their granule index; ADD_EMIT issues enter d_out. */
static void queue_step(struct cluster *cluster, cycle_t now) {
    while (cluster->ring_pushed < cluster->ring_in && ring_at(cluster, cluster->ring_pushed)->push <= now) {
        ring_at(cluster, cluster->ring_pushed++)->granule = cluster->d_got++;
        cluster_event(cluster, "emit", 0, 0, now);
    }
    while (cluster->emits_counted < cluster->emits_issued &&
           cluster->emit_times[cluster->emits_counted % G_N_ELEMENTS(cluster->emit_times)] + ISSUE_TO_COUNT - 1 <=
               now) {
        cluster->emits_counted++;
        cluster->d_out++;
    }
}

static void load_descriptor(struct cluster *cluster, const struct burst_bank *bank) {
    const struct destination *to = &cluster->destination;
    struct flit_pool *pool = cluster->context.pool;
    cluster->write_port = flit_new(pool);
    struct flit *flit = flit_at(pool, cluster->write_port);
    *flit = (struct flit){.src_x = cluster->x, .src_y = cluster->y, .txn = 2};
    if (to->dnode) {
        flit->type = FLIT_CU_DATA;
        flit->dst_x = to->dst_x;
        flit->dst_y = to->dst_y;
        word_set(&flit->payload, 248, 8, to->dbuf);
        word_set(&flit->payload, 232, 16, (to->addr >> 5) + bank->first);
        word_set(&flit->payload, 224, 8, bank->count - 1);
        word_set(&flit->payload, 216, 8, to->dflags);
        word_set(&flit->payload, 212, 4, to->dack_y);
        word_set(&flit->payload, 208, 4, to->dack_x);
    } else {
        flit->type = FLIT_MEM_WR_REQ;
        flit->dst_x = cluster->context.port_x;
        flit->dst_y = cluster->context.port_y;
        word_set(&flit->payload, 216, 40, to->addr + (uint64_t)WORD_BYTES * bank->first);
        word_set(&flit->payload, 208, 8, bank->count - 1);
    }
    if (to->dfin) {
        flit->txn = to->dfin;
        flit->rsvd = FLIT_RSVD_REMOTE | to->dmesh;
    }
}

static void load_data(struct cluster *cluster, const struct burst_bank *bank) {
    const struct destination *to = &cluster->destination;
    struct flit_pool *pool = cluster->context.pool;
    cluster->write_port = flit_new(pool);
    struct flit *flit = flit_at(pool, cluster->write_port);
    *flit = (struct flit){.src_x = cluster->x,
                          .src_y = cluster->y,
                          .dst_x = to->dnode ? to->dst_x : cluster->context.port_x,
                          .dst_y = to->dnode ? to->dst_y : cluster->context.port_y,
                          .type = to->dnode ? FLIT_CU_DATA : FLIT_MEM_WR_DATA,
                          .txn = to->dfin ? to->dfin : 2,
                          .rsvd = to->dfin ? FLIT_RSVD_REMOTE | to->dmesh : 0,
                          .last = cluster->sent + 1 == bank->count,
                          .payload = bank->words[cluster->sent]};
}

static void collect(struct cluster *cluster, cycle_t now) {
    struct burst_bank *bank = &cluster->bank[cluster->collecting];
    const struct drain_word *word = ring_at(cluster, cluster->ring_out++);
    if (!bank->count)
        bank->first = word->granule;
    bank->words[bank->count++] = word->data;
    cluster->d_pop++;
    cluster->d_out--;
    cluster_event(cluster, "sub-tile collected", 0, 0, now);
}

/* taken: the endpoint accepts the write-port register in this cycle. */
void collector_step(struct cluster *cluster, const struct cluster_flags *flags, bool taken) {
    cycle_t now = flags->now;
    struct burst_bank *bank = &cluster->bank[cluster->collecting], *out = &cluster->bank[1 - cluster->collecting];
    bool word = cluster->ring_out < cluster->ring_pushed &&
                ring_at(cluster, cluster->ring_out)->push + cluster->fall_through <= now &&
                bank->count < cluster->burst_words;
    /* never both in a sound program; after cluster.drain_over_fused the counters may say idle with words queued */
    bool closes = bank->count == cluster->burst_words || flags->drain_idle;
    bool hand = !word && cluster->sender == SENDER_IDLE && bank->count && closes;
    bool room = cluster->write_port == FLIT_NONE || taken;
    if (taken)
        cluster->write_port = FLIT_NONE;
    switch (cluster->sender) {
    case SENDER_IDLE:
        if (hand)
            cluster->sender = SENDER_DESCRIPTOR;
        break;
    case SENDER_DESCRIPTOR:
        if (room) {
            load_descriptor(cluster, out);
            cluster->sent = 0;
            cluster->sender = SENDER_DATA;
        }
        break;
    case SENDER_DATA:
        if (room) {
            load_data(cluster, out);
            if (++cluster->sent == out->count) {
                out->count = 0;
                cluster->sender = SENDER_IDLE;
            }
        }
        break;
    }
    if (word)
        collect(cluster, now);
    else if (hand)
        cluster->collecting = 1 - cluster->collecting;
    queue_step(cluster, now);
}
