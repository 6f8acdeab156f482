/* The parser of the assembly text (docs/assembly.md). One statement a line: a table of keywords leads to a function
 * each. */
#include <inttypes.h>
#include <string.h>

#include "model/flit.h"
#include "model/isa/cluster.h"
#include "model/isa/lex.h"
#include "model/isa/packet.h"
#include "model/isa/text.h"
#include "model/isa/vector.h"
#include "model/isa/vector_text.h"
#include "model/isa/wire.h"

enum {
    NO_SECTION = -1,
    SLOT_LIMIT = 65536,
};

/* A VLOOP whose label is not known yet. */
struct fixup {
    char *label;
    unsigned word, line, column;
};

struct open_kernel {
    bool open;
    unsigned line; /* of .kernel */
    char *name;
    uint16_t pc;
    GArray *words;      /* uint32_t */
    GHashTable *labels; /* name to word index */
    GArray *fixups;     /* struct fixup */
};

struct parser {
    struct asm_program *program;
    const char *file;
    uint8_t mesh;
    int node; /* of the section, or NO_SECTION */
    uint32_t next_slot;
    uint32_t first_unkicked;
    int64_t known[3]; /* what the control program last wrote to PROG_DST, PROG_LEN, PROG_BASE; -1 unknown */
    struct open_kernel kernel;
};

typedef bool (*statement)(struct parser *parser, struct asm_line *line, GError **error);

static const enum agent_offset kick_registers[3] = {AGENT_PROG_DST, AGENT_PROG_LEN, AGENT_PROG_BASE};

/* ---- pieces of lines ---- */

static bool number_at(const struct asm_line *line, unsigned at, const char *text, uint64_t most, uint64_t *value,
                      GError **error) {
    if (isa_number(text, value, NULL) && *value <= most)
        return true;
    return asm_error(line, at, error, "'%s' is not valid here, expected a number 0..%" PRIu64, text, most);
}

static bool end_of_line(const struct asm_line *line, unsigned at, GError **error) {
    return at >= line->count ||
           asm_error(line, at, error, "'%s' follows a complete statement, expected the end of the line",
                     line->tokens[at].text);
}

static const char *token_at(const struct asm_line *line, unsigned at) {
    return at < line->count ? line->tokens[at].text : "";
}

static void drop_token(struct asm_line *line, unsigned at) {
    g_free(line->tokens[at].text);
    memmove(&line->tokens[at], &line->tokens[at + 1], (line->count - at - 1) * sizeof *line->tokens);
    line->count--;
}

/* Reads tokens from `at` to the end of the line as fields of `object`. `seen`, if given, gets bit i for layout row i.
 */
static bool fields_from(const struct asm_line *line, unsigned at, const struct isa_layout *layout, void *object,
                        uint32_t *seen, GError **error) {
    for (; at < line->count; at++) {
        const char *text = line->tokens[at].text, *equals = strchr(text, '=');
        g_autofree char *key = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
        if (!layout_parse(layout, object, key, equals ? equals + 1 : NULL, error))
            return asm_error_at(line, at, error);
        const struct isa_field *row = layout_find(layout, key);
        if (seen && row)
            *seen |= UINT32_C(1) << (row - layout->fields);
    }
    return true;
}

/* ---- instructions ---- */

static const struct isa_field header_fields[] = {
    ISA_FIELD(asm_instruction, type, "type", 0, 4, FIELD_NUMBER),
    ISA_FIELD(asm_instruction, txn, "txn", 4, 8, FIELD_NUMBER),
    ISA_FIELD(asm_instruction, last, "last", 12, 1, FIELD_FLAG),
    ISA_FIELD(asm_instruction, rsvd, "rsvd", 13, 3, FIELD_NUMBER),
};
static const struct isa_layout header = ISA_LAYOUT("flit header", asm_instruction, header_fields);

/* Takes txn=, last, rsvd= and type= out of the line; *typed says whether there was a type. */
static bool take_header(struct asm_line *line, struct asm_instruction *instruction, bool *typed, GError **error) {
    *typed = false;
    for (unsigned at = 1; at < line->count;) {
        const char *text = line->tokens[at].text, *equals = strchr(text, '=');
        g_autofree char *key = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
        if (!layout_find(&header, key)) {
            at++;
            continue;
        }
        int type = strcmp(key, "type") == 0 && equals ? flit_type_find(equals + 1) : -1;
        *typed |= strcmp(key, "type") == 0;
        if (type >= 0)
            instruction->type = (uint8_t)type;
        else if (!layout_parse(&header, instruction, key, equals ? equals + 1 : NULL, error))
            return asm_error_at(line, at, error);
        drop_token(line, at);
    }
    return true;
}

