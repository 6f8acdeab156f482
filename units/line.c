/* A line of meshes; see line.h. */
#include "units/line.h"

struct line *line_new(const struct machine *machine, GError **error) {
    struct line *line = g_new0(struct line, 1);
    line->machine = machine;
    line->count = machine->mesh_count;
    for (unsigned m = 0; m < line->count; m++) {
        line->machines[m] = machine->meshes[m];
        if (!line->machines[m].plugins)
            line->machines[m].plugins = machine->plugins;
        line->machines[m].engine.routers_per_actor = line->machines[m].nx * line->machines[m].ny; /* one group */
        struct system *system = line->meshes[m] = system_new(&line->machines[m], error);
        if (!system) {
            line_free(line);
            return NULL;
        }
        interlink_init(&line->interlinks[m], machine, m, &system->pool, &system->hazards);
        system_join_line(system, &line->interlinks[m]);
    }
    for (unsigned p = 1; p < line->count; p++)
        interlink_join(&line->interlinks[machine->line[p - 1]], &line->interlinks[machine->line[p]]);
    return line;
}

void line_free(struct line *line) {
    if (!line)
        return;
    for (unsigned m = 0; m < line->count; m++) {
        if (!line->meshes[m])
            continue;
        system_free(line->meshes[m]);
        interlink_clear(&line->interlinks[m]);
    }
    g_free(line);
}

/* When a mesh has something to do: on its own account, or because of what a neighbour has sent. */
static cycle_t due_of(const struct line *line, unsigned m) {
    const struct system *system = line->meshes[m];
    return MIN(MIN(system->groups[0].due, system->agent.due), interlink_incoming(&line->interlinks[m]));
}

cycle_t line_step(struct line *line, cycle_t now) {
    cycle_t due = CYCLE_NEVER;
    for (unsigned k = 0; k < line->count; k++) {
        unsigned m = line->backwards ? line->count - 1 - k : k;
        if (due_of(line, m) <= now)
            system_step(line->meshes[m], now);
    }
    for (unsigned m = 0; m < line->count; m++)
        due = MIN(due, due_of(line, m));
    return due;
}

void line_wake(struct line *line, unsigned mesh, cycle_t at) {
    struct system_group *group = &line->meshes[mesh]->groups[0];
    group->due = MIN(group->due, at);
}

bool line_quiet(const struct line *line) {
    for (unsigned m = 0; m < line->count; m++)
        if (!system_quiet(line->meshes[m]))
            return false;
    return true;
}

cycle_t line_last_progress(const struct line *line) {
    cycle_t last = 0;
    for (unsigned m = 0; m < line->count; m++)
        last = MAX(last, system_last_progress(line->meshes[m]));
    return last;
}

uint64_t line_hazard_count(const struct line *line, const char *id) {
    uint64_t count = 0;
    for (unsigned m = 0; m < line->count; m++)
        count += hazard_count(&line->meshes[m]->hazards, id);
    return count;
}
