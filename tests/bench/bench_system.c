/* Speed of whole runs: simulated cycles a second of processor time, from the first cycle to the last, the arithmetic
 * included; planning, loading and grading are not. Two yardsticks in the same run: a plain integer loop, which says how
 * fast the machine is at the moment, and the block arithmetic alone, the floor of any simulation that computes the real
 * bits. The reference simulation's figures are those of its authors' machine (reference timing, section 8).
 *
 *     bench_system [REPEATS]                 both runs
 *     bench_system MACHINE WORKLOAD          one run, whose cycles alone callgrind collects (tests/bench/callgrind.sh)
 */
#include <stdio.h>
#include <string.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT ((void)0)
#endif

#include "bench.h"
#include "model/config.h"
#include "model/numeric/fp22.h"
#include "model/numeric/mxfp7.h"
#include "workloads/run.h"

enum {
    LOOP_STEPS = 20000000,
    BLOCKS = 8, /* operand entries the arithmetic goes round */
    TILE = 512,
};

/* One timed run. */
struct timing {
    double start, seconds;
    uint64_t cycles, blocks; /* blocks: sub-tile products */
};

static cycle_t look(void *self, struct system *system, cycle_t now) {
    (void)system, (void)now;
    struct timing *timing = self;
    timing->start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    CALLGRIND_TOGGLE_COLLECT;
    return CYCLE_NEVER;
}

static void finish(void *self, struct system *system, cycle_t end) {
    (void)system, (void)end;
    struct timing *timing = self;
    CALLGRIND_TOGGLE_COLLECT;
    timing->seconds = seconds(CLOCK_PROCESS_CPUTIME_ID) - timing->start;
}

static void time_run(const char *machine_name, const char *workload_name, struct timing *timing) {
    struct machine machine;
    struct workload workload;
    struct run run;
    GError *error = NULL;
    struct run_observer observer = {.self = timing, .look = look, .finish = finish};
    if (!config_load_machine(&machine, machine_name, NULL, &error) ||
        !workload_load(&workload, workload_name, NULL, &error))
        g_error("%s", error->message);
    run_init(&run, &machine, &workload);
    run.seed = 1;
    run_observe(&run, &observer);
    if ((workload.type->adjust && !workload.type->adjust(&workload, &machine, &error)) ||
        !workload.type->run(&run, &error))
        g_error("%s", error->message);
    if (run.dead || run.answer_wrong)
        g_error("%s on %s did not end well", workload_name, machine_name);
    timing->cycles = run.cycles;
    timing->blocks = run.macs / (MXFP7_LANES * MXFP7_LANES * MXFP7_BLOCK);
    run_clear(&run);
    workload_clear(&workload);
    machine_clear(&machine);
}

/* Steps of a dependent chain of integer operations, a second. */
static double plain_loop(void) {
    volatile uint64_t seed = 88172645463325252u;
    uint64_t x = seed;
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < LOOP_STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    seed = x;
    return LOOP_STEPS / (seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
}

/* Seconds of that many block products, each added to a sub-tile. */
static double arithmetic(uint64_t blocks) {
    static uint32_t tile[TILE][FP22_LANES];
    struct mxfp7_entry a[BLOCKS], b[BLOCKS];
    for (unsigned i = 0; i < BLOCKS; i++) {
        for (unsigned e = 0; e < MXFP7_LANES * MXFP7_BLOCK; e++) {
            a[i].q[e / MXFP7_BLOCK][e % MXFP7_BLOCK] = (int8_t)((int)((e * 37 + i * 11) % 127) - 63);
            b[i].q[e / MXFP7_BLOCK][e % MXFP7_BLOCK] = (int8_t)((int)((e * 53 + i * 29) % 127) - 63);
        }
        memset(a[i].scale, 0x98, sizeof a[i].scale);
        memset(b[i].scale, 0x9a, sizeof b[i].scale);
    }
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t n = 0; n < blocks; n++) {
        const struct mxfp7_entry *left = &a[n / BLOCKS % BLOCKS], *right = &b[n % BLOCKS];
        int32_t sums[FP22_LANES];
        mxfp7_block_dot(left, right, sums);
        fp22_tile_add(tile[n % TILE], sums, left->scale, right->scale, FP22_ANCHOR, FP22_WIDTH);
    }
    return seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static void compare(const char *machine, const char *workload, double reference, unsigned repeats) {
    double time[REPEATS_MAX] = {0}, floor_time[REPEATS_MAX] = {0}, loop[REPEATS_MAX] = {0}, ratio[REPEATS_MAX] = {0};
    struct timing timing = {0};
    for (unsigned i = 0; i < repeats; i++) {
        loop[i] = plain_loop();
        time_run(machine, workload, &timing);
        time[i] = timing.seconds;
        floor_time[i] = arithmetic(timing.blocks);
        ratio[i] = time[i] * loop[i] / (double)timing.cycles;
    }
    double cycles = (double)timing.cycles, middle = median(time, repeats), bare = median(floor_time, repeats);
    printf("%s %s: %.0f cycles\n", machine, workload, cycles);
    printf("  cycles a second       median %8.0f  best %8.0f\n", cycles / middle, cycles / time[0]);
    printf("  over the reference simulation's %.0f: %.0f (median), %.0f (best)\n", reference,
           cycles / middle / reference, cycles / time[0] / reference);
    printf("  if only the arithmetic were done: median %8.0f  best %8.0f\n", cycles / bare, cycles / floor_time[0]);
    printf("  a cycle is as long as %.0f steps of a plain loop (median; the loop does %.0f million a second)\n",
           median(ratio, repeats), median(loop, repeats) / 1e6);
}

int main(int argc, char **argv) {
    if (argc == 3) {
        struct timing timing;
        time_run(argv[1], argv[2], &timing);
        printf("%lu cycles, %.0f a second\n", (unsigned long)timing.cycles, (double)timing.cycles / timing.seconds);
        return 0;
    }
    unsigned repeats = argc > 1 ? (unsigned)CLAMP(atoi(argv[1]), 1, REPEATS_MAX) : 9;
    double load[1];
    if (getloadavg(load, 1) == 1)
        printf("load average %.2f\n\n", load[0]);
    compare("ref2", "gemm:m=256,k=256,n=256,transform=upload", 34400, repeats);
    compare("ref8", "gemm:m=256,k=256,n=1024,transform=upload", 9800, repeats);
    return 0;
}
