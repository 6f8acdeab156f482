/* What-if: a shared FILL is a meeting point (compute-units §10.2). A follower that reaches it tells the leader, the
 * node with the lowest byte, and the leader asks memory only when every peer has told it as often as they have shared,
 * so that no response comes before its FILL executes. Counted by pairs, because a node may share with several. */
#include "units/cluster/cluster.h"

enum {
    SIGNAL_MEETING = 0x40 /* unit-defined code */
};

/* Lowest node byte among the sharers; the own one if several are equal, so that naming oneself leads nowhere. */
static uint8_t leader_of(const struct cluster *cluster) {
    uint8_t leader = node_byte(cluster->x, cluster->y);
    for (unsigned peer = 0; peer < cluster->inst.npeer; peer++)
        leader = MIN(leader, cluster->inst.peer[peer]);
    return leader;
}

static bool names_itself(const struct cluster *cluster) {
    for (unsigned peer = 0; peer < cluster->inst.npeer; peer++)
        if (cluster->inst.peer[peer] == node_byte(cluster->x, cluster->y))
            return true;
    return false;
}

void rendezvous_begin(struct cluster *cluster) {
    bool leads = leader_of(cluster) == node_byte(cluster->x, cluster->y);
    cluster->gathering = leads && !names_itself(cluster);
    cluster->reporting = !leads;
}

static void send_report(struct cluster *cluster) {
    uint8_t leader = leader_of(cluster);
    struct flit_pool *pool = cluster->context.pool;
    cluster->signal = flit_new(pool);
    struct flit *flit = flit_at(pool, cluster->signal);
    *flit = (struct flit){.dst_x = leader & 15,
                          .dst_y = leader >> 4,
                          .src_x = cluster->x,
                          .src_y = cluster->y,
                          .type = FLIT_CU_SIGNAL,
                          .last = 1};
    word_set(&flit->payload, 248, 8, SIGNAL_MEETING);
    word_set(&flit->payload, 216, 32, cluster->followed[leader]++);
    cluster->reporting = false;
}

static bool all_met(const struct cluster *cluster) {
    for (unsigned peer = 0; peer < cluster->inst.npeer; peer++) {
        uint8_t node = cluster->inst.peer[peer];
        if (cluster->reported[node] == cluster->led[node])
            return false;
    }
    return true;
}

void rendezvous_step(struct cluster *cluster) {
    if (cluster->reporting && cluster->signal == FLIT_NONE)
        send_report(cluster);
    if (!cluster->gathering || !all_met(cluster))
        return;
    for (unsigned peer = 0; peer < cluster->inst.npeer; peer++)
        cluster->led[cluster->inst.peer[peer]]++;
    cluster->gathering = false;
    sequencer_request(cluster);
}

bool rendezvous_report(struct cluster *cluster, const struct flit *flit) {
    if (!cluster->params->rendezvous || flit->type != FLIT_CU_SIGNAL ||
        word_get(&flit->payload, 248, 8) != SIGNAL_MEETING)
        return false;
    cluster->reported[node_byte(flit->src_x & 15, flit->src_y & 15)] = word_get(&flit->payload, 216, 32) + 1;
    return true;
}
