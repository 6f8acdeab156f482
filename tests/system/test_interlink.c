/* The interlink: cycles of crossings (noc-and-memory §10.9, §14 rows 23, 23a, 23b, 24, 29), its faults and hazards, and
 * the deadlocks that exist by construction (§12.2 rows 10, 15, 16). */
#include "line_bench.h"
#include "units/deadlock.h"

enum {
    FINAL = 0x11, /* (1,1) of the far mesh */
};

/* ---- cycles ---- */

static void burst_of_n_flits(void) {
    for (unsigned n = 2; n <= 32; n++) {
        struct line_bench bench;
        line_bench_open(&bench, 2);
        line_bench_start(&bench);
        line_burst(&bench, 0, 1, 1, 1, FINAL, n, 10);
        line_bench_run(&bench);
        cycle_t c = line_at(&bench, 0, LOG_ACCEPTED, 0), link = c + 9 + n;
        g_assert_cmpuint(line_at(&bench, 0, LOG_TAKEN, 0), ==, c + 5);
        g_assert_cmpuint(line_at(&bench, 0, LOG_BEATS, 0), ==, link);
        g_assert_cmpuint(line_at(&bench, 1, LOG_INJECTED, 0), ==, link + 6);
        g_assert_cmpuint(line_at(&bench, 1, LOG_DELIVERED, 0), ==, link + 11);
        g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, n);
        g_assert_cmpuint(line_at_last(&bench, 1, LOG_DELIVERED), ==, c + 19 + 2 * n);
        g_assert_cmpuint(line_at(&bench, 1, LOG_CREDITS, 0), ==, link + 8);
        g_assert_true(line_quiet(bench.line));
        line_bench_close(&bench);
    }
}

static void nine_flits_take_37_cycles(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 9, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(line_at_last(&bench, 1, LOG_DELIVERED) - line_at(&bench, 0, LOG_ACCEPTED, 0), ==, 37);
    line_bench_close(&bench);
}

static void period_of_bursts(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    for (unsigned b = 0; b < 5; b++)
        line_burst(&bench, 0, 1, 1, 1, FINAL, 9, 0);
    line_bench_run(&bench);
    for (unsigned b = 1; b < 5; b++)
        g_assert_cmpuint(line_at(&bench, 0, LOG_BEATS, 9 * b) - line_at(&bench, 0, LOG_BEATS, 9 * (b - 1)), ==, 21);
    line_bench_close(&bench);
}

static void transit_takes_seven(void) {
    struct line_bench bench;
    line_bench_open(&bench, 4);
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 3, FINAL, 9, 10);
    line_bench_run(&bench);
    cycle_t y = line_at(&bench, 0, LOG_TAKEN, 8);
    for (unsigned beat = 0; beat < 9; beat++) {
        g_assert_cmpuint(line_at(&bench, 0, LOG_BEATS, beat), ==, y + 5 + beat);
        g_assert_cmpuint(line_at(&bench, 1, LOG_BEATS, beat), ==, y + 12 + beat);
        g_assert_cmpuint(line_at(&bench, 3, LOG_INJECTED, beat), ==, y + 18 + beat);
    }
    g_assert_cmpuint(interlink_status(bench.mesh[1].interlink, 12), ==, 1);
    line_bench_close(&bench);
}

static void pipe_stages_add_their_number(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    bench.machine.interlink.pipe_stages = 2;
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 9, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(line_at_last(&bench, 1, LOG_DELIVERED) - line_at(&bench, 0, LOG_ACCEPTED, 0), ==, 39);
    line_bench_close(&bench);
}

static void remote_words_every_4_and_7(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_move(&bench, 0, 1, 24, false);
    line_bench_run(&bench);
    g_assert_cmpuint(line_count(&bench, 0, LOG_WORDS), ==, 24);
    g_assert_cmpuint(line_count(&bench, 1, LOG_LANDED), ==, 24);
    for (unsigned w = 1; w < 24; w++) {
        g_assert_cmpuint(line_at(&bench, 0, LOG_WORDS, w) - line_at(&bench, 0, LOG_WORDS, w - 1), ==, 4);
        g_assert_cmpuint(line_at(&bench, 1, LOG_LANDED, w) - line_at(&bench, 1, LOG_LANDED, w - 1), ==, 7);
    }
    g_assert_cmpuint(line_at(&bench, 0, LOG_BEATS, 0), ==, line_at(&bench, 0, LOG_WORDS, 0) + 5);
    line_bench_close(&bench);
}

