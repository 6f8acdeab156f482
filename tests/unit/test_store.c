/* Running a sweep into its store: what is stored, whatever ends the workers or the sweep itself. The points are run by
 * this very program in the place of `flitsim run`: it reads the machine that it is handed and behaves as the machine's
 * FIFO depth says. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/campaign.h"
#include "analysis/json_path.h"
#include "analysis/store.h"
#include "program.h"

/* What the stand-in does at some depths; at all others it gives a result. */
enum {
    DEPTH_CRASH = 101,
    DEPTH_HANG,
    DEPTH_REFUSE,
    DEPTH_BABBLE,
    DEPTH_DEADLOCK,
};

/* ---- the stand-in for `flitsim run` ---- */

static int stand_in(void) {
    json_t *machine = json_load_file("/proc/self/fd/3", 0, NULL);
    json_int_t depth = json_integer_value(json_find(machine, "noc.fifo_depth"));
    json_decref(machine);
    switch (depth) {
    case DEPTH_CRASH:
        kill(getpid(), SIGKILL);
        break;
    case DEPTH_HANG:
        for (;;)
            pause();
    case DEPTH_REFUSE:
        fputs("m.json:1:1: noc: is not to my liking\n", stderr);
        return 2;
    case DEPTH_BABBLE:
        puts("this is no JSON");
        return 0;
    case DEPTH_DEADLOCK:
        puts("{\"cycles\": 77, \"digest\": \"d\", \"deadlock\": {\"cycle\": 70}}");
        return 1;
    default:
        break;
    }
    g_usleep(2000);
    printf("{\"cycles\": %d, \"digest\": \"digest%d\", \"wall_s\": %ld, \"gflops\": 1.5}\n", (int)depth * 10,
           (int)depth, (long)getpid());
    return 0;
}

/* ---- helpers ---- */

struct bench {
    struct sweep sweep;
    struct campaign_plan plan;
    struct campaign_options options;
    char *folder;
};

static void bench_open(struct bench *bench, const char *rest) {
    g_autofree char *text = g_strconcat("{\"schema\": \"flitsim.sweep/1\", \"machine\": \"mesh_2x2\", \"workload\": "
                                        "\"traffic:cycles=10\", ",
                                        rest, "}", NULL);
    struct json_source source;
    GError *error = NULL;
    GPtrArray *complaints = g_ptr_array_new_with_free_func(g_free);
    *bench = (struct bench){
        .options = {.program = "/proc/self/exe", .jobs = 3, .shard = 1, .shards = 1, .stop = -1},
        .folder = g_dir_make_tmp("flitsim-store-XXXXXX", NULL),
    };
    g_assert_true(json_source_parse(&source, "s.json", text, strlen(text), &error));
    if (!sweep_read(&bench->sweep, &source, &error))
        g_error("%s", error->message);
    if (!campaign_plan(&bench->sweep, &bench->plan, &bench->options, complaints))
        g_error("%s", (char *)g_ptr_array_index(complaints, 0));
    g_ptr_array_unref(complaints);
    json_source_clear(&source);
}

static void bench_close(struct bench *bench) {
    campaign_plan_clear(&bench->plan);
    sweep_clear(&bench->sweep);
    remove_tree(bench->folder);
    g_free(bench->folder);
}

static struct store *open_folder(struct bench *bench, int *lock) {
    GError *error = NULL;
    struct store *store = campaign_open(bench->folder, &bench->sweep, &bench->plan, lock, &error);
    g_assert_no_error(error);
    return store;
}

/* Runs what is missing; gives the digest of the rows. */
static char *run_campaign(struct bench *bench, struct campaign_progress *progress) {
    GError *error = NULL;
    int lock;
    struct store *store = open_folder(bench, &lock);
    campaign_run(&bench->sweep, &bench->plan, store, &bench->options, progress, &error);
    g_assert_no_error(error);
    char *digest = store_rows_digest(store, &error);
    g_assert_no_error(error);
    store_close(store);
    close(lock);
    return digest;
}

static char *run_in_fresh_folder(const char *rest, unsigned jobs) {
    struct bench bench;
    struct campaign_progress progress;
    bench_open(&bench, rest);
    bench.options.jobs = jobs;
    char *digest = run_campaign(&bench, &progress);
    g_assert_cmpuint(progress.done, ==, bench.plan.points->len);
    bench_close(&bench);
    return digest;
}

static const char many[] = "\"axes\": {\"noc.fifo_depth\": {\"range\": {\"from\": 1, \"to\": 30, \"step\": 1}},"
                           " \"workload.rate\": [0.1, 0.2]}";

/* ---- what is stored ---- */

