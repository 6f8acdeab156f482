/* What the vector core reports: every fault, every hazard, the defects in both settings, peers, its state in words. */
#include <math.h>

#include "vector_bench.h"

static void expect_hazard(const struct vector_bench *b, const char *id, bool expected) {
    uint64_t count = hazard_count(&b->hazards, id);
    if ((count != 0) != expected)
        g_error("%s was reported %" G_GUINT64_FORMAT " times, expected %s", id, count, expected ? "some" : "none");
}

/* ---- faults (compute-units §7.12) ---- */

static void every_fault(void) {
    static const struct {
        const char *text;
        enum vector_fault code;
        unsigned found; /* cycle e from the RUN's offer */
    } cases[] = {
        {"vld.d3 v1, [a0]\nvhalt", VECTOR_FAULT_DTYPE, 4},
        {"vst.d0 [a0], v1\nvhalt", VECTOR_FAULT_DTYPE, 4},
        {".word 0x93000000\nvhalt", VECTOR_FAULT_DTYPE, 4}, /* vcvt of type 3 */
        {"vsetmode d2\nvmov v1, k1\nvmov v1, k1\nvhalt", VECTOR_FAULT_VSRC, 8 + 4},
        {"vsetmode d4\nvmov v1, k1\n+ vmov v1, c\nvmov v1, v0\n+ vmov v1, c\nvhalt", VECTOR_FAULT_VSRC, 8 + 8},
        {"+ vmov v1, c\nvhalt", VECTOR_FAULT_CHAIN, 4},
        {"vmov v1, k1 c=c\nvhalt", VECTOR_FAULT_CHAIN, 4},
        {"vred.sum s1, v1, v1\nvhalt", VECTOR_FAULT_OPCODE, 4},
        {"vfill a1 l1=0\nvhalt", VECTOR_FAULT_LEN, 4 + 5},
        {"vdrain a1 l1=0\nvhalt", VECTOR_FAULT_LEN, 4 + 5},
        {"vseti s1, 2\nvloop s1, 2\nvloop s1, 1\nvhalt", VECTOR_FAULT_LOOP, 4 + 6 + 4},
        {"vseti s1, 0\nvsetvl s1\nvhalt", VECTOR_FAULT_VL, 4 + 6},
        {"vseti s1, 129\nvsetvl s1\nvhalt", VECTOR_FAULT_VL, 4 + 6},
        {"vseti s1, 17\nvsetvl s1\nvred.max s1, v1, v1\nvhalt", VECTOR_FAULT_REDVL, 4 + 6 + 4},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct vector_bench *b = vb_new();
        vb_desc(b, 1, 0, 1, 257);
        vb_run_text(b, cases[i].text);
        g_test_message("%s", cases[i].text);
        g_assert_true(b->run.fault);
        g_assert_cmpuint(b->run.result, ==, cases[i].code);
        g_assert_cmpuint(b->run.retired - b->run.offered, ==, cases[i].found + 3);
        g_assert_cmpuint(unit_type_vector.debug_register(b->endpoint.unit, b->now), ==, cases[i].found);
        const struct flit *signal = vb_sent(b, FLIT_CU_SIGNAL, b->queue->len - 1);
        g_assert_cmpuint(word_get(&signal->payload, 248, 8), ==, SIGNAL_FAULT);
        vb_free(b);
    }
}

/* After a fault the next kernel starts clean, and what was in the lanes lands. */
static void a_kernel_behind_a_fault(void) {
    struct vector_bench *b = vb_new();
    vb_kernel(b, "vmov v1, k1\n+ vmov v2, c\nvhalt\nvhalt");
    vb_start(b, 0);
    vb_start(b, 2);
    vb_go(b);
    g_assert_false(b->run.fault);
    g_assert_cmphex(b->state.v[1][127], ==, E8M15_ONE);
    vb_free(b);
}

/* ---- peers (§7.10) ---- */

static void send_data(struct vector_bench *b, unsigned source, const struct word256 *payload, bool last) {
    vb_flit(b, &(struct flit){
                   .src_x = (uint16_t)source, .src_y = 1, .type = FLIT_CU_DATA, .last = last, .payload = *payload});
}

