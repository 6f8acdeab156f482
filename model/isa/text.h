/* The readable form of a host's program (docs/assembly.md): instructions staged for nodes, host commands, memory
 * presets, vector kernels. `program:FILE`, `flitsim asm` and `flitsim disasm` go through it.
 *
 * A program is a flat list of items in the order in which the text gives them. asm_program_parse of asm_program_print
 * of a parsed program gives an equal program. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "model/isa/host.h"
#include "model/word.h"

enum asm_kind {
    ASM_INSTRUCTION, /* one staged flit */
    ASM_COMMAND,     /* one host write, poll or done */
    ASM_MEMORY,      /* words preset in memory */
    ASM_MEMORY_FILE, /* the same from a file */
    ASM_KERNEL,      /* a named vector kernel; only `load` puts it into flits */
};

/* How the payload reads; the bits decide nothing, since units share opcode numbers (compute-units §2.3). */
enum asm_form {
    ASM_RAW,
    ASM_CLUSTER,
    ASM_VECTOR,
    ASM_PACKET, /* a payload of noc-and-memory §2.6, named by the type */
};

struct asm_instruction {
    uint8_t node;  /* {y,x} it is meant for; 0: staged without a destination */
    uint32_t slot; /* staging slot, 0..65535 */
    enum asm_form form;
    uint8_t type, txn, last, rsvd; /* of the flit header (noc-and-memory §2.1) */
    struct word256 payload;
};

/* A command for the control-program engine, or, when timed, a write the host itself makes in a given cycle. */
struct asm_command {
    struct control_command command;
    bool timed;
    int64_t cycle; /* of the data beat; negative before the run's cycle 0 */
};

struct asm_memory {
    uint64_t address; /* bytes, 40 bits, a multiple of 32 */
    uint32_t count;
    struct word256 *words;
    char *path; /* ASM_MEMORY_FILE */
};

struct asm_kernel {
    char *name;
    uint16_t pc; /* first word's place in instruction memory */
    uint16_t count;
    uint32_t *words;
};

struct asm_item {
    enum asm_kind kind;
    uint8_t mesh;  /* 0..3 */
    unsigned line; /* in the text it came from, 0 if from elsewhere; not part of its meaning */
    union {
        struct asm_instruction instruction;
        struct asm_command command;
        struct asm_memory memory;
        struct asm_kernel kernel;
    };
};

struct asm_program {
    GArray *items; /* struct asm_item, owned */
};

struct asm_program *asm_program_new(void);
void asm_program_free(struct asm_program *program);
typedef struct asm_program asm_program_owned; /* for g_autoptr */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(asm_program_owned, asm_program_free)

/* Parses NUL-terminated text; `name` stands for the file in errors: FS_ERROR_INPUT "NAME:LINE:COL: what is wrong,
 * expected what". NULL on error. */
struct asm_program *asm_program_parse(const char *text, const char *name, GError **error);
/* Reads and parses a file; FS_ERROR_IO when it cannot be read. */
struct asm_program *asm_program_load(const char *path, GError **error);
/* Appends the canonical text. */
void asm_program_print(const struct asm_program *program, GString *out);
bool asm_program_equal(const struct asm_program *a, const struct asm_program *b);

/* Appends one item; the program takes over what it points to. */
void asm_program_add(struct asm_program *program, const struct asm_item *item);
/* The most readable form that shows every bit of the flit: `preferred` if it does, else ASM_RAW. For disassembly. */
enum asm_form asm_instruction_form(const struct asm_instruction *instruction, enum asm_form preferred);
/* Appends one instruction's line without section and newline. */
void asm_instruction_print(const struct asm_instruction *instruction, GString *out);

static inline unsigned asm_program_count(const struct asm_program *program) {
    return program->items->len;
}

static inline const struct asm_item *asm_program_item(const struct asm_program *program, unsigned index) {
    return &g_array_index(program->items, struct asm_item, index);
}
