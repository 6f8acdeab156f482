/* Memory-mover work as control-program rounds: every move a list of register writes and a poll that waits for its end
 * (noc-and-memory §5.8, §8.8). */
#pragma once

#include <glib.h>

#include "memory/move.h"
#include "workloads/rounds.h"

/* Appends rounds to an array of struct round that carry out the moves in order, as many in each as its control program
 * has room for: command_room, at least 2. Returns the number of register writes. */
uint64_t move_rounds_append(GArray *rounds, const GArray *moves, unsigned command_room);

/* Frees what a round made here points to. */
void move_round_clear(struct round *round);
