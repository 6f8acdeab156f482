/* The `program` workload: a hand-written program in the text form of docs/assembly.md, so that any sequence of
 * instructions and host actions can be tried. */
#include <string.h>

#include "model/isa/text.h"
#include "workloads/program.h"
#include "workloads/run.h"
#include "workloads/tensor.h"

struct program_params {
    char *file;
    unsigned credit;
};

/* clang-format off */
static const struct config_key program_keys[] = {
    {"file", KEY_STRING, offsetof(struct program_params, file), NULL, {0, 0}, 1, 4096, "", "The program's text."},
    {"credit", KEY_UINT, offsetof(struct program_params, credit), NULL, {0, 0}, 0, 65535, "flits", "Dispatch credit when the text gives no host commands; 0: the instruction queue's depth."},
};
/* clang-format on */

enum {
    PROGRAM_MESH = 0,
    PHASES = 5, /* the run's cycle 0 stands at a multiple, so that noc.arbiter_phase is the pointer in it */
};

struct timed_write {
    cycle_t at;
    uint64_t address, value;
};

struct program_host {
    struct run_host host;
    struct system *system;
    const char *file; /* for messages, and where memory files are looked for */
    unsigned credit;
    struct timed_write *writes; /* by cycle */
    unsigned write_count, next;
    bool engine; /* a control program is to be started */
    cycle_t engine_at;
    bool started;
};

static bool program_error(const struct program_host *host, GError **error, unsigned line, const char *what) {
    return json_source_error_at(error, host->file, MAX(line, 1), 1, "(program)", "%s", what);
}

/* ---- host ---- */

static void finish_when_done(struct program_host *host, cycle_t now) {
    bool engine_done = !host->engine || (host->started && host->system->agent.control.done);
    if (engine_done && host->next == host->write_count && !host->host.finished) {
        host->host.finished = true;
        host->host.done_cycle = now;
    }
}

static cycle_t program_step(void *self, cycle_t now) {
    struct program_host *host = self;
    if (host->engine && !host->started && now >= host->engine_at) {
        control_write(&host->system->agent.control, ENGINE_CONTROL, 1, now);
        host->started = true;
    }
    while (host->next < host->write_count && host->writes[host->next].at <= now) {
        const struct timed_write *write = &host->writes[host->next++];
        if (write->address >= ENGINE_WINDOW)
            control_write(&host->system->agent.control, (uint32_t)write->address, write->value, now);
        else
            dispatch_write(&host->system->agent.dispatch, (uint32_t)write->address, write->value, now);
    }
    finish_when_done(host, now);
    cycle_t due = host->next < host->write_count ? host->writes[host->next].at : CYCLE_NEVER;
    return host->engine && !host->started ? MIN(due, host->engine_at) : due;
}

/* ---- loading ---- */

static bool load_memory(const struct program_host *host, const struct asm_item *item, GError **error) {
    struct dram *dram = &host->system->dram;
    if (item->kind == ASM_MEMORY) {
        dram_load(dram, item->memory.address, item->memory.words, item->memory.count * sizeof(struct word256));
        return true;
    }
    g_autofree char *bytes = NULL;
    g_autoptr(GError) cause = NULL;
    gsize size;
    g_autofree char *folder = g_path_get_dirname(host->file);
    g_autofree char *path = g_path_is_absolute(item->memory.path) ? g_strdup(item->memory.path)
                                                                  : g_build_filename(folder, item->memory.path, NULL);
    if (!g_file_get_contents(path, &bytes, &size, &cause)) {
        g_autofree char *what =
            g_strdup_printf("%s can't be opened: %s, expected a file of bytes", path, fs_error_reason(cause));
        return program_error(host, error, item->line, what);
    }
    dram_load(dram, item->memory.address, bytes, size);
    return true;
}

