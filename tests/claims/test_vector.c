/* Claims about the vector core: I52 to I59, each on the core itself. */
#include "model/isa/cluster.h"
#include "vector_bench.h"

/* ---- I52: 32 opcodes in a 32-bit word; a word a flit, or eight ---- */

/* Every opcode once. The last word is VHALT. */
static const char every_opcode[] =
    "vmov v1, k1\nvneg v2, v1\nvabs v3, v2\nvadd v4, v1, v2\nvsub v4, v1, v2\nvmul v4, v1, v2\nvfma v4, v1, v2, v3\n"
    "vfnma v4, v1, v2, v3\nvmax v4, v1, v2\nvmin v4, v1, v2\nvsel v4, v1, v2, v3\nvcmplt p1, v1, v2\n"
    "vcmpgt p2, v1, v2\nvcmpeq p3, v1, v2\nvexp2 v5, v1\nvlog2 v5, v1\nvinv v5, v1\nvrsqrt v5, v1\n"
    "vcvt.fp16 v6, v5\nvld.fp16 v7, [a0]\nvst.fp16 [a0], v1\nvseti s1, 1\nvbcast v8, s1\nvshuf v9, v8, s1\n"
    "vseti s2, 128\nvsetvl s2\nvsetmode tree\nvred.sum s3, v1, v1\nvsetmode flat\nvloop s1, 1\nvmov v10, k1\nvbar\n"
    "vfill a1 l1=64\nvdrain a1 l1=0\nvhalt";

static GArray *kernel_of_128_words(void) {
    GArray *words = vb_assemble(every_opcode);
    uint32_t move = 0;
    GArray *filler = vb_assemble("vmov v11, k1");
    move = g_array_index(filler, uint32_t, 0);
    g_array_unref(filler);
    while (words->len < 128)
        g_array_prepend_val(words, move);
    return words;
}

static struct vector_bench *descriptors(unsigned words_per_flit) {
    struct vector_bench *b = g_new(struct vector_bench, 1);
    vb_init(b);
    b->machine.vector.imem_words_per_flit = words_per_flit;
    vb_open(b);
    vb_desc(b, 0, 0, 1, 16);
    vb_desc(b, 1, 0x1000, 32, 8);
    return b;
}

static void test_claim_I52(void) {
    GArray *words = kernel_of_128_words();
    const uint32_t *word = (const uint32_t *)words->data;
    bool seen[VECTOR_OPS] = {false};

    struct vector_bench *single = descriptors(1), *packed = descriptors(8);
    unsigned before = single->queue->len;
    vb_words(single, 0, word, words->len);
    g_assert_cmpuint(single->queue->len - before, ==, 128);

    vb_envelope(packed, &(struct vector_envelope){.op = VECTOR_IMEM, .pc = 0, .word = words->len});
    for (unsigned i = 0; i < words->len; i += 8) {
        struct word256 payload = {{0}};
        for (unsigned k = 0; k < 8; k++)
            word_set(&payload, 32 * k, 32, word[i + k]);
        vb_payload(packed, &payload);
    }
    g_assert_cmpuint(packed->queue->len - before, ==, 17);

    vb_start(single, 0);
    vb_go(single);
    vb_start(packed, 0);
    vb_go(packed);
    g_assert_false(single->run.fault);
    g_assert_cmpuint(single->run.result, ==, packed->run.result);
    g_assert_cmpuint(single->run.result, >, 128);
    g_assert_cmpmem(&single->state, sizeof single->state, &packed->state, sizeof packed->state);
    for (unsigned i = 0; i < single->row_count; i++)
        seen[word[single->rows[i].pc] >> 27] = true;
    for (unsigned op = 0; op < VECTOR_OPS; op++)
        if (!seen[op])
            g_error("%s was not executed", vector_op_name(op));
    g_assert_cmpuint(single->endpoint.retired, ==, 128 + 4 + 1);
    g_assert_cmpuint(packed->endpoint.retired, ==, 17 + 4 + 1);
    vb_free(single);
    vb_free(packed);
    g_array_unref(words);
}

/* ---- I53: selectors and predication of every arithmetic instruction ---- */

static const uint32_t sample[] = {0x3fa000, 0xc05e9b, 0x3e8123, E8M15_ONE};

/* v1, v2, v3 and s1, s2, s3 hold the first three values, k3 the fourth; p1 is set in the even elements only. */
static const char operands_set[] = "vseti s1, 0x3fa000\nvseti s2, 0xc05e9b\nvseti s3, 0x3e8123\nvseti k3, 0x3f8000\n"
                                   "vbcast v1, s1\nvbcast v2, s2\nvbcast v3, s3\nvld.fp16 v15, [a0]\n"
                                   "vcmpgt p1, v15, k0\nvmov v14, k2\nvsetmode flat\n";

