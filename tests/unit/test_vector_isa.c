/* Vector envelopes and words: recorded encodings, round trips of bits and text, refusals. */
#include "model/isa/vector.h"

#include <string.h>

#include "model/isa/lex.h"
#include "model/isa/vector_text.h"
#include "unit/isa_random.h"

enum {
    ROUNDS = 200000,
};

/* The single word of a text line; its text form must be the line again. */
static uint32_t word_of(const char *text) {
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autofree char *label = NULL;
    struct asm_line line;
    GError *error = NULL;
    asm_line_split(&line, "test", 1, text);
    vector_text_parse(&line, 0, words, &label, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(words->len, ==, 1);
    asm_line_clear(&line);
    return g_array_index(words, uint32_t, 0);
}

/* compute-units §9.5 */
static void test_recorded_words(void) {
    static const struct {
        const char *text;
        uint32_t bits;
    } cases[] = {
        {"vadd v4, v1, v2", 0x18082040},
        {"vfma v4, v1, s5, k1", 0x30e82a20},
        {"vmov v2, v3 where p1", 0x0004600a},
        {"vcmplt p2, v1, k0", 0x59802010},
        {"vred.dot s3, v1, v2", 0x98062480},
        {"vld.fp16 v1, [a3+8]", 0xa1620008},
        {"vst.fp32 [a3-1], v1", 0xaa623fff},
        {"vsetmode tree", 0xc8006000},
        {"vseti s5", 0xd00a0000},
        {"vseti k3", 0xd6000000},
        {"vloop s5, 6", 0xd800ac00},
        {"vfill a2 l1=64", 0xe8400040},
        {"vdrain a2 l1=64 dst=(3,1) buf=0 ack", 0xf3462040},
        {"vhalt", 0xf8000000},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_assert_cmphex(word_of(cases[i].text), ==, cases[i].bits);
        vector_word_print(cases[i].bits, text);
        g_assert_cmpstr(text->str, ==, cases[i].text);
    }
}

/* The same words from the struct, so that the codec is checked without the parser. */
static void test_recorded_structs(void) {
    static const struct {
        struct vector_word word;
        uint32_t bits;
    } cases[] = {
        {{.op = VECTOR_FMA, .vd = 4, .va = 1, .sb = VECTOR_SELECT_S, .vb = 5, .sc = VECTOR_SELECT_K, .vc = 1},
         0x30e82a20},
        {{.op = VECTOR_MOV, .vd = 2, .va = 3, .pr = 1, .pm = VECTOR_WHERE_SET}, 0x0004600a},
        {{.op = VECTOR_RED, .vd = 3, .va = 1, .vb = 2, .kind = VECTOR_RED_DOT}, 0x98062480},
        {{.op = VECTOR_ST, .dtype = VECTOR_FP32, .ad = 3, .vd = 1, .offset = -1}, 0xaa623fff},
        {{.op = VECTOR_SETMODE, .mode = VECTOR_TREE}, 0xc8006000},
        {{.op = VECTOR_LOOP, .va = 5, .vb = 6}, 0xd800ac00},
        {{.op = VECTOR_DRAIN, .to_node = 1, .ack = 1, .ad = 2, .dst_x = 3, .dst_y = 1, .l1 = 64}, 0xf3462040},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint32_t bits;
        g_assert_true(vector_word_encode(&cases[i].word, &bits, NULL));
        g_assert_cmphex(bits, ==, cases[i].bits);
    }
}

/* Decode and encode of any bits keep exactly the bits the opcode has, and the second time changes nothing. */
static void test_word_round_trip(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(2);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t bits = g_rand_int(random), first, second;
        struct vector_word word, again;
        vector_word_decode(bits, &word);
        g_assert_true(vector_word_encode(&word, &first, NULL));
        g_assert_cmphex(first & ~bits, ==, 0);
        vector_word_decode(first, &again);
        g_assert_true(vector_word_encode(&again, &second, NULL));
        g_assert_cmphex(first, ==, second);
        const struct isa_layout *layout = vector_word_layout(&word);
        for (unsigned i = 0; i < layout->count; i++)
            g_assert_cmphex(field_load(&layout->fields[i], &word), ==, field_load(&layout->fields[i], &again));
    }
}

