/* Choice of a tile, placement, and the instructions of each pass; see planner.h. */
#include "workloads/planner.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIELD_MAX = 255, /* gm, gn, nk are 8 bits */
    SUBTILE = 4,
    SCORE_STEPS = 4096, /* scores closer than this are equal (§2.2) */
};

struct planner_limits planner_limits_of(const struct machine *machine) {
    const struct cluster_params *cluster = &machine->cluster;
    return (struct planner_limits){cluster->tiles, cluster->l1_a, cluster->l1_b, cluster->reuse_min};
}

void gemm_options_init(struct gemm_options *options) {
    *options = (struct gemm_options){.resident = true, .emit = true, .write_burst = 8};
}

unsigned gemm_pace(unsigned subtiles, unsigned nk, unsigned reuse_min) {
    if (nk <= 1 || subtiles >= reuse_min)
        return 0;
    return (reuse_min + subtiles - 1) / subtiles - 1;
}

/* Entries a chunk may have on a side of `l1` entries: half of it, since two halves alternate, and what a fill can
 * count. */
static unsigned chunk_limit(unsigned l1, bool split_fills) {
    unsigned bank = MIN(l1 / 2, (unsigned)L1_BANK_ENTRIES);
    return split_fills ? bank : MIN(bank, (unsigned)FILL_COUNT_MAX);
}

static size_t round_up(size_t value, size_t step) {
    return (value + step - 1) / step * step;
}

struct candidate {
    struct gemm_tile tile;
    double score; /* whole steps of 1/SCORE_STEPS */
};

static double candidate_score(const struct gemm_tile *tile, size_t m, size_t k, size_t n) {
    double gm = tile->gm, gn = tile->gn, intensity = 2 * gm * gn / (gm + gn);
    double padded = (double)round_up(m, (size_t)SUBTILE * tile->gm) * (double)round_up(n, (size_t)SUBTILE * tile->gn) *
                    (double)round_up(k, (size_t)MXFP7_BLOCK * tile->nk);
    return floor(SCORE_STEPS * intensity * ((double)m * (double)n * (double)k / padded) + 0.5);
}

static bool ranks_above(const struct candidate *x, const struct candidate *y) {
    int skew_x = abs((int)x->tile.gm - (int)x->tile.gn), skew_y = abs((int)y->tile.gm - (int)y->tile.gn);
    if (x->score != y->score)
        return x->score > y->score;
    if (x->tile.nk != y->tile.nk)
        return x->tile.nk > y->tile.nk;
    if (skew_x != skew_y)
        return skew_x < skew_y;
    return x->tile.gm < y->tile.gm;
}

static bool tile_fits(const struct gemm_tile *tile, const struct planner_limits *limits, bool split_fills) {
    return tile->gm * tile->gn <= limits->tiles && tile->gm * tile->nk <= chunk_limit(limits->l1_a, split_fills) &&
           tile->gn * tile->nk <= chunk_limit(limits->l1_b, split_fills);
}

static bool refuse_forced(const struct planner_limits *limits, const struct gemm_options *options, GError **error) {
    unsigned gm = MAX(options->gm, 1), gn = MAX(options->gn, 1), nk = MAX(options->nk, 1);
    const struct {
        const char *name;
        uint64_t value, limit;
    } rows[] = {
        {"gm", gm, FIELD_MAX},
        {"gn", gn, FIELD_MAX},
        {"nk", nk, FIELD_MAX},
        {"gm*gn sub-tiles of a tile", (uint64_t)gm * gn, limits->tiles},
        {"gm*nk entries of an A chunk", (uint64_t)gm * nk, chunk_limit(limits->l1_a, options->split_fills)},
        {"gn*nk entries of a B chunk", (uint64_t)gn * nk, chunk_limit(limits->l1_b, options->split_fills)},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].value <= rows[i].limit)
            continue;
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                    "%s: %" G_GUINT64_FORMAT ", expected at most %" G_GUINT64_FORMAT " on this machine", rows[i].name,
                    rows[i].value, rows[i].limit);
        break;
    }
    return false;
}

