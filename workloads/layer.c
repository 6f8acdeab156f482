/* Layers of both kinds of unit; see layer.h. Section numbers are those of workloads. */
#include "workloads/layer.h"

#include <string.h>

#include "model/config.h"
#include "model/numeric/fp16.h"
#include "workloads/grade.h"
#include "workloads/kernel_values.h"
#include "workloads/layout.h"
#include "workloads/moves.h"

double layer_value_silu(double x, double unused) {
    (void)unused;
    return activation_silu(x);
}

double layer_value_relu(double x, double unused) {
    (void)unused;
    return activation_relu(x);
}

double layer_value_gelu(double x, double unused) {
    (void)unused;
    return activation_gelu_tanh(x);
}

double layer_value_bias(double x, double bias) {
    return x + bias;
}

enum {
    TILE_WORDS = 128,    /* of L1 for delivered tiles: with the result within the 320 that the reference allows */
    SIGNAL_SUBTILES = 8, /* sub-tiles that one arrival signal stands for */
    SHARE_WORDS = 64,    /* of a staged pass: a full RUN */
    DELIVER_ACK = 1,     /* dflags: acknowledge */
    CONVERTER = 1,       /* transform id of the quantiser */
};

static const struct move_geometry converter_geometry = {.in_beats = 8, .out_words = 4};

/* One thing that happens to a core: a payload, or the arrival of a tile. */
struct script_line {
    unsigned core;
    bool arrival;
    unsigned product; /* of an arrival */
    uint32_t i, j;
    struct word256 payload;
};

/* ---- the machine ---- */

static unsigned list_units(const struct machine *machine, int kind, struct node **nodes) {
    unsigned count = 0;
    *nodes = g_new0(struct node, machine->unit_count + 1);
    for (unsigned i = 0; i < machine->unit_count; i++)
        if (machine->units[i].kind == kind)
            (*nodes)[count++] = (struct node){(uint16_t)machine->units[i].x, (uint16_t)machine->units[i].y};
    return count;
}

bool layer_machine_init(struct layer_machine *on, const struct machine *from, GError **error) {
    *on = (struct layer_machine){.machine = from, .kernels = config_find_kernels()};
    on->cluster_count = list_units(from, UNIT_CLUSTER, &on->clusters);
    on->core_count = list_units(from, UNIT_VECTOR, &on->cores);
    if (on->cluster_count && on->core_count && from->port_count) {
        on->agent = (struct node){(uint16_t)from->ports[0].x, (uint16_t)from->ports[0].y};
        return true;
    }
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                "needs matmul clusters and vector cores, and the machine has %u and %u, expected one with both",
                on->cluster_count, on->core_count);
    layer_machine_clear(on);
    return false;
}

void layer_machine_clear(struct layer_machine *on) {
    g_free(on->clusters);
    g_free(on->cores);
    g_free(on->kernels);
    *on = (struct layer_machine){0};
}

/* ---- weights of several terms ---- */

static size_t whole_blocks(size_t k) {
    return (k + MXFP7_BLOCK - 1) / MXFP7_BLOCK * MXFP7_BLOCK;
}

size_t layer_depth(const struct layer_shape *shape) {
    return shape->terms > 1 ? shape->terms * whole_blocks(shape->k) : shape->k;
}

uint16_t *layer_split(const uint16_t *w, size_t n, size_t k) {
    size_t part = whole_blocks(k);
    struct operand_layout layout;
    operand_layout_init(&layout, n, k, 1, 1, false);
    uint16_t *rows = g_new0(uint16_t, 2 * part * n);
    g_autofree double *kept = g_new0(double, n *k);
    g_autofree struct mxfp7_entry *entries = g_new0(struct mxfp7_entry, operand_entries(&layout));
    operand_quantise(&layout, w, entries);
    grade_dequantise(&layout, entries, kept);
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < k; c++) {
            rows[2 * part * r + c] = w[r * k + c];
            rows[2 * part * r + part + c] = fp16_from_double(fp16_to_double(w[r * k + c]) - kept[r * k + c]);
        }
    return rows;
}

