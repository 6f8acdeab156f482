/* vec_alu.txt: every arithmetic opcode of the vector lane. */
#include "golden/golden_vec.h"

static void results_match(void) {
    golden_vec_file("vec_alu.txt");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/vec_alu/results_match", results_match);
    return g_test_run();
}
