/* flitsim check FILE...: reads configuration files as a run would and says what is wrong with each. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "analysis/campaign.h"
#include "model/config.h"
#include "model/keys.h"
#include "units/system.h"
#include "workloads/workload.h"

/* Reads a file of one kind to the end; adds what it is to `report`, and what is doubtful to `doubts`. */
typedef bool check_function(const struct json_source *source, GString *report, GString *doubts, GError **error);

static void append_warnings(const struct json_source *source, const struct machine *machine, GString *doubts) {
    char **warnings = machine_warnings(machine);
    for (size_t i = 0; warnings[i]; i++)
        g_string_append_printf(doubts, "%s: warning: %s\n", source->file, warnings[i]);
    g_strfreev(warnings);
}

static void report_mesh(GString *report, const struct machine *mesh) {
    g_string_append_printf(report, ", %u x %u routers, ", mesh->nx, mesh->ny);
    if (mesh->bare)
        g_string_append(report, "bare");
    else
        g_string_append_printf(report, "units %u, memory ports %u", mesh->unit_count, mesh->port_count);
}

static bool check_machine(const struct json_source *source, GString *report, GString *doubts, GError **error) {
    struct machine machine;
    if (!config_read_machine(&machine, source, error))
        return false;
    if (!system_check(&machine, error)) {
        g_prefix_error(error, "%s:1:1: ", source->file);
        machine_clear(&machine);
        return false;
    }
    g_string_append_printf(report, "%s: machine %s", source->file, machine.name);
    for (unsigned i = 0; i < MAX(machine.mesh_count, 1); i++)
        report_mesh(report, machine.mesh_count ? &machine.meshes[i] : &machine);
    g_string_append_c(report, '\n');
    append_warnings(source, &machine, doubts);
    machine_clear(&machine);
    return true;
}

static bool check_workload(const struct json_source *source, GString *report, GString *doubts, GError **error) {
    struct workload workload;
    (void)doubts;
    if (!workload_load(&workload, source->file, NULL, error))
        return false;
    g_string_append_printf(report, "%s: workload %s\n", source->file, workload.type->id);
    workload_clear(&workload);
    return true;
}

/* A sweep is fine when all its points are; of several complaints the first is the file's. */
static bool check_sweep(const struct json_source *source, GString *report, GString *doubts, GError **error) {
    struct sweep sweep;
    struct campaign_plan plan;
    const struct campaign_options options = {.stop = -1};
    (void)doubts;
    if (!sweep_read(&sweep, source, error))
        return false;
    GPtrArray *complaints = g_ptr_array_new_with_free_func(g_free);
    bool fine = campaign_plan(&sweep, &plan, &options, complaints);
    if (fine) {
        g_string_append_printf(report, "%s: sweep %s, points %u\n", source->file, sweep.name, plan.points->len);
        campaign_plan_clear(&plan);
    } else {
        g_set_error_literal(error, FS_ERROR, FS_ERROR_INPUT, g_ptr_array_index(complaints, 0));
    }
    g_ptr_array_unref(complaints);
    sweep_clear(&sweep);
    return fine;
}

/* The kinds of file by their schema; a file that names none is of the first kind. */
static const struct {
    const char *schema;
    check_function *check;
} kinds[] = {
    {MACHINE_SCHEMA, check_machine},
    {WORKLOAD_SCHEMA, check_workload},
    {SWEEP_SCHEMA, check_sweep},
};

static bool unknown_schema(const struct json_source *source, const json_t *schema, GError **error) {
    const char *names[G_N_ELEMENTS(kinds)];
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        names[i] = kinds[i].schema;
    const char *text = json_string_value(schema);
    const char *near = text ? nearest_word(text, names, G_N_ELEMENTS(kinds)) : NULL;
    return json_source_error(source, error, JSON_PLACE_VALUE, "schema", 0, "is %s%s%s, expected \"%s\"",
                             text ? "\"" : "", text ? text : json_kind(schema), text ? "\"" : "",
                             near ? near : kinds[0].schema);
}

static bool check_source(const struct json_source *source, GString *report, GString *doubts, GError **error) {
    const json_t *schema = json_object_get(source->root, "schema");
    if (!schema)
        return kinds[0].check(source, report, doubts, error);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (json_is_string(schema) && g_str_equal(json_string_value(schema), kinds[i].schema))
            return kinds[i].check(source, report, doubts, error);
    return unknown_schema(source, schema, error);
}

static bool check_file(const char *name, GString *report, GString *doubts, GError **error) {
    struct json_source source;
    g_autofree char *file = config_find("machines", name, error);
    if (!file || !json_source_load(&source, file, error))
        return false;
    bool fine = check_source(&source, report, doubts, error);
    json_source_clear(&source);
    return fine;
}

int command_check(int argc, char **argv) {
    int status = CLI_DONE;
    if (!cli_options(&argc, &argv, NULL, "FILE...",
                     "Reads configuration files as a run would; says what each is, or what is wrong with it.", 1,
                     G_MAXINT))
        return CLI_AT_FAULT;
    GString *report = g_string_new(NULL), *doubts = g_string_new(NULL);
    for (int i = 1; i < argc; i++) {
        GError *error = NULL;
        if (check_file(argv[i], report, doubts, &error))
            continue;
        int failed = cli_fail(error);
        status = MAX(status, failed);
    }
    fputs(doubts->str, stderr);
    if (status == CLI_DONE)
        fputs(report->str, stdout);
    g_string_free(doubts, TRUE);
    g_string_free(report, TRUE);
    return status;
}
