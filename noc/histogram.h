/* Exact distribution of whole numbers: a counter for every value, in pages that exist only where values fall. Adding is
 * two loads and an increment; percentiles are exact. */
#pragma once

#include <stdint.h>

#include <glib.h>

enum {
    HISTOGRAM_PAGE_BITS = 10,
    HISTOGRAM_PAGE = 1 << HISTOGRAM_PAGE_BITS,
};

struct histogram {
    uint64_t **pages;
    uint64_t page_count;
    uint64_t count, sum, max;
};

static inline void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times) {
    uint64_t page = value >> HISTOGRAM_PAGE_BITS;
    if (page >= histogram->page_count) {
        uint64_t grown = MAX(page + 1, 2 * histogram->page_count);
        histogram->pages = g_renew(uint64_t *, histogram->pages, grown);
        for (uint64_t i = histogram->page_count; i < grown; i++)
            histogram->pages[i] = NULL;
        histogram->page_count = grown;
    }
    if (!histogram->pages[page])
        histogram->pages[page] = g_new0(uint64_t, HISTOGRAM_PAGE);
    histogram->pages[page][value & (HISTOGRAM_PAGE - 1)] += times;
    histogram->count += times;
    histogram->sum += value * times;
    histogram->max = MAX(histogram->max, value);
}

static inline void histogram_merge(struct histogram *into, const struct histogram *from) {
    for (uint64_t page = 0; page < from->page_count; page++)
        for (uint64_t i = 0; from->pages[page] && i < HISTOGRAM_PAGE; i++)
            if (from->pages[page][i])
                histogram_add(into, page << HISTOGRAM_PAGE_BITS | i, from->pages[page][i]);
}

/* The value number `rank`, counted from 0, of all values in ascending order; 0 if there are not that many. */
static inline uint64_t histogram_at(const struct histogram *histogram, uint64_t rank) {
    uint64_t seen = 0;
    for (uint64_t page = 0; page < histogram->page_count; page++)
        for (uint64_t i = 0; histogram->pages[page] && i < HISTOGRAM_PAGE; i++) {
            seen += histogram->pages[page][i];
            if (seen > rank)
                return page << HISTOGRAM_PAGE_BITS | i;
        }
    return 0;
}

static inline void histogram_clear(struct histogram *histogram) {
    for (uint64_t page = 0; page < histogram->page_count; page++)
        g_free(histogram->pages[page]);
    g_free(histogram->pages);
    *histogram = (struct histogram){0};
}
