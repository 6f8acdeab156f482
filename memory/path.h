/* The memory path behind the requesters of one memory agent (noc-and-memory §6.10): from an address offered to the
 * words that come back. Two attachments: every requester on a channel of its own, or all through one arbiter and a pair
 * of clock-crossing queues to one channel.
 *
 * Order within a cycle: path_step() first, from what every requester offers at the start of the cycle; it leaves its
 * decisions in the requesters. Then the requesters are stepped, read them, and change their offers for the next cycle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/dram.h"
#include "model/cycle.h"
#include "model/machine.h"
#include "model/word.h"

struct mem_requester {
    /* Offered by the requester: state at the start of the cycle. An offer stays until it is accepted. */
    bool read_offered;
    uint64_t read_address; /* bytes; the low five bits are ignored */
    unsigned read_words;   /* 1..256 */
    bool write_offered;
    uint64_t write_address;
    unsigned write_words;
    bool data_offered; /* a word of the write burst whose address was accepted, in order */
    struct word256 data;
    bool return_ready; /* a returned word offered in this cycle is taken */
    /* Decided by path_step() for the current cycle. */
    bool read_accepted, write_accepted, data_accepted;
    bool word_returned; /* with return_ready */
    struct word256 word;
    bool response; /* a write response is seen in this cycle */
};

struct mem_path;
struct stage;

/* requesters: count pointers to requesters that stay valid (the array is copied); index order is arbitration order
 * (ports, host window, mover, …). */
struct mem_path *path_new(const struct machine *machine, struct dram *dram, struct mem_requester **requesters,
                          unsigned count);
void path_free(struct mem_path *path);

/* Called for every address that the memory itself takes; either may be NULL. */
struct path_watch {
    void *self;
    void (*write_address)(void *self, uint64_t address, cycle_t now);
    void (*burst)(void *self, bool writes, uint64_t address, unsigned words, cycle_t now);
};

/* watch: stays the caller's; NULL ends it. */
void path_watch(struct mem_path *path, const struct path_watch *watch);
/* The staging store, NULL unless built at the converged path (§7.1). */
struct stage *path_stage(const struct mem_path *path);
/* Which mesh this is, for the staging store's addresses; 0 unless told. */
void path_set_mesh(struct mem_path *path, unsigned mesh);
/* One cycle. Returns true while anything is offered or on its way, i.e. while it has to be stepped every cycle. */
bool path_step(struct mem_path *path, cycle_t now);
