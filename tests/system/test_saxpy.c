/* A unit type from a plug-in: the saxpy sample exact in bits and counts (workloads §5.7), its instruction's edges, and
 * what a machine is told whose plug-in is missing or wrong. */
#include "claims/run_bench.h"
#include "examples/saxpy/saxpy.h"
#include "model/isa/wire.h"

#include <glib/gstdio.h>

#define MACHINE FLITSIM_SOURCE_DIR "/examples/saxpy/saxpy.json"

enum {
    X = 0x10000,
    Y = 0x20000,
};

static float value_at(const struct finished_run *finished, unsigned i) {
    float value;
    struct word256 word = dram_read(&finished->run.system->dram, Y + i / SAXPY_LANES * WORD_BYTES, NULL);
    memcpy(&value, (const char *)&word + i % SAXPY_LANES * sizeof value, sizeof value);
    return value;
}

static void is_exact(void) {
    struct finished_run finished;
    run_on_bench(&finished, MACHINE, "saxpy", NULL, 1);
    for (unsigned i = 0; i < 64; i++)
        g_assert_cmpfloat(value_at(&finished, i), ==, 1.5f * (float)i + 100);
    g_assert_cmpuint(finished.run.instructions, ==, 2);
    g_assert_cmpuint(finished.run.commands, ==, 13);
    g_assert_cmpuint(finished.run.host_writes, ==, 63);
    g_assert_cmpuint(finished_flits(&finished, FLIT_MEM_RD_REQ, true), ==, 16);
    g_assert_cmpuint(finished_flits(&finished, FLIT_MEM_WR_DATA, true), ==, 8);
    g_assert_cmpuint(finished.run.system->hazards.hazards->len, ==, 0);
    finished_clear(&finished);
}

/* Every length, whole words or not, on one unit or two. */
static void any_length(void) {
    for (unsigned n = 0; n < 40; n += 3) {
        struct finished_run finished;
        g_autofree char *workload = g_strdup_printf("saxpy:n=%u,a=-3", n);
        run_on_bench(&finished, MACHINE, workload, NULL, 1);
        for (unsigned i = 0; i < n; i++)
            g_assert_cmpfloat(value_at(&finished, i), ==, 100 - 4 * (float)i);
        finished_clear(&finished);
    }
}

/* ---- one instruction ---- */

/* Runs it on the unit at (1,0) with x and y all ones. */
static void run_inst(struct finished_run *finished, const struct saxpy_inst *inst) {
    static const char ones[] = "3f8000003f8000003f8000003f8000003f8000003f8000003f8000003f800000";
    g_autofree char *folder = g_dir_make_tmp("flitsim-XXXXXX", NULL), *file = g_build_filename(folder, "p.fs", NULL);
    struct word256 payload;
    char hex[WORD_HEX + 1];
    saxpy_encode(inst, &payload);
    word_to_hex(&payload, hex);
    g_autofree char *text = g_strdup_printf(
        "memory 0x10000: %s %s\nmemory 0x20000: %s %s\nprogram (1,0)\nraw %s last\n", ones, ones, ones, ones, hex);
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    g_autofree char *workload = g_strconcat("program:", file, NULL);
    run_on_bench(finished, MACHINE, workload, NULL, 1);
    g_unlink(file);
    g_rmdir(folder);
}

static void tail_keeps_the_rest_of_its_word(void) {
    struct finished_run finished;
    run_inst(&finished, &(struct saxpy_inst){SAXPY_OP, 11, 4, X, Y});
    for (unsigned i = 0; i < 16; i++)
        g_assert_cmpfloat(value_at(&finished, i), ==, i < 11 ? 5 : 1);
    finished_clear(&finished);
}

static void nothing_to_do_touches_no_memory(void) {
    struct finished_run finished;
    run_inst(&finished, &(struct saxpy_inst){SAXPY_OP, 0, 4, X, Y});
    g_assert_cmpuint(finished_flits(&finished, FLIT_MEM_RD_REQ, true), ==, 0);
    g_assert_cmpuint(finished_flits(&finished, FLIT_CU_SIGNAL, true), ==, 1);
    finished_clear(&finished);
}

