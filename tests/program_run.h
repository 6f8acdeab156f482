/* Small programs on a small machine, for tests: text in the assembler's form (docs/assembly.md) is staged, kicked and
 * run until nothing moves. The machine is four clusters a (1,1), b (2,1), c (1,2), d (2,2) with ports at (0,1), (0,2).
 *
 * A text without host commands is given the usual ones: credit, a kick behind every program, a wait for all signals.
 * Lines "# set: key=value" change the machine, "# cold:" leaves memory unwritten. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "machine_text.h"
#include "model/isa/text.h"
#include "units/cluster/cluster.h"
#include "units/deadlock.h"
#include "units/system.h"

#define PROGRAM_MACHINE                                                                                                \
    "{\"preset\": \"bench\", \"memory\": {\"attachment\": \"per_port\", \"latency\": 1}, \"endpoint\": "               \
    "{\"recv_depth\": 64}, \"cluster\": {\"l1_a\": 512, \"l1_b\": 512, \"tiles\": 512}, \"map\": [\"xxx nul nul "      \
    "xxx\", \"mag mat mat nul\", \"mag mat mat nul\", \"xxx nul nul xxx\"]}"

enum {
    PROGRAM_CREDIT = 30,
    PROGRAM_MEMORY = 1 << 18, /* bytes that hold plausible operand words */
    PROGRAM_LIMIT = 400000,   /* cycles */
};

struct program_run {
    struct machine machine;
    struct system *system;
    GArray *timed; /* of struct asm_command, in order */
    unsigned next;
    cycle_t end; /* last cycle in which anything moved */
    bool ended;  /* nothing left to do: no standstill */
};

/* ---- text ---- */

static inline char *program_complete(const char *text) {
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *out = g_string_new(NULL), *host = g_string_new(NULL);
    unsigned instructions = 0;
    bool open = false, commands = false;
    static const char *const host_words[] = {"write", "poll", "kick", "credit", "wait", "done", "command"};
    for (char **line = lines; *line; line++)
        for (unsigned w = 0; w < G_N_ELEMENTS(host_words); w++)
            commands |= g_str_has_prefix(g_strstrip(*line), host_words[w]);
    for (char **line = lines; *line; line++) {
        bool section = g_str_has_prefix(*line, "program"), memory = g_str_has_prefix(*line, "memory");
        if (section && open && !commands)
            g_string_append(out, "kick\n");
        if (section && !open && !commands)
            g_string_append_printf(out, "write SIG_DONE=0\ncredit %d\n", PROGRAM_CREDIT);
        open |= section;
        instructions += **line && **line != '#' && !section && !memory;
        g_string_append_printf(out, "%s\n", *line);
    }
    if (open && !commands)
        g_string_append_printf(out, "kick\nwait signals=%u\ndone\n", instructions);
    g_string_free(host, TRUE);
    return g_string_free(out, FALSE);
}

/* ---- loading ---- */

static inline void program_fill_memory(struct system *system) {
    g_autofree struct word256 *words = g_new0(struct word256, PROGRAM_MEMORY / WORD_BYTES);
    uint64_t state = 1;
    for (unsigned w = 0; w < PROGRAM_MEMORY / WORD_BYTES; w++) {
        for (unsigned lane = 0; lane < 4; lane++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            words[w].w[lane] = state ^ state >> 33;
        }
        word_set(&words[w], 0, 32, 0x98908880u + w % 8); /* scales near 1 */
    }
    dram_load(&system->dram, 0, words, PROGRAM_MEMORY);
}

