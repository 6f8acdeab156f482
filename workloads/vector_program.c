/* Vector programs; see vector_program.h. Section numbers are those of workloads. */
#include "workloads/vector_program.h"

#include <string.h>

#include "model/isa/text.h"
#include "model/isa/vector.h"
#include "model/numeric/e8m15.h"
#include "model/numeric/e8m15_convert.h"

enum {
    GROUP = 16, /* FP16 elements of a memory word */
    LENGTH_MAX = 128,
    L1_WORDS_ALL = 512,
    L1_CLEAN = 320, /* more, but not all, is refused by the reference (§4.2) */
    FILL_WORDS_MAX = 256,
    BATCH_CHUNKS = 8,  /* chunks a RUN without reductions (§4.2) */
    BATCH_ROWS = 16,   /* rows a RUN at most */
    SCALAR_LENGTH = 0, /* s0 holds VL */
    SCALAR_ROW = 13,
    SCALAR_RECIPROCAL = 14,
    REGISTER_STORED = 7, /* v7: the result as stored by an earlier pass */
};

static bool fail(GError **error, const struct vector_kernel *kernel, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(GError **error, const struct vector_kernel *kernel, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, FS_ERROR, FS_ERROR_RANGE, "kernel %s: %s", kernel->name, what);
    return false;
}

/* ---- what a kernel reads ---- */

/* Operand i of an ALU word, for reading and for changing. */
struct operand {
    uint8_t *select, *reg;
};

static struct operand alu_operand(struct vector_word *word, unsigned i) {
    struct operand operands[] = {{&word->sa, &word->va}, {&word->sb, &word->vb}, {&word->sc, &word->vc}};
    return operands[i];
}

static bool alu_uses(const struct vector_word *word, unsigned i) {
    return word->op <= VECTOR_RSQRT && vector_op_reads[word->op] >> i & 1;
}

/* Vector registers and scalar registers a word reads, as masks. */
static void word_reads(struct vector_word word, unsigned *vectors, unsigned *scalars) {
    *vectors = *scalars = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct operand operand = alu_operand(&word, i);
        if (alu_uses(&word, i) && *operand.select == VECTOR_SELECT_V)
            *vectors |= 1u << *operand.reg;
        if (alu_uses(&word, i) && *operand.select == VECTOR_SELECT_S)
            *scalars |= 1u << *operand.reg;
    }
    if (word.op == VECTOR_RED && word.kind < VECTOR_RED_ANY)
        *vectors |= 1u << word.va | (word.kind == VECTOR_RED_EXPSUM ? 0 : 1u << word.vb);
    if (word.op == VECTOR_CVT || word.op == VECTOR_SHUF || (word.op == VECTOR_BCAST && word.sa != VECTOR_SELECT_S))
        *vectors |= 1u << word.va;
    if (word.op == VECTOR_BCAST && word.sa == VECTOR_SELECT_S)
        *scalars |= 1u << word.va;
    if (word.op == VECTOR_SHUF)
        *scalars |= 1u << word.vb;
}

static unsigned word_writes(const struct vector_word *word) {
    bool compare = word->op >= VECTOR_CMPLT && word->op <= VECTOR_CMPEQ;
    if (word->op == VECTOR_RED)
        return word->kind == VECTOR_RED_EXPSUM ? 1u << word->vb : 0;
    bool to_vector =
        word->op <= VECTOR_CVT || word->op == VECTOR_SHUF || (word->op == VECTOR_BCAST && word->sa == VECTOR_SELECT_S);
    return to_vector && !compare ? 1u << word->vd : 0;
}

/* Goes over `count` words, values of VSETI skipped. */
static unsigned next_index(const uint32_t *words, unsigned at) {
    return at + (words[at] >> 27 == VECTOR_SETI ? 2 : 1);
}

/* Reads a block if the text has it; `scalars` gathers the scalar registers it reads, `written` what earlier blocks have
 * written. */