/* [m][k] rows as the product wants them, x once a term. To be freed. */
static uint16_t *repeat_rows(const struct layer_shape *shape, const uint16_t *x) {
    size_t depth = layer_depth(shape), terms = MAX(shape->terms, 1u);
    uint16_t *rows = g_new0(uint16_t, shape->m * depth);
    for (size_t r = 0; r < shape->m; r++)
        for (size_t t = 0; t < terms; t++)
            memcpy(rows + r * depth + t * (depth / terms), x + r * shape->k, shape->k * sizeof *x);
    return rows;
}

static uint64_t take_span(struct layer_machine *on, uint64_t bytes) {
    uint64_t address = on->end;
    on->end += (bytes + VECTOR_SPAN_BYTES - 1) / VECTOR_SPAN_BYTES * VECTOR_SPAN_BYTES;
    return address;
}

/* ---- the plan ---- */

/* Pairs of a cluster and a core while fused, else all clusters. */
static unsigned cluster_share(const struct layer *layer) {
    const struct layer_machine *on = layer->on;
    return layer->shape.fuse ? MIN(on->cluster_count, on->core_count) : on->cluster_count;
}

static bool plan_product(struct layer *layer, unsigned p, GError **error) {
    const struct layer_shape *shape = &layer->shape;
    struct planner_limits limits = planner_limits_of(layer->on->machine);
    struct gemm_options options;
    gemm_options_init(&options);
    options.gm = shape->gm;
    options.gn = shape->gn;
    options.nk = shape->nk;
    options.placement = PLACE_ROUNDROBIN;
    options.emit = shape->kernel ? !shape->fuse : true;
    options.resident = shape->products == 1;
    options.write_burst = layer->on->machine->memory.write_burst;
    options.a = layer->x;
    options.b = layer->w[p];
    options.c = layer->temp[p];
    if (shape->kernel && !shape->gm && !shape->gn)
        limits.tiles = MIN(limits.tiles, TILE_WORDS / shape->products);
    gemm_plan_free(layer->plan[p]);
    layer->plan[p] =
        gemm_plan_new(&limits, cluster_share(layer), shape->m, layer_depth(shape), shape->n, &options, error);
    return layer->plan[p] != NULL;
}

/* Spans for everything; layouts do not depend on addresses. */
static void take_memory(struct layer *layer) {
    const struct layer_shape *shape = &layer->shape;
    const struct gemm_plan *plan = layer->plan[0];
    size_t x = operand_entries(&plan->a), w = operand_entries(&plan->b), c = result_bytes(&plan->c);
    layer->x_rows = take_span(layer->on, x * ENTRY_FP16_BYTES);
    layer->x = take_span(layer->on, x * ENTRY_CONVERTED_BYTES);
    for (unsigned p = 0; p < shape->products; p++) {
        layer->w_rows[p] = take_span(layer->on, w * ENTRY_FP16_BYTES);
        layer->w[p] = take_span(layer->on, w * ENTRY_CONVERTED_BYTES);
        if (shape->kernel && !shape->fuse)
            layer->temp[p] = take_span(layer->on, c);
    }
    layer->result = take_span(layer->on, c);
    if (!shape->kernel)
        layer->temp[0] = layer->result;
    if (shape->bias)
        layer->bias = take_span(layer->on, shape->fuse ? plan->bands * bias_bytes(4 * plan->tile.gn) : c);
    if (shape->kernel && !shape->fuse && shape->form == VECTOR_CONSTANTS_MEM)
        layer->arrays = take_span(layer->on, (uint64_t)VECTOR_INPUTS_MAX * SHARE_WORDS * WORD_BYTES);
}

