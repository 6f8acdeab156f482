/* flitsim run as its user types it: the two jobs everybody starts with, the ways to get at the answer, and every
 * mistake told in one line, at once, with nothing left behind. */
#include "cli/command.h"

#include "workloads/tensor.h"

struct figure {
    const char *path;
    double value;
};

static void assert_figures(const char *line, const struct figure *figures, size_t count) {
    struct command_folder folder;
    folder_open(&folder);
    json_t *result = command_json(&folder, line);
    for (size_t i = 0; i < count; i++)
        if (json_at(result, figures[i].path) != figures[i].value)
            g_error("%s: %s is %g, expected %g", line, figures[i].path, json_at(result, figures[i].path),
                    figures[i].value);
    g_assert_true(json_is_null(json_object_get(result, "deadlock")));
    g_assert_cmpuint(json_array_size(json_object_get(result, "hazards")), ==, 0);
    json_decref(result);
    g_assert_cmpuint(folder_count(&folder), ==, 0);
    folder_close(&folder);
}

#define ASSERT_FIGURES(line, ...)                                                                                      \
    assert_figures(line, (const struct figure[]){__VA_ARGS__}, G_N_ELEMENTS(((const struct figure[]){__VA_ARGS__})))

static void the_worked_example(void) {
    ASSERT_FIGURES(
        "run " FLITSIM_SOURCE_DIR "/configs/machines/one.json gemm:m=32,k=128,n=32 --set workload.emit=false "
        "--set workload.transform=upload --json",
        {"counts.host_writes", 57}, {"counts.instructions", 4}, {"counts.mem_rd_req", 2}, {"counts.mem_rd_resp", 256},
        {"counts.mem_wr_req", 8}, {"counts.mem_wr_data", 64}, {"counts.signals", 4}, {"counts.acc_load", 64},
        {"counts.acc_add", 192}, {"counts.acc_emit", 64}, {"counts.mem_wr_ack", 8}, {"counts.dram_read_bytes", 8192},
        {"counts.dram_write_bytes", 2048}, {"counts.commands", 9}, {"numerics.vs_model.mismatches", 0});
    ASSERT_FIGURES("run one gemm:m=32,k=128,n=32 --json", {"counts.acc_load", 64}, {"counts.acc_add", 128},
                   {"counts.acc_add_emit", 64}, {"counts.acc_emit", 0});
    ASSERT_FIGURES("run one gemm:m=32,k=128,n=32 --set workload.transform=fetch --json",
                   {"counts.dram_read_bytes", 16384}, {"counts.mem_rd_resp", 256});
}

static void the_256_cube(void) {
    ASSERT_FIGURES("run ref2 gemm:m=256,k=256,n=256 --json", {"counts.host_writes", 373}, {"counts.commands", 38},
                   {"counts.rounds", 1}, {"counts.instructions", 44}, {"counts.mem_rd_req", 20},
                   {"counts.mem_rd_resp", 6144}, {"counts.mem_wr_req", 512}, {"counts.mem_wr_data", 4096},
                   {"counts.mem_wr_ack", 512}, {"counts.signals", 44}, {"counts.acc_load", 2 * 4 * 512},
                   {"counts.acc_add", 2 * 4 * 3072}, {"counts.acc_add_emit", 2 * 4 * 512}, {"counts.acc_emit", 0},
                   {"plan.gm", 16}, {"plan.gn", 32}, {"plan.nk", 4}, {"plan.row_tiles", 4}, {"plan.bands", 2},
                   {"plan.chunks", 2}, {"numerics.vs_model.mismatches", 0});
    ASSERT_FIGURES("run ref2 gemm:m=256,k=256,n=256,kicks=cluster --json", {"counts.host_writes", 273},
                   {"counts.commands", 13});
    ASSERT_FIGURES("run ref2 gemm:shadow=false --json", {"counts.commands", 44});
}