/* A wrong opcode or address retires as a fault, without touching memory. */
static void wrong_instructions_fault(void) {
    static const struct saxpy_inst wrong[] = {
        {SAXPY_OP + 1, 8, 4, X, Y}, {SAXPY_OP, 8, 4, X + 4, Y}, {SAXPY_OP, 8, 4, X, UINT64_C(1) << 40}};
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        struct finished_run finished;
        run_inst(&finished, &wrong[i]);
        g_assert_cmpuint(finished_flits(&finished, FLIT_MEM_RD_REQ, true), ==, 0);
        g_assert_cmpfloat(value_at(&finished, 0), ==, 1);
        g_assert_cmpuint(finished.run.system->agent.dispatch.nodes[0x01].code, ==, SIGNAL_FAULT);
        finished_clear(&finished);
    }
}

/* ---- plug-ins that can't be used ---- */

static void refuses_what_is_no_plugin(void) {
    static const struct {
        const char *file, *type, *message;
    } rows[] = {
        {"nowhere.so", "saxpy", "nowhere.so is not there and not among the shipped plug-ins, expected a shared object"},
        {"empty.so", "saxpy", "empty.so is no plug-in, expected it to export flitsim_plugin_register"},
        {"refuses.so", "saxpy", "refuses.so: it refuses this simulator, expected unit types of version 1"},
        {"incomplete.so", "saxpy",
         "incomplete.so: unit type incomplete lacks a function, expected unit types of version 1"},
        {"saxpy.so", "daxpy", "units: daxpy0 is of type \"daxpy\", expected a known unit type"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        struct machine machine;
        g_autofree char *text =
            g_strdup_printf("{\"plugins\": [\"%s\"], \"tokens\": {\"sax\": \"%s\"}, \"map\": [\"xxx sax "
                            "xxx\", \"mag nul nul\", \"xxx nul xxx\"]}",
                            rows[i].file, rows[i].type);
        assert_machine(&machine, text, NULL);
        g_assert_false(system_check(&machine, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        if (!g_str_has_suffix(error->message, rows[i].message))
            g_error("\"%s\" does not end in \"%s\"", error->message, rows[i].message);
        g_assert_null(strchr(error->message, '\n'));
        machine_clear(&machine);
    }
}

static void refuses_what_is_no_object(void) {
    g_autoptr(GError) error = NULL;
    struct machine machine = {0};
    g_autofree char *folder = g_dir_make_tmp("flitsim-XXXXXX", NULL), *file = g_build_filename(folder, "t.so", NULL);
    g_assert_true(g_file_set_contents(file, "text", -1, NULL));
    g_autofree char *text = g_strdup_printf("{\"plugins\": [\"%s\"], " MACHINE_MAP "}", file);
    assert_machine(&machine, text, NULL);
    g_assert_false(system_check(&machine, &error));
    g_assert_true(g_str_has_prefix(error->message, "plugins: can't be loaded: "));
    machine_clear(&machine);
    g_unlink(file);
    g_rmdir(folder);
}

static void needs_its_unit(void) {
    g_autoptr(GError) error = NULL;
    struct machine machine;
    struct workload workload;
    struct run run;
    config_load_machine(&machine, "one", NULL, &error);
    workload_load(&workload, "saxpy", NULL, &error);
    g_assert_no_error(error);
    run_init(&run, &machine, &workload);
    g_assert_false(workload.type->run(&run, &error));
    g_assert_cmpstr(error->message, ==,
                    "workload:1:1: n: needs a saxpy unit, expected a machine with one (examples/saxpy/saxpy.json)");
    run_clear(&run);
    workload_clear(&workload);
    machine_clear(&machine);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/saxpy/is_exact", is_exact);
    g_test_add_func("/saxpy/any_length", any_length);
    g_test_add_func("/saxpy/tail_keeps_the_rest_of_its_word", tail_keeps_the_rest_of_its_word);
    g_test_add_func("/saxpy/nothing_to_do_touches_no_memory", nothing_to_do_touches_no_memory);
    g_test_add_func("/saxpy/wrong_instructions_fault", wrong_instructions_fault);
    g_test_add_func("/saxpy/plugins/refuses_what_is_no_plugin", refuses_what_is_no_plugin);
    g_test_add_func("/saxpy/plugins/refuses_what_is_no_object", refuses_what_is_no_object);
    g_test_add_func("/saxpy/plugins/needs_its_unit", needs_its_unit);
    return g_test_run();
}