static bool need_section(const struct parser *parser, const struct asm_line *line, unsigned count, GError **error) {
    if (parser->node == NO_SECTION)
        return asm_error(line, 0, error, "'%s' is outside a section, expected 'program (x,y)' or 'stage' before it",
                         line->tokens[0].text);
    if (parser->next_slot + count > SLOT_LIMIT)
        return asm_error(line, 0, error, "the instruction needs staging slot %" PRIu32 ", expected at most %d",
                         parser->next_slot + count - 1, SLOT_LIMIT - 1);
    return true;
}

static void add_instruction(struct parser *parser, const struct asm_line *line,
                            const struct asm_instruction *instruction) {
    struct asm_item item = {
        .kind = ASM_INSTRUCTION, .mesh = parser->mesh, .line = line->number, .instruction = *instruction};
    item.instruction.node = (uint8_t)parser->node;
    item.instruction.slot = parser->next_slot++;
    asm_program_add(parser->program, &item);
}

/* What every instruction statement starts with; type is CU_INST unless the line says otherwise. */
static bool begin(const struct parser *parser, struct asm_line *line, struct asm_instruction *instruction, bool *typed,
                  GError **error) {
    *instruction = (struct asm_instruction){.type = FLIT_CU_INST};
    return need_section(parser, line, 1, error) && take_header(line, instruction, typed, error);
}

static bool refuse_type(const struct asm_line *line, bool typed, GError **error) {
    return !typed ||
           asm_error(line, 0, error, "type= is only for raw payloads, expected '%s' without it", line->tokens[0].text);
}

static bool parse_cluster(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_instruction instruction;
    bool typed;
    unsigned op = CLUSTER_NOP;
    if (!begin(parser, line, &instruction, &typed, error) || !refuse_type(line, typed, error))
        return false;
    for (unsigned i = CLUSTER_FILL; i <= CLUSTER_DRAIN; i++)
        if (strcmp(line->tokens[0].text, cluster_op_name(i)) == 0)
            op = i;
    struct cluster_inst inst = cluster_inst_default(op);
    if (!fields_from(line, 1, &cluster_layout, &inst, NULL, error))
        return false;
    bool named = inst.op >= CLUSTER_FILL && inst.op <= CLUSTER_DRAIN;
    if (op == CLUSTER_NOP ? named : inst.op != op)
        return asm_error(line, 0, error, "op=%u contradicts '%s', expected op= only on a nop, 0 or 4..15", inst.op,
                         line->tokens[0].text);
    instruction.form = ASM_CLUSTER;
    if (!cluster_inst_encode(&inst, &instruction.payload, error))
        return asm_error_at(line, 0, error);
    add_instruction(parser, line, &instruction);
    return true;
}

static bool parse_raw(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_instruction instruction;
    bool typed;
    if (!begin(parser, line, &instruction, &typed, error))
        return false;
    const char *text = token_at(line, 1);
    text += g_str_has_prefix(text, "0x") ? 2 : 0;
    if (!word_from_hex(text, &instruction.payload, error))
        return asm_error_at(line, 1, error);
    if (!end_of_line(line, 2, error))
        return false;
    add_instruction(parser, line, &instruction);
    return true;
}

static bool parse_packet(struct parser *parser, struct asm_line *line, GError **error) {
    _Alignas(uint64_t) char object[ISA_LAYOUT_MAX_BYTES] = {0};
    struct asm_instruction instruction;
    bool typed;
    if (!begin(parser, line, &instruction, &typed, error) || !refuse_type(line, typed, error))
        return false;
    const struct isa_layout *layout = packet_find(line->tokens[0].text, &instruction.type);
    instruction.form = ASM_PACKET;
    if (!fields_from(line, 1, layout, object, NULL, error))
        return false;
    if (!layout_encode(layout, object, &instruction.payload, error))
        return asm_error_at(line, 0, error);
    add_instruction(parser, line, &instruction);
    return true;
}

static bool add_envelope(struct parser *parser, const struct asm_line *line, struct asm_instruction *instruction,
                         const struct vector_envelope *envelope, GError **error) {
    instruction->form = ASM_VECTOR;
    if (!vector_envelope_encode(envelope, &instruction->payload, error))
        return asm_error_at(line, 0, error);
    add_instruction(parser, line, instruction);
    return true;
}

