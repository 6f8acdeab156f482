/* The cycles of timing.md §6, each by the smallest kernel that shows it. */
#include "vector_bench.h"

/* Vector lengths the table has columns for. */
static const unsigned lengths[] = {16, 32, 64, 128};

static unsigned chunks(unsigned length) {
    return (length + LANES - 1) / LANES;
}

/* Cycles from the execute cycle of word `from` to that of word `to`. */
static unsigned between(const struct vector_bench *b, unsigned from, unsigned to) {
    return (unsigned)(vb_row_of(b, to)->x - vb_row_of(b, from)->x);
}

/* Sets the length, then runs `text` from word 3 on. The prologue is three words: VSETI (two), VSETVL. */
enum {
    BODY = 3,
};

static struct vector_bench *run_at(unsigned length, const char *text) {
    struct vector_bench *b = vb_new();
    g_autofree char *whole = g_strdup_printf("vseti s0, %u\nvsetvl s0\n%s\nvhalt", length, text);
    vb_desc(b, 0, 0, 1, 256);
    vb_run_text(b, whole);
    g_assert_cmpuint(b->run.retired, !=, 0);
    return b;
}

/* The first instruction of `text` is one word and takes `expected` cycles at every length. */
static void check_cost(const char *text, unsigned fixed, unsigned per_chunk) {
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        struct vector_bench *b = run_at(lengths[i], text);
        unsigned expected = fixed + per_chunk * chunks(lengths[i]);
        if (between(b, BODY, BODY + 1) != expected)
            g_error("%s at VL %u: %u cycles, expected %u", text, lengths[i], between(b, BODY, BODY + 1), expected);
        vb_free(b);
    }
}

static void alu_costs_5_and_chunks(void) {
    static const char *const texts[] = {"vfma v1, v2, v3, v4", "vadd v1, v2, v3",   "vmul v1, v2, v3",
                                        "vmov v1, v2",         "vcmplt p1, v2, v3", "vexp2 v1, v2",
                                        "vlog2 v1, v2",        "vinv v1, v2",       "vrsqrt v1, v2"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        check_cost(texts[i], 5, 1);
}

static void dependent_alu_costs_17_and_chunks(void) {
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        struct vector_bench *b = run_at(lengths[i], "vmov v1, k1\nvadd v2, v1, v1\nvadd v3, v2, v2\nvmov v4, k1");
        g_assert_cmpuint(between(b, BODY, BODY + 1), ==, 5 + chunks(lengths[i]));
        g_assert_cmpuint(between(b, BODY + 1, BODY + 2), ==, 17 + chunks(lengths[i]));
        vb_free(b);
    }
}

static void loads_and_stores(void) {
    check_cost("vld.fp16 v1, [a0]", 5, 4);
    check_cost("vld.fp32 v1, [a0]", 5, 8);
    check_cost("vst.fp16 [a0], v1", 5, 3);
    check_cost("vst.fp32 [a0], v1", 5, 4);
    check_cost("vcvt.fp16 v1, v2", 5, 3);
    check_cost("vbcast v1, s0", 5, 3);
    check_cost("vshuf v1, v2, s0", 5, 3);
    check_cost("vbcast s1, v1", 8, 0);
}

static void reductions(void) {
    static const struct {
        const char *name;
        unsigned per_chunk;
    } kinds[] = {{"sum", 1}, {"max", 1}, {"min", 1}, {"sumsq", 2}, {"dot", 2}, {"expsum", 2}};
    for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
            g_autofree char *text = g_strdup_printf("vsetmode tree\nvred.%s s1, v1, v1\nvseti s2, 0", kinds[k].name);
            struct vector_bench *b = run_at(lengths[i], text);
            g_assert_cmpuint(between(b, BODY + 1, BODY + 2), ==, 145 + kinds[k].per_chunk * chunks(lengths[i]));
            vb_free(b);
        }
}

static void chained_pair_costs_9_and_2_chunks(void) {
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        struct vector_bench *b = run_at(lengths[i], "vsetmode d2\nvmul v1, v2, v3\n+ vadd v1, c, k1\nvseti s2, 0");
        g_assert_cmpuint(between(b, BODY + 1, BODY + 3), ==, 9 + 2 * chunks(lengths[i]));
        vb_free(b);
        b = run_at(lengths[i], "vsetmode d4\nvmul v1, v2, v3\n+ vexp2 v1, c\n+ vadd v1, c, k1\n+ vinv v1, c\n"
                               "vseti s2, 0");
        g_assert_cmpuint(between(b, BODY + 1, BODY + 5), ==, 17 + 4 * chunks(lengths[i]));
        vb_free(b);
    }
}

