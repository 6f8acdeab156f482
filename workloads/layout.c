/* Orders of elements in memory; see layout.h. */
#include "workloads/layout.h"

#include <string.h>

enum {
    LANES = MXFP7_LANES,
    BLOCK = MXFP7_BLOCK,
    GROUP_COLUMNS = 4,
};

static size_t ceil_div(size_t a, size_t b) {
    return (a + b - 1) / b;
}

static uint16_t load_half(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

static void store_half(uint8_t *at, uint16_t half) {
    at[0] = (uint8_t)half;
    at[1] = (uint8_t)(half >> 8);
}

static struct word256 load_word(const uint8_t *at) {
    struct word256 word = {{0}};
    for (unsigned i = 0; i < WORD_BYTES; i++)
        word.w[i / 8] |= (uint64_t)at[i] << 8 * (i % 8);
    return word;
}

static void store_word(uint8_t *at, const struct word256 *word) {
    for (unsigned i = 0; i < WORD_BYTES; i++)
        at[i] = (uint8_t)(word->w[i / 8] >> 8 * (i % 8));
}

void operand_layout_init(struct operand_layout *layout, size_t lanes, size_t k, unsigned group, unsigned block,
                         bool ragged) {
    size_t blocks = ceil_div(k, BLOCK), chunks = ceil_div(blocks, block);
    *layout = (struct operand_layout){
        .lanes = lanes,
        .k = k,
        .group = group,
        .block = block,
        .ragged = ragged,
        .tiles = ceil_div(lanes, (size_t)LANES * group),
        .chunks = chunks,
        .blocks = ragged ? blocks : chunks * block,
    };
}

size_t operand_entries(const struct operand_layout *layout) {
    return layout->tiles * layout->group * layout->blocks;
}

unsigned operand_chunk_blocks(const struct operand_layout *layout, size_t chunk) {
    return (unsigned)MIN(layout->block, layout->blocks - chunk * layout->block);
}

size_t operand_chunk_first(const struct operand_layout *layout, size_t tile, size_t chunk) {
    return (tile * layout->blocks + chunk * layout->block) * layout->group;
}

size_t operand_entry_of(const struct operand_layout *layout, size_t lane, size_t k) {
    size_t group = lane / LANES, tile = group / layout->group;
    size_t block = k / BLOCK, chunk = block / layout->block;
    return operand_chunk_first(layout, tile, chunk) + group % layout->group * operand_chunk_blocks(layout, chunk) +
           block % layout->block;
}

size_t operand_fp16_offset(const struct operand_layout *layout, size_t lane, size_t k) {
    size_t place = lane % LANES * BLOCK + k % BLOCK;
    return operand_entry_of(layout, lane, k) * ENTRY_FP16_BYTES + place * sizeof(uint16_t);
}

size_t operand_word_offset(const struct operand_layout *layout, size_t lane, size_t k) {
    return operand_entry_of(layout, lane, k) * ENTRY_CONVERTED_BYTES + k % BLOCK / 8 * WORD_BYTES;
}

void operand_pack(const struct operand_layout *layout, const uint16_t *rows, uint8_t *image) {
    memset(image, 0, operand_entries(layout) * ENTRY_FP16_BYTES);
    for (size_t lane = 0; lane < layout->lanes; lane++)
        for (size_t k = 0; k < layout->k; k++)
            store_half(image + operand_fp16_offset(layout, lane, k), rows[lane * layout->k + k]);
}

void operand_unpack(const struct operand_layout *layout, const uint8_t *image, uint16_t *rows) {
    for (size_t lane = 0; lane < layout->lanes; lane++)
        for (size_t k = 0; k < layout->k; k++)
            rows[lane * layout->k + k] = load_half(image + operand_fp16_offset(layout, lane, k));
}

/* The 4 x 32 elements from (lane, k) on, zeros beyond the operand. */
static void gather_block(const struct operand_layout *layout, const uint16_t *rows, size_t lane, size_t k,
                         uint16_t lanes[LANES][BLOCK]) {
    memset(lanes, 0, sizeof(uint16_t[LANES][BLOCK]));
    if (k >= layout->k)
        return;
    size_t depth = MIN((size_t)BLOCK, layout->k - k);
    for (size_t l = 0; l < LANES && lane + l < layout->lanes; l++)
        memcpy(lanes[l], &rows[(lane + l) * layout->k + k], depth * sizeof(uint16_t));
}

void operand_quantise(const struct operand_layout *layout, const uint16_t *rows, struct mxfp7_entry *entries) {
    uint16_t lanes[LANES][BLOCK];
    for (size_t group = 0; group < layout->tiles * layout->group; group++) {
        for (size_t block = 0; block < layout->blocks; block++) {
            gather_block(layout, rows, group * LANES, block * BLOCK, lanes);
            size_t entry = operand_entry_of(layout, group * LANES, block * BLOCK);
            mxfp7_quantise((const uint16_t(*)[BLOCK])lanes, &entries[entry]);
        }
    }
}

void image_convert(const uint8_t *image, size_t count, enum mxfp7_packing packing, uint8_t *converted) {
    for (size_t e = 0; e < count; e++) {
        uint16_t lanes[LANES][BLOCK];
        for (size_t i = 0; i < (size_t)LANES * BLOCK; i++)
            lanes[i / BLOCK][i % BLOCK] = load_half(image + e * ENTRY_FP16_BYTES + i * sizeof(uint16_t));
        struct mxfp7_entry entry;
        struct word256 words[MXFP7_WORDS];
        mxfp7_quantise((const uint16_t(*)[BLOCK])lanes, &entry);
        mxfp7_pack(&entry, packing, words);
        for (size_t w = 0; w < MXFP7_WORDS; w++)
            store_word(converted + e * ENTRY_CONVERTED_BYTES + w * WORD_BYTES, &words[w]);
    }
}

void image_entries(const uint8_t *converted, size_t count, enum mxfp7_packing packing, struct mxfp7_entry *entries) {
    for (size_t e = 0; e < count; e++) {
        struct word256 words[MXFP7_WORDS];
        for (size_t w = 0; w < MXFP7_WORDS; w++)
            words[w] = load_word(converted + e * ENTRY_CONVERTED_BYTES + w * WORD_BYTES);
        mxfp7_unpack(words, packing, &entries[e]);
    }
}

void result_layout_init(struct result_layout *layout, size_t m, size_t n, unsigned gm, unsigned gn) {
    *layout = (struct result_layout){
        .m = m,
        .n = n,
        .gm = gm,
        .gn = gn,
        .rows = ceil_div(m, (size_t)4 * gm),
        .columns = ceil_div(n, (size_t)4 * gn),
    };
}

size_t result_bytes(const struct result_layout *layout) {
    return layout->rows * layout->columns * layout->gm * layout->gn * SUBTILE_BYTES;
}

size_t result_tile_offset(const struct result_layout *layout, size_t i, size_t j) {
    return (i * layout->columns + j) * layout->gm * layout->gn * SUBTILE_BYTES;
}

size_t result_offset(const struct result_layout *layout, size_t row, size_t column) {
    size_t i = row / 4 / layout->gm, g = row / 4 % layout->gm;
    size_t j = column / 4 / layout->gn, h = column / 4 % layout->gn;
    size_t place = row % 4 * 4 + column % 4;
    return result_tile_offset(layout, i, j) + (g * layout->gn + h) * SUBTILE_BYTES + place * sizeof(uint16_t);
}

void result_untile(const struct result_layout *layout, const uint8_t *image, uint16_t *rows) {
    for (size_t row = 0; row < layout->m; row++)
        for (size_t column = 0; column < layout->n; column++)
            rows[row * layout->n + column] = load_half(image + result_offset(layout, row, column));
}

void result_tile(const struct result_layout *layout, const uint16_t *rows, uint8_t *image) {
    memset(image, 0, result_bytes(layout));
    for (size_t row = 0; row < layout->m; row++)
        for (size_t column = 0; column < layout->n; column++)
            store_half(image + result_offset(layout, row, column), rows[row * layout->n + column]);
}

void flat_pack(const uint16_t *elements, size_t count, uint8_t *image) {
    for (size_t i = 0; i < count; i++)
        store_half(image + i * sizeof(uint16_t), elements[i]);
}

void flat_unpack(const uint8_t *image, size_t count, uint16_t *elements) {
    for (size_t i = 0; i < count; i++)
        elements[i] = load_half(image + i * sizeof(uint16_t));
}

size_t bias_bytes(size_t columns) {
    return columns / GROUP_COLUMNS * WORD_BYTES;
}

void bias_pack(const uint16_t *bias, size_t columns, uint8_t *image) {
    for (size_t i = 0; i < bias_bytes(columns) / sizeof(uint16_t); i++)
        store_half(image + i * sizeof(uint16_t), bias[i / 16 * GROUP_COLUMNS + i % GROUP_COLUMNS]);
}

bool bias_unpack(const uint8_t *image, size_t columns, uint16_t *bias, GError **error) {
    for (size_t i = 0; i < bias_bytes(columns) / sizeof(uint16_t); i++) {
        uint16_t half = load_half(image + i * sizeof(uint16_t)),
                 *value = &bias[i / 16 * GROUP_COLUMNS + i % GROUP_COLUMNS];
        if (i % 16 < GROUP_COLUMNS) {
            *value = half;
        } else if (*value != half) {
            g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                        "bias image: row %zu of word %zu differs, expected four equal rows", i % 16 / GROUP_COLUMNS,
                        i / 16);
            return false;
        }
    }
    return true;
}

