/* Four meshes in a line: every beat of every link, injected flits, remote writes, doorbells, faults, status words. */
#include "reference_runs.h"

enum {
    RUNS_EXPECTED = 40,
};

static void every_run_is_exact(void) {
    reference_runs_exact("interlink_runs.json", RUNS_EXPECTED);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/interlink/recorded/every_run_is_exact", every_run_is_exact);
    return g_test_run();
}