static void moved_words_arrive_unchanged(void) {
    struct line_bench bench;
    struct word256 words[40], there[40];
    line_bench_open(&bench, 4);
    line_bench_start(&bench);
    for (unsigned w = 0; w < 40; w++)
        for (unsigned lane = 0; lane < 4; lane++)
            words[w].w[lane] = UINT64_C(0x9E3779B97F4A7C15) * (4 * w + lane + 1);
    dram_load(&bench.mesh[0].system->dram, 0x4000, words, sizeof words);
    line_move(&bench, 0, 2, 40, true);
    line_bench_run(&bench);
    dram_store(&bench.mesh[2].system->dram, 0x2000, there, sizeof there);
    g_assert_cmpmem(words, sizeof words, there, sizeof there);
    g_assert_cmpuint(bench.mesh[0].system->mover.moves_done, ==, 1);
    line_bench_close(&bench);
}

static void local_move_through_the_splitter(void) {
    static const cycle_t expected[] = {158, 90}; /* §8.9: from GO to idle, plain and coalesced */
    for (unsigned coalesce = 0; coalesce < 2; coalesce++) {
        struct line_bench bench;
        line_bench_open(&bench, 2);
        line_bench_start(&bench);
        line_move(&bench, 0, 0, 12, coalesce);
        line_bench_run(&bench);
        g_assert_cmpuint(line_at(&bench, 0, LOG_BUSY_ENDS, 0) - 23, ==, expected[coalesce]);
        line_bench_close(&bench);
    }
}

static void idle_doorbell(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_write_register(&bench, 0, 6, AGENT_AUX_CFG + INTERLINK_DOORBELL, 0x4201);
    line_bench_run(&bench);
    g_assert_cmpuint(line_at(&bench, 0, LOG_BEATS, 0), ==, 6 + 6);
    g_assert_cmpuint(line_at(&bench, 1, LOG_DOORBELL, 0), ==, 6 + 12);
    g_assert_cmpuint(interlink_status(bench.mesh[1].interlink, 2), ==, UINT64_C(0x4200000001));
    line_bench_close(&bench);
}

static void doorbell_waits_for_the_words(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_move(&bench, 0, 1, 8, true);
    line_write_register(&bench, 0, 101, AGENT_AUX_CFG + INTERLINK_DOORBELL, 0x801);
    line_bench_run(&bench);
    g_assert_cmpuint(line_count(&bench, 1, LOG_ANSWERED), ==, 8);
    g_assert_cmpuint(line_at(&bench, 1, LOG_DOORBELL, 0), ==, line_at_last(&bench, 1, LOG_ANSWERED) + 2);
    line_bench_close(&bench);
}

/* ---- the order of stepping, credit ---- */

static void traffic(struct line_bench *bench) {
    line_move(bench, 0, 2, 20, true);
    line_move(bench, 3, 0, 20, false);
    for (unsigned b = 0; b < 6; b++) {
        line_burst(bench, 0, 1, 1, 3, FINAL, 9, 10 * b);
        line_burst(bench, 1, 1, 2, 2, 0x22, 5, 3 * b);
        line_burst(bench, 2, 1, 1, 0, FINAL, 17, 0);
    }
}

