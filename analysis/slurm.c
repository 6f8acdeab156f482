/* See slurm.h. The tasks keep stores of their own: SQLite's log can't be shared over a network's file system, so nobody
 * opens a store while another node writes it. How far a task is, is told in a small text file beside its store. */
#include "analysis/slurm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "analysis/worker.h"
#include "model/error.h"

enum {
    COMMAND_LIMIT_S = 30,
    MAX_FAILED_LOOKS = 10, /* in a row, before the job is given up */
    PLAN_CHARACTERS = 12,  /* of the plan's digest, in the name of a shard's folder */
};

static const double first_look_s = 0.5, slowest_look_s = 10;

struct slurm_run {
    const struct campaign_plan *plan;
    struct store *store;
    struct slurm_job *job;
    const struct campaign_options *options;
    struct campaign_progress *progress;
    char *id;
    gint64 began;
    unsigned failed_looks;
};

static char *shards_folder(const struct slurm_run *run) {
    return g_build_filename(run->job->folder, "shards", NULL);
}

/* A store belongs to one plan and one number of tasks. */
static char *shard_name(const struct slurm_run *run, const char *number) {
    return g_strdup_printf("%.*s-%s-of-%u", PLAN_CHARACTERS, run->plan->digest, number, run->job->tasks);
}

static bool slurm_error(GError **error, const char *what, const char *why) {
    g_autofree char *line = g_strndup(why, strcspn(why, "\n"));
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "flitsim sweep: %s: %s", what, line[0] ? line : "no reason given");
    return false;
}

void slurm_write_progress(const char *folder, const struct campaign_progress *progress) {
    g_autofree char *file = g_build_filename(folder, "progress", NULL);
    g_autofree char *text =
        g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n",
                        progress->points, progress->known, progress->done, progress->failed);
    g_file_set_contents(file, text, -1, NULL);
}

/* ---- merging ---- */

/* Takes over what the plan's shards hold, of this run or of one that was broken off. */
static bool merge_shards(const struct slurm_run *run, GError **error) {
    g_autofree char *folder = shards_folder(run);
    g_autofree char *prefix = g_strndup(run->plan->digest, PLAN_CHARACTERS);
    GDir *entries = g_dir_open(folder, 0, NULL);
    const char *name;
    bool fine = true;
    while (entries && fine && (name = g_dir_read_name(entries))) {
        g_autofree char *file = g_build_filename(folder, name, STORE_FILE, NULL);
        if (g_str_has_prefix(name, prefix) && g_file_test(file, G_FILE_TEST_EXISTS))
            fine = store_merge(run->store, file, error);
    }
    g_clear_pointer(&entries, g_dir_close);
    return fine;
}

/* ---- submitting ---- */

static char *task_script(const struct slurm_run *run, const char *known) {
    g_autofree char *name = shard_name(run, "\"$SLURM_ARRAY_TASK_ID\"");
    g_autofree char *shards = shards_folder(run);
    g_autofree char *program = g_shell_quote(run->options->program), *sweep = g_shell_quote(run->job->sweep_file);
    g_autofree char *folder = g_shell_quote(shards), *keys = g_shell_quote(known);
    return g_strdup_printf(
        "#!/bin/sh\n"
        "# Written by flitsim sweep --launcher slurm; one task runs one shard.\n"
        "exec %s sweep --quiet --shard \"$SLURM_ARRAY_TASK_ID/%u\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\""
        " --time-limit %g%s --known %s --out %s/%s -- %s\n",
        program, run->job->tasks, run->options->time_limit_s, run->options->retry ? " --retry" : "", keys, folder, name,
        sweep);
}

static bool write_job(const struct slurm_run *run, const char *folder, char **script, GError **error) {
    g_autofree char *known = g_build_filename(folder, "known", NULL), *shards = shards_folder(run);
    if (g_mkdir_with_parents(folder, 0777) != 0 || g_mkdir_with_parents(shards, 0777) != 0)
        return slurm_error(error, folder, g_strerror(errno));
    g_autofree char *text = task_script(run, known);
    *script = g_build_filename(folder, "task.sh", NULL);
    return campaign_write_keys(run->plan, run->store, run->options, known, error) &&
           g_file_set_contents(*script, text, -1, error);
}

static bool submit(struct slurm_run *run, const char *name, GError **error) {
    g_autofree char *folder = g_build_filename(run->job->folder, "slurm", NULL), *script = NULL;
    g_autofree char *array = g_strdup_printf("--array=1-%u", run->job->tasks);
    g_autofree char *output = g_strdup_printf("--output=%s/%%a.log", folder);
    g_autofree char *job_name = g_strdup_printf("--job-name=flitsim-%s", name);
    struct worker_outcome outcome;
    if (!write_job(run, folder, &script, error))
        return false;
    const char *const argv[] = {"sbatch", "--parsable", array, output, job_name, script, NULL};
    if (!worker_command(argv, COMMAND_LIMIT_S, &outcome, error))
        return false;
    bool fine = outcome.status == 0 || slurm_error(error, "sbatch refused the job", outcome.err);
    if (fine)
        run->id = g_strndup(outcome.out, strspn(outcome.out, "0123456789"));
    worker_outcome_clear(&outcome);
    return fine && (run->id[0] || slurm_error(error, "sbatch gave no job number", ""));
}

