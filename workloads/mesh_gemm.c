/* Planning, loading and gathering of a GEMM over several meshes; see mesh_gemm.h. */
#include "workloads/mesh_gemm.h"

#include <string.h>

#include "model/flit.h"
#include "model/numeric/fp22.h"
#include "workloads/layout.h"

enum {
    COLUMN_QUANTUM = 4, /* a sub-tile's columns */
    SEND_BUFFER = 2,
    SEND_SUBTILES = 4, /* of one burst, in accumulator format */
    MESH_SHIFT = 36,   /* the mesh in an address */
    PAGE = 4096,
    SEND_ACK = 1, /* descriptor flag: acknowledge */
};

void mesh_gemm_options_init(struct mesh_gemm_options *options) {
    *options = (struct mesh_gemm_options){.walk = true};
    gemm_options_init(&options->gemm);
}

/* ---- shares ---- */

static unsigned clusters_of(const struct machine *mesh, struct mesh_share *share) {
    unsigned count = 0;
    for (unsigned u = 0; u < mesh->unit_count; u++) {
        const struct machine_unit *unit = &mesh->units[u];
        if (unit->kind != UNIT_CLUSTER)
            continue;
        share->nodes[count] = (struct node){unit->x, unit->y};
        share->ports[count++] = mesh->ports[unit->port];
    }
    return count;
}

/* Deals `extent` in multiples of `quantum`, as evenly as that goes. */
static bool deal(struct mesh_gemm *gemm, size_t extent, size_t quantum, GError **error) {
    size_t pieces = (extent + quantum - 1) / quantum, first = 0;
    if (pieces < gemm->count) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s is %zu, expected at least %zu for each of %u meshes",
                    gemm->options.split == MESH_SPLIT_N ? "N" : "K", extent, quantum, gemm->count);
        return false;
    }
    for (unsigned p = 0; p < gemm->count; p++) {
        struct mesh_share *share = &gemm->shares[p];
        share->first = first * quantum;
        first += pieces / gemm->count + (p < pieces % gemm->count);
        share->count = MIN(first * quantum, extent) - share->first;
    }
    return true;
}

static uint64_t align_image(uint64_t bytes) {
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Plans twice: image addresses follow from the first plan's layouts. */
static bool plan_share(struct mesh_gemm *gemm, struct mesh_share *share, unsigned clusters,
                       struct gemm_options *options, GError **error) {
    const struct machine *mesh = &gemm->machine->meshes[share->mesh];
    struct planner_limits limits = planner_limits_of(mesh);
    bool k_split = gemm->options.split == MESH_SPLIT_K;
    options->a = (uint64_t)share->mesh << MESH_SHIFT;
    options->b = options->c = options->a;
    for (unsigned round = 0; round < 2; round++) {
        gemm_plan_free(share->plan);
        share->plan = gemm_plan_new(&limits, clusters, gemm->m, k_split ? share->count : gemm->k,
                                    k_split ? gemm->n : share->count, options, error);
        if (!share->plan)
            return false;
        options->b = options->a + align_image(operand_entries(&share->plan->a) * ENTRY_CONVERTED_BYTES);
        options->c = options->b + align_image(operand_entries(&share->plan->b) * ENTRY_CONVERTED_BYTES);
    }
    uint64_t bytes = options->c - options->a + result_bytes(&share->plan->c);
    if (bytes <= mesh->memory.size)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                "mesh %u needs %" G_GUINT64_FORMAT " bytes of memory, it has %" G_GUINT64_FORMAT, share->mesh, bytes,
                mesh->memory.size);
    return false;
}

