/* DRAM timing; see dram_timing.h. */
#include "memory/dram_timing.h"

#include <glib.h>

void dram_timing_init(struct dram_timing *timing, const struct memory_params *memory) {
    *timing = (struct dram_timing){.latency = memory->latency,
                                   .limited = memory->refresh_interval || memory->words_per_cycle > 0,
                                   .banks = memory->row_bytes ? memory->banks : 0,
                                   .row_bytes = memory->row_bytes,
                                   .row_hit = memory->row_hit,
                                   .row_miss = memory->row_miss,
                                   .refresh_interval = memory->refresh_interval,
                                   .refresh_cycles = memory->refresh_cycles,
                                   .words_per_cycle = memory->words_per_cycle};
    timing->open_rows = g_new0(uint64_t, MAX(timing->banks, 1));
}

void dram_timing_clear(struct dram_timing *timing) {
    g_free(timing->open_rows);
    *timing = (struct dram_timing){0};
}

unsigned dram_timing_open(struct dram_timing *timing, uint64_t address) {
    if (!timing->banks)
        return timing->latency;
    /* Consecutive rows lie in consecutive banks. */
    uint64_t row = address / timing->row_bytes, *open = &timing->open_rows[row % timing->banks];
    bool hit = *open == row + 1;
    *open = row + 1;
    timing->row_hits += hit;
    timing->row_misses += !hit;
    return hit ? timing->row_hit : timing->row_miss;
}
