/* See what_if.h. */
#include "units/what_if.h"

char **what_if_active(const struct machine *machine) {
    const struct {
        const char *name;
        bool on;
    } options[] = {
        {"cluster.rendezvous", machine->cluster.rendezvous},
        {"cluster.forward", machine->cluster.forward},
        {"cluster.tensor_fill", machine->cluster.tensor_fill},
        {"cluster.third_bank", machine->cluster.third_bank},
        {"cluster.pacing=false", !machine->cluster.pacing},
        {"cluster.sweep_wait=issued", machine->cluster.sweep_wait == SWEEP_WAIT_ISSUED},
        {"interlink.per_source", machine->interlink.per_source},
        {"noc.arbitration", machine->noc.arbitration != ARBITRATION_FREE_RUNNING},
        {"noc.routing", machine->noc.routing != ROUTING_XY},
        {"noc.topology", machine->noc.topology != TOPOLOGY_MESH},
        {"noc.virtual_channels", machine->noc.virtual_channels > 1},
        {"noc.holding_slots", machine->noc.holding_slots != 1},
        {"noc.pipeline", machine->noc.pipeline > 0},
        {"noc.link_latency", machine->noc.link_latency > 0},
    };
    GStrvBuilder *names = g_strv_builder_new();
    for (unsigned i = 0; i < G_N_ELEMENTS(options); i++)
        if (options[i].on)
            g_strv_builder_add(names, options[i].name);
    char **list = g_strv_builder_end(names);
    g_strv_builder_unref(names);
    return list;
}
