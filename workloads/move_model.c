/* Moves as register lists and as plain loops; see move_model.h. One row of the table per kind. */
#include "workloads/move_model.h"

#include <string.h>

#include "memory/move.h"
#include "memory/mover.h"
#include "memory/philox.h"

enum {
    BYPASS_BEATS = 4,
    BYPASS_WORDS = 4,
};

static uint64_t element_bytes(const struct move_shape *shape) {
    return (uint64_t)shape->element * WORD_BYTES;
}

static unsigned out_extent(unsigned extent, const struct move_shape *shape) {
    return (extent + 2 * shape->pad - shape->window) / shape->stride + 1;
}

static struct move_image image_of(const struct move_shape *shape) {
    return (struct move_image){shape->image_height, shape->image_width, shape->element};
}

static struct move_geometry geometry_of(const struct move_shape *shape) {
    const struct transform_occupant *occupant = shape->occupant;
    return occupant ? (struct move_geometry){occupant->in_bits / WORD_BITS, occupant->out_words}
                    : (struct move_geometry){BYPASS_BEATS, BYPASS_WORDS};
}

/* ---- bytes ---- */

static uint64_t line_bytes(const struct move_shape *shape) {
    return (uint64_t)shape->words * WORD_BYTES;
}

static uint64_t matrix_bytes(const struct move_shape *shape) {
    return (uint64_t)shape->rows * shape->columns * element_bytes(shape);
}

static uint64_t image_bytes(const struct move_shape *shape) {
    return (uint64_t)shape->image_height * shape->image_width * element_bytes(shape);
}

static uint64_t im2col_bytes(const struct move_shape *shape) {
    return (uint64_t)out_extent(shape->image_height, shape) * out_extent(shape->image_width, shape) * shape->window *
           shape->window * element_bytes(shape);
}

static uint64_t padded_bytes(const struct move_shape *shape) {
    return (uint64_t)(shape->image_height + 2 * shape->pad) * (shape->image_width + 2 * shape->pad) *
           element_bytes(shape);
}

static uint64_t table_bytes(const struct move_shape *shape) {
    return (uint64_t)(shape->table - 1) * shape->pitch + element_bytes(shape);
}

static uint64_t gathered_bytes(const struct move_shape *shape) {
    return shape->rows * element_bytes(shape);
}

static uint64_t entries_in_bytes(const struct move_shape *shape) {
    return (uint64_t)shape->entries * geometry_of(shape).in_beats * WORD_BYTES;
}

static uint64_t entries_out_bytes(const struct move_shape *shape) {
    return (uint64_t)shape->entries * geometry_of(shape).out_words * WORD_BYTES;
}

static uint64_t no_bytes(const struct move_shape *shape) {
    (void)shape;
    return 0;
}

/* ---- register lists ---- */

static void schedule_copy(const struct move_job *job, GArray *moves) {
    moves_copy(moves, job->source, job->destination, job->shape.words);
}

static void schedule_transpose(const struct move_job *job, GArray *moves) {
    const struct move_shape *shape = &job->shape;
    moves_transpose(moves, job->source, job->destination, shape->rows, shape->columns, shape->element);
}

static void schedule_im2col(const struct move_job *job, GArray *moves) {
    const struct move_shape *shape = &job->shape;
    struct move_window window = {shape->window, shape->window, shape->stride, shape->pad};
    moves_im2col(moves, job->source, job->destination, image_of(shape), window, shape->width, shape->immediate);
}

static void schedule_pad(const struct move_job *job, GArray *moves) {
    const struct move_shape *shape = &job->shape;
    moves_pad(moves, job->source, job->destination, image_of(shape), shape->pad, shape->width, shape->immediate);
}

static void schedule_gather(const struct move_job *job, GArray *moves) {
    const struct move_shape *shape = &job->shape;
    moves_gather(moves, job->source, shape->pitch, shape->element, job->indexes, shape->rows, job->destination);
}

static void schedule_generate(const struct move_job *job, GArray *moves) {
    moves_generate(moves, job->destination, job->shape.words, job->shape.seed);
}

