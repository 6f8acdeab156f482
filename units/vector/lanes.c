/* The lanes; see lanes.h. */
#include "units/vector/lanes.h"

#include <string.h>

#include <glib.h>

#include "model/numeric/e8m15_convert.h"
#include "model/numeric/e8m15_reduce.h"
#include "model/numeric/e8m15_seed.h"

enum {
    PENDING_WRAP = 32,       /* 5-bit counters (§7.1) */
    WRITE_BEHIND = 2,        /* W = b + D*A + 2 (§8.3) */
    EMPTY_BEHIND = 19,       /* the pipe is empty 4A + 19 cycles after the last beat */
    TREE_LEAVES = 8,         /* elements a beat of a single-leaf reduction takes */
    POISON_VALUE = 0x7FDEAD, /* a NaN */
    WHOLE_CHUNK = 0xFFFF,
};

/* Lanes a mode gives a beat: 16x1, 8x2, 4x4 (§7.6), by number of stages. */
static unsigned beat_width(unsigned stages) {
    return LANES / stages;
}

void lanes_init(struct lanes *lanes, const struct vector_params *params, bool rtl_defects, const char *name,
                struct hazard_log *hazards) {
    *lanes = (struct lanes){.k = {E8M15_ZERO, E8M15_ONE, E8M15_ONE | E8M15_SIGN, E8M15_ZERO},
                            .vl = VECTOR_LENGTH,
                            .depth = params->alu_depth,
                            .rtl_defects = rtl_defects,
                            .range = params->exp2_saturate ? E8M15_EXP2_SATURATES : E8M15_EXP2_WRAPS,
                            .name = name,
                            .hazards = hazards};
    g_assert(lanes->depth >= 1 && lanes->depth <= LANES_DEEPEST);
    if (!params->poison)
        return;
    for (unsigned r = 0; r < VECTOR_REGISTERS; r++)
        for (unsigned e = 0; e < VECTOR_LENGTH; e++)
            lanes->v[r][e] = POISON_VALUE;
    for (unsigned r = 0; r < SCALAR_REGISTERS; r++)
        lanes->s[r] = POISON_VALUE;
}

void lanes_check_read(struct lanes *lanes, unsigned reg, unsigned chunk, uint16_t wanted, cycle_t now) {
    if (wanted & ~lanes->v_set[reg][chunk])
        hazard_report(lanes->hazards, "vec.unset_read", now, lanes->name,
                      "V%u is read in elements %u..%u, not all of which were ever written", reg, LANES * chunk,
                      LANES * chunk + LANES - 1);
}

uint32_t lanes_scalar(struct lanes *lanes, unsigned reg, cycle_t now) {
    if (!(lanes->s_set >> reg & 1))
        hazard_report(lanes->hazards, "vec.unset_read", now, lanes->name, "S%u is read and was never written", reg);
    return lanes->s[reg];
}

/* ---- predicates ---- */

static uint16_t predicate_bits(const uint64_t words[], unsigned element, unsigned width) {
    return (uint16_t)(words[element / 64] >> element % 64 & ((1u << width) - 1));
}

static void predicate_write(struct lanes *lanes, unsigned pr, unsigned element, uint16_t mask, uint16_t bits) {
    uint64_t at = (uint64_t)mask << element % 64;
    uint64_t *word = &lanes->p[pr][element / 64];
    *word = (*word & ~at) | (uint64_t)(bits & mask) << element % 64;
    lanes->p_set[pr][element / 64] |= at;
}

/* ---- chains ---- */

static struct chain *chain_at(struct lanes *lanes, uint32_t number) {
    return &lanes->chains[number % CHAIN_MEMORY];
}

void lanes_chain_open(struct lanes *lanes, cycle_t now) {
    lanes_settle(lanes, now - 1); /* beats that are through no longer need the record this one takes */
    struct chain *chain = chain_at(lanes, lanes->chain_count++);
    for (unsigned t = 0; t < CHAIN_STAGES; t++)
        chain->gathered[t] = CYCLE_NEVER;
}

