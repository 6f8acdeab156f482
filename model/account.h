/* Attribution of cycles to causes: a component is in exactly one cause at a time, so the totals of an account add up to
 * the length of the run however often or seldom the component is stepped. */
#pragma once

#include <stdint.h>

#include "model/cycle.h"

enum {
    ACCOUNT_CAUSES = 16,
};

struct account {
    unsigned cause; /* in force since `since` */
    cycle_t since;
    uint64_t cycles[ACCOUNT_CAUSES];
};

/* From cycle `from` on the cause is `cause`; from never goes back. */
static inline void account_set(struct account *account, unsigned cause, cycle_t from) {
    if (cause == account->cause)
        return;
    account->cycles[account->cause] += from - account->since;
    account->cause = cause;
    account->since = from;
}

/* Books the cause in force up to, not including, `end`. The account can go on from there. */
static inline void account_close(struct account *account, cycle_t end) {
    account->cycles[account->cause] += end - account->since;
    account->since = end;
}
