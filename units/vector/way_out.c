/* The way out; see way_out.h. Payload layouts are those of noc-and-memory §2.6. */
#include "units/vector/way_out.h"

enum {
    WRITE_TXN = 1, /* of every MEM_WR_REQ (noc-and-memory §2.3) */
};

void way_out_init(struct way_out *out, const struct unit_context *context) {
    *out = (struct way_out){.x = context->place->x,
                            .y = context->place->y,
                            .port_x = context->port_x,
                            .port_y = context->port_y,
                            .taken = CYCLE_NEVER,
                            .send = FLIT_NONE};
}

void way_out_put(struct way_out *out, const struct request *request, cycle_t now) {
    out->queued = *request;
    out->full = true;
    out->announced = false;
    out->full_from = now + 1;
    out->taken = CYCLE_NEVER;
}

static struct flit *load(struct way_out *out, struct flit_pool *pool, enum flit_type type, unsigned x, unsigned y) {
    out->send = flit_new(pool);
    out->send_type = type;
    struct flit *flit = flit_at(pool, out->send);
    *flit = (struct flit){.dst_x = (uint16_t)x,
                          .dst_y = (uint16_t)y,
                          .src_x = (uint16_t)out->x,
                          .src_y = (uint16_t)out->y,
                          .type = (uint8_t)type};
    return flit;
}

static void load_acknowledgement(struct way_out *out, struct local_store *l1, struct flit_pool *pool) {
    struct flit *flit = load(out, pool, FLIT_CU_SIGNAL, l1->ack_x, l1->ack_y);
    flit->last = 1;
    word_set(&flit->payload, 248, 8, SIGNAL_DATA_RECEIVED);
    word_set(&flit->payload, 216, 32, l1->ack_buffer);
    l1->ack_waits = false;
}

static void load_read(struct way_out *out, struct flit_pool *pool) {
    struct flit *flit = load(out, pool, FLIT_MEM_RD_REQ, out->port_x, out->port_y);
    flit->txn = out->queued.tag;
    flit->last = 1;
    word_set(&flit->payload, 216, 40, out->queued.address);
    out->read_requests++;
}

static void load_write(struct way_out *out, struct flit_pool *pool) {
    struct flit *flit = load(out, pool, FLIT_MEM_WR_REQ, out->port_x, out->port_y);
    flit->txn = WRITE_TXN;
    word_set(&flit->payload, 216, 40, out->queued.address);
    out->half = true;
    out->half_word = out->queued.word;
    out->write_words++;
}

static void load_half(struct way_out *out, struct flit_pool *pool) {
    struct flit *flit = load(out, pool, FLIT_MEM_WR_DATA, out->port_x, out->port_y);
    flit->last = 1;
    flit->payload = out->half_word;
    out->half = false;
}

static struct flit *load_data(struct way_out *out, struct flit_pool *pool) {
    const struct request *queued = &out->queued;
    struct flit *flit = load(out, pool, FLIT_CU_DATA, queued->dst_x, queued->dst_y);
    flit->txn = queued->txn;
    flit->rsvd = queued->rsvd;
    return flit;
}

static void load_announcement(struct way_out *out, struct flit_pool *pool) {
    const struct request *queued = &out->queued;
    struct word256 *payload = &load_data(out, pool)->payload;
    word_set(payload, 248, 8, queued->buffer);
    word_set(payload, 232, 16, queued->granule);
    word_set(payload, 224, 8, queued->length);
    word_set(payload, 216, 8, queued->flags);
    word_set(payload, 208, 8, queued->ack);
    out->announced = true;
}

static void load_granule(struct way_out *out, struct flit_pool *pool) {
    struct flit *flit = load_data(out, pool);
    flit->last = out->queued.last;
    flit->payload = out->queued.word;
}

/* Turns the word in Q into a flit in S; a burst's descriptor goes first and leaves the word where it is. */
static void take_request(struct way_out *out, struct flit_pool *pool, cycle_t now) {
    if (out->queued.kind == REQUEST_NODE && out->queued.announce && !out->announced) {
        load_announcement(out, pool);
        return;
    }
    static void (*const loaders[])(struct way_out *, struct flit_pool *) = {
        [REQUEST_FILL] = load_read, [REQUEST_WRITE] = load_write, [REQUEST_NODE] = load_granule};
    loaders[out->queued.kind](out, pool);
    out->taken = now;
}

static bool request_waits(const struct way_out *out) {
    return out->full && out->taken == CYCLE_NEVER;
}

void way_out_step(struct way_out *out, struct local_store *l1, struct unit_io *io) {
    if (out->send != FLIT_NONE) {
        if (!io->send_ready)
            return;
        io->send = out->send;
        out->send = FLIT_NONE;
    }
    if (out->half)
        load_half(out, io->pool);
    else if (l1->ack_waits && l1->ack_from <= io->now)
        load_acknowledgement(out, l1, io->pool);
    else if (request_waits(out) && out->full_from <= io->now)
        take_request(out, io->pool, io->now);
}

bool way_out_busy(const struct way_out *out, const struct local_store *l1) {
    return out->send != FLIT_NONE || out->half || l1->ack_waits || request_waits(out);
}

bool way_out_drains(const struct way_out *out) {
    bool sending = out->send != FLIT_NONE && out->send_type != FLIT_CU_SIGNAL && out->send_type != FLIT_MEM_RD_REQ;
    return out->half || sending || (request_waits(out) && out->queued.kind != REQUEST_FILL);
}
