/* Driving a system through a run; see run.h. */
#include "workloads/run.h"

#include "noc/clock.h"
#include "units/check.h"

#include <string.h>

enum {
    GO_CYCLE = 0,
    BARRIER_POLL = 64,   /* cycles between two looks of a host that waits for memory (workloads §3.5) */
    PROGRESS_CHECKS = 4, /* looks at progress in the time that counts as a standstill */
};

static void fact_clear(void *data) {
    struct run_fact *fact = data;
    g_free(fact->text);
    g_free(fact->series);
}

void run_init(struct run *run, struct machine *machine, const struct workload *workload) {
    *run = (struct run){.machine = machine,
                        .workload = workload,
                        .observers = g_ptr_array_new(),
                        .facts = g_array_new(FALSE, TRUE, sizeof(struct run_fact)),
                        .round_cycles = g_array_new(FALSE, FALSE, sizeof(cycle_t))};
    g_array_set_clear_func(run->facts, fact_clear);
}

void run_clear(struct run *run) {
    profile_free(run->profile);
    system_free(run->system);
    line_free(run->line);
    if (run->observers)
        g_ptr_array_unref(run->observers);
    if (run->traffic)
        traffic_result_clear(run->traffic);
    g_free(run->traffic);
    if (run->facts)
        g_array_unref(run->facts);
    if (run->round_cycles)
        g_array_unref(run->round_cycles);
    deadlock_report_clear(&run->deadlock);
    g_free(run->dead_reason);
    *run = (struct run){0};
}

void run_observe(struct run *run, struct run_observer *observer) {
    if (!run->observers->len)
        run->asked_grouping = run->machine->engine.routers_per_actor;
    run->machine->engine.routers_per_actor = run->machine->nx * run->machine->ny;
    g_ptr_array_add(run->observers, observer);
}

void run_add_count(struct run *run, const char *key, uint64_t value) {
    struct run_fact fact = {.key = key, .type = FACT_COUNT, .count = value};
    g_array_append_val(run->facts, fact);
}

void run_add_number(struct run *run, const char *key, double value) {
    struct run_fact fact = {.key = key, .type = FACT_NUMBER, .number = value};
    g_array_append_val(run->facts, fact);
}

void run_add_flag(struct run *run, const char *key, bool value) {
    struct run_fact fact = {.key = key, .type = FACT_FLAG, .count = value};
    g_array_append_val(run->facts, fact);
}

void run_add_text(struct run *run, const char *key, const char *value) {
    struct run_fact fact = {.key = key, .type = FACT_TEXT, .text = g_strdup(value)};
    g_array_append_val(run->facts, fact);
}

void run_add_series(struct run *run, const char *key, const uint64_t *values, unsigned count) {
    struct run_fact fact = {
        .key = key, .type = FACT_SERIES, .series = g_memdup2(values, count * sizeof *values), .value_count = count};
    g_array_append_val(run->facts, fact);
}

/* ---- the host ---- */

struct round_host {
    struct run_host host;
    struct run *run;
    const struct round *rounds;
    unsigned count, next;
    bool running;
    cycle_t go;
};

/* Loads a round's flits and commands; the host's own time is not the machine's and costs no cycles. */
static void load_round(struct system *system, const struct round *round) {
    struct dispatch *dispatch = &system->agent.dispatch;
    for (unsigned f = 0; f < round->flit_count; f++)
        dispatch_stage(dispatch, f, &round->flits[f].payload, FLIT_CU_INST, round->flits[f].txn, round->flits[f].last);
    for (unsigned c = 0; c < round->command_count; c++)
        system->agent.control.commands[c] = round->commands[c];
    if (round->command_count < system->agent.control.room)
        system->agent.control.commands[round->command_count] = (struct control_command){0};
}

static cycle_t host_step(void *self, cycle_t now) {
    struct round_host *host = self;
    struct system *system = host->run->system;
    if (host->running) {
        if (!system->agent.control.done)
            return CYCLE_NEVER;
        cycle_t cycles = now - host->go;
        g_array_append_val(host->run->round_cycles, cycles);
        host->running = false;
    }
    if (host->next == host->count) {
        host->host.finished = true;
        host->host.done_cycle = now;
        return CYCLE_NEVER;
    }
    const struct round *round = &host->rounds[host->next];
    if (round->before.writes > system->dram.writes)
        return now + BARRIER_POLL;
    if (round->before.act)
        round->before.act(round->before.self);
    load_round(system, round);
    host->next++;
    host->running = true;
    host->go = now;
    control_write(&system->agent.control, ENGINE_CONTROL, 1, now);
    return CYCLE_NEVER; /* woken when the engine is done */
}

/* ---- the run ---- */

/* What the clock's actors share: the groups of the system, and a watch that tells a standstill from a long wait. */
struct drive {
    struct run *run;
    struct run_host *host;
    struct clock *clock;
    uint64_t expected;
    cycle_t limit, every; /* standstill after `limit` cycles, looked at every `every` */
    bool ended;           /* by the watch */
    cycle_t stopped_at;
};

