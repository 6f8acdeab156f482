/* Text of vector words. One operand string an opcode drives parser and printer: each letter is a row of the tables
 * below. */
#include "model/isa/vector_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/isa/vector.h"

/* Operand letters: A B C operands with a selector; D d a b s t u g P plain registers; m [aN+offset]; o mode name; n
 * body length or label. Suffix after the dot: t dtype, r reduction. */
static const struct {
    const char *operands;
    char suffix;
} grammar[VECTOR_OPS] = {
    [VECTOR_MOV] = {"DA", 0},    [VECTOR_NEG] = {"DA", 0},    [VECTOR_ABS] = {"DA", 0},   [VECTOR_ADD] = {"DAC", 0},
    [VECTOR_SUB] = {"DAC", 0},   [VECTOR_MUL] = {"DAB", 0},   [VECTOR_FMA] = {"DABC", 0}, [VECTOR_FNMA] = {"DABC", 0},
    [VECTOR_MAX] = {"DAB", 0},   [VECTOR_MIN] = {"DAB", 0},   [VECTOR_SEL] = {"DABC", 0}, [VECTOR_CMPLT] = {"PAB", 0},
    [VECTOR_CMPGT] = {"PAB", 0}, [VECTOR_CMPEQ] = {"PAB", 0}, [VECTOR_EXP2] = {"DA", 0},  [VECTOR_LOG2] = {"DA", 0},
    [VECTOR_INV] = {"DA", 0},    [VECTOR_RSQRT] = {"DA", 0},  [VECTOR_CVT] = {"da", 't'}, [VECTOR_RED] = {"sab", 'r'},
    [VECTOR_LD] = {"dm", 't'},   [VECTOR_ST] = {"md", 't'},   [VECTOR_SHUF] = {"dat", 0}, [VECTOR_SETVL] = {"u", 0},
    [VECTOR_SETMODE] = {"o", 0}, [VECTOR_LOOP] = {"un", 0},   [VECTOR_BAR] = {"", 0},     [VECTOR_FILL] = {"g", 0},
    [VECTOR_DRAIN] = {"g", 0},   [VECTOR_HALT] = {"", 0},     [VECTOR_BCAST] = {NULL, 0}, [VECTOR_SETI] = {NULL, 0},
};

static const struct register_operand {
    char letter, prefix;
    uint8_t limit;
    uint8_t offset;
    const char *expected;
} registers[] = {
    {'D', 'v', 15, offsetof(struct vector_word, vd), "a vector register v0..v15"},
    {'d', 'v', 15, offsetof(struct vector_word, vd), "a vector register v0..v15"},
    {'a', 'v', 15, offsetof(struct vector_word, va), "a vector register v0..v15"},
    {'b', 'v', 15, offsetof(struct vector_word, vb), "a vector register v0..v15"},
    {'s', 's', 15, offsetof(struct vector_word, vd), "a scalar register s0..s15"},
    {'t', 's', 15, offsetof(struct vector_word, vb), "a scalar register s0..s15"},
    {'u', 's', 15, offsetof(struct vector_word, va), "a scalar register s0..s15"},
    {'g', 'a', 7, offsetof(struct vector_word, ad), "an address descriptor a0..a7"},
    {'P', 'p', 3, offsetof(struct vector_word, pr), "a predicate p0..p3"},
};

static const struct selected_operand {
    char letter;
    uint8_t selector, number; /* offsets */
} selected[] = {
    {'A', offsetof(struct vector_word, sa), offsetof(struct vector_word, va)},
    {'B', offsetof(struct vector_word, sb), offsetof(struct vector_word, vb)},
    {'C', offsetof(struct vector_word, sc), offsetof(struct vector_word, vc)},
};

static const char selector_letters[] = "vsck"; /* by enum vector_selector */
static const char *const mode_names[] = {"flat", "d2", "d4", "tree"};
static const char *const reduction_names[] = {"sum", "max", "min", "sumsq", "dot", "expsum", "any", "all"};
static const char *const dtype_names[] = {"d0", "fp16", "fp32", "d3", "d4", "d5", "d6", "d7"};

static uint8_t *member(struct vector_word *word, unsigned offset) {
    return (uint8_t *)word + offset;
}

static int name_index(const char *const *names, unsigned count, const char *name) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static const struct register_operand *find_register(char letter) {
    for (unsigned i = 0; i < G_N_ELEMENTS(registers); i++)
        if (registers[i].letter == letter)
            return &registers[i];
    return NULL;
}

