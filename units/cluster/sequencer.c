/* The sequencer: one instruction at a time, from offer to retirement (compute-units §3.1). Cycle names in comments: a
 * offered, i taken, c start condition true, p last word popped, e drain and write port idle, d retirement. */
#include "units/cluster/cluster.h"

enum {
    WIDE_TILE = 5 /* gm·gn from which a sweep waits for the sweep only */
};

static bool asks_memory(const struct cluster *cluster) {
    const struct cluster_inst *inst = &cluster->inst;
    uint8_t own = node_byte(cluster->x, cluster->y);
    for (unsigned peer = 0; peer < inst->npeer; peer++)
        if (inst->peer[peer] <= own)
            return false;
    return true;
}

void sequencer_request(struct cluster *cluster) {
    const struct cluster_inst *inst = &cluster->inst;
    struct flit_pool *pool = cluster->context.pool;
    unsigned n = inst->n ? inst->n : 1, flags = 0x40; /* STREAM */
    if (cluster->fetch_transform)
        flags |= (inst->preq ? 0 : 0x10) | (inst->sel ? 0x20 : 0);
    cluster->request = flit_new(pool);
    struct flit *flit = flit_at(pool, cluster->request);
    *flit = (struct flit){.dst_x = cluster->context.port_x,
                          .dst_y = cluster->context.port_y,
                          .src_x = cluster->x,
                          .src_y = cluster->y,
                          .type = FLIT_MEM_RD_REQ,
                          .txn = inst->eoff,
                          .last = 1,
                          .note = NOTE_FILL + inst->sel + 2 * bank_of(cluster, inst->fbank)};
    word_set(&flit->payload, 216, 40, inst->addr);
    word_set(&flit->payload, 208, 8, 3);
    word_set(&flit->payload, 200, 8, flags);
    word_set(&flit->payload, 192, 8, n);
    for (unsigned peer = 0; peer < 3; peer++)
        word_set(&flit->payload, 168 + 8 * peer, 8, inst->peer[peer]);
    word_set(&flit->payload, 166, 2, inst->npeer);
}

static void check_fill(struct cluster *cluster, cycle_t now) {
    const struct cluster_inst *inst = &cluster->inst;
    unsigned n = inst->n ? inst->n : 1;
    if (n >= 256)
        hazard_report(cluster->hazards, "cluster.fill_count", now, cluster->name,
                      "a FILL of %u entries asks for %u and waits for ever: the count has eight bits", n, n % 256);
    if (inst->eoff + n > bank_entries(cluster, inst->sel))
        hazard_report(cluster->hazards, "cluster.fill_wraps", now, cluster->name,
                      "a FILL of %u entries from entry %u wraps to entry 0 of its bank of %u", n, inst->eoff,
                      bank_entries(cluster, inst->sel));
    for (unsigned peer = 0; peer < inst->npeer; peer++)
        if (inst->peer[peer] == node_byte(cluster->x, cluster->y))
            hazard_report(cluster->hazards, "cluster.peer_self", now, cluster->name,
                          "a shared FILL names its own node as a peer: nobody asks memory");
}

/* The two instructions that the what-if adds. */
static void take_tensor(struct cluster *cluster, const struct unit_io *io) {
    if (cluster->inst_op == TENSOR_DESCRIBE)
        tensor_describe(cluster, &io->inst->payload);
    if (cluster->inst_op != TENSOR_FILL)
        return;
    cluster->state = SEQUENCER_FILL;
    cluster->tensor_next = 0;
    cluster->tensor_end = MAX(cluster->inst.n, 1u);
}

static void take(struct cluster *cluster, struct unit_io *io) {
    static const enum sequencer_state states[] = {SEQUENCER_CLOSING, SEQUENCER_FILL, SEQUENCER_GEMM, SEQUENCER_DRAIN};
    io->take = true;
    cluster->taken = io->now;
    cluster->started = cluster->leave = CYCLE_NEVER;
    cluster->completed = 0;
    cluster->state = cluster->inst_op <= CLUSTER_DRAIN ? states[cluster->inst_op] : SEQUENCER_CLOSING;
    if (cluster->params->tensor_fill)
        take_tensor(cluster, io);
    if (cluster->state == SEQUENCER_CLOSING) /* an unknown opcode: d = i + 1 */
        cluster->leave = io->now - 1;
    if (cluster->state != SEQUENCER_FILL)
        return;
    check_fill(cluster, io->now);
    if (cluster->inst_op == TENSOR_FILL)
        return;
    if (cluster->params->rendezvous && cluster->inst.npeer)
        rendezvous_begin(cluster);
    else if (asks_memory(cluster))
        sequencer_request(cluster);
}