static bool plan(struct layer *layer, GError **error) {
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned p = 0; p < layer->shape.products; p++)
            if (!plan_product(layer, p, error))
                return false;
        if (round == 0)
            take_memory(layer);
    }
    const struct gemm_tile *tile = &layer->plan[0]->tile;
    layer->tile = (struct vector_tile){.words = tile->gm * tile->gn,
                                       .delivered = layer->shape.products,
                                       .period = layer->shape.bias ? tile->gn : 0,
                                       .words_per_flit = layer->on->machine->vector.imem_words_per_flit};
    uint64_t size = layer->on->machine->memory.size;
    if (layer->on->end <= size)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                "needs %" G_GUINT64_FORMAT " bytes of memory, expected at most memory.size = %" G_GUINT64_FORMAT,
                layer->on->end, size);
    return false;
}

bool layer_init(struct layer *layer, struct layer_machine *on, const struct layer_shape *shape,
                const struct layer *source, GError **error) {
    *layer = (struct layer){.shape = *shape,
                            .on = on,
                            .source = source,
                            .script = g_array_new(FALSE, TRUE, sizeof(struct script_line)),
                            .images = g_array_new(FALSE, TRUE, sizeof(struct vector_image))};
    bool fine =
        (!shape->kernel || vector_kernel_load(&layer->kernel, on->kernels, shape->kernel, error)) && plan(layer, error);
    if (!fine)
        layer_clear(layer);
    return fine;
}

void layer_clear(struct layer *layer) {
    for (unsigned p = 0; p < LAYER_PRODUCTS_MAX; p++)
        gemm_plan_free(layer->plan[p]);
    vector_kernel_clear(&layer->kernel);
    if (layer->script)
        g_array_unref(layer->script);
    for (guint i = 0; layer->images && i < layer->images->len; i++)
        g_free(g_array_index(layer->images, struct vector_image, i).words);
    if (layer->images)
        g_array_unref(layer->images);
    *layer = (struct layer){0};
}

/* ---- memory ---- */

static void load_rows(struct dram *dram, const struct operand_layout *layout, const uint16_t *rows, uint64_t address) {
    size_t bytes = operand_entries(layout) * ENTRY_FP16_BYTES;
    g_autofree uint8_t *image = g_malloc0(bytes);
    operand_pack(layout, rows, image);
    dram_load(dram, address, image, bytes);
}

/* Fused: per band the channel bias of its columns. Staged: the whole result's shape, in its order. */
static void load_bias(const struct layer *layer, struct dram *dram) {
    const struct gemm_plan *plan = layer->plan[0];
    const struct layer_shape *shape = &layer->shape;
    if (shape->fuse) {
        size_t columns = plan->bands * 4 * plan->tile.gn;
        g_autofree uint16_t *padded = g_new0(uint16_t, columns);
        g_autofree uint8_t *image = g_malloc0(bias_bytes(columns));
        memcpy(padded, shape->bias, shape->n * sizeof *padded);
        bias_pack(padded, columns, image);
        dram_load(dram, layer->bias, image, bias_bytes(columns));
        return;
    }
    g_autofree uint16_t *rows = g_new0(uint16_t, shape->m * shape->n);
    g_autofree uint8_t *image = g_malloc0(result_bytes(&plan->c));
    for (size_t e = 0; e < shape->m * shape->n; e++)
        rows[e] = shape->bias[e % shape->n];
    result_tile(&plan->c, rows, image);
    dram_load(dram, layer->bias, image, result_bytes(&plan->c));
}

static void load_x(const struct layer *layer, struct dram *dram, const uint16_t *x) {
    g_autofree uint16_t *rows = repeat_rows(&layer->shape, x);
    load_rows(dram, &layer->plan[0]->a, rows, layer->x_rows);
}

void layer_load(const struct layer *layer, struct dram *dram, const uint16_t *x) {
    if (x)
        load_x(layer, dram, x);
    for (unsigned p = 0; p < layer->shape.products; p++)
        load_rows(dram, &layer->plan[p]->b, layer->shape.w[p], layer->w_rows[p]);
    if (layer->shape.bias)
        load_bias(layer, dram);
}

