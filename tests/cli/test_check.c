/* The program as its user meets it: exit status, one line on standard error, nothing on standard output when a file is
 * at fault. Runs the program named by FLITSIM. */
#include <string.h>

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "machine_text.h"

struct outcome {
    int status; /* of exit; -1 when a signal ended it */
    char *out, *err;
};

static void outcome_clear(struct outcome *outcome) {
    g_free(outcome->out);
    g_free(outcome->err);
}

static struct outcome run_program(const char *const *arguments) {
    struct outcome outcome = {.status = -1};
    GError *error = NULL;
    GPtrArray *argv = g_ptr_array_new();
    g_ptr_array_add(argv, (void *)(g_getenv("FLITSIM") ? g_getenv("FLITSIM") : FLITSIM_BINARY));
    for (size_t i = 0; arguments[i]; i++)
        g_ptr_array_add(argv, (void *)arguments[i]);
    g_ptr_array_add(argv, NULL);
    GSubprocess *process = g_subprocess_newv((const char *const *)argv->pdata,
                                             G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    g_assert_no_error(error);
    g_subprocess_communicate_utf8(process, NULL, NULL, &outcome.out, &outcome.err, &error);
    g_assert_no_error(error);
    if (g_subprocess_get_if_exited(process))
        outcome.status = g_subprocess_get_exit_status(process);
    g_object_unref(process);
    g_ptr_array_unref(argv);
    return outcome;
}

#define RUN(...) run_program((const char *const[]){__VA_ARGS__, NULL})

/* Status 2, nothing on standard output, exactly this line on standard error. */
static void assert_at_fault(struct outcome outcome, const char *line) {
    g_autofree char *want = g_strconcat(line, "\n", NULL);
    g_assert_cmpstr(outcome.err, ==, want);
    g_assert_cmpstr(outcome.out, ==, "");
    g_assert_cmpint(outcome.status, ==, 2);
    outcome_clear(&outcome);
}

static const struct {
    const char *text, *message; /* the message without the file's name */
} faults[] = {
    {"{\n  \"noc\": {\"fifo_detph\": 8},\n  " MACHINE_MAP "}",
     ":2:11: noc.fifo_detph: unknown key, expected perhaps noc.fifo_depth"},
    {"{\n  \"noc\": {\"fifo_depth\": \"8\"},\n  " MACHINE_MAP "}",
     ":2:25: noc.fifo_depth: is \"8\", expected a whole number 1..65536 flits"},
    {"{\n  \"noc\": {\"fifo_depth\": 0},\n  " MACHINE_MAP "}",
     ":2:25: noc.fifo_depth: is 0, expected a whole number 1..65536 flits"},
    {"{\n  \"map\": [\"xxx nul xxx\",\n          \"nul mat nul\",\n          \"xxx nul xxx\"]}",
     ":2:10: map: mesh has no memory port, expected 1 to 4 on its edges"},
    {"{\n  \"mesh\": {\"columns\": 1, \"rows\": 1}, \"ports\": [{\"x\": 0, \"y\": 1}],\n  \"units\": [\n"
     "    {\"type\": \"cluster\", \"x\": 1, \"y\": 1},\n    {\"type\": \"vector\", \"x\": 1, \"y\": 1}]}",
     ":5:5: units[1]: vector stands at (1,1) where units[0] stands too, expected one thing a place"},
    {"{\n  \"clock_mhz\": 300,\n  \"clock_mhz\": 200,\n  " MACHINE_MAP "}",
     ":3:3: clock_mhz: key is given twice, expected it once"},
    {"{\n  " MACHINE_MAP ",\n}", ":2:55: (top): comma after the last key, expected none"},
    {"{\n  \"cluster\": {\"l1_a\": 1024},\n  " MACHINE_MAP "}",
     ":2:23: cluster.l1_a: build.l1_bank: 1024 entries need a third bank bit, which does not exist, expected at most "
     "512 (cluster.third_bank is false)"},
    {"{\"schema\": \"flitsim.machine/9\", " MACHINE_MAP "}",
     ":1:12: schema: is \"flitsim.machine/9\", expected \"flitsim.machine/1\""},
    {"", ":1:1: (file): is empty, expected a JSON object"},
};

/* Both commands that read a machine say the same of it. */
static void a_wrong_file_is_one_line(void) {
    g_autofree char *folder = g_dir_make_tmp("flitsim-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "m.json", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
        g_autofree char *line = g_strconcat(file, faults[i].message, NULL);
        g_assert_true(g_file_set_contents(file, faults[i].text, -1, NULL));
        assert_at_fault(RUN("check", file), line);
        assert_at_fault(RUN("describe", file), line);
        assert_at_fault(RUN("describe", "--json", file), line);
    }
    g_unlink(file);
    g_autofree char *gone =
        g_strconcat(file, ":1:1: (file): can't be opened: No such file or directory, expected a readable file", NULL);
    assert_at_fault(RUN("check", file), gone);
    assert_at_fault(RUN("describe", file), gone);
    g_rmdir(folder);
}

static void a_wrong_command_line_is_one_line(void) {
    assert_at_fault(RUN("chek"), "flitsim: unknown command 'chek', expected perhaps check");
    assert_at_fault(run_program((const char *const[]){NULL}), "flitsim: no command, expected one of `flitsim --help`");
    assert_at_fault(RUN("check"), "flitsim check: 0 arguments, expected FILE...");
    assert_at_fault(RUN("describe", "ref2", "ref4"), "flitsim describe: 2 arguments, expected MACHINE");
    assert_at_fault(RUN("describe", "--nonsense"),
                    "flitsim describe: Unknown option --nonsense, expected options of `flitsim describe --help`");
    assert_at_fault(RUN("describe", "reff2"),
                    "reff2:1:1: (file): is no file and none of the shipped machines, expected perhaps ref2");
    assert_at_fault(RUN("describe", "ref2", "--set", "noc.fifo_depth=4", "--set", "machine.noc.fifo_depth=0.1x"),
                    "--set:2:24: noc.fifo_depth: is \"0.1x\", expected a whole number 1..65536 flits");
}

/* A --set for the workload is passed over by the machine, which keeps the numbers of the others. */
static void sets_keep_their_numbers(void) {
    static char *const sets[] = {"workload.burst=1", "noc.fifo_depth=0", NULL};
    struct machine machine;
    GError *error = NULL;
    g_assert_false(config_load_machine(&machine, FLITSIM_SOURCE_DIR "/configs/machines/one.json", sets, &error));
    g_assert_cmpstr(error->message, ==, "--set:2:16: noc.fifo_depth: is 0, expected a whole number 1..65536 flits");
    g_error_free(error);
    assert_at_fault(RUN("describe", "one", "--set", "workload.burst=1"),
                    "--set:1:1: workload.burst: is a key of the workload, expected one of the machine");
}

/* One wrong file among several: its line alone, and nothing said of the others. */
static void one_wrong_file_of_several(void) {
    assert_at_fault(RUN("check", "ref2", "ref22", "one"),
                    "ref22:1:1: (file): is no file and none of the shipped machines, expected perhaps ref2");
}

static void assert_fine(struct outcome outcome, const char *part) {
    g_assert_cmpstr(outcome.err, ==, "");
    g_assert_cmpint(outcome.status, ==, 0);
    if (!strstr(outcome.out, part))
        g_error("'%s' is not in: %s", part, outcome.out);
    outcome_clear(&outcome);
}

static void right_files_are_told_of(void) {
    assert_fine(RUN("check", FLITSIM_SOURCE_DIR "/configs/machines/ref2.json", "one"),
                "ref2.json: machine ref2, 1 x 2 routers, units 2, memory ports 2\n");
    assert_fine(RUN("check", "--", "ref8"), "machine ref8, 2 x 4 routers");
    assert_fine(RUN("describe", "mesh_7x2"), "mesh_7x2: 7 x 2 routers");
    assert_fine(RUN("describe", "ref2", "--set", "noc.fifo_depth=8"), "noc.fifo_depth           8 flits  (default 32)");
    assert_fine(RUN("describe", "--schema"), "\"title\": \"flitsim.machine/1\"");
    assert_fine(RUN("--version"), "flitsim " FLITSIM_VERSION "\n");
    assert_fine(RUN("--help"), "  describe ");
    assert_fine(RUN("check", "--help"), "flitsim check [OPTION");
    assert_fine(RUN("describe", "--help"), "--set=PATH=VALUE");
}

/* The drawing of a shipped mesh, as the reference for how it should look. */
static void the_mesh_is_drawn(void) {
    assert_fine(RUN("describe", "ship_2x2_6_2"), "        0        1        2        3\n"
                                                 "   0            c0       v0\n"
                                                 "                 |        |\n"
                                                 "   1   P0   -- (c1)  -- (c2)\n"
                                                 "                 |        |\n"
                                                 "   2   P1   -- (c3)  -- (c4)\n"
                                                 "                 |        |\n"
                                                 "   3            c5       v1\n");
}

static void output_that_is_lost_is_an_error(void) {
    g_autofree char *command =
        g_strdup_printf("\"%s\" describe ref2 > /dev/full", g_getenv("FLITSIM") ? g_getenv("FLITSIM") : FLITSIM_BINARY);
    GSubprocess *process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL, "/bin/sh", "-c", command, NULL);
    g_assert_nonnull(process);
    g_assert_true(g_subprocess_wait(process, NULL, NULL));
    g_assert_cmpint(g_subprocess_get_exit_status(process), ==, 2);
    g_object_unref(process);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/a_wrong_file_is_one_line", a_wrong_file_is_one_line);
    g_test_add_func("/check/a_wrong_command_line_is_one_line", a_wrong_command_line_is_one_line);
    g_test_add_func("/check/sets_keep_their_numbers", sets_keep_their_numbers);
    g_test_add_func("/check/one_wrong_file_of_several", one_wrong_file_of_several);
    g_test_add_func("/check/right_files_are_told_of", right_files_are_told_of);
    g_test_add_func("/check/the_mesh_is_drawn", the_mesh_is_drawn);
    g_test_add_func("/check/output_that_is_lost_is_an_error", output_that_is_lost_is_an_error);
    return g_test_run();
}
