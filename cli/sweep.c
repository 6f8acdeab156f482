/* flitsim sweep SWEEP.json: runs every point of a sweep that has no result yet. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/campaign.h"
#include "analysis/slurm.h"
#include "cli/progress.h"
#include "cli/tables.h"

enum {
    MAX_JOBS = 4096,
    MAX_SHARDS = 100000,
    FAILURES_SHOWN = 10,
};

struct sweep_command {
    int jobs;
    char *out, *shard, *launcher, *known;
    double time_limit;
    gboolean retry, quiet;
    unsigned shard_number, shards;
    bool slurm;
};

static bool command_fault(const char *format, ...) G_GNUC_PRINTF(1, 2);
static bool command_fault(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "flitsim sweep: %s\n", text);
    return false;
}

static bool read_shard(struct sweep_command *command) {
    int end = 0;
    if (!command->shard)
        return true;
    if (sscanf(command->shard, "%6u/%6u%n", &command->shard_number, &command->shards, &end) != 2 ||
        command->shard[end] || command->shard_number < 1 || command->shards > MAX_SHARDS ||
        command->shard_number > command->shards)
        return command_fault("--shard is '%s', expected I/N with 1 <= I <= N <= %d", command->shard, MAX_SHARDS);
    return true;
}

static bool read_command(struct sweep_command *command) {
    if (command->jobs < 1 || command->jobs > MAX_JOBS)
        return command_fault("--jobs is %d, expected 1..%d", command->jobs, MAX_JOBS);
    if (!(command->time_limit >= 0))
        return command_fault("--time-limit is %g, expected seconds from 0", command->time_limit);
    command->slurm = command->launcher && g_str_equal(command->launcher, "slurm");
    if (command->launcher && !command->slurm && !g_str_equal(command->launcher, "local"))
        return command_fault("--launcher is '%s', expected local or slurm", command->launcher);
    if (command->slurm && command->shard)
        return command_fault("--shard and --launcher slurm, expected one of them: the launcher makes the shards");
    return read_shard(command);
}

static char *default_out(const struct sweep *sweep, const struct sweep_command *command) {
    if (!command->shard)
        return g_build_filename("out", sweep->name, NULL);
    g_autofree char *shard = g_strdup_printf("%u-of-%u", command->shard_number, command->shards);
    return g_build_filename("out", sweep->name, "shards", shard, NULL);
}

/* ---- the end ---- */

struct failures {
    unsigned shown;
    uint64_t all;
};

static bool show_failure(void *data, const struct store_row *row) {
    struct failures *failures = data;
    if (g_str_equal(row->status, "ok"))
        return true;
    failures->all++;
    if (failures->shown++ < FAILURES_SHOWN)
        fprintf(stderr, "point %" G_GINT64_FORMAT " %s: %s: %s\n", row->number, row->axes, row->status,
                row->reason ? row->reason : "");
    return true;
}

static bool show_failures(struct store *store, GError **error) {
    struct failures failures = {0};
    if (!store_each(store, false, show_failure, &failures, error))
        return false;
    if (failures.all > FAILURES_SHOWN)
        fprintf(stderr, "and %" G_GUINT64_FORMAT " more\n", failures.all - FAILURES_SHOWN);
    return true;
}

static void show_summary(const struct sweep *sweep, const struct campaign_plan *plan,
                         const struct campaign_progress *progress, const char *folder) {
    uint64_t finished = progress->known + progress->done;
    printf("%s: %" G_GUINT64_FORMAT " points, %" G_GUINT64_FORMAT " ok, %" G_GUINT64_FORMAT " failed", sweep->name,
           progress->points, finished - progress->failed, progress->failed);
    if (finished < progress->points)
        printf(", %" G_GUINT64_FORMAT " without result", progress->points - finished);
    if (plan->left_out || plan->repeated)
        printf(" (%" G_GUINT64_FORMAT " combinations left out by conditions, %" G_GUINT64_FORMAT
               " the same as another)",
               plan->left_out, plan->repeated);
    printf("; %" G_GUINT64_FORMAT " run now in %.1f s\n%s/%s\n", progress->done, progress->elapsed_s, folder,
           STORE_FILE);
}

static int conclude(const struct sweep *sweep, const struct campaign_plan *plan, struct store *store,
                    const struct sweep_command *command, const char *folder, const struct campaign_progress *progress) {
    GError *error = NULL;
    uint64_t without = progress->points - progress->known - progress->done;
    if (progress->failed && !command->quiet && !show_failures(store, &error))
        return cli_fail(error);
    if (without && !command->quiet)
        fprintf(stderr, "%s%" G_GUINT64_FORMAT " points have no result; the same command goes on with them\n",
                progress->stopped ? "stopped: " : "", without);
    if (!command->quiet)
        show_summary(sweep, plan, progress, folder);
    if (!command->quiet && !without && sweep_has_answer(sweep) && !table_print_answer(store, &error))
        return cli_fail(error);
    return without || progress->failed ? CLI_WRONG : CLI_DONE;
}

/* ---- running ---- */

/* A shard also tells whoever waits for it. */
struct viewer {
    struct progress_view view;
    const char *folder;
    bool is_shard;
};

static void show(void *data, const struct campaign_progress *progress) {
    struct viewer *viewer = data;
    progress_show(&viewer->view, progress);
    if (viewer->is_shard)
        slurm_write_progress(viewer->folder, progress);
}

