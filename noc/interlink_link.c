/* The interlink toward its links: outbound arbiter, switch and the links themselves (noc-and-memory §10.6). */
#include "noc/interlink_parts.h"

/* ---- outbound arbiter ---- */

static struct interlink_encap *first_closed(const struct interlink *interlink) {
    struct interlink_encap *first = NULL;
    for (unsigned e = 0; e < interlink->encap_count; e++) {
        struct interlink_encap *encap = &interlink->encaps[e];
        if (encap->closed && (!first || encap->order < first->order))
            first = encap;
    }
    return first;
}

static bool waits(const struct interlink *interlink, enum interlink_source source) {
    return source == SOURCE_WORD    ? interlink->word.waiting
           : source == SOURCE_ENCAP ? first_closed(interlink) != NULL
                                    : interlink->ring_pending;
}

/* The first waiting source, starting with the last winner itself. */
void outbound_decide(struct interlink *interlink, struct interlink_cycle *cycle) {
    struct interlink_outbound *outbound = &interlink->outbound;
    cycle->outbound = outbound->state;
    if (outbound->state != OUTBOUND_IDLE || !interlink->enabled)
        return;
    for (unsigned k = 0; k < INTERLINK_SOURCES && !cycle->chosen; k++) {
        cycle->source = (outbound->source + k) % INTERLINK_SOURCES;
        cycle->chosen = waits(interlink, cycle->source);
    }
}

/* Takes the chosen source's packet over: its header is offered from the next cycle. */
static void load(struct interlink *interlink, enum interlink_source source) {
    struct interlink_outbound *outbound = &interlink->outbound;
    outbound->state = OUTBOUND_HEADER;
    outbound->source = source;
    outbound->header = (struct interlink_header){.from = interlink->mesh, .beats = 1};
    struct interlink_header *header = &outbound->header;
    switch (source) {
    case SOURCE_WORD:
        header->kind = PACKET_MEM_WR;
        header->to = interlink->word.mesh;
        header->field = interlink->word.address;
        outbound->word = interlink->word.word;
        break;
    case SOURCE_ENCAP:
        outbound->encap = first_closed(interlink);
        header->kind = PACKET_NOC_FLIT;
        header->to = outbound->encap->mesh;
        header->field = outbound->encap->final;
        header->beats = outbound->encap->flits;
        break;
    case SOURCE_DOORBELL:
        header->kind = PACKET_DOORBELL;
        header->to = interlink->ring_mesh;
        header->txn = interlink->ring_tag;
        break;
    }
}

/* A packet of one flit is sent before its FIFO shows it: out goes what was shown last (defect.single_flit). */
static struct flit encap_beat(struct interlink *interlink, struct interlink_encap *encap, cycle_t now) {
    if (beats_readable(&encap->beats, now) || !interlink->machine->rtl_defects)
        encap->shown = *beats_pop(&encap->beats);
    return encap->shown;
}

struct flit outbound_beat(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now) {
    struct interlink_outbound *outbound = &interlink->outbound;
    struct flit beat = {0};
    if (outbound->source == SOURCE_WORD)
        beat.payload = outbound->word;
    else if (outbound->source == SOURCE_ENCAP)
        beat = encap_beat(interlink, outbound->encap, now);
    cycle->outbound_ended = --outbound->left == 0;
    return beat;
}

/* The last beat has gone: the source is free from the next cycle. */
static void finish(struct interlink *interlink, bool sent) {
    struct interlink_outbound *outbound = &interlink->outbound;
    outbound->state = OUTBOUND_IDLE;
    if (outbound->source == SOURCE_ENCAP)
        outbound->encap->closed = false;
    if (outbound->source == SOURCE_DOORBELL) {
        interlink->ring_pending = false;
        interlink->doorbells_sent += sent;
    }
}

/* The header leaves: into a link's slot, or nowhere. */
static void leave(struct interlink *interlink, bool drops) {
    struct interlink_outbound *outbound = &interlink->outbound;
    outbound->state = drops ? OUTBOUND_DROP : OUTBOUND_BEATS;
    outbound->left = outbound->header.beats;
    if (outbound->source == SOURCE_WORD) {
        interlink->word.waiting = false;
        interlink->word.taken = true;
    }
}

static void report_no_way(struct interlink *interlink, const struct interlink_header *header, cycle_t now) {
    interlink_raise(interlink, INTERLINK_FAULT_SWITCH, now);
    hazard_report(interlink->hazards, "il.no_way", now, "interlink",
                  "a packet from mesh %u to mesh %u has no way on from mesh %u and is dropped", header->from,
                  header->to, interlink->mesh);
}

static bool local_passes(const struct interlink_cycle *cycle) {
    for (unsigned l = 0; l < INTERLINK_LINKS; l++)
        for (unsigned c = 0; c < INTERLINK_CLASSES; c++)
            if (cycle->passes[l][c] == INPUT_LOCAL)
                return true;
    return false;
}

