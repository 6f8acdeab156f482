/* Bursts that cross a 4 KB page (memory.split_pages): split there by the port, whole without, and the same words either
 * way. Every burst that memory takes is looked at. */
#include "claims/machine_bench.h"

enum {
    W = 10,
    PAGE = 4096,
    STREAM = 0x40,
};

struct bursts {
    unsigned count, crossing;
};

static void note(void *self, bool writes, uint64_t address, unsigned words, cycle_t now) {
    struct bursts *bursts = self;
    (void)writes, (void)now;
    bursts->count++;
    bursts->crossing += address % PAGE + words * WORD_BYTES > PAGE;
}

struct split_bench {
    struct machine_bench bench;
    struct bursts bursts;
    struct path_watch watch;
};

static const char *const memories[] = {"\"attachment\": \"per_port\"", "\"attachment\": \"converged\"",
                                       "\"attachment\": \"converged\", \"channel_bits\": 512",
                                       "\"attachment\": \"converged\", \"pipelined\": true, \"reads_in_flight\": 4",
                                       "\"attachment\": \"per_port\", \"pipelined\": true, \"reads_in_flight\": 4"};

static void open_split(struct split_bench *split, unsigned memory, bool on) {
    g_autofree char *text = g_strdup_printf("{\"memory\": {%s, \"latency\": 3, \"split_pages\": %s}, %s}",
                                            memories[memory], on ? "true" : "false", MACHINE_MAP);
    bench_open(&split->bench, text);
    bench_capture_port(&split->bench);
    split->bursts = (struct bursts){0};
    split->watch = (struct path_watch){.self = &split->bursts, .burst = note};
    path_watch(split->bench.system->agent.path, &split->watch);
    for (unsigned w = 0; w < 4 * PAGE / WORD_BYTES; w++) {
        struct word256 word = {{w}};
        dram_load(&split->bench.system->dram, w * WORD_BYTES, &word, sizeof word);
    }
}

static struct flit request(enum flit_type type, uint64_t address, unsigned words, unsigned entries) {
    struct flit flit = {.type = type, .src_x = 1, .src_y = 1, .last = type == FLIT_MEM_RD_REQ};
    word_set(&flit.payload, 216, 40, address);
    word_set(&flit.payload, 208, 8, words - 1);
    word_set(&flit.payload, 200, 8, entries ? STREAM : 0);
    word_set(&flit.payload, 192, 8, entries);
    return flit;
}

/* Words first, first + 1, … come back, in `whole` bursts without splitting and `pieces` with it. */
static void check_read(unsigned first, unsigned words, unsigned entries, unsigned whole, unsigned pieces) {
    for (unsigned memory = 0; memory < G_N_ELEMENTS(memories); memory++)
        for (unsigned on = 0; on < 2; on++) {
            struct split_bench split;
            unsigned count = entries ? 4 * entries : words;
            open_split(&split, memory, on);
            struct flit flit = request(FLIT_MEM_RD_REQ, (uint64_t)first * WORD_BYTES, words, entries);
            bench_port_flit(&split.bench, &flit, W);
            bench_run(&split.bench);
            g_assert_cmpuint(bench_count(&split.bench, "response", BENCH_PORT, -1), ==, count);
            for (unsigned n = 0; n < count; n++)
                g_assert_cmpuint(bench_need(&split.bench, "response", BENCH_PORT, -1, n)->flit.payload.w[0], ==,
                                 first + n);
            g_assert_cmpuint(split.bursts.count, ==, on ? pieces : whole);
            g_assert_cmpuint(split.bursts.crossing, ==, on ? 0 : pieces - whole > 0);
            g_assert_cmpint(bench_hazards(&split.bench, "mem.page_cross") > 0, ==, pieces > whole);
            g_assert_true(system_quiet(split.bench.system));
            bench_close(&split.bench);
        }
}

static void reads(void) {
    check_read(126, 4, 1, 1, 2);
    check_read(125, 4, 3, 3, 4);
    check_read(120, 4, 2, 2, 2); /* ends at the page */
    check_read(127, 2, 0, 1, 2);
    check_read(100, 28, 0, 1, 1);
    check_read(100, 200, 0, 1, 3); /* two pages crossed */
}

static void writes(void) {
    for (unsigned memory = 0; memory < G_N_ELEMENTS(memories); memory++)
        for (unsigned on = 0; on < 2; on++)
            for (unsigned words = 1; words <= 8; words++) {
                struct split_bench split;
                open_split(&split, memory, on);
                for (unsigned k = 0; k < 3; k++) { /* the second crosses, the others don't */
                    struct flit flit = request(FLIT_MEM_WR_REQ, (k ? k == 1 ? 124 : 300 : 10) * WORD_BYTES, words, 0);
                    bench_port_flit(&split.bench, &flit, W + 12 * k);
                    for (unsigned n = 0; n < words; n++) {
                        struct flit data = {.type = FLIT_MEM_WR_DATA, .src_x = 1, .src_y = 1, .last = n + 1 == words};
                        data.payload.w[0] = 5000 + 100 * k + n;
                        bench_port_flit(&split.bench, &data, W + 12 * k + 1 + n);
                    }
                }
                bench_run(&split.bench);
                for (unsigned k = 0; k < 3; k++)
                    for (unsigned n = 0; n < words; n++)
                        g_assert_cmpuint(
                            bench_memory(&split.bench, ((k ? k == 1 ? 124 : 300 : 10) + n) * WORD_BYTES).w[0], ==,
                            5000 + 100 * k + n);
                g_assert_cmpuint(split.bursts.count, ==, 3 + (on && words > 4));
                g_assert_cmpuint(split.bursts.crossing, ==, !on && words > 4);
                g_assert_cmpuint(bench_count(&split.bench, "response", BENCH_PORT, FLIT_MEM_WR_ACK), ==, 3);
                g_assert_true(system_quiet(split.bench.system));
                bench_close(&split.bench);
            }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/page_split/reads", reads);
    g_test_add_func("/page_split/writes", writes);
    return g_test_run();
}