static bool make_shares(struct mesh_gemm *gemm, GError **error) {
    bool k_split = gemm->options.split == MESH_SPLIT_K;
    unsigned counts[MACHINE_MAX_MESHES], fewest = UINT32_MAX;
    for (unsigned p = 0; p < gemm->count; p++) {
        struct mesh_share *share = &gemm->shares[p];
        const struct machine *mesh = &gemm->machine->meshes[share->mesh = gemm->machine->line[p]];
        share->nodes = g_new0(struct node, mesh->unit_count + 1);
        share->ports = g_new0(struct machine_port, mesh->unit_count + 1);
        counts[p] = clusters_of(mesh, share);
        fewest = MIN(fewest, counts[p]);
    }
    if (fewest < MAX(gemm->options.clusters, 1)) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "a mesh has %u clusters, expected at least %u", fewest,
                    MAX(gemm->options.clusters, 1));
        return false;
    }
    if (!deal(gemm, k_split ? gemm->k : gemm->n, k_split ? MXFP7_BLOCK : COLUMN_QUANTUM, error))
        return false;
    struct gemm_options options = gemm->options.gemm;
    for (unsigned p = 0; p < gemm->count; p++) {
        unsigned clusters = gemm->options.clusters ? gemm->options.clusters : k_split ? fewest : counts[p];
        if (!plan_share(gemm, &gemm->shares[p], clusters, &options, error))
            return false;
        if (k_split) { /* the same tile everywhere */
            options.gm = gemm->shares[0].plan->tile.gm;
            options.gn = gemm->shares[0].plan->tile.gn;
        }
    }
    return true;
}

/* ---- steps ---- */

enum part {
    PART_COMPUTE, /* a pass up to its drain */
    PART_DRAIN,   /* the drain */
    PART_SEND,    /* the drain, to the neighbour */
};

/* The drain that sends the tile: the marker, the far cluster and the far agent on every flit. */
static void make_remote(const struct mesh_gemm *gemm, const struct mesh_hop *hop, unsigned c,
                        struct cluster_inst *inst) {
    const struct mesh_share *from = &gemm->shares[hop->from], *to = &gemm->shares[hop->to];
    const struct machine_port *agent = &gemm->machine->meshes[to->mesh].ports[0];
    inst->addr = 0;
    inst->dnode = 1;
    inst->dst_x = from->ports[c].x;
    inst->dst_y = from->ports[c].y;
    inst->dbuf = SEND_BUFFER;
    inst->dflags = SEND_ACK;
    inst->dack_x = agent->x;
    inst->dack_y = agent->y;
    inst->dmesh = to->mesh;
    inst->dfin = node_byte(to->nodes[c].x, to->nodes[c].y);
}

static void round_options_of(const struct machine *mesh, struct round_options *options) {
    round_options_init(options);
    options->staging_flits = mesh->agent.staging_flits;
    options->commands = mesh->agent.commands;
    options->credit = mesh->endpoint.inst_depth;
}

/* The part of pass `wave` of cluster c, as a list of its own. */
static void cut_part(const struct mesh_gemm *gemm, const struct cluster_plan *whole, size_t wave, enum part part,
                     const struct mesh_hop *hop, unsigned c, struct cluster_plan *cut) {
    if (wave >= whole->pass_count)
        return;
    struct gemm_pass pass = whole->passes[wave];
    g_assert(whole->insts[pass.first + pass.count - 1].inst.op == CLUSTER_DRAIN);
    if (part == PART_COMPUTE) {
        pass.count--;
    } else {
        pass.first += pass.count - 1;
        pass.count = 1;
    }
    cut->insts = g_memdup2(&whole->insts[pass.first], pass.count * sizeof *whole->insts);
    cut->inst_count = pass.count;
    if (part == PART_SEND)
        make_remote(gemm, hop, c, &cut->insts[0].inst);
    pass.first = 0;
    cut->passes = g_memdup2(&pass, sizeof pass);
    cut->pass_count = 1;
}

/* Rounds of one part of a wave in one mesh: of all clusters, or of one. */
static struct round_list *part_rounds(const struct mesh_gemm *gemm, unsigned position, size_t wave, enum part part,
                                      const struct mesh_hop *hop, int only, GError **error) {
    const struct mesh_share *share = &gemm->shares[position];
    struct gemm_plan cut = *share->plan;
    struct round_options options;
    round_options_of(&gemm->machine->meshes[share->mesh], &options);
    cut.clusters = g_new0(struct cluster_plan, cut.cluster_count);
    for (unsigned c = 0; c < cut.cluster_count; c++)
        if (only < 0 || (unsigned)only == c)
            cut_part(gemm, &share->plan->clusters[c], wave, part, hop, c, &cut.clusters[c]);
    struct round_list *list = rounds_new(&cut, share->nodes, &options, error);
    for (unsigned c = 0; c < cut.cluster_count; c++) {
        g_free(cut.clusters[c].insts);
        g_free(cut.clusters[c].passes);
    }
    g_free(cut.clusters);
    return list;
}