void outbound_update(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now) {
    struct interlink_outbound *outbound = &interlink->outbound;
    switch (cycle->outbound) {
    case OUTBOUND_IDLE:
        if (cycle->chosen)
            load(interlink, cycle->source);
        break;
    case OUTBOUND_HEADER:
        if (cycle->drops || local_passes(cycle))
            leave(interlink, cycle->drops);
        else
            interlink->local_blocked++;
        break;
    case OUTBOUND_BEATS:
        if (cycle->outbound_ended)
            finish(interlink, true);
        break;
    case OUTBOUND_DROP:
        if (outbound->left == outbound->header.beats)
            report_no_way(interlink, &outbound->header, now);
        outbound_beat(interlink, cycle, now);
        if (cycle->outbound_ended)
            finish(interlink, false);
        break;
    }
}

/* ---- switch ---- */

/* Transit that link l receives is on its way through a merge. */
static bool in_transit(const struct interlink *interlink, unsigned l) {
    const struct interlink_slot *slots = interlink->links[1 - l].slots;
    return (slots[0].full && slots[0].input == INPUT_TRANSIT) || (slots[1].full && slots[1].input == INPUT_TRANSIT);
}

/* Header of a transit packet that link l offers in this cycle, NULL if none. */
static const struct interlink_header *transit_head(const struct interlink *interlink, unsigned l, cycle_t now) {
    const struct interlink_link *link = &interlink->links[l];
    return link->dropping || in_transit(interlink, l) ? NULL : headers_head(&link->receive[1].headers, now);
}

void switch_decide(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now) {
    bool offered[INTERLINK_LINKS][INTERLINK_CLASSES][INTERLINK_INPUTS] = {0};
    unsigned class = 0;
    if (interlink->outbound.state == OUTBOUND_HEADER) {
        int l = interlink_route(interlink, interlink->outbound.header.to, &class);
        if (l < 0)
            cycle->drops = true;
        else
            offered[l][class][INPUT_LOCAL] = true;
    }
    for (unsigned l = 0; l < INTERLINK_LINKS; l++) {
        const struct interlink_header *head = cycle->transit[l] = transit_head(interlink, l, now);
        if (head && interlink_route(interlink, head->to, &class) == (int)(1 - l))
            offered[1 - l][class][INPUT_TRANSIT] = true;
    }
    for (unsigned l = 0; l < INTERLINK_LINKS; l++)
        for (unsigned c = 0; c < INTERLINK_CLASSES; c++) {
            const struct interlink_slot *slot = &interlink->links[l].slots[c];
            const bool *inputs = offered[l][c];
            cycle->passes[l][c] = slot->full || !(inputs[0] || inputs[1]) ? -1
                                  : inputs[0] && inputs[1]                ? (int)(1 - slot->winner)
                                  : inputs[INPUT_LOCAL]                   ? INPUT_LOCAL
                                                                          : INPUT_TRANSIT;
        }
}

static void enter_slot(struct interlink *interlink, struct interlink_slot *slot, unsigned input,
                       const struct interlink_header *header, cycle_t now) {
    const struct interlink_params *params = &interlink->machine->interlink;
    slot->full = true;
    slot->input = slot->winner = input;
    slot->header = *header;
    if (header->beats > params->max_beats)
        interlink_raise(interlink, INTERLINK_FAULT_SWITCH, now);
    if (header->beats > params->rx_beats)
        hazard_report(interlink->hazards, "il.too_long", now, "interlink",
                      "a packet of %u beats is longer than the receive FIFO of %u: it never gets the credit",
                      header->beats, params->rx_beats);
}

/* Transit that has no way on is taken and lost, a beat a cycle. */
static void drop_transit(struct interlink *interlink, unsigned l, const struct interlink_header *head, cycle_t now) {
    struct interlink_link *link = &interlink->links[l];
    report_no_way(interlink, head, now);
    link->dropping = head->beats;
    headers_pop(&link->receive[1].headers);
}

static void transit_update(struct interlink *interlink, unsigned l, struct interlink_cycle *cycle, cycle_t now) {
    struct interlink_link *link = &interlink->links[l];
    if (link->dropping) {
        if (!beats_readable(&link->receive[1].beats, now))
            return;
        beats_pop(&link->receive[1].beats);
        cycle->freed[l][1]++;
        link->dropping--;
        return;
    }
    unsigned class;
    const struct interlink_header *head = cycle->transit[l];
    if (!head)
        return;
    if (interlink_route(interlink, head->to, &class) != (int)(1 - l)) {
        drop_transit(interlink, l, head, now);
        return;
    }
    if (cycle->passes[1 - l][class] != INPUT_TRANSIT) {
        cycle->transit_waits = true;
        return;
    }
    enter_slot(interlink, &interlink->links[1 - l].slots[class], INPUT_TRANSIT, head, now);
    headers_pop(&link->receive[1].headers);
    cycle->transit_passes = true;
}

