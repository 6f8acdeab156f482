/* Programs as a list of items: printing, comparing, freeing. The parser is parse.c. */
#include "model/isa/text.h"

#include <inttypes.h>
#include <string.h>

#include "model/isa/cluster.h"
#include "model/isa/packet.h"
#include "model/isa/vector.h"
#include "model/isa/vector_text.h"
#include "model/isa/wire.h"

static void item_clear(void *data) {
    struct asm_item *item = data;
    if (item->kind == ASM_MEMORY || item->kind == ASM_MEMORY_FILE) {
        g_free(item->memory.words);
        g_free(item->memory.path);
    } else if (item->kind == ASM_KERNEL) {
        g_free(item->kernel.name);
        g_free(item->kernel.words);
    }
}

struct asm_program *asm_program_new(void) {
    struct asm_program *program = g_new0(struct asm_program, 1);
    program->items = g_array_new(FALSE, FALSE, sizeof(struct asm_item));
    g_array_set_clear_func(program->items, item_clear);
    return program;
}

void asm_program_free(struct asm_program *program) {
    if (!program)
        return;
    g_array_unref(program->items);
    g_free(program);
}

void asm_program_add(struct asm_program *program, const struct asm_item *item) {
    g_array_append_val(program->items, *item);
}

static bool words_equal(const void *a, const void *b, size_t bytes) {
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static bool instruction_equal(const struct asm_instruction *a, const struct asm_instruction *b) {
    return a->node == b->node && a->slot == b->slot && a->form == b->form && a->type == b->type && a->txn == b->txn &&
           a->last == b->last && a->rsvd == b->rsvd && words_equal(&a->payload, &b->payload, sizeof a->payload);
}

static bool command_equal(const struct asm_command *a, const struct asm_command *b) {
    return a->command.op == b->command.op && a->command.address == b->command.address &&
           a->command.data == b->command.data && a->command.mask == b->command.mask && a->timed == b->timed &&
           (!a->timed || a->cycle == b->cycle);
}

static bool item_equal(const struct asm_item *a, const struct asm_item *b) {
    if (a->kind != b->kind || a->mesh != b->mesh)
        return false;
    switch (a->kind) {
    case ASM_INSTRUCTION:
        return instruction_equal(&a->instruction, &b->instruction);
    case ASM_COMMAND:
        return command_equal(&a->command, &b->command);
    case ASM_KERNEL:
        return strcmp(a->kernel.name, b->kernel.name) == 0 && a->kernel.pc == b->kernel.pc &&
               a->kernel.count == b->kernel.count &&
               words_equal(a->kernel.words, b->kernel.words, a->kernel.count * sizeof(uint32_t));
    default:
        return a->memory.address == b->memory.address && a->memory.count == b->memory.count &&
               g_strcmp0(a->memory.path, b->memory.path) == 0 &&
               words_equal(a->memory.words, b->memory.words, a->memory.count * sizeof(struct word256));
    }
}

bool asm_program_equal(const struct asm_program *a, const struct asm_program *b) {
    if (a->items->len != b->items->len)
        return false;
    for (unsigned i = 0; i < a->items->len; i++)
        if (!item_equal(asm_program_item(a, i), asm_program_item(b, i)))
            return false;
    return true;
}

static bool vector_exact(const struct word256 *payload) {
    struct vector_envelope envelope;
    struct word256 again;
    vector_envelope_decode(payload, &envelope);
    return envelope.op >= VECTOR_IMEM && envelope.op <= VECTOR_RUN && vector_envelope_encode(&envelope, &again, NULL) &&
           words_equal(&again, payload, sizeof again);
}

static bool cluster_exact(const struct word256 *payload) {
    struct cluster_inst inst;
    struct word256 again;
    cluster_inst_decode(payload, &inst);
    return cluster_inst_encode(&inst, &again, NULL) && words_equal(&again, payload, sizeof again);
}

enum asm_form asm_instruction_form(const struct asm_instruction *instruction, enum asm_form preferred) {
    bool unit = instruction->type == FLIT_CU_INST;
    bool exact = (preferred == ASM_CLUSTER && unit && cluster_exact(&instruction->payload)) ||
                 (preferred == ASM_VECTOR && unit && vector_exact(&instruction->payload)) ||
                 (preferred == ASM_PACKET && packet_exact(instruction->type, &instruction->payload));
    return exact ? preferred : ASM_RAW;
}

static void print_raw(const struct asm_instruction *instruction, GString *out) {
    char hex[WORD_HEX + 1];
    word_to_hex(&instruction->payload, hex);
    g_string_append_printf(out, "raw 0x%s", hex);
    if (instruction->type != FLIT_CU_INST)
        g_string_append_printf(out, " type=%s", flit_type_name(instruction->type));
}

static void print_vector(const struct asm_instruction *instruction, GString *out) {
    struct vector_envelope envelope;
    vector_envelope_decode(&instruction->payload, &envelope);
    vector_envelope_print(&envelope, out);
}

static void print_cluster(const struct asm_instruction *instruction, GString *out) {
    struct cluster_inst inst;
    cluster_inst_decode(&instruction->payload, &inst);
    cluster_inst_print(&inst, out);
}

static void print_packet(const struct asm_instruction *instruction, GString *out) {
    packet_print(instruction->type, &instruction->payload, out);
}

static void print_header(const struct asm_instruction *instruction, GString *out) {
    if (instruction->txn)
        g_string_append_printf(out, " txn=%u", instruction->txn);
    if (instruction->rsvd)
        g_string_append_printf(out, " rsvd=%u", instruction->rsvd);
    if (instruction->last)
        g_string_append(out, " last");
}

void asm_instruction_print(const struct asm_instruction *instruction, GString *out) {
    static void (*const printers[])(const struct asm_instruction *, GString *) = {
        [ASM_RAW] = print_raw, [ASM_CLUSTER] = print_cluster, [ASM_VECTOR] = print_vector, [ASM_PACKET] = print_packet};
    printers[asm_instruction_form(instruction, instruction->form)](instruction, out);
    print_header(instruction, out);
}

/* Section, mesh and slot as the reader of the printed text will have them. */
struct print_state {
    int node;     /* -1: no section yet */
    int value_pc; /* where the word is that a vseti just printed takes as its value, -1 if none */
    uint32_t next_slot;
    uint8_t mesh;
};

static void print_section(const struct asm_instruction *instruction, struct print_state *state, GString *out) {
    if (state->node != instruction->node || state->next_slot != instruction->slot) {
        if (instruction->node)
            g_string_append_printf(out, "program (%u,%u)", instruction->node & 15, instruction->node >> 4);
        else
            g_string_append(out, "stage");
        g_string_append_printf(out, " slot=%" PRIu32 "\n", instruction->slot);
    }
    state->node = instruction->node;
    state->next_slot = instruction->slot + 1;
}

/* The word after a vseti is a number, whatever instruction it would be. */
static void print_in_sequence(const struct asm_instruction *instruction, struct print_state *state, GString *out) {
    struct vector_envelope envelope = {0};
    if (asm_instruction_form(instruction, instruction->form) == ASM_VECTOR)
        vector_envelope_decode(&instruction->payload, &envelope);
    if (envelope.op == VECTOR_IMEM && envelope.pc == state->value_pc) {
        g_string_append_printf(out, "imem pc=%u .word 0x%" PRIx32, envelope.pc, envelope.word);
        print_header(instruction, out);
        state->value_pc = -1;
        return;
    }
    bool takes_value = envelope.op == VECTOR_IMEM && envelope.word >> 27 == VECTOR_SETI;
    state->value_pc = takes_value ? envelope.pc + 1 : -1;
    asm_instruction_print(instruction, out);
}

static void print_memory(const struct asm_memory *memory, GString *out) {
    g_string_append_printf(out, "memory 0x%" PRIx64, memory->address);
    if (memory->path) {
        g_string_append_printf(out, " file \"%s\"\n", memory->path);
        return;
    }
    g_string_append_c(out, ':');
    for (uint32_t i = 0; i < memory->count; i++) {
        char hex[WORD_HEX + 1];
        word_to_hex(&memory->words[i], hex);
        g_string_append_printf(out, " %s", hex);
    }
    g_string_append_c(out, '\n');
}

static void print_item(const struct asm_item *item, struct print_state *state, GString *out) {
    if (item->mesh != state->mesh)
        g_string_append_printf(out, "mesh %u\n", item->mesh);
    if (item->mesh != state->mesh)
        *state = (struct print_state){.node = -1, .value_pc = -1, .mesh = item->mesh};
    switch (item->kind) {
    case ASM_INSTRUCTION:
        print_section(&item->instruction, state, out);
        g_string_append(out, "    ");
        print_in_sequence(&item->instruction, state, out);
        g_string_append_c(out, '\n');
        break;
    case ASM_COMMAND:
        control_command_print(&item->command.command, out);
        if (item->command.timed)
            g_string_append_printf(out, " at %" PRId64, item->command.cycle);
        g_string_append_c(out, '\n');
        break;
    case ASM_KERNEL:
        g_string_append_printf(out, ".kernel %s pc=%u\n", item->kernel.name, item->kernel.pc);
        vector_words_print(item->kernel.words, item->kernel.count, out);
        g_string_append(out, ".end\n");
        break;
    default:
        print_memory(&item->memory, out);
    }
}

void asm_program_print(const struct asm_program *program, GString *out) {
    struct print_state state = {.node = -1, .value_pc = -1};
    for (unsigned i = 0; i < program->items->len; i++)
        print_item(asm_program_item(program, i), &state, out);
}