void layer_result(const struct layer *layer, struct dram *dram, uint16_t *rows) {
    const struct result_layout *layout = &layer->plan[0]->c;
    g_autofree uint8_t *image = g_malloc0(result_bytes(layout));
    dram_store(dram, layer->result, image, result_bytes(layout));
    result_untile(layout, image, rows);
}

/* The host's relayout between two layers (§1.6): reads the drained result, writes an operand. */
static void relayout(void *self) {
    struct layer *layer = self;
    const struct layer *source = layer->source;
    g_autofree uint16_t *rows = g_new0(uint16_t, source->shape.m * source->shape.n);
    layer_result(source, layer->memory, rows);
    load_x(layer, layer->memory, rows);
}

/* ---- products ---- */

static bool same_fill(const struct cluster_inst *a, const struct cluster_inst *b) {
    return a->sel == b->sel && a->fbank == b->fbank && a->eoff == b->eoff && a->n == b->n && a->addr == b->addr;
}

static bool overlap(const struct cluster_inst *a, const struct cluster_inst *b) {
    return a->sel == b->sel && a->fbank == b->fbank && a->eoff < b->eoff + b->n && b->eoff < a->eoff + a->n;
}

/* Whether the fill is needed; notes it. */
static bool hold(GArray *held, const struct cluster_inst *fill) {
    for (guint i = held->len; i-- > 0;) {
        const struct cluster_inst *before = &g_array_index(held, struct cluster_inst, i);
        if (same_fill(before, fill))
            return false;
        if (overlap(before, fill))
            g_array_remove_index(held, i);
    }
    g_array_append_val(held, *fill);
    return true;
}

static unsigned arrivals_of(const struct layer *layer) {
    return (layer->tile.words + SIGNAL_SUBTILES - 1) / SIGNAL_SUBTILES;
}

/* The drain that delivers a tile as input `product` of a core (§4.6, compute-units §10.5). */
static void deliver(const struct layer *layer, struct cluster_inst *drain, unsigned product, struct node core) {
    unsigned region = (layer->tile.words + VECTOR_TILE_CHUNK - 1) / VECTOR_TILE_CHUNK * VECTOR_TILE_CHUNK;
    drain->addr = (uint64_t)product * region * WORD_BYTES;
    drain->dnode = 1;
    drain->dst_x = (uint8_t)core.x;
    drain->dst_y = (uint8_t)core.y;
    drain->dflags = DELIVER_ACK;
    drain->dack_x = (uint8_t)layer->on->agent.x;
    drain->dack_y = (uint8_t)layer->on->agent.y;
}

static void send_inst(struct layer *layer, struct stream *stream, const struct cluster_inst *inst, unsigned signals) {
    struct word256 payload;
    gboolean fits = cluster_inst_encode(inst, &payload, NULL);
    g_assert(fits);
    stream_add(stream, &payload, signals);
    layer->counts.fills += inst->op == CLUSTER_FILL;
    layer->counts.gemms += inst->op == CLUSTER_GEMM;
    layer->counts.drains += inst->op == CLUSTER_DRAIN;
}

/* Pass `number` of cluster c: one tile, all products one after the other. */
static void send_pass(struct layer *layer, struct stream *stream, unsigned c, size_t number) {
    g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(struct cluster_inst));
    const struct layer_shape *shape = &layer->shape;
    bool delivers = shape->kernel && shape->fuse;
    for (unsigned p = 0; p < shape->products; p++) {
        const struct cluster_plan *list = &layer->plan[p]->clusters[c];
        const struct gemm_pass *pass = &list->passes[number];
        for (size_t s = 0; s < pass->count; s++) {
            struct cluster_inst inst = list->insts[pass->first + s].inst;
            bool drain = inst.op == CLUSTER_DRAIN;
            if (inst.op == CLUSTER_FILL && !hold(held, &inst))
                continue;
            if (drain && delivers)
                deliver(layer, &inst, p, layer->on->cores[c]);
            send_inst(layer, stream, &inst, 1 + (drain && delivers ? arrivals_of(layer) : 0));
        }
        if (!delivers)
            continue;
        struct script_line line = {.core = c, .arrival = true, .product = p, .i = pass->i, .j = pass->j};
        g_array_append_val(layer->script, line);
        layer->counts.arrivals += arrivals_of(layer);
    }
}

