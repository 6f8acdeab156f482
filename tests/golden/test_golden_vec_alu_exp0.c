/* vec_alu_exp0.txt: the same opcodes on zeros that carry a fraction, which only immediates can make. */
#include "golden/golden_vec.h"

static void results_match(void) {
    golden_vec_file("vec_alu_exp0.txt");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/golden/vec_alu_exp0/results_match", results_match);
    return g_test_run();
}
