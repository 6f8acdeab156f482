/* Every deadlock by construction of noc-and-memory §12.2 that one mesh can have: the run stops within the bounded
 * number of cycles, the diagnosis is named, and where waits close a circle it is written out. The programs are those of
 * tests/hazards, shown here from the side of the stopped machine. */
#include "program_run.h"

#define HAZARDS_DIR FLITSIM_SOURCE_DIR "/tests/hazards/"

static char *stored(const char *id) {
    g_autofree char *path = g_strconcat(HAZARDS_DIR, id, ".fs", NULL);
    char *text;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

/* The program must stop, and its report name `id`, a circle (or none) and this text. */
static void stops(const char *text, const char *id, bool circle, const char *says) {
    struct program_run run;
    struct deadlock_report report;
    program_open(&run, text);
    program_go(&run);
    g_assert_false(run.ended);
    deadlock_report_init(&report, run.system, run.end, run.end + standstill_limit(&run.machine));
    g_autofree char *shown = deadlock_report_text(&report);
    if (g_strcmp0(report.id, id) != 0 || (report.circle > 0) != circle || !strstr(shown, says))
        g_test_fail_printf("expected %s with%s circle and \"%s\", got %s with %u in the circle:\n%s", id,
                           circle ? "" : "out", says, report.id ? report.id : "no name", report.circle, shown);
    g_assert_cmpuint(hazard_count(&run.system->hazards, id), >=, 1);
    deadlock_report_clear(&report);
    program_close(&run);
}

static void stored_stops(const char *id, bool circle, const char *says) {
    g_autofree char *text = stored(id);
    stops(text, id, circle, says);
}

static void self_addressed_burst(void) {
    stored_stops("deadlock.self_peer", true, "its own drain to finish before a peer sub-tile of (1,1) is taken");
}

static void mutual_peer(void) {
    stored_stops("deadlock.mutual_peer", true, "its own drain to finish before a peer sub-tile of (1,2) is taken");
}

static void too_few_write_slots(void) {
    stored_stops("deadlock.write_slots", true, "a free write slot");
}

static void orphan_data(void) {
    stored_stops("wr.orphan_data", false, "an open write of (0,1) for the word at the head of its queue");
}

static void short_burst(void) {
    stored_stops("wr.short", false, "1 more words of a write of (0,1), held by nobody");
}

static void over_seeded_credit(void) {
    stored_stops("deadlock.overseeded", true, "room in the instruction queue: 34 instructions wait");
}

static void credit_exhausted(void) {
    stored_stops("dispatch.credit_starved", false, "an instruction's completion: credit is 0");
}

static void undrained_receive_queue(void) {
    stored_stops("deadlock.receive_queue", false, "a FILL to take the read response at its head");
}

static void poll_that_never_matches(void) {
    stored_stops("ctrl.poll_forever", false, "CTRL to become 0x1");
}

static void lost_control_request(void) {
    g_autofree char *text = stored("ctrl.lost");
    /* the receiver is blocked for good as well: both are in the report */
    stops(text, "deadlock.receive_queue", false, "a FILL to take the read response at its head");
}

static void program_without_last(void) {
    stops("program (1,1)\nnop\nwrite SIG_DONE=0\ncredit 4\nkick\npoll NODE_STATUS[0x11] mask=0xff00000000000000 "
          "value=0x0100000000000000\ndone\n",
          "dispatch.no_last", false, "NODE_STATUS");
}

/* 15x15 clusters, one of them stuck: the report stays short. */
static void report_is_readable_when_many_wait(void) {
    g_autofree char *text = stored("deadlock.self_peer");
    struct program_run run;
    struct deadlock_report report;
    program_open(&run, text);
    program_go(&run);
    deadlock_report_init(&report, run.system, run.end, run.end);
    for (unsigned i = 0; i < 2000; i++) {
        struct deadlock_wait *more = g_new0(struct deadlock_wait, 1);
        *more = (struct deadlock_wait){.who = g_strdup("x"), .what = g_strdup("y")};
        g_ptr_array_add(report.waits, more);
    }
    g_autofree char *shown = deadlock_report_text(&report);
    g_auto(GStrv) lines = g_strsplit(shown, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), <, 40);
    deadlock_report_clear(&report);
    program_close(&run);
}

static void standstill_comes_after_the_limit(void) {
    struct program_run run;
    program_open(&run, "poll CTRL value=1\ndone\n");
    cycle_t now = 0, limit = standstill_limit(&run.machine);
    run.system->agent.host = (struct agent_host){.self = &run, .step = program_host, .due = 0};
    agent_wake(&run.system->agent, 0);
    while (!system_standstill(run.system, now))
        now = system_step(run.system, now);
    cycle_t stood = now - system_last_progress(run.system);
    g_assert_cmpuint(stood, >=, limit);
    g_assert_cmpuint(stood, <, limit + 64);
    program_close(&run);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/deadlock/self_addressed_burst", self_addressed_burst);
    g_test_add_func("/deadlock/mutual_peer", mutual_peer);
    g_test_add_func("/deadlock/too_few_write_slots", too_few_write_slots);
    g_test_add_func("/deadlock/orphan_data", orphan_data);
    g_test_add_func("/deadlock/short_burst", short_burst);
    g_test_add_func("/deadlock/over_seeded_credit", over_seeded_credit);
    g_test_add_func("/deadlock/credit_exhausted", credit_exhausted);
    g_test_add_func("/deadlock/undrained_receive_queue", undrained_receive_queue);
    g_test_add_func("/deadlock/poll_that_never_matches", poll_that_never_matches);
    g_test_add_func("/deadlock/lost_control_request", lost_control_request);
    g_test_add_func("/deadlock/program_without_last", program_without_last);
    g_test_add_func("/deadlock/report_is_readable_when_many_wait", report_is_readable_when_many_wait);
    g_test_add_func("/deadlock/standstill_comes_after_the_limit", standstill_comes_after_the_limit);
    return g_test_run();
}
