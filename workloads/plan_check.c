/* The plan replayed on paper, one cluster at a time; see gemm_plan_check in planner.h. L1 and accumulator hold names
 * instead of numbers, so a wrong offset, bank or order shows as a wrong name. */
#include "workloads/planner.h"

enum {
    SIDES = 2,
    BANKS = 2,
    EMPTY = 0,
};

/* Paper cluster. A name is 1 + the entry's index in its operand image. */
struct replay {
    const struct gemm_plan *plan;
    unsigned cluster;
    size_t slot;
    uint64_t l1[SIDES][BANKS][L1_BANK_ENTRIES];
    uint64_t swept[SIDES][BANKS][L1_BANK_ENTRIES / 64]; /* bits of the entries the last sweep may still read */
    bool open;                                          /* the accumulator holds a tile */
    uint32_t i, j;                                      /* which one */
    size_t blocks;                                      /* K blocks it has */
    bool emitted;                                       /* by its last sweep */
    bool wait;                                          /* an emitted tile whose DRAIN is still to come */
    uint32_t wait_i, wait_j;
    uint8_t *drained; /* times per tile, i * bands + j */
    GError **error;
};

static bool fail(const struct replay *replay, const char *what) {
    g_set_error(replay->error, FS_ERROR, FS_ERROR_INTERNAL, "plan of cluster %u, instruction %zu: %s", replay->cluster,
                replay->slot, what);
    return false;
}

static unsigned side_entries(const struct replay *replay, unsigned side) {
    return side ? replay->plan->limits.l1_b : replay->plan->limits.l1_a;
}

/* Whether entries [offset, offset + count) exist in that bank. */
static bool in_bank(const struct replay *replay, unsigned side, unsigned bank, unsigned offset, unsigned count) {
    unsigned l1 = side_entries(replay, side), size = l1 > L1_BANK_ENTRIES ? l1 / 2 : l1;
    return (bank == 0 || (bank == 1 && l1 > L1_BANK_ENTRIES)) && offset + count <= MIN(size, (unsigned)L1_BANK_ENTRIES);
}

static bool replay_fill(struct replay *replay, const struct cluster_inst *inst) {
    const struct gemm_options *options = &replay->plan->options;
    uint64_t base = inst->sel ? options->b : options->a;
    uint64_t entry = (inst->addr - base) / (options->fp16_fetch ? ENTRY_FP16_BYTES : ENTRY_CONVERTED_BYTES);
    const struct operand_layout *layout = inst->sel ? &replay->plan->b : &replay->plan->a;
    if (inst->n == 0 || inst->n > FILL_COUNT_MAX)
        return fail(replay, "fill count out of range");
    if (!in_bank(replay, inst->sel, inst->fbank, inst->eoff, inst->n))
        return fail(replay, "fill leaves its bank");
    if (inst->addr < base || entry + inst->n > operand_entries(layout))
        return fail(replay, "fill leaves the operand");
    for (unsigned e = 0; e < inst->n; e++) {
        unsigned at = inst->eoff + e;
        if (replay->swept[inst->sel][inst->fbank][at / 64] >> at % 64 & 1)
            return fail(replay, "fill overwrites what a sweep may still read");
        replay->l1[inst->sel][inst->fbank][at] = entry + e + 1;
    }
    return true;
}

/* One side of a sweep: the chunk's entries lie where the GEMM says. */
static bool replay_side(struct replay *replay, unsigned side, const struct planned_inst *planned) {
    const struct cluster_inst *inst = &planned->inst;
    const struct operand_layout *layout = side ? &replay->plan->b : &replay->plan->a;
    unsigned count = (unsigned)(side ? inst->gn : inst->gm) * inst->nk;
    unsigned bank = side ? inst->bbank : inst->abank, offset = side ? inst->boff : inst->aoff;
    uint64_t first = operand_chunk_first(layout, side ? planned->j : planned->i, planned->chunk);
    if (count > L1_BANK_ENTRIES || !in_bank(replay, side, bank, offset, count))
        return fail(replay, "chunk leaves its bank");
    for (unsigned e = 0; e < count; e++) {
        if (replay->l1[side][bank][offset + e] != first + e + 1)
            return fail(replay, "sweep reads an entry that is not its own");
        replay->swept[side][bank][(offset + e) / 64] |= UINT64_C(1) << (offset + e) % 64;
    }
    return true;
}

static void sweep_over(struct replay *replay) {
    for (unsigned side = 0; side < SIDES; side++)
        for (unsigned bank = 0; bank < BANKS; bank++)
            for (unsigned word = 0; word < L1_BANK_ENTRIES / 64; word++)
                replay->swept[side][bank][word] = 0;
}

