/* L1 of the vector core; see local.h. */
#include "units/vector/local.h"

#include <string.h>

#include <glib.h>

enum {
    POISON = 0x7E,       /* every FP16 and FP32 made of it is a NaN */
    RECEIVE_LATENCY = 2, /* popped in p, handed over in p+1, written in p+2; seen by the barrier from p+2 (§8.2) */
    BURST_BUFFERS = 1,   /* buffer 0 is L1, no other exists */
};

static bool bit_test(const uint64_t *bits, unsigned index) {
    return bits[index / 64] >> index % 64 & 1;
}

static void bit_set(uint64_t *bits, unsigned index) {
    bits[index / 64] |= UINT64_C(1) << index % 64;
}

static void bit_clear(uint64_t *bits, unsigned index) {
    bits[index / 64] &= ~(UINT64_C(1) << index % 64);
}

void local_init(struct local_store *l1, unsigned depth, const char *name, struct hazard_log *hazards, bool ack_rejected,
                bool poison) {
    depth = MIN(depth, (unsigned)L1_WORDS);
    *l1 = (struct local_store){.words = g_new0(struct word256, depth),
                               .depth = depth,
                               .name = name,
                               .hazards = hazards,
                               .ack_rejected = ack_rejected,
                               .handed = CYCLE_NEVER};
    if (poison)
        memset(l1->words, POISON, depth * sizeof *l1->words);
}

void local_clear(struct local_store *l1) {
    g_free(l1->words);
    *l1 = (struct local_store){0};
}

/* ---- the store ---- */

static const struct local_write *late(const struct local_store *l1, unsigned position) {
    return &l1->late[(l1->late_head + position) % LOCAL_LATE];
}

void local_write(struct local_store *l1, cycle_t cycle, unsigned index, const struct word256 *word) {
    while (l1->late_count && late(l1, 0)->cycle + LOCAL_WINDOW < cycle) {
        l1->words[late(l1, 0)->index] = late(l1, 0)->word;
        l1->late_head = (l1->late_head + 1) % LOCAL_LATE;
        l1->late_count--;
    }
    g_assert(l1->late_count < LOCAL_LATE);
    l1->late[(l1->late_head + l1->late_count++) % LOCAL_LATE] =
        (struct local_write){.cycle = cycle, .index = (uint16_t)index, .word = *word};
    bit_set(l1->set, index);
    bit_set(l1->touched, index);
    l1->writes++;
}

struct word256 local_peek(const struct local_store *l1, cycle_t cycle, unsigned index) {
    for (unsigned i = l1->late_count; i-- > 0;)
        if (late(l1, i)->index == index && late(l1, i)->cycle <= cycle)
            return late(l1, i)->word;
    return l1->words[index];
}

/* True if the burst being received has announced the word and not delivered it. */
static bool burst_owes(const struct local_store *l1, unsigned index) {
    const struct peer_burst *burst = &l1->burst;
    return burst->open && !burst->drop && index >= burst->pointer && index - burst->pointer < burst->left;
}

/* True if the word's response has been popped but is not written yet. */
static bool on_its_way(const struct local_store *l1, cycle_t cycle, unsigned index) {
    for (unsigned i = 0; i < l1->late_count; i++)
        if (late(l1, i)->index == index && late(l1, i)->cycle > cycle)
            return true;
    return false;
}

struct word256 local_read(struct local_store *l1, cycle_t cycle, unsigned index) {
    bit_set(l1->touched, index);
    if (bit_test(l1->awaited, index) || on_its_way(l1, cycle, index))
        hazard_report(l1->hazards, "vec.l1_before_fill", cycle, l1->name,
                      "L1 word %u is read before the fill that asked for it has come; put a VBAR between", index);
    else if (burst_owes(l1, index))
        hazard_report(l1->hazards, "vec.l1_before_peer", cycle, l1->name,
                      "L1 word %u is read while node (%u,%u) is still sending it", index, l1->burst.source_x,
                      l1->burst.source_y);
    else if (!bit_test(l1->set, index))
        hazard_report(l1->hazards, "vec.unset_read", cycle, l1->name, "L1 word %u is read and was never written",
                      index);
    return local_peek(l1, cycle, index);
}

unsigned local_index(struct local_store *l1, uint64_t address, cycle_t now) {
    if (address >= l1->depth)
        hazard_report(l1->hazards, "vec.l1_wraps", now, l1->name,
                      "L1 address %" G_GINT64_MODIFIER "u names word %u of %u", address,
                      (unsigned)(address % L1_WORDS % l1->depth), l1->depth);
    return (unsigned)(address % L1_WORDS % l1->depth);
}

/* ---- fills ---- */

