/* The dispatch agent; see dispatch.h. Section numbers are those of noc-and-memory. */
#include "memory/dispatch.h"

#include <string.h>

enum {
    STATUS_READY = 4
};

void dispatch_init(struct dispatch *dispatch, const struct machine *machine, struct flit_pool *pool,
                   struct hazard_log *hazards) {
    const struct agent_params *agent = &machine->agent;
    *dispatch = (struct dispatch){.pool = pool,
                                  .hazards = hazards,
                                  .x = machine->ports[0].x,
                                  .y = machine->ports[0].y,
                                  .fall_through = machine->noc.fall_through,
                                  .nx = machine->nx,
                                  .ny = machine->ny,
                                  .seeded_limit = machine->endpoint.inst_depth,
                                  .staging_flits = agent->staging_flits,
                                  .staging = g_new0(uint64_t, agent->staging_flits * STAGED_WORDS),
                                  .staging_notes = g_new0(uint8_t, agent->staging_flits),
                                  .output = FLIT_NONE,
                                  .arrived = FLIT_NONE,
                                  .mailbox_room = agent->rx_depth + machine->noc.fifo_extra};
    fifo_init(&dispatch->transmit, agent->tx_depth + machine->noc.fifo_extra);
    fifo_init(&dispatch->mailbox, dispatch->mailbox_room);
}

void dispatch_clear(struct dispatch *dispatch) {
    g_free(dispatch->staging);
    g_free(dispatch->staging_notes);
    fifo_clear(&dispatch->transmit);
    fifo_clear(&dispatch->mailbox);
    *dispatch = (struct dispatch){0};
}

static void trace(struct dispatch *dispatch, const char *what, const struct flit *flit, cycle_t now) {
    if (dispatch->trace)
        dispatch->trace->event(dispatch->trace->self, what, flit, now);
}

/* ---- wire form of a flit in 64-bit words, low first (§2.1) ---- */

static void flit_from_words(const uint64_t words[STAGED_WORDS], struct flit *flit) {
    uint32_t header = (uint32_t)words[4];
    *flit = (struct flit){.dst_x = header >> 28 & 15,
                          .dst_y = header >> 24 & 15,
                          .src_x = header >> 20 & 15,
                          .src_y = header >> 16 & 15,
                          .type = header >> 12 & 15,
                          .txn = header >> 4 & 255,
                          .last = header >> 3 & 1,
                          .rsvd = header & 7};
    memcpy(flit->payload.w, words, sizeof flit->payload.w);
}

static void flit_to_words(const struct flit *flit, uint64_t words[STAGED_WORDS]) {
    memcpy(words, flit->payload.w, sizeof flit->payload.w);
    words[4] = (uint32_t)(flit->dst_x & 15) << 28 | (flit->dst_y & 15) << 24 | (flit->src_x & 15) << 20 |
               (flit->src_y & 15) << 16 | (flit->type & 15) << 12 | flit->txn << 4 | (flit->last & 1) << 3 |
               (flit->rsvd & 7);
}

void dispatch_stage(struct dispatch *dispatch, unsigned slot, const struct word256 *payload, unsigned type,
                    unsigned txn, unsigned last) {
    struct flit flit = {.type = type, .txn = txn, .last = last, .payload = *payload};
    flit_to_words(&flit, &dispatch->staging[slot % dispatch->staging_flits * STAGED_WORDS]);
}

void dispatch_note(struct dispatch *dispatch, unsigned slot, unsigned note) {
    dispatch->staging_notes[slot % dispatch->staging_flits] = note;
}

/* What the host puts on the mesh (§12.1). */
static void check_host_flit(struct dispatch *dispatch, const struct flit *flit, cycle_t now) {
    bool carries = flit->type == FLIT_MEM_RD_RESP || flit->rsvd & FLIT_RSVD_REMOTE;
    if (flit->type > FLIT_CU_DATA)
        hazard_report(dispatch->hazards, "flit.bad_type", now, "agent", "the host sends a flit of type %u", flit->type);
    if (flit->rsvd && !carries)
        hazard_report(dispatch->hazards, "flit.reserved", now, "agent",
                      "the host sends a flit of type %u with reserved header bits %u", flit->type, flit->rsvd);
    if (flit->src_x != dispatch->x || flit->src_y != dispatch->y)
        hazard_report(dispatch->hazards, "flit.bad_src", now, "agent",
                      "the host sends a flit of type %u in the name of (%u,%u)", flit->type, flit->src_x, flit->src_y);
}