static void send_burst(struct vector_bench *b, unsigned source, unsigned buffer, unsigned offset, unsigned flits,
                       bool acknowledge) {
    struct word256 payload = {{0}};
    word_set(&payload, 248, 8, buffer);
    word_set(&payload, 232, 16, offset);
    word_set(&payload, 224, 8, flits - 1);
    word_set(&payload, 216, 8, acknowledge);
    send_data(b, source, &payload, false);
    for (unsigned i = 0; i < flits; i++) {
        payload = (struct word256){{source, i}};
        send_data(b, source, &payload, i + 1 == flits);
    }
}

static void a_burst_lands_and_is_acknowledged(void) {
    struct vector_bench *b = vb_new();
    send_burst(b, 2, 0, 40, 3, true);
    vb_go(b);
    g_assert_cmphex(b->state.l1[42].w[1], ==, 2);
    const struct flit *signal = vb_sent(b, FLIT_CU_SIGNAL, 0);
    g_assert_cmpuint(word_get(&signal->payload, 248, 8), ==, SIGNAL_DATA_RECEIVED);
    g_assert_cmpuint(signal->dst_x, ==, 2);
    g_assert_cmpuint(signal->dst_y, ==, 1);
    vb_run_text(b, "vhalt");
    g_assert_false(b->run.fault);
    vb_free(b);
}

