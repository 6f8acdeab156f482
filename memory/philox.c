/* Philox 4x32-10; see philox.h. */
#include "memory/philox.h"

enum {
    LANE_HALVES = 2, /* 64-bit lanes of a memory word that one call fills */
};

#define MULTIPLIER_0 UINT64_C(0xD2511F53)
#define MULTIPLIER_2 UINT64_C(0xCD9E8D57)
#define KEY_STEP_0   UINT32_C(0x9E3779B9)
#define KEY_STEP_1   UINT32_C(0xBB67AE85)

void philox(uint32_t c[PHILOX_LANES], uint32_t k0, uint32_t k1) {
    for (unsigned round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p = MULTIPLIER_0 * c[0], q = MULTIPLIER_2 * c[2];
        uint32_t next[PHILOX_LANES] = {(uint32_t)(q >> 32) ^ c[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ k1,
                                       (uint32_t)p};
        for (unsigned i = 0; i < PHILOX_LANES; i++)
            c[i] = next[i];
        k0 += KEY_STEP_0;
        k1 += KEY_STEP_1;
    }
}

void philox_half(struct word256 *word, unsigned half, uint64_t seed, uint64_t address) {
    uint64_t place = address / WORD_BYTES;
    uint32_t c[PHILOX_LANES] = {(uint32_t)place, 2 * (uint32_t)(place >> 32 & bit_mask(3)) + half};
    philox(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    for (unsigned i = 0; i < LANE_HALVES; i++)
        word->w[LANE_HALVES * half + i] = c[2 * i] | (uint64_t)c[2 * i + 1] << 32;
}
