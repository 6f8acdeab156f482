/* flitsim sweep as its user meets it: what it prints and leaves, its exit statuses, and what it says of wrong input. */
#include <signal.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <unistd.h>

#include "program.h"

#define SWEEP(rest)                                                                                                    \
    "{\"schema\": \"flitsim.sweep/1\", \"name\": \"small\", \"machine\": \"mesh_2x2\",\n"                              \
    " \"workload\": \"traffic:rate=0.1,cycles=50,warmup=0,drain=500\",\n" rest "}\n"

/* The same with points that take a good part of a second. */
#define SLOW(rest)                                                                                                     \
    "{\"schema\": \"flitsim.sweep/1\", \"name\": \"slow\", \"machine\": \"mesh_8x8\",\n"                               \
    " \"workload\": \"traffic:rate=0.2,cycles=%s,warmup=0,drain=500\",\n" rest "}\n"

#define TWELVE "\"axes\": {\"noc.fifo_depth\": [2, 4, 8, 16], \"workload.rate\": [0.1, 0.2, 0.3]}"

struct bench {
    char *folder, *file, *out;
};

static void set_up(struct bench *bench, gconstpointer text) {
    bench->folder = g_dir_make_tmp("flitsim-sweep-XXXXXX", NULL);
    bench->file = g_build_filename(bench->folder, "s.json", NULL);
    bench->out = g_build_filename(bench->folder, "out", NULL);
    g_assert_true(g_file_set_contents(bench->file, text, -1, NULL));
}

static void tear_down(struct bench *bench, gconstpointer text) {
    (void)text;
    remove_tree(bench->folder);
    g_free(bench->folder);
    g_free(bench->file);
    g_free(bench->out);
}

static char *rows_of(const char *store) {
    return output_of(RUN("table", store, "--format", "csv", "--columns",
                         "number,point,status,digest,cycles,noc.fifo_depth,workload.rate,traffic.accepted,"
                         "traffic.latency.mean,machine,workload"));
}

static void the_table_is_the_same_at_any_number_of_jobs(struct bench *bench, gconstpointer text) {
    g_autofree char *other = g_build_filename(bench->folder, "other", NULL);
    (void)text;
    assert_ended(RUN("sweep", bench->file, "--out", bench->out, "--jobs", "1"), 0);
    assert_ended(RUN("sweep", bench->file, "--out", other, "--jobs", "5"), 0);
    g_autofree char *one = rows_of(bench->out), *five = rows_of(other);
    g_assert_cmpstr(one, ==, five);
    g_auto(GStrv) lines = g_strsplit(one, "\r\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 1 + 12 + 1); /* header, points, nothing after the last */
}

static void a_second_time_runs_only_what_is_missing(struct bench *bench, gconstpointer text) {
    (void)text;
    g_autofree char *first = output_of(RUN("sweep", bench->file, "--out", bench->out));
    g_autofree char *second = output_of(RUN("sweep", bench->file, "--out", bench->out));
    g_assert_true(g_str_has_prefix(first, "small: 12 points, 12 ok, 0 failed; 12 run now in "));
    g_assert_true(g_str_has_prefix(second, "small: 12 points, 12 ok, 0 failed; 0 run now in "));
}

static void quiet_prints_nothing(struct bench *bench, gconstpointer text) {
    (void)text;
    struct outcome outcome = RUN("sweep", "--quiet", bench->file, "--out", bench->out);
    g_assert_cmpstr(outcome.out, ==, "");
    g_assert_cmpstr(outcome.err, ==, "");
    assert_ended(outcome, 0);
}

static void write_slow(struct bench *bench, const char *cycles) {
    g_autofree char *text =
        g_strdup_printf(SLOW("\"axes\": {\"seed\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}"), cycles);
    g_assert_true(g_file_set_contents(bench->file, text, -1, NULL));
}

static void failed_points_give_status_1_and_their_reason(struct bench *bench, gconstpointer text) {
    (void)text;
    write_slow(bench, "100000000");
    struct outcome outcome = RUN("sweep", bench->file, "--out", bench->out, "--time-limit", "0.05");
    g_assert_cmpint(outcome.status, ==, 1);
    g_assert_nonnull(strstr(outcome.err, "point 0 {\"seed\":1}: timeout: longer than 0.05 s\n"));
    g_assert_nonnull(strstr(outcome.err, "and 2 more\n"));
    g_assert_true(g_str_has_prefix(outcome.out, "slow: 12 points, 0 ok, 12 failed; 12 run now in "));
    outcome_clear(&outcome);
    static const char *const again[] = {NULL, "--retry"}; /* not run again, unless asked for */
    static const char *const said[] = {"12 failed; 0 run now", "12 failed; 12 run now"};
    for (size_t i = 0; i < 2; i++) {
        outcome = RUN("sweep", bench->file, "--out", bench->out, "--time-limit", "0.05", again[i]);
        g_assert_cmpint(outcome.status, ==, 1);
        g_assert_nonnull(strstr(outcome.out, said[i]));
        outcome_clear(&outcome);
    }
}

/* A Ctrl-C ends the sweep in good order; what was stored is there, the rest comes with the same command. */
static void an_interrupted_sweep_goes_on_where_it_was(struct bench *bench, gconstpointer text) {
    (void)text;
    write_slow(bench, "20000");
    GSubprocess *process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDERR_SILENCE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE, NULL,
                                            program(), "sweep", bench->file, "--out", bench->out, "-j1", NULL);
    g_assert_nonnull(process);
    g_autofree char *store = g_build_filename(bench->out, "results.db", NULL);
    for (unsigned waited = 0; !g_file_test(store, G_FILE_TEST_EXISTS); waited++) {
        g_assert_cmpuint(waited, <, 30000);
        g_usleep(1000);
    }
    g_subprocess_send_signal(process, SIGINT);
    g_assert_true(g_subprocess_wait(process, NULL, NULL));
    g_assert_true(g_subprocess_get_if_exited(process));
    g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 1);
    g_object_unref(process);
    g_autofree char *said = output_of(RUN("sweep", bench->file, "--out", bench->out));
    g_assert_true(g_str_has_prefix(said, "slow: 12 points, 12 ok, 0 failed; "));
}

