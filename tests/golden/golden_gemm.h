/* The recorded GEMMs: operands and FP16 results of gemm_tile.txt, and the order in which a cluster works through them.
 */
#pragma once

#include "golden/golden.h"
#include "model/numeric/fp22.h"
#include "model/numeric/mxfp7.h"

struct golden_gemm {
    unsigned gm, gn, nk, chunks;
    uint8_t anchor;
    struct mxfp7_entry *a; /* [gm][nk] */
    struct mxfp7_entry *b; /* [gn][nk] */
};

static inline void golden_gemm_free(gpointer data) {
    struct golden_gemm *gemm = data;
    g_free(gemm->a);
    g_free(gemm->b);
    g_free(gemm);
}

static inline struct golden_gemm *golden_gemm_new(const struct golden *g) {
    struct golden_gemm *gemm = g_new0(struct golden_gemm, 1);
    gemm->gm = (unsigned)golden_decimal(g, 2);
    gemm->gn = (unsigned)golden_decimal(g, 3);
    gemm->nk = (unsigned)golden_decimal(g, 4);
    gemm->anchor = (uint8_t)golden_decimal(g, 5);
    gemm->chunks = (unsigned)golden_decimal(g, 6);
    gemm->a = g_new0(struct mxfp7_entry, gemm->gm * gemm->nk);
    gemm->b = g_new0(struct mxfp7_entry, gemm->gn * gemm->nk);
    return gemm;
}

/* An A or B line, whose fields are record, id, group, K block, four words. */
static inline void golden_gemm_operand(const struct golden *g, struct golden_gemm *gemm, gboolean side_a) {
    struct word256 words[MXFP7_WORDS];
    for (unsigned w = 0; w < MXFP7_WORDS; w++)
        words[w] = golden_word(g, 4 + w);
    size_t at = (size_t)golden_decimal(g, 2) * gemm->nk + (size_t)golden_decimal(g, 3);
    mxfp7_unpack(words, side_a ? MXFP7_ROWS : MXFP7_COLUMNS, side_a ? &gemm->a[at] : &gemm->b[at]);
}

static inline struct golden_gemm *golden_gemm_find(GPtrArray *gemms, const struct golden *g, unsigned field) {
    gint64 id = golden_decimal(g, field);
    if (id < 0 || id >= (gint64)gemms->len)
        g_error("%s:%u: no GEMM %" G_GINT64_FORMAT, g->path, g->line, id);
    return gemms->pdata[id];
}

/* Reads every record up to the next tile line, which it stops at; false at the end of the file. */
static inline gboolean golden_gemm_next_tile(struct golden *g, GPtrArray *gemms) {
    while (golden_next(g)) {
        char record = *golden_text(g, 0);
        if (record == 'T')
            return TRUE;
        if (record == 'G')
            g_ptr_array_add(gemms, golden_gemm_new(g));
        else
            golden_gemm_operand(g, golden_gemm_find(gemms, g, 1), record == 'A');
    }
    return FALSE;
}

static inline GPtrArray *golden_gemms(void) {
    struct golden g;
    GPtrArray *gemms = g_ptr_array_new_with_free_func(golden_gemm_free);
    golden_open(&g, "gemm_tile.txt");
    while (golden_gemm_next_tile(&g, gemms))
        ;
    golden_close(&g);
    return gemms;
}

/* Sub-tile (row, column) after all K blocks, one at a time. */
static inline void golden_gemm_tile(const struct golden_gemm *gemm, unsigned row, unsigned column, uint32_t tile[16]) {
    for (unsigned kb = 0; kb < gemm->nk; kb++) {
        const struct mxfp7_entry *a = &gemm->a[row * gemm->nk + kb], *b = &gemm->b[column * gemm->nk + kb];
        int32_t sums[16];
        mxfp7_block_dot(a, b, sums);
        if (kb == 0)
            fp22_tile_load(tile, sums, a->scale, b->scale, gemm->anchor, FP22_WIDTH);
        else
            fp22_tile_add(tile, sums, a->scale, b->scale, gemm->anchor, FP22_WIDTH);
    }
}