/* ---- register window (§5.2) ---- */

static uint64_t mailbox_word(const struct dispatch *dispatch, unsigned k, cycle_t now) {
    uint64_t words[STAGED_WORDS];
    if (!fifo_readable(&dispatch->mailbox, now))
        return 0;
    flit_to_words(flit_at(dispatch->pool, fifo_head(&dispatch->mailbox)->flit), words);
    return words[k];
}

static uint64_t node_word(const struct dispatch *dispatch, unsigned node) {
    const struct node_status *status = &dispatch->nodes[node];
    return (uint64_t)status->code << 56 | (uint64_t)status->arg << 24 | (uint64_t)status->count << 8 | status->seen;
}

uint64_t dispatch_read(struct dispatch *dispatch, uint32_t offset, cycle_t now) {
    const struct dispatch_auxiliary *aux = &dispatch->auxiliary;
    offset &= 0xFFF8;
    if (offset >= AGENT_NODE_STATUS && offset < AGENT_NODE_STATUS + 8 * DISPATCH_NODES)
        return node_word(dispatch, (offset - AGENT_NODE_STATUS) / 8);
    if (offset >= AGENT_RX_FLIT && offset < AGENT_RX_FLIT + 8 * STAGED_WORDS)
        return mailbox_word(dispatch, (offset - AGENT_RX_FLIT) / 8, now);
    if (offset >= AGENT_AUX_STATW && offset < AGENT_AUX_STATW + 0x80)
        return aux->status_word ? aux->status_word(aux->self, (offset - AGENT_AUX_STATW) / 8) : 0;
    switch (offset) {
    case AGENT_CTRL:
        return dispatch->control;
    case AGENT_STATUS:
        return STATUS_READY | (dispatch->running || fifo_readable(&dispatch->transmit, now));
    case AGENT_CAPS: /* GRID_HI, GRID_LO, coordinate width, flit width */
        return (uint64_t)MAX(dispatch->nx, dispatch->ny) << 32 | UINT64_C(1) << 24 | UINT64_C(4) << 16 | 288;
    case AGENT_IRQ_STAT:
        return dispatch->irq_status;
    case AGENT_IRQ_EN:
        return dispatch->irq_enable;
    case AGENT_PROG_DST:
        return dispatch->destination;
    case AGENT_PROG_LEN:
        return dispatch->length;
    case AGENT_PROG_STAT:
        return dispatch->running | (uint64_t)(dispatch->left & 0xFFFF) << 1 | (uint64_t)dispatch->credit << 17;
    case AGENT_PROG_CRED:
        return dispatch->credit;
    case AGENT_PROG_BASE:
        return dispatch->base;
    case AGENT_SIG_DONE:
        return dispatch->signals_done;
    case AGENT_AUX_STAT:
        return aux->status ? aux->status(aux->self) : 0;
    case AGENT_TX_STATUS:
        return (uint64_t)fifo_full(&dispatch->transmit, now) << 16;
    case AGENT_RX_STATUS:
        return (uint64_t)!fifo_readable(&dispatch->mailbox, now) << 16 | (uint64_t)dispatch->mailbox_overflow << 17;
    default:
        return 0;
    }
}

void dispatch_write(struct dispatch *dispatch, uint32_t offset, uint64_t value, cycle_t now) {
    dispatch->write = (struct window_write){.pending = true, .offset = offset & 0xFFF8, .value = value, .at = now + 1};
}

static void kick(struct dispatch *dispatch, cycle_t now) {
    trace(dispatch, "kick", NULL, now);
    if (dispatch->running || dispatch->length == 0) {
        hazard_report(dispatch->hazards, "dispatch.kick_lost", now, "agent",
                      "a KICK while a program is being dispatched, or of length 0, is ignored");
        return;
    }
    dispatch->running = true;
    dispatch->left = dispatch->length;
    dispatch->read_index = dispatch->base * STAGED_WORDS;
    dispatch->word_index = 0;
    dispatch->last_kick_request = now;
    if (dispatch->base + dispatch->length > dispatch->staging_flits)
        hazard_report(dispatch->hazards, "dispatch.stage_overrun", now, "agent",
                      "a program of %u flits from slot %u runs past the %u staging slots", dispatch->length,
                      dispatch->base, dispatch->staging_flits);
}

