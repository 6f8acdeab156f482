/* The described machine: what is where, how large, how slow. Filled from JSON by config.c; every parameter is one row
 * of the table in keys.c (default, range, unit, sentence), under the path it has here: noc.fifo_depth is
 * `noc.fifo_depth`. Where units and ports stand comes from map.c. Nothing here changes while a run goes on. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "model/cycle.h"

enum unit_kind {
    UNIT_CLUSTER,
    UNIT_VECTOR,
    UNIT_PLUGIN, /* a registered type of its own token */
};

enum machine_preset {
    PRESET_BENCH, /* module defaults, memory at once: the system bench the published tables come from */
    PRESET_SHIP,  /* the generated ships (noc-and-memory §11.3, column "ship value") */
    PRESETS,
};

enum memory_attachment {
    MEMORY_CONVERGED, /* all requesters through one arbiter and crossing queues to one channel */
    MEMORY_PER_PORT,  /* every requester on a channel of its own, no crossing */
};

enum binding_kind {
    BINDING_NEAREST,  /* smallest Manhattan distance, ties to the lower port (noc-and-memory §11.1) */
    BINDING_BALANCED, /* nearest of the ports that serve fewer units than their equal share */
    BINDING_FIRST,    /* every unit at port 0 */
};

enum arbitration_kind {
    ARBITRATION_FREE_RUNNING,
    ARBITRATION_ROUND_ROBIN,
    ARBITRATION_OLDEST_FIRST,
    ARBITRATION_MATRIX,
};

enum routing_kind {
    ROUTING_XY,
    ROUTING_YX,
    ROUTING_WEST_FIRST,
    ROUTING_ODD_EVEN,
    ROUTING_TABLE,
};

enum topology_kind {
    TOPOLOGY_MESH,
    TOPOLOGY_TORUS,
    TOPOLOGY_CONCENTRATED,
};

/* How flits are dealt to the virtual channels. */
enum vc_assignment {
    VC_FREE,     /* at every hop the channel with most room: flits of a pair may overtake each other */
    VC_BY_CLASS, /* by message class, kept to the end: order within a pair and class */
    VC_BY_PAIR,  /* by source and destination, kept to the end: order within a pair */
};

enum sweep_wait_kind {
    SWEEP_WAIT_RETIRED,
    SWEEP_WAIT_ISSUED,
};

enum assembly_kind {
    ASSEMBLY_DIRECT,   /* every word straight to its slice of its entry */
    ASSEMBLY_REGISTER, /* through one entry register, as the published hardware */
};

enum staging_kind {
    STAGING_OFF,
    STAGING_CONVERGED,
    STAGING_PER_PORT,
};

/* noc.* — routers and links (noc-and-memory §0.3, §3). */
struct noc_params {
    unsigned fifo_depth;    /* declared depth of a router input FIFO */
    unsigned fall_through;  /* F: cycles from write to read of a FIFO */
    unsigned fifo_extra;    /* words a FIFO holds beyond its declared depth */
    unsigned arbiter_phase; /* pointer of every output in cycle 0 of the run, 0..4 */
    unsigned link_latency;  /* extra cycles on every router-to-router link */
    unsigned link_width;    /* flits a link moves in link_period cycles: 1 */
    unsigned link_period;   /* cycles a flit occupies a link */
    unsigned pipeline;      /* extra cycles between route and output register */
    unsigned holding_slots; /* per input: 1 as the reference, k, 0 = one per output */
    unsigned virtual_channels;
    int vc_by_class;             /* enum vc_assignment */
    int arbitration;             /* enum arbitration_kind */
    int routing;                 /* enum routing_kind */
    int topology;                /* enum topology_kind */
    unsigned concentration;      /* endpoints per router of a concentrated mesh */
    bool force_deadlockable;     /* accept a routing that can deadlock */
    bool force_reordering;       /* accept on a machine with units what can reorder flits of a pair */
    char *routing_table;         /* file of a routing table, or NULL */
    struct routing_table *table; /* its content, or NULL; see routing_table.h */
};

/* endpoint.* — the port logic every unit sits behind (noc-and-memory §4). */
struct endpoint_params {
    unsigned inst_depth;
    unsigned recv_depth;
    unsigned completion_depth;
};

/* l2.* — the optional store in a unit's local link (noc-and-memory §7.2). */
struct l2_params {
    bool clusters, vectors; /* who has one */
    bool enabled;           /* from the start; else off until control index 0xE2 is written */
    unsigned lines;         /* DEPTH, of 32 bytes */
    unsigned window_bits;
    unsigned queue; /* of responses */
    uint64_t cluster_base, vector_base;
};

/* agent.* — dispatch agent and control-program engine (noc-and-memory §5). */
struct agent_params {
    unsigned staging_flits;
    unsigned commands;
    unsigned poll_interval;
    unsigned tx_depth, rx_depth;
    bool wide_complex; /* 64-bit control complex: nobody reaches the transform bank's registers */
};