static void stepping_order_changes_nothing(void) {
    struct line_bench bench[2];
    for (unsigned backwards = 0; backwards < 2; backwards++) {
        line_bench_open(&bench[backwards], 4);
        line_bench_start(&bench[backwards]);
        bench[backwards].line->backwards = backwards;
        traffic(&bench[backwards]);
        line_bench_run(&bench[backwards]);
    }
    for (unsigned m = 0; m < 4; m++)
        for (unsigned l = 0; l < LINE_LOGS; l++) {
            const GArray *a = bench[0].mesh[m].log[l], *b = bench[1].mesh[m].log[l];
            g_assert_cmpmem(a->data, a->len * sizeof(cycle_t), b->data, b->len * sizeof(cycle_t));
        }
    g_assert_cmpuint(line_count(&bench[0], 3, LOG_DELIVERED), ==, 6 * 9);
    g_assert_cmpuint(line_count(&bench[0], 2, LOG_DELIVERED), ==, 6 * 5);
    g_assert_cmpuint(line_count(&bench[0], 0, LOG_DELIVERED), ==, 6 * 17);
    for (unsigned b = 0; b < 2; b++)
        line_bench_close(&bench[b]);
}

/* A receive FIFO of one packet: every packet waits for the credit of the one before; nothing is lost. */
static void short_of_credit(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    bench.machine.interlink.rx_beats = bench.machine.interlink.max_beats = 9;
    bench.machine.interlink.pipe_stages = 8;
    line_bench_start(&bench);
    for (unsigned b = 0; b < 8; b++)
        line_burst(&bench, 0, 1, 1, 1, FINAL, 9, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, 72);
    g_assert_cmpuint((uint32_t)interlink_status(bench.mesh[0].interlink, 11), >, 0);
    g_assert_cmpuint(interlink_status(bench.mesh[0].interlink, 13) >> 48 & 255, ==, 9);
    g_assert_true(line_quiet(bench.line));
    line_bench_close(&bench);
}

/* ---- faults and hazards ---- */

static unsigned faults(const struct line_bench *bench, unsigned mesh) {
    return interlink_status(bench->mesh[mesh].interlink, 1);
}

static void single_flit(bool defects, unsigned type_there) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    bench.machine.rtl_defects = defects;
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 1, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.single_flit"), ==, 1);
    /* with the defect a read request from and to (0,0) comes out of the far port instead */
    g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, type_there == FLIT_CU_DATA);
    g_assert_cmpuint(bench.mesh[1].system->agent.ports[0].counts.in[FLIT_MEM_RD_REQ], ==,
                     type_there == FLIT_MEM_RD_REQ);
    line_bench_close(&bench);
}

static void single_flit_is_sent(void) {
    single_flit(false, FLIT_CU_DATA);
}

static void single_flit_defect(void) {
    single_flit(true, FLIT_MEM_RD_REQ);
}

static void no_final_node(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 1, 0, 3, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.no_final"), ==, 3);
    g_assert_cmpuint(faults(&bench, 0), ==, INTERLINK_FAULT_ACK0);
    line_bench_close(&bench);
}

static void unmarked_flit(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 5, 0);
    GArray *flits = line_place(&bench, 0, 1, 1)->flits;
    g_array_index(flits, struct flit, 2).rsvd = 0;
    line_bench_run(&bench);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.unmarked_flit"), ==, 1);
    g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, 4);
    line_bench_close(&bench);
}

static void no_ack_node(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 5, 0);
    word_set(&g_array_index(line_place(&bench, 0, 1, 1)->flits, struct flit, 0).payload, 208, 8, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(faults(&bench, 0), ==, INTERLINK_FAULT_ACK0);
    g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, 5);
    line_bench_close(&bench);
}

/* To the own mesh, or past the end of a line of two: dropped, and what comes next goes its way. */
static void no_way(void) {
    for (unsigned to = 0; to <= 3; to += 3) {
        struct line_bench bench;
        line_bench_open(&bench, 2);
        line_bench_start(&bench);
        line_burst(&bench, 0, 1, 1, to, FINAL, 5, 0);
        line_burst(&bench, 0, 1, 1, 1, FINAL, 4, 0);
        line_bench_run(&bench);
        g_assert_cmpuint(faults(&bench, 0) | faults(&bench, 1), ==, INTERLINK_FAULT_SWITCH);
        g_assert_cmpuint(line_hazard_count(bench.line, "il.no_way"), ==, 1);
        g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, 4);
        g_assert_true(line_quiet(bench.line));
        line_bench_close(&bench);
    }
}

