/* Plain evaluation of vector programs; see vector_model.h. Section numbers are those of compute-units. */
#include "workloads/vector_model.h"

#include <string.h>

#include "model/numeric/e8m15_convert.h"
#include "model/numeric/e8m15_reduce.h"

enum {
    GROUP = 16,
    STEPS_MAX = 1 << 20, /* words of one RUN; more is a program that never ends */
};

void vector_model_init(struct vector_model *model, struct dram *memory) {
    *model = (struct vector_model){.memory = memory,
                                   .words_per_flit = 1,
                                   .k = {E8M15_ZERO, E8M15_ONE, E8M15_ONE | E8M15_SIGN, E8M15_ZERO},
                                   .length = MODEL_LENGTH};
    for (unsigned a = 0; a < G_N_ELEMENTS(model->walk); a++)
        for (unsigned d = 0; d < MODEL_DIMENSIONS; d++)
            model->walk[a].bound[d] = 1;
}

static unsigned chunks(const struct vector_model *model) {
    return (model->length + GROUP - 1) / GROUP;
}

/* ---- walks (§7.8) ---- */

static unsigned bound_of(const struct model_walk *walk, unsigned d) {
    return MAX(walk->bound[d], 1u);
}

static uint64_t walk_total(const struct model_walk *walk) {
    uint64_t total = 1;
    for (unsigned d = 0; d < MODEL_DIMENSIONS; d++)
        total *= bound_of(walk, d);
    return total;
}

/* Address of element `index`; past the end the last one repeats. */
static uint64_t walk_address(const struct model_walk *walk, uint64_t index) {
    uint64_t address = walk->base;
    index = MIN(index, walk_total(walk) - 1);
    for (unsigned d = 0; d < MODEL_DIMENSIONS; d++) {
        address += (uint64_t)((int64_t)walk->stride[d] * (int64_t)(index % bound_of(walk, d)));
        index /= bound_of(walk, d);
    }
    return address;
}

/* ---- words ---- */

static uint32_t operand(const struct vector_model *model, unsigned select, unsigned reg, unsigned element,
                        uint32_t chained) {
    switch (select) {
    case VECTOR_SELECT_V:
        return model->v[reg][element];
    case VECTOR_SELECT_S:
        return model->s[reg];
    case VECTOR_SELECT_C:
        return chained;
    default:
        return model->k[reg & 3];
    }
}

/* One ALU word, or the words of one chain: every element goes through all of them (§7.6). */
static void arithmetic(struct vector_model *model, const struct vector_word *words, unsigned depth) {
    const struct vector_word *last = &words[depth - 1];
    bool compare = last->op >= VECTOR_CMPLT && last->op <= VECTOR_CMPEQ;
    for (unsigned e = 0; e < model->length; e++) {
        struct e8m15_result result = {0};
        for (unsigned t = 0; t < depth; t++)
            result = e8m15_alu((enum vec_op)words[t].op, operand(model, words[t].sa, words[t].va, e, result.value),
                               operand(model, words[t].sb, words[t].vb, e, result.value),
                               operand(model, words[t].sc, words[t].vc, e, result.value), model->range);
        bool set = model->p[last->pr][e];
        if (compare)
            model->p[last->pr][e] = result.predicate;
        else if (last->pm == VECTOR_ALWAYS || set == (last->pm == VECTOR_WHERE_SET))
            model->v[last->vd][e] = result.value;
    }
}

static bool reduce(struct vector_model *model, const struct vector_word *word) {
    if (word->kind >= VECTOR_RED_ANY) {
        bool any = false, all = true;
        for (unsigned e = 0; e < model->length; e++) {
            any |= model->p[word->pr][e];
            all &= model->p[word->pr][e];
        }
        model->s[word->vd] = (word->kind == VECTOR_RED_ANY ? any : all) ? E8M15_ONE : E8M15_ZERO;
        return true;
    }
    if (model->length % GROUP || model->mode != VECTOR_TREE)
        return false;
    uint32_t powers[MODEL_LENGTH];
    model->s[word->vd] = e8m15_reduce((enum vec_reduction)word->kind, model->v[word->va], model->v[word->vb],
                                      model->length, powers, model->range);
    if (word->kind == VECTOR_RED_EXPSUM)
        memcpy(model->v[word->vb], powers, model->length * sizeof *powers);
    return true;
}