void local_expect(struct local_store *l1, unsigned index) {
    l1->outstanding++;
    l1->tag_high[index % FILL_TAGS] = (uint8_t)(index / FILL_TAGS);
    bit_set(l1->awaited, index);
    bit_set(l1->touched, index);
}

cycle_t local_settled(const struct local_store *l1) {
    return l1->outstanding ? CYCLE_NEVER : l1->settled_from;
}

/* ---- the way in ---- */

static void hand_over(struct local_store *l1, unsigned index, const struct flit *flit, cycle_t now) {
    l1->handed = now + 1;
    local_write(l1, now + RECEIVE_LATENCY, index, &flit->payload);
}

static void receive_response(struct local_store *l1, const struct flit *flit, cycle_t now) {
    unsigned index = ((unsigned)l1->tag_high[flit->txn] * FILL_TAGS + flit->txn) % l1->depth;
    bit_clear(l1->awaited, index);
    hand_over(l1, index, flit, now);
    if (l1->outstanding && --l1->outstanding == 0)
        l1->settled_from = now + RECEIVE_LATENCY;
}

static void reject(struct local_store *l1, cycle_t now) {
    l1->burst.drop = true;
    l1->rejected = true;
    l1->rejected_from = now + RECEIVE_LATENCY;
}

static void open_burst(struct local_store *l1, const struct flit *flit, cycle_t now) {
    const struct word256 *payload = &flit->payload;
    unsigned offset = word_get(payload, 232, 16), length = word_get(payload, 224, 8);
    unsigned ack_y = word_get(payload, 212, 4), ack_x = word_get(payload, 208, 4);
    bool back = ack_x == 0 && ack_y == 0;
    l1->burst = (struct peer_burst){.open = true,
                                    .acknowledge = word_get(payload, 216, 1),
                                    .buffer = (uint8_t)word_get(payload, 248, 8),
                                    .pointer = (uint16_t)offset,
                                    .left = (uint16_t)(length + 1),
                                    .source_x = flit->src_x,
                                    .source_y = flit->src_y,
                                    .ack_x = back ? flit->src_x : (uint16_t)ack_x,
                                    .ack_y = back ? flit->src_y : (uint16_t)ack_y};
    if (l1->burst.buffer < BURST_BUFFERS && offset + length < l1->depth)
        return;
    hazard_report(l1->hazards, "cudata.rejected", now, l1->name,
                  "a burst from (%u,%u) names buffer %u, words %u..%u; it is counted off and dropped", flit->src_x,
                  flit->src_y, l1->burst.buffer, offset, offset + length);
    reject(l1, now);
    l1->burst.acknowledge = l1->burst.acknowledge && l1->ack_rejected;
}

static void close_burst(struct local_store *l1, cycle_t now) {
    l1->burst.open = false;
    if (!l1->burst.acknowledge)
        return;
    l1->ack_waits = true;
    l1->ack_from = now + 1;
    l1->ack_x = l1->burst.ack_x;
    l1->ack_y = l1->burst.ack_y;
    l1->ack_buffer = l1->burst.buffer;
}

static void receive_data(struct local_store *l1, const struct flit *flit, cycle_t now) {
    struct peer_burst *burst = &l1->burst;
    if (!burst->open) {
        open_burst(l1, flit, now);
        return;
    }
    bool foreign = flit->src_x != burst->source_x || flit->src_y != burst->source_y;
    if (foreign) {
        hazard_report(l1->hazards, "cudata.interleaved", now, l1->name,
                      "a flit from (%u,%u) came inside a burst from (%u,%u); the rest of the burst is dropped",
                      flit->src_x, flit->src_y, burst->source_x, burst->source_y);
        reject(l1, now);
        burst->acknowledge = false;
    }
    if (!burst->drop)
        hand_over(l1, burst->pointer++, flit, now);
    if (--burst->left == 0)
        close_burst(l1, now);
}

void local_receive(struct local_store *l1, const struct flit *flit, cycle_t now) {
    switch (flit->type) {
    case FLIT_MEM_RD_RESP:
        receive_response(l1, flit, now);
        break;
    case FLIT_CU_DATA:
        receive_data(l1, flit, now);
        break;
    case FLIT_MEM_WR_ACK:
        break;
    default:
        hazard_report(l1->hazards, "flit.unknown_type", now, l1->name, "a flit of type %u was popped and dropped",
                      flit->type);
    }
}

/* ---- footprint ---- */

unsigned local_footprint(const struct local_store *l1) {
    unsigned words = 0;
    for (unsigned i = 0; i < L1_WORDS / 64; i++)
        words += (unsigned)__builtin_popcountll(l1->touched[i]);
    return words;
}

void local_footprint_reset(struct local_store *l1) {
    memset(l1->touched, 0, sizeof l1->touched);
}