void plane_layout_init(struct plane_layout *layout, size_t height, size_t width, size_t channels, size_t tile_rows) {
    size_t pitch = width + 2, plane = ceil_div((height + 2) * pitch, LANES) * LANES;
    size_t tiles = ceil_div((height - 1) * pitch + width, tile_rows);
    size_t reach = tiles * tile_rows + 2 * pitch + 2; /* positions the last tile's last tap goes to */
    *layout = (struct plane_layout){
        .height = height,
        .width = width,
        .channels = channels,
        .plane = plane,
        .tail = reach > plane ? ceil_div(reach - plane, LANES) : 0,
    };
}

size_t plane_bytes(const struct plane_layout *layout) {
    return layout->channels / BLOCK * layout->plane * BLOCK * sizeof(uint16_t) + layout->tail * ENTRY_FP16_BYTES;
}

/* Byte of channel c at raster position (y, x) of the picture, its one-pixel border apart. */
static size_t plane_offset(const struct plane_layout *layout, size_t y, size_t x, size_t c) {
    size_t position = (y + 1) * (layout->width + 2) + x + 1;
    return ((c / BLOCK * layout->plane + position) * BLOCK + c % BLOCK) * sizeof(uint16_t);
}

void plane_pack(const struct plane_layout *layout, const uint16_t *activations, uint8_t *image) {
    memset(image, 0, plane_bytes(layout));
    for (size_t y = 0; y < layout->height; y++)
        for (size_t x = 0; x < layout->width; x++)
            for (size_t c = 0; c < layout->channels; c++)
                store_half(image + plane_offset(layout, y, x, c),
                           activations[(y * layout->width + x) * layout->channels + c]);
}

