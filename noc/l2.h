/* The endpoint L2 adapter: an addressed store in the local link between a router and one unit (noc-and-memory §7.2,
 * §7.3). It claims that unit's own requests whose whole run lies inside its window and answers them itself; everything
 * else passes. Not a cache: no tags, no replacement, nobody else reaches it.
 *
 * Order within a cycle: the router may hand it flits for the unit, then the adapter is stepped, then the unit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/hazard.h"
#include "model/machine.h"
#include "model/word.h"
#include "noc/fifo.h"
#include "noc/link.h"

/* CU_CTRL indexes that the adapter answers. */
enum l2_index {
    L2_INDEX_CAPS = 0xE0,
    L2_INDEX_BASE,
    L2_INDEX_ENABLE,
    L2_INDEX_COUNTS,
    L2_INDEX_LAST = 0xE7,
};

/* A claimed read: what is left of it. */
struct l2_run {
    uint64_t line;
    unsigned words_left;
    unsigned entry_words, word; /* of an entry; 0: a plain read */
    uint8_t tag;
    uint16_t from_x, from_y; /* whom the request named: the answer comes in its name */
    uint8_t note;
};

struct l2_write {
    uint64_t line;
    unsigned words_left;
    uint8_t tag;
    uint16_t from_x, from_y;
};

struct l2_adapter {
    const char *name; /* of the unit */
    unsigned x, y;
    unsigned fall_through, window_bits, outstanding;
    bool converts; /* ports convert on the fetch: such a fetch is not the adapter's */
    uint64_t base;
    bool enabled;
    struct flit_pool *pool;
    struct hazard_log *hazards;
    struct link_sink mesh, unit; /* where flits go on either side */
    struct word256 *lines;
    uint64_t line_count;
    flit_index stage; /* the register from unit to router */
    flit_index reply; /* pending control reply */
    cycle_t reply_from;
    struct fifo responses; /* behind their pipe */
    struct l2_run run;
    struct l2_write write;
    cycle_t due;
    cycle_t *group_due;
    uint64_t served, forwarded; /* words served; requests inside the window that were not */
    uint64_t taken;             /* words written */
};

void l2_init(struct l2_adapter *adapter, const struct machine *machine, const struct machine_unit *place,
             struct flit_pool *pool, struct hazard_log *hazards);
void l2_clear(struct l2_adapter *adapter);
/* Its two ends: what the router hands flits to, and what the unit does. */
struct link_sink l2_mesh_end(struct l2_adapter *adapter);
struct link_sink l2_unit_end(struct l2_adapter *adapter);
/* One cycle, before the unit's; sets adapter->due. */
void l2_step(struct l2_adapter *adapter, cycle_t now);
bool l2_quiet(const struct l2_adapter *adapter);
/* Flits that stand in it. */
unsigned l2_held(const struct l2_adapter *adapter);
