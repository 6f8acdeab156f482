/* The interlink; see interlink.h. Section numbers are those of noc-and-memory. */
#include "noc/interlink.h"

#include "model/isa/host.h"
#include "noc/interlink_parts.h"

enum {
    ENCAP_SETTLES = 2, /* cycles before a flit's FIFO write */
    STATUS_KIND = 0x494C,
    STATUS_VERSION = 2,
    STATUS_LINKS = 4,
};

/* ---- life ---- */

static unsigned position_of(const struct machine *machine, unsigned mesh) {
    unsigned position = 0;
    while (position < machine->mesh_count && machine->line[position] != mesh)
        position++;
    return position; /* a mesh that is not there lies beyond the upper end */
}

static void receive_init(struct interlink_receive *receive, unsigned room) {
    beats_init(&receive->beats, room);
    receive->headers = (struct interlink_headers){.ring = g_new0(struct interlink_arrival, room), .capacity = room};
}

static void wire_init(struct interlink_wire *wire, unsigned room) {
    uint32_t size = 1;
    while (size < room)
        size *= 2;
    *wire = (struct interlink_wire){.ring = g_new0(struct interlink_mail, size), .mask = size - 1};
}

void interlink_init(struct interlink *interlink, const struct machine *machine, unsigned mesh, struct flit_pool *pool,
                    struct hazard_log *hazards) {
    const struct interlink_params *params = &machine->interlink;
    *interlink = (struct interlink){.machine = machine,
                                    .pool = pool,
                                    .hazards = hazards,
                                    .mesh = mesh,
                                    .position = position_of(machine, mesh),
                                    .enabled = true,
                                    .encap_count = params->per_source ? ENCAPS_PER_SOURCE : 1,
                                    .arrived = FLIT_NONE,
                                    .inbound = {.winner = 1, .flit = FLIT_NONE}};
    interlink->encaps = g_new0(struct interlink_encap, interlink->encap_count);
    for (unsigned e = 0; e < interlink->encap_count; e++)
        beats_init(&interlink->encaps[e].beats, 2 * params->max_beats);
    for (unsigned l = 0; l < INTERLINK_LINKS; l++) {
        struct interlink_link *link = &interlink->links[l];
        wire_init(&link->incoming, params->pipe_stages + WIRE_ROOM);
        for (unsigned c = 0; c < INTERLINK_CLASSES; c++) {
            link->slots[c] = (struct interlink_slot){.winner = INPUT_TRANSIT, .credit = params->rx_beats};
            receive_init(&link->receive[c], params->rx_beats);
        }
    }
}

void interlink_clear(struct interlink *interlink) {
    for (unsigned e = 0; e < interlink->encap_count; e++)
        g_free(interlink->encaps[e].beats.ring);
    g_free(interlink->encaps);
    for (unsigned l = 0; l < INTERLINK_LINKS; l++) {
        g_free(interlink->links[l].incoming.ring);
        for (unsigned c = 0; c < INTERLINK_CLASSES; c++) {
            g_free(interlink->links[l].receive[c].beats.ring);
            g_free(interlink->links[l].receive[c].headers.ring);
        }
    }
    *interlink = (struct interlink){0};
}

void interlink_join(struct interlink *lower, struct interlink *upper) {
    lower->links[1].peer = upper;
    lower->links[1].peer_link = 0;
    upper->links[0].peer = lower;
    upper->links[0].peer_link = 1;
}

/* ---- traces and faults ---- */

void interlink_trace_event(const struct interlink *interlink, const struct interlink_event *event, cycle_t at) {
    if (interlink->trace)
        interlink->trace->event(interlink->trace->self, event, at);
}

void interlink_raise(struct interlink *interlink, unsigned fault, cycle_t now) {
    if ((interlink->faults & fault) == fault)
        return;
    interlink->faults |= fault;
    interlink_trace_event(interlink, &(struct interlink_event){.kind = EVENT_FAULTS, .value = interlink->faults},
                          now + 1);
}

int interlink_route(const struct interlink *interlink, unsigned to, unsigned *class) {
    if (to == interlink->mesh)
        return -1;
    unsigned l = position_of(interlink->machine, to) > interlink->position;
    const struct interlink *peer = interlink->links[l].peer;
    if (!peer)
        return -1;
    *class = peer->mesh != to;
    return (int)l;
}

