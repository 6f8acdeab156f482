/* Register write lists; see move.h. */
#include "memory/move.h"

#include "memory/mover.h"

enum {
    DEFAULT_WIDTH = 1, /* any legal element width: only fill words look at it */
};

void move_write(struct move *move, unsigned offset, uint64_t value) {
    g_assert(move->count < MOVE_WRITES_MAX);
    move->writes[move->count++] = (struct register_write){offset, value};
}

void move_walker(struct move *move, enum move_side side, const struct walker *walker, unsigned id, unsigned mode) {
    move_write(move, MOVER_REG_HEADER,
               side | (walker->base & ADDRESS_MASK) << 4 | (uint64_t)(walker->ndim & 7) << 44 |
                   (uint64_t)(id & 15) << 47 | (uint64_t)(mode & 15) << 55);
    for (unsigned d = 0; d < MIN(walker->ndim, WALKER_DIMS); d++) {
        const struct walker_dim *dim = &walker->dims[d];
        move_write(move, MOVER_REG_DIM, side | d << 1 | (uint64_t)dim->count << 4 | (uint64_t)dim->stride << 20);
        move_write(move, MOVER_REG_DIM_AXIS, (dim->axis & 3) | (uint64_t)(uint16_t)dim->step << 2);
    }
    for (unsigned a = 0; a < WALKER_AXES; a++)
        move_write(move, MOVER_REG_BOUND,
                   side | a << 1 | (uint64_t)walker->axes[a].start << 2 | (uint64_t)walker->axes[a].extent << 18);
}

void move_command(struct move *move, unsigned mode, unsigned width) {
    move_write(move, MOVER_REG_COMMAND, MOVER_GO | MOVER_COALESCE | width << 3 | mode);
}

GArray *moves_new(void) {
    return g_array_new(FALSE, TRUE, sizeof(struct move));
}

static struct move *append(GArray *moves) {
    g_array_set_size(moves, moves->len + 1);
    return &g_array_index(moves, struct move, moves->len - 1);
}

static struct walker line(uint64_t base, uint64_t words) {
    return (struct walker){.base = base, .ndim = 1, .dims = {{.count = (uint16_t)words, .stride = WORD_BYTES}}};
}

void moves_copy(GArray *moves, uint64_t source, uint64_t destination, uint64_t words) {
    for (uint64_t done = 0; done < words; done += MOVE_COUNT_MAX) {
        uint64_t piece = MIN(words - done, MOVE_COUNT_MAX);
        struct walker from = line(source + done * WORD_BYTES, piece), to = line(destination + done * WORD_BYTES, piece);
        struct move *move = append(moves);
        move_walker(move, MOVE_SOURCE, &from, 0, 0);
        move_walker(move, MOVE_DESTINATION, &to, 0, 0);
        move_command(move, MOVER_COPY, DEFAULT_WIDTH);
    }
}

void moves_fill(GArray *moves, uint64_t destination, uint64_t words, unsigned width, uint32_t immediate) {
    for (uint64_t done = 0; done < words; done += MOVE_COUNT_MAX) {
        struct walker to = line(destination + done * WORD_BYTES, MIN(words - done, MOVE_COUNT_MAX));
        struct move *move = append(moves);
        move_walker(move, MOVE_DESTINATION, &to, 0, 0);
        move_write(move, MOVER_REG_IMMEDIATE, immediate);
        move_command(move, MOVER_FILL, width);
    }
}

void moves_generate(GArray *moves, uint64_t destination, uint64_t words, uint64_t seed) {
    for (uint64_t done = 0; done < words; done += MOVE_COUNT_MAX) {
        struct walker to = line(destination + done * WORD_BYTES, MIN(words - done, MOVE_COUNT_MAX));
        struct move *move = append(moves);
        move_walker(move, MOVE_DESTINATION, &to, 0, 0);
        move_write(move, MOVER_REG_SEED, seed);
        move_command(move, MOVER_GENERATE, DEFAULT_WIDTH);
    }
}

void moves_transpose(GArray *moves, uint64_t source, uint64_t destination, unsigned rows, unsigned columns,
                     unsigned element_words) {
    uint32_t element = element_words * WORD_BYTES;
    g_assert(rows <= MOVE_COUNT_MAX && columns <= MOVE_COUNT_MAX && element_words <= MOVE_COUNT_MAX);
    struct walker from = {.base = source,
                          .ndim = 3,
                          .dims = {{.count = columns, .stride = element},
                                   {.count = rows, .stride = columns * element},
                                   {.count = element_words, .stride = WORD_BYTES}}};
    struct walker to = {.base = destination,
                        .ndim = 3,
                        .dims = {{.count = columns, .stride = rows * element},
                                 {.count = rows, .stride = element},
                                 {.count = element_words, .stride = WORD_BYTES}}};
    struct move *move = append(moves);
    move_walker(move, MOVE_SOURCE, &from, 0, 0);
    move_walker(move, MOVE_DESTINATION, &to, 0, 0);
    move_command(move, MOVER_COPY, DEFAULT_WIDTH);
}

void moves_reshard(GArray *moves, uint64_t source, uint64_t destination, unsigned rows, unsigned columns,
                   unsigned element_words, unsigned parts) {
    g_assert(parts && columns % parts == 0);
    uint32_t element = element_words * WORD_BYTES, block = columns / parts * element;
    for (unsigned p = 0; p < parts; p++) {
        struct walker from = {.base = source + (uint64_t)p * block,
                              .ndim = 2,
                              .dims = {{.count = rows, .stride = columns * element},
                                       {.count = block / WORD_BYTES, .stride = WORD_BYTES}}};
        struct walker to = from;
        to.base = destination + (uint64_t)p * rows * block;
        to.dims[0].stride = block;
        struct move *move = append(moves);
        move_walker(move, MOVE_SOURCE, &from, 0, 0);
        move_walker(move, MOVE_DESTINATION, &to, 0, 0);
        move_command(move, MOVER_COPY, DEFAULT_WIDTH);
    }
}