static const struct selected_operand *find_selected(char letter) {
    for (unsigned i = 0; i < G_N_ELEMENTS(selected); i++)
        if (selected[i].letter == letter)
            return &selected[i];
    return NULL;
}

static bool is_alu(unsigned op) {
    return op <= VECTOR_RSQRT;
}

static bool is_compare(unsigned op) {
    return op >= VECTOR_CMPLT && op <= VECTOR_CMPEQ;
}

/* ---- printing ---- */

static void print_operand(char letter, struct vector_word *word, GString *out) {
    const struct register_operand *plain = find_register(letter);
    const struct selected_operand *choice = find_selected(letter);
    if (plain) {
        g_string_append_printf(out, "%c%u", plain->prefix, *member(word, plain->offset));
    } else if (choice) {
        unsigned selector = *member(word, choice->selector), number = *member(word, choice->number);
        g_string_append_c(out, selector_letters[selector]);
        if (selector != VECTOR_SELECT_C || number != 0)
            g_string_append_printf(out, "%u", number);
    } else if (letter == 'm') {
        g_string_append_printf(out, word->offset ? "[a%u%+d]" : "[a%u]", word->ad, word->offset);
    } else if (letter == 'o') {
        g_string_append(out, mode_names[word->mode]);
    } else {
        g_string_append_printf(out, "%u", word->vb);
    }
}

/* Operands the opcode ignores but whose bits are not the default, then predication. */
static void print_alu_rest(struct vector_word *word, bool later, GString *out) {
    for (unsigned i = 0; i < G_N_ELEMENTS(selected); i++) {
        if (strchr(grammar[word->op].operands, selected[i].letter))
            continue;
        unsigned selector = *member(word, selected[i].selector), number = *member(word, selected[i].number);
        if (selector == (later ? VECTOR_SELECT_C : VECTOR_SELECT_V) && number == 0)
            continue;
        g_string_append_printf(out, " %c=", g_ascii_tolower(selected[i].letter));
        print_operand(selected[i].letter, word, out);
    }
    if (is_compare(word->op)) {
        if (word->vd)
            g_string_append_printf(out, " d=v%u", word->vd);
        if (word->pm)
            g_string_append_printf(out, " pm=%u", word->pm);
    } else if (word->pm == VECTOR_WHERE_SET || word->pm == VECTOR_WHERE_CLEAR) {
        g_string_append_printf(out, " %s p%u", word->pm == VECTOR_WHERE_SET ? "where" : "unless", word->pr);
    } else if (word->pm || word->pr) {
        g_string_append_printf(out, " pr=%u pm=%u", word->pr, word->pm);
    }
}

static void print_other_rest(const struct vector_word *word, GString *out) {
    if (word->op == VECTOR_RED && word->pr)
        g_string_append_printf(out, " pr=%u", word->pr);
    if (word->op == VECTOR_FILL || word->op == VECTOR_DRAIN)
        g_string_append_printf(out, " l1=%u", word->l1);
    if (word->op == VECTOR_DRAIN && word->to_node)
        g_string_append_printf(out, " dst=(%u,%u) buf=%u%s", word->dst_x, word->dst_y, word->buf,
                               word->ack ? " ack" : "");
}

/* VBCAST and VSETI choose their destination's kind by sa; false when sa has no text. */
static bool print_by_selector(const struct vector_word *word, GString *out) {
    const char *name = vector_op_name(word->op);
    if (word->op == VECTOR_SETI && word->sa == VECTOR_SELECT_K && word->vd == 0)
        g_string_append_printf(out, "%s k3", name);
    else if (word->op == VECTOR_SETI && word->sa == VECTOR_SELECT_V)
        g_string_append_printf(out, "%s s%u", name, word->vd);
    else if (word->op == VECTOR_BCAST && word->sa == VECTOR_SELECT_S)
        g_string_append_printf(out, "%s v%u, s%u", name, word->vd, word->va);
    else if (word->op == VECTOR_BCAST && word->sa == VECTOR_SELECT_V)
        g_string_append_printf(out, "%s s%u, v%u", name, word->vd, word->va);
    else
        return false;
    return true;
}

