/* The machine put together; see system.h. */
#include "units/system.h"

#include "memory/stage.h"
#include "units/plugin.h"
#include "units/unit.h"

enum {
    MOVER_WINDOW = 0x80 /* bytes of AUX_CFG that are the mover's (noc-and-memory §5.2) */
};

/* ---- building ---- */

/* The routers that memory ports are attached to belong to the agent's group. */
static void build_mesh(struct system *system) {
    const struct machine *machine = system->machine;
    uint32_t count = machine->nx * machine->ny;
    g_autofree bool *pinned = g_new0(bool, count);
    g_autofree uint32_t *part_of = g_new0(uint32_t, count);
    for (unsigned p = 0; p < machine->port_count; p++) {
        unsigned x = CLAMP(machine->ports[p].x, 1, machine->nx), y = CLAMP(machine->ports[p].y, 1, machine->ny);
        pinned[(y - 1) * machine->nx + (x - 1)] = true;
    }
    system->group_count = mesh_split(machine, pinned, part_of);
    mesh_init_parts(&system->mesh, machine, &system->pool, &system->hazards, part_of, system->group_count);
    system->groups = g_new0(struct system_group, system->group_count);
    for (unsigned g = 0; g < system->group_count; g++) {
        struct system_group *group = &system->groups[g];
        *group = (struct system_group){.system = system,
                                       .part = &system->mesh.parts[g],
                                       .endpoints = g_new0(struct endpoint *, machine->unit_count + 1),
                                       .adapters = g_new0(struct l2_adapter *, machine->unit_count + 1),
                                       .has_agent = g == 0};
        group->part->group_due = &group->mesh_due;
    }
}

/* The unit's local link, through an L2 adapter where one is built. */
static void join(struct system *system, struct system_group *group, unsigned unit) {
    const struct machine *machine = system->machine;
    const struct machine_unit *place = &machine->units[unit];
    struct endpoint *endpoint = &system->endpoints[unit];
    if (!(place->kind == UNIT_CLUSTER ? machine->l2.clusters : machine->l2.vectors)) {
        endpoint->out = mesh_attach(&system->mesh, place->x, place->y, endpoint_sink(endpoint));
        return;
    }
    struct l2_adapter *adapter = system->adapters[unit] = g_new0(struct l2_adapter, 1);
    l2_init(adapter, machine, place, group->part->pool, &system->hazards);
    adapter->unit = endpoint_sink(endpoint);
    adapter->mesh = mesh_attach(&system->mesh, place->x, place->y, l2_mesh_end(adapter));
    endpoint->out = l2_unit_end(adapter);
    group->adapters[group->adapter_count++] = adapter;
}

static bool add_units(struct system *system, GError **error) {
    const struct machine *machine = system->machine;
    system->endpoints = g_new0(struct endpoint, machine->unit_count);
    system->adapters = g_new0(struct l2_adapter *, machine->unit_count + 1);
    for (unsigned i = 0; i < machine->unit_count; i++) {
        const struct machine_unit *place = &machine->units[i];
        const struct unit_type *type = plugin_find_type(system->plugins, place->type);
        if (!type) {
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "unit %s: type \"%s\" is not known", place->name, place->type);
            return false;
        }
        struct mesh_part *part = mesh_part_at(&system->mesh, place->x, place->y);
        struct system_group *group = &system->groups[part - system->mesh.parts];
        struct endpoint *endpoint = &system->endpoints[system->endpoint_count++];
        endpoint_init(endpoint, machine, place, type, part->pool, &system->hazards);
        endpoint->latency = group->latency;
        join(system, group, i);
        group->endpoints[group->endpoint_count++] = endpoint;
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

bool system_occupants(const struct machine *machine, const struct transform_occupant *slots[TRANSFORM_SLOTS],
                      unsigned *count, GError **error) {
    const char *names = machine->memory.occupants ? machine->memory.occupants : "quantiser";
    g_auto(GStrv) list = g_strsplit(g_str_equal(names, "none") ? "" : names, ",", -1);
    *count = g_strv_length(list);
    if (*count > TRANSFORM_SLOTS) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "memory.occupants: names %u, expected at most %d", *count,
                    TRANSFORM_SLOTS);
        return false;
    }
    for (unsigned i = 0; i < *count; i++) {
        slots[i] = transform_find(g_strstrip(list[i]));
        if (!slots[i]) {
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                        "memory.occupants: \"%s\" is no occupant, expected quantiser, negate, identity or none",
                        list[i]);
            return false;
        }
    }
    return true;
}

