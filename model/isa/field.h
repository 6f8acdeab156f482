/* Bit fields by table: one row per field {name, bits, place in a C struct}, from which encoding, decoding, printing and
 * parsing follow. Every instruction, payload and register layout of the ISA is such a table, so that a bit number is
 * written once. A layout's bits live in the low bits of a 256-bit word; 32- and 64-bit words use its lowest lane. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/error.h"
#include "model/word.h"

/* How a field reads in text; the bits are the same for all but FIELD_SIGNED. */
enum field_kind {
    FIELD_NUMBER, /* decimal */
    FIELD_HEX,
    FIELD_SIGNED, /* two's complement, decimal */
    FIELD_FLAG,   /* one bit, its name alone sets it */
    FIELD_SIDE,   /* one bit, a or b */
    FIELD_NODE,   /* node byte {y,x}, written (x,y) */
    FIELD_X,      /* NAME_x; the next row is NAME_y, together NAME=(x,y) */
    FIELD_Y,
    FIELD_PEER,  /* node byte of a list; three rows, then the FIELD_PEERS row */
    FIELD_PEERS, /* how many of the three are present; all four together are peers=(x,y),(x,y) */
};

struct isa_field {
    const char *name;
    uint8_t low, width;           /* bits [low+width-1 : low] */
    uint8_t high_low, high_width; /* where the value's further high bits are, width 0 if nowhere */
    uint8_t size;                 /* bytes of the struct member: 1, 2, 4, 8 */
    uint8_t kind;                 /* enum field_kind */
    uint16_t offset;              /* of the member */
};

struct isa_layout {
    const char *name; /* for error sentences */
    const struct isa_field *fields;
    unsigned count;
    size_t size; /* bytes of the struct */
};

/* A row for `member` of `struct type`, called `text` in errors and text. */
#define ISA_FIELD_SPLIT(type, member, text, low, width, high_low, high_width, kind)                                    \
    { text, low, width, high_low, high_width, sizeof(((struct type *)0)->member), kind, offsetof(struct type, member) }
#define ISA_FIELD(type, member, text, low, width, kind) ISA_FIELD_SPLIT(type, member, text, low, width, 0, 0, kind)
#define ISA_LAYOUT(text, type, rows)                                                                                   \
    { text, rows, G_N_ELEMENTS(rows), sizeof(struct type) }

enum {
    ISA_LAYOUT_MAX_BYTES = 128, /* no described struct is larger */
};

/* The member's value, sign-extended for FIELD_SIGNED. */
uint64_t field_load(const struct isa_field *field, const void *object);
void field_store(const struct isa_field *field, void *object, uint64_t value);
/* FS_ERROR_RANGE naming layout, field, value and width when the value does not fit. */
bool field_check(const struct isa_layout *layout, const struct isa_field *field, uint64_t value, GError **error);
const struct isa_field *layout_find(const struct isa_layout *layout, const char *name);

/* Packs every field into `word`, other bits zero. FS_ERROR_RANGE as field_check; `word` is then unspecified. */
bool layout_encode(const struct isa_layout *layout, const void *object, struct word256 *word, GError **error);
/* Reads every field of the layout; other members are left alone. Any bits are legal. */
void layout_decode(const struct isa_layout *layout, const struct word256 *word, void *object);
/* Appends " name=value" for every field that differs from `defaults` (another such struct). */
void layout_print(const struct isa_layout *layout, const void *object, const void *defaults, GString *out);
/* Sets one field from text: `value` NULL for a bare flag. Accepts NAME=(x,y) for a pair and peers=(x,y),...
 * FS_ERROR_INPUT when the key is unknown or the value malformed, FS_ERROR_RANGE when it does not fit. */
bool layout_parse(const struct isa_layout *layout, void *object, const char *key, const char *value, GError **error);

/* Decimal, or hexadecimal with 0x; a leading minus is allowed if `negative` is not NULL. False when malformed or over
 * 64 bits; the value is then two's complement. */
bool isa_number(const char *text, uint64_t *value, bool *negative);
/* "(x,y)" with x, y 0..15 into the node byte {y,x} (noc-and-memory §1.1). False when malformed. */
bool isa_node(const char *text, uint8_t *node);
