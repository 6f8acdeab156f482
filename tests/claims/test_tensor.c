/* Claim I66, a what-if: a convolution's operand fetched by one instruction from a tensor descriptor. The same product
 * from an im2col image that the host has laid out is what it is held against: L1 and the drained result byte for byte.
 */
#include "machine_bench.h"
#include "workloads/layout.h"
#include "workloads/operands.h"

#define MACHINE(what_if)                                                                                               \
    "{\"preset\": \"bench\", \"memory\": {\"attachment\": \"per_port\", \"latency\": 1, \"fetch_transform\": true}, "  \
    "\"cluster\": {\"l1_a\": 512, \"l1_b\": 512, \"tensor_fill\": " what_if "}, "                                      \
    "\"map\": [\"xxx nul xxx\", \"mag mat nul\", \"xxx nul xxx\"]}"

enum {
    SIDE = 8, /* of the square input */
    TAPS = 3, /* of the square kernel */
    OUTPUTS = 8,
    PAD = 1,
    PLANE = 0x10000,
    WEIGHTS = 0x20000,
    IMAGE = 0x30000,
    RESULT = 0x80000,
    DESCRIPTOR = 1,
};

struct convolution {
    unsigned channels, stride, out; /* out: side of the output */
    unsigned m, k, groups, blocks;
    uint16_t *plane;  /* [SIDE][SIDE][channels] */
    uint16_t *matrix; /* im2col, [m][k] */
    uint16_t *weights;
    unsigned inside; /* places of (m, tap) that are not padding */
};

static void fill_random(uint16_t *halves, size_t count, uint64_t stream) {
    for (size_t i = 0; i < count; i++)
        halves[i] = fp16_from_double(random_normal(1, stream, i));
}

static void lower(struct convolution *conv) {
    for (unsigned m = 0; m < conv->m; m++)
        for (unsigned tap = 0; tap < TAPS * TAPS; tap++) {
            int y = (int)(m / conv->out * conv->stride + tap / TAPS) - PAD;
            int x = (int)(m % conv->out * conv->stride + tap % TAPS) - PAD;
            if (y < 0 || x < 0 || y >= SIDE || x >= SIDE)
                continue;
            conv->inside++;
            memcpy(&conv->matrix[m * conv->k + tap * conv->channels], &conv->plane[(y * SIDE + x) * conv->channels],
                   conv->channels * sizeof *conv->plane);
        }
}

static void conv_init(struct convolution *conv, unsigned channels, unsigned stride) {
    unsigned out = (SIDE + 2 * PAD - TAPS) / stride + 1;
    *conv = (struct convolution){.channels = channels,
                                 .stride = stride,
                                 .out = out,
                                 .m = out * out,
                                 .k = TAPS * TAPS * channels,
                                 .groups = out * out / 4,
                                 .blocks = TAPS * TAPS * channels / MXFP7_BLOCK};
    conv->plane = g_new0(uint16_t, SIDE * SIDE * channels);
    conv->matrix = g_new0(uint16_t, conv->m * conv->k);
    conv->weights = g_new0(uint16_t, OUTPUTS * conv->k);
    fill_random(conv->plane, SIDE * SIDE * channels, 0);
    fill_random(conv->weights, OUTPUTS * conv->k, 1);
    lower(conv);
}

static void conv_clear(struct convolution *conv) {
    g_free(conv->plane);
    g_free(conv->matrix);
    g_free(conv->weights);
}

static void load_image(struct machine_bench *bench, const uint16_t *rows, unsigned lanes, unsigned groups,
                       const struct convolution *conv, uint64_t address) {
    struct operand_layout layout;
    operand_layout_init(&layout, lanes, conv->k, groups, conv->blocks, false);
    size_t bytes = operand_entries(&layout) * ENTRY_FP16_BYTES;
    g_autofree uint8_t *image = g_malloc0(bytes);
    operand_pack(&layout, rows, image);
    dram_load(&bench->system->dram, address, image, bytes);
}

