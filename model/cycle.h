/* Simulated time. One cycle of the mesh clock is the unit of every time in the simulator; 64 bits never wrap. */
#pragma once

#include <stdint.h>

typedef uint64_t cycle_t;

#define CYCLE_NEVER UINT64_MAX