/* memory.* — memory ports, path and DRAM (noc-and-memory §6). */
struct memory_params {
    int attachment;        /* enum memory_attachment */
    int binding;           /* enum binding_kind; a unit's own "port" goes before it */
    unsigned latency;      /* M: cycles from address accepted to first beat */
    double latency_ns;     /* when above 0: latency = ceil(latency_ns * clock) instead */
    unsigned channel_bits; /* MW: 256 or a power-of-two multiple */
    uint64_t size;         /* bytes of DRAM behind a mesh; addresses are taken modulo this */
    unsigned crossing;     /* X */
    unsigned queue_depth, queue_margin;
    unsigned write_slots;
    unsigned write_burst; /* words per write burst of a unit: cluster collector and slot size */
    unsigned reads_in_flight;
    bool pipelined;                                                  /* the DRAM works on several bursts at once */
    unsigned address_queue, write_queue, read_queue, response_queue; /* crossing queues, memory beats */
    unsigned banks, row_bytes, row_hit, row_miss;                    /* 0 banks: fixed latency */
    unsigned refresh_interval, refresh_cycles;                       /* 0 interval: none */
    double words_per_cycle;                                          /* bandwidth limit; 0: one beat a cycle */
    bool fetch_transform;
    bool upload_transform;
    char *occupants; /* of the transform slot, by id from 1, separated by commas; NULL: quantiser */
    int staging;     /* enum staging_kind */
    unsigned staging_entries, staging_banks;
    bool split_pages;    /* the agent splits bursts at 4 KB pages */
    bool serial_entries; /* an entry is emitted whole before the next one is fetched: baseline machine */
};

/* cluster.* (compute-units §1–6). */
struct cluster_params {
    unsigned l1_a, l1_b; /* entries a side, both banks together */
    unsigned tiles;      /* resident tile, sub-tiles, a power of two */
    unsigned drain_queue, drain_limit;
    unsigned accumulator_bits;    /* fraction bits of the accumulator format, 8..16 */
    unsigned accumulator_latency; /* command to result in the drain queue: EMIT, ADD_EMIT, high half of SEND */
    bool double_rate;             /* array at twice the accumulator clock (golden README 6.1) */
    bool pacing;
    bool blocking_sweep; /* a GEMM retires when its sweep has ended: baseline machine */
    int sweep_wait;      /* enum sweep_wait_kind */
    int assembly;        /* enum assembly_kind */
    unsigned reuse_min;
    bool rendezvous, forward, tensor_fill, third_bank; /* what-if options, off */
};

/* vector.* (compute-units §7–8). */
struct vector_params {
    unsigned l1_depth;
    unsigned alu_depth;
    unsigned imem_words_per_flit;
    bool has_expsum;
    bool ack_rejected;
    bool poison;
    bool exp2_saturate; /* exp2 of 128 <= |x| < 256 gives infinity or 0 instead of wrapping as the hardware does */
};

/* mover.* (noc-and-memory §8, §9). */
struct mover_params {
    unsigned index_words, fifo_depth, command_depth, max_reads, max_writes, burst_max;
};

/* interlink.* — links between meshes (noc-and-memory §10). */
struct interlink_params {
    unsigned rx_beats, credit_batch, max_beats;
    unsigned pipe_stages;
    bool per_source; /* what-if: one encapsulator a source, no deadlock of overlapping bursts */
};

/* engine.* — how the simulator runs; never changes a result. */
struct engine_params {
    unsigned routers_per_actor; /* 0: the program chooses */
    bool run_ahead;
    unsigned threads;
    uint64_t standstill_cycles; /* cycles without progress before a run is called dead */
};

enum {
    MACHINE_MAX_MESHES = 4, /* two address bits, noc-and-memory §1.4 */
};

struct machine_unit {
    int kind;   /* enum unit_kind */
    char *type; /* "cluster", "vector" or a plug-in's name */
    char *name; /* "cluster0", "vector1", … numbered in reading order within the kind */
    unsigned x, y;
    unsigned port; /* index of the bound memory port */
};

struct machine_port {
    unsigned x, y;
};

struct machine {
    char *name;
    char *description; /* free text, or NULL */
    int preset;        /* enum machine_preset: where the defaults come from */
    unsigned nx, ny;   /* routers at (1..nx, 1..ny) */
    double clock_mhz;
    bool rtl_defects;
    struct noc_params noc;
    struct endpoint_params endpoint;
    struct l2_params l2;
    struct agent_params agent;
    struct memory_params memory;
    struct cluster_params cluster;
    struct vector_params vector;
    struct mover_params mover;
    struct interlink_params interlink;
    struct engine_params engine;
    struct machine_unit *units;
    unsigned unit_count;
    struct machine_port *ports;
    unsigned port_count; /* 0 for a bare mesh */
    bool bare;           /* traffic sources and sinks only */
    char **plugins;      /* shared objects that bring unit types, NULL-terminated; or NULL */
    /* Several meshes joined in a line (noc-and-memory §10.1): each is a machine of its own with the parameters of this
     * one, whose own nx, ny, units and ports are then empty. One mesh: none here. */
    struct machine *meshes;
    unsigned mesh_count;               /* 0, or 2..MACHINE_MAX_MESHES */
    unsigned line[MACHINE_MAX_MESHES]; /* mesh ids by position in the line */
};

/* All defaults of the bench preset, no name, no units, a mesh of 0 x 0 routers. */
void machine_init(struct machine *machine);
void machine_clear(struct machine *machine);

/* Routers a flit passes between the unit and its memory port, both included: one more than the grid steps between the
 * routers they sit at. 0 on a bare mesh. */
unsigned machine_port_hops(const struct machine *machine, const struct machine_unit *unit);

/* What is legal but known to end badly, one sentence each, opening with the diagnostic's name (noc-and-memory §12.1):
 * wr.slots_undersized. NULL-terminated, for g_strfreev. */
char **machine_warnings(const struct machine *machine);