static void declare_dead(struct run *run, cycle_t now, const char *reason) {
    run->dead = true;
    run->dead_cycle = now;
    run->dead_reason = g_strdup(reason);
}

static void let_look(const struct run *run, cycle_t now) {
    for (guint i = 0; i < run->observers->len; i++) {
        struct run_observer *observer = g_ptr_array_index(run->observers, i);
        if (now >= observer->next)
            observer->next = observer->look(observer->self, run->system, now);
    }
}

/* Group 0: the agent's. Its signals say when the run proper is over. */
static cycle_t agent_group_step(void *self, cycle_t now) {
    struct drive *drive = self;
    struct system *system = drive->run->system;
    let_look(drive->run, now);
    cycle_t due = system_group_step(&system->groups[0], now);
    if (system->end == CYCLE_NEVER && drive->expected && system->agent.dispatch.signals == drive->expected)
        system_end(system, now + 1);
    return due;
}

/* Due every so often: ends a run in which nothing but polling happened for the limit, or that must not go on. */
static cycle_t watch_step(void *self, cycle_t now) {
    struct drive *drive = self;
    struct system *system = drive->run->system;
    bool idle = true;
    for (unsigned g = 0; g < system->group_count; g++)
        idle &= system->groups[g].due == CYCLE_NEVER;
    if (idle)
        return CYCLE_NEVER;
    if (now - system_last_progress(system) >= drive->limit || system->hazards.stop) {
        drive->ended = true;
        drive->stopped_at = now;
        clock_stop(drive->clock, now);
        return CYCLE_NEVER;
    }
    return now + drive->every;
}

static void judge(struct drive *drive, cycle_t last) {
    struct run *run = drive->run;
    struct system *system = run->system;
    bool quiet = system_quiet(system);
    mesh_settle(&system->mesh);
    if (system->hazards.stop)
        declare_dead(run, last, "a violation after which the run makes no sense");
    else if (drive->ended)
        declare_dead(run, drive->stopped_at,
                     quiet ? "nothing moves but polling" : "nothing can move while work is pending");
    else if (!drive->host->finished || !quiet)
        declare_dead(run, last, "no event is left while work is pending");
    if (run->dead)
        deadlock_report_init(&run->deadlock, system, system_last_progress(system), run->dead_cycle);
    else if (!system_balances(system, last))
        declare_dead(run, last, "flits, signals or acknowledgements do not balance");
    if (system->end == CYCLE_NEVER)
        system_end(system, run->dead ? run->dead_cycle + 1 : drive->host->done_cycle + 1);
    system_close(system);
    run->cycles = system->end - GO_CYCLE;
}

static void end_look(const struct run *run, cycle_t end) {
    for (guint i = 0; i < run->observers->len; i++) {
        struct run_observer *observer = g_ptr_array_index(run->observers, i);
        observer->finish(observer->self, run->system, end);
    }
}

void run_drive(struct run *run, struct run_host *host, uint64_t expected) {
    struct system *system = run->system;
    cycle_t limit = standstill_limit(run->machine), last = GO_CYCLE;
    struct drive drive = {.run = run,
                          .host = host,
                          .clock = clock_new(&run->machine->engine),
                          .expected = expected,
                          .limit = limit,
                          .every = MAX(limit / PROGRESS_CHECKS, 1)};
    gint64 began = g_get_monotonic_time();
    if (run->profiled)
        run->profile = profile_new(system);
    g_assert(!run->observers->len || system->group_count == 1);
    run->observed = true;
    if (run->observers->len)
        run->machine->engine.routers_per_actor = run->asked_grouping;
    path_watch(system->agent.path, run->memory_watch);
    system->agent.host = host->agent;
    agent_wake(&system->agent, host->agent.due);
    for (unsigned g = 0; g < system->group_count; g++) {
        bool first = g == 0;
        void *self = first ? (void *)&drive : (void *)&system->groups[g];
        system->mesh.parts[g].actor =
            clock_add(drive.clock, "group", first ? agent_group_step : system_group_step, self);
    }
    clock_add(drive.clock, "watch", watch_step, &drive);
    clock_run(drive.clock, CYCLE_NEVER - 1);
    for (unsigned g = 0; g < system->group_count; g++)
        last = MAX(last, system->groups[g].stepped);
    if (run->profile)
        profile_end(run->profile);
    judge(&drive, last);
    end_look(run, last + 1);
    run->expected_signals = expected;
    run->host_cycles = host->finished ? host->done_cycle - GO_CYCLE : 0;
    run->settled_cycles = last + 1 - GO_CYCLE;
    run->wall_seconds = (double)(g_get_monotonic_time() - began) / 1e6;
    system->agent.host = (struct agent_host){.due = CYCLE_NEVER};
    clock_free(drive.clock);
}

void run_rounds(struct run *run, const struct round *rounds, unsigned count, uint64_t expected) {
    struct round_host host = {.run = run, .rounds = rounds, .count = count};
    host.host.agent = (struct agent_host){.self = &host, .step = host_step, .due = GO_CYCLE};
    run_drive(run, &host.host, expected);
}
