/* The router: five input FIFOs with one holding slot each, five output registers, free-running arbitration and x-then-y
 * routing (noc-and-memory §3). One step is one cycle of §3.6. This is the reference router, kept small and fast; the
 * what-if router with virtual channels and other policies is in flex.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/hazard.h"
#include "noc/fifo.h"
#include "noc/link.h"

enum router_port {
    PORT_NORTH,
    PORT_EAST,
    PORT_SOUTH,
    PORT_WEST,
    PORT_LOCAL,
    ROUTER_PORTS,
    ALL_PORTS = (1 << ROUTER_PORTS) - 1,
};

/* The tag of a flit inside routers: destination and the output it wants here. */
enum {
    TAG_X_BITS = 12,
    TAG_COORDINATE_MASK = (1 << TAG_X_BITS) - 1,
    TAG_ROUTE_SHIFT = 2 * TAG_X_BITS,
    TAG_DESTINATION_MASK = (1 << TAG_ROUTE_SHIFT) - 1,
};

struct boundary;
struct mesh_part;

struct router_input_counts {
    uint64_t flits;       /* accepted */
    uint64_t blocked;     /* cycles in which the holding slot kept its flit */
    uint64_t hol_blocked; /* of these: a readable flit behind it wanted an output that stayed free */
};

struct router_output_counts {
    uint64_t flits; /* accepted by the receiver */
    uint64_t busy;  /* cycles in which the receiver refused the output register */
};

enum router_link_kind {
    LINK_TIED,     /* nothing there: accepted and lost */
    LINK_ROUTER,   /* a router of the same part */
    LINK_BOUNDARY, /* a router of another part */
    LINK_SINK,     /* an endpoint */
};

struct router_link {
    union {
        struct router *router;
        struct boundary *boundary;
        const struct link_sink *sink;
    };
    uint8_t kind;
    uint8_t input; /* of the receiving router */
};

/* An input as a link for endpoints, and what an output's endpoint is. */
struct router_end {
    struct router *router;
    struct link_sink sink;
    uint8_t input;
};

struct router_word {
    flit_index flit;
    uint32_t tag;
};

struct router {
    struct mesh_part *part;
    uint32_t index; /* in the part */
    uint16_t x, y;
    uint8_t occupied;              /* holding slots in use, a bit an input */
    uint8_t valid;                 /* output registers in use, a bit an output */
    uint8_t wanted;                /* outputs that some slot requests */
    uint8_t stored;                /* inputs with a word in the FIFO */
    uint8_t request[ROUTER_PORTS]; /* inputs whose slot wants the output */
    uint8_t allowed[ROUTER_PORTS]; /* inputs the crossbar connects to the output (§3.4) */
    uint8_t shared;                /* inputs fed by another part */
    struct router_word slot[ROUTER_PORTS];
    struct router_word output[ROUTER_PORTS];
    struct router_link out[ROUTER_PORTS];
    struct fifo fifo[ROUTER_PORTS];
    uint64_t behind[ROUTER_PORTS]; /* FIFO words by the output they want, a field of ROUTE_COUNT_BITS each */
    struct router_input_counts in_counts[ROUTER_PORTS];
    struct router_output_counts out_counts[ROUTER_PORTS];
    struct boundary *feed[ROUTER_PORTS]; /* of shared inputs */
    struct router_end end[ROUTER_PORTS];
};

enum {
    ROUTE_COUNT_BITS = 12, /* a FIFO holds at most 2^12 - 1 words */
};

/* One cycle; phase is the arbitration pointer, 0..4. True if it has to be stepped in the next cycle whatever arrives.
 */
bool router_step(struct router *router, cycle_t now, unsigned phase);

/* Takes a flit accepted in cycle stamp into an input FIFO; the caller has tested that there is room. */
void router_push(struct router *router, unsigned input, flit_index flit, uint32_t destination, cycle_t stamp);

/* Output port for a destination at this router (§3.3). */
unsigned router_route(const struct router *router, unsigned dst_x, unsigned dst_y);
