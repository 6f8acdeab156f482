/* References and distances; see grade.h. */
#include "workloads/grade.h"

#include "model/numeric/clones.h"
#include "model/numeric/fp16.h"
#include "model/numeric/fp22.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUBTILE = 4,
    SCALE_BIAS = 46, /* a block sum times its scale mantissas is in units of 2^(Ea + Eb - 46) */
    K_STRIP = 64,    /* of the FP64 product: rows of B^T that stay in cache */
    N_STRIP = 512,
    SORT_BITS = 11, /* a digit */
    SORT_RADIX = 1 << SORT_BITS,
    SORT_DIGITS = (64 + SORT_BITS - 1) / SORT_BITS,
};

__extension__ typedef __int128 wide_sum;

/* The entries of one sub-tile and its place in C. */
struct subtile {
    const struct operand_layout *a, *b;
    const struct mxfp7_entry *a_entries, *b_entries;
    size_t row, column; /* in sub-tiles */
};

static const struct mxfp7_entry *entry_at(const struct operand_layout *layout, const struct mxfp7_entry *entries,
                                          size_t group, size_t block) {
    return &entries[operand_entry_of(layout, group * SUBTILE, block * MXFP7_BLOCK)];
}

static struct fp22_scaled_block block_of(const struct subtile *subtile, size_t block, int32_t sums[16]) {
    const struct mxfp7_entry *a = entry_at(subtile->a, subtile->a_entries, subtile->row, block);
    const struct mxfp7_entry *b = entry_at(subtile->b, subtile->b_entries, subtile->column, block);
    mxfp7_block_dot(a, b, sums);
    return (struct fp22_scaled_block){sums, a->scale, b->scale};
}

static void add_single(uint32_t tile[16], const struct fp22_scaled_block *block, bool opens, unsigned width) {
    if (opens)
        fp22_tile_load(tile, block->sums, block->sa, block->sb, FP22_ANCHOR, width);
    else
        fp22_tile_add(tile, block->sums, block->sa, block->sb, FP22_ANCHOR, width);
}

static void add_pair(uint32_t tile[16], const struct fp22_scaled_block *first, const struct fp22_scaled_block *second,
                     bool opens, unsigned width) {
    if (opens)
        fp22_tile_pair_load(tile, first, second, FP22_ANCHOR, width);
    else
        fp22_tile_pair_add(tile, first, second, FP22_ANCHOR, width);
}

/* All K blocks in sweep order; at double rate in pairs from the first block of each chunk on, an odd last one alone. */
static void accumulate(const struct subtile *subtile, const struct grade_machine *machine, uint32_t tile[16]) {
    for (size_t chunk = 0, block = 0; chunk < subtile->a->chunks; chunk++) {
        size_t end = block + operand_chunk_blocks(subtile->a, chunk);
        while (block < end) {
            int32_t sums[2][16];
            bool opens = block == 0, paired = machine->double_rate && block + 1 < end;
            struct fp22_scaled_block first = block_of(subtile, block, sums[0]);
            if (paired) {
                struct fp22_scaled_block second = block_of(subtile, block + 1, sums[1]);
                add_pair(tile, &first, &second, opens, machine->width);
            } else {
                add_single(tile, &first, opens, machine->width);
            }
            block += paired ? 2 : 1;
        }
    }
}

/* Places one emitted sub-tile, cropped to C; returns its clamped elements within C, given that some lane was clamped.
 */
static size_t place_subtile(const struct subtile *subtile, const struct word256 *word, bool cut, uint16_t *c) {
    size_t clamped = 0;
    for (size_t i = 0; i < SUBTILE && subtile->row * SUBTILE + i < subtile->a->lanes; i++) {
        for (size_t j = 0; j < SUBTILE && subtile->column * SUBTILE + j < subtile->b->lanes; j++) {
            uint16_t half = (uint16_t)(word->w[i] >> 16 * j);
            c[(subtile->row * SUBTILE + i) * subtile->b->lanes + subtile->column * SUBTILE + j] = half;
            clamped += cut && (half & 0x7fff) == FP16_LARGEST;
        }
    }
    return clamped;
}

static size_t subtiles_of(const struct operand_layout *layout) {
    return (layout->lanes + SUBTILE - 1) / SUBTILE;
}

size_t grade_tile_lanes(const struct operand_layout *a, const struct operand_layout *b) {
    return subtiles_of(a) * subtiles_of(b) * FP22_LANES;
}

void grade_machine_tiles(const struct operand_layout *a, const struct mxfp7_entry *a_entries,
                         const struct operand_layout *b, const struct mxfp7_entry *b_entries,
                         const struct grade_machine *machine, uint32_t *tiles) {
    for (size_t row = 0; row < subtiles_of(a); row++) {
        for (size_t column = 0; column < subtiles_of(b); column++, tiles += FP22_LANES) {
            struct subtile subtile = {a, b, a_entries, b_entries, row, column};
            accumulate(&subtile, machine, tiles);
        }
    }
}

