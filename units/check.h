/* Conservation, looked at between cycles: nothing is made or lost but what is counted (noc-and-memory §12.1). */
#pragma once

#include "units/system.h"

/* Flits in use, and flits that stand somewhere: equal, or one was lost or kept twice. */
uint64_t system_flits_live(const struct system *system);
uint64_t system_flits_held(const struct system *system);

/* Reports what does not balance: net.leak, cu.signal_balance, wr.ack_balance. True if everything does. */
bool system_balances(struct system *system, cycle_t now);
