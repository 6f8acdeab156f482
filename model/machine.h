/* The described machine: what is where, how large, how slow. Filled from JSON by config.c, where every member is one
 * row of one table (key, default, range, unit, sentence). Nothing here changes while a run goes on. */
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

enum memory_attachment {
    MEMORY_CONVERGED, /* all requesters through one arbiter and crossing queues to one channel */
    MEMORY_PER_PORT,  /* every requester on a channel of its own, no crossing */
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

/* agent.* — dispatch agent and control-program engine (noc-and-memory §5). */
struct agent_params {
    unsigned staging_flits;
    unsigned commands;
    unsigned poll_interval;
    unsigned tx_depth, rx_depth;
};

/* memory.* — memory ports, path and DRAM (noc-and-memory §6). */
struct memory_params {
    int attachment;        /* enum memory_attachment */
    unsigned latency;      /* M: cycles from address accepted to first beat */
    double latency_ns;     /* when above 0: latency = ceil(latency_ns * clock) instead */
    unsigned channel_bits; /* MW: 256 or a power-of-two multiple */
    uint64_t size;         /* bytes of DRAM behind a mesh; addresses are taken modulo this */
    unsigned crossing;     /* X */
    unsigned queue_depth, queue_margin;
    unsigned write_slots;
    unsigned write_burst; /* words per write burst of a unit: cluster collector and slot size */
    unsigned reads_in_flight;
    unsigned address_queue, write_queue, read_queue, response_queue; /* crossing queues, memory beats */
    unsigned banks, row_bytes, row_hit, row_miss;                    /* 0 banks: fixed latency */
    unsigned refresh_interval, refresh_cycles;                       /* 0 interval: none */
    double words_per_cycle;                                          /* bandwidth limit; 0: one beat a cycle */
    bool fetch_transform;
    bool upload_transform;
    int staging; /* enum staging_kind */
    unsigned staging_entries, staging_banks;
    bool split_pages; /* the agent splits bursts at 4 KB pages */
};

/* cluster.* (compute-units §1–6). */
struct cluster_params {
    unsigned l1_a, l1_b; /* entries a side, both banks together */
    unsigned tiles;      /* resident tile, sub-tiles, a power of two */
    unsigned drain_queue, drain_limit;
    unsigned accumulator_bits; /* fraction bits of the accumulator format, 8..16 */
    bool double_rate;          /* array at twice the accumulator clock (golden README 6.1) */
    bool pacing;
    int sweep_wait; /* enum sweep_wait_kind */
    int assembly;   /* enum assembly_kind */
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
};

/* mover.* (noc-and-memory §8, §9). */
struct mover_params {
    unsigned index_words, fifo_depth, command_depth, max_reads, max_writes, burst_max;
};

/* engine.* — how the simulator runs; never changes a result. */
struct engine_params {
    unsigned routers_per_actor; /* 0: the program chooses */
    bool run_ahead;
    unsigned threads;
    uint64_t standstill_cycles; /* cycles without progress before a run is called dead */
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
    unsigned nx, ny; /* routers at (1..nx, 1..ny) */
    double clock_mhz;
    bool rtl_defects;
    struct noc_params noc;
    struct endpoint_params endpoint;
    struct agent_params agent;
    struct memory_params memory;
    struct cluster_params cluster;
    struct vector_params vector;
    struct mover_params mover;
    struct engine_params engine;
    struct machine_unit *units;
    unsigned unit_count;
    struct machine_port *ports;
    unsigned port_count; /* 0 for a bare mesh */
    bool bare;           /* traffic sources and sinks only */
};

void machine_init(struct machine *machine); /* all defaults, no units */
void machine_clear(struct machine *machine);