static void take_block(struct vector_kernel *kernel, const struct asm_program *text, const char *suffix,
                       struct vector_block *block, unsigned written, unsigned *scalars) {
    g_autofree char *name = g_strconcat(kernel->name, suffix, NULL);
    for (unsigned i = 0; i < asm_program_count(text); i++) {
        const struct asm_item *item = asm_program_item(text, i);
        if (item->kind == ASM_KERNEL && strcmp(item->kernel.name, name) == 0)
            *block =
                (struct vector_block){.words = g_memdup2(item->kernel.words, item->kernel.count * sizeof(uint32_t)),
                                      .count = item->kernel.count};
    }
    for (unsigned at = 0; at < block->count; at = next_index(block->words, at)) {
        struct vector_word word;
        unsigned vectors, more;
        vector_word_decode(block->words[at], &word);
        word_reads(word, &vectors, &more);
        block->reads |= vectors & ~written;
        written |= word_writes(&word);
        *scalars |= more;
        bool reduction = word.op == VECTOR_RED;
        kernel->by_row |= reduction;
        kernel->whole_groups |= reduction && word.kind < VECTOR_RED_ANY;
    }
    block->stores = written & 1;
}

static unsigned block_writes(const struct vector_block *block) {
    unsigned written = 0;
    for (unsigned at = 0; at < block->count; at = next_index(block->words, at)) {
        struct vector_word word;
        vector_word_decode(block->words[at], &word);
        written |= word_writes(&word);
    }
    return written;
}

static void take_passes(struct vector_kernel *kernel, const struct asm_program *text, unsigned *scalars) {
    for (unsigned k = 0; k < VECTOR_PASSES_MAX; k++) {
        g_autofree char *row = g_strdup_printf(".row%u", k + 1), *pass = g_strdup_printf(".pass%u", k + 1);
        take_block(kernel, text, row, &kernel->row[k], 0, scalars);
        take_block(kernel, text, pass, &kernel->pass[k], 0, scalars);
        if (!kernel->pass[k].count)
            return;
        kernel->passes = k + 1;
        kernel->by_row = true;
    }
}

static unsigned inputs_of(unsigned reads) {
    unsigned inputs = 0;
    for (unsigned r = 1; r <= VECTOR_INPUTS_MAX; r++)
        if (reads >> r & 1)
            inputs = r;
    return inputs;
}

bool vector_kernel_load(struct vector_kernel *kernel, const char *directory, const char *name, GError **error) {
    g_autofree char *file = g_strconcat(name, ".vs", NULL);
    g_autofree char *path = g_build_filename(directory, file, NULL);
    g_autoptr(asm_program_owned) text = asm_program_load(path, error);
    unsigned scalars = 0;
    if (!text)
        return false;
    *kernel = (struct vector_kernel){.name = g_strdup(name)};
    take_block(kernel, text, ".once", &kernel->once, 0, &scalars);
    take_block(kernel, text, "", &kernel->body, block_writes(&kernel->once), &scalars);
    take_passes(kernel, text, &scalars);
    if (!kernel->body.count == !kernel->passes) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s: expected a block .kernel %s, or .kernel %s.pass1", path, name,
                    name);
        vector_kernel_clear(kernel);
        return false;
    }
    kernel->inputs = inputs_of(kernel->body.reads);
    for (unsigned k = 0; k < kernel->passes; k++)
        kernel->inputs = MAX(kernel->inputs, inputs_of(kernel->pass[k].reads));
    kernel->wants_length = scalars >> SCALAR_ROW & 1;
    kernel->wants_reciprocal = scalars >> SCALAR_RECIPROCAL & 1;
    return true;
}

void vector_kernel_clear(struct vector_kernel *kernel) {
    g_free(kernel->name);
    g_free(kernel->once.words);
    g_free(kernel->body.words);
    for (unsigned k = 0; k < VECTOR_PASSES_MAX; k++) {
        g_free(kernel->row[k].words);
        g_free(kernel->pass[k].words);
    }
    *kernel = (struct vector_kernel){0};
}

/* ---- constants as arrays (§4.2) ---- */

/* A constant that the body uses: a scalar register set by NAME.once, or one of the core's own. */
struct constant {
    enum vector_selector select;
    unsigned reg;
    uint32_t value; /* E8M15 */
};

/* The kernel as this job uses it: with constants in memory, the body's operands are renamed. */
struct variant {
    uint32_t *once, *body;
    unsigned once_count, body_count;
    unsigned inputs;
    struct constant arrays[VECTOR_INPUTS_MAX];
    unsigned array_count;
};

static bool scalar_constant(const struct vector_kernel *kernel, unsigned reg, uint32_t *value) {
    for (unsigned at = 0; at < kernel->once.count; at = next_index(kernel->once.words, at)) {
        struct vector_word word;
        vector_word_decode(kernel->once.words[at], &word);
        if (word.op == VECTOR_SETI && word.sa != VECTOR_SELECT_K && word.vd == reg) {
            *value = kernel->once.words[at + 1];
            return true;
        }
    }
    return false;
}