/* The bank with the occupants that the machine names; "none" is the default bank, where every id is the bypass. */
static bool add_bank(struct system *system, GError **error) {
    const struct transform_occupant *slots[TRANSFORM_SLOTS] = {NULL};
    unsigned count;
    if (!system_occupants(system->machine, slots, &count, error))
        return false;
    system->bank = transform_bank_new(slots, count, &system->hazards, error);
    return system->bank;
}

static void add_agent(struct system *system) {
    mover_init(&system->mover, system->machine, 0, system->bank, &system->hazards);
    struct agent_requester mover = {
        .self = system, .step = step_mover, .requester = &system->mover.port, .due = CYCLE_NEVER};
    agent_init(&system->agent, system->machine, &system->mesh, &system->dram, &system->pool, &system->hazards, &mover);
    system->agent.latency = system->groups[0].latency;
    system->agent.dispatch.auxiliary =
        (struct dispatch_auxiliary){.self = system, .write = write_auxiliary, .status = mover_word};
}

/* Every unit's type is built in or brought by a plug-in. */
static bool check_types(const struct machine *machine, GError **error) {
    struct plugin_set *plugins = plugin_set_load(machine, error);
    bool known = plugins;
    for (unsigned i = 0; known && i < machine->unit_count; i++) {
        known = plugin_find_type(plugins, machine->units[i].type);
        if (!known)
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "units: %s is of type \"%s\", expected a known unit type%s",
                        machine->units[i].name, machine->units[i].type,
                        machine->plugins ? "" : " or a plug-in that brings it (plugins)");
    }
    plugin_set_free(plugins);
    return known;
}

/* ---- the transform bank behind the control processor ---- */

/* Which register of the bank an address of the processor names. */
static bool bank_register(const struct system *system, uint32_t address, unsigned *id, unsigned *reg) {
    uint32_t offset = address - PROCESSOR_TRANSFORM;
    *id = offset >> 8;
    *reg = offset & 0xFF;
    return !system->machine->agent.wide_complex && *id <= TRANSFORM_SLOTS;
}

bool system_processor_write(struct system *system, uint32_t address, uint32_t value, cycle_t now) {
    unsigned id, reg;
    bool there = bank_register(system, address, &id, &reg);
    if (there)
        transform_cfg_write(system->bank, id, reg, value, now);
    return there;
}

bool system_processor_read(struct system *system, uint32_t address, uint32_t *value, cycle_t now) {
    unsigned id, reg;
    bool there = bank_register(system, address, &id, &reg);
    *value = there ? transform_cfg_read(system->bank, id, reg, now) : 0;
    return there;
}

bool system_check(const struct machine *machine, GError **error) {
    const struct transform_occupant *slots[TRANSFORM_SLOTS];
    unsigned count;
    for (unsigned m = 0; m < machine->mesh_count; m++) {
        struct machine mesh = machine->meshes[m];
        mesh.plugins = mesh.plugins ? mesh.plugins : machine->plugins;
        if (!system_check(&mesh, error))
            return false;
    }
    if (machine->mesh_count)
        return true;
    if (!check_types(machine, error))
        return false;
    return system_occupants(machine, slots, &count, error) && mesh_check(machine, error);
}