static bool gemm_may_start(const struct cluster *cluster, const struct cluster_flags *flags) {
    const struct cluster_inst *inst = &cluster->inst;
    unsigned tile = MAX(inst->gm, 1u) * MAX(inst->gn, 1u);
    bool wide = tile >= WIDE_TILE, wait = wide ? flags->sweep_busy : flags->cluster_busy;
    if (wide && cluster->params->sweep_wait == SWEEP_WAIT_ISSUED)
        wait = cluster->sweep.running;
    return !wait && ((!inst->emit && !forwards(cluster, inst)) || flags->drain_idle) && !flags->open;
}

static void gemm_step(struct cluster *cluster, const struct cluster_flags *flags) {
    cycle_t now = flags->now;
    if (cluster->started == CYCLE_NEVER) {
        if (cluster->inst.emit || forwards(cluster, &cluster->inst))
            drain_latch(cluster, now);
        if (gemm_may_start(cluster, flags)) {
            cluster->started = now;
            cluster->leave = cluster->params->blocking_sweep ? CYCLE_NEVER : now + 2;
        }
    } else if (cluster->leave == CYCLE_NEVER && now >= cluster->started + 2 && !flags->sweep_busy) {
        cluster->leave = now; /* baseline machine: retires when the sweep has ended */
    }
}

static void drain_step(struct cluster *cluster, const struct cluster_flags *flags) {
    const struct cluster_inst *inst = &cluster->inst;
    cycle_t now = flags->now;
    if (cluster->started == CYCLE_NEVER) {
        drain_latch(cluster, now);
        if ((inst->fuse || !flags->cluster_busy) && !flags->open) {
            cluster->started = now;
            cluster->drain_pulse = now + 1;
        }
    } else if (cluster->leave == CYCLE_NEVER && now >= cluster->started + 2 && flags->drain_idle &&
               flags->write_port_idle) {
        cluster->leave = now; /* e */
    }
}

static void retire(struct cluster *cluster, struct unit_io *io) {
    struct cluster_counts *counts = &cluster->counts;
    io->done = true;
    io->fault = cluster->fault;
    io->result = (uint16_t)(counts->fills + counts->gemms + counts->drains);
    cluster->fault = false;
    cluster->state = SEQUENCER_IDLE;
}

static void count_instruction(struct cluster *cluster) {
    struct cluster_counts *counts = &cluster->counts;
    counts->fills +=
        cluster->inst_op == CLUSTER_FILL || (cluster->params->tensor_fill && cluster->inst_op == TENSOR_FILL);
    counts->gemms += cluster->inst_op == CLUSTER_GEMM;
    counts->drains += cluster->inst_op == CLUSTER_DRAIN;
}

void sequencer_step(struct cluster *cluster, const struct cluster_flags *flags, struct unit_io *io) {
    cycle_t now = flags->now;
    if (cluster->state == SEQUENCER_ARMED)
        take(cluster, io);
    else if (cluster->state == SEQUENCER_IDLE && io->inst) {
        cluster_inst_decode(&io->inst->payload, &cluster->inst);
        cluster->inst_op = cluster->inst.op;
        cluster->state = SEQUENCER_ARMED;
        return;
    }
    switch (cluster->state) {
    case SEQUENCER_GEMM:
        gemm_step(cluster, flags);
        if (cluster->started != CYCLE_NEVER && now == cluster->started + 1)
            sweep_prepare(cluster, now);
        break;
    case SEQUENCER_DRAIN:
        drain_step(cluster, flags);
        break;
    case SEQUENCER_CLOSING:
        break;
    case SEQUENCER_RETIRE:
        retire(cluster, io);
        return;
    default:
        break;
    }
    /* the state holds through cycle `leave`; then one closing cycle, then the retirement pulse */
    if (cluster->leave == CYCLE_NEVER)
        return;
    if (cluster->state == SEQUENCER_CLOSING) {
        count_instruction(cluster);
        cluster->state = SEQUENCER_RETIRE;
    } else if (now == cluster->leave && cluster->state != SEQUENCER_IDLE && cluster->state != SEQUENCER_ARMED) {
        cluster->state = SEQUENCER_CLOSING;
    }
}