static bool constant_of(const struct vector_kernel *kernel, unsigned select, unsigned reg, struct constant *constant) {
    static const uint32_t own[] = {E8M15_ZERO, E8M15_ONE, E8M15_ONE | E8M15_SIGN};
    *constant = (struct constant){.select = (enum vector_selector)select, .reg = reg};
    if (select == VECTOR_SELECT_S)
        return scalar_constant(kernel, reg, &constant->value);
    if (select != VECTOR_SELECT_K || reg >= G_N_ELEMENTS(own))
        return false;
    constant->value = own[reg];
    return true;
}

/* The vector register the array is loaded into; false when no descriptor is left. */
static bool array_register(struct variant *variant, const struct constant *constant, uint8_t *reg) {
    unsigned first = variant->inputs - variant->array_count;
    for (unsigned i = 0; i < variant->array_count; i++)
        if (variant->arrays[i].select == constant->select && variant->arrays[i].reg == constant->reg) {
            *reg = (uint8_t)(first + i + 1);
            return true;
        }
    if (variant->inputs == VECTOR_INPUTS_MAX)
        return false;
    variant->arrays[variant->array_count++] = *constant;
    *reg = (uint8_t)++variant->inputs;
    return true;
}

static bool arrays_for_word(struct variant *variant, const struct vector_kernel *kernel, uint32_t *bits,
                            GError **error) {
    struct vector_word word;
    vector_word_decode(*bits, &word);
    for (unsigned i = 0; i < 3; i++) {
        struct operand operand = alu_operand(&word, i);
        struct constant constant;
        if (alu_uses(&word, i) && *operand.select == VECTOR_SELECT_C)
            return fail(error, kernel, "a chain cannot take its constants from memory");
        if (!alu_uses(&word, i) || !constant_of(kernel, *operand.select, *operand.reg, &constant))
            continue;
        if (!array_register(variant, &constant, operand.reg))
            return fail(error, kernel, "inputs and constant arrays are more than the %d that descriptors allow",
                        VECTOR_INPUTS_MAX);
        *operand.select = VECTOR_SELECT_V;
    }
    return vector_word_encode(&word, bits, error);
}

/* Drops the VSETIs of NAME.once whose register became an array. */
static void drop_settings(struct variant *variant) {
    unsigned kept = 0;
    for (unsigned at = 0, next; at < variant->once_count; at = next) {
        struct vector_word word;
        next = next_index(variant->once, at);
        vector_word_decode(variant->once[at], &word);
        bool array = false;
        for (unsigned i = 0; i < variant->array_count; i++)
            array |= word.op == VECTOR_SETI && variant->arrays[i].select == VECTOR_SELECT_S &&
                     variant->arrays[i].reg == word.vd;
        while (at < next && !array)
            variant->once[kept++] = variant->once[at++];
    }
    variant->once_count = kept;
}

static bool variant_make(struct variant *variant, const struct vector_kernel *kernel, const struct vector_job *job,
                         GError **error) {
    *variant = (struct variant){.once = g_memdup2(kernel->once.words, kernel->once.count * sizeof(uint32_t)),
                                .body = g_memdup2(kernel->body.words, kernel->body.count * sizeof(uint32_t)),
                                .once_count = kernel->once.count,
                                .body_count = kernel->body.count,
                                .inputs = kernel->inputs};
    if (job->constants == VECTOR_CONSTANTS_REG)
        return true;
    if (kernel->passes)
        return fail(error, kernel, "a kernel of several passes has its constants in registers");
    for (unsigned at = 0; at < variant->body_count; at = next_index(variant->body, at))
        if (variant->body[at] >> 27 <= VECTOR_RSQRT && !arrays_for_word(variant, kernel, &variant->body[at], error))
            return false;
    drop_settings(variant);
    return true;
}

static void variant_clear(struct variant *variant) {
    g_free(variant->once);
    g_free(variant->body);
}

/* ---- images ---- */

/* How a RUN is cut: `chunks` of `length` elements, the last one of `last`. With several passes a chunk is a row of
 * `row` elements in pieces of `length`. */
struct batch {
    unsigned chunks, length, last, row;
};

static unsigned groups(unsigned elements) {
    return (elements + GROUP - 1) / GROUP;
}

static unsigned batch_words(const struct batch *batch) {
    return (batch->chunks - 1) * groups(batch->row) + groups(batch->row - batch->length + batch->last);
}

