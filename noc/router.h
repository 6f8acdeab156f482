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
};

/* The tag of a flit inside routers: destination and the output it wants here. */
enum {
    TAG_X_BITS = 12,
    TAG_COORDINATE_MASK = (1 << TAG_X_BITS) - 1,
    TAG_ROUTE_SHIFT = 2 * TAG_X_BITS,
};

struct mesh;

struct router_input_counts {
    uint64_t flits;       /* accepted */
    uint64_t blocked;     /* cycles in which the holding slot kept its flit */
    uint64_t hol_blocked; /* of these: a readable flit behind it wanted an output that stayed free */
    uint64_t refused;     /* of blocked: the receiver behind the wanted output refused; the rest lost arbitration */
};

struct router_output_counts {
    uint64_t flits; /* accepted by the receiver */
    uint64_t busy;  /* cycles in which the receiver refused the output register */
    uint64_t bare;  /* cycles in which the register was empty though a flit stood before it and was being granted */
};

struct router_link {
    struct router *router; /* receiving router, or NULL: sink */
    uint8_t input;
    bool tied; /* nothing there: accepted and lost */
    struct link_sink sink;
};

/* An input as a link for endpoints. */
struct router_inlet {
    struct router *router;
    uint8_t input;
};

struct router {
    struct mesh *mesh;
    uint16_t x, y;
    uint8_t occupied;              /* holding slots in use, a bit an input */
    uint8_t valid;                 /* output registers in use, a bit an output */
    uint8_t wanted;                /* outputs that some slot requests */
    uint8_t stored;                /* inputs with a word in the FIFO */
    uint8_t request[ROUTER_PORTS]; /* inputs whose slot wants the output */
    uint8_t allowed[ROUTER_PORTS]; /* inputs the crossbar connects to the output (§3.4) */
    flit_index slot_flit[ROUTER_PORTS];
    uint32_t slot_tag[ROUTER_PORTS];
    flit_index output_flit[ROUTER_PORTS];
    uint32_t output_tag[ROUTER_PORTS];
    struct fifo fifo[ROUTER_PORTS];
    struct router_link out[ROUTER_PORTS];
    struct router_inlet inlet[ROUTER_PORTS];
    struct router_input_counts in_counts[ROUTER_PORTS];
    struct router_output_counts out_counts[ROUTER_PORTS];
    uint32_t index; /* in the mesh */
};

/* One cycle; phase is the arbitration pointer, 0..4. True if it has to be stepped in the next cycle whatever arrives.
 */
bool router_step(struct router *router, cycle_t now, unsigned phase);

/* Takes a flit accepted in cycle now into an input FIFO; the caller has tested that there is room. */
void router_push(struct router *router, unsigned input, flit_index flit, uint32_t destination, cycle_t now);

/* Output port for a destination at this router (§3.3). */
unsigned router_route(const struct router *router, unsigned dst_x, unsigned dst_y);