void lanes_chain_gather(struct lanes *lanes, unsigned stage, const struct vector_word *word, cycle_t now) {
    struct chain *chain = chain_at(lanes, lanes->chain_count - 1);
    struct stage *to = &chain->stage[stage];
    *to =
        (struct stage){.op = word->op, .select = {word->sa, word->sb, word->sc}, .reg = {word->va, word->vb, word->vc}};
    unsigned reads = vector_op_reads[word->op];
    for (unsigned i = 0; i < 3; i++) {
        if (to->select[i] == VECTOR_SELECT_S)
            to->value[i] = reads >> i & 1 ? lanes_scalar(lanes, to->reg[i], now) : lanes->s[to->reg[i]];
        else if (to->select[i] == VECTOR_SELECT_K)
            to->value[i] = lanes->k[to->reg[i] % CONSTANTS];
    }
    chain->gathered[stage] = now;
}

static bool stages_differ(const struct stage *x, const struct stage *y) {
    return x->op != y->op || memcmp(x->select, y->select, sizeof x->select) != 0 ||
           memcmp(x->value, y->value, sizeof x->value) != 0;
}

/* The word the published hardware uses: the one gathered last for this stage before the beat comes by (§7.6). */
static const struct stage *shared_stage(struct lanes *lanes, const struct beat *beat, unsigned stage) {
    cycle_t until = beat->issue + 1 + (cycle_t)stage * lanes->depth;
    for (uint32_t number = lanes->chain_count; number-- > beat->chain + 1;) {
        const struct chain *chain = chain_at(lanes, number);
        if (chain->gathered[stage] != CYCLE_NEVER && chain->gathered[stage] <= until)
            return &chain->stage[stage];
    }
    return &chain_at(lanes, beat->chain)->stage[stage];
}

static const struct stage *beat_stage(struct lanes *lanes, const struct beat *beat, unsigned stage) {
    const struct stage *own = &chain_at(lanes, beat->chain)->stage[stage];
    if (beat->chain + 1 == lanes->chain_count)
        return own;
    const struct stage *shared = shared_stage(lanes, beat, stage);
    if (!stages_differ(own, shared))
        return own;
    hazard_report(lanes->hazards, "defect.chain_overlap", beat->issue, lanes->name,
                  "stage %u of a beat issued in cycle %" G_GUINT64_FORMAT
                  " meets the word of the chain behind it in the published hardware; put a VSETMODE between",
                  stage, beat->issue);
    return lanes->rtl_defects ? shared : own;
}

/* ---- one stage ---- */

static void note_range(struct lanes *lanes, const uint32_t *a, unsigned width, cycle_t now) {
    for (unsigned lane = 0; lane < width; lane++)
        if (e8m15_exp2_leaves_range(a[lane]))
            hazard_report(lanes->hazards, "defect.exp2_range", now, lanes->name,
                          "exp2 of a value between 128 and 256 in magnitude wraps in the published hardware");
}

/* Computes a stage on `width` lanes; `operands` NULL stands for a broadcast of the stage's own value. Returns the lanes
 * whose predicate output is set: only a comparison has one, whatever the beat was issued as. */
static uint16_t compute(struct lanes *lanes, const struct stage *stage, const uint32_t *const operands[3],
                        unsigned width, uint32_t *out, cycle_t now) {
    uint32_t spread[3][LANES];
    const uint32_t *in[3];
    for (unsigned i = 0; i < 3; i++) {
        in[i] = operands[i] ? operands[i] : spread[i];
        for (unsigned lane = 0; lane < width && !operands[i]; lane++)
            spread[i][lane] = stage->value[i];
    }
    if (stage->op == VEC_EXP2)
        note_range(lanes, in[0], width, now);
    return (uint16_t)e8m15_alu_lanes((enum vec_op)stage->op, in[0], in[1], in[2], width, out, lanes->range);
}

/* Stages 1..D-1 of a beat, each on the result of the one before. */
static void finish_stages(struct lanes *lanes, struct beat *beat) {
    for (unsigned t = 1; t < beat->stages; t++) {
        const struct stage *stage = beat_stage(lanes, beat, t);
        uint32_t before[LANES];
        memcpy(before, beat->value, sizeof before);
        const uint32_t *operands[3];
        for (unsigned i = 0; i < 3; i++)
            operands[i] = stage->select[i] == VECTOR_SELECT_S || stage->select[i] == VECTOR_SELECT_K ? NULL : before;
        beat->truths = compute(lanes, stage, operands, beat->width, beat->value, beat->issue);
    }
}

/* ---- writing ---- */

