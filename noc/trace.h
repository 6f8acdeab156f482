/* Packet traces as text (docs/traffic.md): one line a packet, with the packets it has to wait for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "model/cycle.h"

struct trace_wait {
    uint32_t packet; /* index of an earlier packet of the trace */
    uint32_t delay;  /* cycles after its last flit was delivered, at least 1 */
};

struct trace_packet {
    uint64_t id;
    cycle_t cycle; /* not generated before */
    unsigned src_x, src_y, dst_x, dst_y;
    uint32_t flits;
    uint32_t first_wait, wait_count; /* in trace.waits */
};

struct trace {
    GArray *packets; /* of struct trace_packet, as in the text */
    GArray *waits;   /* of struct trace_wait */
};

/* name stands for the text in error messages. */
bool trace_parse(struct trace *trace, const char *text, const char *name, GError **error);
void trace_clear(struct trace *trace);

/* The recorder: a header, then a packet at a time. */
void trace_begin(GString *text);
void trace_write(GString *text, uint64_t id, cycle_t cycle, unsigned src_x, unsigned src_y, unsigned dst_x,
                 unsigned dst_y, uint32_t flits);