/* ---- fused ---- */

/* Sends a core the payloads [from, end) of its program. */
static void send_payloads(struct layer *layer, struct stream *stream, unsigned core,
                          const struct vector_program *program, guint from) {
    for (guint i = from; i < program->payloads->len; i++) {
        struct script_line line = {.core = core, .payload = g_array_index(program->payloads, struct word256, i)};
        stream_add(stream, &line.payload, 1);
        g_array_append_val(layer->script, line);
    }
}

static void add_program_counts(struct layer *layer, const struct vector_program *program) {
    layer->counts.imem += program->counts.imem;
    layer->counts.desc += program->counts.desc;
    layer->counts.runs += program->counts.run;
}

/* One tile on every pair: products and, the first time, the kernel's image; then the RUNs. */
static bool fused_wave(struct layer *layer, struct streams *streams, size_t wave, struct vector_program *programs,
                       GError **error) {
    const struct gemm_plan *plan = layer->plan[0];
    unsigned pairs = plan->cluster_count, count = 0, runs = 0;
    g_autofree struct stream *products = g_new0(struct stream, 2 * pairs), *starts = g_new0(struct stream, pairs);
    for (unsigned c = 0; c < pairs && wave < plan->clusters[c].pass_count; c++) {
        const struct gemm_pass *pass = &plan->clusters[c].passes[wave];
        struct stream *image = &products[count++], *cluster = &products[count++], *start = &starts[runs++];
        stream_init(image, layer->on->cores[c]);
        stream_init(cluster, layer->on->clusters[c]);
        stream_init(start, layer->on->cores[c]);
        if (wave == 0)
            send_payloads(layer, image, c, &programs[c], 0);
        send_pass(layer, cluster, c, wave);
        guint from = programs[c].payloads->len;
        vector_tile_run(&programs[c], &layer->tile, layer->bias + pass->j * bias_bytes(4 * plan->tile.gn),
                        layer->result + result_tile_offset(&plan->c, pass->i, pass->j));
        send_payloads(layer, start, c, &programs[c], from);
    }
    bool fine = streams_step(streams, products, count, error) && streams_step(streams, starts, runs, error);
    for (unsigned s = 0; s < count; s++)
        stream_clear(&products[s]);
    for (unsigned s = 0; s < runs; s++)
        stream_clear(&starts[s]);
    return fine;
}

static bool fused_steps(struct layer *layer, struct streams *streams, GError **error) {
    unsigned pairs = layer->plan[0]->cluster_count;
    g_autofree struct vector_program *programs = g_new0(struct vector_program, pairs);
    bool fine = true;
    for (unsigned c = 0; c < pairs && fine; c++)
        fine = vector_tile_build(&programs[c], &layer->kernel, &layer->tile, error);
    for (size_t wave = 0; fine && wave < layer->plan[0]->clusters[0].pass_count; wave++)
        fine = fused_wave(layer, streams, wave, programs, error);
    for (unsigned c = 0; c < pairs && fine; c++)
        if (layer->plan[0]->clusters[c].pass_count)
            add_program_counts(layer, &programs[c]);
    for (unsigned c = 0; c < pairs; c++)
        vector_program_clear(&programs[c]);
    return fine;
}

/* ---- staged ---- */

static bool product_steps(struct layer *layer, struct streams *streams, GError **error) {
    const struct gemm_plan *plan = layer->plan[0];
    g_autofree struct stream *list = g_new0(struct stream, plan->cluster_count);
    for (unsigned c = 0; c < plan->cluster_count; c++) {
        stream_init(&list[c], layer->on->clusters[c]);
        for (size_t number = 0; number < plan->clusters[c].pass_count; number++)
            send_pass(layer, &list[c], c, number);
    }
    bool fine = streams_step(streams, list, plan->cluster_count, error);
    for (unsigned c = 0; c < plan->cluster_count; c++)
        stream_clear(&list[c]);
    return fine;
}