static void schedule_fill(const struct move_job *job, GArray *moves) {
    moves_fill(moves, job->destination, job->shape.words, job->shape.width, job->shape.immediate);
}

static void schedule_convert(const struct move_job *job, GArray *moves) {
    const struct move_shape *shape = &job->shape;
    moves_convert(moves, job->source, job->destination, shape->entries, geometry_of(shape), shape->id, shape->mode);
}

static void schedule_reshard(const struct move_job *job, GArray *moves) {
    const struct move_shape *shape = &job->shape;
    moves_reshard(moves, job->source, job->destination, shape->rows, shape->columns, shape->element, shape->parts);
}

/* ---- answers ---- */

static void answer_copy(struct move_job *job) {
    memcpy(job->answer, job->source_bytes, line_bytes(&job->shape));
}

static void answer_transpose(struct move_job *job) {
    const struct move_shape *shape = &job->shape;
    uint64_t size = element_bytes(shape);
    for (uint64_t r = 0; r < shape->rows; r++)
        for (uint64_t c = 0; c < shape->columns; c++)
            memcpy(job->answer + (c * shape->rows + r) * size, job->source_bytes + (r * shape->columns + c) * size,
                   size);
}

/* The immediate, over and over, as wide as `width` says. */
static void fill_bytes(const struct move_shape *shape, uint8_t *bytes, uint64_t size) {
    unsigned wide = 1u << MIN(shape->width, 2);
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(shape->immediate >> i % wide * 8);
}

/* The pixel at (y, x) of the image, or filling where there is none. */
static void take_pixel(const struct move_job *job, int64_t y, int64_t x, uint8_t *to) {
    const struct move_shape *shape = &job->shape;
    uint64_t size = element_bytes(shape);
    if (y < 0 || x < 0 || y >= shape->image_height || x >= shape->image_width)
        fill_bytes(shape, to, size);
    else
        memcpy(to, job->source_bytes + ((uint64_t)y * shape->image_width + (uint64_t)x) * size, size);
}

static void answer_im2col(struct move_job *job) {
    const struct move_shape *shape = &job->shape;
    uint8_t *to = job->answer;
    for (int64_t oy = 0; oy < out_extent(shape->image_height, shape); oy++)
        for (int64_t ox = 0; ox < out_extent(shape->image_width, shape); ox++)
            for (int64_t ky = 0; ky < shape->window; ky++)
                for (int64_t kx = 0; kx < shape->window; kx++, to += element_bytes(shape))
                    take_pixel(job, oy * shape->stride + ky - shape->pad, ox * shape->stride + kx - shape->pad, to);
}

static void answer_pad(struct move_job *job) {
    const struct move_shape *shape = &job->shape;
    int64_t pad = shape->pad;
    uint8_t *to = job->answer;
    for (int64_t y = -pad; y < shape->image_height + pad; y++)
        for (int64_t x = -pad; x < shape->image_width + pad; x++, to += element_bytes(shape))
            take_pixel(job, y, x, to);
}

static void answer_gather(struct move_job *job) {
    const struct move_shape *shape = &job->shape;
    uint64_t size = element_bytes(shape);
    for (uint64_t r = 0; r < shape->rows; r++)
        memcpy(job->answer + r * size, job->source_bytes + (uint64_t)job->index_list[r] * shape->pitch, size);
}

static void answer_generate(struct move_job *job) {
    for (uint64_t w = 0; w < job->shape.words; w++) {
        struct word256 word;
        for (unsigned half = 0; half < 2; half++)
            philox_half(&word, half, job->shape.seed, job->destination + w * WORD_BYTES);
        memcpy(job->answer + w * WORD_BYTES, &word, WORD_BYTES);
    }
}

static void answer_fill(struct move_job *job) {
    fill_bytes(&job->shape, job->answer, line_bytes(&job->shape));
}