static void check_alu(unsigned op, unsigned selector, unsigned pm) {
    static const uint8_t number[] = {[VECTOR_SELECT_V] = 1, [VECTOR_SELECT_S] = 1, [VECTOR_SELECT_K] = 3};
    struct vector_word word = {.op = (uint8_t)op,
                               .sa = (uint8_t)selector,
                               .sb = (uint8_t)selector,
                               .sc = (uint8_t)selector,
                               .vd = 14,
                               .pr = 1,
                               .pm = (uint8_t)pm};
    bool constant = selector == VECTOR_SELECT_K, compare = op >= VECTOR_CMPLT && op <= VECTOR_CMPEQ;
    word.va = number[selector];
    word.vb = (uint8_t)(number[selector] + (constant ? 0 : 1));
    word.vc = (uint8_t)(number[selector] + (constant ? 0 : 2));
    uint32_t bits, a = sample[constant ? 3 : 0], y = sample[constant ? 3 : 1], c = sample[constant ? 3 : 2];
    g_assert_true(vector_word_encode(&word, &bits, NULL));
    g_autofree char *text = g_strdup_printf("%s.word 0x%x\nvhalt", operands_set, bits);
    struct vector_bench *b = vb_new();
    uint16_t halves[VECTOR_LENGTH];
    for (unsigned e = 0; e < VECTOR_LENGTH; e++)
        halves[e] = e % 2 ? 0xBC00 : 0x3C00;
    vb_poke_halves(b, 0, halves, VECTOR_LENGTH);
    vb_desc(b, 0, 0, 1, 8);
    vb_run_text(b, text);
    struct e8m15_result expected = e8m15_alu((enum vec_op)op, a, y, c, E8M15_EXP2_WRAPS);
    for (unsigned e = 0; e < VECTOR_LENGTH; e++) {
        bool set = e % 2 == 0, write = pm == VECTOR_ALWAYS || set == (pm == VECTOR_WHERE_SET);
        if (compare)
            g_assert_cmpuint(b->state.p[1][e / 64] >> e % 64 & 1, ==, expected.predicate);
        else
            g_assert_cmphex(b->state.v[14][e], ==, write ? expected.value : (E8M15_ONE | E8M15_SIGN));
    }
    vb_free(b);
}

/* Move, scale and chain step in their own words and as the FMA with constants: the same bits in as many cycles. */
static void check_fma_forms(void) {
    struct vector_bench *b = vb_new();
    vb_run_text(b, "vseti s1, 0x3fa123\nvseti s2, 0xbf1234\nvbcast v1, s1\nvmov v2, v1\nvfma v3, v1, k1, k0\n"
                   "vmul v4, v1, s2\nvfma v5, v1, s2, k0\nvsetmode d2\nvfma v6, v1, s2, k0\n+ vadd v6, c, s1\n"
                   "vsetmode d2\nvfma v7, v1, s2, k0\n+ vfma v7, c, k1, s1\nvhalt");
    for (unsigned pair = 2; pair <= 6; pair += 2)
        g_assert_cmpmem(b->state.v[pair], sizeof b->state.v[0], b->state.v[pair + 1], sizeof b->state.v[0]);
    g_assert_cmphex(b->state.v[6][0], ==, e8m15_fma(e8m15_fma(0x3fa123, 0xbf1234, 0), E8M15_ONE, 0x3fa123));
    vb_free(b);
}

static void test_claim_I53(void) {
    static const unsigned selectors[] = {VECTOR_SELECT_V, VECTOR_SELECT_S, VECTOR_SELECT_K};
    for (unsigned op = VECTOR_MOV; op <= VECTOR_RSQRT; op++)
        for (unsigned s = 0; s < G_N_ELEMENTS(selectors); s++)
            for (unsigned pm = VECTOR_ALWAYS; pm <= VECTOR_WHERE_CLEAR; pm++)
                check_alu(op, selectors[s], pm);
    check_fma_forms();
}

/* ---- I54: the cast is a field of the store ---- */

static void test_claim_I54(void) {
    struct vector_bench *b = vb_new();
    vb_desc(b, 0, 0, 1, 64);
    vb_run_text(b, "vseti s1, 0x3f8123\nvbcast v1, s1\nvst.fp16 [a0], v1\nvst.fp32 [a0+8], v1\nvhalt");
    for (unsigned lane = 0; lane < LANES; lane++)
        g_assert_cmphex(vb_half(&b->state.l1[7], lane), ==, e8m15_to_f16(0x3f8123));
    for (unsigned lane = 0; lane < 8; lane++)
        g_assert_cmphex(word_get(&b->state.l1[8 + 15], 32 * lane, 32), ==, 0x3f812300);
    g_assert_cmpuint(b->state.l1_writes, ==, 8 + 16);
    vb_free(b);
}