void moves_im2col(GArray *moves, uint64_t source, uint64_t destination, struct move_image image,
                  struct move_window window, unsigned width, uint32_t immediate) {
    uint32_t pixel = image.pixel_words * WORD_BYTES, row = image.width * pixel;
    unsigned out_height = (image.height + 2 * window.pad - window.height) / window.stride + 1;
    unsigned out_width = (image.width + 2 * window.pad - window.width) / window.stride + 1;
    unsigned counts[] = {out_height, out_width, window.height, window.width, image.pixel_words};
    struct walker from = {
        .base = source - window.pad * ((uint64_t)row + pixel),
        .ndim = 5,
        .dims = {{.count = out_height, .stride = window.stride * row, .axis = 1, .step = window.stride},
                 {.count = out_width, .stride = window.stride * pixel, .axis = 2, .step = window.stride},
                 {.count = window.height, .stride = row, .axis = 1, .step = 1},
                 {.count = window.width, .stride = pixel, .axis = 2, .step = 1},
                 {.count = image.pixel_words, .stride = WORD_BYTES}},
        .axes = {{.start = (uint16_t)-window.pad, .extent = image.height},
                 {.start = (uint16_t)-window.pad, .extent = image.width}}};
    struct walker to = {.base = destination, .ndim = 5};
    uint32_t stride = WORD_BYTES;
    for (unsigned d = to.ndim; d-- > 0; stride *= counts[d])
        to.dims[d] = (struct walker_dim){.count = counts[d], .stride = stride};
    struct move *move = append(moves);
    move_walker(move, MOVE_SOURCE, &from, 0, 0);
    move_walker(move, MOVE_DESTINATION, &to, 0, 0);
    move_write(move, MOVER_REG_IMMEDIATE, immediate);
    move_command(move, MOVER_COPY, width);
}

void moves_pad(GArray *moves, uint64_t source, uint64_t destination, struct move_image image, unsigned border,
               unsigned width, uint32_t immediate) {
    /* A window of one pixel over the padded image yields exactly the padded image. */
    moves_im2col(moves, source, destination, image,
                 (struct move_window){.height = 1, .width = 1, .stride = 1, .pad = border}, width, immediate);
}

void moves_gather(GArray *moves, uint64_t table, uint32_t pitch, unsigned row_words, uint64_t indexes, uint64_t count,
                  uint64_t destination) {
    g_assert(row_words >= 1 && row_words <= MOVE_COUNT_MAX);
    for (uint64_t done = 0; done < count; done += MOVE_INDEXES_MAX) {
        uint64_t rows = MIN(count - done, MOVE_INDEXES_MAX);
        struct walker from = {.base = table};
        struct walker to = {.base = destination + done * row_words * WORD_BYTES,
                            .ndim = 2,
                            .dims = {{.count = (uint16_t)rows, .stride = row_words * WORD_BYTES},
                                     {.count = (uint16_t)row_words, .stride = WORD_BYTES}}};
        struct move *move = append(moves);
        move_walker(move, MOVE_SOURCE, &from, 0, 0);
        move_walker(move, MOVE_DESTINATION, &to, 0, 0);
        move_write(move, MOVER_REG_INDEX, ((indexes + done * sizeof(uint32_t)) & ADDRESS_MASK) | rows << ADDRESS_BITS);
        move_write(move, MOVER_REG_PITCH, pitch | (uint64_t)row_words << 32);
        move_command(move, MOVER_GATHER, DEFAULT_WIDTH);
    }
}

static struct walker entries_walk(uint64_t base, uint64_t entries, unsigned words) {
    return (struct walker){.base = base,
                           .ndim = 2,
                           .dims = {{.count = (uint16_t)entries, .stride = words * WORD_BYTES},
                                    {.count = (uint16_t)words, .stride = WORD_BYTES}}};
}

void moves_convert(GArray *moves, uint64_t source, uint64_t destination, uint64_t entries,
                   struct move_geometry geometry, unsigned id, unsigned mode) {
    for (uint64_t done = 0; done < entries; done += MOVE_COUNT_MAX) {
        uint64_t piece = MIN(entries - done, MOVE_COUNT_MAX);
        struct walker from = entries_walk(source + done * geometry.in_beats * WORD_BYTES, piece, geometry.in_beats);
        struct walker to =
            entries_walk(destination + done * geometry.out_words * WORD_BYTES, piece, geometry.out_words);
        struct move *move = append(moves);
        move_walker(move, MOVE_SOURCE, &from, id, mode);
        move_walker(move, MOVE_DESTINATION, &to, 0, 0);
        move_command(move, MOVER_TRANSFORM, DEFAULT_WIDTH);
    }
}

void moves_set_options(GArray *moves, const struct move_options *options) {
    enum {
        WIDTH_BIT = 3,
        BURST_BIT = 13
    };
    for (guint m = 0; m < moves->len; m++) {
        struct move *move = &g_array_index(moves, struct move, m);
        struct register_write *command = &move->writes[move->count - 1];
        g_assert(command->offset == MOVER_REG_COMMAND);
        command->value = (command->value & 7) | options->width << WIDTH_BIT | options->burst_code << BURST_BIT |
                         MOVER_GO | (options->coalesce ? MOVER_COALESCE : 0);
    }
}
