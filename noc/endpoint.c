/* The compute-unit port; see endpoint.h. Section numbers are those of noc-and-memory. */
#include "noc/endpoint.h"

#include <string.h>

enum {
    CONTROL_REPLY = 0x02
};

static void wake(struct endpoint *endpoint, cycle_t at) {
    if (at < endpoint->due) {
        endpoint->due = at;
        if (endpoint->group_due && at < *endpoint->group_due)
            *endpoint->group_due = at;
    }
}

void endpoint_init(struct endpoint *endpoint, const struct machine *machine, const struct machine_unit *place,
                   const struct unit_type *type, struct flit_pool *pool, struct hazard_log *hazards) {
    const struct endpoint_params *params = &machine->endpoint;
    *endpoint = (struct endpoint){.type = type,
                                  .name = place->name,
                                  .x = place->x,
                                  .y = place->y,
                                  .fall_through = machine->noc.fall_through,
                                  .pool = pool,
                                  .hazards = hazards,
                                  .inst_depth = params->inst_depth,
                                  .reply = FLIT_NONE,
                                  .output = FLIT_NONE,
                                  .busy_since = CYCLE_NEVER,
                                  .due = CYCLE_NEVER,
                                  .unit_due = CYCLE_NEVER};
    fifo_init(&endpoint->inst, params->inst_depth + machine->noc.fifo_extra);
    fifo_init(&endpoint->recv, params->recv_depth + machine->noc.fifo_extra);
    fifo_init(&endpoint->completions, params->completion_depth + machine->noc.fifo_extra);
    const struct machine_port *port = machine->port_count ? &machine->ports[place->port] : NULL;
    struct unit_context context = {.machine = machine,
                                   .place = place,
                                   .pool = pool,
                                   .hazards = hazards,
                                   .port_x = port ? port->x : 0,
                                   .port_y = port ? port->y : 0};
    endpoint->unit = type->create(&context);
}

void endpoint_clear(struct endpoint *endpoint) {
    if (endpoint->type)
        endpoint->type->destroy(endpoint->unit);
    fifo_clear(&endpoint->inst);
    fifo_clear(&endpoint->recv);
    fifo_clear(&endpoint->completions);
    *endpoint = (struct endpoint){0};
}

/* ---- inbound (§4.1, §4.2) ---- */

static bool accepts(void *self, const struct flit *flit, cycle_t now) {
    struct endpoint *endpoint = self;
    if (flit->type == FLIT_MEM_WR_ACK && endpoint->type->drops_write_ack)
        return true;
    if (!fifo_full(&endpoint->inst, now) && !fifo_full(&endpoint->recv, now))
        return true;
    endpoint->counts.refused++;
    return false;
}

static uint64_t control_value(const struct endpoint *endpoint, unsigned index, cycle_t now) {
    uint64_t space = endpoint->inst_depth - (endpoint->inst_accepted - endpoint->inst_popped);
    bool busy =
        endpoint->in_flight || fifo_readable(&endpoint->inst, now) || fifo_readable(&endpoint->completions, now);
    switch (index) {
    case 0: /* caps */
        return (uint64_t)endpoint->type->type_code << 48 | UINT64_C(4) << 40 | (uint64_t)endpoint->type->buffers << 36 |
               (uint64_t)(endpoint->inst_depth & 0xFFFF) << 20;
    case 1: /* status */
        return (uint64_t)busy << 63 | (space & 0xFFFF) << 32;
    case 2: /* counters */
        return (endpoint->retired & 0xFFFFFFFF) << 32 |
               (uint32_t)(endpoint->busy_base + (busy && endpoint->busy_since <= now ? now - endpoint->busy_since : 0));
    case 3:
        return endpoint->type->debug_register(endpoint->unit, now);
    default:
        return 0;
    }
}

/* Loads the reply register, or swallows the request when one is pending (§4.2). */
static void take_control(struct endpoint *endpoint, flit_index index, cycle_t now) {
    struct flit *flit = flit_at(endpoint->pool, index);
    if (endpoint->reply != FLIT_NONE) {
        hazard_report(endpoint->hazards, "ctrl.lost", now, endpoint->name,
                      "a control request from (%u,%u) came while a reply was pending and is never answered",
                      flit->src_x, flit->src_y);
        flit_free(endpoint->pool, index);
        return;
    }
    unsigned what = word_get(&flit->payload, 240, 8);
    uint64_t value = control_value(endpoint, what, now);
    flit->dst_x = flit->src_x;
    flit->dst_y = flit->src_y;
    flit->src_x = endpoint->x;
    flit->src_y = endpoint->y;
    flit->last = 1;
    flit->rsvd = 0;
    memset(&flit->payload, 0, sizeof flit->payload);
    word_set(&flit->payload, 248, 8, CONTROL_REPLY);
    word_set(&flit->payload, 240, 8, what);
    word_set(&flit->payload, 176, 64, value);
    endpoint->reply = index;
    endpoint->reply_from = now + 1;
    wake(endpoint, now + 1);
}