struct system *system_new(const struct machine *machine, GError **error) {
    if (!system_check(machine, error))
        return NULL;
    struct system *system = g_new0(struct system, 1);
    system->machine = machine;
    system->end = CYCLE_NEVER;
    flit_pool_init(&system->pool);
    hazard_log_init(&system->hazards);
    dram_init(&system->dram, machine->memory.size);
    build_mesh(system);
    bool fine = (system->plugins = plugin_set_load(machine, error)) && add_bank(system, error);
    if (fine)
        add_agent(system);
    if (!fine || !add_units(system, error)) {
        system_free(system);
        return NULL;
    }
    system->unit_accounts = g_new0(struct account, machine->unit_count + 1);
    system->port_accounts = g_new0(struct account, machine->port_count + 1);
    return system;
}

static uint64_t interlink_status_word(void *self, unsigned index) {
    return interlink_status(((struct system *)self)->agent.interlink, index);
}

/* Called by a neighbour's actor. Without a clock, whoever steps the line looks for itself. */
static void wake_group(void *self, cycle_t at) {
    struct clock_actor *actor = ((struct system *)self)->mesh.parts[0].actor;
    if (actor)
        clock_wake(actor, at);
}

void system_join_line(struct system *system, struct interlink *interlink) {
    interlink->waker = system;
    interlink->wake = wake_group;
    system->mover.mesh = interlink->mesh;
    agent_join_line(&system->agent, system->machine, interlink);
    system->agent.dispatch.auxiliary.status_word = interlink_status_word;
}

void system_free(struct system *system) {
    if (!system)
        return;
    for (unsigned i = 0; i < system->endpoint_count; i++)
        endpoint_clear(&system->endpoints[i]);
    for (unsigned i = 0; system->adapters && i < system->machine->unit_count; i++)
        if (system->adapters[i]) {
            l2_clear(system->adapters[i]);
            g_free(system->adapters[i]);
        }
    for (unsigned g = 0; g < system->group_count; g++) {
        g_free(system->groups[g].endpoints);
        g_free(system->groups[g].adapters);
        for (unsigned type = 0; type < FLIT_TYPES; type++)
            histogram_clear(&system->groups[g].latency[type]);
    }
    g_free(system->groups);
    g_free(system->endpoints);
    g_free(system->adapters);
    g_free(system->unit_accounts);
    g_free(system->port_accounts);
    agent_clear(&system->agent);
    mover_clear(&system->mover);
    transform_bank_free(system->bank);
    plugin_set_free(system->plugins); /* after the units, whose code it is */
    mesh_clear(&system->mesh);
    dram_clear(&system->dram);
    hazard_log_clear(&system->hazards);
    flit_pool_clear(&system->pool);
    g_free(system);
}

/* ---- accounts ---- */

static void close_group(struct system_group *group, cycle_t end) {
    struct system *system = group->system;
    group->closed = true;
    for (unsigned i = 0; i < group->endpoint_count; i++) {
        struct unit_report report;
        struct account *account = &system->unit_accounts[group->endpoints[i] - system->endpoints];
        group->endpoints[i]->type->report(group->endpoints[i]->unit, &report);
        *account = *report.account;
        account_close(account, end);
    }
    for (unsigned p = 0; group->has_agent && p < system->agent.port_count; p++) {
        system->port_accounts[p] = system->agent.ports[p].account;
        account_close(&system->port_accounts[p], end);
    }
}

void system_end(struct system *system, cycle_t end) {
    system->end = end;
}

void system_close(struct system *system) {
    for (unsigned g = 0; g < system->group_count; g++)
        if (!system->groups[g].closed)
            close_group(&system->groups[g], system->end);
}

/* ---- one cycle ---- */

/* What an endpoint adds to its group's progress; it grows in the endpoint's own steps alone. */
static uint64_t endpoint_progress(const struct endpoint *endpoint) {
    const struct unit_type *type = endpoint->type;
    return endpoint->retired + endpoint->inst_popped + (type->progress ? type->progress(endpoint->unit) : 0);
}