static void scalars(void) {
    struct vector_bench *b = run_at(16, "vseti s1, 1\nvsetvl s0\nvsetmode flat\nvloop s1, 1\nvbar\n"
                                        "vred.any s2, v0, v0\nvseti s3, 3");
    g_assert_cmpuint(between(b, 3, 5), ==, 6);
    g_assert_cmpuint(between(b, 5, 6), ==, 4);
    g_assert_cmpuint(between(b, 6, 7), ==, 4);
    g_assert_cmpuint(between(b, 7, 8), ==, 4);
    g_assert_cmpuint(between(b, 8, 9), ==, 5);
    g_assert_cmpuint(between(b, 9, 10), ==, 4);
    vb_free(b);
}

/* An empty kernel reports 5 cycles and retires 7 cycles after it was taken; the first execute cycle is 3 after that. */
static void framing(void) {
    struct vector_bench *b = vb_new();
    vb_run_text(b, "vhalt");
    g_assert_cmpuint(b->run.result, ==, 5);
    g_assert_cmpuint(b->run.retired - (b->run.offered + 1), ==, 7);
    g_assert_cmpuint(b->rows[0].x, ==, 4);
    vb_free(b);
    b = vb_new();
    vb_run_text(b, "vseti s0, 16\nvsetvl s0\nvsetmode flat\nvhalt");
    g_assert_cmpuint(b->run.result, ==, 19);
    vb_free(b);
}

/* A store behind arithmetic is held 74 cycles at every length, and so is VHALT. */
static void empty_pipe(void) {
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        struct vector_bench *b = run_at(lengths[i], "vfma v1, v2, v3, v4\nvst.fp16 [a0], v1");
        const struct vb_row *alu = vb_row_of(b, BODY), *store = vb_row_of(b, BODY + 1);
        g_assert_cmpuint(store->g - store->x, ==, 74);
        g_assert_cmpuint(store->g - alu->last, ==, 79); /* the table counts a beat one cycle later: 78 */
        vb_free(b);
    }
    struct vector_bench *b = run_at(16, "vfma v1, v2, v3, v4");
    g_assert_cmpuint(b->run.result - vb_row_of(b, BODY)->last, ==, 79);
    vb_free(b);
}

static void reduction_tail(void) {
    struct vector_bench *b = run_at(64, "vsetmode tree\nvred.sum s1, v1, v1\nvsetmode flat");
    const struct vb_row *reduction = vb_row_of(b, BODY + 1), *mode = vb_row_of(b, BODY + 2);
    g_assert_cmpuint(reduction->tail - reduction->last, ==, 79);
    g_assert_cmpuint(reduction->result - reduction->tail, ==,
                     62); /* written; the table's 61 is the cycle it is on hand */
    g_assert_cmpuint(mode->g - mode->x, ==, 13);
    vb_free(b);
}

static void a_loop_turn_costs_only_its_body(void) {
    struct vector_bench *b = run_at(16, "vseti s1, 5\nvloop s1, done\nvmov v1, k1\ndone:\nvseti s2, 0");
    unsigned turns = 0;
    cycle_t before = 0;
    for (unsigned i = 0; i < b->row_count; i++)
        if (b->rows[i].pc == BODY + 3) {
            if (turns) /* behind the first turn v1 is waited for: 17 + 1 chunk instead of 5 + 1 */
                g_assert_cmpuint(b->rows[i].x - before, ==, turns == 1 ? 6 : 18);
            turns++;
            before = b->rows[i].x;
        }
    g_assert_cmpuint(turns, ==, 5);
    vb_free(b);
}

static void fills_and_drains(void) {
    static const unsigned words[] = {1, 8, 32};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        struct vector_bench *b = vb_new();
        vb_desc(b, 1, 0x1000, 32, words[i]);
        vb_run_text(b, "vfill a1 l1=0\nvbar\nvdrain a1 l1=0\nvseti s1, 0\nvhalt");
        const struct vb_row *fill = &b->rows[0], *drain = &b->rows[2];
        g_assert_cmpuint(b->rows[1].x - fill->x, ==, 8 + 3 * words[i]);
        g_assert_cmpuint(b->rows[3].x - drain->x, ==, 10 + 3 * words[i]);
        g_assert_cmpuint(vb_sent(b, FLIT_MEM_RD_REQ, 0)->offered - b->run.offered - fill->x, ==, 9);
        g_assert_cmpuint(vb_sent_count(b, FLIT_MEM_RD_REQ), ==, words[i]);
        g_assert_cmpuint(vb_sent_count(b, FLIT_MEM_WR_DATA), ==, words[i]);
        if (words[i] > 1) {
            g_assert_cmpuint(vb_sent(b, FLIT_MEM_RD_REQ, 1)->offered - vb_sent(b, FLIT_MEM_RD_REQ, 0)->offered, ==, 3);
            g_assert_cmpuint(vb_sent(b, FLIT_MEM_WR_REQ, 1)->offered - vb_sent(b, FLIT_MEM_WR_REQ, 0)->offered, ==, 3);
        }
        g_assert_cmpuint(vb_sent(b, FLIT_MEM_WR_DATA, 0)->offered - vb_sent(b, FLIT_MEM_WR_REQ, 0)->offered, ==, 1);
        vb_free(b);
    }
}

