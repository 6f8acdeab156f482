/* The generator against the known answers of noc-and-memory §8.5. */
#include "memory/philox.h"

#include <glib.h>

static void known_blocks(void) {
    uint32_t zeros[PHILOX_LANES] = {0}, ones[PHILOX_LANES] = {~0u, ~0u, ~0u, ~0u};
    const uint32_t of_zeros[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    const uint32_t of_ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    philox(zeros, 0, 0);
    philox(ones, ~0u, ~0u);
    for (unsigned i = 0; i < PHILOX_LANES; i++) {
        g_assert_cmphex(zeros[i], ==, of_zeros[i]);
        g_assert_cmphex(ones[i], ==, of_ones[i]);
    }
}

static void known_words(void) {
    static const struct {
        uint64_t seed, address;
        uint32_t words[8];
    } known[] = {
        {0, 0x0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0x6ad0c5ec, 0xea236249, 0x73a459f5, 0x074944b3}},
        {0, 0x20, {0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67, 0x6da11836, 0xe4c29d23, 0xfc0d53ee, 0x645d5243}},
        {0x0123456789abcdef,
         0x4000,
         {0xe338cca7, 0xa0392432, 0xfc10134a, 0x7ba511ae, 0xd7e97fe8, 0x03016683, 0xfb8b642e, 0x6ca46725}},
        {1,
         UINT64_C(0x1200000040),
         {0x15b18eea, 0xc81f295a, 0x21ec01eb, 0xe5d4d9a3, 0x54eb6763, 0xfb8ddac9, 0xd40c8322, 0x57c6cff1}},
        {0xdeadbeefcafef00d,
         UINT64_C(0x3000000000),
         {0x91223f62, 0xa1d71a35, 0xd47ab0f8, 0xba2f271e, 0x8a81471b, 0xc2beba41, 0x37788610, 0x7716767d}},
    };
    for (unsigned n = 0; n < G_N_ELEMENTS(known); n++) {
        struct word256 word = {{0}};
        for (unsigned half = 0; half < 2; half++)
            philox_half(&word, half, known[n].seed, known[n].address);
        for (unsigned i = 0; i < 8; i++)
            g_assert_cmphex(word_get(&word, 32 * i, 32), ==, known[n].words[i]);
    }
}

static void bytes_depend_on_the_word_not_on_the_byte_address(void) {
    struct word256 a = {{0}}, b = {{0}};
    philox_half(&a, 1, 7, 0x1234560);
    philox_half(&b, 1, 7, 0x123457F);
    g_assert_cmphex(a.w[3], ==, b.w[3]);
    philox_half(&b, 1, 7, 0x1234580);
    g_assert_cmphex(a.w[3], !=, b.w[3]);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/philox/known_blocks", known_blocks);
    g_test_add_func("/philox/known_words", known_words);
    g_test_add_func("/philox/bytes_depend_on_the_word_not_on_the_byte_address",
                    bytes_depend_on_the_word_not_on_the_byte_address);
    return g_test_run();
}