/* ---- I55: the state ---- */

static void check_registers(struct vector_bench *b) {
    GString *text = g_string_new(NULL);
    for (unsigned r = 0; r < VECTOR_REGISTERS; r++)
        g_string_append_printf(text, "vseti s%u, %u\nvbcast v%u, s%u\n", r, 0x400000 + r, r, r);
    for (unsigned p = 0; p < PREDICATES; p++)
        g_string_append_printf(text, "vcmpeq p%u, v%u, s%u\n", p, p, p == 2 ? 3 : p);
    g_string_append(text, "vseti k3, 0x123456\nvseti s15, 77\nvsetvl s15\nvsetmode d4\nvhalt");
    vb_run_text(b, text->str);
    g_string_free(text, TRUE);
    g_assert_cmpuint(sizeof b->state.v / sizeof b->state.v[0], ==, 16);
    g_assert_cmpuint(sizeof b->state.v[0] / sizeof b->state.v[0][0], ==, 128);
    for (unsigned r = 0; r < VECTOR_REGISTERS; r++) {
        g_assert_cmphex(b->state.s[r], ==, r == 15 ? 77 : 0x400000 + r);
        for (unsigned e = 0; e < VECTOR_LENGTH; e++)
            g_assert_cmphex(b->state.v[r][e], ==, 0x400000 + r);
    }
    for (unsigned p = 0; p < PREDICATES; p++)
        for (unsigned half = 0; half < 2; half++)
            g_assert_cmphex(b->state.p[p][half], ==, p == 2 ? 0 : UINT64_MAX);
    static const uint32_t constants[] = {0, E8M15_ONE, E8M15_ONE | E8M15_SIGN, 0x123456};
    g_assert_cmpmem(b->state.k, sizeof b->state.k, constants, sizeof constants);
    g_assert_cmpuint(b->state.vl, ==, 77);
    g_assert_cmpuint(b->state.mode, ==, VECTOR_D4);
}

/* Eight descriptors, each with its own base: eight drains of one word. */
static void check_descriptors(struct vector_bench *b) {
    GString *text = g_string_new(NULL);
    for (unsigned ad = 0; ad < 8; ad++) {
        vb_desc(b, ad, 0x1000 + 0x100 * ad, 32, 1);
        g_string_append_printf(text, "vdrain a%u l1=%u\n", ad, ad);
    }
    g_string_append(text, "vhalt");
    vb_run_text(b, text->str);
    g_string_free(text, TRUE);
    for (unsigned ad = 0; ad < 8; ad++)
        g_assert_cmphex(word_get(&vb_sent(b, FLIT_MEM_WR_REQ, ad)->payload, 216, 40), ==, 0x1000 + 0x100 * ad);
}

static void test_claim_I55(void) {
    struct vector_bench *b = vb_new();
    check_registers(b);
    vb_free(b);
    b = vb_new();
    check_descriptors(b);
    vb_free(b);
}

/* ---- I56: one body, the tail by the length register ---- */

static void test_claim_I56(void) {
    static const unsigned lengths[] = {128, 100, 37, 16, 1};
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        struct vector_bench *b = vb_new();
        g_autofree char *text =
            g_strdup_printf("vmov v1, k2\nvseti s0, %u\nvsetvl s0\nvmov v1, k1\nvadd v1, v1, k1\nvhalt", lengths[i]);
        vb_run_text(b, text);
        for (unsigned e = 0; e < VECTOR_LENGTH; e++)
            g_assert_cmpfloat(vb_value(b->state.v[1][e]), ==, e < lengths[i] ? 2 : -1);
        vb_free(b);
    }
}

/* ---- I57: a transcendental takes one pass ---- */

static void test_claim_I57(void) {
    static const char *const texts[] = {"vfma v1, v2, v2, v2", "vexp2 v1, v2", "vlog2 v1, v2", "vinv v1, v2",
                                        "vrsqrt v1, v2"};
    cycle_t spent = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        struct vector_bench *b = vb_new();
        g_autofree char *text = g_strdup_printf("vmov v2, k1\nvsetmode flat\n%s\nvmov v3, v1\nvhalt", texts[i]);
        vb_run_text(b, text);
        g_assert_cmpuint(b->rows[2].last - b->rows[2].first, ==, 7); /* eight beats for 128 elements */
        g_assert_cmpuint(b->rows[3].first - b->rows[2].last, ==, 18);
        if (i)
            g_assert_cmpuint(b->run.result, ==, spent);
        spent = b->run.result;
        vb_free(b);
    }
}