static struct word256 *l1_at(struct vector_model *model, const struct vector_word *word, uint64_t index) {
    return &model->l1[(walk_address(&model->walk[word->ad], index) + (uint64_t)(int64_t)word->offset) % MODEL_L1_WORDS];
}

/* Whole chunks, whatever the length. */
static bool load_store(struct vector_model *model, const struct vector_word *word) {
    unsigned bits = word->dtype == VECTOR_FP16 ? 16 : 32, per_word = WORD_BITS / bits;
    if (word->dtype != VECTOR_FP16 && word->dtype != VECTOR_FP32)
        return false;
    for (unsigned e = 0; e < chunks(model) * GROUP; e++) {
        struct word256 *at = l1_at(model, word, e / per_word);
        uint32_t *element = &model->v[word->vd][e];
        unsigned place = e % per_word * bits;
        if (word->op == VECTOR_LD) {
            uint32_t value = (uint32_t)word_get(at, place, bits);
            *element = bits == 16 ? e8m15_from_f16((uint16_t)value) : e8m15_from_f32(value);
        } else {
            word_set(at, place, bits, bits == 16 ? e8m15_to_f16(*element) : e8m15_to_f32(*element));
        }
    }
    return true;
}

static bool move_memory(struct vector_model *model, const struct vector_word *word) {
    const struct model_walk *walk = &model->walk[word->ad];
    uint64_t total = walk_total(walk);
    if (total > 256 || (word->op == VECTOR_DRAIN && word->to_node))
        return false;
    for (uint64_t i = 0; i < total; i++) {
        struct word256 *at = &model->l1[(word->l1 + i) % MODEL_L1_WORDS];
        if (word->op == VECTOR_FILL)
            *at = dram_read(model->memory, walk_address(walk, i), NULL);
        else
            dram_write(model->memory, walk_address(walk, i), at);
    }
    return true;
}

static void shuffle(struct vector_model *model, const struct vector_word *word) {
    uint32_t turned[MODEL_LENGTH] = {0};
    unsigned by = model->s[word->vb] & 15, count = chunks(model) * GROUP;
    for (unsigned e = 0; e < count; e++)
        turned[e] = model->v[word->va][e / GROUP * GROUP + (e + by) % GROUP];
    memcpy(model->v[word->vd], turned, count * sizeof *turned);
}

static void broadcast(struct vector_model *model, const struct vector_word *word) {
    if (word->sa != VECTOR_SELECT_S) {
        model->s[word->vd] = model->v[word->va][0];
        return;
    }
    for (unsigned e = 0; e < chunks(model) * GROUP; e++)
        model->v[word->vd][e] = model->s[word->va];
}

static void convert(struct vector_model *model, const struct vector_word *word) {
    for (unsigned e = 0; e < chunks(model) * GROUP; e++) {
        uint32_t value = model->v[word->va][e];
        model->v[word->vd][e] = word->dtype == VECTOR_FP16 ? e8m15_from_f16(e8m15_to_f16(value)) : value;
    }
}

static bool set_length(struct vector_model *model, const struct vector_word *word) {
    model->length = model->s[word->va];
    return model->length >= 1 && model->length <= MODEL_LENGTH;
}

static bool open_loop(struct vector_model *model, const struct vector_word *word, unsigned pc) {
    if (model->turns)
        return false;
    model->top = pc + 1;
    model->end = model->top + word->vb;
    model->turns = MAX(model->s[word->va], 1u);
    return true;
}

/* ---- the program ---- */