static void open_bench(struct machine_bench *bench, const struct convolution *conv, bool what_if) {
    bench_open(bench, what_if ? MACHINE("true") : MACHINE("false"));
    dram_load(&bench->system->dram, PLANE, conv->plane, SIDE * SIDE * conv->channels * sizeof *conv->plane);
    load_image(bench, conv->matrix, conv->m, conv->groups, conv, IMAGE);
    load_image(bench, conv->weights, OUTPUTS, OUTPUTS / 4, conv, WEIGHTS);
}

/* ---- the instructions ---- */

static void add_payload(struct machine_bench *bench, unsigned *count, const struct word256 *payload) {
    const struct machine *machine = &bench->machine;
    struct flit flit = {.type = FLIT_CU_INST,
                        .src_x = machine->ports[0].x,
                        .src_y = machine->ports[0].y,
                        .dst_x = machine->units[0].x,
                        .dst_y = machine->units[0].y,
                        .txn = (uint8_t)*count,
                        .payload = *payload};
    bench_flit(bench, 0, &flit, (*count)++);
}

static void add_part(struct machine_bench *bench, unsigned *count, struct tensor_part_inst part) {
    struct word256 payload;
    part.descriptor = DESCRIPTOR;
    tensor_part_encode(&part, &payload);
    add_payload(bench, count, &payload);
}

static void add_inst(struct machine_bench *bench, unsigned *count, struct cluster_inst inst) {
    struct word256 payload;
    inst.anchor = CLUSTER_ANCHOR;
    g_assert_true(cluster_inst_encode(&inst, &payload, NULL));
    add_payload(bench, count, &payload);
}

/* M is (n, oy, ox), K is (ky, kx, c); the axes are y and x. */
static void describe(struct machine_bench *bench, unsigned *count, const struct convolution *conv) {
    int32_t pixel = (int32_t)(conv->channels * 2), row = SIDE * pixel, stride = (int32_t)conv->stride;
    const struct tensor_part_inst parts[] = {
        {.part = 0, .count = 1},
        {.part = 1, .count = (uint16_t)conv->out, .stride = stride * row, .axis = 1, .step = (int16_t)stride},
        {.part = 2, .count = (uint16_t)conv->out, .stride = stride * pixel, .axis = 2, .step = (int16_t)stride},
        {.part = 3, .count = TAPS, .stride = row, .axis = 1, .step = 1},
        {.part = 4, .count = TAPS, .stride = pixel, .axis = 2, .step = 1},
        {.part = 5, .count = (uint16_t)conv->channels, .stride = 2},
        {.part = TENSOR_PART_AXES, .axes = {{-PAD, SIDE}, {-PAD, SIDE}}},
        {.part = TENSOR_PART_BASE, .base = PLANE - PAD * (uint64_t)(row + pixel)}};
    for (unsigned p = 0; p < G_N_ELEMENTS(parts); p++)
        add_part(bench, count, parts[p]);
}

/* Everything behind the fetch of A: the weights, the sweep, the drain. */
static void add_product(struct machine_bench *bench, unsigned *count, const struct convolution *conv) {
    uint8_t gm = (uint8_t)conv->groups, gn = OUTPUTS / 4, nk = (uint8_t)conv->blocks;
    add_inst(bench, count, FILL(.addr = WEIGHTS, .n = gn * nk, .sel = 1));
    add_inst(bench, count, GEMM(.gm = gm, .gn = gn, .nk = nk));
    add_inst(bench, count, DRAIN(.addr = RESULT, .n = (uint16_t)(gm * gn)));
}

static unsigned run_tensor(struct machine_bench *bench, const struct convolution *conv) {
    unsigned count = 0;
    open_bench(bench, conv, true);
    describe(bench, &count, conv);
    add_inst(bench, &count,
             (struct cluster_inst){.op = TENSOR_FILL,
                                   .n = (uint16_t)(conv->groups * conv->blocks),
                                   .nk = (uint8_t)conv->blocks,
                                   .aoff = DESCRIPTOR});
    add_product(bench, &count, conv);
    bench_run(bench);
    return count;
}

static unsigned run_image(struct machine_bench *bench, const struct convolution *conv) {
    unsigned count = 0;
    open_bench(bench, conv, false);
    add_inst(bench, &count, FILL(.addr = IMAGE, .n = (uint16_t)(conv->groups * conv->blocks)));
    add_product(bench, &count, conv);
    bench_run(bench);
    return count;
}