static void the_digits_layer(void) {
    ASSERT_FIGURES("run ref2 gemm:a=images.npy,b=w1.npy --json", {"plan.m", 597}, {"plan.k", 64}, {"plan.n", 64},
                   {"numerics.vs_model.mismatches", 0});
}

/* A in, C out, both .npy files beside the user: the answer is that of the files. */
static void files_in_and_out(void) {
    struct command_folder folder;
    folder_open(&folder);
    static const size_t shape_a[] = {5, 32}, shape_b[] = {3, 32};
    g_autoptr(tensor_ptr) a = tensor_new(2, shape_a), b = tensor_new(2, shape_b);
    for (size_t i = 0; i < 5; i++)
        *tensor_at(a, i, i) = (double)(i + 1);
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < 32; k++)
            *tensor_at(b, j, k) = j == 1 ? -1 : 1;
    g_autofree char *path_a = g_build_filename(folder.path, "a.npy", NULL),
                    *path_b = g_build_filename(folder.path, "b.npy", NULL),
                    *path_c = g_build_filename(folder.path, "c.npy", NULL);
    g_assert_true(npy_write(a, path_a, NPY_FLOAT64, NULL));
    g_assert_true(npy_write(b, path_b, NPY_FLOAT32, NULL));
    json_t *result = command_json(&folder, "run one gemm:a=a.npy,b=b.npy,out=c.npy --json");
    g_assert_cmpfloat(json_at(result, "numerics.vs_fp64.rel_max"), <, 0.05);
    json_decref(result);
    g_autoptr(tensor_ptr) c = npy_read(path_c, NULL);
    g_assert_nonnull(c);
    g_assert_cmpuint(c->shape[0], ==, 5);
    g_assert_cmpuint(c->shape[1], ==, 3);
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 3; j++) {
            double want = j == 1 ? -(double)(i + 1) : (double)(i + 1);
            g_assert_cmpfloat_with_epsilon(*tensor_at(c, i, j), want, 0.05 * (double)(i + 1));
        }
    struct command_result mismatch = command_line(&folder, "run one gemm:a=images.npy,b=b.npy,out=d.npy");
    g_assert_cmpstr(mismatch.err, ==, "workload:1:21: b: is 3 x 32, expected K = 64 columns as in a (597 x 64)\n");
    g_assert_cmpint(mismatch.status, ==, 2);
    command_clear(&mismatch);
    g_assert_cmpuint(folder_count(&folder), ==, 3);
    folder_close(&folder);
}

/* --out writes the same document that --json prints; figures of the host's own time apart. */
static void result_in_a_folder(void) {
    struct command_folder folder;
    folder_open(&folder);
    json_t *printed = command_json(&folder, "run one gemm:m=32,k=32,n=32 --json --out there/deep");
    g_autofree char *path = g_build_filename(folder.path, "there", "deep", "result.json", NULL);
    json_t *written = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    g_assert_true(json_equal(printed, written));
    g_assert_cmpstr(json_string_value(json_object_get(written, "schema")), ==, "flitsim.result/1");
    json_decref(printed);
    json_decref(written);
    folder_close(&folder);
}

static void quiet_and_summary(void) {
    struct command_folder folder;
    folder_open(&folder);
    struct command_result quiet = command_line(&folder, "run --quiet one gemm:m=32,k=32,n=32"),
                          loud = command_line(&folder, "run one gemm:m=32,k=32,n=32");
    g_assert_cmpstr(quiet.out, ==, "");
    g_assert_cmpstr(quiet.err, ==, "");
    g_assert_cmpint(quiet.status, ==, 0);
    g_assert_nonnull(strstr(loud.out, "gemm on one: 32 x 32 x 32"));
    g_assert_nonnull(strstr(loud.out, "GFLOP/s"));
    g_assert_cmpstr(loud.err, ==, "");
    command_clear(&quiet);
    command_clear(&loud);
    g_assert_cmpuint(folder_count(&folder), ==, 0);
    folder_close(&folder);
}

