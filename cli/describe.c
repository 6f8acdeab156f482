/* flitsim describe MACHINE: the mesh as a drawing, then what it is made of in words and numbers. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "model/config.h"
#include "model/keys.h"
#include "workloads/workload.h"

enum {
    DRAW_MAX_COLUMNS = 20, /* a wider mesh fits no terminal */
    LABEL_WIDTH = 7,
    APERTURE_BIT = 39, /* noc-and-memory §1.4 */
    MESH_SHIFT = 36,
    STAGING_ENTRY_BYTES = 128,
};

/* ---- the drawing ---- */

/* "c0", "v3", "P1", ... of what stands at (x, y), or "". Units by their type's first letter and number. */
static void place_label(const struct machine *machine, unsigned x, unsigned y, char *label, size_t room) {
    unsigned number = 0;
    label[0] = '\0';
    for (unsigned i = 0; i < machine->port_count; i++)
        if (machine->ports[i].x == x && machine->ports[i].y == y)
            snprintf(label, room, "P%u", i);
    for (unsigned i = 0; i < machine->unit_count; i++) {
        const struct machine_unit *unit = &machine->units[i];
        if (unit->x != x || unit->y != y)
            continue;
        for (unsigned j = 0; j < i; j++)
            number += g_str_equal(machine->units[j].type, unit->type);
        snprintf(label, room, "%c%u", unit->type[0], number);
    }
}

static bool is_router(const struct machine *machine, unsigned x, unsigned y) {
    return x >= 1 && x <= machine->nx && y >= 1 && y <= machine->ny;
}

/* A link is drawn between two routers, and between a router and something on the edge. */
static bool is_linked(const struct machine *machine, unsigned x, unsigned y, unsigned to_x, unsigned to_y) {
    char here[16], there[16];
    bool router = is_router(machine, x, y), to_router = is_router(machine, to_x, to_y);
    place_label(machine, x, y, here, sizeof here);
    place_label(machine, to_x, to_y, there, sizeof there);
    return (router && to_router) || (router && there[0]) || (to_router && here[0]);
}

static void draw_centred(GString *out, const char *text) {
    int left = (LABEL_WIDTH - (int)strlen(text)) / 2;
    g_string_append_printf(out, "%*s%-*s", MAX(left, 0), "", LABEL_WIDTH - MAX(left, 0), text);
}

/* Ends a line of the drawing; blanks at its end go. */
static void end_line(GString *out) {
    while (out->len && out->str[out->len - 1] == ' ')
        g_string_truncate(out, out->len - 1);
    g_string_append_c(out, '\n');
}

static void draw_row(GString *out, const struct machine *machine, unsigned y) {
    g_string_append_printf(out, "%4u ", y);
    for (unsigned x = 0; x <= machine->nx + 1; x++) {
        char label[16], cell[24];
        place_label(machine, x, y, label, sizeof label);
        snprintf(cell, sizeof cell, is_router(machine, x, y) ? "(%s)" : "%s",
                 label[0] || !is_router(machine, x, y) ? label : "  ");
        draw_centred(out, cell);
        if (x <= machine->nx)
            g_string_append(out, is_linked(machine, x, y, x + 1, y) ? "--" : "  ");
    }
    end_line(out);
}

static void draw_links(GString *out, const struct machine *machine, unsigned y) {
    g_string_append(out, "     ");
    for (unsigned x = 0; x <= machine->nx + 1; x++) {
        draw_centred(out, is_linked(machine, x, y, x, y + 1) ? "|" : "");
        g_string_append(out, "  ");
    }
    end_line(out);
}

static void draw(GString *out, const struct machine *machine) {
    if (machine->nx > DRAW_MAX_COLUMNS) {
        g_string_append_printf(out, "  (a mesh wider than %d routers is not drawn)\n", DRAW_MAX_COLUMNS);
        return;
    }
    g_string_append(out, "     ");
    for (unsigned x = 0; x <= machine->nx + 1; x++) {
        char number[16];
        snprintf(number, sizeof number, "%u", x);
        draw_centred(out, number);
        g_string_append(out, "  ");
    }
    end_line(out);
    for (unsigned y = 0; y <= machine->ny + 1; y++) {
        draw_row(out, machine, y);
        if (y <= machine->ny)
            draw_links(out, machine, y);
    }
}

/* ---- the words ---- */

static void list_units(GString *out, const struct machine *machine) {
    g_string_append(out, "\nMemory ports\n");
    for (unsigned i = 0; i < machine->port_count; i++)
        g_string_append_printf(out, "  P%u  (%u,%u)%s\n", i, machine->ports[i].x, machine->ports[i].y,
                               i == 0 ? "  also the dispatch agent" : "");
    g_string_append(out, "\nUnits and the memory port each is bound to\n");
    for (unsigned i = 0; i < machine->unit_count; i++) {
        const struct machine_unit *unit = &machine->units[i];
        unsigned hops = machine_port_hops(machine, unit);
        g_string_append_printf(out, "  %-12s %-10s (%u,%u)  P%u  %u router%s\n", unit->name, unit->type, unit->x,
                               unit->y, unit->port, hops, hops == 1 ? "" : "s");
    }
}

static void list_range(GString *out, const char *name, guint64 first, guint64 bytes) {
    g_string_append_printf(
        out, "  %-10s 0x%010" G_GINT64_MODIFIER "x .. 0x%010" G_GINT64_MODIFIER "x  %" G_GUINT64_FORMAT " bytes\n",
        name, first, first + bytes - 1, bytes);
}

