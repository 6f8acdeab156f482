/* Transform occupant: FP16 to MXFP7 operand entries (noc-and-memory §9; arithmetic in model/numeric/mxfp7.h). Eight
 * beats are four lanes of 32 K elements, two beats a lane; mode bit 0 chooses the packing. No registers, no faults. */
#include "memory/transform.h"

#include "model/numeric/mxfp7.h"

enum {
    ELEMENT_BITS = 16,
    ELEMENTS = WORD_BITS / ELEMENT_BITS, /* of a beat */
    BEATS = MXFP7_LANES * MXFP7_BLOCK / ELEMENTS,
    LATENCY = 9, /* D_x, §9.7: fold, peaks, scales, four words packed, finish, done */
};

struct quantiser {
    enum mxfp7_packing packing;
    unsigned count; /* beats taken */
    uint16_t lanes[MXFP7_LANES][MXFP7_BLOCK];
};

static void quantiser_start(void *state, unsigned id, unsigned mode) {
    (void)id;
    struct quantiser *quantiser = state;
    quantiser->packing = mode & 1 ? MXFP7_COLUMNS : MXFP7_ROWS;
    quantiser->count = 0;
}

static void quantiser_beat(void *state, const struct word256 *beat) {
    struct quantiser *quantiser = state;
    unsigned first = quantiser->count++ * ELEMENTS;
    for (unsigned i = 0; i < ELEMENTS; i++)
        quantiser->lanes[(first + i) / MXFP7_BLOCK][(first + i) % MXFP7_BLOCK] =
            (uint16_t)word_get(beat, ELEMENT_BITS * i, ELEMENT_BITS);
}

static unsigned quantiser_finish(void *state, struct word256 words[TRANSFORM_WORDS]) {
    const struct quantiser *quantiser = state;
    struct mxfp7_entry entry;
    mxfp7_quantise(quantiser->lanes, &entry);
    mxfp7_pack(&entry, quantiser->packing, words);
    return LATENCY;
}

const struct transform_occupant transform_quantiser = {.name = "quantiser",
                                                       .in_bits = BEATS * WORD_BITS,
                                                       .out_words = MXFP7_WORDS,
                                                       .state_size = sizeof(struct quantiser),
                                                       .start = quantiser_start,
                                                       .beat = quantiser_beat,
                                                       .finish = quantiser_finish};
