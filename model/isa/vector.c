/* Bit tables of the vector core's envelopes and words (compute-units §7.3 to §7.5). */
#include "model/isa/vector.h"

#include <inttypes.h>

#include "model/isa/vector_text.h"

#define WORD(member, low, width, kind) ISA_FIELD(vector_word, member, #member, low, width, kind)
#define OP                             WORD(op, 27, 5, FIELD_NUMBER)
#define SA                             WORD(sa, 25, 2, FIELD_NUMBER)
#define VD                             WORD(vd, 17, 4, FIELD_NUMBER)
#define VA                             WORD(va, 13, 4, FIELD_NUMBER)
#define VB                             WORD(vb, 9, 4, FIELD_NUMBER)
#define PR                             WORD(pr, 3, 2, FIELD_NUMBER)
#define AD                             WORD(ad, 21, 3, FIELD_NUMBER)
#define L1                             WORD(l1, 0, 9, FIELD_NUMBER)
#define NODE                           WORD(to_node, 24, 1, FIELD_FLAG)
#define TYPE                           WORD(dtype, 24, 3, FIELD_NUMBER)

static const struct isa_field alu_fields[] = {
    OP,
    SA,
    WORD(sb, 23, 2, FIELD_NUMBER),
    WORD(sc, 21, 2, FIELD_NUMBER),
    VD,
    VA,
    VB,
    WORD(vc, 5, 4, FIELD_NUMBER),
    PR,
    WORD(pm, 1, 2, FIELD_NUMBER),
};
static const struct isa_field cvt_fields[] = {OP, TYPE, VD, VA};
static const struct isa_field red_fields[] = {OP, VD, VA, VB, WORD(kind, 5, 3, FIELD_NUMBER), PR};
static const struct isa_field mem_fields[] = {OP, TYPE, AD, VD, WORD(offset, 0, 14, FIELD_SIGNED)};
static const struct isa_field bcast_fields[] = {OP, SA, VD, VA};
static const struct isa_field shuf_fields[] = {OP, VD, VA, VB};
static const struct isa_field setvl_fields[] = {OP, VA};
static const struct isa_field setmode_fields[] = {OP, WORD(mode, 13, 2, FIELD_NUMBER)};
static const struct isa_field seti_fields[] = {OP, SA, VD};
static const struct isa_field loop_fields[] = {OP, VA, VB};
static const struct isa_field bare_fields[] = {OP};
static const struct isa_field fill_fields[] = {OP, AD, L1};
static const struct isa_field drain_fields[] = {
    OP,
    WORD(ack, 25, 1, FIELD_FLAG),
    NODE,
    AD,
    WORD(dst_x, 17, 4, FIELD_X),
    WORD(dst_y, 13, 4, FIELD_Y),
    WORD(buf, 9, 4, FIELD_NUMBER),
    L1,
};

static const struct isa_layout alu = ISA_LAYOUT("vector word", vector_word, alu_fields);
static const struct isa_layout cvt = ISA_LAYOUT("vcvt", vector_word, cvt_fields);
static const struct isa_layout red = ISA_LAYOUT("vred", vector_word, red_fields);
static const struct isa_layout mem = ISA_LAYOUT("vld/vst", vector_word, mem_fields);
static const struct isa_layout bcast = ISA_LAYOUT("vbcast", vector_word, bcast_fields);
static const struct isa_layout shuf = ISA_LAYOUT("vshuf", vector_word, shuf_fields);
static const struct isa_layout setvl = ISA_LAYOUT("vsetvl", vector_word, setvl_fields);
static const struct isa_layout setmode = ISA_LAYOUT("vsetmode", vector_word, setmode_fields);
static const struct isa_layout seti = ISA_LAYOUT("vseti", vector_word, seti_fields);
static const struct isa_layout loop = ISA_LAYOUT("vloop", vector_word, loop_fields);
static const struct isa_layout bare = ISA_LAYOUT("vector word", vector_word, bare_fields);
static const struct isa_layout fill = ISA_LAYOUT("vfill/vdrain", vector_word, fill_fields);
static const struct isa_layout drain = ISA_LAYOUT("vdrain to a node", vector_word, drain_fields);

static const struct {
    const char *name;
    const struct isa_layout *layout;
} vector_ops[VECTOR_OPS] = {
    [VECTOR_MOV] = {"vmov", &alu},       [VECTOR_NEG] = {"vneg", &alu},
    [VECTOR_ABS] = {"vabs", &alu},       [VECTOR_ADD] = {"vadd", &alu},
    [VECTOR_SUB] = {"vsub", &alu},       [VECTOR_MUL] = {"vmul", &alu},
    [VECTOR_FMA] = {"vfma", &alu},       [VECTOR_FNMA] = {"vfnma", &alu},
    [VECTOR_MAX] = {"vmax", &alu},       [VECTOR_MIN] = {"vmin", &alu},
    [VECTOR_SEL] = {"vsel", &alu},       [VECTOR_CMPLT] = {"vcmplt", &alu},
    [VECTOR_CMPGT] = {"vcmpgt", &alu},   [VECTOR_CMPEQ] = {"vcmpeq", &alu},
    [VECTOR_EXP2] = {"vexp2", &alu},     [VECTOR_LOG2] = {"vlog2", &alu},
    [VECTOR_INV] = {"vinv", &alu},       [VECTOR_RSQRT] = {"vrsqrt", &alu},
    [VECTOR_CVT] = {"vcvt", &cvt},       [VECTOR_RED] = {"vred", &red},
    [VECTOR_LD] = {"vld", &mem},         [VECTOR_ST] = {"vst", &mem},
    [VECTOR_BCAST] = {"vbcast", &bcast}, [VECTOR_SHUF] = {"vshuf", &shuf},
    [VECTOR_SETVL] = {"vsetvl", &setvl}, [VECTOR_SETMODE] = {"vsetmode", &setmode},
    [VECTOR_SETI] = {"vseti", &seti},    [VECTOR_LOOP] = {"vloop", &loop},
    [VECTOR_BAR] = {"vbar", &bare},      [VECTOR_FILL] = {"vfill", &fill},
    [VECTOR_DRAIN] = {"vdrain", &fill},  [VECTOR_HALT] = {"vhalt", &bare},
};