static bool stage(struct run *run, const struct program_host *host, const struct asm_item *item, GError **error) {
    const struct asm_instruction *instruction = &item->instruction;
    struct dispatch *dispatch = &run->system->agent.dispatch;
    if (instruction->slot >= dispatch->staging_flits) {
        g_autofree char *what = g_strdup_printf("staging slot %u is beyond the RAM, expected at most %u slots "
                                                "(agent.staging_flits)",
                                                instruction->slot, dispatch->staging_flits);
        return program_error(host, error, item->line, what);
    }
    dispatch_stage(dispatch, instruction->slot, &instruction->payload, instruction->type, instruction->txn,
                   instruction->last);
    if (instruction->form == ASM_CLUSTER || instruction->form == ASM_VECTOR)
        dispatch_note(dispatch, instruction->slot,
                      instruction->form == ASM_CLUSTER ? NOTE_FOR_CLUSTER : NOTE_FOR_VECTOR);
    run->instructions++;
    run->host_writes += STAGED_WORDS;
    return true;
}

static bool add_command(struct run *run, const struct asm_item *item, struct program_host *host, GArray *writes,
                        int64_t base, GError **error) {
    const struct asm_command *command = &item->command;
    struct control *control = &run->system->agent.control;
    if (command->timed) {
        struct timed_write write = {.at = (cycle_t)(command->cycle + base),
                                    .address = command->command.address,
                                    .value = command->command.data};
        g_array_append_val(writes, write);
        run->host_writes++;
        return true;
    }
    if (run->commands >= control->room) {
        g_autofree char *what = g_strdup_printf(
            "is command %" G_GUINT64_FORMAT ", expected at most %u (agent.commands)", run->commands + 1, control->room);
        return program_error(host, error, item->line, what);
    }
    control->commands[run->commands++] = command->command;
    run->host_writes += CONTROL_COMMAND_WORDS;
    host->engine = true;
    return true;
}

/* Cycle 0 of the text in simulated time: late enough for the earliest timed write. */
static int64_t base_cycle(const struct asm_program *program) {
    int64_t earliest = 0;
    for (unsigned i = 0; i < asm_program_count(program); i++) {
        const struct asm_item *item = asm_program_item(program, i);
        if (item->kind == ASM_COMMAND && item->command.timed)
            earliest = MIN(earliest, item->command.cycle);
    }
    return (-earliest + PHASES - 1) / PHASES * PHASES;
}

static void add_plain(struct run *run, uint8_t op, uint64_t address, uint64_t data, uint64_t mask) {
    run->system->agent.control.commands[run->commands++] =
        (struct control_command){.op = op, .address = address, .data = data, .mask = mask};
    run->host_writes += CONTROL_COMMAND_WORDS;
}

/* Without host commands the program is started the way a driver would: one kick a section, then a wait for all. */
static bool default_host(struct run *run, const struct asm_program *program, struct program_host *host,
                         GError **error) {
    unsigned credit = host->credit ? host->credit : run->machine->endpoint.inst_depth;
    const struct asm_instruction *first = NULL;
    unsigned length = 0;
    add_plain(run, CONTROL_WR, AGENT_SIG_DONE, 0, 0);
    add_plain(run, CONTROL_WR, AGENT_PROG_CRED, credit, 0);
    for (unsigned i = 0; i <= asm_program_count(program); i++) {
        const struct asm_item *item = i < asm_program_count(program) ? asm_program_item(program, i) : NULL;
        if (item && item->kind != ASM_INSTRUCTION)
            continue;
        bool joins =
            item && first && item->instruction.node == first->node && item->instruction.slot == first->slot + length;
        if (first && !joins) {
            if (run->commands + 7 > run->system->agent.control.room)
                return program_error(host, error, 1,
                                     "has more sections than the control program has room for, expected "
                                     "host commands of its own");
            add_plain(run, CONTROL_POLL, AGENT_PROG_STAT, 0, 1);
            add_plain(run, CONTROL_WR, AGENT_PROG_DST, first->node, 0);
            add_plain(run, CONTROL_WR, AGENT_PROG_LEN, length, 0);
            add_plain(run, CONTROL_WR, AGENT_PROG_BASE, first->slot, 0);
            add_plain(run, CONTROL_WR, AGENT_PROG_KICK, 1, 0);
        }
        if (!joins) {
            first = item ? &item->instruction : NULL;
            length = 0;
        }
        length++;
    }
    add_plain(run, CONTROL_POLL, AGENT_SIG_DONE, run->instructions & 0xFFFF, 0xFFFF);
    add_plain(run, CONTROL_DONE, 0, 0, 0);
    host->engine = true;
    return true;
}

