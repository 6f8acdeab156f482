/* One memory port: intake queues, entry and plain reads, write slots and the one output register toward the mesh
 * (noc-and-memory §6.4–6.9; all three machines in one piece: §15.3). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/path.h"
#include "model/account.h"
#include "model/flit.h"
#include "model/hazard.h"
#include "model/machine.h"
#include "noc/fifo.h"
#include "noc/link.h"

enum {
    PORT_SLOTS_MAX = 64,
    ENTRY_WORDS = 4,        /* noc-and-memory §6.6 */
    ENTRY_SOURCE_WORDS = 8, /* FP16 words of an entry that is converted on the fetch */
    RECEIVERS_MAX = 4,
    SLOT_WORDS = 8,      /* WBURST of the published hardware */
    SLOT_WORDS_MAX = 16, /* longest burst a machine may be given (memory.write_burst) */
};

enum port_cause {
    PORT_IDLE,
    PORT_FETCH, /* waiting for or taking beats of an entry */
    PORT_HOLD,  /* a finished entry waits for the emit buffer or the converter */
    PORT_EMIT,  /* handing an entry out */
    PORT_PLAIN_READ,
    PORT_WRITE,      /* a write burst on the bus, nothing else going on */
    PORT_LINK_BUSY,  /* the output register was refused by the mesh */
    PORT_LINK_AGENT, /* the dispatch agent's flit had the link */
    PORT_CAUSES,
};
extern const char *const port_cause_names[PORT_CAUSES];

struct port_counts {
    uint64_t in[FLIT_TYPES], out[FLIT_TYPES]; /* flits from and to the mesh, engine traffic */
    uint64_t requests, entries;               /* entry runs taken; entries moved to the emit buffer */
    uint64_t reads_issued, writes_issued;     /* the two counters of AUX_STAT */
    uint64_t read_words, write_words;         /* beats taken into the return skid; words handed over */
    uint64_t fetch_cycles, hold_cycles, emit_cycles, write_cycles;
    uint64_t refused_in, refused_out; /* cycles an offered flit was refused by the port / by the mesh */
    uint64_t no_slot_cycles;          /* cycles with no free write slot */
    uint64_t blocked_open;            /* cycles a write request at the queue head had no slot */
};

enum slot_state {
    SLOT_FREE,
    SLOT_OPEN,
    SLOT_READY,
    SLOT_ISSUED,
};

struct write_slot {
    enum slot_state state;
    cycle_t free_from; /* SLOT_FREE: usable from this cycle on */
    cycle_t match_from;
    uint16_t src_x, src_y;
    uint8_t tag;
    uint64_t address;
    unsigned expected, received;
    cycle_t ready_since; /* SLOT_READY */
    struct word256 words[SLOT_WORDS_MAX];
};

enum fetch_state {
    FETCH_IDLE,
    FETCH_BEATS,
    FETCH_HOLD,
};

/* An entry run: parameters of one streaming request. */
struct entry_run {
    uint64_t address;   /* of the entry being fetched */
    unsigned unoffered; /* entries whose address has not been offered yet */
    unsigned unmoved;   /* entries that have not reached the emit buffer */
    unsigned words;     /* words an entry, 1..4 */
    unsigned beats;     /* memory words an entry */
    bool convert, columns;
    bool gather;       /* four lanes from places of their own (compute-units §10.1) */
    uint64_t lanes[4]; /* their addresses */
    uint8_t exist;     /* bit a lane: it has one, else it is zeros */
    bool staged;       /* from the port's own store */
    uint8_t tag;       /* of the entry being fetched */
    uint8_t note;
    unsigned receivers;
    uint16_t x[RECEIVERS_MAX], y[RECEIVERS_MAX];
};

enum writer_state {
    WRITER_IDLE,
    WRITER_READ,  /* a plain read */
    WRITER_WRITE, /* address and data */
    WRITER_WAIT,  /* for the response */
};

