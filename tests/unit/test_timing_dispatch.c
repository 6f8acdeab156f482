/* Timing of dispatch, to the cycle: from the data beat k of a kick's write to the flits on the link, credit, the window
 * of the mailbox and the control program. */
#include "claims/machine_bench.h"

#define BOTH MACHINE_TEXT("\"memory\": {\"attachment\": \"per_port\", \"latency\": 1}")

enum {
    NODE = 0x11,
    KICK = 20 /* data beat of the kick's write */
};

static void open_staged(struct machine_bench *bench, unsigned count, unsigned credit) {
    struct word256 payload = {{0}};
    bench_open(bench, BOTH);
    for (unsigned slot = 0; slot < count; slot++)
        dispatch_stage(&bench->system->agent.dispatch, slot, &payload, FLIT_CU_INST, slot, slot + 1 == count);
    bench_write(bench, AGENT_PROG_CRED, credit, KICK - 16);
    bench_write(bench, AGENT_PROG_DST, NODE, KICK - 12);
    bench_write(bench, AGENT_PROG_LEN, count, KICK - 8);
    bench_write(bench, AGENT_PROG_BASE, 0, KICK - 4);
    bench_write(bench, AGENT_PROG_KICK, 1, KICK);
}

/* First flit on the link 10 cycles after the kick request (k + 1), then one every 5; pushed 4 before. */
static void steady_rate(void) {
    struct machine_bench bench;
    open_staged(&bench, 20, 64);
    bench_run(&bench);
    for (unsigned f = 0; f < 20; f++) {
        g_assert_cmpuint(bench_cycle(&bench, "flit pushed", BENCH_AGENT, f), ==, KICK + 7 + 5 * f);
        g_assert_cmpuint(bench_cycle(&bench, "flit on link", BENCH_AGENT, f), ==, KICK + 11 + 5 * f);
        g_assert_cmpuint(bench_flit_cycle(&bench, "in", 0, FLIT_CU_INST, f), ==, KICK + 16 + 5 * f);
    }
    g_assert_cmpuint(bench.system->agent.dispatch.credit_stall_cycles, ==, 0);
    bench_close(&bench);
}

struct run_bit {
    cycle_t first, last; /* cycles in which PROG_STAT bit 0 reads 1 */
};

static void watch_run_bit(struct machine_bench *bench, void *to, cycle_t now) {
    struct run_bit *bit = to;
    /* after the cycle's step: the value of the next cycle */
    if (!(dispatch_read(&bench->system->agent.dispatch, AGENT_PROG_STAT, now) & 1))
        return;
    bit->first = MIN(bit->first, now + 1);
    bit->last = now + 1;
}

/* Running from k + 2 on; low again from k + 2 + 5 n, the cycle of the last push. */
static void run_bit_window(void) {
    for (unsigned n = 1; n <= 7; n += 3) {
        struct machine_bench bench;
        struct run_bit bit = {.first = CYCLE_NEVER};
        open_staged(&bench, n, 64);
        bench.sample = watch_run_bit;
        bench.sample_to = &bit;
        bench_run(&bench);
        g_assert_cmpuint(bit.first, ==, KICK + 2);
        g_assert_cmpuint(bit.last, ==, KICK + 1 + 5 * n);
        g_assert_cmpuint(bench_cycle(&bench, "flit pushed", BENCH_AGENT, n - 1), ==, KICK + 2 + 5 * n);
        bench_close(&bench);
    }
}

/* Four flits with two credits: the third waits for a completion, whose credit lets its remaining four words be read; at
 * the end one credit is left and four signals have been counted. */
static void two_credits(void) {
    struct machine_bench bench;
    open_staged(&bench, 4, 2);
    bench_run(&bench);
    g_assert_cmpuint(bench_cycle(&bench, "flit on link", BENCH_AGENT, 0), ==, KICK + 11);
    g_assert_cmpuint(bench_cycle(&bench, "flit on link", BENCH_AGENT, 1), ==, KICK + 16);
    for (unsigned f = 2; f < 4; f++)
        g_assert_cmpuint(bench_cycle(&bench, "flit pushed", BENCH_AGENT, f), ==,
                         bench_flit_cycle(&bench, "signal", BENCH_AGENT, FLIT_CU_SIGNAL, f - 2) + 5);
    struct dispatch *dispatch = &bench.system->agent.dispatch;
    g_assert_cmpuint(dispatch_read(dispatch, AGENT_PROG_CRED, bench.now), ==, 1);
    g_assert_cmpuint(dispatch_read(dispatch, AGENT_SIG_DONE, bench.now), ==, 4);
    bench_close(&bench);
}

/* A kick while a program is dispatched, and one of length 0, are ignored and reported. */
static void lost_kicks(void) {
    struct machine_bench bench;
    open_staged(&bench, 4, 16);
    bench_write(&bench, AGENT_PROG_KICK, 1, KICK + 8);
    bench_write(&bench, AGENT_PROG_LEN, 0, KICK + 60);
    bench_write(&bench, AGENT_PROG_KICK, 1, KICK + 64);
    bench_run(&bench);
    g_assert_cmpuint(bench_count(&bench, "flit pushed", BENCH_AGENT, -1), ==, 4);
    g_assert_cmpuint(bench_hazards(&bench, "dispatch.kick_lost"), ==, 2);
    bench_close(&bench);
}

/* GO in g: first command fetched in g + 2; a write costs 5 cycles, a poll that matches at once 5, each further try 36.
 */
static void control_program(void) {
    for (unsigned tries = 1; tries <= 3; tries++) {
        struct machine_bench bench;
        bench_open(&bench, BOTH);
        struct control *control = &bench.system->agent.control;
        control->commands[0] = (struct control_command){CONTROL_WR, AGENT_IRQ_EN, 5, 0};
        control->commands[1] = (struct control_command){CONTROL_POLL, AGENT_CTRL, 1, 1};
        control->commands[2] = (struct control_command){CONTROL_DONE, 0, 0, 0};
        cycle_t go = 100, poll = go + 2 + 5; /* fetch of the poll */
        bench_engine(&bench, ENGINE_CONTROL, 1, go);
        /* what the poll waits for shows after its try number `tries` - 1 */
        bench_write(&bench, AGENT_CTRL, 1, tries == 1 ? 10 : poll + 2 + 36 * (tries - 2) + 10);
        bench_run(&bench);
        g_assert_cmpuint(control->polls, ==, tries);
        g_assert_true(control->done);
        g_assert_false(control->error);
        cycle_t done = bench.now - 1;
        g_assert_cmpuint(done, >=, poll + 5 + 36 * (tries - 1));
        g_assert_cmpuint(done, <=, poll + 5 + 36 * (tries - 1) + 1);
        bench_close(&bench);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timing/dispatch/steady_rate", steady_rate);
    g_test_add_func("/timing/dispatch/run_bit_window", run_bit_window);
    g_test_add_func("/timing/dispatch/two_credits", two_credits);
    g_test_add_func("/timing/dispatch/lost_kicks", lost_kicks);
    g_test_add_func("/timing/dispatch/control_program", control_program);
    return g_test_run();
}
