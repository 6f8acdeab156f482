/* The interlink of one mesh (noc-and-memory §10): what leaves the mesh is made into packets, arbitrated, switched and
 * sent over up to two links under credit; what arrives is passed on along the line, written to memory, put into the
 * mesh or counted. It lives in the memory agent and is stepped with it.
 *
 * Nothing crosses between two meshes but stamped beats and credits, which work three cycles after they were decided at
 * the earliest. So meshes may be stepped in any order within a cycle, or at the same time.
 *
 * Order within a cycle: interlink_begin(); then flits may be taken from the mesh (interlink_takes(), interlink_take());
 * the owner tells what happened to the injected flit and the inbound write; interlink_step() last. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/cycle.h"
#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"

enum interlink_kind {
    PACKET_MEM_WR = 1,
    PACKET_NOC_FLIT = 2,
    PACKET_DOORBELL = 3,
    PACKET_CREDIT = 4,
};

enum {
    INTERLINK_LINKS = 2,   /* 0: to the neighbour one position lower in the line, 1: one higher */
    INTERLINK_CLASSES = 2, /* 0: the packet ends at the neighbour, 1: the neighbour forwards it */
    INTERLINK_SOURCES = 3, /* of the outbound arbiter, in its cyclic order */
    INTERLINK_UNANSWERED = 8,
    INTERLINK_STATUS_WORDS = 16,
};

/* Bits of the sticky fault register. */
enum interlink_fault {
    INTERLINK_FAULT_RD_REMOTE = 1,
    INTERLINK_FAULT_ACK0 = 2,
    INTERLINK_FAULT_SWITCH = 4,
    INTERLINK_FAULT_AXI = 8,
    INTERLINK_FAULT_INJ = 16,
};

struct interlink_header {
    uint8_t kind; /* enum interlink_kind */
    uint8_t to, from;
    uint8_t txn;
    unsigned beats;
    uint64_t field; /* header bits 71:32: address, final node or class */
};

/* A beat is a flit; of a memory write only the payload counts. */
struct interlink_beat {
    cycle_t ready; /* first cycle in which it can be the visible head */
    struct flit flit;
};

struct interlink_beats {
    struct interlink_beat *ring;
    unsigned capacity, head, count;
};

struct interlink_arrival {
    cycle_t ready;
    struct interlink_header header;
};

struct interlink_headers {
    struct interlink_arrival *ring;
    unsigned capacity, head, count;
};

/* Receive side of one class of a link. */
struct interlink_receive {
    struct interlink_headers headers;
    struct interlink_beats beats;
};

/* What a neighbour has put on the link: a credit packet or a beat. */
struct interlink_mail {
    cycle_t stored; /* cycle in which it is written to its FIFO or counter: works from the next on */
    bool opens;     /* has a header: the first beat of a packet */
    struct interlink_header header;
    unsigned class;
    struct flit beat;
};

/* One direction of a link, from the sender's output register to the receiver's FIFOs. One writes, one reads, and they
 * may be stepped at the same time. */
struct interlink_wire {
    struct interlink_mail *ring;
    uint32_t mask;
    _Atomic uint32_t pushed; /* by the sender */
    uint32_t taken;          /* by the receiver */
};

enum interlink_tx_state {
    TX_IDLE,
    TX_CREDIT,
    TX_DATA,
};

/* Header slot of one class with the merge in front of it: input 0 is this mesh's own traffic, 1 is transit. */
struct interlink_slot {
    bool full;
    struct interlink_header header;
    unsigned input;  /* the merge is locked to it while full */
    unsigned winner; /* input that won last */
    unsigned credit;
    unsigned owed; /* beats taken out of our own receive FIFO of this class */
};

struct interlink;

struct interlink_link {
    struct interlink *peer; /* NULL at an end of the line */
    unsigned peer_link;
    struct interlink_slot slots[INTERLINK_CLASSES];
    struct interlink_receive receive[INTERLINK_CLASSES];
    enum interlink_tx_state state;
    unsigned class, left; /* of the packet being sent */
    unsigned returned;    /* credits in the packet being sent */
    unsigned dropping;    /* beats still to come of a transit packet that has no way */
    struct interlink_wire incoming;
    uint32_t tx_packets, tx_beats, rx_packets, rx_beats;
    uint32_t busy_cycles, starved_cycles; /* not idle; idle with a header that waits for credit */
};

/* A packet being collected from marked flits. */
struct interlink_encap {
    bool open, closed;
    uint8_t mesh, final, src_x, src_y;
    unsigned flits;
    uint64_t order; /* closed packets leave in this order */
    struct interlink_beats beats;
    struct flit shown; /* output register of the FIFO: what a single-flit packet sends with rtl_defects */
};

enum interlink_arbiter_state {
    OUTBOUND_IDLE,
    OUTBOUND_HEADER,
    OUTBOUND_BEATS,
    OUTBOUND_DROP,
};

enum interlink_source {
    SOURCE_WORD,
    SOURCE_ENCAP,
    SOURCE_DOORBELL,
};