static const struct {
    int depth;
    const char *status, *reason, *digest;
    int64_t cycles;
} outcomes[] = {
    {5, "ok", NULL, "digest5", 50},
    {DEPTH_CRASH, "crashed", "signal 9 (Killed)", NULL, -1},
    {DEPTH_HANG, "timeout", "longer than 5 s", NULL, -1},
    {DEPTH_REFUSE, "refused", "m.json:1:1: noc: is not to my liking", NULL, -1},
    {DEPTH_BABBLE, "failed", "status 0: no result was printed", NULL, -1},
    {DEPTH_DEADLOCK, "wrong", "deadlock in cycle 70", "d", 77},
};

static bool check_outcome(void *data, const struct store_row *row) {
    unsigned *seen = data, i = (unsigned)row->number;
    g_assert_cmpstr(row->status, ==, outcomes[i].status);
    g_assert_cmpstr(row->reason, ==, outcomes[i].reason);
    g_assert_cmpstr(row->digest, ==, outcomes[i].digest);
    g_assert_cmpint(row->cycles, ==, outcomes[i].cycles);
    g_assert_cmpstr(row->version, ==, FLITSIM_VERSION);
    g_autofree char *depth = g_strdup_printf("{\"noc.fifo_depth\":%d}", outcomes[i].depth);
    g_assert_cmpstr(row->axes, ==, depth);
    if (row->result)
        g_assert_null(strstr(row->result, "wall_s"));
    ++*seen;
    return true;
}

static void a_crash_or_a_hang_costs_one_point_and_is_recorded_with_its_reason(void) {
    struct bench bench;
    struct campaign_progress progress;
    unsigned seen = 0;
    GError *error = NULL;
    bench_open(&bench, "\"axes\": {\"noc.fifo_depth\": [5, 101, 102, 103, 104, 105]}");
    bench.options.time_limit_s = 5;
    g_free(run_campaign(&bench, &progress));
    g_assert_cmpuint(progress.done, ==, 6);
    g_assert_cmpuint(progress.failed, ==, 5);
    g_autofree char *file = store_file(bench.folder);
    struct store *store = store_open(file, STORE_READ, &error);
    g_assert_no_error(error);
    g_assert_true(store_each(store, false, check_outcome, &seen, &error));
    g_assert_cmpuint(seen, ==, 6);
    store_close(store);
    /* again: nothing is run; with retry: the failed ones */
    g_free(run_campaign(&bench, &progress));
    g_assert_cmpuint(progress.done, ==, 0);
    g_assert_cmpuint(progress.failed, ==, 5);
    bench.options.retry = true;
    g_free(run_campaign(&bench, &progress));
    g_assert_cmpuint(progress.done, ==, 5);
    bench_close(&bench);
}

static void rows_are_the_same_with_any_number_of_jobs(void) {
    g_autofree char *one = run_in_fresh_folder(many, 1), *two = run_in_fresh_folder(many, 2),
                    *nine = run_in_fresh_folder(many, 9);
    g_assert_cmpstr(one, ==, two);
    g_assert_cmpstr(one, ==, nine);
}

/* ---- killed ---- */

static bool count_row(void *data, const struct store_row *row) {
    (void)row;
    ++*(unsigned *)data;
    return true;
}

static unsigned rows_in(const struct bench *bench) {
    g_autofree char *file = store_file(bench->folder);
    struct store *store = g_file_test(file, G_FILE_TEST_EXISTS) ? store_open(file, STORE_READ, NULL) : NULL;
    unsigned rows = 0;
    if (store)
        store_each(store, true, count_row, &rows, NULL);
    store_close(store);
    return rows;
}