static void rejected_bursts(void) {
    static const struct {
        unsigned buffer, offset;
        bool accepted;
    } cases[] = {{0, 508, true}, {0, 509, false}, {1, 0, false}, {2, 0, false}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
        for (unsigned silent = 0; silent < 2; silent++) {
            struct vector_bench *b = g_new(struct vector_bench, 1);
            vb_init(b);
            b->machine.vector.ack_rejected = !silent;
            vb_open(b);
            send_burst(b, 2, cases[i].buffer, cases[i].offset, 4, true);
            vb_go(b);
            unsigned signals = cases[i].accepted || !silent;
            g_assert_cmpuint(vb_sent_count(b, FLIT_CU_SIGNAL), ==, signals);
            g_assert_cmpuint(b->state.l1_writes, ==, cases[i].accepted ? 4 : 0);
            expect_hazard(b, "cudata.rejected", !cases[i].accepted);
            vb_run_text(b, "vhalt");
            g_assert_cmpuint(b->run.fault ? b->run.result : 0, ==, cases[i].accepted ? 0 : VECTOR_FAULT_CUDATA);
            vb_start(b, 0);
            vb_go(b);
            g_assert_false(b->run.fault); /* told once */
            vb_free(b);
        }
}

static void two_senders_fault(void) {
    struct vector_bench *b = vb_new();
    struct word256 payload = {{0}};
    word_set(&payload, 224, 8, 2);
    word_set(&payload, 216, 8, 1);
    send_data(b, 2, &payload, false);
    send_data(b, 2, &(struct word256){{11}}, false);
    send_data(b, 3, &(struct word256){{12}}, false);
    send_data(b, 2, &(struct word256){{13}}, true);
    vb_run_text(b, "vhalt");
    expect_hazard(b, "cudata.interleaved", true);
    g_assert_cmpuint(b->run.result, ==, VECTOR_FAULT_CUDATA);
    g_assert_cmpuint(b->state.l1_writes, ==, 1);
    for (unsigned i = 0; i < b->sent->len; i++)
        g_assert_cmpuint(word_get(&g_array_index(b->sent, struct flit, i).payload, 248, 8), !=, SIGNAL_DATA_RECEIVED);
    vb_free(b);
}

/* A burst rejected while a kernel runs ends it at its next instruction. */
static void a_rejected_burst_ends_a_running_kernel(void) {
    struct vector_bench *b = vb_new();
    vb_kernel(b, "vseti s1, 0x100\nvloop s1, 1\nvmov v1, k1\nvhalt");
    vb_start(b, 0);
    while (!b->running)
        vb_cycle(b);
    for (unsigned i = 0; i < 100; i++)
        vb_cycle(b);
    send_burst(b, 2, 1, 0, 1, false);
    vb_go(b);
    g_assert_true(b->run.fault);
    g_assert_cmpuint(b->run.result, ==, VECTOR_FAULT_CUDATA);
    vb_free(b);
}

static void foreign_flits_are_dropped(void) {
    struct vector_bench *b = vb_new();
    vb_flit(b, &(struct flit){.type = FLIT_CU_SIGNAL});
    vb_flit(b, &(struct flit){.type = FLIT_MEM_WR_ACK});
    vb_go(b);
    expect_hazard(b, "flit.unknown_type", true);
    g_assert_cmpuint(hazard_count(&b->hazards, "flit.unknown_type"), ==, 1);
    vb_free(b);
}

/* ---- hazards (§11) ---- */

#define SET_ALL                                                                                                        \
    "vmov v0, k1\nvmov v1, k1\nvmov v2, k1\nvmov v3, k1\nvcmpeq p0, v0, v0\nvcmpeq p1, v0, v0\nvsetmode flat\n"

static void every_hazard(void) {
    static const struct {
        const char *id, *text;
        bool reported;
    } cases[] = {
        {"vec.l1_wraps", "vld.fp16 v1, [a0+505]\nvhalt", true},
        {"vec.l1_wraps", "vld.fp16 v1, [a0+504]\nvhalt", false},
        {"vec.l1_wraps", "vld.fp16 v1, [a0-1]\nvhalt", true},
        {"vec.l1_wraps", "vfill a1 l1=500\nvhalt", true},
        {"vec.l1_wraps", "vfill a1 l1=496\nvhalt", false},
        {"vec.unset_read", "vadd v1, v2, k1\nvhalt", true},
        {"vec.unset_read", "vmov v1, k1 b=v2\nvhalt", false},
        {"vec.unset_read", "vmov v1, s3\nvhalt", true},
        {"vec.unset_read", SET_ALL "vmov v1, k1 where p2\nvhalt", true},
        {"vec.unset_read", SET_ALL "vmov v1, k1 where p1\nvred.any s1, v0, v0 pr=1\nvhalt", false},
        {"vec.unset_read", "vld.fp16 v1, [a0]\nvhalt", true},
        {"vec.unset_read", "vst.fp16 [a0], v3\nvhalt", true},
        {"vec.chain_not_alu", "vsetmode d2\nvmov v1, k1\n+ vmov v1, c\nvhalt", false},
        {"vec.alu_in_tree", "vsetmode tree\nvmov v1, k1\n+ vmov v1, c\n+ vmov v1, c\n+ vmov v1, c\nvhalt", true},
        {"vec.alu_in_tree", "vsetmode d4\nvmov v1, k1\n+ vmov v1, c\n+ vmov v1, c\n+ vmov v1, c\nvhalt", false},
        {"vec.loop_missed", "vseti s1, 2\nvloop s1, 0\nvmov v1, k1\nvhalt", true},
        {"vec.loop_missed", "vseti s1, 1\nvloop s1, 0\nvmov v1, k1\nvhalt", false},
        {"vec.loop_missed", "vseti s1, 2\nvloop s1, 1\nvseti s2, 3\nvhalt", true},
        {"vec.loop_missed", "vseti s1, 2\nvloop s1, 2\nvseti s2, 3\nvhalt", false},
        {"vec.loop_missed", "vsetmode d2\nvseti s1, 2\nvloop s1, 1\nvmov v1, k1\n+ vmov v1, c\nvhalt", true},
        {"vec.sumsq_operands", SET_ALL "vsetmode tree\nvred.sumsq s1, v1, v2\nvhalt", true},
        {"vec.sumsq_operands", SET_ALL "vsetmode tree\nvred.sumsq s1, v1, v1\nvhalt", false},
        {"vec.sumsq_operands", SET_ALL "vsetmode tree\nvred.dot s1, v1, v2\nvhalt", false},
        {"vec.pred_stale", SET_ALL "vcmplt p1, v0, v0\nvmov v1, k2 where p1\nvhalt", true},
        {"vec.pred_stale", SET_ALL "vcmplt p1, v0, v0\nvmov v1, k2 where p0\nvhalt", false},
        {"vec.pred_stale", SET_ALL "vcmplt p1, v0, v0\nvmov v2, k1\nvmov v1, k2 where p1\nvhalt", false},
        {"vec.pred_stale", SET_ALL "vcmplt p1, v0, v0\nvsetmode flat\nvmov v1, k2 where p1\nvhalt", false},
        {"vec.pred_stale", SET_ALL "vcmplt p1, v0, v0\nvred.any s1, v0, v0 pr=1\nvhalt", true},
        {"vec.pend_overflow", "vsetmode d4\nvmov v1, k1\n+ vmov v1, c\n+ vmov v1, c\n+ vmov v1, c\nvhalt", true},
        {"vec.pend_overflow",
         "vseti s1, 112\nvsetvl s1\nvsetmode d4\nvmov v1, k1\n+ vmov v1, c\n+ vmov v1, c\n+ vmov v1, c\nvhalt", false},
        {"vec.l1_before_fill", "vfill a1 l1=0\nvld.fp16 v1, [a0]\nvhalt", true},
        {"vec.l1_before_fill", "vfill a1 l1=0\nvbar\nvld.fp16 v1, [a0]\nvhalt", false},
        {"vec.l1_footprint_band", "vfill a2 l1=0\nvbar\nvfill a2 l1=240\nvhalt", true},
        {"vec.l1_footprint_band", "vfill a1 l1=0\nvhalt", false},
        {"vec.halt_before_drain", "vdrain a1 l1=0\nvhalt", false},
        {"defect.vst_fp32", SET_ALL "vst.fp32 [a0], v1\nvhalt", true},
        {"defect.vst_fp32", SET_ALL "vst.fp16 [a0], v1\nvhalt", false},
        {"defect.vcvt_fp16", SET_ALL "vcvt.fp16 v2, v1\nvhalt", true},
        {"defect.vcvt_fp16", SET_ALL "vcvt.fp32 v2, v1\nvhalt", false},
        {"defect.any_all_pr", SET_ALL "vmov v1, k1\nvred.all s1, v0, v0 pr=1\nvhalt", true},
        {"defect.any_all_pr", SET_ALL "vmov v1, k1 pr=1\nvred.all s1, v0, v0 pr=1\nvhalt", false},
        {"defect.expsum_pm", SET_ALL "vmov v1, k1 where p1\nvsetmode tree\nvred.expsum s1, v1, v2\nvhalt", true},
        {"defect.expsum_pm", SET_ALL "vmov v1, k1\nvsetmode tree\nvred.expsum s1, v1, v2\nvhalt", false},
        {"defect.chain_overlap", SET_ALL "vsetmode d2\nvmov v1, v0\n+ vmov v1, c\nvmov v2, v0\n+ vneg v2, c\nvhalt",
         true},
        {"defect.chain_overlap", SET_ALL "vsetmode d2\nvmov v1, v0\n+ vmov v1, c\nvneg v2, v0\n+ vmov v2, c\nvhalt",
         false},
        {"defect.chain_overlap",
         SET_ALL "vsetmode d2\nvmov v1, v0\n+ vmov v1, c\nvsetmode d2\nvmov v2, v0\n+ vneg v2, c\nvhalt", false},
        {"defect.exp2_range", "vseti s1, 200.0\nvexp2 v1, s1\nvhalt", true},
        {"defect.exp2_range", "vseti s1, 100.0\nvexp2 v1, s1\nvhalt", false},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct vector_bench *b = vb_new();
        vb_desc(b, 0, 0, 1, 256);
        vb_desc(b, 1, 0x1000, 32, 16);
        vb_desc(b, 2, 0x1000, 32, 240);
        b->latency = 60;
        vb_run_text(b, cases[i].text);
        g_test_message("%s: %s", cases[i].id, cases[i].text);
        expect_hazard(b, cases[i].id, cases[i].reported);
        vb_free(b);
    }
}

static void a_chain_of_other_words(void) {
    struct vector_bench *b = vb_new();
    vb_run_text(b, "vsetmode d2\nvmov v1, k1\n.word 0xc7600000\nvhalt");
    expect_hazard(b, "vec.chain_not_alu", true);
    vb_free(b);
}

static void l1_before_peer(void) {
    struct vector_bench *b = vb_new();
    struct word256 payload = {{0}};
    word_set(&payload, 224, 8, 7);
    send_data(b, 2, &payload, false); /* eight flits announced, none sent */
    vb_desc(b, 0, 0, 1, 256);
    vb_run_text(b, "vld.fp16 v1, [a0]\nvhalt");
    expect_hazard(b, "vec.l1_before_peer", true);
    vb_free(b);
}

static void halt_before_drain(void) {
    struct vector_bench *b = vb_new();
    vb_desc(b, 1, 0x1000, 32, 1);
    vb_kernel(b, "vdrain a1 l1=0\nvhalt");
    vb_start(b, 0);
    while (!b->running)
        vb_cycle(b);
    b->link_closed = true;
    for (unsigned i = 0; i < 200; i++)
        vb_cycle(b);
    expect_hazard(b, "vec.halt_before_drain", true);
    g_assert_false(b->running);
    b->link_closed = false;
    vb_go(b);
    g_assert_cmpuint(vb_sent_count(b, FLIT_MEM_WR_DATA), ==, 1);
    vb_free(b);
}

/* ---- defects in both settings ---- */

static struct vector_bench *run_with(bool defects, const char *text) {
    struct vector_bench *b = g_new(struct vector_bench, 1);
    vb_init(b);
    b->machine.rtl_defects = defects;
    vb_open(b);
    vb_desc(b, 0, 0, 1, 256);
    vb_run_text(b, text);
    return b;
}

static void an_fp32_store(void) {
    for (unsigned defects = 0; defects < 2; defects++) {
        struct vector_bench *b = run_with(defects, "vmov v1, k1\nvst.fp32 [a0], v1\nvhalt");
        g_assert_cmphex(b->state.l1[0].w[0] & 0xFFFFFFFF, ==, 0x3F800000);
        g_assert_cmphex(b->state.l1[1].w[0] & 0xFFFFFFFF, ==, defects ? 0 : 0x3F800000);
        vb_free(b);
    }
}

static void any_looks_at_its_own_predicate(void) {
    for (unsigned defects = 0; defects < 2; defects++) {
        struct vector_bench *b = run_with(defects, "vcmpeq p1, k1, k1\nvcmpeq p0, k1, k0\nvsetmode flat\n"
                                                   "vred.any s1, v0, v0 pr=1\nvhalt");
        g_assert_cmphex(b->state.s[1], ==, defects ? E8M15_ZERO : E8M15_ONE);
        vb_free(b);
    }
}

static void a_chain_keeps_its_own_words(void) {
    for (unsigned defects = 0; defects < 2; defects++) {
        struct vector_bench *b = run_with(defects, "vsetmode d2\nvmov v1, k1\n+ vmov v1, c\nvmov v2, k1\n"
                                                   "+ vneg v2, c\nvhalt");
        g_assert_cmphex(b->state.v[1][0], ==, E8M15_ONE);
        g_assert_cmphex(b->state.v[1][127], ==, defects ? E8M15_ONE | E8M15_SIGN : E8M15_ONE);
        vb_free(b);
    }
}

static void exp2_can_saturate(void) {
    for (unsigned saturate = 0; saturate < 2; saturate++) {
        struct vector_bench *b = g_new(struct vector_bench, 1);
        vb_init(b);
        b->machine.vector.exp2_saturate = saturate;
        vb_open(b);
        vb_run_text(b, "vseti s1, 200.0\nvexp2 v1, s1\nvhalt");
        g_assert_cmpfloat(vb_value(b->state.v[1][0]), ==, saturate ? INFINITY : 0x1p-56);
        vb_free(b);
    }
}

/* ---- hangs, sleep, state ---- */

static void a_hang_says_what_it_waits_for(void) {
    struct vector_bench *b = vb_new();
    vb_run_text(b, "vseti s1, 16\nvsetvl s1\nvsetmode tree\nvmov v1, k1\n+ vmov v1, c\n+ vmov v1, c\n+ vmov v1, c\n"
                   "vsetmode flat\nvmov v1, k1\nvhalt");
    g_assert_true(b->running);
    g_autofree char *waits = unit_type_vector.waits_for(b->endpoint.unit, b->now);
    g_assert_nonnull(strstr(waits, "vmov at word 9"));
    g_assert_nonnull(strstr(waits, "TREE"));
    vb_free(b);
}

static void a_missing_response_says_so(void) {
    struct vector_bench *b = vb_new();
    b->latency = 1000000;
    vb_desc(b, 1, 0x1000, 32, 1);
    vb_kernel(b, "vfill a1 l1=0\nvbar\nvhalt");
    vb_start(b, 0);
    for (unsigned i = 0; i < 500; i++)
        vb_cycle(b);
    g_autofree char *waits = unit_type_vector.waits_for(b->endpoint.unit, b->now);
    g_assert_nonnull(strstr(waits, "responses to a fill"));
    g_assert_cmpuint(b->endpoint.due, ==, CYCLE_NEVER); /* it sleeps */
    vb_free(b);
    b = vb_new();
    g_assert_null(unit_type_vector.waits_for(b->endpoint.unit, 0));
    vb_free(b);
}

static void mix(void *to, const void *data, size_t size) {
    uint64_t *hash = to;
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const uint8_t *)data)[i]) * UINT64_C(1099511628211);
}