static void disabled_drops(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_write_register(&bench, 0, 1, AGENT_AUX_CFG + INTERLINK_CONTROL, 0);
    line_write_register(&bench, 0, 200, AGENT_AUX_CFG + INTERLINK_CONTROL, 5);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 5, 20);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 4, 300);
    line_bench_run(&bench);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.dropped"), ==, 5);
    g_assert_cmpuint(faults(&bench, 0), ==, 0); /* cleared by the second write */
    g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, 4);
    line_bench_close(&bench);
}

static void foreign_read_is_local(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    struct line_place *place = line_place(&bench, 0, 1, 1);
    struct flit flit = line_remote_flit(place, 0, 0, 0);
    flit.type = FLIT_MEM_RD_REQ;
    flit.rsvd = 0;
    word_set(&flit.payload, 216, 40, UINT64_C(1) << 36);
    line_inject(place, flit);
    line_bench_run(&bench);
    g_assert_cmpuint(faults(&bench, 0), ==, INTERLINK_FAULT_RD_REMOTE);
    g_assert_cmpuint(line_hazard_count(bench.line, "mem.foreign_mesh"), ==, 1);
    g_assert_cmpuint(line_count(&bench, 0, LOG_DELIVERED), ==, 1);
    line_bench_close(&bench);
}

static void second_ring_is_lost(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_write_register(&bench, 0, 6, AGENT_AUX_CFG + INTERLINK_DOORBELL, 0x4201);
    line_write_register(&bench, 0, 9, AGENT_AUX_CFG + INTERLINK_DOORBELL, 0x4301);
    line_bench_run(&bench);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.doorbell_lost"), ==, 1);
    g_assert_cmpuint(line_count(&bench, 1, LOG_DOORBELL), ==, 1);
    line_bench_close(&bench);
}

/* ---- deadlocks ---- */

/* The report on mesh 0 has this diagnosis (may be NULL), a circle of so many waits, and a wait for `what`. */
static void assert_stopped(const struct line_bench *bench, const char *id, unsigned circle, const char *what) {
    struct deadlock_report report;
    bool found = false;
    deadlock_report_init(&report, bench->mesh[0].system, bench->last, bench->now);
    g_assert_cmpstr(report.id, ==, id);
    g_assert_cmpuint(report.circle, ==, circle);
    for (guint w = 0; w < report.waits->len; w++)
        found |= strstr(((const struct deadlock_wait *)g_ptr_array_index(report.waits, w))->what, what) != NULL;
    if (!found) {
        g_autofree char *text = deadlock_report_text(&report);
        g_test_fail_printf("no wait for \"%s\" in:\n%s", what, text);
    }
    deadlock_report_clear(&report);
}

static void overlap(struct line_bench *bench, bool per_source) {
    line_bench_open(bench, 2);
    bench->machine.interlink.per_source = per_source;
    line_bench_start(bench);
    line_burst(bench, 0, 1, 1, 1, FINAL, 9, 10);
    line_burst(bench, 0, 2, 1, 1, 0x12, 9, 12);
    line_bench_run(bench);
}

static void overlapping_bursts_stand_still(void) {
    struct line_bench bench;
    overlap(&bench, false);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.encap_interleave"), >, 0);
    g_assert_cmpuint(line_count(&bench, 0, LOG_BEATS), ==, 0);
    g_assert_false(line_quiet(bench.line));
    g_assert_cmpuint(mesh_held(&bench.mesh[0].system->mesh), ==, 18 - line_count(&bench, 0, LOG_TAKEN));
    assert_stopped(&bench, "il.encap_interleave", 2, "which collects a burst of (1,1), to take a flit of (2,1)");
    line_bench_close(&bench);
}

static void encapsulator_per_source_goes_on(void) {
    struct line_bench bench;
    overlap(&bench, true);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.encap_interleave"), ==, 0);
    g_assert_cmpuint(line_count(&bench, 1, LOG_DELIVERED), ==, 18);
    g_assert_true(line_quiet(bench.line));
    line_bench_close(&bench);
}

