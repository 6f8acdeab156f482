/* Sparse DRAM store; see dram.h. */
#include "memory/dram.h"

#include <string.h>

void dram_init(struct dram *dram, uint64_t size) {
    *dram = (struct dram){.size = size, .pages = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free)};
}

void dram_clear(struct dram *dram) {
    if (dram->pages)
        g_hash_table_unref(dram->pages);
    *dram = (struct dram){0};
}

static struct dram_page *page_at(struct dram *dram, uint64_t number, bool create) {
    unsigned place = number % DRAM_RECENT;
    if (dram->recent[place].page && dram->recent[place].number == number)
        return dram->recent[place].page;
    struct dram_page *page = g_hash_table_lookup(dram->pages, &number);
    if (!page && create) {
        page = g_new0(struct dram_page, 1);
        g_hash_table_insert(dram->pages, g_memdup2(&number, sizeof number), page);
    }
    if (page) {
        dram->recent[place].number = number;
        dram->recent[place].page = page;
    }
    return page;
}

struct word256 dram_read(struct dram *dram, uint64_t address, bool *known) {
    uint64_t word = address % dram->size / WORD_BYTES;
    unsigned index = word % DRAM_PAGE_WORDS;
    const struct dram_page *page = page_at(dram, word / DRAM_PAGE_WORDS, false);
    dram->reads++;
    if (known)
        *known = page && page->written[index / 64] >> (index % 64) & 1;
    return page ? page->words[index] : (struct word256){{0}};
}

bool dram_known(struct dram *dram, uint64_t address) {
    uint64_t word = address % dram->size / WORD_BYTES;
    unsigned index = word % DRAM_PAGE_WORDS;
    const struct dram_page *page = page_at(dram, word / DRAM_PAGE_WORDS, false);
    return page && page->written[index / 64] >> (index % 64) & 1;
}

void dram_write(struct dram *dram, uint64_t address, const struct word256 *value) {
    uint64_t word = address % dram->size / WORD_BYTES;
    unsigned index = word % DRAM_PAGE_WORDS;
    struct dram_page *page = page_at(dram, word / DRAM_PAGE_WORDS, true);
    dram->writes++;
    page->words[index] = *value;
    page->written[index / 64] |= UINT64_C(1) << (index % 64);
}

/* Calls for each piece of [address, address+size) that lies inside one word. */
static void each_word(struct dram *dram, uint64_t address, uint8_t *bytes, size_t size, bool load) {
    while (size) {
        uint64_t at = address % dram->size;
        size_t skip = at % WORD_BYTES, piece = MIN(size, WORD_BYTES - skip);
        uint64_t word = at / WORD_BYTES;
        unsigned index = word % DRAM_PAGE_WORDS;
        struct dram_page *page = page_at(dram, word / DRAM_PAGE_WORDS, load);
        if (load) {
            memcpy((uint8_t *)&page->words[index] + skip, bytes, piece);
            page->written[index / 64] |= UINT64_C(1) << (index % 64);
        } else if (page) {
            memcpy(bytes, (const uint8_t *)&page->words[index] + skip, piece);
        } else {
            memset(bytes, 0, piece);
        }
        address += piece;
        bytes += piece;
        size -= piece;
    }
}

void dram_load(struct dram *dram, uint64_t address, const void *bytes, size_t size) {
    each_word(dram, address, (uint8_t *)bytes, size, true);
}

void dram_store(struct dram *dram, uint64_t address, void *bytes, size_t size) {
    each_word(dram, address, bytes, size, false);
}
