/* A sweep as an array job of a real Slurm of one node, which this starts and stops (tests/slurm/). */
#include <stdbool.h>

#include "program.h"

static const char sweep_text[] =
    "{\"schema\": \"flitsim.sweep/1\", \"name\": \"small\", \"machine\": \"mesh_2x2\",\n"
    " \"workload\": \"traffic:rate=0.1,cycles=50,warmup=0,drain=500\",\n"
    " \"axes\": {\"noc.fifo_depth\": {\"range\": {\"from\": 2, \"to\": 13, \"step\": 1}}}}\n";

struct bench {
    char *folder, *file, *on_slurm, *here, *slurm;
    GSubprocess *guard; /* stops the daemons when its input ends, be it that this program was aborted */
    bool runs;
};

static int script(const char *name, const char *folder, char **said) {
    g_autofree char *path = g_build_filename(FLITSIM_SOURCE_DIR, "tests", "slurm", name, NULL);
    GSubprocess *process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDERR_PIPE, NULL, "/bin/sh", path, folder, NULL);
    g_assert_nonnull(process);
    g_assert_true(g_subprocess_communicate_utf8(process, NULL, NULL, NULL, said, NULL));
    int status = g_subprocess_get_if_exited(process) ? g_subprocess_get_exit_status(process) : -1;
    g_object_unref(process);
    return status;
}

static void set_up(struct bench *bench, gconstpointer data) {
    g_autofree char *said = NULL;
    (void)data;
    bench->folder = g_dir_make_tmp("flitsim-slurm-XXXXXX", NULL);
    bench->file = g_build_filename(bench->folder, "s.json", NULL);
    bench->on_slurm = g_build_filename(bench->folder, "on slurm", NULL);
    bench->here = g_build_filename(bench->folder, "here", NULL);
    bench->slurm = g_build_filename(bench->folder, "daemons", NULL);
    g_assert_cmpint(g_mkdir(bench->slurm, 0755), ==, 0);
    g_assert_true(g_file_set_contents(bench->file, sweep_text, -1, NULL));
    g_autofree char *stop = g_build_filename(FLITSIM_SOURCE_DIR, "tests", "slurm", "stop.sh", NULL);
    bench->guard = g_subprocess_new(G_SUBPROCESS_FLAGS_STDIN_PIPE, NULL, "/bin/sh", "-c",
                                    "cat >/dev/null; exec /bin/sh \"$0\" \"$1\"", stop, bench->slurm, NULL);
    g_assert_nonnull(bench->guard);
    int status = script("start.sh", bench->slurm, &said);
    bench->runs = status == 0;
    if (status == 77)
        g_test_skip(said);
    else if (status != 0)
        g_error("Slurm does not start: %s", said);
    g_autofree char *conf = g_build_filename(bench->slurm, "slurm.conf", NULL);
    g_setenv("SLURM_CONF", conf, TRUE);
}

static void tear_down(struct bench *bench, gconstpointer data) {
    (void)data;
    g_output_stream_close(g_subprocess_get_stdin_pipe(bench->guard), NULL, NULL);
    g_assert_true(g_subprocess_wait(bench->guard, NULL, NULL));
    g_object_unref(bench->guard);
    remove_tree(bench->folder);
    g_free(bench->folder);
    g_free(bench->file);
    g_free(bench->on_slurm);
    g_free(bench->here);
    g_free(bench->slurm);
}

static char *rows_of(const char *store) {
    return output_of(RUN("table", store, "--format", "csv", "--columns", "number,point,status,digest,cycles,machine"));
}

static void the_array_job_gives_what_a_sweep_here_gives(struct bench *bench, gconstpointer data) {
    (void)data;
    if (!bench->runs)
        return;
    struct outcome outcome = RUN("sweep", bench->file, "--launcher", "slurm", "--jobs", "3", "--out", bench->on_slurm);
    if (outcome.status != 0 || !g_str_has_prefix(outcome.out, "small: 12 points, 12 ok, 0 failed; 12 run now in "))
        g_error("status %d\n%s\n%s", outcome.status, outcome.out, outcome.err);
    outcome_clear(&outcome);
    assert_ended(RUN("sweep", bench->file, "--out", bench->here, "-q"), 0);
    g_autofree char *there = rows_of(bench->on_slurm), *here = rows_of(bench->here);
    g_assert_cmpstr(there, ==, here);
    /* all of it is there: no job is submitted */
    g_autofree char *again =
        output_of(RUN("sweep", bench->file, "--launcher", "slurm", "-j3", "--out", bench->on_slurm));
    g_assert_true(g_str_has_prefix(again, "small: 12 points, 12 ok, 0 failed; 0 run now in "));
}

/* sbatch that is not there, or refuses. */
static void a_job_that_is_refused_is_one_line(struct bench *bench, gconstpointer data) {
    (void)data;
    if (!bench->runs)
        return;
    g_setenv("SBATCH_PARTITION", "nowhere", TRUE);
    struct outcome outcome = RUN("sweep", bench->file, "--launcher", "slurm", "-j2", "--out", bench->on_slurm);
    g_unsetenv("SBATCH_PARTITION");
    g_assert_true(g_str_has_prefix(outcome.err, "flitsim sweep: sbatch refused the job: "));
    assert_ended(outcome, 2);
    g_autofree char *path = g_strdup(g_getenv("PATH"));
    g_setenv("PATH", "/nowhere", TRUE);
    outcome = RUN("sweep", bench->file, "--launcher", "slurm", "-j2", "--out", bench->on_slurm);
    g_setenv("PATH", path, TRUE);
    assert_refused(outcome, "flitsim: sbatch can't be started, expected it in PATH");
}

#define ADD(path, test) g_test_add(path, struct bench, NULL, set_up, test, tear_down)

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    ADD("/slurm/array_job", the_array_job_gives_what_a_sweep_here_gives);
    ADD("/slurm/refused", a_job_that_is_refused_is_one_line);
    return g_test_run();
}