static void oversize_packet_never_leaves(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    bench.machine.interlink.rx_beats = 8; /* below max_beats, which a configuration may not ask for */
    line_bench_start(&bench);
    line_burst(&bench, 0, 1, 1, 1, FINAL, 9, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(line_hazard_count(bench.line, "il.too_long"), ==, 1);
    g_assert_cmpuint(line_count(&bench, 0, LOG_BEATS), ==, 0);
    g_assert_false(line_quiet(bench.line));
    assert_stopped(&bench, "il.too_long", 0, "credit for a packet of 9 beats to mesh 1: it has 8");
    line_bench_close(&bench);
}

static void disabled_in_a_remote_move(void) {
    struct line_bench bench;
    line_bench_open(&bench, 2);
    line_bench_start(&bench);
    line_move(&bench, 0, 1, 16, true);
    line_write_register(&bench, 0, 100, AGENT_AUX_CFG + INTERLINK_CONTROL, 0);
    line_bench_run(&bench);
    g_assert_cmpuint(line_count(&bench, 1, LOG_LANDED), <, 16);
    g_assert_cmpuint(line_count(&bench, 0, LOG_BUSY_ENDS), ==, 0);
    g_assert_true(mover_busy(&bench.mesh[0].system->mover));
    assert_stopped(&bench, NULL, 0, "being enabled again");
    g_assert_false(line_quiet(bench.line));
    line_bench_close(&bench);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/interlink/cycles/burst_of_n_flits", burst_of_n_flits);
    g_test_add_func("/interlink/cycles/nine_flits_take_37_cycles", nine_flits_take_37_cycles);
    g_test_add_func("/interlink/cycles/period_of_bursts_is_2n_plus_3", period_of_bursts);
    g_test_add_func("/interlink/cycles/transit_takes_seven", transit_takes_seven);
    g_test_add_func("/interlink/cycles/pipe_stages_add_their_number", pipe_stages_add_their_number);
    g_test_add_func("/interlink/cycles/remote_words_every_4_and_7", remote_words_every_4_and_7);
    g_test_add_func("/interlink/cycles/local_move_through_the_splitter", local_move_through_the_splitter);
    g_test_add_func("/interlink/cycles/idle_doorbell", idle_doorbell);
    g_test_add_func("/interlink/cycles/doorbell_waits_for_the_words", doorbell_waits_for_the_words);
    g_test_add_func("/interlink/moved_words_arrive_unchanged", moved_words_arrive_unchanged);
    g_test_add_func("/interlink/stepping_order_changes_nothing", stepping_order_changes_nothing);
    g_test_add_func("/interlink/short_of_credit_nothing_is_lost", short_of_credit);
    g_test_add_func("/interlink/hazards/single_flit_is_sent", single_flit_is_sent);
    g_test_add_func("/interlink/hazards/single_flit_defect", single_flit_defect);
    g_test_add_func("/interlink/hazards/no_final_node", no_final_node);
    g_test_add_func("/interlink/hazards/unmarked_flit", unmarked_flit);
    g_test_add_func("/interlink/hazards/no_ack_node", no_ack_node);
    g_test_add_func("/interlink/hazards/no_way", no_way);
    g_test_add_func("/interlink/hazards/disabled_drops", disabled_drops);
    g_test_add_func("/interlink/hazards/foreign_read_is_local", foreign_read_is_local);
    g_test_add_func("/interlink/hazards/second_ring_is_lost", second_ring_is_lost);
    g_test_add_func("/interlink/deadlock/overlapping_bursts_stand_still", overlapping_bursts_stand_still);
    g_test_add_func("/interlink/deadlock/encapsulator_per_source_goes_on", encapsulator_per_source_goes_on);
    g_test_add_func("/interlink/deadlock/oversize_packet_never_leaves", oversize_packet_never_leaves);
    g_test_add_func("/interlink/deadlock/disabled_in_a_remote_move", disabled_in_a_remote_move);
    return g_test_run();
}