static int by_cycle(const void *a, const void *b) {
    const struct timed_write *one = a, *two = b;
    return one->at < two->at ? -1 : one->at > two->at;
}

static bool load(struct run *run, const struct asm_program *program, struct program_host *host, GArray *writes,
                 GError **error) {
    int64_t base = base_cycle(program);
    for (unsigned i = 0; i < asm_program_count(program); i++) {
        const struct asm_item *item = asm_program_item(program, i);
        bool fine = true;
        if (item->mesh != PROGRAM_MESH)
            fine = program_error(host, error, item->line, "names a mesh the machine does not have, expected mesh 0");
        else if (item->kind == ASM_MEMORY || item->kind == ASM_MEMORY_FILE)
            fine = load_memory(host, item, error);
        else if (item->kind == ASM_INSTRUCTION)
            fine = stage(run, host, item, error);
        else if (item->kind == ASM_COMMAND)
            fine = add_command(run, item, host, writes, base, error);
        if (!fine)
            return false;
    }
    if (!host->engine && !writes->len && run->instructions && !default_host(run, program, host, error))
        return false;
    if (writes->len)
        qsort(writes->data, writes->len, sizeof(struct timed_write), by_cycle);
    host->writes = (struct timed_write *)(void *)writes->data;
    host->write_count = writes->len;
    host->engine_at = (cycle_t)base;
    run->host_writes += host->engine;
    return true;
}

bool program_execute(struct run *run, const struct asm_program *program, const char *file, unsigned credit,
                     GError **error) {
    struct program_host host = {.system = run->system, .file = file, .credit = credit};
    GArray *writes = g_array_new(FALSE, FALSE, sizeof(struct timed_write));
    bool fine = load(run, program, &host, writes, error);
    if (fine) {
        host.host.agent = (struct agent_host){.self = &host, .step = program_step, .due = 0};
        run_drive(run, &host.host, 0);
        run_add_count(run, "program.instructions", run->instructions);
        run_add_count(run, "program.sig_done", run->system->agent.dispatch.signals_done);
        run_add_count(run, "program.credit", run->system->agent.dispatch.credit);
    }
    g_array_unref(writes);
    return fine;
}

static bool program_run(struct run *run, GError **error) {
    if (!run->machine->port_count)
        return workload_error(run->workload, "file", error, "needs a memory port, expected a machine with one");
    const struct program_params *params = run->workload->params;
    g_autoptr(asm_program_owned) program = asm_program_load(params->file, error);
    if (!program || !(run->system = system_new(run->machine, error)))
        return false;
    run->system->hazards.strict = run->strict;
    return program_execute(run, program, params->file, params->credit, error);
}

static bool program_check(const struct workload *workload, GError **error) {
    const struct program_params *params = workload->params;
    return params->file || workload_error(workload, "file", error, "is missing, expected program:FILE");
}

const struct workload_type workload_program = {
    .id = "program",
    .sentence = "A program in the text form of docs/assembly.md.",
    .keys = program_keys,
    .key_count = G_N_ELEMENTS(program_keys),
    .params_size = sizeof(struct program_params),
    .bare_key = "file",
    .check = program_check,
    .run = program_run,
};
