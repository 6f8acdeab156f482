/* Speed of the mesh under uniform traffic beside a plain loop of the same rules, in the same run: medians of several,
 * taken in turn. Prints flit-hops a second of processor time, their ratio and the cost against an 4x4 mesh.
 *
 *     bench_mesh [REPEATS]          all of it
 *     bench_mesh COLUMNS ROWS RATE CYCLES    one run without the loop, for a profiler */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bare_machine.h"
#include "bench.h"
#include "noc/clock.h"
#include "noc/traffic.h"
#include "plain_mesh.h"

enum {
    DRAIN = 2000,
};

struct point {
    unsigned nx, ny;
    double rate;
    uint64_t cycles;
};

/* Time of a run; fills in what it did. */
static double ours(const struct point *point, unsigned threads, clockid_t kind, struct traffic_result *result) {
    struct machine machine = bare_machine(point->nx, point->ny);
    struct traffic_params params;
    GError *error = NULL;
    machine.engine.threads = threads;
    traffic_params_init(&params);
    params.rate = point->rate;
    params.warmup_cycles = 0;
    params.measure_cycles = point->cycles;
    params.drain_cycles = DRAIN;
    double start = seconds(kind);
    if (!traffic_run(&machine, &params, result, &error))
        g_error("%s", error->message);
    return seconds(kind) - start;
}

static double plain(const struct point *point, struct plain_mesh *mesh) {
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    plain_run(mesh, (int)point->nx, (int)point->ny, point->rate, point->cycles, DRAIN);
    return seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

/* Our flit-hops a second. */
static double compare(const struct point *point, unsigned repeats) {
    double our_time[REPEATS_MAX] = {0}, plain_time[REPEATS_MAX] = {0}, ratio[REPEATS_MAX] = {0};
    struct traffic_result result;
    struct plain_mesh mesh;
    uint64_t hops = 0;
    for (unsigned i = 0; i < repeats; i++) {
        plain_time[i] = plain(point, &mesh);
        our_time[i] = ours(point, 1, CLOCK_PROCESS_CPUTIME_ID, &result);
        ratio[i] = our_time[i] / plain_time[i];
        hops = result.flit_hops;
        if (result.order_hash != mesh.hash || result.flit_hops != mesh.hops)
            g_error("the loop and the mesh did not do the same");
        plain_clear(&mesh);
        traffic_result_clear(&result);
    }
    double our_speed = (double)hops / median(our_time, repeats), loop = (double)hops / median(plain_time, repeats);
    printf("%3ux%-3u %5.2f %12.2f %12.2f %10.2f\n", point->nx, point->ny, point->rate, our_speed / 1e6, loop / 1e6,
           median(ratio, repeats));
    fflush(stdout);
    return our_speed;
}

static void threads(unsigned repeats) {
    static const struct point point = {32, 32, 0.2, 1500};
    double one[REPEATS_MAX] = {0}, two[REPEATS_MAX] = {0}, ratio[REPEATS_MAX] = {0};
    for (unsigned i = 0; i < repeats; i++) {
        struct traffic_result first, second;
        one[i] = ours(&point, 1, CLOCK_MONOTONIC, &first);
        two[i] = ours(&point, 2, CLOCK_MONOTONIC, &second);
        ratio[i] = one[i] / two[i];
        if (first.order_hash != second.order_hash)
            g_error("two threads did not do the same as one");
        traffic_result_clear(&first);
        traffic_result_clear(&second);
    }
    printf("\nthreads, 32x32 at 0.2: one %.2f s, two %.2f s of wall clock, speed-up %.2f (median)\n",
           median(one, repeats), median(two, repeats), median(ratio, repeats));
}

static void memory(void) {
    static const struct point large = {64, 64, 0.01, 200};
    struct rusage before, after;
    struct traffic_result result;
    clock_start_engine(); /* SimGrid's own memory is not the routers' */
    getrusage(RUSAGE_SELF, &before);
    ours(&large, 1, CLOCK_MONOTONIC, &result);
    getrusage(RUSAGE_SELF, &after);
    printf("memory, 64x64 at depth 32: peak grew by %.1f KB a router\n",
           (double)(after.ru_maxrss - before.ru_maxrss) / (large.nx * large.ny));
    traffic_result_clear(&result);
}

static int single(char **argv) {
    struct point point = {(unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), atof(argv[3]), strtoull(argv[4], NULL, 10)};
    struct traffic_result result;
    double time = ours(&point, 1, CLOCK_PROCESS_CPUTIME_ID, &result);
    printf("%lu flit-hops, %lu router steps, %.2f million flit-hops a second\n", (unsigned long)result.flit_hops,
           (unsigned long)result.router_steps, (double)result.flit_hops / time / 1e6);
    traffic_result_clear(&result);
    return 0;
}

int main(int argc, char **argv) {
    static const struct point points[] = {
        {8, 8, 0.05, 20000}, {8, 8, 0.1, 20000}, {8, 8, 0.2, 10000},   {8, 8, 0.3, 10000},    {8, 8, 0.4, 10000},
        {16, 16, 0.1, 4000}, {4, 4, 0.1, 60000}, {16, 16, 0.05, 4000}, {32, 32, 0.025, 1500}, {64, 64, 0.0125, 500}};
    if (argc == 5)
        return single(argv);
    unsigned repeats = argc > 1 ? (unsigned)CLAMP(atoi(argv[1]), 1, REPEATS_MAX) : 5;
    memory();
    printf("\n   mesh  load   ours, M/s   plain, M/s   time/plain   (flit-hops a second, medians of %u)\n", repeats);
    double smallest = 0, largest = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(points); i++) {
        double speed = compare(&points[i], repeats);
        if (points[i].nx == 4)
            smallest = speed;
        largest = speed;
    }
    printf("\ncost of a flit-hop on 64x64 against 4x4: %.2f\n", smallest / largest);
    threads(repeats);
    return 0;
}