static uint64_t digest_of(const char *text, bool every_cycle) {
    struct vector_bench *b = vb_new();
    vb_desc(b, 0, 0, 1, 256);
    vb_desc(b, 1, 0x1000, 32, 16);
    vb_kernel(b, text);
    vb_start(b, 0);
    for (unsigned i = 0; i < 4000; i++) {
        if (every_cycle)
            b->endpoint.due = b->now;
        vb_cycle(b);
    }
    uint64_t hash = 0;
    unit_type_vector.digest(b->endpoint.unit, mix, &hash);
    vb_free(b);
    return hash;
}

/* Stepping the core in cycles in which it asked for nothing changes nothing; another value does. */
static void extra_steps_change_nothing(void) {
    static const char text[] = "vfill a1 l1=0\nvmov v1, k1\nvadd v2, v1, k1\nvbar\nvst.fp16 [a0], v2\nvdrain a1 l1=0\n"
                               "vcmpeq p1, v2, v1\nvhalt";
    g_assert_cmphex(digest_of(text, false), ==, digest_of(text, true));
    g_assert_cmphex(digest_of(text, false), !=, digest_of("vmov v1, k2\nvhalt", false));
}

static void poison(void) {
    struct vector_bench *b = g_new(struct vector_bench, 1);
    vb_init(b);
    b->machine.vector.poison = true;
    vb_open(b);
    vb_desc(b, 0, 0, 1, 256);
    vb_run_text(b, "vadd v1, v2, k1\nvld.fp16 v3, [a0]\nvhalt");
    g_assert_true(e8m15_is_nan(b->state.v[1][5]));
    g_assert_true(e8m15_is_nan(b->state.v[3][5]));
    vb_free(b);
}