/* ---- encapsulator (§10.5) ---- */

static bool same_burst(const struct interlink_encap *encap, const struct flit *flit) {
    return encap->mesh == (flit->rsvd & 3) && encap->final == flit->txn && encap->src_x == flit->src_x &&
           encap->src_y == flit->src_y;
}

/* The packet the flit goes into: the open one of its burst, else a free one; NULL if it has to wait. */
static struct interlink_encap *encap_for(const struct interlink *interlink, const struct flit *flit) {
    struct interlink_encap *unused = NULL;
    for (unsigned e = 0; e < interlink->encap_count; e++) {
        struct interlink_encap *encap = &interlink->encaps[e];
        if (encap->open && same_burst(encap, flit))
            return encap;
        if (!unused && !encap->open && !encap->closed)
            unused = encap;
    }
    return unused;
}

bool interlink_takes(const struct interlink *interlink, const struct flit *flit) {
    return !interlink->enabled || encap_for(interlink, flit);
}

void interlink_take(struct interlink *interlink, flit_index flit) {
    g_assert(interlink->arrived == FLIT_NONE);
    interlink->arrived = flit;
}

void interlink_refused(struct interlink *interlink, const struct flit *flit, cycle_t now) {
    const struct interlink_encap *open = NULL;
    for (unsigned e = 0; e < interlink->encap_count; e++)
        if (interlink->encaps[e].open)
            open = &interlink->encaps[e];
    if (!open || !interlink->enabled)
        return; /* a closed packet is being sent: it will end */
    hazard_report(
        interlink->hazards, "il.encap_interleave", now, "interlink",
        "a flit of (%u,%u) for mesh %u waits in front of the burst of (%u,%u) that is being collected: neither "
        "can go on",
        flit->src_x, flit->src_y, flit->rsvd & 3, open->src_x, open->src_y);
}

static void check_flit(struct interlink *interlink, const struct flit *flit, cycle_t now) {
    if (flit->txn == 0)
        hazard_report(interlink->hazards, "il.no_final", now, "interlink",
                      "a marked flit from (%u,%u) for mesh %u names no final node", flit->src_x, flit->src_y,
                      flit->rsvd & 3);
}

/* First flit of a packet: its key, and the reply address of a unit's burst. */
static void encap_open(struct interlink *interlink, struct interlink_encap *encap, const struct flit *flit,
                       cycle_t now) {
    encap->open = true;
    encap->mesh = flit->rsvd & 3;
    encap->final = flit->txn;
    encap->src_x = flit->src_x;
    encap->src_y = flit->src_y;
    encap->flits = 0;
    if (flit->type != FLIT_CU_DATA || word_get(&flit->payload, 208, 8))
        return;
    interlink_raise(interlink, INTERLINK_FAULT_ACK0, now);
    hazard_report(interlink->hazards, "il.no_ack_node", now, "interlink",
                  "a burst of (%u,%u) to mesh %u names no node for its acknowledgement", flit->src_x, flit->src_y,
                  encap->mesh);
}

/* The flit taken in this cycle. */
static void encap_absorb(struct interlink *interlink, cycle_t now) {
    flit_index index = interlink->arrived;
    if (index == FLIT_NONE)
        return;
    interlink->arrived = FLIT_NONE;
    const struct flit *flit = flit_at(interlink->pool, index);
    if (!interlink->enabled) {
        interlink_raise(interlink, INTERLINK_FAULT_INJ, now);
        hazard_report(interlink->hazards, "il.dropped", now, "interlink",
                      "a marked flit from (%u,%u) is dropped: the interlink is disabled", flit->src_x, flit->src_y);
        flit_free(interlink->pool, index);
        return;
    }
    interlink_trace_event(interlink, &(struct interlink_event){.kind = EVENT_TAKEN}, now);
    check_flit(interlink, flit, now);
    struct interlink_encap *encap = encap_for(interlink, flit);
    if (!encap->open)
        encap_open(interlink, encap, flit, now);
    beats_push(&encap->beats, flit, now + ENCAP_SETTLES + interlink->machine->noc.fall_through);
    encap->closed = ++encap->flits == interlink->machine->interlink.max_beats || flit->last;
    if (encap->closed) {
        encap->open = false;
        encap->order = interlink->encap_order++;
        if (encap->flits == 1)
            hazard_report(interlink->hazards, "il.single_flit", now, "interlink",
                          "a packet of one flit from (%u,%u): the hardware sends what its FIFO showed before",
                          flit->src_x, flit->src_y);
    }
    interlink->progress++;
    flit_free(interlink->pool, index);
}

