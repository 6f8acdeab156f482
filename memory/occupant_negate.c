/* Example of a transform occupant: flips the sign bit of the FP16 elements that a mask register selects. A new occupant
 * is a page like this one: a state, three callbacks, and the table at the end; transform_find() gets its name. */
#include "memory/transform.h"

enum {
    SIGNS_PER_WORD = 16, /* FP16 elements of a beat, and bits of the mask */
    REG_KEEP = 0x08,     /* bit i: element i of every beat keeps its sign */
    LATENCY = 2,
};

struct negate {
    uint32_t keep;
    unsigned count;
    struct word256 words[TRANSFORM_WORDS];
};

static void negate_start(void *state, unsigned id, unsigned mode) {
    (void)id, (void)mode;
    ((struct negate *)state)->count = 0;
}

static void negate_beat(void *state, const struct word256 *beat) {
    struct negate *negate = state;
    struct word256 *word = &negate->words[negate->count++];
    *word = *beat;
    for (unsigned i = 0; i < SIGNS_PER_WORD; i++)
        if (!(negate->keep >> i & 1))
            word->w[i / 4] ^= UINT64_C(0x8000) << (16 * (i % 4));
}

static unsigned negate_finish(void *state, struct word256 words[TRANSFORM_WORDS]) {
    const struct negate *negate = state;
    for (unsigned i = 0; i < TRANSFORM_WORDS; i++)
        words[i] = negate->words[i];
    return LATENCY;
}

static void negate_cfg_write(void *state, unsigned reg, uint32_t value) {
    if (reg == REG_KEEP)
        ((struct negate *)state)->keep = value;
}

static uint32_t negate_cfg_read(const void *state, unsigned reg) {
    return reg == REG_KEEP ? ((const struct negate *)state)->keep : 0;
}

const struct transform_occupant transform_negate = {.name = "negate",
                                                    .in_bits = TRANSFORM_WORDS * WORD_BITS,
                                                    .out_words = TRANSFORM_WORDS,
                                                    .state_size = sizeof(struct negate),
                                                    .start = negate_start,
                                                    .beat = negate_beat,
                                                    .finish = negate_finish,
                                                    .cfg_write = negate_cfg_write,
                                                    .cfg_read = negate_cfg_read};