static void emit(GArray *words, struct vector_word word) {
    uint32_t bits = 0;
    gboolean fits = vector_word_encode(&word, &bits, NULL);
    g_assert(fits);
    g_array_append_val(words, bits);
}

static void emit_value(GArray *words, unsigned scalar, uint32_t value) {
    emit(words, (struct vector_word){.op = VECTOR_SETI, .vd = (uint8_t)scalar});
    g_array_append_val(words, value);
}

static void emit_length(GArray *words, unsigned length) {
    emit_value(words, SCALAR_LENGTH, length);
    emit(words, (struct vector_word){.op = VECTOR_SETVL, .va = SCALAR_LENGTH});
}

static uint32_t e8m15_of(double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return e8m15_from_f32(bits);
}

/* Descriptor numbers (§4.1): two an input, one for all stores, one for the drained region. */
static uint8_t fill_descriptor(unsigned input) {
    return (uint8_t)(2 * input);
}

static uint8_t load_descriptor(unsigned input) {
    return (uint8_t)(2 * input + 1);
}

static uint8_t store_descriptor(const struct variant *variant) {
    return (uint8_t)(2 * variant->inputs);
}

static uint8_t drain_descriptor(const struct variant *variant) {
    return (uint8_t)(2 * variant->inputs + 1);
}

static void emit_head(GArray *words, const struct variant *variant, const struct vector_kernel *kernel,
                      const struct batch *batch, unsigned region) {
    for (unsigned i = 0; i < variant->inputs; i++)
        emit(words, (struct vector_word){.op = VECTOR_FILL, .ad = fill_descriptor(i), .l1 = (uint16_t)(i * region)});
    emit_length(words, batch->chunks == 1 ? batch->last : batch->length);
    emit(words, (struct vector_word){.op = VECTOR_SETMODE, .mode = VECTOR_FLAT});
    if (kernel->wants_length)
        emit_value(words, SCALAR_ROW, e8m15_of(batch->row));
    if (kernel->wants_reciprocal)
        emit_value(words, SCALAR_RECIPROCAL, e8m15_of(1.0 / batch->row));
    g_array_append_vals(words, variant->once, variant->once_count);
    emit(words, (struct vector_word){.op = VECTOR_BAR});
}

static void emit_load(GArray *words, unsigned descriptor, unsigned reg, unsigned offset) {
    emit(words, (struct vector_word){.op = VECTOR_LD,
                                     .dtype = VECTOR_FP16,
                                     .ad = (uint8_t)descriptor,
                                     .vd = (uint8_t)reg,
                                     .offset = (int16_t)offset});
}

static void emit_store(GArray *words, const struct variant *variant, unsigned offset) {
    emit(words, (struct vector_word){
                    .op = VECTOR_ST, .dtype = VECTOR_FP16, .ad = store_descriptor(variant), .offset = (int16_t)offset});
}

static void emit_chunk(GArray *words, const struct variant *variant, unsigned offset) {
    for (unsigned i = 0; i < variant->inputs; i++)
        emit_load(words, load_descriptor(i), i + 1, offset);
    g_array_append_vals(words, variant->body, variant->body_count);
    emit_store(words, variant, offset);
}

static void emit_pass(GArray *words, const struct variant *variant, const struct vector_block *pass, unsigned offset) {
    for (unsigned i = 0; i < variant->inputs; i++)
        if (pass->reads >> (i + 1) & 1)
            emit_load(words, load_descriptor(i), i + 1, offset);
    if (pass->reads >> REGISTER_STORED & 1)
        emit_load(words, store_descriptor(variant), REGISTER_STORED, offset);
    g_array_append_vals(words, pass->words, pass->count);
    if (pass->stores)
        emit_store(words, variant, offset);
}

/* One long row: its passes, each over all pieces; the last piece may be shorter. */
static void emit_row(GArray *words, const struct variant *variant, const struct vector_kernel *kernel,
                     const struct batch *batch, unsigned offset) {
    unsigned pieces = (batch->row + batch->length - 1) / batch->length, rest = batch->row % batch->length;
    for (unsigned k = 0; k < kernel->passes; k++) {
        g_array_append_vals(words, kernel->row[k].words, kernel->row[k].count);
        for (unsigned c = 0; c < pieces; c++) {
            if (rest && c + 1 == pieces)
                emit_length(words, rest);
            emit_pass(words, variant, &kernel->pass[k], offset + c * groups(batch->length));
        }
        if (rest)
            emit_length(words, batch->length);
    }
}

