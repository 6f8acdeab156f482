/* Table-driven bit fields; see field.h. */
#include "model/isa/field.h"

#include <inttypes.h>
#include <string.h>

uint64_t field_load(const struct isa_field *field, const void *object) {
    const char *member = (const char *)object + field->offset;
    uint8_t v8;
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;
    bool is_signed = field->kind == FIELD_SIGNED;
    switch (field->size) {
    case 1:
        memcpy(&v8, member, sizeof v8);
        return is_signed ? (uint64_t)(int8_t)v8 : v8;
    case 2:
        memcpy(&v16, member, sizeof v16);
        return is_signed ? (uint64_t)(int16_t)v16 : v16;
    case 4:
        memcpy(&v32, member, sizeof v32);
        return is_signed ? (uint64_t)(int32_t)v32 : v32;
    default:
        memcpy(&v64, member, sizeof v64);
        return v64;
    }
}

void field_store(const struct isa_field *field, void *object, uint64_t value) {
    char *member = (char *)object + field->offset;
    uint8_t v8 = (uint8_t)value;
    uint16_t v16 = (uint16_t)value;
    uint32_t v32 = (uint32_t)value;
    const void *source = field->size == 1   ? (const void *)&v8
                         : field->size == 2 ? (const void *)&v16
                         : field->size == 4 ? (const void *)&v32
                                            : (const void *)&value;
    memcpy(member, source, field->size);
}

static unsigned field_width(const struct isa_field *field) {
    return field->width + field->high_width;
}

bool field_check(const struct isa_layout *layout, const struct isa_field *field, uint64_t value, GError **error) {
    unsigned width = field_width(field);
    if (field->kind == FIELD_SIGNED) {
        int64_t bound = INT64_C(1) << (width - 1), number = (int64_t)value;
        if (number >= -bound && number < bound)
            return true;
        g_set_error(error, FS_ERROR, FS_ERROR_RANGE,
                    "%s: field %s = %" PRId64 " does not fit in %u signed bits (%" PRId64 "..%" PRId64 ")",
                    layout->name, field->name, number, width, -bound, bound - 1);
        return false;
    }
    if (value <= bit_mask(width))
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_RANGE, "%s: field %s = %" PRIu64 " does not fit in %u bits (0..%" PRIu64 ")",
                layout->name, field->name, value, width, bit_mask(width));
    return false;
}

const struct isa_field *layout_find(const struct isa_layout *layout, const char *name) {
    for (unsigned i = 0; i < layout->count; i++)
        if (strcmp(layout->fields[i].name, name) == 0)
            return &layout->fields[i];
    return NULL;
}

bool layout_encode(const struct isa_layout *layout, const void *object, struct word256 *word, GError **error) {
    *word = (struct word256){{0}};
    for (unsigned i = 0; i < layout->count; i++) {
        const struct isa_field *field = &layout->fields[i];
        uint64_t value = field_load(field, object);
        if (!field_check(layout, field, value, error))
            return false;
        word_set(word, field->low, field->width, value);
        if (field->high_width)
            word_set(word, field->high_low, field->high_width, value >> field->width);
    }
    return true;
}

void layout_decode(const struct isa_layout *layout, const struct word256 *word, void *object) {
    for (unsigned i = 0; i < layout->count; i++) {
        const struct isa_field *field = &layout->fields[i];
        uint64_t value = word_get(word, field->low, field->width);
        if (field->high_width)
            value |= word_get(word, field->high_low, field->high_width) << field->width;
        if (field->kind == FIELD_SIGNED && value >> (field_width(field) - 1))
            value |= ~bit_mask(field_width(field));
        field_store(field, object, value);
    }
}

static void print_node(uint64_t node, GString *out) {
    g_string_append_printf(out, "(%u,%u)", (unsigned)(node & 15), (unsigned)(node >> 4 & 15));
}

