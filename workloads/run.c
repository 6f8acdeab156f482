/* Driving a system through a run; see run.h. */
#include "workloads/run.h"

#include <string.h>

enum {
    GO_CYCLE = 0,
    PROGRESS_CHECKS = 4, /* looks at progress in the time that counts as a standstill */
};

static void fact_clear(void *data) {
    g_free(((struct run_fact *)data)->text);
}

static void wait_free(void *data) {
    struct run_wait *wait = data;
    g_free(wait->who);
    g_free(wait->what);
    g_free(wait->held_by);
    g_free(wait);
}

void run_init(struct run *run, struct machine *machine, const struct workload *workload) {
    *run = (struct run){.machine = machine,
                        .workload = workload,
                        .observers = g_ptr_array_new(),
                        .facts = g_array_new(FALSE, TRUE, sizeof(struct run_fact)),
                        .waits = g_ptr_array_new_with_free_func(wait_free)};
    g_array_set_clear_func(run->facts, fact_clear);
}

void run_clear(struct run *run) {
    system_free(run->system);
    if (run->observers)
        g_ptr_array_unref(run->observers);
    if (run->facts)
        g_array_unref(run->facts);
    if (run->waits)
        g_ptr_array_unref(run->waits);
    g_free(run->dead_reason);
    *run = (struct run){0};
}

void run_add_count(struct run *run, const char *key, uint64_t value) {
    struct run_fact fact = {.key = key, .type = FACT_COUNT, .count = value};
    g_array_append_val(run->facts, fact);
}

void run_add_number(struct run *run, const char *key, double value) {
    struct run_fact fact = {.key = key, .type = FACT_NUMBER, .number = value};
    g_array_append_val(run->facts, fact);
}

void run_add_text(struct run *run, const char *key, const char *value) {
    struct run_fact fact = {.key = key, .type = FACT_TEXT, .text = g_strdup(value)};
    g_array_append_val(run->facts, fact);
}

/* ---- the host ---- */

struct round_host {
    struct run_host host;
    struct run *run;
    const struct round *rounds;
    unsigned count, next;
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
    if (host->next > 0 && !system->agent.control.done)
        return CYCLE_NEVER;
    if (host->next == host->count) {
        host->host.finished = true;
        host->host.done_cycle = now;
        return CYCLE_NEVER;
    }
    load_round(system, &host->rounds[host->next++]);
    control_write(&system->agent.control, ENGINE_CONTROL, 1, now);
    return CYCLE_NEVER; /* woken when the engine is done */
}

/* ---- the run ---- */

/* Books every account up to the end of the run, so that the causes of a component add up to its length. */
static void close_accounts(struct run *run, cycle_t end) {
    system_close_accounts(run->system, end);
    run->cycles = end - GO_CYCLE;
    run->snapshot_taken = true;
}

static void declare_dead(struct run *run, cycle_t now, const char *reason) {
    run->dead = true;
    run->dead_cycle = now;
    run->dead_reason = g_strdup(reason);
    if (!run->snapshot_taken)
        close_accounts(run, now + 1);
}

struct watch {
    uint64_t progress;
    cycle_t since, check_at, step;
};

/* True once nothing but polling has happened for engine.standstill_cycles. */
static bool stands_still(struct watch *watch, const struct system *system, uint64_t limit, cycle_t now) {
    if (now < watch->check_at)
        return false;
    uint64_t progress = system_progress(system);
    if (progress != watch->progress) {
        watch->progress = progress;
        watch->since = now;
    }
    watch->check_at = now + watch->step;
    return now - watch->since >= limit;
}

static void let_look(const struct run *run, cycle_t now) {
    for (guint i = 0; i < run->observers->len; i++) {
        struct run_observer *observer = g_ptr_array_index(run->observers, i);
        if (now >= observer->next)
            observer->next = observer->look(observer->self, run->system, now);
    }
}

static void end_look(const struct run *run, cycle_t end) {
    for (guint i = 0; i < run->observers->len; i++) {
        struct run_observer *observer = g_ptr_array_index(run->observers, i);
        observer->finish(observer->self, run->system, end);
    }
}

void run_drive(struct run *run, struct run_host *host, uint64_t expected) {
    struct system *system = run->system;
    uint64_t limit = run->machine->engine.standstill_cycles + run->machine->memory.latency;
    struct watch watch = {.step = MAX(limit / PROGRESS_CHECKS, 1)};
    gint64 began = g_get_monotonic_time();
    cycle_t now = GO_CYCLE, last = GO_CYCLE;
    system->agent.host = host->agent;
    agent_wake(&system->agent, host->agent.due);
    run->expected_signals = expected;
    while (now != CYCLE_NEVER && !run->dead) {
        last = now;
        let_look(run, now);
        cycle_t next = system_step(system, now);
        if (!run->snapshot_taken && expected && system->agent.dispatch.signals == expected)
            close_accounts(run, now + 1);
        if (stands_still(&watch, system, limit, now) && !(host->finished && system_quiet(system)))
            declare_dead(run, now,
                         system_quiet(system) ? "nothing moves but polling" : "nothing can move while work is pending");
        if (system->hazards.stop)
            declare_dead(run, now, "a violation after which the run makes no sense");
        now = next;
    }
    if (!run->dead && !(host->finished && system_quiet(system)))
        declare_dead(run, last, "no event is left while work is pending");
    if (!run->snapshot_taken)
        close_accounts(run, (host->finished ? host->done_cycle : last) + 1);
    run->host_cycles = host->finished ? host->done_cycle - GO_CYCLE : 0;
    run->settled_cycles = last + 1 - GO_CYCLE;
    run->wall_seconds = (double)(g_get_monotonic_time() - began) / 1e6;
    end_look(run, last + 1);
    system->agent.host = (struct agent_host){.due = CYCLE_NEVER};
}

void run_rounds(struct run *run, const struct round *rounds, unsigned count, uint64_t expected) {
    struct round_host host = {.run = run, .rounds = rounds, .count = count};
    host.host.agent = (struct agent_host){.self = &host, .step = host_step, .due = GO_CYCLE};
    run_drive(run, &host.host, expected);
}