/* Starts the sweep in a process of its own and kills that once there are `rows` rows. */
static void run_and_kill(struct bench *bench, unsigned rows) {
    struct campaign_progress progress;
    pid_t child = fork();
    if (child == 0) {
        g_free(run_campaign(bench, &progress));
        _exit(0);
    }
    while (rows_in(bench) < rows)
        g_usleep(1000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void a_sweep_killed_twice_ends_with_the_store_of_an_undisturbed_one(void) {
    struct bench bench;
    struct campaign_progress progress;
    g_autofree char *undisturbed = run_in_fresh_folder(many, 2);
    bench_open(&bench, many);
    run_and_kill(&bench, 15);
    unsigned kept = rows_in(&bench);
    g_assert_true(kept >= 15 && kept < 60);
    run_and_kill(&bench, 35);
    kept = rows_in(&bench);
    g_assert_true(kept >= 35 && kept < 60);
    g_autofree char *digest = run_campaign(&bench, &progress);
    g_assert_cmpuint(progress.known, ==, kept);
    g_assert_cmpuint(progress.done, ==, 60 - kept);
    g_assert_cmpstr(digest, ==, undisturbed);
    bench_close(&bench);
}

static void a_stop_loses_the_points_in_flight_alone(void) {
    struct bench bench;
    struct campaign_progress progress;
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    bench_open(&bench, "\"axes\": {\"noc.fifo_depth\": [1, 2, 102, 3]}");
    bench.options.stop = ends[0];
    bench.options.jobs = 2;
    if (fork() == 0) { /* whoever stops it, once the two before the one that hangs, and the one after it, are there */
        while (rows_in(&bench) < 3)
            g_usleep(1000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    g_free(run_campaign(&bench, &progress));
    wait(NULL);
    g_assert_true(progress.stopped);
    g_assert_cmpuint(progress.done, ==, 3);
    g_assert_cmpuint(rows_in(&bench), ==, 3);
    close(ends[0]);
    close(ends[1]);
    bench_close(&bench);
}

/* ---- the store itself ---- */

static int try_to_open(struct bench *bench) {
    GError *error = NULL;
    int lock;
    struct store *store = campaign_open(bench->folder, &bench->sweep, &bench->plan, &lock, &error);
    return store ? 1 : strstr(error->message, "is in use by another sweep") ? 2 : 3;
}

static void a_folder_has_one_sweep_at_a_time(void) {
    struct bench bench;
    int lock, status;
    bench_open(&bench, "\"seed\": 1");
    struct store *store = open_folder(&bench, &lock);
    if (fork() == 0)
        _exit(try_to_open(&bench));
    wait(&status);
    g_assert_cmpint(WEXITSTATUS(status), ==, 2);
    store_close(store);
    close(lock);
    if (fork() == 0)
        _exit(try_to_open(&bench));
    wait(&status);
    g_assert_cmpint(WEXITSTATUS(status), ==, 1);
    bench_close(&bench);
}

static void rows_of_an_earlier_form_of_the_sweep_stay_but_do_not_count(void) {
    struct bench bench, later;
    struct campaign_progress progress;
    GError *error = NULL;
    bench_open(&bench, "\"axes\": {\"noc.fifo_depth\": [1, 2, 3]}");
    g_free(run_campaign(&bench, &progress));
    bench_open(&later, "\"axes\": {\"noc.fifo_depth\": [3, 4]}");
    remove_tree(later.folder);
    g_free(later.folder);
    later.folder = g_strdup(bench.folder);
    g_free(run_campaign(&later, &progress));
    g_assert_cmpuint(progress.known, ==, 1);
    g_assert_cmpuint(progress.done, ==, 1);
    g_autofree char *file = store_file(bench.folder);
    struct store *store = store_open(file, STORE_READ, &error);
    unsigned present = 0, all = 0;
    store_each(store, false, count_row, &present, NULL);
    store_each(store, true, count_row, &all, NULL);
    store_close(store);
    g_assert_cmpuint(present, ==, 2);
    g_assert_cmpuint(all, ==, 4);
    bench_close(&later);
    bench_close(&bench);
}

static void what_is_no_store_is_refused(void) {
    g_autofree char *folder = g_dir_make_tmp("flitsim-store-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "other.db", NULL);
    const enum store_mode modes[] = {STORE_READ, STORE_WRITE};
    g_assert_true(g_file_set_contents(file, "this is no database, and long enough to be seen as none. ....", -1, NULL));
    for (size_t i = 0; i < 2; i++) {
        GError *error = NULL;
        g_assert_null(store_open(file, modes[i], &error));
        g_assert_true(g_str_has_prefix(error->message, file));
        g_error_free(error);
    }
    remove_tree(folder);
}

int main(int argc, char **argv) {
    if (argc > 1 && g_str_equal(argv[1], "run"))
        return stand_in();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store/outcomes", a_crash_or_a_hang_costs_one_point_and_is_recorded_with_its_reason);
    g_test_add_func("/store/jobs", rows_are_the_same_with_any_number_of_jobs);
    g_test_add_func("/store/killed_twice", a_sweep_killed_twice_ends_with_the_store_of_an_undisturbed_one);
    g_test_add_func("/store/stopped", a_stop_loses_the_points_in_flight_alone);
    g_test_add_func("/store/one_at_a_time", a_folder_has_one_sweep_at_a_time);
    g_test_add_func("/store/earlier_form", rows_of_an_earlier_form_of_the_sweep_stay_but_do_not_count);
    g_test_add_func("/store/no_store", what_is_no_store_is_refused);
    return g_test_run();
}