/* The instruction words of one kind of RUN. `region` is the L1 room of an input or result. */
static void emit_image(GArray *words, const struct variant *variant, const struct vector_kernel *kernel,
                       const struct batch *batch, unsigned region) {
    emit_head(words, variant, kernel, batch, region);
    for (unsigned c = 0; c < batch->chunks; c++) {
        if (c > 0 && c + 1 == batch->chunks && batch->last != batch->length)
            emit_length(words, batch->last);
        if (kernel->passes)
            emit_row(words, variant, kernel, batch, c * groups(batch->row));
        else
            emit_chunk(words, variant, c * groups(batch->length));
    }
    emit(words, (struct vector_word){
                    .op = VECTOR_DRAIN, .ad = drain_descriptor(variant), .l1 = (uint16_t)(variant->inputs * region)});
    emit(words, (struct vector_word){.op = VECTOR_HALT});
}

static void count_image(struct vector_counts *counts, const uint32_t *words, unsigned count) {
    for (unsigned at = 0; at < count; at = next_index(words, at)) {
        unsigned op = words[at] >> 27;
        counts->loads += op == VECTOR_LD;
        counts->alu += op <= VECTOR_RSQRT;
        counts->reductions += op == VECTOR_RED;
        counts->broadcasts += op == VECTOR_BCAST;
        counts->stores += op == VECTOR_ST;
        counts->fills += op == VECTOR_FILL;
    }
}

/* ---- shape ---- */

static bool footprint_clean(unsigned words) {
    return words <= L1_CLEAN || words == L1_WORDS_ALL;
}

static unsigned image_words(const struct variant *variant, const struct vector_kernel *kernel,
                            const struct batch *batch) {
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    emit_image(words, variant, kernel, batch, 0);
    return words->len;
}

/* Row kernels: `rows` rows a RUN. */
static struct batch row_batch(const struct vector_job *job, unsigned rows) {
    unsigned length = MIN(job->cols, (unsigned)LENGTH_MAX);
    return (struct batch){.chunks = rows, .length = length, .last = length, .row = job->cols};
}

static bool row_fits(const struct vector_kernel *kernel, const struct vector_job *job, GError **error) {
    if (job->cols > LENGTH_MAX && !kernel->passes)
        return fail(error, kernel, "a row has %u elements, a vector 1 to %d", job->cols, LENGTH_MAX);
    if (job->cols % GROUP && (kernel->whole_groups || job->rows > 1))
        return fail(error, kernel, "a row has %u elements; rows and reductions need whole groups of %d", job->cols,
                    GROUP);
    return true;
}

/* A full RUN: eight chunks of 128, or as many rows, a power of two up to 16, as L1 and instruction memory take. */
static bool full_batch(struct batch *batch, const struct variant *variant, const struct vector_kernel *kernel,
                       const struct vector_job *job, GError **error) {
    if (!kernel->by_row) {
        *batch = (struct batch){.chunks = BATCH_CHUNKS, .length = LENGTH_MAX, .last = LENGTH_MAX, .row = LENGTH_MAX};
        return true;
    }
    if (!row_fits(kernel, job, error))
        return false;
    for (unsigned rows = BATCH_ROWS; rows > 0; rows /= 2) {
        *batch = row_batch(job, rows);
        unsigned region = batch_words(batch), left = job->tail == VECTOR_TAIL_VL ? job->rows % rows : 0;
        if (region > FILL_WORDS_MAX || !footprint_clean((variant->inputs + 1) * region))
            continue;
        struct batch tail = row_batch(job, left);
        if (image_words(variant, kernel, batch) + (left ? image_words(variant, kernel, &tail) : 0) <= VECTOR_IMEM_WORDS)
            return true;
    }
    return fail(error, kernel, "one row does not fit L1 and instruction memory");
}

/* What is left behind the full batches, chunks 0 if nothing. */
static struct batch tail_batch(const struct batch *full, const struct vector_kernel *kernel,
                               const struct vector_job *job) {
    if (kernel->by_row)
        return row_batch(job, job->rows % full->chunks);
    unsigned elements = (unsigned)((uint64_t)job->rows * job->cols % (full->chunks * full->length));
    unsigned last = elements % full->length;
    return (struct batch){.chunks = (elements + full->length - 1) / full->length,
                          .length = full->length,
                          .last = last ? last : full->length,
                          .row = full->length};
}