bool gemm_choose(const struct planner_limits *limits, size_t m, size_t k, size_t n, const struct gemm_options *options,
                 struct gemm_tile *best, GError **error) {
    struct candidate top = {.score = -1};
    unsigned blocks = (unsigned)MIN((k + MXFP7_BLOCK - 1) / MXFP7_BLOCK, (size_t)FIELD_MAX);
    unsigned nk_from = options->nk ? options->nk : 1, nk_to = options->nk ? options->nk : blocks;
    for (unsigned gm = options->gm ? options->gm : 1; gm <= FIELD_MAX; gm = options->gm ? FIELD_MAX + 1 : 2 * gm) {
        for (unsigned gn = options->gn ? options->gn : 1; gn <= FIELD_MAX; gn = options->gn ? FIELD_MAX + 1 : 2 * gn) {
            for (unsigned nk = nk_from; nk <= MIN(nk_to, (unsigned)FIELD_MAX); nk++) {
                struct candidate candidate = {{gm, gn, nk}, 0};
                if (!tile_fits(&candidate.tile, limits, options->split_fills))
                    break; /* a larger nk doesn't fit either */
                candidate.score = candidate_score(&candidate.tile, m, k, n);
                if (ranks_above(&candidate, &top))
                    top = candidate;
            }
        }
    }
    if (top.score < 0)
        return refuse_forced(limits, options, error);
    *best = top.tile;
    return true;
}

/* A place in one side of L1. */
struct l1_place {
    uint8_t bank, offset;
};

/* Half 0 or 1 of a side: a bank each where bank bits reach it, else halves of the one bank. */
static struct l1_place l1_half(unsigned l1, unsigned half) {
    if (l1 > L1_BANK_ENTRIES)
        return (struct l1_place){(uint8_t)half, 0};
    return (struct l1_place){0, (uint8_t)(half * (l1 / 2))};
}

/* How many chunks of `size` entries a side holds, none of them across the end of a bank. */
static unsigned l1_slots(unsigned l1, unsigned size) {
    return l1 > L1_BANK_ENTRIES ? 2 * (MIN(l1 / 2, (unsigned)L1_BANK_ENTRIES) / size) : l1 / size;
}

static struct l1_place l1_slot(unsigned l1, unsigned size, unsigned slot) {
    unsigned slots = l1_slots(l1, size), in_bank = l1 > L1_BANK_ENTRIES ? slots / 2 : slots;
    return (struct l1_place){(uint8_t)(slot / in_bank), (uint8_t)(slot % in_bank * size)};
}

struct tile_place {
    uint32_t i, j;
};

/* Which tiles each cluster makes, in order: an array of struct tile_place a cluster. */
static GArray **deal_tiles(const struct gemm_plan *plan) {
    GArray **deal = g_new(GArray *, plan->cluster_count);
    for (unsigned c = 0; c < plan->cluster_count; c++)
        deal[c] = g_array_new(FALSE, FALSE, sizeof(struct tile_place));
    size_t rows = plan->row_tiles, bands = plan->bands, clusters = MIN((size_t)plan->cluster_count, rows * bands);
    bool reference = plan->options.schedule == SCHEDULE_REFERENCE;
    if (reference || plan->options.placement == PLACE_ROUNDROBIN) {
        for (size_t t = 0; t < rows * bands; t++) {
            struct tile_place place = reference ? (struct tile_place){(uint32_t)(t % rows), (uint32_t)(t / rows)}
                                                : (struct tile_place){(uint32_t)(t / bands), (uint32_t)(t % bands)};
            g_array_append_val(deal[t % clusters], place);
        }
        return deal;
    }
    for (size_t j = 0; j < bands; j++) {
        /* Clusters first .. first + share - 1 have this band, each a run of its rows. */
        size_t first = bands >= clusters ? j % clusters : j * clusters / bands;
        size_t share = bands >= clusters ? 1 : (j + 1) * clusters / bands - first;
        for (size_t i = 0; i < rows; i++) {
            struct tile_place place = {(uint32_t)i, (uint32_t)j};
            g_array_append_val(deal[first + ((i + 1) * share - 1) / rows], place);
        }
    }
    return deal;
}

/* What one cluster's program has come to while it is written. */
struct writer {
    const struct gemm_plan *plan;
    GArray *insts;            /* struct planned_inst */
    uint64_t chunk_count;     /* running, over all passes: its parity is the half of L1 A */
    uint64_t bands_loaded;    /* resident bands so far */
    int64_t band;             /* the resident one, or -1 */
    struct planned_inst late; /* a fused DRAIN still to be placed, op NOP when there is none */
    uint32_t i, j;
};

static void write_inst(struct writer *writer, struct cluster_inst inst, size_t chunk) {
    inst.anchor = CLUSTER_ANCHOR;
    struct planned_inst planned = {inst, false, writer->i, writer->j, (uint32_t)chunk};
    g_array_append_val(writer->insts, planned);
}