static void take_images(struct layer *layer, const struct vector_program *program, struct dram *dram) {
    for (unsigned i = 0; i < program->image_count; i++) {
        struct vector_image image = program->images[i];
        image.words = g_memdup2(image.words, image.count * sizeof *image.words);
        dram_load(dram, image.address, image.words, image.count * sizeof *image.words);
        g_array_append_val(layer->images, image);
    }
}

/* Words [first, first + count) of the drained order, by one core. */
static bool staged_share(struct layer *layer, struct stream *stream, unsigned core, size_t first, size_t count,
                         struct dram *dram, GError **error) {
    struct vector_program program;
    const struct layer_shape *shape = &layer->shape;
    struct vector_job job = {.rows = 1,
                             .cols = (unsigned)(count * WORD_BYTES / sizeof(uint16_t)),
                             .constants = (enum vector_constants)shape->form,
                             .tail = VECTOR_TAIL_VL,
                             .result = layer->result + first * WORD_BYTES,
                             .arrays = layer->arrays,
                             .words_per_flit = layer->tile.words_per_flit};
    for (unsigned p = 0; p < shape->products; p++)
        job.inputs[p] = layer->temp[p] + first * WORD_BYTES;
    if (shape->bias)
        job.inputs[shape->products] = layer->bias + first * WORD_BYTES;
    if (!vector_program_build(&program, &layer->kernel, &job, error))
        return false;
    send_payloads(layer, stream, core, &program, 0);
    add_program_counts(layer, &program);
    take_images(layer, &program, dram);
    vector_program_clear(&program);
    return true;
}

static bool staged_steps(struct layer *layer, struct streams *streams, struct dram *dram, GError **error) {
    size_t words = result_bytes(&layer->plan[0]->c) / WORD_BYTES, units = (words + SHARE_WORDS - 1) / SHARE_WORDS;
    unsigned cores = (unsigned)MIN(layer->on->core_count, units);
    g_autofree struct stream *list = g_new0(struct stream, cores);
    bool fine = product_steps(layer, streams, error);
    if (fine && layer->shape.kernel) {
        layer->counts.temp_bytes = layer->shape.products * words * WORD_BYTES;
        streams_barrier(streams, layer->shape.products * words, NULL, NULL);
        for (unsigned c = 0; c < cores && fine; c++) {
            size_t first = units * c / cores * SHARE_WORDS, next = MIN(units * (c + 1) / cores * SHARE_WORDS, words);
            stream_init(&list[c], layer->on->cores[c]);
            fine = staged_share(layer, &list[c], c, first, next - first, dram, error);
        }
        fine = fine && streams_step(streams, list, cores, error);
    }
    for (unsigned c = 0; c < cores; c++)
        stream_clear(&list[c]);
    return fine;
}

/* ---- the whole layer ---- */

/* x, unless it is there already, and the weights become int7+E5M3; of a layer that follows, once its x is there. */
static void conversion_steps(struct layer *layer, struct streams *streams) {
    const struct gemm_plan *plan = layer->plan[0];
    g_autoptr(GArray) moves = moves_new();
    size_t entries = operand_entries(&plan->a), words = entries * MXFP7_WORDS;
    if (layer->source) {
        const struct result_layout *from = &layer->source->plan[0]->c;
        streams_barrier(streams, result_bytes(from) / WORD_BYTES, relayout, layer);
        layer->counts.relayouts++;
        layer->counts.relayout_bytes += result_bytes(from) + entries * ENTRY_FP16_BYTES;
    }
    moves_convert(moves, layer->x_rows, layer->x, entries, converter_geometry, CONVERTER, MXFP7_ROWS);
    for (unsigned p = 0; p < layer->shape.products; p++) {
        size_t weights = operand_entries(&plan->b);
        moves_convert(moves, layer->w_rows[p], layer->w[p], weights, converter_geometry, CONVERTER, MXFP7_COLUMNS);
        words += weights * MXFP7_WORDS;
    }
    streams_moves(streams, moves);
    streams_barrier(streams, words, NULL, NULL);
}