/* The receiver's host waits for an acknowledgement of every burst. */
static struct round_list *wait_rounds(unsigned bursts) {
    const struct control_command commands[] = {{CONTROL_WR, AGENT_SIG_DONE, 0, 0},
                                               {CONTROL_POLL, AGENT_SIG_DONE, bursts & UINT16_MAX, UINT16_MAX},
                                               {CONTROL_DONE, 0, 0, 0}};
    struct round_list *list = g_new0(struct round_list, 1);
    list->count = 1;
    list->rounds = g_new0(struct round, 1);
    list->rounds[0].commands = g_memdup2(commands, sizeof commands);
    list->rounds[0].command_count = list->commands = G_N_ELEMENTS(commands);
    list->host_writes = round_host_writes(&list->rounds[0]);
    return list;
}

/* The same part in every mesh, or in the root alone. */
static bool add_part(struct mesh_gemm *gemm, size_t wave, enum part part, GError **error) {
    struct mesh_step step = {.work = part == PART_COMPUTE ? MESH_COMPUTES : MESH_DRAINS};
    bool fine = true;
    for (unsigned p = 0; fine && p < gemm->count; p++)
        if (part == PART_COMPUTE || p == gemm->root)
            fine = (step.lists[p] = part_rounds(gemm, p, wave, part, NULL, -1, error));
    g_array_append_val(gemm->steps, step);
    return fine;
}

/* Hops h and, if it meets nobody, its neighbour on the other side: cluster after cluster. */
static bool add_hops(struct mesh_gemm *gemm, size_t wave, unsigned first, unsigned count, GError **error) {
    const struct gemm_plan *plan = gemm->shares[0].plan;
    unsigned bursts = (plan->tile.gm * plan->tile.gn + SEND_SUBTILES - 1) / SEND_SUBTILES;
    bool fine = true;
    for (unsigned c = 0; fine && c < plan->cluster_count && wave < plan->clusters[c].pass_count; c++) {
        struct mesh_step step = {.work = MESH_SENDS};
        for (unsigned h = first; fine && h < first + count; h++) {
            const struct mesh_hop *hop = &gemm->hops[h];
            fine = (step.lists[hop->from] = part_rounds(gemm, hop->from, wave, PART_SEND, hop, (int)c, error));
            step.lists[hop->to] = wait_rounds(bursts);
            gemm->signals += bursts;
        }
        g_array_append_val(gemm->steps, step);
    }
    return fine;
}

/* Inward from both ends; two hops next to each other in the list may go at once unless they share a mesh. */
static void list_hops(struct mesh_gemm *gemm) {
    unsigned left = 0, right = gemm->count - 1;
    gemm->root = (gemm->count - 1) / 2;
    while (left < gemm->root || right > gemm->root) {
        if (left < gemm->root) {
            gemm->hops[gemm->hop_count++] = (struct mesh_hop){left, left + 1};
            left++;
        }
        if (right > gemm->root) {
            gemm->hops[gemm->hop_count++] = (struct mesh_hop){right, right - 1};
            right--;
        }
    }
}

static bool together(const struct mesh_hop *a, const struct mesh_hop *b) {
    return a->from != b->from && a->from != b->to && a->to != b->from && a->to != b->to;
}

static bool k_steps(struct mesh_gemm *gemm, GError **error) {
    size_t waves = 0;
    const struct gemm_plan *plan = gemm->shares[0].plan;
    for (unsigned c = 0; c < plan->cluster_count; c++)
        waves = MAX(waves, plan->clusters[c].pass_count);
    list_hops(gemm);
    for (size_t wave = 0; wave < waves; wave++) {
        if (!add_part(gemm, wave, PART_COMPUTE, error))
            return false;
        for (unsigned h = 0, count; gemm->options.walk && h < gemm->hop_count; h += count) {
            count = h + 1 < gemm->hop_count && together(&gemm->hops[h], &gemm->hops[h + 1]) ? 2 : 1;
            if (!add_hops(gemm, wave, h, count, error))
                return false;
        }
        if (!add_part(gemm, wave, PART_DRAIN, error))
            return false;
    }
    return true;
}