static bool pc_at(const struct asm_line *line, unsigned at, uint16_t *pc, GError **error) {
    uint64_t value;
    const char *text = token_at(line, at);
    if (!g_str_has_prefix(text, "pc="))
        return asm_error(line, at, error, "'%s' is not valid here, expected pc=0..%d", text, VECTOR_IMEM_WORDS - 1);
    if (!number_at(line, at, text + 3, VECTOR_IMEM_WORDS - 1, &value, error))
        return false;
    *pc = (uint16_t)value;
    return true;
}

static bool parse_imem(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_instruction instruction;
    struct vector_envelope envelope = {.op = VECTOR_IMEM};
    bool typed;
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autofree char *label = NULL;
    if (!begin(parser, line, &instruction, &typed, error) || !refuse_type(line, typed, error) ||
        !pc_at(line, 1, &envelope.pc, error) || !vector_text_parse(line, 2, words, &label, error))
        return false;
    if (label || words->len != 1)
        return asm_error(line, 2, error, "imem carries one word, expected %s here",
                         label ? "a body length, not a label," : "a vseti without its value");
    envelope.word = g_array_index(words, uint32_t, 0);
    return add_envelope(parser, line, &instruction, &envelope, error);
}

static const struct asm_kernel *find_kernel(const struct parser *parser, const char *name) {
    for (unsigned i = 0; i < asm_program_count(parser->program); i++) {
        const struct asm_item *item = asm_program_item(parser->program, i);
        if (item->kind == ASM_KERNEL && strcmp(item->kernel.name, name) == 0)
            return &item->kernel;
    }
    return NULL;
}

static bool parse_run(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_instruction instruction;
    struct vector_envelope envelope = {.op = VECTOR_RUN};
    bool typed;
    if (!begin(parser, line, &instruction, &typed, error) || !refuse_type(line, typed, error))
        return false;
    const struct asm_kernel *kernel = find_kernel(parser, token_at(line, 1));
    if (kernel)
        envelope.pc = kernel->pc;
    else if (!pc_at(line, 1, &envelope.pc, error))
        return false;
    return end_of_line(line, 2, error) && add_envelope(parser, line, &instruction, &envelope, error);
}

static bool parse_load(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_instruction instruction;
    bool typed;
    if (!begin(parser, line, &instruction, &typed, error) || !refuse_type(line, typed, error))
        return false;
    const struct asm_kernel *kernel = find_kernel(parser, token_at(line, 1));
    if (!kernel)
        return asm_error(line, 1, error, "there is no kernel '%s', expected a .kernel block of that name before",
                         token_at(line, 1));
    if (!end_of_line(line, 2, error) || !need_section(parser, line, kernel->count, error))
        return false;
    uint8_t last = instruction.last;
    struct asm_kernel copy = *kernel; /* the list of items moves as it grows; the words stay */
    for (uint16_t i = 0; i < copy.count; i++) {
        struct vector_envelope envelope = {.op = VECTOR_IMEM, .pc = (uint16_t)(copy.pc + i), .word = copy.words[i]};
        instruction.last = last && i + 1 == copy.count;
        if (!add_envelope(parser, line, &instruction, &envelope, error))
            return false;
    }
    return true;
}

/* Everything a desc line can say. */
struct desc_text {
    uint64_t base, value;
    int32_t stride;
    uint16_t bound;
    uint8_t dim, field;
};

static const struct isa_field desc_rows[] = {
    ISA_FIELD(desc_text, base, "base", 0, 40, FIELD_HEX),
    ISA_FIELD(desc_text, dim, "dim", 0, 2, FIELD_NUMBER),
    ISA_FIELD(desc_text, stride, "stride", 0, 18, FIELD_SIGNED),
    ISA_FIELD(desc_text, bound, "bound", 0, 16, FIELD_NUMBER),
    ISA_FIELD(desc_text, field, "field", 0, 3, FIELD_NUMBER),
    ISA_FIELD(desc_text, value, "value", 0, 40, FIELD_HEX),
};
static const struct isa_layout desc_layout = ISA_LAYOUT("desc", desc_text, desc_rows);

enum {
    DESC_BASE = 1,
    DESC_DIM = 2 + 4 + 8, /* dim, stride and bound */
    DESC_FIELD = 16 + 32,
};