/* The four rows of a peer list: as one list when nothing is lost by it, else row by row. */
static void print_peers(const struct isa_field *rows, const void *object, GString *out) {
    uint64_t count = field_load(&rows[3], object);
    bool plain = count <= 3;
    for (unsigned i = 0; i < 3; i++)
        if (i >= count && field_load(&rows[i], object) != 0)
            plain = false;
    if (plain) {
        for (unsigned i = 0; i < count; i++) {
            g_string_append(out, i ? "," : " peers=");
            print_node(field_load(&rows[i], object), out);
        }
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        g_string_append_printf(out, " %s=", rows[i].name);
        print_node(field_load(&rows[i], object), out);
    }
    g_string_append_printf(out, " %s=%" PRIu64, rows[3].name, count);
}

static void print_field(const struct isa_field *field, uint64_t value, GString *out) {
    if (field->kind == FIELD_FLAG && value == 1) {
        g_string_append_printf(out, " %s", field->name);
        return;
    }
    g_string_append_printf(out, " %s=", field->name);
    if (field->kind == FIELD_HEX)
        g_string_append_printf(out, "0x%" PRIx64, value);
    else if (field->kind == FIELD_SIGNED)
        g_string_append_printf(out, "%" PRId64, (int64_t)value);
    else if (field->kind == FIELD_SIDE && value < 2)
        g_string_append_c(out, value ? 'b' : 'a');
    else if (field->kind == FIELD_NODE)
        print_node(value, out);
    else
        g_string_append_printf(out, "%" PRIu64, value);
}

void layout_print(const struct isa_layout *layout, const void *object, const void *defaults, GString *out) {
    for (unsigned i = 0; i < layout->count; i++) {
        const struct isa_field *field = &layout->fields[i];
        uint64_t value = field_load(field, object);
        bool changed = value != field_load(field, defaults);
        if (field->kind == FIELD_PEER) {
            print_peers(field, object, out);
            i += 3;
        } else if (field->kind == FIELD_X) {
            uint64_t y = field_load(&field[1], object);
            if (changed || y != field_load(&field[1], defaults))
                g_string_append_printf(out, " %.*s=(%" PRIu64 ",%" PRIu64 ")", (int)strlen(field->name) - 2,
                                       field->name, value, y);
            i++;
        } else if (changed) {
            print_field(field, value, out);
        }
    }
}

bool isa_number(const char *text, uint64_t *value, bool *negative) {
    bool minus = text[0] == '-';
    if (minus && !negative)
        return false;
    text += minus;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end = NULL;
    text += hex ? 2 : 0;
    if (hex ? !g_ascii_isxdigit(text[0]) : !g_ascii_isdigit(text[0]))
        return false;
    guint64 magnitude = 0;
    unsigned base = hex ? 16 : 10;
    for (end = (char *)text; g_ascii_isxdigit(*end) && (hex || g_ascii_isdigit(*end)); end++) {
        unsigned digit = (unsigned)g_ascii_xdigit_value(*end);
        if (magnitude > (UINT64_MAX - digit) / base)
            return false;
        magnitude = magnitude * base + digit;
    }
    if (*end != '\0' || (minus && magnitude > UINT64_C(1) << 63))
        return false;
    if (negative)
        *negative = minus && magnitude != 0;
    *value = minus ? 0 - magnitude : magnitude;
    return true;
}

/* "(x,y)" at the start of text; the character after it, or NULL when malformed. */
static const char *scan_pair(const char *text, uint64_t pair[2]) {
    const char *open = text, *close = strchr(text, ')');
    if (*open != '(' || !close)
        return NULL;
    g_autofree char *inside = g_strndup(open + 1, (gsize)(close - open - 1));
    g_auto(GStrv) parts = g_strsplit(inside, ",", -1);
    if (g_strv_length(parts) != 2)
        return NULL;
    for (unsigned i = 0; i < 2; i++)
        if (!isa_number(g_strstrip(parts[i]), &pair[i], NULL))
            return NULL;
    return close + 1;
}