struct interlink_outbound {
    enum interlink_arbiter_state state;
    enum interlink_source source; /* last winner */
    struct interlink_header header;
    struct interlink_encap *encap;
    struct word256 word;
    unsigned left;
};

/* A word of the mover for another mesh, offered by the splitter (§10.4). */
struct interlink_word {
    bool waiting;
    bool taken; /* in the current cycle: its header has left */
    unsigned mesh;
    uint64_t address;
    struct word256 word;
};

struct interlink_inbound {
    bool busy;
    unsigned link;
    unsigned winner; /* link that won last */
    struct interlink_header header;
    unsigned left;
    uint64_t address;
    /* Result registers. */
    bool write_address, write_data; /* still offered */
    uint64_t register_address;
    struct word256 register_word;
    flit_index flit; /* toward the mesh, FLIT_NONE */
    unsigned unanswered;
    /* Told by the owner for the current cycle. */
    bool address_accepted, data_accepted, response, flit_taken;
};

struct interlink_bell {
    uint32_t count;
    uint8_t tag;
};

enum interlink_event_kind {
    EVENT_BEAT,           /* on a link's output register: link, header of the first beat, last */
    EVENT_TAKEN,          /* the encapsulator takes a flit */
    EVENT_INJECTED,       /* a flit that came over a link enters the mesh */
    EVENT_WRITE_ADDRESS,  /* of an inbound write, accepted: value */
    EVENT_WRITE_RESPONSE, /* to an inbound write */
    EVENT_DOORBELL,       /* counted: value is the source mesh, count the new number */
    EVENT_FAULTS,         /* the fault register shows value */
};

struct interlink_event {
    enum interlink_event_kind kind;
    unsigned link;
    const struct interlink_header *header;
    bool last;
    uint64_t value, count;
};

struct interlink_trace {
    void *self;
    void (*event)(void *self, const struct interlink_event *event, cycle_t at);
};

struct interlink {
    const struct machine *machine; /* of the whole line */
    struct flit_pool *pool;
    struct hazard_log *hazards;
    unsigned mesh, position;
    bool enabled;
    uint8_t faults;
    cycle_t now; /* cycle being stepped */
    struct interlink_link links[INTERLINK_LINKS];
    struct interlink_encap *encaps;
    unsigned encap_count;
    uint64_t encap_order;
    flit_index arrived; /* taken from a port in this cycle */
    struct interlink_outbound outbound;
    struct interlink_word word;
    bool ring_pending;
    uint8_t ring_mesh, ring_tag;
    struct interlink_inbound inbound;
    struct interlink_bell doorbells[MACHINE_MAX_MESHES];
    uint32_t doorbells_sent, local_blocked, transit_blocked, transit_packets;
    uint64_t progress; /* grows with every beat sent or used */
    void *waker;       /* of the owner: a neighbour has sent something that works from cycle `at` on */
    void (*wake)(void *waker, cycle_t at);
    struct interlink_trace *trace;
};

/* machine: the whole line. mesh: the number of this one, one of machine->line. */
void interlink_init(struct interlink *interlink, const struct machine *machine, unsigned mesh, struct flit_pool *pool,
                    struct hazard_log *hazards);
void interlink_clear(struct interlink *interlink);
/* Joins link 1 of `lower` to link 0 of `upper`. */
void interlink_join(struct interlink *lower, struct interlink *upper);

/* First cycle in which what the neighbours have sent so far works, CYCLE_NEVER if nothing is on its way. */
cycle_t interlink_incoming(const struct interlink *interlink);
/* Start of a cycle: what has come over the links goes into FIFOs and counters. */
void interlink_begin(struct interlink *interlink, cycle_t now);
/* May a marked flit be taken (or dropped) in this cycle? From the state at its start; a flit of another burst than the
 * open one has to wait. */
bool interlink_takes(const struct interlink *interlink, const struct flit *flit);
/* Takes the flit; at most one a cycle. */
void interlink_take(struct interlink *interlink, flit_index flit);
/* A marked flit that the selected port offers is refused: reported if nothing can ever clear that. */
void interlink_refused(struct interlink *interlink, const struct flit *flit, cycle_t now);
/* An unmarked flit at a memory port: foreign addresses and broken bursts are noticed here. */
void interlink_watch(struct interlink *interlink, const struct flit *flit, cycle_t now);
void interlink_step(struct interlink *interlink, cycle_t now);
/* Next cycle to be stepped after interlink_step(), CYCLE_NEVER when nothing is stored or on its way to this mesh. */
cycle_t interlink_due(const struct interlink *interlink, cycle_t now);
bool interlink_quiet(const struct interlink *interlink);

/* A register write that acts in cycle now, visible in the next. */
void interlink_write(struct interlink *interlink, uint32_t offset, uint64_t value, cycle_t now);
/* Status word in the cycle of the last interlink_begin(). */
uint64_t interlink_status(const struct interlink *interlink, unsigned index);
