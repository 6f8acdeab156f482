/* What a move is meant to do, said twice (noc-and-memory §8, §9): as the mover's register lists, and as plain loops
 * over bytes that know nothing of walkers, bursts or modes. The second is the answer that the first is graded against.
 */
#pragma once

#include <stdint.h>

#include <glib.h>

#include "memory/transform.h"

enum move_kind {
    MOVE_COPY,
    MOVE_TRANSPOSE,
    MOVE_IM2COL,
    MOVE_PAD,
    MOVE_GATHER,
    MOVE_GENERATE,
    MOVE_FILL,
    MOVE_CONVERT,
    MOVE_RESHARD,
    MOVE_KINDS,
};

/* Sizes as asked for; which of them count depends on the kind. An element, pixel or table row is `element` words. */
struct move_shape {
    int kind; /* enum move_kind */
    unsigned words, rows, columns, element, parts;
    unsigned image_height, image_width, window, stride, pad;
    unsigned table, pitch; /* rows that can be gathered, bytes from one to the next */
    unsigned entries, id, mode;
    const struct transform_occupant *occupant; /* of id; NULL: there is none */
    unsigned width;                            /* of the fill word */
    uint32_t immediate;
    uint64_t seed;
};

struct move_job {
    struct move_shape shape;
    uint64_t source, indexes, destination; /* addresses */
    uint8_t *source_bytes;
    uint32_t *index_list; /* `rows` of them, of a gather */
    uint8_t *answer;      /* what the destination has to hold */
};

/* Sentence on what is wrong with the shape, naming the key first ("columns"), or NULL. */
const char *move_shape_wrong(const struct move_shape *shape, const char **key);
uint64_t move_source_bytes(const struct move_shape *shape);
uint64_t move_index_bytes(const struct move_shape *shape);
uint64_t move_destination_bytes(const struct move_shape *shape);
/* Appends the moves, with default options. */
void move_job_schedule(const struct move_job *job, GArray *moves);
/* Fills job->answer, which must be there and zero. */
void move_job_answer(struct move_job *job);
