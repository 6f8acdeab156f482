/* Control programs: the engine, the dispatch agent, credit, mailbox, the mover through the window. */
#include "reference_runs.h"

enum {
    RUNS_EXPECTED = 29,
};

static void every_run_is_exact(void) {
    reference_runs_exact("control_runs.json", RUNS_EXPECTED);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/control/recorded/every_run_is_exact", every_run_is_exact);
    return g_test_run();
}
