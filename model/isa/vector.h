/* The vector core's instruction set: the three CU_INST envelopes that load and start a kernel (compute-units §7.3) and
 * the 32-bit word the kernel is made of (§7.4, §7.5).
 *
 * A word is decoded with every overlay at once, because the hardware reads overlays and not opcodes: a chain executes
 * any word through the ALU overlay (§7.6). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "model/isa/field.h"
#include "model/word.h"

/* Opcodes of a 32-bit word, bits 31:27 (compute-units §7.5). */
enum vector_op {
    VECTOR_MOV,
    VECTOR_NEG,
    VECTOR_ABS,
    VECTOR_ADD,
    VECTOR_SUB,
    VECTOR_MUL,
    VECTOR_FMA,
    VECTOR_FNMA,
    VECTOR_MAX,
    VECTOR_MIN,
    VECTOR_SEL,
    VECTOR_CMPLT,
    VECTOR_CMPGT,
    VECTOR_CMPEQ,
    VECTOR_EXP2,
    VECTOR_LOG2,
    VECTOR_INV,
    VECTOR_RSQRT,
    VECTOR_CVT,
    VECTOR_RED,
    VECTOR_LD,
    VECTOR_ST,
    VECTOR_BCAST,
    VECTOR_SHUF,
    VECTOR_SETVL,
    VECTOR_SETMODE,
    VECTOR_SETI,
    VECTOR_LOOP,
    VECTOR_BAR,
    VECTOR_FILL,
    VECTOR_DRAIN,
    VECTOR_HALT,
    VECTOR_OPS,
};

/* sa, sb, sc */
enum vector_selector {
    VECTOR_SELECT_V,
    VECTOR_SELECT_S,
    VECTOR_SELECT_C, /* the chain's previous stage */
    VECTOR_SELECT_K,
};

enum vector_predication {
    VECTOR_ALWAYS,
    VECTOR_WHERE_SET,
    VECTOR_WHERE_CLEAR, /* so does 3 */
};

enum vector_dtype {
    VECTOR_FP16 = 1,
    VECTOR_FP32 = 2,
};

enum vector_mode {
    VECTOR_FLAT,
    VECTOR_D2,
    VECTOR_D4,
    VECTOR_TREE,
};

enum vector_reduction {
    VECTOR_RED_SUM,
    VECTOR_RED_MAX,
    VECTOR_RED_MIN,
    VECTOR_RED_SUMSQ,
    VECTOR_RED_DOT,
    VECTOR_RED_EXPSUM,
    VECTOR_RED_ANY,
    VECTOR_RED_ALL,
};

enum {
    VECTOR_IMEM_WORDS = 512,
};

/* One 32-bit word read through all overlays. VRED's destination sd is vd, VST's source is vd. */
struct vector_word {
    uint8_t op; /* 5 bits, enum vector_op */
    /* ALU overlay; VCVT, VRED, VBCAST, VSHUF, VSETVL, VSETI, VLOOP use some of its places */
    uint8_t sa, sb, sc;     /* 2 bits */
    uint8_t vd, va, vb, vc; /* 4 bits; vb of VLOOP is the body length in words */
    uint8_t pr, pm;         /* 2 bits */
    uint8_t kind;           /* VRED, 3 bits, enum vector_reduction */
    uint8_t mode;           /* VSETMODE, 2 bits, enum vector_mode */
    /* VLD, VST, VCVT */
    uint8_t dtype;  /* 3 bits */
    uint8_t ad;     /* 3 bits, VFILL and VDRAIN too */
    int16_t offset; /* 14 bits signed, L1 words */
    /* VFILL, VDRAIN */
    uint16_t l1;          /* 9 bits, first L1 word */
    uint8_t to_node;      /* VDRAIN: 1 to a node */
    uint8_t ack;          /* VDRAIN to a node */
    uint8_t dst_x, dst_y; /* 4 bits */
    uint8_t buf;          /* 4 bits */
};

/* Packs the fields the opcode has (VDRAIN to memory has fewer than to a node); the rest of the word is zero.
 * FS_ERROR_RANGE naming the field when a value does not fit (§7.4). */
bool vector_word_encode(const struct vector_word *word, uint32_t *bits, GError **error);

/* Reads every overlay, whatever the opcode. Any 32 bits are legal. */
static inline void vector_word_decode(uint32_t bits, struct vector_word *word) {
    *word = (struct vector_word){
        .op = (uint8_t)(bits >> 27),
        .sa = bits >> 25 & 3,
        .sb = bits >> 23 & 3,
        .sc = bits >> 21 & 3,
        .vd = bits >> 17 & 15,
        .va = bits >> 13 & 15,
        .vb = bits >> 9 & 15,
        .vc = bits >> 5 & 15,
        .pr = bits >> 3 & 3,
        .pm = bits >> 1 & 3,
        .kind = bits >> 5 & 7,
        .mode = bits >> 13 & 3,
        .dtype = bits >> 24 & 7,
        .ad = bits >> 21 & 7,
        .offset = (int16_t)((int)((bits & 0x3FFF) ^ 0x2000) - 0x2000),
        .l1 = bits & 0x1FF,
        .to_node = bits >> 24 & 1,
        .ack = bits >> 25 & 1,
        .dst_x = bits >> 17 & 15,
        .dst_y = bits >> 13 & 15,
        .buf = bits >> 9 & 15,
    };
}

/* Which of the operands A (bit 0), B (1), C (2) an opcode looks at when an ALU executes it (§7.5); codes that are not
 * arithmetic act on A alone (§7.6). */
extern const uint8_t vector_op_reads[VECTOR_OPS];

/* "vmov" .. "vhalt"; op 0..31. */
const char *vector_op_name(unsigned op);
/* The fields the word's opcode has: what vector_word_encode packs. */
const struct isa_layout *vector_word_layout(const struct vector_word *word);

/* CU_INST opcodes of a vector core (§7.3). */
enum vector_envelope_op {
    VECTOR_IMEM = 1,
    VECTOR_DESC = 2,
    VECTOR_RUN = 3,
};

struct vector_envelope {
    uint8_t op;         /* 4 bits; other opcodes do nothing */
    uint16_t pc;        /* IMEM, RUN: word address 0..511 */
    uint32_t word;      /* IMEM */
    uint8_t descriptor; /* DESC: 0..7 */
    uint8_t field;      /* DESC: 0 base, 1..4 dimension 0..3, 5..7 nothing */
    uint64_t value;     /* DESC: 40 bits */
};

/* Packs the fields the opcode has, FS_ERROR_RANGE naming the one that does not fit. */
bool vector_envelope_encode(const struct vector_envelope *envelope, struct word256 *payload, GError **error);
/* Reads the fields the opcode has; the others are 0. Any bits are legal. */
void vector_envelope_decode(const struct word256 *payload, struct vector_envelope *envelope);
/* Appends "imem pc=3 vadd v4, v1, v2", "desc a0 base=0x1000", "desc a0 dim=1 stride=-4 bound=16", "run pc=0". */
void vector_envelope_print(const struct vector_envelope *envelope, GString *out);

/* DESC value of fields 1..4: a signed 18-bit stride and a 16-bit bound (0 acts as 1). FS_ERROR_RANGE when the stride
 * does not fit. */
bool vector_dimension_encode(int32_t stride, uint16_t bound, uint64_t *value, GError **error);

static inline void vector_dimension_decode(uint64_t value, int32_t *stride, uint16_t *bound) {
    *stride = (int32_t)((value >> 16 & 0x3FFFF) ^ 0x20000) - 0x20000;
    *bound = (uint16_t)value;
}