static void beat_write(struct lanes *lanes, struct beat *beat) {
    if (beat->silent)
        return;
    finish_stages(lanes, beat);
    unsigned element = LANES * beat->chunk + beat->first;
    if (beat->compare) {
        predicate_write(lanes, beat->target, element, beat->mask, beat->truths);
        return;
    }
    for (unsigned lane = 0; lane < beat->width; lane++)
        if (beat->mask >> lane & 1)
            lanes->v[beat->target][element + lane] = beat->value[lane];
    lanes->v_set[beat->target][beat->chunk] |= (uint16_t)(beat->mask << beat->first);
}

static struct beat *oldest(struct lanes *lanes) {
    return lanes->count ? &lanes->beats[lanes->head] : NULL;
}

static void drop_oldest(struct lanes *lanes) {
    lanes->head = (lanes->head + 1) % LANES_IN_FLIGHT;
    lanes->count--;
}

static void pending_down(struct lanes *lanes, unsigned reg) {
    if (lanes->pending[reg]) /* a subtraction at 0 is lost (§8.3) */
        lanes->pending[reg]--;
}

static void pending_up(struct lanes *lanes, unsigned reg, cycle_t now) {
    if (++lanes->pending[reg] < PENDING_WRAP)
        return;
    lanes->pending[reg] = 0;
    hazard_report(lanes->hazards, "vec.pend_overflow", now, lanes->name,
                  "the 5-bit count of outstanding writes to V%u wraps; the next reader does not wait for them", reg);
}

void lanes_settle(struct lanes *lanes, cycle_t upto) {
    for (struct beat *beat = oldest(lanes); beat && beat->due <= upto; beat = oldest(lanes)) {
        beat_write(lanes, beat);
        if (!beat->compare)
            pending_down(lanes, beat->target);
        drop_oldest(lanes);
    }
}

/* The same for the cycle in which another beat issues: what is written in it is already read, and its subtraction meets
 * the addition of the new beat (`reg` below VECTOR_REGISTERS), which cancels if both count the same register. */
static void settle_and_count(struct lanes *lanes, cycle_t now, unsigned reg) {
    lanes_settle(lanes, now - 1);
    struct beat *beat = oldest(lanes);
    bool down = false, cancel = false;
    unsigned target = 0;
    if (beat && beat->due == now) {
        beat_write(lanes, beat);
        down = !beat->compare;
        target = beat->target;
        cancel = down && target == reg;
        drop_oldest(lanes);
    }
    if (reg < VECTOR_REGISTERS && !cancel)
        pending_up(lanes, reg, now);
    if (down && !cancel)
        pending_down(lanes, target);
}

/* ---- issue ---- */

cycle_t lanes_clear(struct lanes *lanes, const struct lane_work *work, cycle_t from) {
    const uint8_t *count = lanes->pending;
    lanes_settle(lanes, from - 1);
    while (count[work->first->va] || count[work->first->vb] || count[work->first->vc] || count[work->last->vd]) {
        const struct beat *beat = oldest(lanes);
        if (!beat)
            return CYCLE_NEVER;
        from = beat->due + 1;
        lanes_settle(lanes, beat->due);
    }
    return from;
}

static uint16_t tail_mask(const struct lanes *lanes, unsigned element, unsigned width) {
    unsigned left = lanes->vl > element ? lanes->vl - element : 0;
    return (uint16_t)((1u << MIN(left, width)) - 1);
}

/* Whether a comparison still on its way would change one of these predicate bits. */
static bool predicate_owed(struct lanes *lanes, unsigned pr, unsigned element, unsigned width, cycle_t now) {
    for (unsigned i = 0; i < lanes->count; i++) {
        const struct beat *beat = &lanes->beats[(lanes->head + i) % LANES_IN_FLIGHT];
        unsigned from = LANES * beat->chunk + beat->first;
        if (beat->compare && beat->due > now && beat->target == pr && from < element + width &&
            element < from + beat->width)
            return true;
    }
    return false;
}