static void answer_convert(struct move_job *job) {
    const struct move_shape *shape = &job->shape;
    const struct transform_occupant *occupant = shape->occupant;
    struct move_geometry geometry = geometry_of(shape);
    if (!occupant)
        return;
    g_autofree void *state = g_malloc0(MAX(occupant->state_size, 1));
    for (uint64_t e = 0; e < shape->entries; e++) {
        struct word256 beat, words[TRANSFORM_WORDS];
        occupant->start(state, shape->id, shape->mode);
        for (uint64_t b = 0; b < geometry.in_beats; b++) {
            memcpy(&beat, job->source_bytes + (e * geometry.in_beats + b) * WORD_BYTES, sizeof beat);
            occupant->beat(state, &beat);
        }
        occupant->finish(state, words);
        size_t size = (size_t)geometry.out_words * WORD_BYTES;
        memcpy(job->answer + e * size, words, size);
    }
}

static void answer_reshard(struct move_job *job) {
    const struct move_shape *shape = &job->shape;
    uint64_t size = element_bytes(shape), wide = shape->columns / shape->parts;
    for (uint64_t r = 0; r < shape->rows; r++)
        for (uint64_t c = 0; c < shape->columns; c++)
            memcpy(job->answer + (c / wide * shape->rows * wide + r * wide + c % wide) * size,
                   job->source_bytes + (r * shape->columns + c) * size, size);
}

/* ---- the kinds ---- */

static const struct {
    uint64_t (*source)(const struct move_shape *shape);
    uint64_t (*destination)(const struct move_shape *shape);
    void (*schedule)(const struct move_job *job, GArray *moves);
    void (*answer)(struct move_job *job);
} kinds[MOVE_KINDS] = {
    [MOVE_COPY] = {line_bytes, line_bytes, schedule_copy, answer_copy},
    [MOVE_TRANSPOSE] = {matrix_bytes, matrix_bytes, schedule_transpose, answer_transpose},
    [MOVE_IM2COL] = {image_bytes, im2col_bytes, schedule_im2col, answer_im2col},
    [MOVE_PAD] = {image_bytes, padded_bytes, schedule_pad, answer_pad},
    [MOVE_GATHER] = {table_bytes, gathered_bytes, schedule_gather, answer_gather},
    [MOVE_GENERATE] = {no_bytes, line_bytes, schedule_generate, answer_generate},
    [MOVE_FILL] = {no_bytes, line_bytes, schedule_fill, answer_fill},
    [MOVE_CONVERT] = {entries_in_bytes, entries_out_bytes, schedule_convert, answer_convert},
    [MOVE_RESHARD] = {matrix_bytes, matrix_bytes, schedule_reshard, answer_reshard},
};

const char *move_shape_wrong(const struct move_shape *shape, const char **key) {
    unsigned least = MIN(shape->image_height, shape->image_width) + 2 * shape->pad;
    if (shape->kind == MOVE_IM2COL && shape->window > least) {
        *key = "window";
        return "is larger than the padded image, expected a window that fits into it";
    }
    if (shape->kind == MOVE_RESHARD && shape->columns % shape->parts) {
        *key = "parts";
        return "does not divide columns, expected a divisor";
    }
    if (shape->kind == MOVE_RESHARD && (uint64_t)shape->columns / shape->parts * shape->element > MOVE_COUNT_MAX) {
        *key = "columns";
        return "makes a block wider than the walker's count, expected at most 65535 words a row of a block";
    }
    return NULL;
}

uint64_t move_source_bytes(const struct move_shape *shape) {
    return kinds[shape->kind].source(shape);
}

uint64_t move_index_bytes(const struct move_shape *shape) {
    return shape->kind == MOVE_GATHER
               ? ((uint64_t)shape->rows * sizeof(uint32_t) + WORD_BYTES - 1) & ~(uint64_t)(WORD_BYTES - 1)
               : 0;
}

uint64_t move_destination_bytes(const struct move_shape *shape) {
    return kinds[shape->kind].destination(shape);
}

void move_job_schedule(const struct move_job *job, GArray *moves) {
    kinds[job->shape.kind].schedule(job, moves);
}

void move_job_answer(struct move_job *job) {
    kinds[job->shape.kind].answer(job);
}
