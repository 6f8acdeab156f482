/* Actors are stepped in exactly their due cycles, at any run-ahead and number of threads, and runs end by themselves.
 */
#include <glib.h>

#include "noc/clock.h"

enum {
    SEEN_MAX = 64,
};

/* Due every `period` cycles up to `last`; in cycle `poke_at` it wakes `other` for `poke_to`. */
struct ticker {
    cycle_t period, last, poke_at, poke_to, stop_at;
    struct clock_actor *other;
    struct clock *clock;
    cycle_t seen[SEEN_MAX];
    unsigned count;
};

static cycle_t tick(void *self, cycle_t now) {
    struct ticker *ticker = self;
    if (ticker->count < SEEN_MAX)
        ticker->seen[ticker->count] = now;
    ticker->count++;
    if (ticker->other && now == ticker->poke_at)
        clock_wake(ticker->other, ticker->poke_to);
    if (ticker->stop_at && now == ticker->stop_at)
        clock_stop(ticker->clock, now);
    return ticker->period && now + ticker->period <= ticker->last ? now + ticker->period : CYCLE_NEVER;
}

struct setting {
    const char *name;
    struct engine_params engine;
};

static const struct setting settings[] = {
    {"ahead", {.run_ahead = true, .threads = 1}},
    {"step_by_step", {.run_ahead = false, .threads = 1}},
    {"ahead_two_threads", {.run_ahead = true, .threads = 2}},
    {"step_by_step_two_threads", {.run_ahead = false, .threads = 2}},
};

static void stepped_in_due_cycles_only(gconstpointer data) {
    const struct setting *setting = data;
    struct clock *clock = clock_new(&setting->engine);
    struct ticker slow = {.period = 10, .last = 50}, fast = {.period = 1, .last = 29};
    clock_add(clock, "slow", tick, &slow);
    clock_add(clock, "fast", tick, &fast);
    g_assert_cmpint(clock_run(clock, CYCLE_NEVER), ==, CLOCK_IDLE);
    g_assert_cmpuint(slow.count, ==, 6);
    g_assert_cmpuint(fast.count, ==, 30);
    for (unsigned i = 0; i < 6; i++)
        g_assert_cmpuint(slow.seen[i], ==, 10 * i);
    for (unsigned i = 0; i < 30; i++)
        g_assert_cmpuint(fast.seen[i], ==, i);
    g_assert_cmpuint(clock_now(clock), ==, 50);
    clock_free(clock);
}

static void wake_brings_a_step_forward(gconstpointer data) {
    const struct setting *setting = data;
    struct clock *clock = clock_new(&setting->engine);
    struct ticker sleeper = {.period = 1000, .last = 1000}, idle = {0};
    struct ticker first = {.period = 3, .last = 9, .poke_at = 6, .poke_to = 7};
    struct ticker second = {.period = 5, .last = 5, .poke_at = 5, .poke_to = 2000};
    first.other = clock_add(clock, "sleeper", tick, &sleeper);
    second.other = clock_add(clock, "idle", tick, &idle);
    clock_add(clock, "first", tick, &first);
    clock_add(clock, "second", tick, &second);
    g_assert_cmpint(clock_run(clock, CYCLE_NEVER), ==, CLOCK_IDLE);
    g_assert_cmpuint(sleeper.seen[1], ==, 7);
    g_assert_cmpuint(idle.count, ==, 2);
    g_assert_cmpuint(idle.seen[1], ==, 2000);
    g_assert_cmpuint(clock_now(clock), ==, 2000);
    clock_free(clock);
}

/* Two actors that only ever wake each other, three cycles ahead. */
struct pair {
    struct clock_actor *other;
    cycle_t last, sum;
};

static cycle_t pass_on(void *self, cycle_t now) {
    struct pair *pair = self;
    pair->sum += now;
    if (now < pair->last)
        clock_wake(pair->other, now + 3);
    return CYCLE_NEVER;
}

