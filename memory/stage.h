/* Staging store at the converged memory path (noc-and-memory §7.1): explicitly addressed RAM behind aperture 0 that
 * every requester reaches. It claims bursts before they are presented to the DRAM side and serves one at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/path.h"
#include "model/cycle.h"
#include "model/machine.h"

enum {
    STAGE_ENTRY_WORDS = 4,
    STAGE_OUTSTANDING = 15, /* bursts of a kind a requester may have on their way to DRAM */
};

struct stage {
    struct word256 *words;
    uint64_t count; /* words; offsets beyond alias */
    unsigned mesh;
    uint32_t read_offered_before, write_offered_before; /* claims that could have been accepted a cycle ago */
    unsigned pointer;                                   /* round-robin over requesters */
    /* The burst being served. */
    bool serving, writes, responding;
    unsigned requester;
    uint64_t word; /* place of its next word */
    unsigned words_left;
    cycle_t available; /* its next word can be handed over */
    uint64_t reads_served, writes_served;
};

struct stage *stage_new(const struct memory_params *memory, unsigned mesh);
void stage_free(struct stage *stage);
/* Is the burst at this address the store's? */
bool stage_claims(const struct stage *stage, uint64_t address);
/* One cycle; bit masks of the requesters whose claimed read or write may be accepted. Leaves its decisions in the
 * requesters. True while it serves or is asked to. */
bool stage_step(struct stage *stage, struct mem_requester *const *requesters, unsigned count, uint32_t reads,
                uint32_t writes, cycle_t now);
/* Serving a burst of this requester and kind? */
static inline bool stage_serves(const struct stage *stage, unsigned requester, bool writes) {
    return stage->serving && stage->requester == requester && stage->writes == writes;
}

/* Access without time. */
void stage_load(struct stage *stage, uint64_t offset, const void *bytes, size_t size);
void stage_store(const struct stage *stage, uint64_t offset, void *bytes, size_t size);
