/* Driving a line of meshes through the steps of a plan; see mesh_gemm.h. The host's own time is not the machine's and
 * costs no cycles: a round is loaded and started in the cycle after the one before it was seen to be done. */
#include "noc/clock.h"
#include "units/cluster/cluster.h"
#include "workloads/mesh_gemm.h"

struct mesh_drive {
    struct mesh_gemm *gemm;
    struct line *line;
    struct mesh_figures *figures;
    guint step;                        /* being run */
    unsigned next[MACHINE_MAX_MESHES]; /* round to start next, by position */
    bool runs[MACHINE_MAX_MESHES];     /* a round is running */
    cycle_t step_began;
    bool finished, ended;
    cycle_t finished_at;
    cycle_t limit;
};

static struct system *system_at(const struct mesh_drive *drive, unsigned position) {
    return drive->line->meshes[drive->gemm->shares[position].mesh];
}

static void start_round(struct mesh_drive *drive, unsigned position, const struct round *round, cycle_t now) {
    struct system *system = system_at(drive, position);
    struct control *control = &system->agent.control;
    for (unsigned f = 0; f < round->flit_count; f++)
        dispatch_stage(&system->agent.dispatch, f, &round->flits[f].payload, FLIT_CU_INST, round->flits[f].txn,
                       round->flits[f].last);
    for (unsigned c = 0; c < round->command_count; c++)
        control->commands[c] = round->commands[c];
    control_write(control, ENGINE_CONTROL, 1, now);
    control->done = false;
    drive->runs[position] = true;
    agent_wake(&system->agent, now);
}

/* The next round of every mesh whose last one is done. True while any is running. */
static bool start_rounds(struct mesh_drive *drive, const struct mesh_step *step, cycle_t now) {
    bool running = false;
    for (unsigned p = 0; p < drive->gemm->count; p++) {
        const struct round_list *list = step->lists[p];
        if (drive->runs[p] && system_at(drive, p)->agent.control.done)
            drive->runs[p] = false;
        if (!drive->runs[p] && list && drive->next[p] < list->count)
            start_round(drive, p, &list->rounds[drive->next[p]++], now);
        running |= drive->runs[p];
    }
    return running;
}

static void end_step(struct mesh_drive *drive, const struct mesh_step *step, cycle_t now) {
    cycle_t *const sums[] = {[MESH_COMPUTES] = &drive->figures->compute_steps,
                             [MESH_SENDS] = &drive->figures->send_cycles,
                             [MESH_DRAINS] = &drive->figures->drain_cycles};
    *sums[step->work] += now - drive->step_began;
    drive->step++;
    drive->step_began = now;
    for (unsigned p = 0; p < drive->gemm->count; p++)
        drive->next[p] = 0;
}

/* The run proper is over with its last signal; what is stepped later is no longer counted. */
static void end_accounts(struct mesh_drive *drive, cycle_t end) {
    drive->ended = true;
    for (unsigned m = 0; m < drive->line->count; m++)
        system_end(drive->line->meshes[m], end);
}

static void note_signals(struct mesh_drive *drive, cycle_t now) {
    uint64_t signals = 0;
    for (unsigned m = 0; m < drive->line->count; m++)
        signals += drive->line->meshes[m]->agent.dispatch.signals;
    if (!drive->ended && signals == drive->gemm->signals)
        end_accounts(drive, now + 1);
}

static cycle_t drive_step(void *self, cycle_t now) {
    struct mesh_drive *drive = self;
    while (drive->step < drive->gemm->steps->len) {
        const struct mesh_step *step = &g_array_index(drive->gemm->steps, struct mesh_step, drive->step);
        if (start_rounds(drive, step, now))
            break;
        end_step(drive, step, now);
    }
    if (!drive->finished && drive->step == drive->gemm->steps->len) {
        drive->finished = true;
        drive->finished_at = now;
    }
    cycle_t due = line_step(drive->line, now);
    note_signals(drive, now);
    for (unsigned p = 0; p < drive->gemm->count; p++)
        if (drive->runs[p] && system_at(drive, p)->agent.control.done)
            return now + 1;
    if (due != CYCLE_NEVER && now - line_last_progress(drive->line) >= drive->limit) {
        drive->figures->dead_cycle = now;
        return CYCLE_NEVER;
    }
    return due;
}

static void add_up(const struct mesh_drive *drive, cycle_t end) {
    struct mesh_figures *figures = drive->figures;
    for (unsigned p = 0; p < drive->gemm->count; p++) {
        const struct system *system = system_at(drive, p);
        figures->mesh_cycles[p] = system->agent.dispatch.last_signal + 1;
        figures->cycles = MAX(figures->cycles, figures->mesh_cycles[p]);
        for (unsigned u = 0; u < system->endpoint_count; u++) {
            if (system->endpoints[u].type != &unit_type_cluster)
                continue;
            uint64_t sweeps = cluster_counts_at(system->endpoints[u].unit, end).sweep_cycles;
            figures->compute_cycles[p] = MAX(figures->compute_cycles[p], sweeps);
            figures->summed_cycles += sweeps;
        }
        for (unsigned l = 0; l < INTERLINK_LINKS; l++) {
            figures->link_beats += system->agent.interlink->links[l].tx_beats;
            figures->link_packets += system->agent.interlink->links[l].tx_packets;
        }
    }
}

void mesh_gemm_run(struct mesh_gemm *gemm, struct line *line, struct mesh_figures *figures) {
    *figures = (struct mesh_figures){0};
    struct mesh_drive drive = {.gemm = gemm,
                               .line = line,
                               .figures = figures,
                               .limit = gemm->machine->engine.standstill_cycles + gemm->machine->memory.latency};
    struct clock *clock = clock_new(&gemm->machine->engine);
    clock_add(clock, "line", drive_step, &drive);
    clock_run(clock, CYCLE_NEVER - 1);
    cycle_t end = clock_now(clock) + 1;
    clock_free(clock);
    figures->dead = !drive.finished || !line_quiet(line);
    if (figures->dead && !figures->dead_cycle)
        figures->dead_cycle = end;
    if (!drive.ended)
        end_accounts(&drive, figures->dead ? MAX(figures->dead_cycle + 1, end) : end);
    for (unsigned m = 0; m < line->count; m++)
        system_close(line->meshes[m]);
    figures->host_cycles = drive.finished_at;
    figures->settled_cycles = end;
    add_up(&drive, end);
}