static inline void program_load_item(struct program_run *run, const struct asm_item *item, unsigned *command) {
    struct dispatch *dispatch = &run->system->agent.dispatch;
    const struct asm_instruction *flit = &item->instruction;
    switch (item->kind) {
    case ASM_INSTRUCTION: {
        unsigned place = flit->slot % dispatch->staging_flits * STAGED_WORDS + 4;
        dispatch_stage(dispatch, flit->slot, &flit->payload, flit->type, flit->txn, flit->last);
        dispatch->staging[place] |= flit->rsvd;
        if (flit->form == ASM_CLUSTER || flit->form == ASM_VECTOR)
            dispatch_note(dispatch, flit->slot, flit->form == ASM_CLUSTER ? NOTE_FOR_CLUSTER : NOTE_FOR_VECTOR);
        break;
    }
    case ASM_COMMAND:
        if (item->command.timed)
            g_array_append_val(run->timed, item->command);
        else if (*command < run->system->agent.control.room)
            run->system->agent.control.commands[(*command)++] = item->command.command;
        break;
    case ASM_MEMORY:
        dram_load(&run->system->dram, item->memory.address, item->memory.words, item->memory.count * WORD_BYTES);
        break;
    default:
        break;
    }
}

static inline bool program_set(struct json_source *source, const char *text, GError **error) {
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    unsigned index = 0;
    for (char **line = lines; *line; line++)
        if (g_str_has_prefix(*line, "# set: ") &&
            !json_source_set(source, ++index, "machine", g_strstrip(*line + strlen("# set: ")), error))
            return false;
    return true;
}

/* ---- running ---- */

static inline cycle_t program_host(void *self, cycle_t now) {
    struct program_run *run = self;
    if (now == 0)
        control_write(&run->system->agent.control, ENGINE_CONTROL, 1, now);
    if (run->next == run->timed->len)
        return CYCLE_NEVER;
    const struct asm_command *timed = &g_array_index(run->timed, struct asm_command, run->next);
    if ((cycle_t)timed->cycle == now) {
        dispatch_write(&run->system->agent.dispatch, timed->command.address, timed->command.data, now);
        run->next++;
    }
    return run->next < run->timed->len ? (cycle_t)g_array_index(run->timed, struct asm_command, run->next).cycle
                                       : CYCLE_NEVER;
}

static inline void program_open(struct program_run *run, const char *text) {
    g_autoptr(GError) error = NULL;
    struct json_source source;
    *run = (struct program_run){.timed = g_array_new(FALSE, FALSE, sizeof(struct asm_command))};
    json_source_parse(&source, "machine", PROGRAM_MACHINE, strlen(PROGRAM_MACHINE), &error);
    g_assert_no_error(error);
    if (program_set(&source, text, &error))
        config_read_machine(&run->machine, &source, &error);
    json_source_clear(&source);
    g_assert_no_error(error);
    run->system = system_new(&run->machine, &error);
    g_assert_no_error(error);
    if (!strstr(text, "# cold:"))
        program_fill_memory(run->system);
    g_autofree char *complete = program_complete(text);
    struct asm_program *program = asm_program_parse(complete, "program", &error);
    g_assert_no_error(error);
    unsigned command = 0;
    for (unsigned i = 0; i < asm_program_count(program); i++)
        program_load_item(run, asm_program_item(program, i), &command);
    asm_program_free(program);
}

/* Runs until nothing is left, or nothing but polls has happened for long. */
static inline void program_go(struct program_run *run) {
    struct system *system = run->system;
    cycle_t now = 0;
    system->agent.host = (struct agent_host){.self = run, .step = program_host, .due = 0};
    agent_wake(&system->agent, 0);
    while (now != CYCLE_NEVER && now < PROGRAM_LIMIT && !system_standstill(system, now))
        now = system_step(system, now);
    run->end = system_last_progress(system);
    run->ended = now == CYCLE_NEVER && system_quiet(system);
}

static inline void program_close(struct program_run *run) {
    system_free(run->system);
    machine_clear(&run->machine);
    g_array_unref(run->timed);
}

static inline struct cluster *program_cluster(const struct program_run *run, unsigned x, unsigned y) {
    for (unsigned u = 0; u < run->system->endpoint_count; u++)
        if (run->system->endpoints[u].x == x && run->system->endpoints[u].y == y)
            return run->system->endpoints[u].unit;
    g_assert_not_reached();
}