/* ---- wrong input ---- */

static void every_complaint_is_a_line_and_nothing_runs(struct bench *bench, gconstpointer text) {
    (void)text;
    struct outcome outcome = RUN("sweep", bench->file, "--out", bench->out);
    g_autofree char *want =
        g_strdup_printf("%s:3:57: axes.workload.rate[1]: rate: is 7, expected a number 0..1 flits/node/cycle\n"
                        "%s:3:32: axes.noc.fifo_depth[1]: noc.fifo_depth: is 0, expected a whole number 1..65536 "
                        "flits\n",
                        bench->file, bench->file);
    g_assert_cmpstr(outcome.err, ==, want);
    g_assert_cmpstr(outcome.out, ==, "");
    g_assert_cmpint(outcome.status, ==, 2);
    g_assert_false(g_file_test(bench->out, G_FILE_TEST_EXISTS));
    outcome_clear(&outcome);
    assert_ended(RUN("check", bench->file), 2);
}

static void a_wrong_command_line_is_one_line(struct bench *bench, gconstpointer text) {
    (void)text;
    assert_refused(RUN("sweep"), "flitsim sweep: 0 arguments, expected SWEEP");
    assert_refused(RUN("sweep", bench->file, "--jobs", "0"), "flitsim sweep: --jobs is 0, expected 1..4096");
    assert_refused(RUN("sweep", bench->file, "--shard", "0/3"),
                   "flitsim sweep: --shard is '0/3', expected I/N with 1 <= I <= N <= 100000");
    assert_refused(RUN("sweep", bench->file, "--shard", "1/3x"),
                   "flitsim sweep: --shard is '1/3x', expected I/N with 1 <= I <= N <= 100000");
    assert_refused(RUN("sweep", bench->file, "--launcher", "ssh"),
                   "flitsim sweep: --launcher is 'ssh', expected local or slurm");
    assert_refused(RUN("sweep", bench->file, "--time-limit", "nan"),
                   "flitsim sweep: --time-limit is nan, expected seconds from 0");
    assert_refused(RUN("sweep", "fifo_depht"),
                   "fifo_depht:1:1: (file): is no file and none of the shipped sweeps, expected perhaps fifo_depth");
    assert_refused(RUN("sweep", bench->file, "--out", "/dev/full"),
                   "/dev/full:1:1: (file): can't be made, expected a folder for results: Not a directory");
    assert_refused(
        RUN("sweep", bench->file, "--out", "/proc/nowhere"),
        "/proc/nowhere:1:1: (file): can't be made, expected a folder for results: No such file or directory");
}