void interlink_watch(struct interlink *interlink, const struct flit *flit, cycle_t now) {
    if (flit->type == FLIT_MEM_RD_REQ || flit->type == FLIT_MEM_WR_REQ) {
        uint64_t address = word_get(&flit->payload, 216, 40);
        if (!(address >> 39) && (address >> 36 & 3) != interlink->mesh)
            interlink_raise(interlink, INTERLINK_FAULT_RD_REMOTE, now);
    }
    if (flit->type != FLIT_CU_DATA && flit->type != FLIT_MEM_WR_DATA)
        return;
    for (unsigned e = 0; e < interlink->encap_count; e++) {
        const struct interlink_encap *encap = &interlink->encaps[e];
        if (encap->open && encap->src_x == flit->src_x && encap->src_y == flit->src_y)
            hazard_report(interlink->hazards, "il.unmarked_flit", now, "interlink",
                          "(%u,%u) sends a flit without the marker inside its burst to mesh %u", flit->src_x,
                          flit->src_y, encap->mesh);
    }
}

/* ---- registers (§10.8) ---- */

static void control(struct interlink *interlink, uint64_t value, cycle_t now) {
    struct interlink_control fields;
    interlink_control_decode(value, &fields);
    interlink->enabled = fields.enable;
    if (fields.clear_doorbells)
        for (unsigned m = 0; m < MACHINE_MAX_MESHES; m++)
            interlink->doorbells[m] = (struct interlink_bell){0};
    if (fields.clear_faults && interlink->faults) {
        interlink->faults = 0;
        interlink_trace_event(interlink, &(struct interlink_event){.kind = EVENT_FAULTS}, now + 1);
    }
}

static void ring(struct interlink *interlink, uint64_t value, cycle_t now) {
    struct interlink_doorbell fields;
    interlink_doorbell_decode(value, &fields);
    if (interlink->ring_pending)
        hazard_report(interlink->hazards, "il.doorbell_lost", now, "interlink",
                      "a doorbell to mesh %u with tag %u is overwritten before it left", interlink->ring_mesh,
                      interlink->ring_tag);
    interlink->ring_pending = true;
    interlink->ring_mesh = fields.mesh;
    interlink->ring_tag = fields.tag;
}

void interlink_write(struct interlink *interlink, uint32_t offset, uint64_t value, cycle_t now) {
    struct interlink_identity fields;
    switch (offset & ~7u) {
    case INTERLINK_CONTROL:
        control(interlink, value, now);
        break;
    case INTERLINK_IDENTITY:
        interlink_identity_decode(value, &fields);
        interlink->mesh = fields.mesh;
        break;
    case INTERLINK_DOORBELL:
        ring(interlink, value, now);
        break;
    default:
        break;
    }
}