static void print_word(struct vector_word *word, GString *out) {
    bool later =
        is_alu(word->op) && (word->sa == VECTOR_SELECT_C || word->sb == VECTOR_SELECT_C || word->sc == VECTOR_SELECT_C);
    g_string_append_printf(out, "%s%s", later ? "+ " : "", vector_op_name(word->op));
    if (grammar[word->op].suffix)
        g_string_append_printf(
            out, ".%s", grammar[word->op].suffix == 't' ? dtype_names[word->dtype] : reduction_names[word->kind]);
    const char *operands = grammar[word->op].operands;
    for (unsigned i = 0; operands[i] != '\0'; i++) {
        g_string_append(out, i ? ", " : " ");
        print_operand(operands[i], word, out);
    }
    if (is_alu(word->op))
        print_alu_rest(word, later, out);
    else
        print_other_rest(word, out);
}

void vector_word_print(uint32_t bits, GString *out) {
    struct vector_word word;
    uint32_t again;
    vector_word_decode(bits, &word);
    bool exact = vector_word_encode(&word, &again, NULL) && again == bits;
    if (exact && grammar[word.op].operands)
        print_word(&word, out);
    else if (!exact || !print_by_selector(&word, out))
        g_string_append_printf(out, ".word 0x%08" PRIx32, bits);
}

void vector_words_print(const uint32_t *words, unsigned count, GString *out) {
    for (unsigned i = 0; i < count; i++) {
        gsize start = out->len + 4;
        g_string_append(out, "    ");
        vector_word_print(words[i], out);
        if (words[i] >> 27 == VECTOR_SETI && i + 1 < count && out->str[start] != '.')
            g_string_append_printf(out, ", 0x%" PRIx32, words[++i]);
        g_string_append_c(out, '\n');
    }
}

/* ---- parsing ---- */

/* Decimal digits after the register letter, 0..limit. */
static bool register_number(const char *digits, unsigned limit, uint8_t *number) {
    uint64_t value;
    if (!g_ascii_isdigit(digits[0]) || !isa_number(digits, &value, NULL) || value > limit)
        return false;
    *number = (uint8_t)value;
    return true;
}

static bool parse_selected(const char *text, const struct selected_operand *operand, struct vector_word *word) {
    const char *letter = text[0] ? strchr(selector_letters, text[0]) : NULL;
    if (!letter)
        return false;
    uint8_t number = 0;
    bool bare_chain = *letter == 'c' && text[1] == '\0';
    if (!bare_chain && !register_number(text + 1, 15, &number))
        return false;
    *member(word, operand->selector) = (uint8_t)(letter - selector_letters);
    *member(word, operand->number) = number;
    return true;
}

/* [aN], [aN+offset], [aN-offset] */
static bool parse_address(const char *text, struct vector_word *word) {
    size_t length = strlen(text);
    uint64_t value = 0;
    bool negative = false;
    if (length < 4 || text[0] != '[' || text[1] != 'a' || text[2] < '0' || text[2] > '7' || text[length - 1] != ']')
        return false;
    g_autofree char *offset = g_strndup(text + 3, length - 4);
    if (offset[0] == '+' ? !isa_number(offset + 1, &value, NULL)
                         : offset[0] != '\0' && (offset[0] != '-' || !isa_number(offset, &value, &negative)))
        return false;
    int64_t number = (int64_t)value;
    if (number < -8192 || number > 8191)
        return false;
    word->ad = (uint8_t)(text[2] - '0');
    word->offset = (int16_t)number;
    return true;
}

static bool is_label(const char *text) {
    if (!g_ascii_isalpha(text[0]) && text[0] != '_')
        return false;
    for (; *text; text++)
        if (!g_ascii_isalnum(*text) && !strchr("_.-", *text))
            return false;
    return true;
}

static bool parse_body(const char *text, struct vector_word *word, char **label) {
    uint64_t value;
    if (is_label(text)) {
        *label = g_strdup(text);
        return true;
    }
    if (!isa_number(text, &value, NULL) || value > 15)
        return false;
    word->vb = (uint8_t)value;
    return true;
}

static bool parse_operand(char letter, const struct asm_line *line, unsigned at, struct vector_word *word, char **label,
                          GError **error) {
    const char *text = at < line->count ? line->tokens[at].text : "";
    const struct register_operand *plain = find_register(letter);
    const struct selected_operand *choice = find_selected(letter);
    const char *expected;
    bool good;
    if (plain) {
        good = text[0] == plain->prefix && register_number(text + 1, plain->limit, member(word, plain->offset));
        expected = plain->expected;
    } else if (choice) {
        good = parse_selected(text, choice, word);
        expected = "an operand v0..v15, s0..s15, k0..k15 or c";
    } else if (letter == 'm') {
        good = parse_address(text, word);
        expected = "an L1 address [aN+OFFSET], N 0..7, offset -8192..8191";
    } else if (letter == 'o') {
        int mode = name_index(mode_names, G_N_ELEMENTS(mode_names), text);
        good = mode >= 0;
        word->mode = good ? (uint8_t)mode : 0;
        expected = "a mode flat, d2, d4 or tree";
    } else {
        good = parse_body(text, word, label);
        expected = "a body length 0..15 or a label";
    }
    return good || asm_error(line, at, error, "'%s' is not valid here, expected %s", text, expected);
}