static void cancel(const struct slurm_run *run) {
    const char *const argv[] = {"scancel", run->id, NULL};
    struct worker_outcome outcome;
    if (worker_command(argv, COMMAND_LIMIT_S, &outcome, NULL))
        worker_outcome_clear(&outcome);
}

/* ---- waiting ---- */

static void add_shard_progress(struct campaign_progress *sum, const char *file) {
    g_autofree char *text = NULL;
    guint64 points, known, done, failed;
    if (!g_file_get_contents(file, &text, NULL, NULL) ||
        sscanf(text, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, &points,
               &known, &done, &failed) != 4)
        return;
    sum->done += done;
    sum->failed += failed;
}

static void look_at_shards(struct slurm_run *run, uint64_t failed_before) {
    g_autofree char *folder = shards_folder(run);
    run->progress->done = 0;
    run->progress->failed = failed_before;
    for (unsigned i = 1; i <= run->job->tasks; i++) {
        g_autofree char *number = g_strdup_printf("%u", i), *name = shard_name(run, number);
        g_autofree char *file = g_build_filename(folder, name, "progress", NULL);
        add_shard_progress(run->progress, file);
    }
    run->progress->elapsed_s = (double)(g_get_monotonic_time() - run->began) / G_USEC_PER_SEC;
    if (run->options->report)
        run->options->report(run->options->data, run->progress);
}

/* Whether the job is still in the queue. Slurm forgets a job some time after its end, and says so. */
static bool look_at_queue(struct slurm_run *run, bool *ended, GError **error) {
    const char *const argv[] = {"squeue", "--noheader", "--jobs", run->id, "--format=%T", NULL};
    struct worker_outcome outcome;
    GError *inner = NULL;
    bool answered = worker_command(argv, COMMAND_LIMIT_S, &outcome, &inner);
    g_autofree char *why = g_strdup(answered ? outcome.err : inner->message);
    bool forgotten = answered && outcome.status != 0 && strstr(why, "Invalid job id");
    bool fine = answered && (outcome.status == 0 || forgotten);
    *ended = forgotten || (fine && !outcome.out[strspn(outcome.out, " \n")]);
    if (answered)
        worker_outcome_clear(&outcome);
    g_clear_error(&inner);
    run->failed_looks = fine ? 0 : run->failed_looks + 1;
    if (run->failed_looks < MAX_FAILED_LOOKS)
        return true;
    g_autofree char *what = g_strdup_printf("squeue does not answer for job %s, which may still run", run->id);
    return slurm_error(error, what, why);
}

static bool wait_for_job(struct slurm_run *run, GError **error) {
    uint64_t failed_before = run->progress->failed;
    double look_s = first_look_s;
    for (bool ended = false; !ended;) {
        struct pollfd stop = {.fd = run->options->stop, .events = POLLIN};
        if (poll(&stop, 1, (int)(look_s * 1000)) > 0) {
            run->progress->stopped = true;
            cancel(run);
            return true;
        }
        if (!look_at_queue(run, &ended, error))
            return false;
        look_at_shards(run, failed_before);
        look_s = MIN(look_s * 1.25, slowest_look_s);
    }
    return true;
}

/* The last line of the first log that has one. */
static char *last_words(const struct slurm_run *run) {
    for (unsigned i = 1; i <= run->job->tasks; i++) {
        g_autofree char *base = g_strdup_printf("%u.log", i), *text = NULL;
        g_autofree char *file = g_build_filename(run->job->folder, "slurm", base, NULL);
        if (!g_file_get_contents(file, &text, NULL, NULL) || !g_strchomp(text)[0])
            continue;
        const char *line = strrchr(text, '\n');
        return g_strdup_printf("%s: %s", file, line ? line + 1 : text);
    }
    return NULL;
}

/* ---- the whole ---- */

/* After the merge: what is there now that was not before. */
static bool count_again(struct slurm_run *run, uint64_t known, GError **error) {
    struct campaign_progress now;
    struct campaign_options all = *run->options;
    all.retry = false;
    if (!campaign_stock(run->plan, run->store, &all, &now, error))
        return false;
    run->progress->known = known;
    run->progress->done = now.known - known;
    run->progress->failed = now.failed;
    return true;
}

bool slurm_run(const struct sweep *sweep, const struct campaign_plan *plan, struct store *store, struct slurm_job *job,
               const struct campaign_options *options, struct campaign_progress *progress, GError **error) {
    struct slurm_run run = {.plan = plan,
                            .store = store,
                            .job = job,
                            .options = options,
                            .progress = progress,
                            .began = g_get_monotonic_time()};
    if (!merge_shards(&run, error) || !campaign_stock(plan, store, options, progress, error))
        return false;
    uint64_t known = progress->known;
    if (known == progress->points)
        return true;
    bool fine = submit(&run, sweep->name, error) && wait_for_job(&run, error) && merge_shards(&run, error) &&
                count_again(&run, known, error);
    if (fine && progress->known + progress->done < progress->points)
        job->lost = last_words(&run);
    g_free(run.id);
    return fine;
}