size_t grade_tiles_result(const struct operand_layout *a, const struct operand_layout *b,
                          const struct grade_machine *machine, const uint32_t *tiles, uint16_t *c) {
    size_t clamped = 0;
    for (size_t row = 0; row < subtiles_of(a); row++) {
        for (size_t column = 0; column < subtiles_of(b); column++, tiles += FP22_LANES) {
            struct subtile subtile = {.a = a, .b = b, .row = row, .column = column};
            struct word256 word;
            bool cut = fp22_tile_emit(tiles, machine->width, &word) > 0;
            clamped += place_subtile(&subtile, &word, cut, c);
        }
    }
    return clamped;
}

size_t grade_machine_result(const struct operand_layout *a, const struct mxfp7_entry *a_entries,
                            const struct operand_layout *b, const struct mxfp7_entry *b_entries,
                            const struct grade_machine *machine, uint16_t *c) {
    g_autofree uint32_t *tiles = g_new(uint32_t, grade_tile_lanes(a, b));
    grade_machine_tiles(a, a_entries, b, b_entries, machine, tiles);
    return grade_tiles_result(a, b, machine, tiles, c);
}

static void exact_subtile(const struct subtile *subtile, double out[16]) {
    wide_sum totals[16] = {0};
    for (size_t block = 0; block < subtile->a->blocks; block++) {
        int32_t sums[16];
        struct fp22_scaled_block scaled = block_of(subtile, block, sums);
        for (unsigned lane = 0; lane < 16; lane++) {
            unsigned sa = scaled.sa[lane / SUBTILE], sb = scaled.sb[lane % SUBTILE];
            wide_sum term = (wide_sum)sums[lane] * (8 + (sa & 7)) * (8 + (sb & 7));
            totals[lane] += term * ((wide_sum)1 << ((sa >> 3) + (sb >> 3)));
        }
    }
    for (unsigned lane = 0; lane < 16; lane++)
        out[lane] = ldexp((double)totals[lane], -SCALE_BIAS);
}

void grade_exact_result(const struct operand_layout *a, const struct mxfp7_entry *a_entries,
                        const struct operand_layout *b, const struct mxfp7_entry *b_entries, double *c) {
    for (size_t row = 0; row * SUBTILE < a->lanes; row++) {
        for (size_t column = 0; column * SUBTILE < b->lanes; column++) {
            struct subtile subtile = {a, b, a_entries, b_entries, row, column};
            double out[16];
            exact_subtile(&subtile, out);
            for (size_t i = 0; i < SUBTILE && row * SUBTILE + i < a->lanes; i++)
                for (size_t j = 0; j < SUBTILE && column * SUBTILE + j < b->lanes; j++)
                    c[(row * SUBTILE + i) * b->lanes + column * SUBTILE + j] = out[SUBTILE * i + j];
        }
    }
}

void grade_dequantise(const struct operand_layout *layout, const struct mxfp7_entry *entries, double *rows) {
    for (size_t lane = 0; lane < layout->lanes; lane++) {
        for (size_t block = 0; block * MXFP7_BLOCK < layout->k; block++) {
            const struct mxfp7_entry *entry = entry_at(layout, entries, lane / SUBTILE, block);
            double step = mxfp7_decode(1, entry->scale[lane % SUBTILE]);
            size_t depth = MIN((size_t)MXFP7_BLOCK, layout->k - block * MXFP7_BLOCK);
            for (size_t k = 0; k < depth; k++)
                rows[lane * layout->k + block * MXFP7_BLOCK + k] = entry->q[lane % SUBTILE][k] * step;
        }
    }
}

/* c[0..width) += sum over a strip of K of a[k] * bt[k][0..width), in the order of k. Products and sums are rounded one
 * by one, so that more lanes at a time change nothing. */
VECTOR_CLONES static void add_strip(double *restrict c, const double *a, const double *restrict bt, size_t depth,
                                    size_t pitch, size_t width) {
    for (size_t k = 0; k < depth; k++) {
        double factor = a[k];
        const double *row = bt + k * pitch;
        for (size_t j = 0; j < width; j++)
            c[j] += factor * row[j];
    }
}

void grade_fp64_result(size_t m, size_t k, size_t n, const double *a, const double *b, double *c) {
    g_autofree double *bt = g_new(double, (size_t)K_STRIP *N_STRIP);
    memset(c, 0, m * n * sizeof *c);
    for (size_t from_n = 0; from_n < n; from_n += N_STRIP) {
        size_t width = MIN((size_t)N_STRIP, n - from_n);
        for (size_t from_k = 0; from_k < k; from_k += K_STRIP) {
            size_t depth = MIN((size_t)K_STRIP, k - from_k);
            for (size_t j = 0; j < width; j++)
                for (size_t i = 0; i < depth; i++)
                    bt[i * N_STRIP + j] = b[(from_n + j) * k + from_k + i];
            for (size_t row = 0; row < m; row++)
                add_strip(c + row * n + from_n, a + row * k + from_k, bt, depth, N_STRIP, width);
        }
    }
}