void switch_update(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now) {
    for (unsigned l = 0; l < INTERLINK_LINKS; l++)
        transit_update(interlink, l, cycle, now);
    /* both are counted once a cycle, even if it happens in both directions */
    interlink->transit_blocked += cycle->transit_waits;
    interlink->transit_packets += cycle->transit_passes;
    for (unsigned l = 0; l < INTERLINK_LINKS; l++)
        for (unsigned c = 0; c < INTERLINK_CLASSES; c++) {
            struct interlink_slot *slot = &interlink->links[l].slots[c];
            if (cycle->passes[l][c] == INPUT_LOCAL)
                enter_slot(interlink, slot, INPUT_LOCAL, &interlink->outbound.header, now);
            slot->owed += cycle->freed[l][c];
        }
}

/* ---- link ---- */

/* Puts a beat on the output register, from where the neighbour stores it. beat: NULL for a credit packet. */
static void send(struct interlink *interlink, unsigned l, const struct interlink_header *header,
                 const struct flit *beat, bool last, cycle_t now) {
    struct interlink_link *link = &interlink->links[l];
    struct interlink_wire *wire = &link->peer->links[link->peer_link].incoming;
    cycle_t on_register = now + 1;
    interlink_trace_event(interlink,
                          &(struct interlink_event){.kind = EVENT_BEAT, .link = l, .header = header, .last = last},
                          on_register);
    uint32_t number = atomic_load_explicit(&wire->pushed, memory_order_relaxed);
    struct interlink_mail *mail = &wire->ring[number & wire->mask];
    mail->stored = on_register + interlink->machine->interlink.pipe_stages + LINK_STORES;
    mail->opens = header != NULL;
    mail->class = link->class;
    if (header)
        mail->header = *header;
    if (beat) {
        mail->beat = *beat;
        link->tx_beats++;
        link->tx_packets += mail->opens;
    }
    cycle_t works = mail->stored + 1;
    atomic_store_explicit(&wire->pushed, number + 1, memory_order_release);
    interlink->progress++;
    if (link->peer->wake)
        link->peer->wake(link->peer->waker, works);
}

/* Class whose credit goes back now, -1: none. */
static int credit_due(const struct interlink *interlink, const struct interlink_link *link) {
    const struct interlink_slot *slots = link->slots;
    for (unsigned c = 0; c < INTERLINK_CLASSES; c++)
        if (slots[c].owed >= interlink->machine->interlink.credit_batch)
            return (int)c;
    if (slots[0].full || slots[1].full)
        return -1;
    return slots[0].owed ? 0 : slots[1].owed ? 1 : -1;
}

static void link_choose(struct interlink *interlink, struct interlink_link *link) {
    int credit = credit_due(interlink, link);
    if (credit >= 0) {
        link->state = TX_CREDIT;
        link->class = credit;
        link->returned = MIN(link->slots[credit].owed, CREDITS_MAX);
        link->slots[credit].owed -= link->returned;
        return;
    }
    for (unsigned c = 0; c < INTERLINK_CLASSES; c++) {
        struct interlink_slot *slot = &link->slots[c];
        if (slot->full && slot->credit >= slot->header.beats) {
            slot->credit -= slot->header.beats;
            link->state = TX_DATA;
            link->class = c;
            link->left = slot->header.beats;
            return;
        }
    }
    link->starved_cycles += link->slots[0].full || link->slots[1].full;
}

static void send_data(struct interlink *interlink, unsigned l, struct interlink_cycle *cycle, cycle_t now) {
    struct interlink_link *link = &interlink->links[l];
    struct interlink_slot *slot = &link->slots[link->class];
    struct interlink_beats *transit = &interlink->links[1 - l].receive[1].beats;
    struct flit beat;
    if (slot->input == INPUT_LOCAL) {
        beat = outbound_beat(interlink, cycle, now);
    } else {
        if (!beats_readable(transit, now))
            return;
        beat = *beats_pop(transit);
        cycle->freed[1 - l][1]++;
    }
    const struct interlink_header *header = link->left == slot->header.beats ? &slot->header : NULL;
    bool last = --link->left == 0;
    send(interlink, l, header, &beat, last, now);
    if (last) {
        link->state = TX_IDLE;
        slot->full = false;
    }
}

void link_step(struct interlink *interlink, unsigned l, struct interlink_cycle *cycle, cycle_t now) {
    struct interlink_link *link = &interlink->links[l];
    link->busy_cycles += link->state != TX_IDLE || link->slots[0].full || link->slots[1].full;
    switch (link->state) {
    case TX_IDLE:
        link_choose(interlink, link);
        break;
    case TX_CREDIT: {
        struct interlink_header header = {.kind = PACKET_CREDIT,
                                          .to = link->peer->mesh,
                                          .from = interlink->mesh,
                                          .txn = link->returned,
                                          .beats = 1,
                                          .field = link->class};
        send(interlink, l, &header, NULL, true, now);
        link->state = TX_IDLE;
        break;
    }
    case TX_DATA:
        send_data(interlink, l, cycle, now);
        break;
    }
}
