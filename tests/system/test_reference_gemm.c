/* Complete GEMM runs: cycles, counters and answers. */
#include "reference_runs.h"

enum {
    RUNS_EXPECTED = 70,
};

static void every_run_is_exact(void) {
    reference_runs_exact("runs.json", RUNS_EXPECTED);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/gemm/recorded/every_run_is_exact", every_run_is_exact);
    return g_test_run();
}