bool isa_node(const char *text, uint8_t *node) {
    uint64_t pair[2];
    const char *end = scan_pair(text, pair);
    if (!end || *end != '\0' || pair[0] > 15 || pair[1] > 15)
        return false;
    *node = (uint8_t)(pair[1] << 4 | pair[0]);
    return true;
}

static bool malformed(const char *key, const char *value, const char *expected, GError **error) {
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s: '%s' is not valid here, expected %s", key, value ? value : "",
                expected);
    return false;
}

static bool parse_pair(const struct isa_layout *layout, void *object, const char *key, const char *value, bool *known,
                       GError **error) {
    g_autofree char *x_name = g_strconcat(key, "_x", NULL);
    const struct isa_field *x = layout_find(layout, x_name);
    *known = x && x->kind == FIELD_X;
    if (!*known)
        return true;
    uint64_t pair[2];
    const char *end = value ? scan_pair(value, pair) : NULL;
    if (!end || *end != '\0')
        return malformed(key, value, "a node (x,y)", error);
    for (unsigned i = 0; i < 2; i++) {
        if (!field_check(layout, &x[i], pair[i], error))
            return false;
        field_store(&x[i], object, pair[i]);
    }
    return true;
}

static bool parse_peers(const struct isa_field *rows, void *object, const char *value, GError **error) {
    unsigned count = 0;
    for (const char *at = value; at && count < 3;) {
        uint64_t pair[2];
        const char *end = scan_pair(at, pair);
        if (!end || pair[0] > 15 || pair[1] > 15)
            break;
        field_store(&rows[count++], object, pair[1] << 4 | pair[0]);
        if (*end == '\0') {
            field_store(&rows[3], object, count);
            return true;
        }
        at = *end == ',' ? end + 1 : NULL;
    }
    return malformed("peers", value, "one to three nodes (x,y),(x,y) with coordinates 0..15", error);
}

static const struct isa_field *peer_rows(const struct isa_layout *layout) {
    for (unsigned i = 0; i + 3 < layout->count; i++)
        if (layout->fields[i].kind == FIELD_PEER)
            return &layout->fields[i];
    return NULL;
}

static bool unknown_key(const struct isa_layout *layout, const char *key, GError **error) {
    g_autoptr(GString) names = g_string_new(NULL);
    for (unsigned i = 0; i < layout->count; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", layout->fields[i].name);
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s has no field '%s', expected one of %s", layout->name, key,
                names->str);
    return false;
}

bool layout_parse(const struct isa_layout *layout, void *object, const char *key, const char *value, GError **error) {
    const struct isa_field *rows = strcmp(key, "peers") == 0 ? peer_rows(layout) : NULL;
    if (rows)
        return parse_peers(rows, object, value, error);
    bool known;
    if (!parse_pair(layout, object, key, value, &known, error))
        return false;
    if (known)
        return true;
    const struct isa_field *field = layout_find(layout, key);
    if (!field)
        return unknown_key(layout, key, error);
    uint64_t number = 1;
    uint8_t node;
    bool negative = false, node_like = field->kind == FIELD_NODE || field->kind == FIELD_PEER;
    if (!value && field->kind != FIELD_FLAG)
        return malformed(key, value, "KEY=VALUE", error);
    if (value && node_like && isa_node(value, &node))
        number = node;
    else if (value && field->kind == FIELD_SIDE && (strcmp(value, "a") == 0 || strcmp(value, "b") == 0))
        number = value[0] == 'b';
    else if (value && !isa_number(value, &number, &negative))
        return malformed(key, value,
                         node_like ? "a node (x,y) with coordinates 0..15" : "a number (decimal or 0x hexadecimal)",
                         error);
    if (negative && field->kind != FIELD_SIGNED)
        return malformed(key, value, "a number that is not negative", error);
    if (!negative && field->kind == FIELD_SIGNED && number > INT64_MAX)
        return malformed(key, value, "a smaller number", error);
    if (!field_check(layout, field, number, error))
        return false;
    field_store(field, object, number);
    return true;
}
