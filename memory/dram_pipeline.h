/* A DRAM channel that works on several bursts at once: addresses are taken one a cycle and direction, every burst has
 * the memory's latency, and one beat a cycle moves on the pins, which reads and writes share. Both directions keep
 * their order. An option (memory.pipelined) beside the bench RAM of noc-and-memory §6.10, which takes one burst a
 * direction.
 *
 * A cycle: ask what is ready, grant the pins, move the beat, then take new addresses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory/dram_timing.h"
#include "model/cycle.h"

enum {
    PIPELINE_BURSTS = 64, /* a direction */
};

enum dram_pins {
    PINS_IDLE,
    PINS_READ,
    PINS_WRITE,
};

struct pipelined_burst {
    uint64_t address;
    unsigned words, moved;
    unsigned latency;
    cycle_t ready; /* of a read: its first beat at the earliest */
};

struct pipelined_direction {
    struct pipelined_burst bursts[PIPELINE_BURSTS];
    uint64_t in, out;
};

struct dram_pipeline {
    struct dram_timing timing;
    struct pipelined_direction reads, writes;
    cycle_t answers[PIPELINE_BURSTS]; /* when the responses of written bursts are due, in order */
    uint64_t answers_in, answers_out;
    unsigned reads_max;
    bool write_next; /* whose turn it is when both could move */
};

void dram_pipeline_init(struct dram_pipeline *pipeline, const struct memory_params *memory, unsigned reads_max);
void dram_pipeline_clear(struct dram_pipeline *pipeline);

bool dram_pipeline_takes_read(const struct dram_pipeline *pipeline);
bool dram_pipeline_takes_write(const struct dram_pipeline *pipeline);
void dram_pipeline_read(struct dram_pipeline *pipeline, uint64_t address, unsigned words, cycle_t now);
void dram_pipeline_write(struct dram_pipeline *pipeline, uint64_t address, unsigned words, cycle_t now);
/* The burst whose beat may move now, or NULL. */
struct pipelined_burst *dram_pipeline_reading(struct dram_pipeline *pipeline, cycle_t now);
struct pipelined_burst *dram_pipeline_writing(struct dram_pipeline *pipeline);
/* Who has the pins in this cycle, of those that could use them. */
enum dram_pins dram_pipeline_grant(struct dram_pipeline *pipeline, bool read, bool write, cycle_t now);
/* `words` of the granted burst have moved. */
void dram_pipeline_moved(struct dram_pipeline *pipeline, enum dram_pins pins, unsigned words, cycle_t now);
/* A write is answered in this cycle: true once a burst. */
bool dram_pipeline_answers(struct dram_pipeline *pipeline, cycle_t now);
bool dram_pipeline_idle(const struct dram_pipeline *pipeline);
