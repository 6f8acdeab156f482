/* Where a run's vector kernels spend their cycles, word by word: `flitsim run --profile`. A core tells when it executes
 * a word; the cycles until the next one, waits included, belong to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "units/system.h"

/* One content of instruction memory that was run, cores with the same content together. */
struct profile_image {
    uint32_t *words;     /* VECTOR_IMEM_WORDS */
    unsigned first, end; /* words executed lie in [first, end) */
    uint64_t runs, cores;
    uint64_t cycles;            /* of all RUNs, from offer to end */
    uint64_t start_cycles;      /* of these before the first word */
    uint64_t *executed, *spent; /* a word; a chain's are at its first word */
};

struct profile {
    GArray *cores;  /* of struct profile_core, opaque */
    GArray *images; /* of struct profile_image, once profile_end was called */
};

/* Listens to every vector core of the system, before its first cycle. */
struct profile *profile_new(struct system *system);
/* Puts the cores' figures together, after the last cycle. */
void profile_end(struct profile *profile);
void profile_free(struct profile *profile);