void plane_unpack(const struct plane_layout *layout, const uint8_t *image, uint16_t *activations) {
    for (size_t y = 0; y < layout->height; y++)
        for (size_t x = 0; x < layout->width; x++)
            for (size_t c = 0; c < layout->channels; c++)
                activations[(y * layout->width + x) * layout->channels + c] =
                    load_half(image + plane_offset(layout, y, x, c));
}

static struct span *span_at(GArray *spans, guint index) {
    return &g_array_index(spans, struct span, index);
}

static uint64_t span_end(const struct span *span) {
    return span->address + span->bytes;
}

/* Index of the first span at or above the address. */
static guint span_index(GArray *spans, uint64_t address) {
    guint lo = 0, hi = spans->len;
    while (lo < hi) {
        guint middle = lo + (hi - lo) / 2;
        if (span_at(spans, middle)->address < address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

void arena_init(struct arena *arena, uint64_t base, uint64_t bytes, uint64_t quantum) {
    arena->quantum = quantum;
    arena->free_spans = g_array_new(FALSE, FALSE, sizeof(struct span));
    arena->used_spans = g_array_new(FALSE, FALSE, sizeof(struct span));
    uint64_t first = (base + quantum - 1) / quantum * quantum, end = (base + bytes) / quantum * quantum;
    struct span all = {first, end > first ? end - first : 0};
    if (all.bytes)
        g_array_append_val(arena->free_spans, all);
}

void arena_clear(struct arena *arena) {
    g_array_free(arena->free_spans, TRUE);
    g_array_free(arena->used_spans, TRUE);
    *arena = (struct arena){0};
}

bool arena_take(struct arena *arena, uint64_t bytes, uint64_t *address, GError **error) {
    uint64_t rounded = MAX(bytes, 1), best_bytes = UINT64_MAX;
    rounded += (arena->quantum - rounded % arena->quantum) % arena->quantum;
    guint best = arena->free_spans->len;
    for (guint i = 0; rounded >= bytes && i < arena->free_spans->len; i++) {
        uint64_t size = span_at(arena->free_spans, i)->bytes;
        if (size >= rounded && size < best_bytes) {
            best = i;
            best_bytes = size;
        }
    }
    if (best == arena->free_spans->len) {
        g_set_error(error, FS_ERROR, FS_ERROR_RANGE,
                    "no room for %" G_GUINT64_FORMAT " bytes, expected a larger memory", bytes);
        return false;
    }
    struct span *from = span_at(arena->free_spans, best), taken = {from->address, rounded};
    from->address += rounded;
    from->bytes -= rounded;
    if (!from->bytes)
        g_array_remove_index(arena->free_spans, best);
    g_array_insert_val(arena->used_spans, span_index(arena->used_spans, taken.address), taken);
    *address = taken.address;
    return true;
}

bool arena_give(struct arena *arena, uint64_t address, GError **error) {
    guint used = span_index(arena->used_spans, address);
    if (used == arena->used_spans->len || span_at(arena->used_spans, used)->address != address) {
        g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL, "0x%" G_GINT64_MODIFIER "x is not a span that was taken",
                    address);
        return false;
    }
    struct span span = *span_at(arena->used_spans, used);
    g_array_remove_index(arena->used_spans, used);
    guint at = span_index(arena->free_spans, address);
    if (at < arena->free_spans->len && span_at(arena->free_spans, at)->address == span_end(&span)) {
        span.bytes += span_at(arena->free_spans, at)->bytes;
        g_array_remove_index(arena->free_spans, at);
    }
    if (at > 0 && span_end(span_at(arena->free_spans, at - 1)) == span.address)
        span_at(arena->free_spans, at - 1)->bytes += span.bytes;
    else
        g_array_insert_val(arena->free_spans, at, span);
    return true;
}