/* One option after the operands; *used says how many tokens it took. */
static bool parse_option(const struct asm_line *line, unsigned at, struct vector_word *word, unsigned *used,
                         GError **error) {
    const char *text = line->tokens[at].text, *equals = strchr(text, '=');
    *used = 1;
    bool where = strcmp(text, "where") == 0, unless = strcmp(text, "unless") == 0;
    if (is_alu(word->op) && !is_compare(word->op) && (where || unless)) {
        *used = 2;
        word->pm = where ? VECTOR_WHERE_SET : VECTOR_WHERE_CLEAR;
        return parse_operand('P', line, at + 1, word, NULL, error);
    }
    const struct selected_operand *choice =
        equals == text + 1 && is_alu(word->op) ? find_selected(g_ascii_toupper(text[0])) : NULL;
    if (choice)
        return parse_selected(equals + 1, choice, word) ||
               asm_error(line, at, error, "'%s' is not valid here, expected %c=OPERAND", text, text[0]);
    if (is_compare(word->op) && g_str_has_prefix(text, "d=v"))
        return register_number(text + 3, 15, &word->vd) ||
               asm_error(line, at, error, "'%s' is not valid here, expected d=v0..v15", text);
    g_autofree char *key = equals ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
    if (strcmp(key, "op") == 0 || strcmp(key, "to_node") == 0)
        return asm_error(line, at, error, "%s follows from the mnemonic and dst=(x,y)", key);
    return layout_parse(vector_word_layout(word), word, key, equals ? equals + 1 : NULL, error) ||
           asm_error_at(line, at, error);
}

static bool parse_suffix(const struct asm_line *line, unsigned at, const char *suffix, struct vector_word *word,
                         GError **error) {
    char wanted = grammar[word->op].suffix;
    bool dtype = wanted == 't';
    int index = -1;
    if (!wanted && !suffix)
        return true;
    if (wanted && suffix)
        index = dtype ? name_index(dtype_names, G_N_ELEMENTS(dtype_names), suffix)
                      : name_index(reduction_names, G_N_ELEMENTS(reduction_names), suffix);
    if (index < 0)
        return asm_error(line, at, error, "'%s' is not an instruction, expected %s%s", line->tokens[at].text,
                         vector_op_name(word->op),
                         dtype    ? ".fp16 or .fp32 (or .d0 .d3 .. .d7)"
                         : wanted ? ".sum .max .min .sumsq .dot .expsum .any or .all"
                                  : " without a suffix");
    if (dtype)
        word->dtype = (uint8_t)index;
    else
        word->kind = (uint8_t)index;
    return true;
}

/* The value of a VSETI: a number of up to 32 bits, or a real with a point, rounded to E8M15 (compute-units §7.2). */
static bool parse_immediate(const char *text, uint32_t *value) {
    uint64_t number;
    bool negative;
    if (isa_number(text, &number, NULL)) {
        *value = (uint32_t)number;
        return number <= UINT32_MAX;
    }
    char *end;
    float real = (float)g_ascii_strtod(text, &end);
    if (isa_number(text, &number, &negative) || !strchr(text, '.') || *end != '\0' || !isfinite(real))
        return false;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    if ((bits >> 23 & 0xFF) == 0)
        bits &= UINT32_C(1) << 31;
    *value = (bits + 0x7F + (bits >> 8 & 1)) >> 8;
    return true;
}

