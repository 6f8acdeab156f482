/* When the DRAM behind a channel moves a beat. By default every burst waits the fixed latency M and a beat moves every
 * cycle (noc-and-memory §6.10). Options, which the published machine does not have: open rows in banks, refresh, and a
 * bandwidth limit shared by reads and writes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/cycle.h"
#include "model/machine.h"

struct dram_timing {
    unsigned latency;
    bool limited; /* any option that may hold a beat */
    unsigned banks, row_bytes, row_hit, row_miss;
    uint64_t *open_rows; /* a bank each; row number + 1, 0: none open */
    unsigned refresh_interval, refresh_cycles;
    double words_per_cycle;
    double free_at; /* the words moved so far keep the data pins until here */
    uint64_t row_hits, row_misses;
};

void dram_timing_init(struct dram_timing *timing, const struct memory_params *memory);
void dram_timing_clear(struct dram_timing *timing);
/* Latency of a burst whose address is accepted now: to the first read beat, or from the last write beat to the
 * response. Opens its row. */
unsigned dram_timing_open(struct dram_timing *timing, uint64_t address);

/* May a beat move in this cycle? */
static inline bool dram_timing_ready(const struct dram_timing *timing, cycle_t now) {
    if (!timing->limited)
        return true;
    bool refreshing = timing->refresh_interval && now >= timing->refresh_interval &&
                      now % timing->refresh_interval < timing->refresh_cycles;
    return !refreshing && timing->free_at < (double)now + 1;
}

static inline void dram_timing_moved(struct dram_timing *timing, unsigned words, cycle_t now) {
    if (timing->words_per_cycle > 0)
        timing->free_at =
            (timing->free_at > (double)now ? timing->free_at : (double)now) + words / timing->words_per_cycle;
}
