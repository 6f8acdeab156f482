/* A DRAM channel with several bursts in flight; see dram_pipeline.h. */
#include "memory/dram_pipeline.h"

#include <glib.h>

void dram_pipeline_init(struct dram_pipeline *pipeline, const struct memory_params *memory, unsigned reads_max) {
    *pipeline = (struct dram_pipeline){.reads_max = MIN(reads_max, PIPELINE_BURSTS)};
    dram_timing_init(&pipeline->timing, memory);
}

void dram_pipeline_clear(struct dram_pipeline *pipeline) {
    dram_timing_clear(&pipeline->timing);
}

static struct pipelined_burst *head(struct pipelined_direction *direction) {
    return direction->in == direction->out ? NULL : &direction->bursts[direction->out % PIPELINE_BURSTS];
}

static void add(struct dram_pipeline *pipeline, struct pipelined_direction *direction, uint64_t address, unsigned words,
                cycle_t now) {
    unsigned latency = dram_timing_open(&pipeline->timing, address);
    direction->bursts[direction->in++ % PIPELINE_BURSTS] = (struct pipelined_burst){
        .address = address, .words = words, .latency = latency, .ready = now + MAX(latency, 1u)};
}

bool dram_pipeline_takes_read(const struct dram_pipeline *pipeline) {
    return pipeline->reads.in - pipeline->reads.out < pipeline->reads_max;
}

bool dram_pipeline_takes_write(const struct dram_pipeline *pipeline) {
    uint64_t open = pipeline->writes.in - pipeline->writes.out,
             unanswered = pipeline->answers_in - pipeline->answers_out;
    return open + unanswered < PIPELINE_BURSTS;
}

void dram_pipeline_read(struct dram_pipeline *pipeline, uint64_t address, unsigned words, cycle_t now) {
    add(pipeline, &pipeline->reads, address, words, now);
}

void dram_pipeline_write(struct dram_pipeline *pipeline, uint64_t address, unsigned words, cycle_t now) {
    add(pipeline, &pipeline->writes, address, words, now);
}

struct pipelined_burst *dram_pipeline_reading(struct dram_pipeline *pipeline, cycle_t now) {
    struct pipelined_burst *burst = head(&pipeline->reads);
    return burst && burst->ready <= now ? burst : NULL;
}

struct pipelined_burst *dram_pipeline_writing(struct dram_pipeline *pipeline) {
    return head(&pipeline->writes);
}

enum dram_pins dram_pipeline_grant(struct dram_pipeline *pipeline, bool read, bool write, cycle_t now) {
    if (!(read || write) || !dram_timing_ready(&pipeline->timing, now))
        return PINS_IDLE;
    bool writes = write && (!read || pipeline->write_next);
    pipeline->write_next = !writes;
    return writes ? PINS_WRITE : PINS_READ;
}

void dram_pipeline_moved(struct dram_pipeline *pipeline, enum dram_pins pins, unsigned words, cycle_t now) {
    struct pipelined_direction *direction = pins == PINS_WRITE ? &pipeline->writes : &pipeline->reads;
    struct pipelined_burst *burst = head(direction);
    dram_timing_moved(&pipeline->timing, words, now);
    burst->moved += words;
    if (burst->moved < burst->words)
        return;
    direction->out++;
    if (pins == PINS_WRITE)
        pipeline->answers[pipeline->answers_in++ % PIPELINE_BURSTS] = now + MAX(burst->latency, 1u);
}

bool dram_pipeline_answers(struct dram_pipeline *pipeline, cycle_t now) {
    if (pipeline->answers_in == pipeline->answers_out ||
        pipeline->answers[pipeline->answers_out % PIPELINE_BURSTS] > now)
        return false;
    pipeline->answers_out++;
    return true;
}

bool dram_pipeline_idle(const struct dram_pipeline *pipeline) {
    return pipeline->reads.in == pipeline->reads.out && pipeline->writes.in == pipeline->writes.out &&
           pipeline->answers_in == pipeline->answers_out;
}