static unsigned full_batches(const struct batch *full, const struct vector_kernel *kernel,
                             const struct vector_job *job) {
    if (kernel->by_row)
        return job->rows / full->chunks;
    return (unsigned)((uint64_t)job->rows * job->cols / (full->chunks * full->length));
}

/* ---- payloads ---- */

static void send(struct vector_program *program, const struct vector_envelope *envelope) {
    struct word256 payload;
    gboolean fits = vector_envelope_encode(envelope, &payload, NULL);
    g_assert(fits);
    g_array_append_val(program->payloads, payload);
    program->counts.imem += envelope->op == VECTOR_IMEM;
    program->counts.desc += envelope->op == VECTOR_DESC;
    program->counts.run += envelope->op == VECTOR_RUN;
}

/* A word a flit, or the what-if of compute-units §7.3: a flit with start address and count, then flits full of words.
 */
static void send_image(struct vector_program *program, const GArray *words, unsigned words_per_flit) {
    const uint32_t *word = (const uint32_t *)words->data;
    if (words_per_flit == 1) {
        for (unsigned i = 0; i < words->len; i++)
            send(program, &(struct vector_envelope){.op = VECTOR_IMEM, .pc = (uint16_t)i, .word = word[i]});
        return;
    }
    send(program, &(struct vector_envelope){.op = VECTOR_IMEM, .word = words->len});
    for (unsigned i = 0; i < words->len; i += words_per_flit) {
        struct word256 payload = {{0}};
        for (unsigned k = 0; k < words_per_flit && i + k < words->len; k++)
            word_set(&payload, 32 * k, 32, word[i + k]);
        g_array_append_val(program->payloads, payload);
        program->counts.imem++;
    }
}

static void send_base(struct vector_program *program, unsigned descriptor, uint64_t base) {
    send(program, &(struct vector_envelope){.op = VECTOR_DESC, .descriptor = (uint8_t)descriptor, .value = base});
}

static void send_dimension(struct vector_program *program, unsigned descriptor, unsigned dimension, int stride,
                           unsigned bound) {
    uint64_t value = 0;
    gboolean fits = vector_dimension_encode(stride, (uint16_t)bound, &value, NULL);
    g_assert(fits);
    send(program,
         &(struct vector_envelope){
             .op = VECTOR_DESC, .descriptor = (uint8_t)descriptor, .field = (uint8_t)(dimension + 1), .value = value});
}

static void send_walk(struct vector_program *program, unsigned descriptor, int stride, unsigned bound) {
    send_dimension(program, descriptor, 0, stride, bound);
}

static void send_bounds(struct vector_program *program, const struct variant *variant, unsigned words) {
    for (unsigned i = 0; i < variant->inputs; i++)
        send_walk(program, fill_descriptor(i), WORD_BYTES, words);
    send_walk(program, drain_descriptor(variant), WORD_BYTES, words);
}

static void send_static(struct vector_program *program, const struct variant *variant, const struct batch *batch,
                        unsigned region) {
    send_bounds(program, variant, batch_words(batch));
    for (unsigned i = 0; i < variant->inputs; i++) {
        send_base(program, load_descriptor(i), i * region);
        send_walk(program, load_descriptor(i), 1, groups(batch->length));
    }
    send_base(program, store_descriptor(variant), variant->inputs * region);
    send_walk(program, store_descriptor(variant), 1, groups(batch->length));
}

/* One RUN with its moved bases; constant arrays stay where they are. */
static void send_batch(struct vector_program *program, const struct variant *variant, const struct vector_job *job,
                       unsigned number, unsigned pc) {
    uint64_t at = (uint64_t)number * program->batch_words * WORD_BYTES;
    unsigned own = variant->inputs - variant->array_count;
    for (unsigned i = 0; i < variant->inputs; i++)
        send_base(program, fill_descriptor(i), i < own ? job->inputs[i] + at : program->images[i - own].address);
    send_base(program, drain_descriptor(variant), job->result + at);
    send(program, &(struct vector_envelope){.op = VECTOR_RUN, .pc = (uint16_t)pc});
}