static bool n_steps(struct mesh_gemm *gemm, GError **error) {
    struct mesh_step step = {0};
    bool fine = true;
    for (unsigned p = 0; fine && p < gemm->count; p++) {
        const struct mesh_share *share = &gemm->shares[p];
        struct round_options options;
        round_options_of(&gemm->machine->meshes[share->mesh], &options);
        fine = (step.lists[p] = rounds_new(share->plan, share->nodes, &options, error));
    }
    g_array_append_val(gemm->steps, step);
    return fine;
}

static void count_step(struct mesh_gemm *gemm, const struct mesh_step *step) {
    for (unsigned p = 0; p < gemm->count; p++) {
        const struct round_list *list = step->lists[p];
        if (!list)
            continue;
        gemm->flits += list->flits;
        gemm->commands += list->commands;
        gemm->host_writes += list->host_writes;
        gemm->rounds += list->count;
    }
}

static void step_clear(void *data) {
    struct mesh_step *step = data;
    for (unsigned p = 0; p < MACHINE_MAX_MESHES; p++)
        rounds_free(step->lists[p]);
}

struct mesh_gemm *mesh_gemm_new(const struct machine *machine, size_t m, size_t k, size_t n,
                                const struct mesh_gemm_options *options, GError **error) {
    struct mesh_gemm *gemm = g_new0(struct mesh_gemm, 1);
    bool k_split = options->split == MESH_SPLIT_K;
    *gemm = (struct mesh_gemm){.machine = machine,
                               .options = *options,
                               .m = m,
                               .k = k,
                               .n = n,
                               .count = options->meshes ? options->meshes : machine->mesh_count,
                               .steps = g_array_new(FALSE, TRUE, sizeof(struct mesh_step))};
    g_array_set_clear_func(gemm->steps, step_clear);
    if (k_split) {
        gemm->options.gemm.emit = false; /* a tile leaves when all partials are in it */
        gemm->options.gemm.placement = PLACE_ROUNDROBIN;
    }
    bool fine = gemm->count <= machine->mesh_count && gemm->count > 0;
    if (!fine)
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%u meshes, expected 1 to the %u of the machine", gemm->count,
                    machine->mesh_count);
    fine = fine && make_shares(gemm, error) && (k_split ? k_steps : n_steps)(gemm, error);
    for (guint s = 0; fine && s < gemm->steps->len; s++)
        count_step(gemm, &g_array_index(gemm->steps, struct mesh_step, s));
    gemm->signals += gemm->flits;
    if (fine)
        return gemm;
    mesh_gemm_free(gemm);
    return NULL;
}

void mesh_gemm_free(struct mesh_gemm *gemm) {
    if (!gemm)
        return;
    for (unsigned p = 0; p < gemm->count && p < MACHINE_MAX_MESHES; p++) {
        struct mesh_share *share = &gemm->shares[p];
        gemm_plan_free(share->plan);
        g_free(share->nodes);
        g_free(share->ports);
        g_free(share->a);
        g_free(share->b);
    }
    g_array_unref(gemm->steps);
    g_free(gemm);
}

/* ---- operands and answer ---- */

static struct mxfp7_entry *load_operand(struct dram *dram, const struct operand_layout *layout, const uint16_t *halves,
                                        enum mxfp7_packing packing, uint64_t address) {
    size_t count = operand_entries(layout);
    struct mxfp7_entry *entries = g_new0(struct mxfp7_entry, count);
    operand_quantise(layout, halves, entries);
    for (size_t e = 0; e < count; e++) {
        struct word256 words[MXFP7_WORDS];
        mxfp7_pack(&entries[e], packing, words);
        dram_load(dram, address + e * sizeof words, words, sizeof words);
    }
    return entries;
}

/* Columns [first, first + count) of [rows][width]. */
static uint16_t *columns_of(const uint16_t *matrix, size_t rows, size_t width, size_t first, size_t count) {
    uint16_t *columns = g_new(uint16_t, rows * count);
    for (size_t row = 0; row < rows; row++)
        memcpy(&columns[row * count], &matrix[row * width + first], count * sizeof *columns);
    return columns;
}

