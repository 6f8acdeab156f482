/* The router: five input FIFOs with one holding slot each, five output registers, free-running arbitration and x-then-y
 * routing (noc-and-memory §3). One step is one cycle of §3.6. This is the reference router, kept small and fast; the
 * what-if router with virtual channels and other policies is in flex.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cycle.h"
#include "model/flit.h"
#include "noc/link.h"

enum router_port {
    PORT_NORTH,
    PORT_EAST,
    PORT_SOUTH,
    PORT_WEST,
    PORT_LOCAL,
    ROUTER_PORTS,
    ALL_PORTS = (1 << ROUTER_PORTS) - 1,
    ROUTER_FIFO_MAX = 65535,
};

/* The tag of a flit inside routers: the coordinates of its last router, the output it takes there, and the output it
 * wants at this one. */
enum {
    TAG_X_BITS = 12,
    TAG_COORDINATE_MASK = (1 << TAG_X_BITS) - 1,
    TAG_COORDINATE_MAX = TAG_COORDINATE_MASK,
    TAG_LAST_SHIFT = 2 * TAG_X_BITS,
    TAG_ROUTE_SHIFT = TAG_LAST_SHIFT + 3,
    TAG_DESTINATION_MASK = (1 << TAG_ROUTE_SHIFT) - 1,
};

struct boundary;
struct mesh;
struct mesh_part;

struct router_input_counts {
    uint64_t flits;       /* accepted */
    uint64_t blocked;     /* cycles in which the holding slot kept its flit */
    uint64_t hol_blocked; /* of these: a readable flit behind it wanted an output that stayed free */
};

struct router_output_counts {
    uint64_t flits;   /* accepted by the receiver */
    uint64_t busy;    /* cycles in which the receiver refused the output register */
    uint64_t chained; /* flits granted to the register in the cycle in which the one before left it */
    uint64_t lost;    /* flit-cycles in which an input that wanted the output saw it granted to another */
};

enum router_link_kind {
    LINK_TIED,     /* nothing there: accepted and lost */
    LINK_ROUTER,   /* a router of the same part */
    LINK_BOUNDARY, /* a router of another part */
    LINK_SINK,     /* an endpoint */
};

struct router_word {
    flit_index flit;
    uint32_t tag;
};

/* FIFO and holding slot. A word becomes readable in the cycle in which the router is stepped for its arrival, so no
 * word carries a time. The ring follows at once: a lightly used input touches one cache line. */
struct router_input {
    uint16_t head, count;
    uint16_t readable; /* words from the head on that can be read; the others are on their way through the FIFO */
    uint16_t peak;
    uint16_t behind[ROUTER_PORTS]; /* readable words by the output they want */
    uint8_t behind_any;            /* the outputs with any, a bit each */
    struct router_word slot;
    uint64_t flits; /* accepted */
    struct router_word ring[];
};

struct router_output {
    struct router_word word;
    uint32_t target; /* the receiving router's number in the part, or the boundary's in the mesh */
    uint8_t kind;    /* enum router_link_kind */
    uint8_t input;   /* of the receiving router */
    struct router_output_counts counts;
};

/* What is attached to a port, and the port as a link for it. */
struct router_end {
    struct router *router;
    struct link_sink sink;
    uint8_t input;
};

struct router {
    struct mesh_part *part;
    cycle_t stepped; /* last cycle in which it was stepped, CYCLE_NEVER before */
    uint32_t index;  /* in the part */
    uint16_t x, y;
    uint8_t occupied;              /* holding slots in use, a bit an input */
    uint8_t valid;                 /* output registers in use, a bit an output */
    uint8_t wanted;                /* outputs that some slot requests */
    uint8_t readable;              /* inputs with a readable word */
    uint8_t popped;                /* FIFOs read in the cycle `stepped` */
    uint8_t shared;                /* inputs fed by another part */
    uint8_t request[ROUTER_PORTS]; /* inputs whose slot wants the output */
    uint8_t allowed[ROUTER_PORTS]; /* inputs the crossbar connects to the output (§3.4) */
    struct router_end *end;        /* of every port */
    struct boundary **feed;        /* of every shared input */
    char *inputs;                  /* of the ports, input_stride bytes apart */
    uint32_t input_stride;
    struct router_output out[ROUTER_PORTS];
    uint64_t blocked[ROUTER_PORTS], hol_blocked[ROUTER_PORTS]; /* of inputs */
};

static inline struct router_input *router_input(const struct router *router, unsigned input) {
    return (struct router_input *)(router->inputs + (size_t)input * router->input_stride);
}

static inline struct router_input_counts router_input_counts(const struct router *router, unsigned input) {
    return (struct router_input_counts){router_input(router, input)->flits, router->blocked[input],
                                        router->hol_blocked[input]};
}

/* Words an input FIFO held at the start of cycle now, before any push of that cycle. */
static inline unsigned router_input_held(const struct router *router, unsigned input, cycle_t now) {
    return router_input(router, input)->count + (router->stepped == now && (router->popped >> input & 1));
}

/* One cycle; phase is the arbitration pointer, 0..4; arrivals are the inputs whose FIFO shows one more word from this
 * cycle on. True if it has to be stepped in the next cycle whatever arrives. */
bool router_step(struct router *router, cycle_t now, unsigned phase, unsigned arrivals);

/* Takes a flit accepted in cycle stamp into an input FIFO; the caller has tested that there is room. */
void router_push(struct router *router, unsigned input, flit_index flit, uint32_t destination, cycle_t stamp);

/* The destination part of a tag, and the output it wants at this router (§3.3). */
uint32_t router_destination(const struct mesh *mesh, unsigned dst_x, unsigned dst_y);
unsigned router_route(const struct router *router, uint32_t destination);