/* Lanes the predicate lets write. It is taken in the cycle after the beat (§8.3). */
static uint16_t predicate_mask(struct lanes *lanes, unsigned pm, unsigned pr, unsigned element, unsigned width,
                               cycle_t issue) {
    uint16_t all = (uint16_t)((1u << width) - 1);
    if (pm == VECTOR_ALWAYS)
        return all;
    struct beat *next = oldest(lanes);
    if (next && next->compare && next->due == issue + 1) {
        beat_write(lanes, next);
        drop_oldest(lanes);
    }
    if (predicate_owed(lanes, pr, element, width, issue + 1))
        hazard_report(lanes->hazards, "vec.pred_stale", issue, lanes->name,
                      "a beat on elements %u..%u takes P%u before the comparison that sets it has written it", element,
                      element + width - 1, pr);
    else if (predicate_bits(lanes->p_set[pr], element, width) != all)
        hazard_report(lanes->hazards, "vec.unset_read", issue, lanes->name,
                      "P%u is used for elements %u..%u, not all of which were ever written", pr, element,
                      element + width - 1);
    uint16_t bits = predicate_bits(lanes->p[pr], element, width);
    return pm == VECTOR_WHERE_SET ? bits : (uint16_t)(~bits & all);
}

static struct beat *new_beat(struct lanes *lanes, cycle_t issue, unsigned stages) {
    g_assert(lanes->count < LANES_IN_FLIGHT);
    struct beat *beat = &lanes->beats[(lanes->head + lanes->count++) % LANES_IN_FLIGHT];
    *beat = (struct beat){
        .issue = issue, .due = issue + (cycle_t)stages * lanes->depth + WRITE_BEHIND, .stages = (uint8_t)stages};
    return beat;
}

static void note_beat(struct lanes *lanes, unsigned va, unsigned chunk, cycle_t issue) {
    lanes->last_va = (uint8_t)va;
    lanes->last_chunk = (uint8_t)chunk;
    lanes->empty_from = issue + 4 * (cycle_t)lanes->depth + EMPTY_BEHIND;
}

static bool is_compare(const struct vector_word *word) {
    return word->op >= VEC_CMPLT && word->op <= VEC_CMPEQ;
}

/* Stage 0 on the registers as they are now. */
static void first_stage(struct lanes *lanes, const struct stage *stage, struct beat *beat, cycle_t now) {
    unsigned element = LANES * beat->chunk + beat->first;
    uint16_t wanted = (uint16_t)(tail_mask(lanes, element, beat->width) << beat->first);
    const uint32_t *operands[3] = {NULL, NULL, NULL};
    for (unsigned i = 0; i < 3; i++) {
        if (stage->select[i] != VECTOR_SELECT_V)
            continue;
        operands[i] = &lanes->v[stage->reg[i]][element];
        if (vector_op_reads[stage->op] >> i & 1)
            lanes_check_read(lanes, stage->reg[i], beat->chunk, wanted, now);
    }
    beat->truths = compute(lanes, stage, operands, beat->width, beat->value, now);
}

static void issue_beat(struct lanes *lanes, const struct lane_work *work, unsigned chunk, unsigned phase, cycle_t now) {
    const struct vector_word *last = work->last;
    bool compare = is_compare(last);
    unsigned width = beat_width(work->stages), element = LANES * chunk + phase * width;
    settle_and_count(lanes, now, compare ? VECTOR_REGISTERS : last->vd);
    uint16_t mask = tail_mask(lanes, element, width);
    if (!compare)
        mask &= predicate_mask(lanes, last->pm, last->pr, element, width, now);
    struct beat *beat = new_beat(lanes, now, work->stages);
    beat->chain = lanes->chain_count - 1;
    beat->first = (uint8_t)(phase * width);
    beat->width = (uint8_t)width;
    beat->chunk = (uint8_t)chunk;
    beat->target = compare ? last->pr : last->vd;
    beat->compare = compare;
    beat->mask = mask;
    first_stage(lanes, &chain_at(lanes, beat->chain)->stage[0], beat, now);
}

/* A beat of an ALU instruction in TREE mode is counted and, unless the leaves were last set up for EXPSUM, never
 * counted done (§7.6). What such leaves would write is undefined; nothing is written here. */
static void issue_tree_beat(struct lanes *lanes, const struct lane_work *work, cycle_t now) {
    bool compare = is_compare(work->last);
    settle_and_count(lanes, now, compare ? VECTOR_REGISTERS : work->last->vd);
    hazard_report(
        lanes->hazards, "vec.alu_in_tree", now, lanes->name,
        "an ALU instruction issues in TREE mode: V%u is not written and its count of outstanding writes stays",
        work->last->vd);
    if (!lanes->last_expsum || compare)
        return;
    struct beat *beat = new_beat(lanes, now, 1);
    beat->target = work->last->vd;
    beat->silent = true;
}