/* The same line gives the same digest; another seed another; options may stand anywhere. */
static void repeated(void) {
    static const char *const lines[] = {"run ref2 gemm:m=64,k=64,n=64 --json --seed 7",
                                        "run --seed 7 --json ref2 gemm:m=64,k=64,n=64",
                                        "run ref2 --json gemm:m=64,k=64,n=64 --seed=7",
                                        "run ref2 --json gemm --set workload.m=64 -s workload.k=64 -s workload.n=64 "
                                        "--seed 7"};
    struct command_folder folder;
    folder_open(&folder);
    g_autofree char *digest = NULL;
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(lines); i++) {
        json_t *result = command_json(&folder, lines[i / 2]);
        const char *now = json_string_value(json_object_get(result, "digest"));
        g_assert_cmpuint(strlen(now), ==, 64);
        if (digest)
            g_assert_cmpstr(now, ==, digest);
        else
            digest = g_strdup(now);
        json_decref(result);
    }
    json_t *other = command_json(&folder, "run ref2 gemm:m=64,k=64,n=64 --json --seed 8");
    g_assert_cmpstr(json_string_value(json_object_get(other, "digest")), !=, digest);
    json_decref(other);
    folder_close(&folder);
}

/* --strict: a run that touches a contract ends with status 1 and says where; without it the contract is listed. */
static void strict(void) {
    static const char program[] = "program (1,1)\nfill n=20 eoff=250 last\n";
    struct command_folder folder;
    folder_open(&folder);
    folder_write(&folder, "wraps.asm", program);
    struct command_result loose = command_line(&folder, "run one program:wraps.asm --json"),
                          tight = command_line(&folder, "run one program:wraps.asm --json --strict");
    g_assert_cmpint(loose.status, ==, 0);
    g_assert_nonnull(strstr(loose.out, "cluster.fill_wraps"));
    g_assert_cmpint(tight.status, ==, 1);
    g_assert_nonnull(strstr(tight.out, "cluster.fill_wraps"));
    command_clear(&loose);
    command_clear(&tight);
    folder_close(&folder);
}

/* ---- mistakes ---- */

#define MAP_TEXT "\"map\": [\"xxx nul xxx\", \"mag mat nul\", \"xxx nul xxx\"]"

