/* The receiving side of peer transfers: CU_DATA into L1 or onto the resident tile (compute-units §4). */
#include "units/cluster/cluster.h"

enum {
    BUFFER_A = 0,
    BUFFER_B = 1,
    BUFFER_TILE = 2,
    FLAG_ACKNOWLEDGE = 1,
};

static bool in_range(const struct cluster *cluster, unsigned buf, uint32_t offset, uint32_t len) {
    switch (buf) {
    case BUFFER_A:
        return offset + len < 4 * cluster->params->l1_a;
    case BUFFER_B:
        return offset + len < 4 * cluster->params->l1_b;
    case BUFFER_TILE:
        return offset + len < 2 * cluster->params->tiles && offset % 2 == 0;
    default:
        return false;
    }
}

/* A flit from the cluster's own coordinate may also come from another mesh. */
static bool sends_to_itself(const struct cluster *cluster) {
    const struct destination *to = &cluster->destination;
    return to->dnode && !to->dfin && to->dst_x == cluster->x && to->dst_y == cluster->y;
}

static void open_burst(struct cluster *cluster, const struct flit *flit, cycle_t now) {
    struct peer_stream *peer = &cluster->peer;
    const struct word256 *payload = &flit->payload;
    unsigned len = word_get(payload, 224, 8);
    peer->in_burst = true;
    peer->buf = word_get(payload, 248, 8);
    peer->offset = word_get(payload, 232, 16);
    peer->left = len + 1;
    peer->flags = word_get(payload, 216, 8);
    peer->ack_y = word_get(payload, 212, 4);
    peer->ack_x = word_get(payload, 208, 4);
    peer->txn = flit->txn;
    peer->src_x = flit->src_x;
    peer->src_y = flit->src_y;
    peer->have_low = false;
    peer->bad = !in_range(cluster, peer->buf, peer->offset, len);
    if (peer->bad) {
        cluster->fault = true;
        hazard_report(cluster->hazards, "cudata.rejected", now, cluster->name,
                      "a burst of %u flits into buffer %u from granule %u is outside it or starts on an odd granule: "
                      "counted out, nothing written",
                      len + 1, peer->buf, peer->offset);
    }
    if (peer->buf == BUFFER_TILE && flit->src_x == cluster->x && flit->src_y == cluster->y && sends_to_itself(cluster))
        hazard_report(cluster->hazards, "cluster.self_peer", now, cluster->name,
                      "the cluster sends a resident tile to itself");
    cluster_event(cluster, "burst opened", peer->buf, peer->offset, now);
}

static void end_burst(struct cluster *cluster, cycle_t now) {
    struct peer_stream *peer = &cluster->peer;
    struct flit_pool *pool = cluster->context.pool;
    peer->in_burst = false;
    if (peer->buf == BUFFER_TILE && peer->have_low && !peer->bad)
        hazard_report(cluster->hazards, "cluster.peer_half", now, cluster->name,
                      "a burst into the resident tile ends on a low half that is never used");
    if (!(peer->flags & FLAG_ACKNOWLEDGE))
        return;
    bool named = peer->ack_x || peer->ack_y;
    cluster->signal = flit_new(pool);
    struct flit *flit = flit_at(pool, cluster->signal);
    *flit = (struct flit){.dst_x = named ? peer->ack_x : peer->src_x,
                          .dst_y = named ? peer->ack_y : peer->src_y,
                          .src_x = cluster->x,
                          .src_y = cluster->y,
                          .type = FLIT_CU_SIGNAL,
                          .txn = peer->txn,
                          .last = 1};
    word_set(&flit->payload, 248, 8, SIGNAL_DATA_RECEIVED);
    word_set(&flit->payload, 216, 32, peer->buf);
}

static void take_granule(struct cluster *cluster, const struct flit *flit, cycle_t now) {
    struct peer_stream *peer = &cluster->peer;
    if (peer->buf != BUFFER_TILE) {
        operand_place(cluster, peer->buf, peer->offset / 4, peer->offset % 4, &flit->payload, now);
        return;
    }
    peer->granule[peer->offset % 2] = flit->payload;
    peer->have_low = peer->offset % 2 == 0;
    if (peer->offset % 2 == 0)
        return;
    peer->pending = true;
    peer->tile = peer->offset / 2;
}

/* A CU_DATA flit popped in cycle now: a descriptor if no burst is in progress, else data of it. */
void peer_pop(struct cluster *cluster, const struct flit *flit, cycle_t now) {
    struct peer_stream *peer = &cluster->peer;
    if (!peer->in_burst) {
        open_burst(cluster, flit, now);
        return;
    }
    if (flit->src_x != peer->src_x || flit->src_y != peer->src_y || flit->last != (peer->left == 1))
        hazard_report(cluster->hazards, "cudata.interleaved", now, cluster->name,
                      "a data flit from (%u,%u) with last=%u inside a burst of (%u,%u) with %u flits to come: two "
                      "senders are spliced",
                      flit->src_x, flit->src_y, flit->last, peer->src_x, peer->src_y, peer->left);
    if (flit->src_x == peer->src_x && flit->src_y == peer->src_y && flit->last != (peer->left == 1))
        hazard_report(cluster->hazards, "cudata.last_mismatch", now, cluster->name,
                      "`last` of a data flit from (%u,%u) disagrees with the announced length", flit->src_x,
                      flit->src_y);
    if (!peer->bad)
        take_granule(cluster, flit, now);
    peer->offset++;
    if (--peer->left == 0)
        end_burst(cluster, now);
}

/* The stream flags and the pending sub-tile, from the state at the start of the cycle. was_in_burst: a burst was in
 * progress in this cycle (from the cycle after its descriptor through the one of its last flit). */
void peer_step(struct cluster *cluster, const struct cluster_flags *flags, bool was_in_burst) {
    struct peer_stream *peer = &cluster->peer;
    bool was_pending = peer->pending;
    if (peer->pending && flags->granted && flags->drain_idle) {
        peer->pending = false;
        acc_peer(cluster, peer->tile, peer->granule, flags->now + 1);
        cluster->busy_until = flags->now + 1 + COMMAND_BUSY;
        cluster_event(cluster, "peer command", peer->tile, 0, flags->now);
    }
    peer->open = (was_in_burst && peer->buf == BUFFER_TILE) || was_pending;
    peer->granted = flags->open && (flags->granted || !flags->cluster_busy);
    if (peer->open != flags->open)
        cluster_event(cluster, "peer stream open", peer->open, 0, flags->now + 1);
}