static void write_fill(struct writer *writer, unsigned side, const struct operand_layout *layout, size_t tile,
                       size_t chunk, struct l1_place place) {
    const struct gemm_options *options = &writer->plan->options;
    uint64_t entry_bytes = options->fp16_fetch ? ENTRY_FP16_BYTES : ENTRY_CONVERTED_BYTES;
    uint64_t address = (side ? options->b : options->a) + operand_chunk_first(layout, tile, chunk) * entry_bytes;
    unsigned left = layout->group * operand_chunk_blocks(layout, chunk), offset = place.offset;
    while (left) {
        unsigned count = left > FILL_COUNT_MAX ? left / 2 : left;
        struct cluster_inst fill = {.op = CLUSTER_FILL,
                                    .addr = address,
                                    .n = (uint16_t)count,
                                    .sel = (uint8_t)side,
                                    .eoff = (uint8_t)offset,
                                    .fbank = place.bank};
        write_inst(writer, fill, chunk);
        address += count * entry_bytes;
        offset += count;
        left -= count;
    }
}

static void write_late_drain(struct writer *writer) {
    if (writer->late.inst.op == CLUSTER_DRAIN)
        g_array_append_val(writer->insts, writer->late);
    writer->late.inst.op = CLUSTER_NOP;
}

static uint64_t tile_address(const struct writer *writer) {
    return writer->plan->options.c + result_tile_offset(&writer->plan->c, writer->i, writer->j);
}

static void write_gemm(struct writer *writer, size_t chunk, struct l1_place a, struct l1_place b) {
    const struct gemm_plan *plan = writer->plan;
    bool emits = plan->fused && chunk + 1 == plan->chunks;
    struct cluster_inst gemm = {.op = CLUSTER_GEMM,
                                .addr = emits ? tile_address(writer) : 0,
                                .acc = chunk > 0,
                                .gm = (uint8_t)plan->tile.gm,
                                .gn = (uint8_t)plan->tile.gn,
                                .nk = (uint8_t)operand_chunk_blocks(&plan->a, chunk),
                                .aoff = a.offset,
                                .boff = b.offset,
                                .abank = a.bank,
                                .bbank = b.bank,
                                .emit = emits};
    if (emits)
        write_late_drain(writer);
    write_inst(writer, gemm, chunk);
    write_late_drain(writer);
}

static void write_drain(struct writer *writer) {
    const struct gemm_plan *plan = writer->plan;
    struct cluster_inst drain = {.op = CLUSTER_DRAIN,
                                 .addr = tile_address(writer),
                                 .n = (uint16_t)(plan->tile.gm * plan->tile.gn),
                                 .fuse = plan->fused};
    write_inst(writer, drain, plan->chunks);
    if (!plan->fused || !plan->options.late_drain)
        return;
    writer->late = g_array_index(writer->insts, struct planned_inst, writer->insts->len - 1);
    g_array_set_size(writer->insts, writer->insts->len - 1);
}

/* Where chunk `chunk` of B lies. A band of one chunk changes slots with every band: its successor may arrive while it
 * is still being swept. */
static struct l1_place b_place(const struct writer *writer, size_t chunk, unsigned half) {
    const struct gemm_plan *plan = writer->plan;
    unsigned l1 = plan->limits.l1_b, size = plan->tile.gn * plan->tile.nk;
    if (!plan->resident)
        return l1_half(l1, half);
    return l1_slot(l1, size, plan->chunks == 1 ? (unsigned)((writer->bands_loaded - 1) % 2) : (unsigned)chunk);
}

static void write_pass(struct writer *writer) {
    const struct gemm_plan *plan = writer->plan;
    bool fill_b = !plan->resident || writer->band != (int64_t)writer->j;
    if (fill_b) {
        writer->band = writer->j;
        writer->bands_loaded++;
    }
    for (size_t chunk = 0; chunk < plan->chunks; chunk++) {
        unsigned half = writer->chunk_count++ % 2;
        struct l1_place a = l1_half(plan->limits.l1_a, half), b = b_place(writer, chunk, half);
        bool a_first = plan->options.schedule == SCHEDULE_REFERENCE;
        if (a_first)
            write_fill(writer, 0, &plan->a, writer->i, chunk, a);
        if (fill_b)
            write_fill(writer, 1, &plan->b, writer->j, chunk, b);
        if (!a_first)
            write_fill(writer, 0, &plan->a, writer->i, chunk, a);
        write_gemm(writer, chunk, a, b);
    }
    write_drain(writer);
}

static void write_cluster(const struct gemm_plan *plan, const GArray *tiles, struct cluster_plan *cluster) {
    struct writer writer = {.plan = plan, .insts = g_array_new(FALSE, FALSE, sizeof(struct planned_inst)), .band = -1};
    cluster->pass_count = tiles->len;
    cluster->passes = g_new(struct gemm_pass, MAX(tiles->len, 1));
    for (guint t = 0; t < tiles->len; t++) {
        struct tile_place place = g_array_index(tiles, struct tile_place, t);
        size_t first = writer.insts->len;
        writer.i = place.i;
        writer.j = place.j;
        write_pass(&writer);
        if (t + 1 == tiles->len)
            write_late_drain(&writer);
        g_array_index(writer.insts, struct planned_inst, writer.insts->len - 1).last = true;
        cluster->passes[t] = (struct gemm_pass){place.i, place.j, first, writer.insts->len - first};
    }
    cluster->inst_count = writer.insts->len;
    cluster->insts = (struct planned_inst *)(void *)g_array_free(writer.insts, FALSE);
}