static const struct {
    const char *machine; /* text of m.json */
    const char *line, *message;
} mistakes[] = {
    {"{\n  \"noc\": {\"fifo_depht\": 8},\n  " MAP_TEXT "}", "run m.json gemm",
     "m.json:2:11: noc.fifo_depht: unknown key, expected perhaps noc.fifo_depth"},
    {"{\n  \"noc\": {\"fifo_depth\": true},\n  " MAP_TEXT "}", "run m.json gemm",
     "m.json:2:25: noc.fifo_depth: is true, expected a whole number 1..65536 flits"},
    {"{\n  \"cluster\": {\"tiles\": 0},\n  " MAP_TEXT "}", "run m.json gemm",
     "m.json:2:24: cluster.tiles: is 0, expected a whole number 1..65536 sub-tiles"},
    {"{\n  \"map\": [\"xxx nul xxx\",\n          \"nul mat nul\",\n          \"xxx nul xxx\"]}", "run m.json gemm",
     "m.json:2:10: map: mesh has no memory port, expected 1 to 4 on its edges"},
    {"{\n  \"mesh\": {\"columns\": 1, \"rows\": 1}, \"ports\": [{\"x\": 0, \"y\": 1}],\n  \"units\": [\n"
     "    {\"type\": \"cluster\", \"x\": 1, \"y\": 1},\n    {\"type\": \"cluster\", \"x\": 1, \"y\": 1}]}",
     "run m.json gemm",
     "m.json:5:5: units[1]: cluster stands at (1,1) where units[0] stands too, expected one thing a place"},
    {"{\n  " MAP_TEXT "\n", "run m.json gemm", "m.json:3:1: (top): found the end of the text, expected ',' or '}'"},
    {"", "run m.json gemm", "m.json:1:1: (file): is empty, expected a JSON object"},
    {NULL, "run m.json gemm",
     "m.json:1:1: (file): can't be opened: No such file or directory, expected a readable file"},
    {NULL, "run ref3 gemm", "ref3:1:1: (file): is no file and none of the shipped machines, expected perhaps ref2"},
    {NULL, "run one gem", "workload:1:1: (top): \"gem\" is no workload and no file, expected perhaps gemm"},
    {NULL, "run one gemm:m=x", "workload:1:8: m: is \"x\", expected a whole number 0..65536 rows"},
    {NULL, "run one gemm:m=1.5", "workload:1:8: m: is 1.5, expected a whole number 0..65536 rows"},
    {NULL, "run one gemm:m=65537", "workload:1:8: m: is 65537, expected a whole number 0..65536 rows"},
    {NULL, "run one gemm:m=32,m=16", "workload:1:11: m: key is given twice, expected it once"},
    {NULL, "run one gemm:emit=maybe", "workload:1:11: emit: is \"maybe\", expected true or false"},
    {NULL, "run one gemm --set noc.fifo_depth=0x",
     "--set:1:16: noc.fifo_depth: is \"0x\", expected a whole number 1..65536 flits"},
    {NULL, "run one gemm --set workload.q=1", "--set:1:1: q: unknown key of workload gemm, expected perhaps m"},
    {NULL, "run one gemm --set nonsense", "--set:1:1: nonsense: is no assignment, expected PATH=VALUE"},
    {NULL, "run one gemm:a=gone.npy",
     "gone.npy:1:1: npy: can't be opened: No such file or directory, expected a readable file"},
    {NULL, "run one gemm:a=images.npy,b=b1.npy",
     "workload:1:21: b: is an array of 1 dimensions and 64 elements, expected a matrix [N][K]"},
    {NULL, "run one gemm:a=images.npy,b=w1.npy,k=63", "workload:1:30: k: is 63, expected 64 as in the operand files"},
    {NULL, "run one gemm:gm=32,gn=32",
     "workload:1:15: gn: gm*gn sub-tiles of a tile: 1024, expected at most 512 on this machine"},
    {NULL, "run one gemm:operands=normale",
     "workload:1:15: operands: distribution \"normale\", expected normal, scaled, lowrank:R, relu, biased:MU, real, "
     "int, edge, zeros or ones"},
    {NULL, "run mesh_4x4 gemm", "workload:1:1: m: needs a matmul cluster, expected a machine with one"},
    {NULL, "run ship_4_meshes move",
     "ship_4_meshes:1:1: (machine): has 4 meshes, and move runs on one, expected a machine of one mesh, or mesh-n, "
     "mesh-k or mesh-k4"},
    {NULL, "run mesh_4x4 move", "workload:1:1: kind: needs a memory port, expected a machine with one"},
    {NULL, "run one program:gone.asm",
     "gone.asm:1:1: (file): can't be opened: No such file or directory, expected a readable file"},
    {NULL, "run one", "flitsim run: 1 arguments, expected MACHINE WORKLOAD"},
    {NULL, "run one gemm more", "flitsim run: 3 arguments, expected MACHINE WORKLOAD"},
    {NULL, "run one gemm --jsn", "flitsim run: Unknown option --jsn, expected options of `flitsim run --help`"},
};

/* One line on standard error, status 2, nothing on standard output and nothing written, whatever output was asked for.
 * How long it took is told, not tested: the machine may be busy. */
static void one_line_each(void) {
    gint64 slowest = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++) {
        struct command_folder folder;
        folder_open(&folder);
        if (mistakes[i].machine)
            folder_write(&folder, "m.json", mistakes[i].machine);
        g_autofree char *line = g_strconcat(mistakes[i].line, " --json --out results", NULL);
        struct command_result result = command_line(&folder, line);
        g_autofree char *want = g_strconcat(mistakes[i].message, "\n", NULL);
        g_assert_cmpstr(result.err, ==, want);
        g_assert_cmpstr(result.out, ==, "");
        g_assert_cmpint(result.status, ==, 2);
        g_assert_cmpuint(folder_count(&folder), ==, mistakes[i].machine != NULL);
        slowest = MAX(slowest, result.microseconds);
        command_clear(&result);
        folder_close(&folder);
    }
    g_test_message("slowest of %zu mistakes: %.1f ms", G_N_ELEMENTS(mistakes), (double)slowest / 1000);
}