static void deliver(void *self, flit_index index, cycle_t now) {
    struct endpoint *endpoint = self;
    const struct flit *flit = flit_at(endpoint->pool, index);
    endpoint->counts.in[flit->type]++;
    if (endpoint->latency)
        histogram_add(&endpoint->latency[flit->type], now - flit->offered, 1);
    if (endpoint->trace && endpoint->trace->flit_in)
        endpoint->trace->flit_in(endpoint->trace->self, endpoint, flit, now);
    if (flit->type == FLIT_MEM_WR_ACK && endpoint->type->drops_write_ack) {
        flit_free(endpoint->pool, index);
    } else if (flit->type == FLIT_CU_CTRL) {
        take_control(endpoint, index, now);
    } else {
        bool instruction = flit->type == FLIT_CU_INST;
        endpoint->inst_accepted += instruction;
        fifo_push(instruction ? &endpoint->inst : &endpoint->recv, index, now + endpoint->fall_through);
        wake(endpoint, now + endpoint->fall_through);
    }
}

struct link_sink endpoint_sink(struct endpoint *endpoint) {
    return (struct link_sink){.self = endpoint, .accepts = accepts, .deliver = deliver};
}

/* ---- retirement (§4.3) ---- */

static void retire(struct endpoint *endpoint, const struct unit_io *io) {
    cycle_t now = io->now;
    endpoint->retired++;
    if (endpoint->trace && endpoint->trace->retired)
        endpoint->trace->retired(endpoint->trace->self, endpoint, now, io->fault, io->result);
    if (!endpoint->in_flight) {
        hazard_report(endpoint->hazards, "cu.spurious_done", now, endpoint->name,
                      "the unit retired an instruction with none in flight; no completion is sent");
        return;
    }
    endpoint->in_flight = false;
    flit_index index = flit_new(endpoint->pool);
    struct flit *signal = flit_at(endpoint->pool, index);
    enum signal_code code = io->fault             ? SIGNAL_FAULT
                            : endpoint->inst_last ? SIGNAL_BATCH_COMPLETE
                                                  : SIGNAL_INST_COMPLETE;
    *signal = (struct flit){.dst_x = endpoint->reply_x,
                            .dst_y = endpoint->reply_y,
                            .src_x = endpoint->x,
                            .src_y = endpoint->y,
                            .type = FLIT_CU_SIGNAL,
                            .txn = endpoint->inst_txn,
                            .last = 1};
    word_set(&signal->payload, 248, 8, code);
    word_set(&signal->payload, 216, 32, code == SIGNAL_BATCH_COMPLETE ? endpoint->inst_txn : io->result);
    fifo_push(&endpoint->completions, index, now + endpoint->fall_through);
}

/* ---- one cycle ---- */

/* Hands the output register to the mesh; true if the register can be loaded in this cycle. */
static bool output_step(struct endpoint *endpoint, cycle_t now) {
    if (endpoint->output == FLIT_NONE)
        return true;
    struct flit *flit = flit_at(endpoint->pool, endpoint->output);
    if (!endpoint->out.accepts(endpoint->out.self, flit, now)) {
        endpoint->counts.blocked++;
        return false;
    }
    endpoint->counts.out[flit->type]++;
    if (endpoint->trace && endpoint->trace->flit_out)
        endpoint->trace->flit_out(endpoint->trace->self, endpoint, flit, now);
    endpoint->out.deliver(endpoint->out.self, endpoint->output, now);
    endpoint->output = FLIT_NONE;
    return true;
}

/* What a unit may put on the mesh (§12.1): its own coordinate, and no completion codes. */
static void check_sent(const struct endpoint *endpoint, const struct flit *flit, cycle_t now) {
    if (flit->src_x != endpoint->x || flit->src_y != endpoint->y)
        hazard_report(endpoint->hazards, "flit.bad_src", now, endpoint->name,
                      "the unit sends a flit of type %u in the name of (%u,%u)", flit->type, flit->src_x, flit->src_y);
    unsigned code = word_get(&flit->payload, 248, 8);
    if (flit->type == FLIT_CU_SIGNAL &&
        (code == SIGNAL_INST_COMPLETE || code == SIGNAL_BATCH_COMPLETE || code == SIGNAL_FAULT))
        hazard_report(endpoint->hazards, "cu.forged_signal", now, endpoint->name,
                      "the unit sends signal code %u itself, which only the port logic may", code);
}

/* Loads the output register for the next cycle: completion, control reply, then the unit's own flit (§4.4). */
static void load_output(struct endpoint *endpoint, flit_index sent, bool signal, bool reply, cycle_t now) {
    if (signal) {
        endpoint->output = fifo_head(&endpoint->completions)->flit;
        fifo_pop(&endpoint->completions, now);
        endpoint->signals_sent++;
    } else if (reply) {
        endpoint->output = endpoint->reply;
        endpoint->reply = FLIT_NONE;
    } else if (sent != FLIT_NONE) {
        check_sent(endpoint, flit_at(endpoint->pool, sent), now);
        endpoint->output = sent;
    }
    if (endpoint->output != FLIT_NONE)
        flit_at(endpoint->pool, endpoint->output)->offered = now + 1;
}