static bool parse_desc(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_instruction instruction;
    struct vector_envelope envelope = {.op = VECTOR_DESC};
    struct desc_text text = {0};
    uint32_t seen = 0;
    bool typed;
    if (!begin(parser, line, &instruction, &typed, error) || !refuse_type(line, typed, error))
        return false;
    const char *name = token_at(line, 1);
    if (name[0] != 'a' || name[1] < '0' || name[1] > '7' || name[2] != '\0')
        return asm_error(line, 1, error, "'%s' is not valid here, expected an address descriptor a0..a7", name);
    if (!fields_from(line, 2, &desc_layout, &text, &seen, error))
        return false;
    if (seen != DESC_BASE && seen != DESC_DIM && seen != DESC_FIELD)
        return asm_error(line, 2, error,
                         "desc is not complete, expected base=, or dim= stride= bound=, or field= value=");
    envelope.descriptor = (uint8_t)(name[1] - '0');
    envelope.field = seen == DESC_DIM ? text.dim + 1 : text.field;
    envelope.value = seen == DESC_BASE ? text.base : text.value;
    if (seen == DESC_DIM && !vector_dimension_encode(text.stride, text.bound, &envelope.value, error))
        return asm_error_at(line, 2, error);
    return add_envelope(parser, line, &instruction, &envelope, error);
}

/* ---- sections ---- */

static bool section_slot(struct parser *parser, const struct asm_line *line, unsigned at, GError **error) {
    uint64_t slot = parser->next_slot;
    const char *text = token_at(line, at);
    if (g_str_has_prefix(text, "slot=") && !number_at(line, at, text + 5, SLOT_LIMIT - 1, &slot, error))
        return false;
    if (!end_of_line(line, g_str_has_prefix(text, "slot=") ? at + 1 : at, error))
        return false;
    parser->next_slot = parser->first_unkicked = (uint32_t)slot;
    return true;
}

static bool node_error(const struct asm_line *line, unsigned at, GError **error) {
    return asm_error(line, at, error, "'%s' is not a node, expected (x,y) with coordinates 0..15 other than (0,0)",
                     token_at(line, at));
}

/* program (x,y), program node=(x,y), at (x,y), at x,y */
static bool parse_section(struct parser *parser, struct asm_line *line, GError **error) {
    const char *text = token_at(line, 1);
    unsigned used = 2;
    uint8_t node = 0;
    uint64_t x, y;
    if (g_ascii_strncasecmp(text, "node=", 5) == 0)
        text += 5;
    if (text[0] != '(' && isa_number(text, &x, NULL) && isa_number(token_at(line, 2), &y, NULL) && x <= 15 && y <= 15) {
        node = node_byte((unsigned)x, (unsigned)y);
        used = 3;
    } else if (!isa_node(text, &node)) {
        return node_error(line, 1, error);
    }
    if (node == 0)
        return node_error(line, 1, error);
    if (!section_slot(parser, line, used, error))
        return false;
    parser->node = node;
    return true;
}

static bool parse_stage(struct parser *parser, struct asm_line *line, GError **error) {
    if (!section_slot(parser, line, 1, error))
        return false;
    parser->node = 0;
    return true;
}

static void forget_mesh(struct parser *parser) {
    parser->node = NO_SECTION;
    parser->next_slot = parser->first_unkicked = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(parser->known); i++)
        parser->known[i] = -1;
}

static bool parse_mesh(struct parser *parser, struct asm_line *line, GError **error) {
    uint64_t mesh;
    if (!number_at(line, 1, token_at(line, 1), 3, &mesh, error) || !end_of_line(line, 2, error))
        return false;
    parser->mesh = (uint8_t)mesh;
    forget_mesh(parser);
    return true;
}

/* ---- host ---- */

static void add_command(struct parser *parser, const struct asm_line *line, const struct asm_command *command) {
    struct asm_item item = {.kind = ASM_COMMAND, .mesh = parser->mesh, .line = line->number, .command = *command};
    asm_program_add(parser->program, &item);
    for (unsigned i = 0; i < G_N_ELEMENTS(kick_registers); i++)
        if (command->command.op == CONTROL_WR && command->command.address == kick_registers[i])
            parser->known[i] = command->timed ? -1 : (int64_t)(command->command.data & 0xFFFF);
}

static void add_write(struct parser *parser, const struct asm_line *line, uint64_t address, uint64_t data) {
    add_command(parser, line, &(struct asm_command){.command = {.op = CONTROL_WR, .address = address, .data = data}});
}