static uint64_t pair(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

static uint64_t credit_bytes(const struct interlink_link *link) {
    const struct interlink_slot *slots = link->slots;
    return (slots[1].credit & 255u) << 24 | (slots[0].credit & 255u) << 16 | (slots[1].owed & 255u) << 8 |
           (slots[0].owed & 255u);
}

static uint64_t identity(const struct interlink *interlink) {
    return interlink->enabled ? UINT64_C(1) << 28 | STATUS_LINKS << 24 | (uint64_t)interlink->mesh << 20 |
                                    STATUS_VERSION << 16 | STATUS_KIND
                              : 0;
}

uint64_t interlink_status(const struct interlink *interlink, unsigned index) {
    const struct interlink_link *links = interlink->links;
    unsigned l = index == 11 || (index > 7 && index < 10);
    switch (index) {
    case 0:
        return identity(interlink);
    case 1:
        return interlink->faults;
    case 2:
    case 3:
    case 4:
    case 5:
        return pair(interlink->doorbells[index - 2].tag, interlink->doorbells[index - 2].count);
    case 6:
    case 8:
        return pair(links[l].tx_beats, links[l].tx_packets);
    case 7:
    case 9:
        return pair(links[l].rx_beats, links[l].rx_packets);
    case 10:
    case 11:
        return pair((uint32_t)interlink->now - links[l].busy_cycles, links[l].starved_cycles);
    case 12:
        return pair(interlink->transit_blocked, interlink->transit_packets);
    case 13:
        return credit_bytes(&links[1]) << 32 | credit_bytes(&links[0]);
    case 14:
        return interlink->doorbells_sent;
    case 15:
        return interlink->local_blocked;
    default:
        return 0;
    }
}

/* ---- one cycle ---- */

/* The next mail on the way to a link, NULL if there is none. */
static const struct interlink_mail *next_mail(const struct interlink_wire *wire) {
    return wire->taken == atomic_load_explicit(&wire->pushed, memory_order_acquire)
               ? NULL
               : &wire->ring[wire->taken & wire->mask];
}

cycle_t interlink_incoming(const struct interlink *interlink) {
    cycle_t first = CYCLE_NEVER;
    for (unsigned l = 0; l < INTERLINK_LINKS; l++) {
        const struct interlink_mail *mail = next_mail(&interlink->links[l].incoming);
        if (mail)
            first = MIN(first, mail->stored + 1);
    }
    return first;
}

static void store(struct interlink *interlink, struct interlink_link *link, const struct interlink_mail *mail) {
    if (mail->opens && mail->header.kind == PACKET_CREDIT) {
        link->slots[mail->header.field].credit += mail->header.txn;
        return;
    }
    struct interlink_receive *receive = &link->receive[mail->class];
    cycle_t readable = mail->stored + interlink->machine->noc.fall_through;
    if (mail->opens)
        headers_push(&receive->headers, &mail->header, readable);
    beats_push(&receive->beats, &mail->beat, readable);
    link->rx_beats++;
    link->rx_packets += mail->opens;
}

void interlink_begin(struct interlink *interlink, cycle_t now) {
    interlink->now = now;
    interlink->word.taken = false;
    for (unsigned l = 0; l < INTERLINK_LINKS; l++) {
        struct interlink_link *link = &interlink->links[l];
        const struct interlink_mail *mail;
        while ((mail = next_mail(&link->incoming)) && mail->stored < now) {
            store(interlink, link, mail);
            link->incoming.taken++;
        }
    }
}

void interlink_step(struct interlink *interlink, cycle_t now) {
    struct interlink_cycle cycle = {0};
    switch_decide(interlink, &cycle, now);
    outbound_decide(interlink, &cycle);
    for (unsigned l = 0; l < INTERLINK_LINKS; l++)
        if (interlink->links[l].peer)
            link_step(interlink, l, &cycle, now);
    inbound_step(interlink, &cycle, now);
    outbound_update(interlink, &cycle, now);
    switch_update(interlink, &cycle, now);
    encap_absorb(interlink, now);
}

static cycle_t link_due(const struct interlink_link *link, cycle_t now) {
    cycle_t due = CYCLE_NEVER;
    if (link->state != TX_IDLE || link->dropping)
        return now + 1;
    for (unsigned c = 0; c < INTERLINK_CLASSES; c++) {
        if (link->slots[c].full || link->slots[c].owed)
            return now + 1;
        const struct interlink_headers *headers = &link->receive[c].headers;
        if (headers->count)
            due = MIN(due, MAX(headers->ring[headers->head].ready, now + 1));
    }
    return due;
}

cycle_t interlink_due(const struct interlink *interlink, cycle_t now) {
    const struct interlink_inbound *inbound = &interlink->inbound;
    if (interlink->outbound.state != OUTBOUND_IDLE || interlink->word.waiting || interlink->ring_pending ||
        inbound->busy || inbound->write_address || inbound->write_data || inbound->flit != FLIT_NONE ||
        inbound->unanswered)
        return now + 1;
    for (unsigned e = 0; e < interlink->encap_count; e++)
        if (interlink->encaps[e].closed)
            return now + 1;
    cycle_t due = MIN(link_due(&interlink->links[0], now), link_due(&interlink->links[1], now));
    return MIN(due, MAX(interlink_incoming(interlink), now + 1));
}

bool interlink_quiet(const struct interlink *interlink) {
    for (unsigned e = 0; e < interlink->encap_count; e++)
        if (interlink->encaps[e].open)
            return false;
    return interlink_due(interlink, 0) == CYCLE_NEVER;
}