static void make_arrays(struct vector_program *program, const struct variant *variant, const struct vector_job *job) {
    for (unsigned i = 0; i < variant->array_count; i++) {
        struct vector_image *image = &program->images[program->image_count++];
        *image = (struct vector_image){.address = job->arrays + (uint64_t)i * program->batch_words * WORD_BYTES,
                                       .words = g_new0(struct word256, program->batch_words),
                                       .count = program->batch_words};
        for (unsigned w = 0; w < image->count; w++)
            for (unsigned lane = 0; lane < GROUP; lane++)
                word_set(&image->words[w], 16 * lane, 16, e8m15_to_f16(variant->arrays[i].value));
    }
}

static bool build(struct vector_program *program, const struct variant *variant, const struct vector_kernel *kernel,
                  const struct vector_job *job, GError **error) {
    struct batch full;
    if (!full_batch(&full, variant, kernel, job, error))
        return false;
    struct batch tail = tail_batch(&full, kernel, job);
    unsigned whole = full_batches(&full, kernel, job), region = batch_words(&full);
    bool shortened = tail.chunks && job->tail == VECTOR_TAIL_VL;
    if (tail.chunks && !shortened)
        whole++;
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (whole)
        emit_image(words, variant, kernel, &full, region);
    unsigned tail_pc = words->len;
    count_image(&program->counts, (const uint32_t *)words->data, words->len);
    if (shortened)
        emit_image(words, variant, kernel, &tail, region);
    if (!whole)
        count_image(&program->counts, (const uint32_t *)words->data, words->len);
    if (words->len > VECTOR_IMEM_WORDS)
        return fail(error, kernel, "%u words do not fit instruction memory of %d", words->len, VECTOR_IMEM_WORDS);
    program->counts.words = words->len;
    program->batches = whole + shortened;
    program->batch_words = region;
    program->inputs = variant->inputs;
    program->result_bytes = ((uint64_t)whole * region + (shortened ? batch_words(&tail) : 0)) * WORD_BYTES;
    make_arrays(program, variant, job);
    send_image(program, words, MAX(job->words_per_flit, 1u));
    send_static(program, variant, whole ? &full : &tail, region);
    for (unsigned i = 0; i < whole; i++)
        send_batch(program, variant, job, i, 0);
    if (shortened && whole)
        send_bounds(program, variant, batch_words(&tail));
    if (shortened)
        send_batch(program, variant, job, whole, tail_pc);
    return true;
}

bool vector_program_build(struct vector_program *program, const struct vector_kernel *kernel,
                          const struct vector_job *job, GError **error) {
    struct variant variant;
    *program = (struct vector_program){.payloads = g_array_new(FALSE, FALSE, sizeof(struct word256))};
    bool good = job->rows && job->cols;
    if (!good)
        fail(error, kernel, "a shape of %u x %u has no elements", job->rows, job->cols);
    if (good) {
        good = variant_make(&variant, kernel, job, error) && build(program, &variant, kernel, job, error);
        variant_clear(&variant);
    }
    if (!good)
        vector_program_clear(program);
    return good;
}

void vector_program_clear(struct vector_program *program) {
    if (program->payloads)
        g_array_unref(program->payloads);
    for (unsigned i = 0; i < program->image_count; i++)
        g_free(program->images[i].words);
    *program = (struct vector_program){0};
}

/* ---- delivered tiles (§4.6) ---- */

static unsigned tile_region(const struct vector_tile *tile) {
    return (tile->words + VECTOR_TILE_CHUNK - 1) / VECTOR_TILE_CHUNK * VECTOR_TILE_CHUNK;
}

unsigned vector_tile_footprint(const struct vector_tile *tile) {
    return (tile->delivered + 1) * tile_region(tile) + tile->period;
}

static bool tile_suits(const struct vector_kernel *kernel, const struct vector_tile *tile, GError **error) {
    unsigned inputs = tile->delivered + (tile->period > 0), footprint = vector_tile_footprint(tile);
    if (kernel->by_row || kernel->inputs != inputs)
        return fail(error, kernel, "has %u inputs%s, a delivered tile is for an elementwise one of %u", kernel->inputs,
                    kernel->by_row ? " and works by row" : "", inputs);
    if (tile->words < 1 || tile->words > FILL_WORDS_MAX || footprint > L1_WORDS_ALL)
        return fail(error, kernel,
                    "tiles of %u sub-tiles take %u words of L1, expected at most %d sub-tiles and %d words",
                    tile->words, footprint, FILL_WORDS_MAX, L1_WORDS_ALL);
    if (tile->period % VECTOR_TILE_CHUNK && VECTOR_TILE_CHUNK % tile->period)
        return fail(error, kernel, "an input that repeats after %u words, expected a divisor or multiple of %d",
                    tile->period, VECTOR_TILE_CHUNK);
    return true;
}