static void add_poll(struct parser *parser, const struct asm_line *line, uint64_t address, uint64_t mask,
                     uint64_t wanted) {
    add_command(
        parser, line,
        &(struct asm_command){.command = {.op = CONTROL_POLL, .address = address, .data = wanted, .mask = mask}});
}

/* Takes "at CYCLE" off the end of the line. */
static bool take_at(struct asm_line *line, struct asm_command *command, GError **error) {
    if (line->count < 3 || strcmp(line->tokens[line->count - 2].text, "at") != 0)
        return true;
    uint64_t value;
    bool negative;
    const char *text = line->tokens[line->count - 1].text;
    if (!isa_number(text, &value, &negative) || (!negative && value > INT64_MAX))
        return asm_error(line, line->count - 1, error,
                         "'%s' is not a cycle, expected a number, negative before cycle 0", text);
    command->timed = true;
    command->cycle = (int64_t)value;
    drop_token(line, line->count - 1);
    drop_token(line, line->count - 1);
    return true;
}

static bool register_at(const struct asm_line *line, unsigned at, const char *text, uint64_t *address, GError **error) {
    return host_register_find(text, address) ||
           asm_error(line, at, error,
                     "there is no register '%s', expected a name such as PROG_DST or TX_FLIT[0], or an address", text);
}

/* write REG=VALUE, write REG field=value .. */
static bool parse_write(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_command command = {.command = {.op = CONTROL_WR}};
    if (!take_at(line, &command, error))
        return false;
    const char *text = token_at(line, 1), *equals = strchr(text, '=');
    g_autofree char *name = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
    if (!register_at(line, 1, name, &command.command.address, error))
        return false;
    const struct isa_layout *layout = host_register_layout(command.command.address);
    if (equals) {
        if (!number_at(line, 1, equals + 1, UINT64_MAX, &command.command.data, error) || !end_of_line(line, 2, error))
            return false;
    } else {
        _Alignas(uint64_t) char object[ISA_LAYOUT_MAX_BYTES] = {0};
        if (!layout || line->count < 3)
            return asm_error(line, 1, error, "the write has no value, expected %s=VALUE%s", name,
                             layout ? " or its fields" : "");
        if (!fields_from(line, 2, layout, object, NULL, error))
            return false;
        if (!host_register_encode(layout, object, &command.command.data, error))
            return asm_error_at(line, 1, error);
    }
    add_command(parser, line, &command);
    return true;
}

static const struct isa_field poll_rows[] = {
    ISA_FIELD(control_command, mask, "mask", 0, 64, FIELD_HEX),
    ISA_FIELD(control_command, data, "value", 0, 64, FIELD_HEX),
};
static const struct isa_layout poll_layout = ISA_LAYOUT("poll", control_command, poll_rows);

static const struct isa_field command_rows[] = {
    ISA_FIELD(control_command, op, "op", 0, 4, FIELD_NUMBER),
    ISA_FIELD(control_command, address, "address", 0, 64, FIELD_HEX),
    ISA_FIELD(control_command, data, "data", 0, 64, FIELD_HEX),
    ISA_FIELD(control_command, mask, "mask", 0, 64, FIELD_HEX),
};
static const struct isa_layout command_layout = ISA_LAYOUT("command", control_command, command_rows);

static bool parse_poll(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_command command = {.command = {.op = CONTROL_POLL, .mask = UINT64_MAX}};
    uint32_t seen = 0;
    if (!take_at(line, &command, error) || !register_at(line, 1, token_at(line, 1), &command.command.address, error) ||
        !fields_from(line, 2, &poll_layout, &command.command, &seen, error))
        return false;
    if (!(seen & 2))
        return asm_error(line, line->count, error, "the poll has nothing to wait for, expected value=");
    add_command(parser, line, &command);
    return true;
}

static bool parse_command(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_command command = {0};
    if (!take_at(line, &command, error) || !fields_from(line, 1, &command_layout, &command.command, NULL, error))
        return false;
    add_command(parser, line, &command);
    return true;
}

static bool parse_done(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_command command = {.command = {.op = CONTROL_DONE}};
    if (!take_at(line, &command, error))
        return false;
    if (line->count > 1 && !number_at(line, 1, token_at(line, 1), UINT64_MAX, &command.command.data, error))
        return false;
    if (!end_of_line(line, 2, error))
        return false;
    add_command(parser, line, &command);
    return true;
}

