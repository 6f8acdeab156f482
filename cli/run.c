/* flitsim run MACHINE WORKLOAD: one workload on one machine. */
#include <glib/gstdio.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/dram_trace.h"
#include "analysis/listing.h"
#include "analysis/recorder.h"
#include "analysis/result.h"
#include "analysis/series.h"
#include "cli/cli.h"
#include "model/config.h"
#include "workloads/run.h"

struct options {
    char **sets;
    char *out, *dram_trace;
    gboolean json, quiet, strict, profile;
    gint64 seed, interval;
    gboolean trace, trace_flits;
    gint64 trace_from, trace_to, trace_limit;
};

/* Who looks on while the run goes, each NULL unless asked for. */
struct lookers {
    struct series *series;
    struct recorder *trace;
};

static bool make_folder(const char *folder, GError **error) {
    if (g_mkdir_with_parents(folder, 0777) == 0)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be made, expected a folder to write to", folder);
    return false;
}

static bool write_file(const char *folder, const char *name, const json_t *document, GError **error) {
    if (!make_folder(folder, error))
        return false;
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

static json_t *build_result(const struct run *run, const struct lookers *lookers, GError **error) {
    json_t *result = result_build(run, error);
    if (!result || !lookers->series || !run->system)
        return result;
    json_t *series = series_json(lookers->series, run, error);
    if (!series)
        g_clear_pointer(&result, json_decref);
    else
        json_object_set_new(result, "series", series);
    return result;
}

static int report(const struct options *options, const struct run *run, const struct lookers *lookers, GError **error) {
    json_t *result = build_result(run, lookers, error);
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

static bool open_lookers(const struct options *options, struct run *run, struct lookers *lookers, GError **error) {
    if (options->interval) {
        lookers->series = series_new((uint64_t)options->interval);
        run_observe(run, series_observer(lookers->series));
    }
    if (!options->trace && !options->trace_flits)
        return true;
    if (!make_folder(options->out, error))
        return false;
    g_autofree char *json = g_build_filename(options->out, "trace.json", NULL);
    g_autofree char *flits = g_build_filename(options->out, "flits.txt", NULL);
    struct recorder_options wanted = {.json_file = options->trace ? json : NULL,
                                      .flit_file = options->trace_flits ? flits : NULL,
                                      .from = (cycle_t)options->trace_from,
                                      .to = options->trace_to < 0 ? CYCLE_NEVER : (cycle_t)options->trace_to,
                                      .limit = (uint64_t)options->trace_limit};
    lookers->trace = recorder_new(&wanted, error);
    if (lookers->trace)
        run_observe(run, recorder_observer(lookers->trace));
    return lookers->trace;
}

static bool close_lookers(const struct options *options, struct lookers *lookers, GError **error) {
    series_free(lookers->series);
    if (!lookers->trace)
        return true;
    g_autofree char *cut = recorder_cut(lookers->trace);
    if (cut)
        fprintf(stderr, "%s\n", cut);
    if (!recorder_close(lookers->trace, error))
        return false;
    if (!options->quiet && !options->json)
        printf("%s%s%s%s%s\n", options->trace ? "trace: " : "", options->trace ? options->out : "",
               options->trace ? "/trace.json" : "", options->trace_flits ? "  flits: " : "",
               options->trace_flits ? "flits.txt beside it" : "");
    return true;
}

/* Synthetic traffic and joined meshes have no one system to look at. */
static bool check_observed(const struct run *run, GError **error) {
    if (!run->observers->len || run->observed)
        return true;
    g_set_error(
        error, FS_ERROR, FS_ERROR_INPUT,
        "flitsim run: --trace and --interval: workload %s on %s runs no units of one mesh, expected one that does",
        run->workload->type->id, run->machine->name);
    return false;
}

static int run_workload(const struct options *options, struct machine *machine, const struct workload *workload) {
    struct run run;
    struct dram_trace trace;
    GError *error = NULL;
    dram_trace_init(&trace);
    run_init(&run, machine, workload);
    run.seed = (uint64_t)options->seed;
    run.strict = options->strict;
    run.memory_watch = options->dram_trace ? &trace.watch : NULL;
    run.profiled = options->profile;
    struct lookers lookers = {0};
    bool fine = (!workload->type->adjust || workload->type->adjust(workload, machine, &error)) &&
                open_lookers(options, &run, &lookers, &error) && workload->type->run(&run, &error) &&
                check_observed(&run, &error) &&
                (!options->dram_trace || dram_trace_write(&trace, options->dram_trace, &error));
    int status = fine ? report(options, &run, &lookers, &error) : cli_fail(error);
    error = NULL;
    if (!close_lookers(options, &lookers, &error))
        status = cli_fail(error);
    run_clear(&run);
    dram_trace_clear(&trace);
    return status;
}

/* A number out of range, or a trace with nowhere to put it. */
static bool check_options(const struct options *options) {
    const struct {
        const char *name;
        gint64 value, least;
    } numbers[] = {{"--interval", options->interval, 0},
                   {"--trace-from", options->trace_from, 0},
                   {"--trace-to", options->trace_to, options->trace_to == -1 ? -1 : options->trace_from + 1},
                   {"--trace-limit", options->trace_limit, 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (numbers[i].value < numbers[i].least) {
            fprintf(stderr, "flitsim run: %s is %" G_GINT64_FORMAT ", expected at least %" G_GINT64_FORMAT "\n",
                    numbers[i].name, numbers[i].value, numbers[i].least);
            return false;
        }
    if (!options->out && (options->trace || options->trace_flits)) {
        fprintf(stderr, "flitsim run: %s without a folder, expected --out DIR\n",
                options->trace ? "--trace" : "--trace-flits");
        return false;
    }
    return true;
}

static bool check_machine(const struct machine *machine, const struct workload *workload, const char *name,
                          GError **error) {
    if (system_check(machine, error) && workload_fits(workload, machine, error))
        return true;
    g_prefix_error(error, "%s:1:1: ", name);
    return false;
}

static int load_and_run(const struct options *options, const char *machine_name, const char *workload_name) {
    struct machine machine;
    struct workload workload;
    GError *error = NULL;
    if (!config_load_machine(&machine, machine_name, options->sets, &error))
        return cli_fail(error);
    int status;
    if (!workload_load(&workload, workload_name, options->sets, &error)) {
        status = cli_fail(error);
    } else {
        status = check_machine(&machine, &workload, machine_name, &error) ? run_workload(options, &machine, &workload)
                                                                          : cli_fail(error);
        workload_clear(&workload);
    }
    machine_clear(&machine);
    return status;
}

int command_run(int argc, char **argv) {
    struct options options = {.seed = 1, .trace_to = -1, .trace_limit = RECORDER_LIMIT};
    const GOptionEntry entries[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.sets, "Set a key of machine or workload", "PATH=VALUE"},
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options.out, "Write result.json to this folder", "DIR"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print the result and nothing else", NULL},
        {"seed", 0, 0, G_OPTION_ARG_INT64, &options.seed, "Seed of generated data (1)", "N"},
        {"strict", 0, 0, G_OPTION_ARG_NONE, &options.strict, "Any hazard ends the run and fails it", NULL},
        {"dram-trace", 0, 0, G_OPTION_ARG_FILENAME, &options.dram_trace, "Write every burst the memory takes here",
         "FILE"},
        {"profile", 'p', 0, G_OPTION_ARG_NONE, &options.profile, "List the vector kernels with the cycles of each word",
         NULL},
        {"interval", 0, 0, G_OPTION_ARG_INT64, &options.interval, "Add activity per N cycles to the result", "N"},
        {"trace", 0, 0, G_OPTION_ARG_NONE, &options.trace, "Write DIR/trace.json for a trace viewer", NULL},
        {"trace-flits", 0, 0, G_OPTION_ARG_NONE, &options.trace_flits, "Write DIR/flits.txt, a line a flit and link",
         NULL},
        {"trace-from", 0, 0, G_OPTION_ARG_INT64, &options.trace_from, "First cycle of the trace (0)", "C"},
        {"trace-to", 0, 0, G_OPTION_ARG_INT64, &options.trace_to, "Cycle before which the trace ends (the run's end)",
         "C"},
        {"trace-limit", 0, 0, G_OPTION_ARG_INT64, &options.trace_limit, "Most events of the trace (1000000)", "N"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, "Print no summary", NULL},
        {NULL}};
    bool understood = cli_options(&argc, &argv, entries, "MACHINE WORKLOAD",
                                  "Runs a workload (a file, a shipped name or ID:KEY=VALUE,...) on a machine.", 2, 2) &&
                      check_options(&options);
    int status = understood ? load_and_run(&options, argv[1], argv[2]) : CLI_AT_FAULT;
    g_strfreev(options.sets);
    g_free(options.out);
    g_free(options.dram_trace);
    return status;
}
