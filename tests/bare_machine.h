/* The smallest described machine: a mesh of reference routers, one actor. */
#pragma once

#include "model/machine.h"

static inline struct machine bare_machine(unsigned nx, unsigned ny) {
    struct machine machine = {.nx = nx, .ny = ny, .clock_mhz = 100, .bare = true};
    machine.noc = (struct noc_params){.fifo_depth = 32,
                                      .fall_through = 3,
                                      .fifo_extra = 2,
                                      .link_width = 1,
                                      .link_period = 1,
                                      .holding_slots = 1,
                                      .virtual_channels = 1};
    machine.engine = (struct engine_params){.run_ahead = true, .threads = 1};
    return machine;
}