static void drains_to_a_node(void) {
    struct vector_bench *b = vb_new();
    vb_desc(b, 1, 0x40, 1, 4);
    vb_desc(b, 2, 0x40, 1, 1);
    vb_run_text(b, "vdrain a1 l1=0 dst=(3,1) buf=0 ack\nvdrain a2 l1=0 dst=(3,1) buf=0\nvhalt");
    g_assert_cmpuint(b->rows[1].x - b->rows[0].x, ==, 3 * 4 + 11);
    g_assert_cmpuint(b->rows[2].x - b->rows[1].x, ==, 13);
    vb_free(b);
}

/* The option without the operand register: everything of the pipe is shorter. */
static void a_pipe_of_14(void) {
    struct vector_bench *b = g_new(struct vector_bench, 1);
    vb_init(b);
    b->machine.vector.alu_depth = 14;
    vb_open(b);
    vb_desc(b, 0, 0, 1, 256);
    vb_run_text(b, "vseti s0, 16\nvsetvl s0\nvmov v1, k1\nvadd v2, v1, v1\nvst.fp16 [a0], v2\nvsetmode tree\n"
                   "vred.sum s1, v1, v1\nvseti s2, 0\nvhalt");
    g_assert_cmpuint(vb_row_of(b, 4)->first - vb_row_of(b, 3)->first, ==, 14 + 3);
    g_assert_cmpuint(vb_row_of(b, 5)->g - vb_row_of(b, 4)->last, ==, 75);
    g_assert_cmpuint(vb_row_of(b, 8)->x - vb_row_of(b, 7)->x, ==, 138);
    vb_free(b);
}

/* However seldom the core is stepped, its causes add up to the length of the run. */
static void causes_add_up(void) {
    struct vector_bench *b = vb_new();
    vb_desc(b, 0, 0, 1, 256);
    vb_desc(b, 1, 0x1000, 32, 16);
    vb_run_text(b, "vfill a1 l1=0\nvbar\nvld.fp16 v1, [a0]\nvadd v2, v1, v1\nvadd v2, v2, v2\nvsetmode tree\n"
                   "vred.sum s1, v2, v2\nvst.fp16 [a0], v2\nvdrain a1 l1=0\nvbcast v3, s1\nvhalt");
    struct unit_report report;
    unit_type_vector.report(b->endpoint.unit, &report);
    struct account account = *report.account;
    account_close(&account, b->now);
    uint64_t total = 0;
    for (unsigned i = 0; i < report.cause_count; i++)
        total += account.cycles[i];
    g_assert_cmpuint(total, ==, b->now);
    static const unsigned used[] = {VECTOR_CAUSE_FETCH,     VECTOR_CAUSE_BEATS,    VECTOR_CAUSE_REGISTERS,
                                    VECTOR_CAUSE_PIPE,      VECTOR_CAUSE_LOAD,     VECTOR_CAUSE_STORE,
                                    VECTOR_CAUSE_MOVE,      VECTOR_CAUSE_REQUESTS, VECTOR_CAUSE_DRAINING,
                                    VECTOR_CAUSE_REDUCTION, VECTOR_CAUSE_FILLING,  VECTOR_CAUSE_RETIRE};
    for (unsigned i = 0; i < G_N_ELEMENTS(used); i++)
        if (!account.cycles[used[i]])
            g_error("no cycle was booked under %s", report.causes[used[i]]);
    g_assert_cmpuint(account.cycles[VECTOR_CAUSE_REGISTERS], ==, 12); /* n+17 instead of n+5 */
    g_assert_cmpuint(report.instructions, ==, b->queue->len);
    vb_free(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vector/timing/alu_costs_5_and_chunks", alu_costs_5_and_chunks);
    g_test_add_func("/vector/timing/dependent_alu_costs_17_and_chunks", dependent_alu_costs_17_and_chunks);
    g_test_add_func("/vector/timing/loads_and_stores", loads_and_stores);
    g_test_add_func("/vector/timing/reductions", reductions);
    g_test_add_func("/vector/timing/chained_pair_costs_9_and_2_chunks", chained_pair_costs_9_and_2_chunks);
    g_test_add_func("/vector/timing/scalars", scalars);
    g_test_add_func("/vector/timing/framing", framing);
    g_test_add_func("/vector/timing/empty_pipe", empty_pipe);
    g_test_add_func("/vector/timing/reduction_tail", reduction_tail);
    g_test_add_func("/vector/timing/a_loop_turn_costs_only_its_body", a_loop_turn_costs_only_its_body);
    g_test_add_func("/vector/timing/fills_and_drains", fills_and_drains);
    g_test_add_func("/vector/timing/drains_to_a_node", drains_to_a_node);
    g_test_add_func("/vector/timing/a_pipe_of_14", a_pipe_of_14);
    g_test_add_func("/vector/timing/causes_add_up", causes_add_up);
    return g_test_run();
}