static bool replay_gemm(struct replay *replay, const struct planned_inst *planned) {
    const struct cluster_inst *inst = &planned->inst;
    sweep_over(replay); /* a GEMM is taken when the sweep before it is done */
    if ((unsigned)inst->gm * inst->gn > replay->plan->limits.tiles)
        return fail(replay, "tile exceeds the accumulator");
    if (!inst->acc && replay->open && !replay->emitted)
        return fail(replay, "sweep opens a tile over one that is not drained");
    if (inst->acc && (!replay->open || replay->i != planned->i || replay->j != planned->j || replay->emitted))
        return fail(replay, "sweep adds to a tile that is not open");
    if (inst->emit && !inst->acc && inst->nk < 2)
        return fail(replay, "sweep of one K block opens and emits its tile");
    if (!inst->acc && planned->chunk != 0)
        return fail(replay, "tile does not begin with its first chunk");
    if (inst->acc && replay->blocks != planned->chunk * (size_t)replay->plan->tile.nk)
        return fail(replay, "chunk out of turn");
    if (inst->emit && replay->wait)
        return fail(replay, "sweep emits before the drain of the tile before it");
    replay->open = true;
    replay->i = planned->i;
    replay->j = planned->j;
    replay->blocks = inst->nk + (inst->acc ? replay->blocks : 0);
    replay->emitted = inst->emit;
    if (inst->emit) {
        replay->wait = true;
        replay->wait_i = planned->i;
        replay->wait_j = planned->j;
    }
    return replay_side(replay, 0, planned) && replay_side(replay, 1, planned);
}

static bool replay_drain(struct replay *replay, const struct planned_inst *planned) {
    const struct gemm_plan *plan = replay->plan;
    if (planned->inst.n != plan->tile.gm * plan->tile.gn)
        return fail(replay, "drain is not one tile long");
    if (planned->inst.addr != plan->options.c + result_tile_offset(&plan->c, planned->i, planned->j))
        return fail(replay, "drain goes elsewhere");
    if (planned->inst.fuse) {
        if (!replay->wait || replay->wait_i != planned->i || replay->wait_j != planned->j)
            return fail(replay, "fused drain of a tile that was not emitted");
        replay->wait = false;
    } else if (!replay->open || replay->emitted || replay->i != planned->i || replay->j != planned->j ||
               replay->blocks != plan->a.blocks) {
        return fail(replay, "drain of a tile that is not complete");
    }
    if (replay->i == planned->i && replay->j == planned->j) {
        replay->open = false;
        sweep_over(replay); /* results of the last sweep are out */
    }
    if (replay->drained[planned->i * plan->bands + planned->j]++)
        return fail(replay, "tile drained twice");
    return true;
}

static bool replay_inst(struct replay *replay, const struct planned_inst *planned) {
    switch (planned->inst.op) {
    case CLUSTER_FILL:
        return replay_fill(replay, &planned->inst);
    case CLUSTER_GEMM:
        if (planned->inst.emit && replay->plan->a.blocks != planned->inst.nk + (planned->inst.acc ? replay->blocks : 0))
            return fail(replay, "sweep emits before the end of K");
        return replay_gemm(replay, planned);
    case CLUSTER_DRAIN:
        return replay_drain(replay, planned);
    default:
        return fail(replay, "instruction that no plan has");
    }
}

static bool replay_cluster(const struct gemm_plan *plan, unsigned cluster, uint8_t *drained, GError **error) {
    g_autofree struct replay *replay = g_new0(struct replay, 1);
    replay->plan = plan;
    replay->cluster = cluster;
    replay->drained = drained;
    replay->error = error;
    const struct cluster_plan *list = &plan->clusters[cluster];
    for (; replay->slot < list->inst_count; replay->slot++)
        if (!replay_inst(replay, &list->insts[replay->slot]))
            return false;
    return (!replay->open && !replay->wait) || fail(replay, "program ends with a tile not drained");
}

bool gemm_plan_check(const struct gemm_plan *plan, GError **error) {
    size_t tiles = plan->row_tiles * plan->bands;
    g_autofree uint8_t *drained = g_malloc0(tiles);
    for (unsigned c = 0; c < plan->cluster_count; c++)
        if (!replay_cluster(plan, c, drained, error))
            return false;
    for (size_t t = 0; t < tiles; t++) {
        if (drained[t])
            continue;
        g_set_error(error, FS_ERROR, FS_ERROR_INTERNAL, "plan: tile (%zu, %zu) is never made", t / plan->bands,
                    t % plan->bands);
        return false;
    }
    return true;
}