cycle_t lanes_issue(struct lanes *lanes, const struct lane_work *work, cycle_t from) {
    unsigned chunks = lanes_chunks(lanes);
    cycle_t now = from;
    for (unsigned chunk = 0; chunk < chunks; chunk++) {
        for (unsigned phase = 0; phase < work->stages; phase++, now++) {
            if (work->tree)
                issue_tree_beat(lanes, work, now);
            else
                issue_beat(lanes, work, chunk, phase, now);
            note_beat(lanes, work->first->va, chunk, now);
        }
    }
    lanes->beat_count += now - from;
    lanes->last_pr = work->last->pr;
    lanes->last_pm = work->last->pm;
    return now;
}

/* ---- reductions ---- */

static bool pairs_lanes(unsigned kind) {
    return kind <= VEC_MINIMUM;
}

/* EXPSUM's element write-back: one beat of eight lanes through one ALU. */
static void write_powers(struct lanes *lanes, const struct vector_word *word, unsigned element, const uint32_t *a,
                         cycle_t now) {
    struct beat *beat = new_beat(lanes, now, 1);
    beat->first = (uint8_t)(element % LANES);
    beat->width = TREE_LEAVES;
    beat->chunk = (uint8_t)(element / LANES);
    beat->target = word->vb;
    unsigned pm = lanes->rtl_defects ? lanes->last_pm : VECTOR_ALWAYS;
    beat->mask = predicate_mask(lanes, pm, word->pr, element, TREE_LEAVES, now);
    for (unsigned lane = 0; lane < TREE_LEAVES; lane++)
        beat->value[lane] = e8m15_exp2(a[lane], lanes->range);
    note_range(lanes, a, TREE_LEAVES, now);
}

static void note_reduction(struct lanes *lanes, const struct vector_word *word, cycle_t now) {
    if (word->kind == VEC_SUMSQ && word->vb != word->va)
        hazard_report(lanes->hazards, "vec.sumsq_operands", now, lanes->name,
                      "SUMSQ of V%u with V%u is their dot product: a sum of squares names one register twice", word->va,
                      word->vb);
    if (word->kind == VEC_EXPSUM && lanes->last_pm != VECTOR_ALWAYS)
        hazard_report(lanes->hazards, "defect.expsum_pm", now, lanes->name,
                      "the published hardware masks EXPSUM's write-back with predication mode %u of the ALU "
                      "instruction before it",
                      lanes->last_pm);
}

void lanes_reduce(struct lanes *lanes, const struct vector_word *word, cycle_t from, cycle_t *tail, cycle_t *result) {
    bool powers = word->kind == VEC_EXPSUM;
    unsigned width = pairs_lanes(word->kind) ? LANES : TREE_LEAVES;
    uint32_t a[VECTOR_LENGTH], b[VECTOR_LENGTH];
    cycle_t now = from;
    note_reduction(lanes, word, from);
    for (unsigned element = 0; element < lanes->vl; element += width, now++) {
        unsigned chunk = element / LANES;
        uint16_t wanted = (uint16_t)(((1u << width) - 1) << element % LANES);
        settle_and_count(lanes, now, powers ? word->vb : VECTOR_REGISTERS);
        lanes_check_read(lanes, word->va, chunk, wanted, now);
        if (word->kind == VEC_SUMSQ || word->kind == VEC_DOT)
            lanes_check_read(lanes, word->vb, chunk, wanted, now);
        memcpy(&a[element], &lanes->v[word->va][element], width * sizeof *a);
        memcpy(&b[element], &lanes->v[word->vb][element], width * sizeof *b);
        if (powers)
            write_powers(lanes, word, element, &a[element], now);
        note_beat(lanes, word->va, chunk, now);
    }
    lanes->beat_count += now - from;
    *tail = lanes->empty_from;
    *result = *tail + 4 * (cycle_t)lanes->depth + WRITE_BEHIND;
    note_beat(lanes, word->va, 0, *tail);
    lanes->tail_count++;
    lanes_set_scalar(lanes, word->vd,
                     e8m15_reduce((enum vec_reduction)word->kind, a, b, lanes->vl, NULL, lanes->range));
    lanes->last_expsum = powers;
    lanes->last_pr = word->pr;
}