bool layer_steps(struct layer *layer, struct streams *streams, struct dram *dram, GError **error) {
    layer->memory = dram;
    conversion_steps(layer, streams);
    return layer->shape.kernel && layer->shape.fuse ? fused_steps(layer, streams, error)
                                                    : staged_steps(layer, streams, dram, error);
}

/* ---- by arithmetic alone ---- */

static void model_product(const struct layer *layer, unsigned p, const uint16_t *x, uint8_t *image) {
    const struct gemm_plan *plan = layer->plan[p];
    const struct cluster_params *cluster = &layer->on->machine->cluster;
    struct grade_machine machine = {.width = cluster->accumulator_bits, .double_rate = cluster->double_rate};
    g_autofree struct mxfp7_entry *a = g_new0(struct mxfp7_entry, operand_entries(&plan->a)),
                                  *b = g_new0(struct mxfp7_entry, operand_entries(&plan->b));
    g_autofree uint16_t *rows = g_new0(uint16_t, layer->shape.m * layer->shape.n);
    g_autofree uint16_t *repeated = repeat_rows(&layer->shape, x);
    operand_quantise(&plan->a, repeated, a);
    operand_quantise(&plan->b, layer->shape.w[p], b);
    grade_machine_result(&plan->a, a, &plan->b, b, &machine, rows);
    result_tile(&plan->c, rows, image);
}

static void take_arrival(const struct layer *layer, struct vector_model *model, const struct script_line *line,
                         uint8_t *const *images) {
    unsigned region = (layer->tile.words + VECTOR_TILE_CHUNK - 1) / VECTOR_TILE_CHUNK * VECTOR_TILE_CHUNK;
    memcpy(&model->l1[line->product * region],
           images[line->product] + result_tile_offset(&layer->plan[0]->c, line->i, line->j),
           layer->tile.words * sizeof model->l1[0]);
}

static void model_vector(const struct layer *layer, struct dram *memory, uint8_t *const *images) {
    const struct machine *machine = layer->on->machine;
    unsigned cores = layer->on->core_count;
    g_autofree struct vector_model *models = g_new(struct vector_model, cores);
    for (unsigned c = 0; c < cores; c++) {
        vector_model_init(&models[c], memory);
        models[c].words_per_flit = machine->vector.imem_words_per_flit;
        models[c].range = machine->vector.exp2_saturate ? E8M15_EXP2_SATURATES : E8M15_EXP2_WRAPS;
    }
    for (guint s = 0; s < layer->script->len; s++) {
        const struct script_line *line = &g_array_index(layer->script, struct script_line, s);
        if (line->arrival)
            take_arrival(layer, &models[line->core], line, images);
        else
            vector_model_take(&models[line->core], &line->payload);
    }
}

void layer_model(const struct layer *layer, const uint16_t *x, uint16_t *rows) {
    const struct layer_shape *shape = &layer->shape;
    const struct result_layout *layout = &layer->plan[0]->c;
    struct dram memory;
    uint8_t *images[LAYER_PRODUCTS_MAX] = {NULL};
    dram_init(&memory, layer->on->machine->memory.size);
    if (shape->bias)
        load_bias(layer, &memory);
    for (guint i = 0; i < layer->images->len; i++) {
        const struct vector_image *image = &g_array_index(layer->images, struct vector_image, i);
        dram_load(&memory, image->address, image->words, image->count * sizeof *image->words);
    }
    for (unsigned p = 0; p < shape->products; p++) {
        images[p] = g_malloc0(result_bytes(layout));
        model_product(layer, p, x, images[p]);
        if (!shape->kernel || !shape->fuse)
            dram_load(&memory, layer->temp[p], images[p], result_bytes(layout));
    }
    model_vector(layer, &memory, images);
    layer_result(layer, &memory, rows);
    for (unsigned p = 0; p < shape->products; p++)
        g_free(images[p]);
    dram_clear(&memory);
}