static void check_instruction(const struct endpoint *endpoint, const struct unit_io *io) {
    unsigned note = io->inst->note, own = strcmp(endpoint->type->name, "cluster") == 0  ? NOTE_FOR_CLUSTER
                                          : strcmp(endpoint->type->name, "vector") == 0 ? NOTE_FOR_VECTOR
                                                                                        : NOTE_NONE;
    if (note && own && note != own)
        hazard_report(endpoint->hazards, "unit.wrong_kind", io->now, endpoint->name,
                      "an instruction written for a %s is executed by a %s",
                      note == NOTE_FOR_CLUSTER ? "cluster" : "vector core", endpoint->type->name);
    if (io->done)
        hazard_report(endpoint->hazards, "cu.done_with_accept", io->now, endpoint->name,
                      "the unit retires in the cycle of an accept: a completion is lost");
}

static void take_instruction(struct endpoint *endpoint, const struct unit_io *io) {
    check_instruction(endpoint, io);
    endpoint->in_flight = endpoint->pop_pending = true;
    endpoint->reply_x = io->inst->src_x;
    endpoint->reply_y = io->inst->src_y;
    endpoint->inst_txn = io->inst->txn;
    endpoint->inst_last = io->inst->last;
    if (endpoint->trace && endpoint->trace->taken)
        endpoint->trace->taken(endpoint->trace->self, endpoint, io->inst, io->now);
}

/* Busy cycles are counted from the state at the start of the cycle. */
static void count_busy(struct endpoint *endpoint, bool busy, cycle_t now) {
    if (busy) {
        if (endpoint->busy_since == CYCLE_NEVER)
            endpoint->busy_since = now;
    } else if (endpoint->busy_since != CYCLE_NEVER) {
        endpoint->busy_base += now - endpoint->busy_since;
        endpoint->busy_since = CYCLE_NEVER;
    }
}

static cycle_t next_due(const struct endpoint *endpoint, cycle_t now) {
    if (endpoint->output != FLIT_NONE || endpoint->reply != FLIT_NONE || endpoint->pop_pending)
        return now + 1;
    cycle_t due = endpoint->unit_due;
    const struct fifo *queues[] = {&endpoint->recv, &endpoint->completions, &endpoint->inst};
    for (unsigned q = 0; q < 3; q++) {
        if (!queues[q]->count || (q == 2 && endpoint->in_flight))
            continue;
        cycle_t ready = fifo_head(queues[q])->ready;
        due = MIN(due, MAX(ready, now + 1));
    }
    return due;
}

void endpoint_step(struct endpoint *endpoint, cycle_t now) {
    bool signal = fifo_readable(&endpoint->completions, now);
    bool reply = endpoint->reply != FLIT_NONE && endpoint->reply_from <= now;
    bool instruction = fifo_readable(&endpoint->inst, now);
    bool completions_full = fifo_full(&endpoint->completions, now);
    count_busy(endpoint, endpoint->in_flight || instruction || signal, now);
    bool room = output_step(endpoint, now);

    struct unit_io io = {.now = now, .pool = endpoint->pool, .send = FLIT_NONE};
    if (instruction && !endpoint->in_flight && !completions_full)
        io.inst = flit_at(endpoint->pool, fifo_head(&endpoint->inst)->flit);
    if (fifo_readable(&endpoint->recv, now))
        io.recv = flit_at(endpoint->pool, fifo_head(&endpoint->recv)->flit);
    io.send_ready = room && !signal && !reply;
    endpoint->unit_due = endpoint->type->step(endpoint->unit, &io);

    if (endpoint->pop_pending) {
        flit_free(endpoint->pool, fifo_head(&endpoint->inst)->flit);
        fifo_pop(&endpoint->inst, now);
        endpoint->inst_popped++;
        endpoint->pop_pending = false;
    }
    if (io.pop) {
        flit_free(endpoint->pool, fifo_head(&endpoint->recv)->flit);
        fifo_pop(&endpoint->recv, now);
    }
    if (room)
        load_output(endpoint, io.send, signal, reply, now);
    if (io.done)
        retire(endpoint, &io);
    if (io.take)
        take_instruction(endpoint, &io);
    if (io.done) /* the busy counter has to see the cycle after it */
        endpoint->unit_due = now + 1;
    endpoint->due = next_due(endpoint, now);
}

bool endpoint_quiet(const struct endpoint *endpoint) {
    return !endpoint->in_flight && !endpoint->inst.count && !endpoint->recv.count && !endpoint->completions.count &&
           endpoint->reply == FLIT_NONE && endpoint->output == FLIT_NONE;
}