void lanes_reduce_predicate(struct lanes *lanes, const struct vector_word *word, cycle_t now) {
    lanes_settle(lanes, now - 1);
    if (word->pr != lanes->last_pr)
        hazard_report(lanes->hazards, "defect.any_all_pr", now, lanes->name,
                      "the published hardware looks at P%u, named by the instruction before, instead of P%u",
                      lanes->last_pr, word->pr);
    unsigned pr = lanes->rtl_defects ? lanes->last_pr : word->pr;
    if (predicate_owed(lanes, pr, 0, lanes->vl, now - 1))
        hazard_report(lanes->hazards, "vec.pred_stale", now, lanes->name,
                      "ANY or ALL looks at P%u before a comparison has written it", pr);
    bool any = false, all = true, unset = false;
    for (unsigned element = 0; element < lanes->vl; element += LANES) {
        uint16_t mask = tail_mask(lanes, element, LANES), bits = predicate_bits(lanes->p[pr], element, LANES) & mask;
        any = any || bits;
        all = all && bits == mask;
        unset = unset || (mask & ~predicate_bits(lanes->p_set[pr], element, LANES));
    }
    if (unset)
        hazard_report(lanes->hazards, "vec.unset_read", now, lanes->name,
                      "ANY or ALL looks at bits of P%u that were never written", pr);
    lanes_set_scalar(lanes, word->vd, (word->kind == VEC_ANY ? any : all) ? E8M15_ONE : E8M15_ZERO);
    lanes->last_pr = word->pr;
    lanes->last_expsum = false;
}

/* ---- moves of whole chunks ---- */

static void chunk_written(struct lanes *lanes, unsigned reg, unsigned chunk) {
    lanes->v_set[reg][chunk] = WHOLE_CHUNK;
}

static uint32_t convert(uint32_t x, unsigned dtype) {
    return dtype == VECTOR_FP16 ? e8m15_from_f16(e8m15_to_f16(x)) : x;
}

void lanes_convert(struct lanes *lanes, const struct vector_word *word, cycle_t now) {
    uint32_t source[VECTOR_LENGTH + LANES]; /* what the hardware's register held, then the source */
    unsigned length = LANES * lanes_chunks(lanes);
    bool half = word->dtype == VECTOR_FP16;
    lanes_settle(lanes, now);
    memcpy(source, &lanes->v[lanes->last_va][LANES * lanes->last_chunk], LANES * sizeof *source);
    memcpy(source + LANES, lanes->v[word->va], length * sizeof *source);
    if (half)
        hazard_report(lanes->hazards, "defect.vcvt_fp16", now, lanes->name,
                      "the published hardware converts each chunk's predecessor instead of the chunk");
    const uint32_t *from = half && lanes->rtl_defects ? source : source + LANES;
    for (unsigned e = 0; e < length; e++)
        lanes->v[word->vd][e] = convert(from[e], word->dtype);
    for (unsigned chunk = 0; chunk < lanes_chunks(lanes); chunk++) {
        lanes_check_read(lanes, word->va, chunk, WHOLE_CHUNK, now);
        chunk_written(lanes, word->vd, chunk);
    }
}

void lanes_shuffle(struct lanes *lanes, const struct vector_word *word, cycle_t now) {
    unsigned by = lanes_scalar(lanes, word->vb, now) % LANES;
    lanes_settle(lanes, now);
    for (unsigned chunk = 0; chunk < lanes_chunks(lanes); chunk++) {
        uint32_t source[LANES], *to = &lanes->v[word->vd][LANES * chunk];
        lanes_check_read(lanes, word->va, chunk, WHOLE_CHUNK, now);
        memcpy(source, &lanes->v[word->va][LANES * chunk], sizeof source);
        for (unsigned lane = 0; lane < LANES; lane++)
            to[lane] = source[(lane + by) % LANES];
        chunk_written(lanes, word->vd, chunk);
    }
}

void lanes_broadcast(struct lanes *lanes, const struct vector_word *word, cycle_t now) {
    lanes_settle(lanes, now);
    if (word->sa != VECTOR_SELECT_S) {
        lanes_check_read(lanes, word->va, 0, 1, now);
        lanes_set_scalar(lanes, word->vd, lanes->v[word->va][0]);
        return;
    }
    uint32_t value = lanes_scalar(lanes, word->va, now);
    for (unsigned chunk = 0; chunk < lanes_chunks(lanes); chunk++) {
        for (unsigned lane = 0; lane < LANES; lane++)
            lanes->v[word->vd][LANES * chunk + lane] = value;
        chunk_written(lanes, word->vd, chunk);
    }
}
