/* Claims about the instruction encoding: I04, I05, I06. */
#include "model/isa/cluster.h"
#include "unit/isa_random.h"

/* One 256-bit payload, opcode in the top four bits, no field's place depends on the opcode. */
static void test_claim_I04(void) {
    for (unsigned i = 0; i < cluster_layout.count; i++) {
        const struct isa_field *field = &cluster_layout.fields[i];
        struct word256 first = {{0}};
        for (unsigned op = 0; op < 16; op++) {
            struct cluster_inst inst = {0};
            struct word256 payload;
            field_store(field, &inst, bit_mask(field->width + field->high_width));
            inst.op = (uint8_t)op;
            g_assert_true(cluster_inst_encode(&inst, &payload, NULL));
            g_assert_cmphex(payload.w[3] >> 60, ==, op);
            payload.w[3] &= bit_mask(60);
            if (op == 0)
                first = payload;
            g_assert_cmpmem(&payload, sizeof payload, &first, sizeof first);
        }
    }
}

/* The entry count is 16 bits: 512 encodes as 512, not 0. */
static void test_claim_I05(void) {
    struct cluster_inst inst = {.op = CLUSTER_DRAIN, .n = 512}, back;
    struct word256 payload;
    g_assert_true(cluster_inst_encode(&inst, &payload, NULL));
    g_assert_cmpuint(word_get(&payload, 202, 16), ==, 512);
    cluster_inst_decode(&payload, &back);
    g_assert_cmpuint(back.n, ==, 512);
}

/* A value that does not fit its field is refused, and the error says which; nothing shifts a neighbour. */
static void test_claim_I06(void) {
    check_refusals(&cluster_layout);
    struct cluster_inst inst = {.op = CLUSTER_FILL, .addr = UINT64_C(1) << 40};
    struct word256 payload;
    GError *error = NULL;
    g_assert_false(cluster_inst_encode(&inst, &payload, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
    g_assert_cmpstr(error->message, ==,
                    "cluster instruction: field addr = 1099511627776 does not fit in 40 bits (0..1099511627775)");
    g_error_free(error);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claim_I04", test_claim_I04);
    g_test_add_func("/claim_I05", test_claim_I05);
    g_test_add_func("/claim_I06", test_claim_I06);
    return g_test_run();
}