static void emit_tile(GArray *words, const struct variant *variant, const struct vector_tile *tile) {
    unsigned region = tile_region(tile), left = tile->words;
    if (tile->period)
        emit(words, (struct vector_word){.op = VECTOR_FILL,
                                         .ad = fill_descriptor(tile->delivered),
                                         .l1 = (uint16_t)((tile->delivered + 1) * region)});
    emit_length(words, GROUP * MIN(left, (unsigned)VECTOR_TILE_CHUNK));
    emit(words, (struct vector_word){.op = VECTOR_SETMODE, .mode = VECTOR_FLAT});
    g_array_append_vals(words, variant->once, variant->once_count);
    if (tile->period)
        emit(words, (struct vector_word){.op = VECTOR_BAR});
    for (unsigned at = 0; at < tile->words; at += VECTOR_TILE_CHUNK, left -= VECTOR_TILE_CHUNK) {
        if (at && left < VECTOR_TILE_CHUNK)
            emit_length(words, GROUP * left);
        for (unsigned i = 0; i < tile->delivered; i++)
            emit_load(words, load_descriptor(i), i + 1, at);
        if (tile->period)
            emit_load(words, load_descriptor(tile->delivered), tile->delivered + 1, at % tile->period);
        g_array_append_vals(words, variant->body, variant->body_count);
        emit_store(words, variant, at);
        if (left < VECTOR_TILE_CHUNK)
            break;
    }
    emit(words, (struct vector_word){
                    .op = VECTOR_DRAIN, .ad = drain_descriptor(variant), .l1 = (uint16_t)(tile->delivered * region)});
    emit(words, (struct vector_word){.op = VECTOR_HALT});
}

static void send_tile_static(struct vector_program *program, const struct variant *variant,
                             const struct vector_tile *tile) {
    unsigned region = tile_region(tile), chunk = VECTOR_TILE_CHUNK;
    for (unsigned i = 0; i < tile->delivered; i++) {
        send_base(program, load_descriptor(i), i * region);
        send_walk(program, load_descriptor(i), 1, chunk);
    }
    if (tile->period) {
        unsigned repeated = MIN(tile->period, chunk);
        send_walk(program, fill_descriptor(tile->delivered), WORD_BYTES, tile->period);
        send_base(program, load_descriptor(tile->delivered), (tile->delivered + 1) * region);
        send_dimension(program, load_descriptor(tile->delivered), 0, 1, repeated);
        send_dimension(program, load_descriptor(tile->delivered), 1, 0, chunk / repeated);
    }
    send_base(program, store_descriptor(variant), tile->delivered * region);
    send_walk(program, store_descriptor(variant), 1, chunk);
    send_walk(program, drain_descriptor(variant), WORD_BYTES, tile->words);
}

bool vector_tile_build(struct vector_program *program, const struct vector_kernel *kernel,
                       const struct vector_tile *tile, GError **error) {
    struct variant variant = {0};
    const struct vector_job job = {.constants = VECTOR_CONSTANTS_REG};
    *program = (struct vector_program){.payloads = g_array_new(FALSE, FALSE, sizeof(struct word256))};
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    bool good = tile_suits(kernel, tile, error) && variant_make(&variant, kernel, &job, error);
    if (good) {
        emit_tile(words, &variant, tile);
        good = words->len <= VECTOR_IMEM_WORDS ||
               fail(error, kernel, "%u words do not fit instruction memory of %d", words->len, VECTOR_IMEM_WORDS);
    }
    if (good) {
        count_image(&program->counts, (const uint32_t *)words->data, words->len);
        program->counts.words = words->len;
        program->inputs = kernel->inputs;
        send_image(program, words, MAX(tile->words_per_flit, 1u));
        send_tile_static(program, &variant, tile);
    } else {
        vector_program_clear(program);
    }
    variant_clear(&variant);
    return good;
}

void vector_tile_run(struct vector_program *program, const struct vector_tile *tile, uint64_t input, uint64_t result) {
    struct variant variant = {.inputs = tile->delivered + (tile->period > 0)};
    if (tile->period)
        send_base(program, fill_descriptor(tile->delivered), input);
    send_base(program, drain_descriptor(&variant), result);
    send(program, &(struct vector_envelope){.op = VECTOR_RUN});
    program->batches++;
    program->result_bytes += (uint64_t)tile->words * WORD_BYTES;
}
