/* Life of a described machine and what can be told from it alone; see machine.h. */
#include "model/machine.h"

#include <stdlib.h>
#include <string.h>

#include "model/keys.h"
#include "model/routing_table.h"

void machine_init(struct machine *machine) {
    memset(machine, 0, sizeof *machine);
    keys_defaults(machine, PRESET_BENCH);
}

void machine_clear(struct machine *machine) {
    for (unsigned i = 0; i < machine->unit_count; i++) {
        g_free(machine->units[i].type);
        g_free(machine->units[i].name);
    }
    g_free(machine->units);
    g_free(machine->ports);
    g_strfreev(machine->plugins);
    for (unsigned i = 0; i < machine->mesh_count; i++)
        machine_clear(&machine->meshes[i]);
    g_free(machine->meshes);
    routing_table_free(machine->noc.table);
    keys_clear(machine);
    memset(machine, 0, sizeof *machine);
}

unsigned machine_port_hops(const struct machine *machine, const struct machine_unit *unit) {
    if (unit->port >= machine->port_count)
        return 0;
    const struct machine_port *port = &machine->ports[unit->port];
    int ux = (int)CLAMP(unit->x, 1, machine->nx), uy = (int)CLAMP(unit->y, 1, machine->ny);
    int px = (int)CLAMP(port->x, 1, machine->nx), py = (int)CLAMP(port->y, 1, machine->ny);
    return (unsigned)(abs(ux - px) + abs(uy - py)) + 1;
}

static void warn_of_mesh(GPtrArray *warnings, const struct machine *machine) {
    for (unsigned port = 0; port < machine->port_count; port++) {
        unsigned writers = 0;
        for (unsigned i = 0; i < machine->unit_count; i++)
            writers += machine->units[i].port == port;
        if (machine->memory.write_slots < 2 * writers)
            g_ptr_array_add(warnings,
                            g_strdup_printf("wr.slots_undersized: memory port %u has %u writers, which need "
                                            "%u write slots, but memory.write_slots is %u: writes can deadlock",
                                            port, writers, 2 * writers, machine->memory.write_slots));
    }
}

char **machine_warnings(const struct machine *machine) {
    GPtrArray *warnings = g_ptr_array_new();
    warn_of_mesh(warnings, machine);
    for (unsigned i = 0; i < machine->mesh_count; i++)
        warn_of_mesh(warnings, &machine->meshes[i]);
    g_ptr_array_add(warnings, NULL);
    return (char **)g_ptr_array_free(warnings, FALSE);
}