/* Sorts numbers that are not negative, which are ordered as their bits are, digit by digit from the lowest. */
static void sort_errors(double *values, size_t count) {
    g_autofree uint64_t *spare = g_new(uint64_t, MAX(count, 1)), *keys = g_new(uint64_t, MAX(count, 1));
    memcpy(keys, values, count * sizeof *keys);
    for (unsigned digit = 0; digit < SORT_DIGITS; digit++) {
        size_t places[SORT_RADIX] = {0};
        unsigned shift = digit * SORT_BITS;
        for (size_t i = 0; i < count; i++)
            places[keys[i] >> shift & (SORT_RADIX - 1)]++;
        for (size_t bin = 0, sum = 0; bin < SORT_RADIX; bin++) {
            size_t size = places[bin];
            places[bin] = sum;
            sum += size;
        }
        for (size_t i = 0; i < count; i++)
            spare[places[keys[i] >> shift & (SORT_RADIX - 1)]++] = keys[i];
        uint64_t *swap = keys;
        keys = spare;
        spare = swap;
    }
    memcpy(values, keys, count * sizeof *keys);
}

/* Quantile of sorted values, linear between neighbours. */
static double quantile(const double *sorted, size_t count, double q) {
    if (count == 0)
        return 0;
    double at = q * (double)(count - 1);
    size_t below = (size_t)at, above = MIN(below + 1, count - 1);
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

static bool halves_equal(uint16_t x, uint16_t y) {
    return x == y || ((x | y) & 0x7fff) == 0;
}

double grade_bin_low(unsigned bin) {
    return bin < 2 ? 0 : pow(10, -7 + 0.5 * (bin - 2));
}

/* Bins of ascending relative errors. */
static void fill_bins(const double *sorted, size_t count, size_t bins[GRADE_BINS]) {
    size_t at = 0;
    while (at < count && sorted[at] == 0)
        at++;
    bins[0] = at;
    for (unsigned bin = 1; bin < GRADE_BINS; bin++) {
        size_t from = at;
        while (at < count && (bin + 1 == GRADE_BINS || sorted[at] < grade_bin_low(bin + 1)))
            at++;
        bins[bin] = at - from;
    }
}

/* Keeps the element if it is among the worst; of equal ones the first. */
static void note_worst(struct numerics *numerics, const struct grade_element *element) {
    struct grade_element *worst = numerics->worst;
    unsigned place = numerics->worst_count;
    if (place == GRADE_WORST && !(element->rel > worst[GRADE_WORST - 1].rel))
        return;
    if (place < GRADE_WORST)
        numerics->worst_count++;
    else
        place--;
    for (; place > 0 && element->rel > worst[place - 1].rel; place--)
        worst[place] = worst[place - 1];
    worst[place] = *element;
}

void grade_against(const double *want, const uint16_t *got, size_t count, struct numerics *numerics) {
    g_autofree double *rel = g_new(double, MAX(count, 1));
    size_t defined = 0;
    double peak = 0;
    *numerics = (struct numerics){.count = count};
    for (size_t i = 0; i < count; i++) {
        double value = fp16_to_double(got[i]), distance = fabs(value - want[i]);
        numerics->mismatches += !halves_equal(got[i], fp16_from_double_saturating(want[i]));
        numerics->saturated += isinf(value) || fabs(value) == 65504;
        peak = fmax(peak, fabs(want[i]));
        if (!isfinite(value) || (want[i] == 0 && value != 0)) {
            numerics->undefined++;
        } else {
            rel[defined] = want[i] == 0 ? 0 : distance / fabs(want[i]);
            note_worst(numerics, &(struct grade_element){i, value, want[i], rel[defined]});
            numerics->over_1pct += rel[defined] > 0.01;
            numerics->over_10pct += rel[defined] > 0.1;
            defined++;
        }
        if (isfinite(value))
            numerics->max_abs = fmax(numerics->max_abs, distance);
    }
    numerics->over_1pct += numerics->undefined;
    numerics->over_10pct += numerics->undefined;
    sort_errors(rel, defined);
    fill_bins(rel, defined, numerics->bins);
    numerics->rel_p50 = quantile(rel, defined, 0.5);
    numerics->rel_p90 = quantile(rel, defined, 0.9);
    numerics->rel_p99 = quantile(rel, defined, 0.99);
    numerics->rel_max = quantile(rel, defined, 1);
    numerics->fp16_ulp_max = numerics->rel_max * 1024;
    numerics->normalised = peak > 0 ? numerics->max_abs / peak : 0;
}

size_t grade_bit_mismatches(const uint16_t *want, const uint16_t *got, size_t count, size_t *first) {
    size_t mismatches = 0;
    *first = count;
    for (size_t i = 0; i < count; i++) {
        if (want[i] == got[i])
            continue;
        *first = MIN(*first, i);
        mismatches++;
    }
    return mismatches;
}