static bool parse_credit(struct parser *parser, struct asm_line *line, GError **error) {
    uint64_t value;
    if (!number_at(line, 1, token_at(line, 1), UINT16_MAX, &value, error) || !end_of_line(line, 2, error))
        return false;
    add_write(parser, line, AGENT_PROG_CRED, value);
    return true;
}

static bool parse_wait(struct parser *parser, struct asm_line *line, GError **error) {
    uint64_t value;
    const char *text = token_at(line, 1);
    if (!g_str_has_prefix(text, "signals="))
        return asm_error(line, 1, error, "'%s' is not valid here, expected signals=N", text);
    if (!number_at(line, 1, text + 8, UINT16_MAX, &value, error) || !end_of_line(line, 2, error))
        return false;
    add_poll(parser, line, AGENT_SIG_DONE, UINT16_MAX, value);
    return true;
}

struct kick_text {
    uint8_t node;
    uint16_t base;
    uint16_t len;
};

static const struct isa_field kick_rows[] = {
    ISA_FIELD(kick_text, node, "node", 0, 8, FIELD_NODE),
    ISA_FIELD(kick_text, base, "base", 0, 16, FIELD_NUMBER),
    ISA_FIELD(kick_text, len, "len", 0, 16, FIELD_NUMBER),
};
static const struct isa_layout kick_layout = ISA_LAYOUT("kick", kick_text, kick_rows);

/* The register writes of one dispatch (noc-and-memory §5.8, last paragraph): wait for the dispatcher, destination,
 * length and base as far as they change, kick. */
static bool parse_kick(struct parser *parser, struct asm_line *line, GError **error) {
    uint32_t seen = 0, fresh = parser->next_slot - parser->first_unkicked;
    struct kick_text kick = {0};
    if (!fields_from(line, 1, &kick_layout, &kick, &seen, error))
        return false;
    const uint64_t values[3] = {seen & 1           ? kick.node
                                : parser->node > 0 ? (uint64_t)parser->node
                                                   : 0,
                                seen & 4 ? kick.len : fresh, seen & 2 ? kick.base : parser->first_unkicked};
    if (values[0] == 0)
        return asm_error(line, 0, error, "the kick has no destination, expected node=(x,y) or a program section");
    if (values[1] == 0 || values[1] > UINT16_MAX)
        return asm_error(line, 0, error,
                         "the kick has no instructions to send, expected len= or instructions before it");
    add_poll(parser, line, AGENT_PROG_STAT, 1, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(kick_registers); i++)
        if (parser->known[i] != (int64_t)values[i])
            add_write(parser, line, kick_registers[i], values[i]);
    add_write(parser, line, AGENT_PROG_KICK, 1);
    parser->first_unkicked = parser->next_slot;
    return true;
}

/* ---- memory ---- */

static bool memory_words(const struct asm_line *line, struct asm_memory *memory, GError **error) {
    if (line->count < 3)
        return asm_error(line, 2, error, "the preset has no words, expected 64 hexadecimal digits each");
    memory->count = line->count - 2;
    memory->words = g_new(struct word256, memory->count);
    for (unsigned i = 0; i < memory->count; i++) {
        const char *text = line->tokens[i + 2].text;
        text += g_str_has_prefix(text, "0x") ? 2 : 0;
        if (!word_from_hex(text, &memory->words[i], error)) {
            g_free(memory->words);
            return asm_error_at(line, i + 2, error);
        }
    }
    return true;
}

static bool memory_file(const struct asm_line *line, struct asm_memory *memory, GError **error) {
    const char *path = token_at(line, 3);
    size_t length = strlen(path);
    if (strcmp(token_at(line, 2), "file") != 0)
        return asm_error(line, 2, error, "'%s' is not valid here, expected ': WORD ..' or 'file PATH'",
                         token_at(line, 2));
    bool quoted = path[0] == '"';
    if (length == 0 || (quoted && (length < 3 || path[length - 1] != '"')) || (!quoted && strchr(path, '"')))
        return asm_error(line, 3, error, "'%s' is not a path, expected a name, in double quotes if it has spaces",
                         path);
    if (!end_of_line(line, 4, error))
        return false;
    memory->path = quoted ? g_strndup(path + 1, length - 2) : g_strdup(path);
    return true;
}