/* The word at the address that comes next, the loop taken into account (§7.7). */
static unsigned next_address(struct vector_model *model, unsigned pc) {
    if (model->turns && pc == model->end && --model->turns)
        pc = model->top;
    return pc % VECTOR_IMEM_WORDS;
}

static bool take_alu(struct vector_model *model, unsigned *pc) {
    static const unsigned depths[] = {[VECTOR_FLAT] = 1, [VECTOR_D2] = 2, [VECTOR_D4] = 4, [VECTOR_TREE] = 0};
    struct vector_word words[4];
    unsigned depth = depths[model->mode];
    for (unsigned t = 0; t < depth; t++) {
        vector_word_decode(model->code[(*pc)++ % VECTOR_IMEM_WORDS], &words[t]);
        if (words[t].op > VECTOR_RSQRT)
            return false;
    }
    if (!depth)
        return false;
    arithmetic(model, words, depth);
    return true;
}

/* Everything that is no arithmetic; false ends the evaluation. */
static bool take_other(struct vector_model *model, const struct vector_word *word, unsigned *pc) {
    switch (word->op) {
    case VECTOR_CVT:
        convert(model, word);
        return true;
    case VECTOR_RED:
        return reduce(model, word);
    case VECTOR_LD:
    case VECTOR_ST:
        return load_store(model, word);
    case VECTOR_BCAST:
        broadcast(model, word);
        return true;
    case VECTOR_SHUF:
        shuffle(model, word);
        return true;
    case VECTOR_SETVL:
        return set_length(model, word);
    case VECTOR_SETMODE:
        model->mode = (enum vector_mode)word->mode;
        return true;
    case VECTOR_SETI:
        *(word->sa == VECTOR_SELECT_K ? &model->k[3] : &model->s[word->vd]) =
            model->code[(*pc)++ % VECTOR_IMEM_WORDS] & 0xFFFFFF;
        return true;
    case VECTOR_LOOP:
        return open_loop(model, word, *pc - 1);
    case VECTOR_FILL:
    case VECTOR_DRAIN:
        return move_memory(model, word);
    default: /* VBAR */
        return true;
    }
}

static bool run_from(struct vector_model *model, unsigned pc) {
    model->turns = 0;
    for (unsigned step = 0; step < STEPS_MAX; step++) {
        struct vector_word word;
        pc = next_address(model, pc);
        vector_word_decode(model->code[pc], &word);
        if (word.op == VECTOR_HALT)
            return true;
        if (word.op <= VECTOR_RSQRT) {
            if (!take_alu(model, &pc))
                return false;
            continue;
        }
        pc++;
        if (!take_other(model, &word, &pc))
            return false;
    }
    return false;
}

static void describe(struct vector_model *model, const struct vector_envelope *envelope) {
    struct model_walk *walk = &model->walk[envelope->descriptor];
    if (envelope->field == 0)
        walk->base = envelope->value;
    else if (envelope->field <= MODEL_DIMENSIONS)
        vector_dimension_decode(envelope->value, &walk->stride[envelope->field - 1], &walk->bound[envelope->field - 1]);
}

bool vector_model_take(struct vector_model *model, const struct word256 *payload) {
    struct vector_envelope envelope;
    for (unsigned k = 0; model->code_left && k < model->words_per_flit; k++) {
        model->code[model->code_at++ % VECTOR_IMEM_WORDS] = (uint32_t)word_get(payload, 32 * k, 32);
        if (!--model->code_left || k + 1 == model->words_per_flit)
            return true;
    }
    vector_envelope_decode(payload, &envelope);
    if (envelope.op == VECTOR_RUN)
        return run_from(model, envelope.pc);
    if (envelope.op == VECTOR_DESC)
        describe(model, &envelope);
    if (envelope.op == VECTOR_IMEM && model->words_per_flit == 1)
        model->code[envelope.pc] = envelope.word;
    if (envelope.op == VECTOR_IMEM && model->words_per_flit > 1) {
        model->code_at = envelope.pc;
        model->code_left = envelope.word;
    }
    return true;
}
