/* Arbitration policies of the what-if router: which of the lanes that can leave by an output does so. */
#include "noc/flex_router.h"

static unsigned first_from(unsigned pointer, uint64_t lanes) {
    uint64_t ahead = lanes & (UINT64_MAX << pointer);
    return (unsigned)__builtin_ctzll(ahead ? ahead : lanes);
}

/* The reference: a pointer that advances every cycle, granted or not (noc-and-memory §3.5). */
static unsigned free_running(const struct flex_router *router, struct flex_output *out, unsigned output, uint64_t lanes,
                             cycle_t now) {
    (void)out, (void)output, (void)now;
    return first_from(router->net->phase, lanes);
}

static unsigned round_robin(const struct flex_router *router, struct flex_output *out, unsigned output, uint64_t lanes,
                            cycle_t now) {
    (void)output, (void)now;
    unsigned lane = first_from(out->next_lane, lanes);
    out->next_lane = lane + 1 == router->net->plan.lanes ? 0 : (uint8_t)(lane + 1);
    return lane;
}

static unsigned oldest_first(const struct flex_router *router, struct flex_output *out, unsigned output, uint64_t lanes,
                             cycle_t now) {
    (void)out, (void)now;
    unsigned oldest = 0;
    cycle_t stamp = CYCLE_NEVER;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        cycle_t offered = flit_at(router->net->pool, flex_slot_for(router, lane, output)->flit)->offered;
        if (offered < stamp || stamp == CYCLE_NEVER) {
            stamp = offered;
            oldest = lane;
        }
    }
    return oldest;
}

/* Least recently granted, which is what a matrix of pairwise priorities gives. */
static unsigned matrix(const struct flex_router *router, struct flex_output *out, unsigned output, uint64_t lanes,
                       cycle_t now) {
    (void)router, (void)output;
    unsigned longest = (unsigned)__builtin_ctzll(lanes);
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        if (out->granted[lane] < out->granted[longest])
            longest = lane;
    }
    out->granted[longest] = now + 1;
    return longest;
}

flex_arbiter_fn *flex_arbiter_of(int arbitration) {
    static flex_arbiter_fn *const policies[] = {
        [ARBITRATION_FREE_RUNNING] = free_running,
        [ARBITRATION_ROUND_ROBIN] = round_robin,
        [ARBITRATION_OLDEST_FIRST] = oldest_first,
        [ARBITRATION_MATRIX] = matrix,
    };
    return policies[arbitration];
}