/* memory ADDR: WORD .., memory ADDR file PATH */
static bool parse_memory(struct parser *parser, struct asm_line *line, GError **error) {
    struct asm_item item = {.mesh = parser->mesh, .line = line->number};
    g_autofree char *text = g_strdup(token_at(line, 1));
    bool colon = g_str_has_suffix(text, ":");
    if (colon)
        text[strlen(text) - 1] = '\0';
    if (!number_at(line, 1, text, bit_mask(40), &item.memory.address, error))
        return false;
    if (item.memory.address % WORD_BYTES != 0)
        return asm_error(line, 1, error, "address %s is not a multiple of 32, expected a word address", text);
    item.kind = colon ? ASM_MEMORY : ASM_MEMORY_FILE;
    if (!(colon ? memory_words : memory_file)(line, &item.memory, error))
        return false;
    asm_program_add(parser->program, &item);
    return true;
}

/* ---- kernels ---- */

static bool is_name(const char *text) {
    if (!g_ascii_isalpha(text[0]) && text[0] != '_')
        return false;
    for (; *text; text++)
        if (!g_ascii_isalnum(*text) && !strchr("_.-", *text))
            return false;
    return true;
}

static void fixup_clear(void *data) {
    g_free(((struct fixup *)data)->label);
}

static void kernel_clear(struct open_kernel *kernel) {
    g_free(kernel->name);
    if (kernel->words)
        g_array_unref(kernel->words);
    if (kernel->labels)
        g_hash_table_unref(kernel->labels);
    if (kernel->fixups)
        g_array_unref(kernel->fixups);
    *kernel = (struct open_kernel){0};
}

static bool parse_kernel(struct parser *parser, struct asm_line *line, GError **error) {
    const char *name = token_at(line, 1);
    uint16_t pc = 0;
    if (!is_name(name))
        return asm_error(line, 1, error, "'%s' is not a kernel name, expected letters, digits, _ . -", name);
    if (find_kernel(parser, name))
        return asm_error(line, 1, error, "kernel '%s' is already defined, expected another name", name);
    if ((line->count > 2 && !pc_at(line, 2, &pc, error)) || !end_of_line(line, 3, error))
        return false;
    parser->kernel = (struct open_kernel){
        .open = true,
        .line = line->number,
        .name = g_strdup(name),
        .pc = pc,
        .words = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        .labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .fixups = g_array_new(FALSE, FALSE, sizeof(struct fixup)),
    };
    g_array_set_clear_func(parser->kernel.fixups, fixup_clear);
    return true;
}

static bool resolve_labels(struct parser *parser, GError **error) {
    struct open_kernel *kernel = &parser->kernel;
    for (unsigned i = 0; i < kernel->fixups->len; i++) {
        const struct fixup *fixup = &g_array_index(kernel->fixups, struct fixup, i);
        const struct asm_line where = {.file = parser->file, .number = fixup->line, .end = fixup->column};
        gpointer target;
        if (!g_hash_table_lookup_extended(kernel->labels, fixup->label, NULL, &target))
            return asm_error(&where, 0, error, "there is no label '%s' in kernel '%s', expected a line '%s:'",
                             fixup->label, kernel->name, fixup->label);
        uint32_t *word = &g_array_index(kernel->words, uint32_t, fixup->word);
        if (!vector_loop_resolve(word, fixup->word, GPOINTER_TO_UINT(target)))
            return asm_error(&where, 0, error, "label '%s' is not 0 to 15 words after the vloop, expected a nearer end",
                             fixup->label);
    }
    return true;
}

static bool end_kernel(struct parser *parser, struct asm_line *line, GError **error) {
    struct open_kernel *kernel = &parser->kernel;
    if (!end_of_line(line, 1, error) || !resolve_labels(parser, error))
        return false;
    struct asm_item item = {.kind = ASM_KERNEL, .mesh = parser->mesh, .line = kernel->line};
    item.kernel.name = g_steal_pointer(&kernel->name);
    item.kernel.pc = kernel->pc;
    item.kernel.count = (uint16_t)kernel->words->len;
    item.kernel.words = (uint32_t *)(void *)g_array_free(g_steal_pointer(&kernel->words), FALSE);
    asm_program_add(parser->program, &item);
    kernel_clear(kernel);
    return true;
}