static bool parse_seti(const struct asm_line *line, unsigned at, struct vector_word *word, GArray *words,
                       GError **error) {
    const char *target = at < line->count ? line->tokens[at].text : "";
    uint32_t bits, value;
    if (strcmp(target, "k3") == 0)
        word->sa = VECTOR_SELECT_K;
    else if (target[0] != 's' || !register_number(target + 1, 15, &word->vd))
        return asm_error(line, at, error, "'%s' is not valid here, expected s0..s15 or k3", target);
    if (!vector_word_encode(word, &bits, error))
        return asm_error_at(line, at, error);
    g_array_append_val(words, bits);
    if (line->count == at + 1)
        return true;
    if (line->count > at + 2)
        return asm_error(line, at + 2, error, "'%s' follows a complete instruction, expected the end of the line",
                         line->tokens[at + 2].text);
    if (!parse_immediate(line->tokens[at + 1].text, &value))
        return asm_error(line, at + 1, error, "'%s' is not valid here, expected a 32-bit number or a real with a point",
                         line->tokens[at + 1].text);
    g_array_append_val(words, value);
    return true;
}

static bool parse_bcast(const struct asm_line *line, unsigned at, struct vector_word *word, GError **error) {
    bool to_vector = at < line->count && line->tokens[at].text[0] == 'v';
    word->sa = to_vector ? VECTOR_SELECT_S : VECTOR_SELECT_V;
    return parse_operand(to_vector ? 'd' : 's', line, at, word, NULL, error) &&
           parse_operand(to_vector ? 'u' : 'a', line, at + 1, word, NULL, error);
}

static bool parse_raw_word(const struct asm_line *line, unsigned at, GArray *words, GError **error) {
    uint64_t value;
    if (at + 1 >= line->count || !isa_number(line->tokens[at + 1].text, &value, NULL) || value > UINT32_MAX)
        return asm_error(line, at + 1, error, ".word expected a 32-bit number");
    if (line->count > at + 2)
        return asm_error(line, at + 2, error, "'%s' follows a complete .word, expected the end of the line",
                         line->tokens[at + 2].text);
    uint32_t bits = (uint32_t)value;
    g_array_append_val(words, bits);
    return true;
}

static bool find_op(const struct asm_line *line, unsigned at, struct vector_word *word, GError **error) {
    const char *text = at < line->count ? line->tokens[at].text : "";
    g_auto(GStrv) parts = g_strsplit(text, ".", 2);
    for (unsigned op = 0; parts[0] && op < VECTOR_OPS; op++)
        if (strcmp(parts[0], vector_op_name(op)) == 0) {
            word->op = (uint8_t)op;
            return parse_suffix(line, at, parts[1], word, error);
        }
    return asm_error(line, at, error, "'%s' is not a vector instruction, expected vmov .. vhalt or .word", text);
}

/* Operands and options of the opcode already found. */
static bool parse_fields(const struct asm_line *line, unsigned at, struct vector_word *word, char **label,
                         GError **error) {
    const char *operands = grammar[word->op].operands;
    if (!operands) {
        if (!parse_bcast(line, at, word, error))
            return false;
        at += 2;
    }
    for (unsigned i = 0; operands && operands[i] != '\0'; i++)
        if (!parse_operand(operands[i], line, at++, word, label, error))
            return false;
    for (unsigned i = at; word->op == VECTOR_DRAIN && i < line->count; i++)
        word->to_node |= g_str_has_prefix(line->tokens[i].text, "dst=");
    for (unsigned used; at < line->count; at += used)
        if (!parse_option(line, at, word, &used, error))
            return false;
    return true;
}

bool vector_text_parse(const struct asm_line *line, unsigned first, GArray *words, char **label, GError **error) {
    struct vector_word word = {0};
    unsigned at = first;
    *label = NULL;
    if (at < line->count && strcmp(line->tokens[at].text, ".word") == 0)
        return parse_raw_word(line, at, words, error);
    bool later = at < line->count && strcmp(line->tokens[at].text, "+") == 0;
    at += later;
    if (!find_op(line, at, &word, error))
        return false;
    if (later && !is_alu(word.op))
        return asm_error(line, at, error, "'%s' cannot follow '+', expected an ALU instruction", line->tokens[at].text);
    if (later)
        word.sa = word.sb = word.sc = VECTOR_SELECT_C;
    if (word.op == VECTOR_SETI)
        return parse_seti(line, at + 1, &word, words, error);
    uint32_t bits;
    bool good = parse_fields(line, at + 1, &word, label, error) &&
                (vector_word_encode(&word, &bits, error) || asm_error_at(line, at, error));
    if (good)
        g_array_append_val(words, bits);
    else
        g_clear_pointer(label, g_free);
    return good;
}

bool vector_loop_resolve(uint32_t *word, unsigned at, unsigned target) {
    if (target < at + 1 || target > at + 16)
        return false;
    *word = (*word & ~(UINT32_C(15) << 9)) | (target - at - 1) << 9;
    return true;
}