struct mem_port {
    const char *name;
    unsigned x, y, index;
    unsigned mesh;                /* number of this mesh */
    unsigned fall_through, limit; /* stored flits at which the port is busy */
    unsigned slot_count;
    unsigned slot_words; /* words a slot stores: later ones of a longer burst overwrite the first */
    bool fetch_transform, rtl_defects, tensor_fill;
    bool serial_entries; /* the next entry's address goes out when the last one has been handed out */
    uint64_t dram_size;
    bool split_pages;                              /* bursts end at 4 KB pages */
    unsigned read_rest, write_rest, responses_due; /* words of a split burst still to be asked for; answers to come */
    int staging;                                   /* enum staging_kind */
    struct stage *stage;                           /* of this port alone, or NULL; reached by its units only (§7.1) */
    uint64_t stage_bytes;
    cycle_t staged_at, staged_at_write; /* its next entry or word is there; takes words of a write from then on */
    unsigned plain_unfetched;
    uint64_t plain_address; /* of a staged plain read, else unused */
    bool plain_staged, write_staged;
    /* For reports of races, when set: the memory behind, and all ports before it. */
    struct dram *dram;
    const struct mem_port *ports;
    unsigned port_count;
    struct flit_pool *pool;
    struct hazard_log *hazards;
    struct link_sink out;
    struct mem_requester requester;
    struct fifo reads, writes, ready;
    /* return skid */
    struct word256 skid[2];
    unsigned skid_head, skid_held;
    /* fetch, hold, emit */
    enum fetch_state fetch;
    bool converter_start; /* first cycle of a converting fetch */
    struct entry_run run;
    unsigned beats_taken;
    cycle_t hold_ready;
    struct word256 entry[ENTRY_SOURCE_WORDS];
    bool emit_full;
    struct word256 emit[ENTRY_WORDS];
    struct entry_run emit_run; /* receivers, words, tag of the buffer */
    unsigned emit_word, emit_receiver;
    /* plain reads and writes */
    enum writer_state writer;
    unsigned plain_left;
    uint16_t plain_x, plain_y;
    uint8_t plain_tag;
    unsigned slot; /* being written */
    unsigned words_offered, words_accepted;
    bool response_latched;
    struct write_slot slots[PORT_SLOTS_MAX];
    unsigned slots_used; /* not free */
    unsigned idle_steps; /* since it had anything to do */
    flit_index output;
    struct account account;
    struct port_counts counts;
    struct port_trace *trace;
};

/* Called for the events that reference recordings name, when set. */
struct port_trace {
    void *self;
    void (*event)(void *self, const struct mem_port *port, const char *what, cycle_t now); /* may be NULL */
    /* a flit from (in) or to the mesh, the dispatch agent's included; may be NULL */
    void (*flit)(void *self, const struct mem_port *port, const struct flit *flit, bool in, cycle_t now);
};

static inline void port_trace_flit(const struct mem_port *port, const struct flit *flit, bool in, cycle_t now) {
    if (port->trace && port->trace->flit)
        port->trace->flit(port->trace->self, port, flit, in, now);
}

void port_init(struct mem_port *port, const struct machine *machine, unsigned index, struct flit_pool *pool,
               struct hazard_log *hazards);
void port_clear(struct mem_port *port);
/* Which mesh this is; 0 unless told. */
void port_set_mesh(struct mem_port *port, unsigned mesh);

/* Memory-class flits (types 0, 1, 4): room in both queues at the start of the cycle. */
bool port_accepts(struct mem_port *port, cycle_t now);
void port_deliver(struct mem_port *port, flit_index flit, cycle_t now);

/* One cycle, after path_step(). link_taken: the agent's or the interlink's flit had the link of this port in this
 * cycle. */
void port_step(struct mem_port *port, cycle_t now, bool link_taken);

/* Nothing stored, nothing on its way. */
bool port_quiet(const struct mem_port *port);
/* A step would change nothing until the next flit arrives. */
bool port_sleeps(const struct mem_port *port);
/* A sentence about what the port waits for, or NULL. Free with g_free. */
char *port_waits_for(const struct mem_port *port);
