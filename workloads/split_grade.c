/* The answer of a split GEMM by the machine's arithmetic; see split.h. */
#include <string.h>

#include "model/numeric/fp16.h"
#include "model/numeric/fp22.h"
#include "workloads/split.h"

/* One operand's entries of chunks [first, end) of every tile, in a layout of their own. To be freed. */
static struct mxfp7_entry *cut_operand(const struct operand_layout *whole, const struct mxfp7_entry *entries,
                                       size_t first, size_t end, struct operand_layout *part) {
    unsigned blocks = operand_chunk_blocks(whole, 0);
    size_t count = (size_t)whole->group * blocks * (end - first);
    operand_layout_init(part, whole->lanes, (end - first) * blocks * MXFP7_BLOCK, whole->group, blocks, false);
    struct mxfp7_entry *cut = g_new0(struct mxfp7_entry, operand_entries(part));
    for (size_t tile = 0; tile < whole->tiles; tile++)
        memcpy(&cut[tile * count], &entries[operand_chunk_first(whole, tile, first)], count * sizeof *cut);
    return cut;
}

/* Accumulator tiles of partner r. The layouts of its part are given back, for emission. To be freed. */
static uint32_t *part_tiles(const struct split_plan *plan, unsigned r, const struct mxfp7_entry *a,
                            const struct mxfp7_entry *b, const struct grade_machine *machine,
                            struct operand_layout *part_a, struct operand_layout *part_b) {
    size_t first, end;
    split_chunks(plan, r, &first, &end);
    g_autofree struct mxfp7_entry *mine_a = cut_operand(&plan->gemm->a, a, first, end, part_a);
    g_autofree struct mxfp7_entry *mine_b = cut_operand(&plan->gemm->b, b, first, end, part_b);
    uint32_t *tiles = g_new0(uint32_t, grade_tile_lanes(part_a, part_b));
    grade_machine_tiles(part_a, mine_a, part_b, mine_b, machine, tiles);
    return tiles;
}

static void combine(const struct split_plan *plan, uint32_t **tiles, size_t lanes, unsigned width) {
    for (unsigned step = 0; step < plan->steps; step++)
        for (unsigned p = 1, to; p < plan->factor; p++)
            for (size_t lane = 0; split_sends(plan, step, p, &to) && lane < lanes; lane += FP22_LANES)
                fp22_tile_add_words(&tiles[to][lane], &tiles[p][lane], width);
}

void split_add(const uint16_t *parts, unsigned factor, size_t count, uint16_t *sum) {
    for (size_t i = 0; i < count; i++) {
        double value = 0;
        for (unsigned r = 0; r < factor; r++)
            value += fp16_to_double(parts[r * count + i]);
        sum[i] = fp16_from_double(value);
    }
}

void split_reference(const struct split_plan *plan, const struct mxfp7_entry *a, const struct mxfp7_entry *b,
                     const struct grade_machine *machine, uint16_t *c) {
    struct operand_layout part_a = {0}, part_b = {0};
    size_t count = plan->gemm->m * plan->gemm->n;
    bool memory = plan->form == SPLIT_MEMORY;
    g_autofree uint32_t **tiles = g_new0(uint32_t *, plan->factor);
    g_autofree uint16_t *parts = g_new0(uint16_t, plan->factor * count);
    for (unsigned r = 0; r < plan->factor; r++) {
        tiles[r] = part_tiles(plan, r, a, b, machine, &part_a, &part_b);
        if (memory)
            grade_tiles_result(&part_a, &part_b, machine, tiles[r], &parts[r * count]);
    }
    combine(plan, tiles, grade_tile_lanes(&part_a, &part_b), machine->width);
    if (memory)
        split_add(parts, plan->factor, count, c);
    else
        grade_tiles_result(&part_a, &part_b, machine, tiles[0], c);
    for (unsigned r = 0; r < plan->factor; r++)
        g_free(tiles[r]);
}