static bool kernel_line(struct parser *parser, struct asm_line *line, GError **error) {
    struct open_kernel *kernel = &parser->kernel;
    const char *first = token_at(line, 0);
    if (strcmp(first, ".end") == 0)
        return end_kernel(parser, line, error);
    if (g_str_has_suffix(first, ":")) {
        g_autofree char *label = g_strndup(first, strlen(first) - 1);
        if (!is_name(label) || g_hash_table_contains(kernel->labels, label))
            return asm_error(line, 0, error,
                             "'%s' is not a new label, expected an unused name of letters, digits, _ . -", label);
        g_hash_table_insert(kernel->labels, g_steal_pointer(&label), GUINT_TO_POINTER(kernel->words->len));
        drop_token(line, 0);
        if (line->count == 0)
            return true;
    }
    struct fixup fixup = {.word = kernel->words->len, .line = line->number};
    if (!vector_text_parse(line, 0, kernel->words, &fixup.label, error))
        return false;
    if (fixup.label) {
        fixup.column = line->tokens[line->count - 1].column;
        g_array_append_val(kernel->fixups, fixup);
    }
    return kernel->pc + kernel->words->len <= VECTOR_IMEM_WORDS ||
           asm_error(line, 0, error, "kernel '%s' passes word %d of instruction memory, expected it to end before",
                     kernel->name, VECTOR_IMEM_WORDS - 1);
}

/* ---- statements ---- */

static const struct {
    const char *keyword;
    statement parse;
} statements[] = {
    {"program", parse_section}, {"at", parse_section},   {"stage", parse_stage},     {"mesh", parse_mesh},
    {"fill", parse_cluster},    {"gemm", parse_cluster}, {"drain", parse_cluster},   {"nop", parse_cluster},
    {"raw", parse_raw},         {"rdreq", parse_packet}, {"wrreq", parse_packet},    {"signal", parse_packet},
    {"ctrl", parse_packet},     {"data", parse_packet},  {"imem", parse_imem},       {"desc", parse_desc},
    {"run", parse_run},         {"load", parse_load},    {".kernel", parse_kernel},  {"memory", parse_memory},
    {"write", parse_write},     {"poll", parse_poll},    {"command", parse_command}, {"done", parse_done},
    {"credit", parse_credit},   {"wait", parse_wait},    {"kick", parse_kick},
};

static bool unknown_statement(const struct asm_line *line, GError **error) {
    g_autoptr(GString) names = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(statements); i++)
        g_string_append_printf(names, "%s%s", i ? " " : "", statements[i].keyword);
    return asm_error(line, 0, error, "'%s' is not a statement, expected one of %s", line->tokens[0].text, names->str);
}

static bool parse_line(struct parser *parser, struct asm_line *line, GError **error) {
    if (line->count == 0)
        return true;
    if (parser->kernel.open)
        return kernel_line(parser, line, error);
    for (unsigned i = 0; i < G_N_ELEMENTS(statements); i++)
        if (strcmp(line->tokens[0].text, statements[i].keyword) == 0)
            return statements[i].parse(parser, line, error);
    return unknown_statement(line, error);
}

static bool parse_text(struct parser *parser, const char *text, GError **error) {
    unsigned number = 1;
    for (const char *at = text; *at != '\0'; number++) {
        size_t length = strcspn(at, "\n");
        g_autofree char *copy = g_strndup(at, length);
        struct asm_line line;
        asm_line_split(&line, parser->file, number, copy);
        bool good = parse_line(parser, &line, error);
        asm_line_clear(&line);
        if (!good)
            return false;
        at += length + (at[length] == '\n');
    }
    const struct asm_line end = {.file = parser->file, .number = number, .end = 1};
    return !parser->kernel.open || asm_error(&end, 0, error, "kernel '%s' of line %u is open, expected .end",
                                             parser->kernel.name, parser->kernel.line);
}

struct asm_program *asm_program_parse(const char *text, const char *name, GError **error) {
    struct parser parser = {.program = asm_program_new(), .file = name};
    GError *cause = NULL;
    forget_mesh(&parser);
    bool good = parse_text(&parser, text, &cause);
    kernel_clear(&parser.kernel);
    if (good)
        return parser.program;
    asm_program_free(parser.program);
    g_propagate_error(error, cause);
    return NULL;
}

struct asm_program *asm_program_load(const char *path, GError **error) {
    g_autofree char *text = NULL;
    gsize length;
    GError *cause = NULL;
    if (!g_file_get_contents(path, &text, &length, &cause)) {
        g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): can't be opened: %s, expected a readable file", path,
                    fs_error_reason(cause));
        g_error_free(cause);
        return NULL;
    }
    if (strlen(text) != length) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:1:1: the file is not text, expected no NUL bytes", path);
        return NULL;
    }
    return asm_program_parse(text, path, error);
}