enum {
    A = 1,
    B = 2,
    C = 4,
};

const uint8_t vector_op_reads[VECTOR_OPS] = {
    A,         A,     A,     A | C,     A | C, A | B, A | B | C,
    A | B | C, A | B, A | B, A | B | C, A | B, A | B, A | B, /* VMOV .. VCMPEQ */
    A,         A,     A,     A,                              /* the seeds */
    A,         A,     A,     A,         A,     A,     A,
    A,         A,     A,     A,         A,     A,     A, /* not arithmetic */
};

const char *vector_op_name(unsigned op) {
    return vector_ops[op & 31].name;
}

const struct isa_layout *vector_word_layout(const struct vector_word *word) {
    return word->op == VECTOR_DRAIN && word->to_node ? &drain : vector_ops[word->op & 31].layout;
}

bool vector_word_encode(const struct vector_word *word, uint32_t *bits, GError **error) {
    struct word256 packed;
    if (!layout_encode(vector_word_layout(word), word, &packed, error))
        return false;
    *bits = (uint32_t)packed.w[0];
    return true;
}

#define ENVELOPE(member, low, width, kind) ISA_FIELD(vector_envelope, member, #member, low, width, kind)

static const struct isa_field imem_fields[] = {
    ENVELOPE(op, 252, 4, FIELD_NUMBER),
    ENVELOPE(pc, 243, 9, FIELD_NUMBER),
    ENVELOPE(word, 0, 32, FIELD_HEX),
};
static const struct isa_field desc_fields[] = {
    ENVELOPE(op, 252, 4, FIELD_NUMBER),
    ENVELOPE(descriptor, 249, 3, FIELD_NUMBER),
    ENVELOPE(field, 246, 3, FIELD_NUMBER),
    ISA_FIELD_SPLIT(vector_envelope, value, "value", 212, 34, 63, 6, FIELD_HEX),
};
static const struct isa_field run_fields[] = {
    ENVELOPE(op, 252, 4, FIELD_NUMBER),
    ENVELOPE(pc, 243, 9, FIELD_NUMBER),
};

static const struct isa_layout imem = ISA_LAYOUT("imem", vector_envelope, imem_fields);
static const struct isa_layout desc = ISA_LAYOUT("desc", vector_envelope, desc_fields);
static const struct isa_layout run = ISA_LAYOUT("run", vector_envelope, run_fields);
static const struct isa_layout other = {"vector instruction", run_fields, 1, sizeof(struct vector_envelope)};

static const struct isa_layout *envelope_layout(unsigned op) {
    static const struct isa_layout *const layouts[] = {&other, &imem, &desc, &run};
    return layouts[op < G_N_ELEMENTS(layouts) ? op : 0];
}

bool vector_envelope_encode(const struct vector_envelope *envelope, struct word256 *payload, GError **error) {
    return layout_encode(envelope_layout(envelope->op), envelope, payload, error);
}

void vector_envelope_decode(const struct word256 *payload, struct vector_envelope *envelope) {
    *envelope = (struct vector_envelope){0};
    layout_decode(envelope_layout((unsigned)word_get(payload, 252, 4)), payload, envelope);
}

/* The value of a DESC for one dimension. */
struct dimension {
    int32_t stride;
    uint16_t bound;
};

static const struct isa_field dimension_fields[] = {
    ISA_FIELD(dimension, stride, "stride", 16, 18, FIELD_SIGNED),
    ISA_FIELD(dimension, bound, "bound", 0, 16, FIELD_NUMBER),
};
static const struct isa_layout dimension_layout = ISA_LAYOUT("desc", dimension, dimension_fields);

bool vector_dimension_encode(int32_t stride, uint16_t bound, uint64_t *value, GError **error) {
    struct word256 packed;
    if (!layout_encode(&dimension_layout, &(struct dimension){stride, bound}, &packed, error))
        return false;
    *value = packed.w[0];
    return true;
}

static void print_desc(const struct vector_envelope *envelope, GString *out) {
    g_string_append_printf(out, "desc a%u", envelope->descriptor);
    if (envelope->field == 0) {
        g_string_append_printf(out, " base=0x%" PRIx64, envelope->value);
    } else if (envelope->field <= 4 && envelope->value >> 34 == 0) {
        struct dimension dimension;
        vector_dimension_decode(envelope->value, &dimension.stride, &dimension.bound);
        g_string_append_printf(out, " dim=%u stride=%" PRId32 " bound=%u", envelope->field - 1u, dimension.stride,
                               dimension.bound);
    } else {
        g_string_append_printf(out, " field=%u value=0x%" PRIx64, envelope->field, envelope->value);
    }
}

void vector_envelope_print(const struct vector_envelope *envelope, GString *out) {
    switch (envelope->op) {
    case VECTOR_IMEM:
        g_string_append_printf(out, "imem pc=%u ", envelope->pc);
        vector_word_print(envelope->word, out);
        break;
    case VECTOR_DESC:
        print_desc(envelope, out);
        break;
    case VECTOR_RUN:
        g_string_append_printf(out, "run pc=%u", envelope->pc);
        break;
    default:
        g_string_append_printf(out, "vector op=%u", envelope->op);
    }
}
