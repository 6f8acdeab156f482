/* The bytes behind a mesh: a sparse store of 256-bit words. It has no time; the path in front of it does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "model/word.h"

enum {
    DRAM_PAGE_WORDS = 128, /* 4 KB */
    DRAM_RECENT = 32,
};

struct dram {
    uint64_t size;     /* bytes; every address is taken modulo this */
    GHashTable *pages; /* page number to struct dram_page */
    /* Pages of the last accesses, by the lowest bits of their numbers: bursts stay inside one, and several take turns.
     */
    struct {
        uint64_t number;
        struct dram_page *page;
    } recent[DRAM_RECENT];
    uint64_t reads, writes; /* words */
};

struct dram_page {
    struct word256 words[DRAM_PAGE_WORDS];
    uint64_t written[DRAM_PAGE_WORDS / 64]; /* bit a word: has it ever been written */
};

void dram_init(struct dram *dram, uint64_t size);
void dram_clear(struct dram *dram);
/* The word that holds byte `address`; zero if it was never written, and *known says which. known may be NULL. */
struct word256 dram_read(struct dram *dram, uint64_t address, bool *known);
/* Whether the word was ever written; not counted as a read. */
bool dram_known(struct dram *dram, uint64_t address);
void dram_write(struct dram *dram, uint64_t address, const struct word256 *word);
/* Host access without time: any bytes. */
void dram_load(struct dram *dram, uint64_t address, const void *bytes, size_t size);
void dram_store(struct dram *dram, uint64_t address, void *bytes, size_t size);
