/* Mode 5 of the mover: a move whose words pass through the transform bank (noc-and-memory §9). Private to the mover. */
#pragma once

#include "memory/mover.h"

/* Fault of a GO with mode 5, or MOVER_FAULT_NONE. */
enum mover_fault convert_check(const struct mover *mover);
void convert_begin(struct mover *mover);
void convert_end(struct mover *mover);
/* The element the walkers stand on; the walkers go on. */
struct mover_element convert_latch(struct mover *mover);
/* A source word has returned. */
void convert_beat(struct mover *mover, cycle_t now);
/* Ends the run if the occupant has faulted. */
void convert_watch(struct mover *mover, cycle_t now);
/* Bank side of a cycle: results into the data FIFO, capture, start. */
void convert_step(struct mover *mover, cycle_t now);
/* May a returned word be taken, may the head of the skid be offered, in the next cycle? */
bool convert_return_ready(const struct mover *mover);
bool convert_may_offer(const struct mover *mover);

/* Appends a word to the data FIFO. */
void mover_push_data(struct mover *mover, const struct word256 *word, cycle_t now);