static void list_addresses(GString *out, const struct machine *machine, unsigned mesh) {
    const struct memory_params *memory = &machine->memory;
    guint64 base = (guint64)mesh << MESH_SHIFT;
    g_string_append(out, "\nAddresses (40 bits)\n");
    list_range(out, "DRAM", base, memory->size);
    if (memory->staging != STAGING_OFF)
        list_range(out, "aperture 0", base | (guint64)1 << APERTURE_BIT,
                   (guint64)memory->staging_entries * STAGING_ENTRY_BYTES);
}

static void list_parameters(GString *out, const struct machine *machine) {
    bool any = false;
    g_string_append_printf(out, "\nParameters that differ from the %s preset\n",
                           machine->preset == PRESET_SHIP ? "ship" : "bench");
    for (size_t i = 0; i < machine_key_count; i++) {
        const struct config_key *key = &machine_keys[i];
        if (!strchr(key->path, '.') && key->type != KEY_BOOL && key->type != KEY_DOUBLE)
            continue; /* name, description, preset: said above */
        if (key_is_default(key, machine))
            continue;
        g_autofree char *value = key_text(key, machine);
        g_autofree char *usual = key_default_text(key, (enum machine_preset)machine->preset);
        g_string_append_printf(out, "  %-24s %s%s%s  (default %s)\n", key->path, value, key->unit[0] ? " " : "",
                               key->unit, usual[0] ? usual : "none");
        any = true;
    }
    if (!any)
        g_string_append(out, "  none\n");
}

static void describe_mesh(GString *out, const struct machine *machine, unsigned id) {
    draw(out, machine);
    g_string_append(out, machine->bare ? "\n() router, with a traffic source and sink\n"
                                       : "\n() router with its local unit, P memory port; a unit is its type's first "
                                         "letter and its number\n");
    if (machine->bare)
        return;
    list_units(out, machine);
    list_addresses(out, machine, id);
}

static void describe_meshes(GString *out, const struct machine *machine) {
    for (unsigned i = 0; i < machine->mesh_count; i++) {
        g_string_append_printf(out, "Mesh %u: %u x %u routers\n\n", i, machine->meshes[i].nx, machine->meshes[i].ny);
        describe_mesh(out, &machine->meshes[i], i);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, "Interlink: meshes");
    for (unsigned i = 0; i < machine->mesh_count; i++)
        g_string_append_printf(out, "%s %u", i ? " --" : "", machine->line[i]);
    g_string_append_c(out, '\n');
}

static char *describe(const struct machine *machine) {
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%s: ", machine->name);
    if (machine->mesh_count)
        g_string_append_printf(out, "%u meshes", machine->mesh_count);
    else
        g_string_append_printf(out, "%u x %u routers", machine->nx, machine->ny);
    g_string_append_printf(out, ", %g MHz, preset %s\n", machine->clock_mhz,
                           machine->preset == PRESET_SHIP ? "ship" : "bench");
    if (machine->description)
        g_string_append_printf(out, "%s\n", machine->description);
    g_string_append_c(out, '\n');
    if (machine->mesh_count)
        describe_meshes(out, machine);
    else
        describe_mesh(out, machine, 0);
    list_parameters(out, machine);
    return g_string_free(out, FALSE);
}

/* A key of the workload has nothing to describe here. */
static bool check_sets(char *const *sets, GError **error) {
    for (unsigned i = 0; sets && sets[i]; i++)
        if (config_set_is_workload(sets[i])) {
            g_autofree char *path = g_strndup(sets[i], strcspn(sets[i], "="));
            return json_source_error_at(error, "--set", i + 1, 1, path,
                                        "is a key of the workload, expected one of the machine");
        }
    return true;
}

static int print_text(char *text) {
    fputs(text, stdout);
    g_free(text);
    return CLI_DONE;
}

int command_describe(int argc, char **argv) {
    g_auto(GStrv) sets = NULL;
    gboolean json = FALSE, keys = FALSE, schema = FALSE, workloads = FALSE;
    const GOptionEntry entries[] = {
        {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &sets, "Give a key another value; may be repeated", "PATH=VALUE"},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print the machine as a file with every key given", NULL},
        {"workloads", 0, 0, G_OPTION_ARG_NONE, &workloads, "Print the reference page of all workloads", NULL},
        {"keys", 0, 0, G_OPTION_ARG_NONE, &keys, "Print the reference page of all keys", NULL},
        {"schema", 0, 0, G_OPTION_ARG_NONE, &schema, "Print the JSON schema of a machine file", NULL},
        G_OPTION_ENTRY_NULL,
    };
    struct machine machine;
    GError *error = NULL;
    if (!cli_options(
            &argc, &argv, entries, "MACHINE",
            "Draws the mesh, lists units and their memory ports, and the parameters that differ from their default.\n"
            "MACHINE is a file or the name of a shipped machine.",
            0, 1))
        return CLI_AT_FAULT;
    if (workloads)
        return print_text(workload_reference());
    if (keys || schema)
        return print_text(keys ? config_reference() : config_schema());
    if (argc < 2) {
        fprintf(stderr, "flitsim describe: no machine, expected MACHINE\n");
        return CLI_AT_FAULT;
    }
    if (!check_sets(sets, &error) || !config_load_machine(&machine, argv[1], sets, &error))
        return cli_fail(error);
    int status = print_text(json ? config_machine_json(&machine) : describe(&machine));
    char **warnings = machine_warnings(&machine);
    for (size_t i = 0; warnings[i]; i++)
        fprintf(stderr, "%s: warning: %s\n", argv[1], warnings[i]);
    g_strfreev(warnings);
    machine_clear(&machine);
    return status;
}