static void seed_credit(struct dispatch *dispatch, uint16_t value, cycle_t now) {
    dispatch->credit = value;
    dispatch->seeded_total += value;
    if (value > dispatch->seeded_limit)
        hazard_report(dispatch->hazards, "dispatch.overseeded", now, "agent",
                      "credit %u is more than an instruction queue of depth %u holds: instructions can back up into "
                      "the mesh",
                      value, dispatch->seeded_limit);
}

static void transmit_mailbox(struct dispatch *dispatch, cycle_t now) {
    if (fifo_full(&dispatch->transmit, now) || dispatch->running)
        return;
    flit_index index = flit_new(dispatch->pool);
    flit_from_words(dispatch->mailbox_words, flit_at(dispatch->pool, index));
    check_host_flit(dispatch, flit_at(dispatch->pool, index), now);
    fifo_push(&dispatch->transmit, index, now + dispatch->fall_through);
}

static void pop_mailbox(struct dispatch *dispatch, cycle_t now) {
    if (!fifo_readable(&dispatch->mailbox, now))
        return;
    flit_free(dispatch->pool, fifo_head(&dispatch->mailbox)->flit);
    fifo_pop(&dispatch->mailbox, now);
}

static void check_not_running(struct dispatch *dispatch, const char *name, cycle_t now) {
    if (dispatch->running)
        hazard_report(dispatch->hazards, "dispatch.dst_changed_while_running", now, "agent",
                      "%s is written while a program is being dispatched: the rest of it is misrouted or resized",
                      name);
}

/* The write that acts in this cycle. True if it was a credit write, which wins over every other change. */
static bool apply_write(struct dispatch *dispatch, cycle_t now, bool *clears_signals) {
    struct window_write *write = &dispatch->write;
    if (!write->pending || write->at != now)
        return false;
    write->pending = false;
    uint32_t offset = write->offset;
    uint64_t value = write->value;
    if (offset >= AGENT_STAGE) {
        if (offset < AGENT_STAGE + dispatch->staging_flits * STAGED_WORDS * 8)
            dispatch->staging[(offset - AGENT_STAGE) / 8] = value;
        return false;
    }
    if (offset >= AGENT_AUX_CFG && offset < AGENT_AUX_CFG + 0x100) {
        if (dispatch->auxiliary.write)
            dispatch->auxiliary.write(dispatch->auxiliary.self, offset - AGENT_AUX_CFG, value, now);
        return false;
    }
    if (offset >= AGENT_TX_FLIT && offset < AGENT_TX_FLIT + 8 * STAGED_WORDS) {
        dispatch->mailbox_words[(offset - AGENT_TX_FLIT) / 8] = value;
        return false;
    }
    switch (offset) {
    case AGENT_CTRL:
        dispatch->control = value;
        break;
    case AGENT_IRQ_STAT:
        dispatch->irq_status &= ~value;
        break;
    case AGENT_IRQ_EN:
        dispatch->irq_enable = value;
        break;
    case AGENT_PROG_DST:
        check_not_running(dispatch, "PROG_DST", now);
        dispatch->destination = value;
        break;
    case AGENT_PROG_LEN:
        check_not_running(dispatch, "PROG_LEN", now);
        dispatch->length = value;
        break;
    case AGENT_PROG_BASE:
        dispatch->base = value;
        break;
    case AGENT_PROG_KICK:
        kick(dispatch, now);
        break;
    case AGENT_PROG_CRED:
        seed_credit(dispatch, value, now);
        return true;
    case AGENT_SIG_DONE:
        *clears_signals = true;
        break;
    case AGENT_TX_KICK:
        transmit_mailbox(dispatch, now);
        break;
    case AGENT_RX_POP:
        pop_mailbox(dispatch, now);
        break;
    default:
        break;
    }
    return false;
}

/* ---- arrivals (§5.6, §5.7) ---- */

void dispatch_take(struct dispatch *dispatch, flit_index flit, cycle_t now) {
    (void)now;
    g_assert(dispatch->arrived == FLIT_NONE);
    dispatch->arrived = flit;
}