/* A result that can't be written is an error, not a success. */
static void nowhere_to_write(void) {
    struct command_folder folder;
    folder_open(&folder);
    folder_write(&folder, "file", "");
    struct command_result folder_result = command_line(&folder, "run one gemm:m=8,k=32,n=8 --out file/below"),
                          npy = command_line(&folder, "run one gemm:m=8,k=32,n=8,out=none/c.npy");
    g_assert_cmpstr(folder_result.err, ==, "file/below:1:1: (file): can't be made, expected a folder to write to\n");
    g_assert_cmpint(folder_result.status, ==, 2);
    g_assert_cmpstr(npy.err, ==,
                    "none/c.npy:1:1: npy: can't be written: No such file or directory, expected a writable file\n");
    g_assert_cmpint(npy.status, ==, 2);
    command_clear(&folder_result);
    command_clear(&npy);
    folder_close(&folder);
}

/* ---- help ---- */

static void help_and_version(void) {
    static const char *const commands[] = {"run", "check", "describe", "asm", "disasm"};
    struct command_folder folder;
    folder_open(&folder);
    struct command_result help = command_run(&folder, TYPED("--help"));
    g_assert_cmpint(help.status, ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *usage = g_strconcat("flitsim ", commands[i], " [OPTION", NULL);
        struct command_result own = command_run(&folder, TYPED(commands[i], "--help"));
        g_assert_nonnull(strstr(help.out, commands[i]));
        g_assert_cmpint(own.status, ==, 0);
        g_assert_cmpstr(own.err, ==, "");
        g_assert_nonnull(strstr(own.out, usage));
        command_clear(&own);
    }
    command_clear(&help);
    struct command_result version = command_run(&folder, TYPED("--version"));
    g_assert_cmpstr(version.out, ==, "flitsim " FLITSIM_VERSION "\n");
    command_clear(&version);
    folder_close(&folder);
}

static void nothing_or_nonsense(void) {
    struct command_folder folder;
    folder_open(&folder);
    struct command_result nothing = command_run(&folder, (const char *const[]){NULL}),
                          nonsense = command_run(&folder, TYPED("runn")), empty = command_run(&folder, TYPED(""));
    g_assert_cmpstr(nothing.err, ==, "flitsim: no command, expected one of `flitsim --help`\n");
    g_assert_cmpstr(nonsense.err, ==, "flitsim: unknown command 'runn', expected perhaps run\n");
    g_assert_cmpint(nothing.status, ==, 2);
    g_assert_cmpint(nonsense.status, ==, 2);
    g_assert_cmpint(empty.status, ==, 2);
    command_clear(&nothing);
    command_clear(&nonsense);
    command_clear(&empty);
    folder_close(&folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/run/the_worked_example", the_worked_example);
    g_test_add_func("/run/the_256_cube", the_256_cube);
    g_test_add_func("/run/the_digits_layer", the_digits_layer);
    g_test_add_func("/run/files_in_and_out", files_in_and_out);
    g_test_add_func("/run/result_in_a_folder", result_in_a_folder);
    g_test_add_func("/run/quiet_and_summary", quiet_and_summary);
    g_test_add_func("/run/repeated", repeated);
    g_test_add_func("/run/strict", strict);
    g_test_add_func("/run/one_line_each", one_line_each);
    g_test_add_func("/run/nowhere_to_write", nowhere_to_write);
    g_test_add_func("/run/help_and_version", help_and_version);
    g_test_add_func("/run/nothing_or_nonsense", nothing_or_nonsense);
    return g_test_run();
}