/* ---- I58: reductions ---- */

static struct vector_bench *reduce(bool has_expsum) {
    struct vector_bench *b = g_new(struct vector_bench, 1);
    vb_init(b);
    b->machine.vector.has_expsum = has_expsum;
    vb_open(b);
    uint16_t halves[2 * VECTOR_LENGTH];
    for (unsigned e = 0; e < VECTOR_LENGTH; e++) {
        halves[e] = fp16_from_double(e % 8);
        halves[VECTOR_LENGTH + e] = fp16_from_double(e % 2 ? -1 : 2);
    }
    vb_poke_halves(b, 0, halves, 2 * VECTOR_LENGTH);
    vb_desc(b, 0, 0, 1, 16);
    vb_run_text(b, "vld.fp16 v1, [a0]\nvld.fp16 v2, [a0+8]\nvsetmode tree\nvred.sumsq s1, v1, v1\n"
                   "vred.dot s2, v1, v2\nvred.expsum s3, v1, v4\nvhalt");
    return b;
}

static void test_claim_I58(void) {
    struct vector_bench *b = reduce(true);
    g_assert_cmpfloat(vb_value(b->state.s[1]), ==, 16 * 140);           /* 0 + 1 + 4 + .. + 49 */
    g_assert_cmpfloat(vb_value(b->state.s[2]), ==, 16 * (2 * 12 - 16)); /* even elements twice, odd ones minus once */
    g_assert_cmpfloat(vb_value(b->state.s[3]), ==, 16 * 255);
    for (unsigned e = 0; e < VECTOR_LENGTH; e++)
        g_assert_cmpfloat(vb_value(b->state.v[4][e]), ==, 1u << e % 8);
    const struct vb_row *expsum = vb_row_of(b, 5), *dot = vb_row_of(b, 4);
    g_assert_cmpuint(expsum->result - expsum->x, ==, dot->result - dot->x); /* one pass */
    vb_free(b);

    b = reduce(false);
    g_assert_true(b->run.fault);
    g_assert_cmpuint(b->run.result, ==, VECTOR_FAULT_OPCODE);
    vb_free(b);
}

/* ---- I59: a kernel's flits, and an opcode space shared with clusters ---- */

static void send_cluster(struct vector_bench *b, const struct cluster_inst *inst) {
    struct word256 payload;
    g_assert_true(cluster_inst_encode(inst, &payload, NULL));
    vb_payload(b, &payload);
}

static void test_claim_I59(void) {
    struct vector_bench *b = vb_new();
    GArray *words = vb_assemble("vld.fp16 v1, [a0]\nvadd v1, v1, k1\nvst.fp16 [a0], v1\nvhalt");
    vb_words(b, 0, (const uint32_t *)words->data, words->len);
    vb_desc(b, 0, 0, 1, 8);
    vb_start(b, 0);
    vb_go(b);
    g_assert_cmpuint(b->endpoint.retired, ==, words->len + 2 + 1);
    g_assert_cmpuint(vb_sent_count(b, FLIT_CU_SIGNAL), ==, words->len + 2 + 1);
    g_assert_cmpuint(hazard_count(&b->hazards, "unit.wrong_kind"), ==, 0);
    g_array_unref(words);

    /* A cluster's DRAIN runs the kernel again, its FILL overwrites word 0 with zero, a VMOV. */
    b->run.result = 0;
    send_cluster(b, &(struct cluster_inst){.op = CLUSTER_DRAIN, .n = 64});
    vb_go(b);
    g_assert_cmpuint(hazard_count(&b->hazards, "unit.wrong_kind"), ==, 1);
    g_assert_cmpuint(b->run.result, >, 0);
    g_assert_cmpfloat(vb_value(b->state.v[1][0]), ==, 2);
    send_cluster(b, &(struct cluster_inst){.op = CLUSTER_FILL, .n = 32, .anchor = 40});
    vb_start(b, 0);
    vb_go(b);
    g_assert_cmpuint(hazard_count(&b->hazards, "unit.wrong_kind"), ==, 2);
    g_assert_cmpuint(b->row_count, ==, 4);
    g_assert_cmpuint(b->rows[0].last, !=, 0); /* word 0 issued beats: no load any more */
    vb_free(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I52", test_claim_I52);
    g_test_add_func("/claim_I53", test_claim_I53);
    g_test_add_func("/claim_I54", test_claim_I54);
    g_test_add_func("/claim_I55", test_claim_I55);
    g_test_add_func("/claim_I56", test_claim_I56);
    g_test_add_func("/claim_I57", test_claim_I57);
    g_test_add_func("/claim_I58", test_claim_I58);
    g_test_add_func("/claim_I59", test_claim_I59);
    return g_test_run();
}