/* Text of any bits gives the bits again, whether it is a mnemonic or .word; both occur for every opcode but few. */
static void test_text_round_trip(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    unsigned mnemonics = 0;
    for (unsigned round = 0; round < ROUNDS / 4; round++) {
        uint32_t bits = g_rand_int(random);
        struct vector_word word;
        vector_word_decode(bits, &word);
        if (round % 4)
            g_assert_true(vector_word_encode(&word, &bits, NULL));
        g_autoptr(GString) text = g_string_new(NULL);
        vector_word_print(bits, text);
        mnemonics += text->str[0] != '.';
        g_assert_cmphex(word_of(text->str), ==, bits);
    }
    g_assert_cmpuint(mnemonics, >, ROUNDS / 8);
}

static void test_chain_words(void) {
    /* a later word of a chain must not select V, not even for an operand its op ignores (§7.6) */
    struct vector_word word;
    vector_word_decode(word_of("+ vmul v3, c, s1"), &word);
    g_assert_cmpuint(word.sa, ==, VECTOR_SELECT_C);
    g_assert_cmpuint(word.sb, ==, VECTOR_SELECT_S);
    g_assert_cmpuint(word.sc, ==, VECTOR_SELECT_C);
    vector_word_decode(word_of("+ vmul v3, c, s1 c=k2"), &word);
    g_assert_cmpuint(word.sc, ==, VECTOR_SELECT_K);
    g_assert_cmpuint(word.vc, ==, 2);
}