static void no_wake_is_lost(gconstpointer data) {
    const struct setting *setting = data;
    struct clock *clock = clock_new(&setting->engine);
    struct pair left = {.last = 3000}, right = {.last = 3000};
    right.other = clock_add(clock, "left", pass_on, &left);
    left.other = clock_add(clock, "right", pass_on, &right);
    g_assert_cmpint(clock_run(clock, CYCLE_NEVER), ==, CLOCK_IDLE);
    g_assert_cmpuint(left.sum, ==, 3 * 1000 * 1001 / 2);
    g_assert_cmpuint(right.sum, ==, 3 * 1000 * 1001 / 2);
    clock_free(clock);
}

static void limit_ends_the_run(gconstpointer data) {
    const struct setting *setting = data;
    struct clock *clock = clock_new(&setting->engine);
    struct ticker slow = {.period = 7, .last = 1000}, fast = {.period = 1, .last = 1000};
    clock_add(clock, "slow", tick, &slow);
    clock_add(clock, "fast", tick, &fast);
    g_assert_cmpint(clock_run(clock, 20), ==, CLOCK_LIMIT);
    g_assert_cmpuint(slow.count, ==, 3);
    g_assert_cmpuint(fast.count, ==, 21);
    g_assert_cmpuint(clock_now(clock), ==, 20);
    clock_free(clock);
}

static void stop_completes_the_cycle(gconstpointer data) {
    const struct setting *setting = data;
    struct clock *clock = clock_new(&setting->engine);
    struct ticker stopper = {.period = 4, .last = 1000, .stop_at = 12, .clock = clock};
    struct ticker fast = {.period = 1, .last = 1000}, rare = {.period = 500, .last = 1000};
    clock_add(clock, "stopper", tick, &stopper);
    clock_add(clock, "fast", tick, &fast);
    clock_add(clock, "rare", tick, &rare);
    g_assert_cmpint(clock_run(clock, CYCLE_NEVER), ==, CLOCK_STOPPED);
    g_assert_cmpuint(stopper.count, ==, 4);
    g_assert_cmpuint(fast.count, ==, 13);
    g_assert_cmpuint(rare.count, ==, 1);
    g_assert_cmpuint(clock_now(clock), ==, 12);
    clock_free(clock);
}

static void long_times_are_exact(gconstpointer data) {
    const struct setting *setting = data;
    const cycle_t step = (UINT64_C(1) << 40) + 1;
    struct clock *clock = clock_new(&setting->engine);
    struct ticker slow = {.period = step, .last = 8 * step}, other = {.period = 2 * step, .last = 8 * step};
    clock_add(clock, "slow", tick, &slow);
    clock_add(clock, "other", tick, &other);
    g_assert_cmpint(clock_run(clock, CYCLE_NEVER), ==, CLOCK_IDLE);
    for (unsigned i = 0; i <= 8; i++)
        g_assert_cmpuint(slow.seen[i], ==, i * step);
    g_assert_cmpuint(clock_now(clock), ==, 8 * step);
    clock_free(clock);
}

/* The end is told by nothing on standard error: SimGrid would report a deadlock there. */
static void normal_end_is_silent(void) {
    if (g_test_subprocess()) {
        stepped_in_due_cycles_only(&settings[0]);
        no_wake_is_lost(&settings[1]);
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed();
    g_test_trap_assert_stderr("");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        GTestDataFunc test;
    } tests[] = {
        {"stepped_in_due_cycles_only", stepped_in_due_cycles_only},
        {"wake_brings_a_step_forward", wake_brings_a_step_forward},
        {"no_wake_is_lost", no_wake_is_lost},
        {"limit_ends_the_run", limit_ends_the_run},
        {"stop_completes_the_cycle", stop_completes_the_cycle},
        {"long_times_are_exact", long_times_are_exact},
    };
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/normal_end_is_silent", normal_end_is_silent);
    for (unsigned s = 0; s < G_N_ELEMENTS(settings); s++)
        for (unsigned t = 0; t < G_N_ELEMENTS(tests); t++) {
            char *path = g_strdup_printf("/clock/%s/%s", tests[t].name, settings[s].name);
            g_test_add_data_func(path, &settings[s], tests[t].test);
            g_free(path);
        }
    return g_test_run();
}