void mesh_gemm_load(struct mesh_gemm *gemm, struct line *line, const uint16_t *a, const uint16_t *b) {
    bool k_split = gemm->options.split == MESH_SPLIT_K;
    for (unsigned p = 0; p < gemm->count; p++) {
        struct mesh_share *share = &gemm->shares[p];
        const struct gemm_plan *plan = share->plan;
        struct dram *dram = &line->meshes[share->mesh]->dram;
        size_t from = k_split ? share->first : 0, depth = k_split ? share->count : gemm->k;
        const uint16_t *rows = k_split ? b : &b[share->first * gemm->k];
        g_autofree uint16_t *mine_a = columns_of(a, gemm->m, gemm->k, from, depth);
        g_autofree uint16_t *mine_b = columns_of(rows, k_split ? gemm->n : share->count, gemm->k, from, depth);
        share->a = load_operand(dram, &plan->a, mine_a, MXFP7_ROWS, plan->options.a);
        share->b = load_operand(dram, &plan->b, mine_b, MXFP7_COLUMNS, plan->options.b);
    }
}

static void place_columns(const struct mesh_gemm *gemm, const struct mesh_share *share, const uint16_t *from,
                          uint16_t *c) {
    for (size_t row = 0; row < gemm->m; row++)
        memcpy(&c[row * gemm->n + share->first], &from[row * share->count], share->count * sizeof *c);
}

static void fetch_result(const struct mesh_share *share, struct line *line, uint16_t *rows) {
    const struct result_layout *layout = &share->plan->c;
    g_autofree uint8_t *image = g_malloc0(result_bytes(layout));
    dram_store(&line->meshes[share->mesh]->dram, share->plan->options.c, image, result_bytes(layout));
    result_untile(layout, image, rows);
}

void mesh_gemm_gather(const struct mesh_gemm *gemm, struct line *line, uint16_t *c) {
    if (gemm->options.split == MESH_SPLIT_K) {
        fetch_result(&gemm->shares[gemm->root], line, c);
        return;
    }
    for (unsigned p = 0; p < gemm->count; p++) {
        const struct mesh_share *share = &gemm->shares[p];
        g_autofree uint16_t *rows = g_new0(uint16_t, gemm->m * share->count);
        fetch_result(share, line, rows);
        place_columns(gemm, share, rows, c);
    }
}

static struct grade_machine grade_machine_of(const struct mesh_gemm *gemm, const struct mesh_share *share) {
    const struct cluster_params *cluster = &gemm->machine->meshes[share->mesh].cluster;
    return (struct grade_machine){.width = cluster->accumulator_bits, .double_rate = cluster->double_rate};
}

static void k_reference(const struct mesh_gemm *gemm, uint16_t *c) {
    uint32_t *tiles[MACHINE_MAX_MESHES];
    const struct mesh_share *root = &gemm->shares[gemm->root];
    struct grade_machine machine = grade_machine_of(gemm, root);
    size_t lanes = grade_tile_lanes(&root->plan->a, &root->plan->b);
    for (unsigned p = 0; p < gemm->count; p++) {
        const struct mesh_share *share = &gemm->shares[p];
        tiles[p] = g_new0(uint32_t, lanes);
        grade_machine_tiles(&share->plan->a, share->a, &share->plan->b, share->b, &machine, tiles[p]);
    }
    for (unsigned h = 0; gemm->options.walk && h < gemm->hop_count; h++)
        for (size_t lane = 0; lane < lanes; lane += FP22_LANES)
            fp22_tile_add_words(&tiles[gemm->hops[h].to][lane], &tiles[gemm->hops[h].from][lane], machine.width);
    grade_tiles_result(&root->plan->a, &root->plan->b, &machine, tiles[gemm->root], c);
    for (unsigned p = 0; p < gemm->count; p++)
        g_free(tiles[p]);
}

void mesh_gemm_reference(const struct mesh_gemm *gemm, uint16_t *c) {
    if (gemm->options.split == MESH_SPLIT_K) {
        k_reference(gemm, c);
        return;
    }
    for (unsigned p = 0; p < gemm->count; p++) {
        const struct mesh_share *share = &gemm->shares[p];
        struct grade_machine machine = grade_machine_of(gemm, share);
        g_autofree uint16_t *rows = g_new0(uint16_t, gemm->m * share->count);
        grade_machine_result(&share->plan->a, share->a, &share->plan->b, share->b, &machine, rows);
        place_columns(gemm, share, rows, c);
    }
}