static bool run_on_slurm(struct sweep *sweep, const struct campaign_plan *plan, struct store *store, const char *folder,
                         const struct sweep_command *command, struct campaign_options *options,
                         struct campaign_progress *progress, GError **error) {
    g_autofree char *file = g_canonicalize_filename(sweep->source.file, NULL);
    g_autofree char *whole = g_canonicalize_filename(folder, NULL);
    struct slurm_job job = {.sweep_file = file, .folder = whole, .tasks = (unsigned)command->jobs};
    bool fine = slurm_run(sweep, plan, store, &job, options, progress, error);
    if (job.lost)
        fprintf(stderr, "%s\n", job.lost);
    g_free(job.lost);
    return fine;
}

static int run_plan(struct sweep *sweep, const struct campaign_plan *plan, const struct sweep_command *command,
                    struct campaign_options *options) {
    g_autofree char *folder = command->out ? g_strdup(command->out) : default_out(sweep, command);
    struct viewer viewer = {.folder = folder, .is_shard = command->shard};
    struct campaign_progress progress;
    GError *error = NULL;
    int lock = -1;
    struct store *store = campaign_open(folder, sweep, plan, &lock, &error);
    if (!store)
        return cli_fail(error);
    progress_init(&viewer.view, sweep->name, command->quiet);
    options->report = show;
    // cppcheck-suppress autoVariables ; used within this call alone
    options->data = &viewer;
    bool fine = command->slurm ? run_on_slurm(sweep, plan, store, folder, command, options, &progress, &error)
                               : campaign_run(sweep, plan, store, options, &progress, &error);
    progress_end(&viewer.view);
    int status = fine ? conclude(sweep, plan, store, command, folder, &progress) : cli_fail(error);
    store_close(store);
    close(lock);
    return status;
}

static int plan_and_run(struct sweep *sweep, const struct sweep_command *command, struct campaign_options *options) {
    struct campaign_plan plan;
    GPtrArray *complaints = g_ptr_array_new_with_free_func(g_free);
    int status = CLI_AT_FAULT;
    if (campaign_plan(sweep, &plan, options, complaints)) {
        status = run_plan(sweep, &plan, command, options);
        campaign_plan_clear(&plan);
    }
    for (guint i = 0; i < complaints->len; i++)
        fprintf(stderr, "%s\n", (char *)g_ptr_array_index(complaints, i));
    g_ptr_array_unref(complaints);
    return status;
}

static int sweep_file(const char *name, const struct sweep_command *command) {
    struct sweep sweep;
    GError *error = NULL;
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    struct campaign_options options = {.program = self,
                                       .run = command_run,
                                       .jobs = (unsigned)command->jobs,
                                       .shard = command->shard ? command->shard_number : 1,
                                       .shards = command->shard ? command->shards : 1,
                                       .time_limit_s = command->time_limit,
                                       .retry = command->retry,
                                       .stop = progress_stop_descriptor()};
    GArray *known = command->known ? campaign_read_keys(command->known, &error) : NULL;
    options.known = known;
    if ((command->known && !known) || !sweep_load(&sweep, name, &error))
        return cli_fail(error);
    int status = plan_and_run(&sweep, command, &options);
    sweep_clear(&sweep);
    if (known)
        g_array_unref(known);
    return status;
}

/* GLib takes "-j 2" but not "-j2", which everybody writes. The new text, to be freed after the arguments were read. */
static char *split_jobs(int argc, char **argv) {
    int last = 0;
    for (int i = 1; i < argc && !g_str_equal(argv[i], "--"); i++)
        if (g_str_has_prefix(argv[i], "-j") && g_ascii_isdigit(argv[i][2]))
            last = i; /* of several the last counts; the others stay as they are and are refused */
    return last ? argv[last] = g_strconcat("--jobs=", argv[last] + 2, NULL) : NULL;
}

int command_sweep(int argc, char **argv) {
    struct sweep_command command = {.jobs = (int)g_get_num_processors()};
    const GOptionEntry entries[] = {
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &command.jobs, "Points that run at a time; with slurm: tasks", "N"},
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &command.out, "Folder of results.db, else out/NAME", "DIR"},
        {"shard", 0, 0, G_OPTION_ARG_STRING, &command.shard, "Only every N-th point, from the I-th", "I/N"},
        {"launcher", 0, 0, G_OPTION_ARG_STRING, &command.launcher, "Run here, or as an array job", "local|slurm"},
        {"time-limit", 0, 0, G_OPTION_ARG_DOUBLE, &command.time_limit, "End a point that takes longer", "SECONDS"},
        {"retry", 0, 0, G_OPTION_ARG_NONE, &command.retry, "Run failed points again", NULL},
        {"known", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &command.known, "Points not to run", "FILE"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &command.quiet, "Print nothing but errors", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autofree char *jobs = split_jobs(argc, argv);
    (void)jobs;
    if (!cli_options(&argc, &argv, entries, "SWEEP",
                     "Runs every point of a sweep that has no result yet and keeps the results in DIR/results.db.\n"
                     "SWEEP is a file or the name of a shipped sweep.",
                     1, 1))
        return CLI_AT_FAULT;
    int status = read_command(&command) ? sweep_file(argv[1], &command) : CLI_AT_FAULT;
    g_free(command.out);
    g_free(command.shard);
    g_free(command.launcher);
    g_free(command.known);
    return status;
}
