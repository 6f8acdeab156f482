/* The machine put together; see system.h. */
#include "units/system.h"

#include "units/unit.h"

enum {
    MOVER_WINDOW = 0x80 /* bytes of AUX_CFG that are the mover's (noc-and-memory §5.2) */
};

static const struct unit_type *const unit_types[] = {&unit_type_cluster};

static const struct unit_type *find_type(const char *name) {
    for (unsigned i = 0; i < G_N_ELEMENTS(unit_types); i++)
        if (g_strcmp0(unit_types[i]->name, name) == 0)
            return unit_types[i];
    return NULL;
}

static bool add_units(struct system *system, GError **error) {
    const struct machine *machine = system->machine;
    system->endpoints = g_new0(struct endpoint, machine->unit_count);
    for (unsigned i = 0; i < machine->unit_count; i++) {
        const struct machine_unit *place = &machine->units[i];
        const struct unit_type *type = find_type(place->type);
        if (!type) {
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "unit %s: type \"%s\" is not known", place->name, place->type);
            return false;
        }
        struct endpoint *endpoint = &system->endpoints[system->endpoint_count++];
        endpoint_init(endpoint, machine, place, type, &system->pool, &system->hazards);
        endpoint->group_due = &system->due;
        endpoint->latency = system->latency;
        endpoint->out = mesh_attach(&system->mesh, place->x, place->y, endpoint_sink(endpoint));
    }
    return true;
}

/* ---- the mover behind the agent's window ---- */

static cycle_t step_mover(void *self, cycle_t now) {
    return mover_step(&((struct system *)self)->mover, now);
}

/* AUX_CFG: the mover's registers, and behind them the interlink's. */
static void write_auxiliary(void *self, uint32_t offset, uint64_t value, cycle_t now) {
    struct system *system = self;
    if (offset >= MOVER_WINDOW) {
        if (system->agent.interlink)
            interlink_write(system->agent.interlink, offset, value, now);
        return;
    }
    mover_write(&system->mover, offset, value, now);
    system->agent.mover.due = now + 1;
}

static uint64_t mover_word(void *self) {
    const struct system *system = self;
    uint64_t reads = 0, writes = 0;
    for (unsigned p = 0; p < system->agent.port_count; p++) {
        reads += system->agent.ports[p].counts.reads_issued;
        writes += system->agent.ports[p].counts.writes_issued;
    }
    return mover_status(&system->mover, (uint16_t)reads, (uint16_t)writes);
}

static void add_agent(struct system *system) {
    system->bank = transform_bank_new(NULL, 0, &system->hazards, NULL);
    mover_init(&system->mover, system->machine, 0, system->bank, &system->hazards);
    struct agent_requester mover = {
        .self = system, .step = step_mover, .requester = &system->mover.port, .due = CYCLE_NEVER};
    agent_init(&system->agent, system->machine, &system->mesh, &system->dram, &system->pool, &system->hazards, &mover);
    system->agent.group_due = &system->due;
    system->agent.latency = system->latency;
    system->agent.dispatch.auxiliary =
        (struct dispatch_auxiliary){.self = system, .write = write_auxiliary, .status = mover_word};
}

struct system *system_new(const struct machine *machine, GError **error) {
    struct system *system = g_new0(struct system, 1);
    system->machine = machine;
    system->due = system->mesh_due = CYCLE_NEVER;
    flit_pool_init(&system->pool);
    hazard_log_init(&system->hazards);
    dram_init(&system->dram, machine->memory.size);
    mesh_init(&system->mesh, machine, &system->pool, &system->hazards);
    system->mesh.group_due = &system->mesh_due;
    add_agent(system);
    if (!add_units(system, error)) {
        system_free(system);
        return NULL;
    }
    return system;
}

static uint64_t interlink_status_word(void *self, unsigned index) {
    return interlink_status(((struct system *)self)->agent.interlink, index);
}

void system_join_line(struct system *system, struct interlink *interlink) {
    system->mover.mesh = interlink->mesh;
    agent_join_line(&system->agent, system->machine, interlink);
    system->agent.dispatch.auxiliary.status_word = interlink_status_word;
}

void system_free(struct system *system) {
    if (!system)
        return;
    for (unsigned i = 0; i < system->endpoint_count; i++)
        endpoint_clear(&system->endpoints[i]);
    g_free(system->endpoints);
    for (unsigned type = 0; type < FLIT_TYPES; type++)
        histogram_clear(&system->latency[type]);
    g_free(system->unit_accounts);
    g_free(system->port_accounts);
    agent_clear(&system->agent);
    mover_clear(&system->mover);
    transform_bank_free(system->bank);
    mesh_clear(&system->mesh);
    dram_clear(&system->dram);
    hazard_log_clear(&system->hazards);
    flit_pool_clear(&system->pool);
    g_free(system);
}

cycle_t system_step(struct system *system, cycle_t now) {
    system->cycles_stepped++;
    agent_begin(&system->agent, now);
    system->mesh_due = CYCLE_NEVER;
    system->due = CYCLE_NEVER;
    cycle_t due = mesh_step(&system->mesh, now);
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        struct endpoint *endpoint = &system->endpoints[i];
        if (endpoint->due <= now)
            endpoint_step(endpoint, now);
        due = MIN(due, endpoint->due);
    }
    if (system->agent.due <= now)
        agent_step(&system->agent, now);
    due = MIN(due, system->agent.due);
    due = MIN(due, system->mesh_due); /* flits pushed by endpoints and agent after the routers were stepped */
    for (unsigned i = 0; i < system->endpoint_count; i++)
        due = MIN(due, system->endpoints[i].due);
    return due;
}

void system_close_accounts(struct system *system, cycle_t end) {
    system->unit_accounts = g_renew(struct account, system->unit_accounts, system->endpoint_count);
    system->port_accounts = g_renew(struct account, system->port_accounts, system->agent.port_count);
    for (unsigned i = 0; i < system->endpoint_count; i++) {
        struct unit_report report;
        system->endpoints[i].type->report(system->endpoints[i].unit, &report);
        system->unit_accounts[i] = *report.account;
        account_close(&system->unit_accounts[i], end);
    }
    for (unsigned p = 0; p < system->agent.port_count; p++) {
        system->port_accounts[p] = system->agent.ports[p].account;
        account_close(&system->port_accounts[p], end);
    }
}

bool system_quiet(const struct system *system) {
    for (unsigned i = 0; i < system->endpoint_count; i++)
        if (!endpoint_quiet(&system->endpoints[i]))
            return false;
    return agent_quiet(&system->agent) && !mover_busy(&system->mover) && mesh_held(&system->mesh) == 0;
}

uint64_t system_progress(const struct system *system) {
    uint64_t progress = system->mesh.hops + system->dram.reads + system->dram.writes + system->agent.dispatch.pushed +
                        system->agent.agent_in;
    if (system->agent.interlink)
        progress += system->agent.interlink->progress;
    for (unsigned i = 0; i < system->endpoint_count; i++)
        progress += system->endpoints[i].retired + system->endpoints[i].inst_popped;
    return progress;
}
