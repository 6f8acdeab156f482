/* flitsim run MACHINE WORKLOAD: one workload on one machine. */
#include <glib/gstdio.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/listing.h"
#include "analysis/result.h"
#include "cli/cli.h"
#include "model/config.h"
#include "workloads/run.h"

struct options {
    char **sets;
    char *out;
    gboolean json, quiet, strict, profile;
    gint64 seed;
};

static bool write_file(const char *folder, const char *name, const json_t *document, GError **error) {
    if (g_mkdir_with_parents(folder, 0777) != 0) {
        g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be made, expected a folder to write to",
                    folder);
        return false;
    }
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    free(text);
    g_autoptr(GError) cause = NULL;
    if (g_file_set_contents(path, line, -1, &cause))
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be written: %s, expected a writable file", path,
                fs_error_reason(cause));
    return false;
}

/* The result, and the machine with every key, so that the folder tells what was run. */
static bool write_folder(const char *folder, const struct run *run, const json_t *result, GError **error) {
    json_t *machine = config_machine_tree(run->machine);
    bool fine = write_file(folder, "result.json", result, error) && write_file(folder, "machine.json", machine, error);
    json_decref(machine);
    return fine;
}

static int report(const struct options *options, const struct run *run, GError **error) {
    json_t *result = result_build(run, error);
    if (!result)
        return cli_fail(*error);
    if (options->out && !write_folder(options->out, run, result, error)) {
        json_decref(result);
        return cli_fail(*error);
    }
    if (options->json) {
        json_dumpf(result, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
        printf("\n");
    } else if (!options->quiet) {
        g_autofree char *summary = result_summary(result);
        fputs(summary, stdout);
        if (run->profile) {
            g_autofree char *listing = listing_text(run->profile);
            fputs(listing, stdout);
        }
        if (options->out)
            printf("\nresult: %s/result.json\n", options->out);
    }
    if (run->dead)
        fprintf(stderr, "the run stopped in cycle %" G_GUINT64_FORMAT ": %s\n", run->dead_cycle, run->dead_reason);
    json_decref(result);
    return result_status(run);
}

static int run_workload(const struct options *options, struct machine *machine, const struct workload *workload) {
    struct run run;
    GError *error = NULL;
    run_init(&run, machine, workload);
    run.seed = (uint64_t)options->seed;
    run.strict = options->strict;
    run.profiled = options->profile;
    bool fine = (!workload->type->adjust || workload->type->adjust(workload, machine, &error)) &&
                workload->type->run(&run, &error);
    int status = fine ? report(options, &run, &error) : cli_fail(error);
    run_clear(&run);
    return status;
}

int command_run(int argc, char **argv) {
    struct options options = {.seed = 1};
    const GOptionEntry entries[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.sets, "Set a key of machine or workload", "PATH=VALUE"},
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options.out, "Write result.json to this folder", "DIR"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print the result and nothing else", NULL},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &options.seed, "Seed of generated data (1)", "N"},
        {"strict", 0, 0, G_OPTION_ARG_NONE, &options.strict, "Any hazard ends the run and fails it", NULL},
        {"profile", 'p', 0, G_OPTION_ARG_NONE, &options.profile, "List the vector kernels with the cycles of each word",
         NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, "Print no summary", NULL},
        {NULL}};
    struct machine machine;
    struct workload workload;
    GError *error = NULL;
    if (!cli_options(&argc, &argv, entries, "MACHINE WORKLOAD",
                     "Runs a workload (a file, a shipped name or ID:KEY=VALUE,...) on a machine.", 2, 2))
        return CLI_AT_FAULT;
    int status = CLI_AT_FAULT;
    if (!config_load_machine(&machine, argv[1], options.sets, &error)) {
        status = cli_fail(error);
    } else {
        if (!system_check(&machine, &error)) {
            g_prefix_error(&error, "%s:1:1: ", argv[1]);
            status = cli_fail(error);
        } else if (!workload_load(&workload, argv[2], options.sets, &error)) {
            status = cli_fail(error);
        } else {
            status = run_workload(&options, &machine, &workload);
            workload_clear(&workload);
        }
        machine_clear(&machine);
    }
    g_strfreev(options.sets);
    g_free(options.out);
    return status;
}
