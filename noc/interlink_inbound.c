/* The inbound engine of the interlink (noc-and-memory §10.7): one packet at a time, in arrival order. */
#include "noc/interlink_parts.h"

enum {
    BEAT_BYTES = 32
};

/* Takes the next header: of both links' the one that did not win last. */
static void take_header(struct interlink *interlink, cycle_t now) {
    struct interlink_inbound *inbound = &interlink->inbound;
    const struct interlink_header *heads[INTERLINK_LINKS];
    for (unsigned l = 0; l < INTERLINK_LINKS; l++)
        heads[l] = headers_head(&interlink->links[l].receive[0].headers, now);
    if (!heads[0] && !heads[1])
        return;
    unsigned l = heads[0] && heads[1] ? 1 - inbound->winner : heads[1] != NULL;
    inbound->busy = true;
    inbound->link = inbound->winner = l;
    inbound->header = *heads[l];
    inbound->left = inbound->header.beats;
    inbound->address = inbound->header.field & UINT32_MAX;
    headers_pop(&interlink->links[l].receive[0].headers);
}

/* Can a beat of the packet be used in this cycle? */
static bool usable(struct interlink *interlink, cycle_t now) {
    const struct interlink_inbound *inbound = &interlink->inbound;
    bool offering = inbound->write_address && !inbound->address_accepted;
    switch (inbound->header.kind) {
    case PACKET_MEM_WR:
        return !offering && (!inbound->write_data || inbound->data_accepted) &&
               inbound->unanswered < INTERLINK_UNANSWERED;
    case PACKET_NOC_FLIT:
        return inbound->flit == FLIT_NONE || inbound->flit_taken;
    case PACKET_DOORBELL:
        if (inbound->unanswered)
            return false;
        if (!inbound->write_address)
            return true;
        if (!interlink->machine->rtl_defects) /* a write counts as unanswered from its accepted address on only */
            return false;
        hazard_report(interlink->hazards, "il.doorbell_order", now, "interlink",
                      "a doorbell of mesh %u is counted before the write in front of it", inbound->header.from);
        return true;
    default:
        return true;
    }
}

static void count_doorbell(struct interlink *interlink, cycle_t now) {
    const struct interlink_header *header = &interlink->inbound.header;
    struct interlink_bell *doorbell = &interlink->doorbells[header->from % MACHINE_MAX_MESHES];
    doorbell->count++;
    doorbell->tag = header->txn;
    interlink_trace_event(
        interlink, &(struct interlink_event){.kind = EVENT_DOORBELL, .value = header->from, .count = doorbell->count},
        now + 1);
}

/* Into the register toward the mesh: the final node is the flit's own. */
static void load_flit(struct interlink *interlink, const struct flit *beat, cycle_t now) {
    flit_index index = flit_new(interlink->pool);
    struct flit *flit = flit_at(interlink->pool, index);
    *flit = *beat;
    flit->dst_x = beat->txn & 15;
    flit->dst_y = beat->txn >> 4;
    flit->txn = flit->rsvd = 0;
    flit->offered = now + 1;
    interlink->inbound.flit = index;
}

static void use_beat(struct interlink *interlink, const struct flit *beat, cycle_t now) {
    struct interlink_inbound *inbound = &interlink->inbound;
    switch (inbound->header.kind) {
    case PACKET_MEM_WR:
        inbound->write_address = inbound->write_data = true;
        inbound->register_address = inbound->address;
        inbound->register_word = beat->payload;
        inbound->address += BEAT_BYTES;
        break;
    case PACKET_NOC_FLIT:
        load_flit(interlink, beat, now);
        break;
    case PACKET_DOORBELL:
        count_doorbell(interlink, now);
        break;
    default:
        break;
    }
    interlink->progress++;
    inbound->busy = --inbound->left > 0;
}

/* What the owner told of the result registers. */
static void settle(struct interlink *interlink, cycle_t now) {
    struct interlink_inbound *inbound = &interlink->inbound;
    if (inbound->flit_taken) {
        inbound->flit = FLIT_NONE;
        interlink_trace_event(interlink, &(struct interlink_event){.kind = EVENT_INJECTED}, now);
    }
    if (inbound->address_accepted) {
        inbound->write_address = false;
        interlink_trace_event(
            interlink, &(struct interlink_event){.kind = EVENT_WRITE_ADDRESS, .value = inbound->register_address}, now);
    }
    if (inbound->data_accepted)
        inbound->write_data = false;
    if (inbound->response)
        interlink_trace_event(interlink, &(struct interlink_event){.kind = EVENT_WRITE_RESPONSE}, now);
    inbound->unanswered += (unsigned)inbound->address_accepted - (unsigned)inbound->response;
}

void inbound_step(struct interlink *interlink, struct interlink_cycle *cycle, cycle_t now) {
    struct interlink_inbound *inbound = &interlink->inbound;
    bool busy = inbound->busy;
    struct interlink_beats *beats = &interlink->links[inbound->link].receive[0].beats;
    bool uses = busy && beats_readable(beats, now) && usable(interlink, now);
    settle(interlink, now);
    if (uses) {
        cycle->freed[inbound->link][0]++;
        use_beat(interlink, beats_pop(beats), now);
    }
    if (!busy)
        take_header(interlink, now);
    inbound->address_accepted = inbound->data_accepted = inbound->response = inbound->flit_taken = false;
}