/* ---- what must hold ---- */

static void assert_same(struct machine_bench *tensor, struct machine_bench *image, const struct convolution *conv) {
    bench_assert_l1(tensor, 0, 0, 0, bench_l1(image, 0, 0, 0, 0), conv->groups * conv->blocks);
    for (unsigned t = 0; t < conv->groups * OUTPUTS / 4; t++) {
        struct word256 ours = dram_read(&tensor->system->dram, RESULT + WORD_BYTES * t, NULL);
        struct word256 wanted = dram_read(&image->system->dram, RESULT + WORD_BYTES * t, NULL);
        g_assert_cmpmem(&ours, sizeof ours, &wanted, sizeof wanted);
    }
    g_assert_cmpuint(tensor->system->hazards.hazards->len, ==, 0);
    g_assert_true(system_quiet(tensor->system));
}

static void claim_I66(void) {
    static const struct { unsigned channels, stride; } shapes[] = {{32, 1}, {32, 2}, {64, 2}};
    for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++) {
        struct machine_bench tensor, image;
        struct convolution conv;
        conv_init(&conv, shapes[i].channels, shapes[i].stride);
        unsigned instructions = run_tensor(&tensor, &conv), steps = conv.blocks;
        run_image(&image, &conv);
        assert_same(&tensor, &image, &conv);
        /* a driver that computes addresses needs a FILL of each side and a GEMM a step, and a DRAIN (workloads §5.6) */
        g_assert_cmpuint(instructions, <, 3 * steps + 1);
        /* padding costs no memory: two words for each lane of 32 that exists, eight an entry of weights */
        g_assert_cmpuint(tensor.system->agent.ports[0].counts.read_words, ==,
                         2 * conv.inside * conv.channels / MXFP7_BLOCK + 8 * OUTPUTS / 4 * conv.blocks);
        g_assert_cmpuint(tensor.system->agent.ports[0].counts.read_words, <,
                         image.system->agent.ports[0].counts.read_words);
        bench_close(&tensor);
        bench_close(&image);
        conv_clear(&conv);
    }
}

/* A part of the operand: groups 3 and 4 of four lanes, blocks 2 to 5. */
static void claim_I66_part(void) {
    struct machine_bench tensor, image;
    struct convolution conv;
    unsigned count = 0;
    conv_init(&conv, 32, 1);
    run_image(&image, &conv);
    open_bench(&tensor, &conv, true);
    describe(&tensor, &count, &conv);
    add_inst(
        &tensor, &count,
        (struct cluster_inst){
            .op = TENSOR_FILL, .n = 8, .nk = 4, .aoff = DESCRIPTOR, .addr = 3 | 2 << TENSOR_GROUP_BITS, .eoff = 7});
    bench_run(&tensor);
    for (unsigned e = 0; e < 8; e++) {
        unsigned from = (3 + e / 4) * conv.blocks + 2 + e % 4;
        g_assert_cmpmem(bench_l1(&tensor, 0, 0, 0, 7 + e), sizeof(struct mxfp7_entry), bench_l1(&image, 0, 0, 0, from),
                        sizeof(struct mxfp7_entry));
    }
    bench_close(&tensor);
    bench_close(&image);
    conv_clear(&conv);
}

/* Without the option the two instructions are unknown ones: they retire and do nothing. */
static void claim_I66_off(void) {
    struct machine_bench bench;
    struct convolution conv;
    unsigned count = 0;
    conv_init(&conv, 32, 1);
    open_bench(&bench, &conv, false);
    describe(&bench, &count, &conv);
    add_inst(&bench, &count, (struct cluster_inst){.op = TENSOR_FILL, .n = 8, .nk = 4, .aoff = DESCRIPTOR});
    bench_run(&bench);
    g_assert_cmpuint(bench.system->endpoints[0].retired, ==, count);
    g_assert_cmpuint(bench.system->agent.ports[0].counts.read_words, ==, 0);
    bench_close(&bench);
    conv_clear(&conv);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claims/I66", claim_I66);
    g_test_add_func("/claims/I66/part", claim_I66_part);
    g_test_add_func("/claims/I66/off", claim_I66_off);
    return g_test_run();
}
