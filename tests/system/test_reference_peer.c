/* Transfers between clusters: every step of both sides, contents, hangs. */
#include "reference_runs.h"

enum {
    RUNS_EXPECTED = 34,
};

static void every_run_is_exact(void) {
    reference_runs_exact("peer_runs.json", RUNS_EXPECTED);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/peer/recorded/every_run_is_exact", every_run_is_exact);
    return g_test_run();
}