/* A CU_CTRL request is answered beside a running kernel, with the count as it stands. */
static void the_cycle_register_runs(void) {
    struct vector_bench *b = vb_new();
    vb_kernel(b, "vseti s1, 100\nvloop s1, 1\nvmov v1, k1\nvhalt");
    vb_start(b, 0);
    while (!b->running)
        vb_cycle(b);
    for (unsigned i = 0; i < 300; i++)
        vb_cycle(b);
    uint64_t shown = unit_type_vector.debug_register(b->endpoint.unit, b->now);
    g_assert_cmpuint(shown, ==, b->now - b->run.offered - 1);
    vb_go(b);
    g_assert_cmpuint(unit_type_vector.debug_register(b->endpoint.unit, b->now), ==, b->run.result);
    vb_free(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vector/fault/every_fault", every_fault);
    g_test_add_func("/vector/fault/a_kernel_behind_a_fault", a_kernel_behind_a_fault);
    g_test_add_func("/vector/peer/a_burst_lands_and_is_acknowledged", a_burst_lands_and_is_acknowledged);
    g_test_add_func("/vector/peer/rejected_bursts", rejected_bursts);
    g_test_add_func("/vector/peer/two_senders_fault", two_senders_fault);
    g_test_add_func("/vector/peer/a_rejected_burst_ends_a_running_kernel", a_rejected_burst_ends_a_running_kernel);
    g_test_add_func("/vector/peer/foreign_flits_are_dropped", foreign_flits_are_dropped);
    g_test_add_func("/vector/hazard/every_hazard", every_hazard);
    g_test_add_func("/vector/hazard/a_chain_of_other_words", a_chain_of_other_words);
    g_test_add_func("/vector/hazard/l1_before_peer", l1_before_peer);
    g_test_add_func("/vector/hazard/halt_before_drain", halt_before_drain);
    g_test_add_func("/vector/defect/an_fp32_store", an_fp32_store);
    g_test_add_func("/vector/defect/any_looks_at_its_own_predicate", any_looks_at_its_own_predicate);
    g_test_add_func("/vector/defect/a_chain_keeps_its_own_words", a_chain_keeps_its_own_words);
    g_test_add_func("/vector/defect/exp2_can_saturate", exp2_can_saturate);
    g_test_add_func("/vector/state/a_hang_says_what_it_waits_for", a_hang_says_what_it_waits_for);
    g_test_add_func("/vector/state/a_missing_response_says_so", a_missing_response_says_so);
    g_test_add_func("/vector/state/extra_steps_change_nothing", extra_steps_change_nothing);
    g_test_add_func("/vector/state/poison", poison);
    g_test_add_func("/vector/state/the_cycle_register_runs", the_cycle_register_runs);
    return g_test_run();
}
