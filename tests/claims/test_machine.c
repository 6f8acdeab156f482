/* Claims about the machine as it is built. */
#include "machine_text.h"

/* A third bank bit does not exist: a deeper L1 is reported when the machine is built, not dropped. */
static void claim_I32(void) {
    static const struct {
        const char *set, *message;
    } rows[] = {
        {"cluster.l1_a=1024", "--set:1:14: cluster.l1_a: build.l1_bank: 1024 entries need a third bank bit, which does "
                              "not exist, expected at "
                              "most 512 (cluster.third_bank is false)"},
        {"cluster.l1_b=1024", "--set:1:14: cluster.l1_b: build.l1_bank: 1024 entries need a third bank bit, which does "
                              "not exist, expected at "
                              "most 512 (cluster.third_bank is false)"},
        {"cluster.l1_a=513", "--set:1:14: cluster.l1_a: build.l1_bank: 513 entries need a third bank bit, which does "
                             "not exist, expected at "
                             "most 512 (cluster.third_bank is false)"},
    };
    struct machine machine;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_refused(MACHINE_TEXT("\"name\": \"t\""), rows[i].set, rows[i].message);
    assert_machine(&machine, MACHINE_TEXT("\"cluster\": {\"l1_a\": 512, \"l1_b\": 512}"), NULL);
    g_assert_cmpuint(machine.cluster.l1_a, ==, 512);
    machine_clear(&machine);
    assert_machine(&machine, MACHINE_TEXT("\"cluster\": {\"l1_a\": 1024, \"third_bank\": true}"), NULL);
    g_assert_cmpuint(machine.cluster.l1_a, ==, 1024); /* the what-if grants what it was asked for */
    machine_clear(&machine);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I32", claim_I32);
    return g_test_run();
}