static uint64_t group_progress(const struct system_group *group) {
    const struct system *system = group->system;
    uint64_t progress = group->part->hops + group->units_progress;
    if (group->has_agent && system->agent.interlink)
        progress += system->agent.interlink->progress;
    const struct stage *stage = group->has_agent ? path_stage(system->agent.path) : NULL;
    if (stage)
        progress += stage->reads_served + stage->writes_served;
    for (unsigned p = 0; group->has_agent && p < system->agent.port_count; p++)
        if (system->agent.ports[p].stage)
            progress += system->agent.ports[p].stage->reads_served + system->agent.ports[p].stage->writes_served;
    if (group->has_agent)
        progress += system->dram.reads + system->dram.writes + system->agent.dispatch.pushed + system->agent.agent_in;
    for (unsigned i = 0; i < group->adapter_count; i++)
        progress += group->adapters[i]->served + group->adapters[i]->taken;
    return progress;
}

static void note_progress(struct system_group *group, cycle_t now) {
    uint64_t progress = group_progress(group);
    if (progress == group->progress)
        return;
    group->progress = progress;
    group->last_progress = now;
}

static inline cycle_t step_endpoint(struct system_group *group, struct endpoint *endpoint, cycle_t now) {
    if (endpoint->due > now)
        return endpoint->due;
    endpoint_step(endpoint, now);
    uint64_t progress = endpoint_progress(endpoint);
    group->units_progress += progress - endpoint->progress;
    endpoint->progress = progress;
    return endpoint->due;
}

cycle_t system_group_step(void *self, cycle_t now) {
    struct system_group *group = self;
    struct system *system = group->system;
    struct agent *agent = group->has_agent ? &system->agent : NULL;
    if (now >= system->end && !group->closed)
        close_group(group, system->end);
    if (agent)
        agent_begin(agent, now);
    cycle_t due = mesh_part_step(group->part, now);
    group->mesh_due = CYCLE_NEVER;
    for (unsigned i = 0; i < group->adapter_count; i++)
        if (group->adapters[i]->due <= now)
            l2_step(group->adapters[i], now);
    for (unsigned i = 0; i < group->endpoint_count; i++)
        due = MIN(due, step_endpoint(group, group->endpoints[i], now));
    if (agent) {
        if (agent->due <= now)
            agent_step(agent, now);
        due = MIN(due, agent->due);
    }
    for (unsigned i = 0; i < group->adapter_count; i++)
        due = MIN(due, group->adapters[i]->due);
    due = MIN(due, group->mesh_due); /* endpoints and agent gave flits to routers after those were stepped */
    note_progress(group, now);
    group->stepped = now;
    group->due = due;
    return due;
}

cycle_t system_step(struct system *system, cycle_t now) {
    g_assert(system->group_count == 1);
    return system_group_step(&system->groups[0], now);
}

/* ---- the whole ---- */

bool system_quiet(const struct system *system) {
    for (unsigned i = 0; i < system->endpoint_count; i++)
        if (!endpoint_quiet(&system->endpoints[i]) || (system->adapters[i] && !l2_quiet(system->adapters[i])))
            return false;
    return agent_quiet(&system->agent) && !mover_busy(&system->mover) && mesh_held(&system->mesh) == 0;
}

cycle_t system_last_progress(const struct system *system) {
    cycle_t last = 0;
    for (unsigned g = 0; g < system->group_count; g++)
        last = MAX(last, system->groups[g].last_progress);
    return last;
}

struct histogram system_latency(const struct system *system, unsigned type) {
    struct histogram all = {0};
    for (unsigned g = 0; g < system->group_count; g++)
        histogram_merge(&all, &system->groups[g].latency[type]);
    return all;
}

uint64_t system_progress(const struct system *system) {
    uint64_t progress = 0;
    for (unsigned g = 0; g < system->group_count; g++)
        progress += system->groups[g].progress;
    return progress;
}