static void count_gemm(const struct cluster_inst *inst, unsigned reuse_min, struct plan_counts *counts) {
    uint64_t subtiles = (uint64_t)inst->gm * inst->gn, opening = inst->acc ? 0 : 1, closing = inst->emit ? 1 : 0;
    counts->gemms++;
    counts->sweep_cycles += subtiles * inst->nk;
    counts->idle_cycles += subtiles * inst->nk * gemm_pace((unsigned)subtiles, inst->nk, reuse_min);
    counts->acc_load += subtiles * opening;
    counts->acc_add_emit += subtiles * closing;
    counts->acc_add += subtiles * (inst->nk - opening - closing);
}

static void count_inst(const struct gemm_plan *plan, const struct cluster_inst *inst, struct plan_counts *counts) {
    counts->flits++;
    switch (inst->op) {
    case CLUSTER_FILL:
        counts->fills++;
        counts->rd_words += (uint64_t)inst->n * MXFP7_WORDS;
        counts->dram_read_words += (uint64_t)inst->n * MXFP7_WORDS * (plan->options.fp16_fetch ? 2 : 1);
        break;
    case CLUSTER_GEMM:
        count_gemm(inst, plan->limits.reuse_min, counts);
        break;
    default:
        counts->drains++;
        counts->wr_words += inst->n;
        counts->wr_bursts += (inst->n + plan->options.write_burst - 1) / plan->options.write_burst;
        counts->acc_emit += inst->fuse ? 0 : inst->n;
        break;
    }
}

static void count_plan(struct gemm_plan *plan) {
    for (unsigned c = 0; c < plan->cluster_count; c++) {
        plan->counts.passes += plan->clusters[c].pass_count;
        for (size_t s = 0; s < plan->clusters[c].inst_count; s++)
            count_inst(plan, &plan->clusters[c].insts[s].inst, &plan->counts);
    }
}

/* §2.5: an opening sweep of one K block can't emit; the reference also leaves any lone chunk unfused. */
static bool fusable(const struct gemm_plan *plan) {
    if (!plan->options.emit)
        return false;
    if (plan->options.schedule == SCHEDULE_REFERENCE)
        return plan->chunks > 1;
    return plan->chunks > 1 || operand_chunk_blocks(&plan->a, 0) >= 2;
}

struct gemm_plan *gemm_plan_new(const struct planner_limits *limits, unsigned clusters, size_t m, size_t k, size_t n,
                                const struct gemm_options *options, GError **error) {
    struct gemm_tile tile;
    if (!gemm_choose(limits, m, k, n, options, &tile, error))
        return NULL;
    struct gemm_plan *plan = g_new0(struct gemm_plan, 1);
    *plan = (struct gemm_plan){
        .m = m, .k = k, .n = n, .limits = *limits, .options = *options, .tile = tile, .cluster_count = clusters};
    bool ragged = options->schedule == SCHEDULE_REFERENCE;
    operand_layout_init(&plan->a, m, k, tile.gm, tile.nk, ragged);
    operand_layout_init(&plan->b, n, k, tile.gn, tile.nk, ragged);
    result_layout_init(&plan->c, m, n, tile.gm, tile.gn);
    plan->row_tiles = plan->a.tiles;
    plan->bands = plan->b.tiles;
    plan->chunks = plan->a.chunks;
    plan->resident = options->resident && !ragged && plan->chunks <= l1_slots(limits->l1_b, tile.gn * tile.nk);
    plan->fused = fusable(plan);
    plan->clusters = g_new0(struct cluster_plan, clusters);
    GArray **deal = deal_tiles(plan);
    for (unsigned c = 0; c < clusters; c++) {
        write_cluster(plan, deal[c], &plan->clusters[c]);
        g_array_free(deal[c], TRUE);
    }
    g_free(deal);
    count_plan(plan);
    return plan;
}

void gemm_plan_free(struct gemm_plan *plan) {
    if (!plan)
        return;
    for (unsigned c = 0; c < plan->cluster_count; c++) {
        g_free(plan->clusters[c].insts);
        g_free(plan->clusters[c].passes);
    }
    g_free(plan->clusters);
    g_free(plan);
}