/* Absorbs the flit taken in this cycle; true if it was an INST_COMPLETE. */
static bool absorb(struct dispatch *dispatch, cycle_t now) {
    flit_index index = dispatch->arrived;
    if (index == FLIT_NONE)
        return false;
    dispatch->arrived = FLIT_NONE;
    struct flit *flit = flit_at(dispatch->pool, index);
    bool full = fifo_full(&dispatch->mailbox, now);
    if (flit->type != FLIT_CU_SIGNAL) {
        if (full) {
            trace(dispatch, "mailbox dropped", flit, now);
            hazard_report(dispatch->hazards, "agent.mailbox_drop", now, "agent",
                          "the mailbox is full: a flit of type %u from (%u,%u) is dropped", flit->type, flit->src_x,
                          flit->src_y);
            dispatch->mailbox_overflow = true;
            flit_free(dispatch->pool, index);
        } else {
            trace(dispatch, "mailbox", flit, now);
            fifo_push(&dispatch->mailbox, index, now + dispatch->fall_through);
        }
        return false;
    }
    trace(dispatch, "signal", flit, now);
    dispatch->mailbox_overflow |= full;
    struct node_status *status = &dispatch->nodes[node_byte(flit->src_x & 15, flit->src_y & 15)];
    status->code = word_get(&flit->payload, 248, 8);
    status->arg = word_get(&flit->payload, 216, 32);
    status->count++;
    status->seen = true;
    dispatch->signals_done++;
    dispatch->signals++;
    dispatch->last_signal = now;
    bool complete = status->code == SIGNAL_INST_COMPLETE;
    dispatch->completions += complete;
    flit_free(dispatch->pool, index);
    return complete;
}

/* ---- dispatcher (§5.4) ---- */

static void push_flit(struct dispatch *dispatch, cycle_t now) {
    flit_index index = flit_new(dispatch->pool);
    struct flit *flit = flit_at(dispatch->pool, index);
    flit_from_words(dispatch->complete, flit);
    flit->dst_x = dispatch->destination & 15;
    flit->dst_y = dispatch->destination >> 4;
    flit->src_x = dispatch->x;
    flit->src_y = dispatch->y;
    flit->note = dispatch->staging_notes[dispatch->read_slot];
    check_host_flit(dispatch, flit, now);
    fifo_push(&dispatch->transmit, index, now + dispatch->fall_through);
    dispatch->pushed++;
    trace(dispatch, "flit pushed", flit, now);
}

/* Reads one staging word; true if it was the fifth of a flit. */
static bool read_word(struct dispatch *dispatch, cycle_t now) {
    unsigned words = dispatch->staging_flits * STAGED_WORDS;
    dispatch->assembling[dispatch->word_index] = dispatch->staging[dispatch->read_index++ % words];
    if (++dispatch->word_index < STAGED_WORDS)
        return false;
    dispatch->word_index = 0;
    memcpy(dispatch->complete, dispatch->assembling, sizeof dispatch->complete);
    dispatch->read_slot = (dispatch->read_index - 1) % words / STAGED_WORDS;
    if (dispatch->left > 1) {
        dispatch->left--;
        return true;
    }
    dispatch->running = false;
    if (!(dispatch->complete[4] >> 3 & 1))
        hazard_report(dispatch->hazards, "dispatch.no_last", now, "agent",
                      "the final flit of a program lacks `last`: no batch completion will come");
    return true;
}

bool dispatch_step(struct dispatch *dispatch, cycle_t now, bool output_taken) {
    bool push = dispatch->push_next;
    bool ready = dispatch->running && !fifo_full(&dispatch->transmit, now);
    bool read = ready && dispatch->credit;
    bool load = dispatch->output == FLIT_NONE || output_taken;
    bool clears = false, had_credit = dispatch->credit;
    dispatch->credit_stall_cycles += ready && !dispatch->credit;

    if (output_taken)
        dispatch->output = FLIT_NONE;
    if (load && fifo_readable(&dispatch->transmit, now)) {
        dispatch->output = fifo_head(&dispatch->transmit)->flit;
        flit_at(dispatch->pool, dispatch->output)->offered = now + 1;
        fifo_pop(&dispatch->transmit, now);
    }
    if (push)
        push_flit(dispatch, now);
    dispatch->push_next = read && read_word(dispatch, now);
    bool complete = absorb(dispatch, now);
    uint16_t credit = dispatch->credit;
    if (push && !complete && had_credit)
        dispatch->credit = credit - 1;
    else if (complete && !push)
        dispatch->credit = credit + 1;
    apply_write(dispatch, now, &clears);
    if (clears)
        dispatch->signals_done = 0;
    return dispatch->running || dispatch->push_next || dispatch->transmit.count || dispatch->output != FLIT_NONE ||
           dispatch->write.pending;
}