/* A disk that runs full: a clear end, and a store from which what fitted can be read and which goes on elsewhere. */
static void a_full_disk_leaves_a_usable_store(struct bench *bench, gconstpointer text) {
    (void)text;
    g_assert_cmpint(g_mkdir(bench->out, 0777), ==, 0);
    if (mount("tmpfs", bench->out, "tmpfs", 0, "size=160k") != 0) {
        g_test_skip("no right to mount a small tmpfs");
        return;
    }
    struct outcome outcome = RUN("sweep", bench->file, "--out", bench->out, "-j1");
    bool full = outcome.status == 2 && strstr(outcome.err, "results.db:1:1: (file): can't be written: ");
    g_autofree char *said = g_strdup(outcome.err);
    outcome_clear(&outcome);
    outcome = RUN("table", bench->out, "--columns", "number,status");
    int readable = outcome.status;
    outcome_clear(&outcome);
    bool grown = mount("tmpfs", bench->out, "tmpfs", MS_REMOUNT, "size=16m") == 0;
    outcome = RUN("sweep", bench->file, "--out", bench->out, "-j1");
    int after = outcome.status;
    outcome_clear(&outcome);
    umount2(bench->out, MNT_DETACH);
    if (!full)
        g_error("not the complaint of a full disk: %s", said);
    g_assert_cmpint(readable, ==, 0);
    g_assert_true(grown);
    g_assert_cmpint(after, ==, 0);
}

/* ---- the shipped ones ---- */

static void every_shipped_sweep_is_right(void) {
    g_autofree char *folder = g_build_filename(FLITSIM_SOURCE_DIR, "configs", "sweeps", NULL);
    GDir *entries = g_dir_open(folder, 0, NULL);
    const char *name;
    unsigned count = 0;
    while ((name = g_dir_read_name(entries))) {
        g_autofree char *file = g_build_filename(folder, name, NULL), *text = NULL;
        assert_ended(RUN("check", file), 0);
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        g_assert_nonnull(strstr(text, "\"question\""));
        g_assert_nonnull(strstr(text, "\"answer\""));
        count++;
    }
    g_dir_close(entries);
    g_assert_cmpuint(count, >=, 8);
}

#define ADD(path, text, test) g_test_add(path, struct bench, text, set_up, test, tear_down)

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    ADD("/sweep/jobs", SWEEP(TWELVE), the_table_is_the_same_at_any_number_of_jobs);
    ADD("/sweep/again", SWEEP(TWELVE), a_second_time_runs_only_what_is_missing);
    ADD("/sweep/quiet", SWEEP(TWELVE), quiet_prints_nothing);
    ADD("/sweep/failed", SWEEP(TWELVE), failed_points_give_status_1_and_their_reason);
    ADD("/sweep/interrupted", SWEEP(TWELVE), an_interrupted_sweep_goes_on_where_it_was);
    ADD("/sweep/complaints", SWEEP("\"axes\": {\"noc.fifo_depth\": [8, 0], \"workload.rate\": [0, 7]}"),
        every_complaint_is_a_line_and_nothing_runs);
    ADD("/sweep/command_line", SWEEP(TWELVE), a_wrong_command_line_is_one_line);
    ADD("/sweep/full_disk", SWEEP("\"axes\": {\"seed\": {\"range\": {\"from\": 1, \"to\": 60, \"step\": 1}}}"),
        a_full_disk_leaves_a_usable_store);
    g_test_add_func("/sweep/shipped", every_shipped_sweep_is_right);
    return g_test_run();
}