static void test_word_refusals(void) {
    static const struct {
        struct vector_word word;
        const char *field;
    } cases[] = {
        {{.op = VECTOR_ADD, .sa = 4}, "sa"},
        {{.op = VECTOR_ADD, .sc = 4}, "sc"},
        {{.op = VECTOR_ADD, .vd = 16}, "vd"},
        {{.op = VECTOR_ADD, .vc = 16}, "vc"},
        {{.op = VECTOR_ADD, .pr = 4}, "pr"},
        {{.op = VECTOR_ADD, .pm = 4}, "pm"},
        {{.op = VECTOR_RED, .kind = 8}, "kind"},
        {{.op = VECTOR_LD, .dtype = 8}, "dtype"},
        {{.op = VECTOR_LD, .offset = 8192}, "offset"},
        {{.op = VECTOR_ST, .offset = -8193}, "offset"},
        {{.op = VECTOR_LOOP, .vb = 16}, "vb"},
        {{.op = VECTOR_SETMODE, .mode = 4}, "mode"},
        {{.op = VECTOR_FILL, .l1 = 512}, "l1"},
        {{.op = VECTOR_DRAIN, .to_node = 1, .dst_y = 16}, "dst_y"},
        {{.op = 32}, "op"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint32_t bits;
        GError *error = NULL;
        g_autofree char *named = g_strdup_printf("field %s = ", cases[i].field);
        g_assert_false(vector_word_encode(&cases[i].word, &bits, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
        g_assert_nonnull(strstr(error->message, named));
        g_error_free(error);
    }
}

/* Bits of compute-units §7.3 written out. */
static void test_envelope_places(void) {
    struct word256 payload;
    g_assert_true(vector_envelope_encode(&(struct vector_envelope){.op = VECTOR_IMEM, .pc = 511, .word = 0x89abcdef},
                                         &payload, NULL));
    g_assert_cmphex(payload.w[3], ==, UINT64_C(0x1ff8000000000000));
    g_assert_cmphex(payload.w[0], ==, 0x89abcdef);
    g_assert_true(vector_envelope_encode(
        &(struct vector_envelope){.op = VECTOR_DESC, .descriptor = 5, .field = 3, .value = UINT64_C(0xffffffffff)},
        &payload, NULL));
    g_assert_cmphex(word_get(&payload, 249, 3), ==, 5);
    g_assert_cmphex(word_get(&payload, 246, 3), ==, 3);
    g_assert_cmphex(word_get(&payload, 212, 34), ==, UINT64_C(0x3ffffffff));
    g_assert_cmphex(word_get(&payload, 63, 6), ==, 0x3f);
    g_assert_true(vector_envelope_encode(&(struct vector_envelope){.op = VECTOR_RUN, .pc = 3}, &payload, NULL));
    g_assert_cmphex(payload.w[3], ==, UINT64_C(0x3018000000000000));
}

static void test_envelope_round_trip(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(4);
    for (unsigned round = 0; round < 2000; round++) {
        struct word256 bits = random_word(random), payload, second;
        struct vector_envelope envelope, back;
        word_set(&bits, 252, 4, round % 5);
        vector_envelope_decode(&bits, &envelope);
        g_assert_true(vector_envelope_encode(&envelope, &payload, NULL));
        vector_envelope_decode(&payload, &back);
        g_assert_true(vector_envelope_encode(&back, &second, NULL));
        g_assert_cmpmem(&payload, sizeof payload, &second, sizeof second);
        g_assert_cmphex(envelope.value, ==, back.value);
        g_assert_cmphex(envelope.word, ==, back.word);
        g_assert_cmpuint(envelope.pc, ==, back.pc);
    }
}

static void test_envelope_refusals(void) {
    static const struct {
        struct vector_envelope envelope;
        const char *field;
    } cases[] = {
        {{.op = VECTOR_IMEM, .pc = 512}, "pc"},
        {{.op = VECTOR_RUN, .pc = 512}, "pc"},
        {{.op = VECTOR_DESC, .descriptor = 8}, "descriptor"},
        {{.op = VECTOR_DESC, .field = 8}, "field"},
        {{.op = VECTOR_DESC, .value = UINT64_C(1) << 40}, "value"},
        {{.op = 16}, "op"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct word256 payload;
        GError *error = NULL;
        g_autofree char *named = g_strdup_printf("field %s = ", cases[i].field);
        g_assert_false(vector_envelope_encode(&cases[i].envelope, &payload, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
        g_assert_nonnull(strstr(error->message, named));
        g_error_free(error);
    }
}

static void test_dimension(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(5);
    for (unsigned round = 0; round < 2000; round++) {
        int32_t stride = g_rand_int_range(random, -131072, 131072), stride_back;
        uint16_t bound = (uint16_t)g_rand_int(random), bound_back;
        uint64_t value;
        g_assert_true(vector_dimension_encode(stride, bound, &value, NULL));
        g_assert_cmphex(value >> 34, ==, 0);
        vector_dimension_decode(value, &stride_back, &bound_back);
        g_assert_cmpint(stride, ==, stride_back);
        g_assert_cmpint(bound, ==, bound_back);
    }
    uint64_t value;
    GError *error = NULL;
    g_assert_false(vector_dimension_encode(131072, 1, &value, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
    g_assert_nonnull(strstr(error->message, "field stride = 131072 "));
    g_error_free(error);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vector_isa/recorded_words", test_recorded_words);
    g_test_add_func("/vector_isa/recorded_structs", test_recorded_structs);
    g_test_add_func("/vector_isa/word_round_trip", test_word_round_trip);
    g_test_add_func("/vector_isa/text_round_trip", test_text_round_trip);
    g_test_add_func("/vector_isa/chain_words", test_chain_words);
    g_test_add_func("/vector_isa/word_refusals", test_word_refusals);
    g_test_add_func("/vector_isa/envelope_places", test_envelope_places);
    g_test_add_func("/vector_isa/envelope_round_trip", test_envelope_round_trip);
    g_test_add_func("/vector_isa/envelope_refusals", test_envelope_refusals);
    g_test_add_func("/vector_isa/dimension", test_dimension);
    return g_test_run();
}
