/* What the host writes: register names and fields, control-program commands. */
#include "model/isa/host.h"

#include <string.h>

#include "unit/isa_random.h"

enum {
    ROUNDS = 2000,
};

/* Bits of noc-and-memory §8.8 and §10.8 written out. */
static void test_register_bits(void) {
    uint64_t value;
    g_assert_true(mover_command_encode(
        &(struct mover_command){.mode = MOVER_FILL, .width = 2, .coalesce = 1, .burst_cap = 5, .go = 1}, &value, NULL));
    g_assert_cmphex(value, ==, 4 | 2 << 3 | 1 << 11 | 5 << 13 | 1 << 16);
    g_assert_true(mover_walker_encode(
        &(struct mover_walker){.base = UINT64_C(0xffffffffff), .ndim = 3, .xform_id = 9, .xform_mode = 6}, &value,
        NULL));
    g_assert_cmphex(value, ==, UINT64_C(0xffffffffff) << 4 | UINT64_C(3) << 44 | UINT64_C(9) << 47 | UINT64_C(6) << 55);
    g_assert_true(mover_dimension_encode(
        &(struct mover_dimension){.walker = 1, .dimension = 2, .count = 0x1234, .stride = -32}, &value, NULL));
    g_assert_cmphex(value, ==, 1 | 2 << 1 | 0x1234 << 4 | UINT64_C(0xffffffe0) << 20);
    g_assert_true(mover_axis_encode(&(struct mover_axis){.axis = 2, .step = -1}, &value, NULL));
    g_assert_cmphex(value, ==, 2 | 0xffff << 2);
    g_assert_true(
        mover_bound_encode(&(struct mover_bound){.walker = 1, .axis = 1, .start = -2, .extent = 7}, &value, NULL));
    g_assert_cmphex(value, ==, 3 | 0xfffe << 2 | 7 << 18);
    g_assert_true(mover_index_encode(&(struct mover_index){.base = 0x1000, .count = 9}, &value, NULL));
    g_assert_cmphex(value, ==, 0x1000 | UINT64_C(9) << 40);
    g_assert_true(mover_rows_encode(&(struct mover_rows){.pitch = 64, .row_words = 2}, &value, NULL));
    g_assert_cmphex(value, ==, 64 | UINT64_C(2) << 32);
    g_assert_true(interlink_control_encode(&(struct interlink_control){1, 1, 1}, &value, NULL));
    g_assert_cmphex(value, ==, 7);
    g_assert_true(interlink_doorbell_encode(&(struct interlink_doorbell){.mesh = 3, .tag = 0xab}, &value, NULL));
    g_assert_cmphex(value, ==, 3 | 0xab << 8);
    struct mover_status status;
    mover_status_decode(UINT64_C(0x000003000400055f) | UINT64_C(1) << 63, &status);
    g_assert_cmpuint(status.done, ==, 0x800003);
    g_assert_cmpuint(status.reads, ==, 4);
    g_assert_cmpuint(status.writes, ==, 5);
    g_assert_cmpuint(status.fault, ==, 5);
    g_assert_cmpuint(status.busy, ==, 1);
}

#define CHECK_REGISTER(type)                                                                                           \
    do {                                                                                                               \
        struct type fields, again;                                                                                     \
        uint64_t bits = random_bits(random, 64), first, second;                                                        \
        type##_decode(bits, &fields);                                                                                  \
        g_assert_true(type##_encode(&fields, &first, NULL));                                                           \
        g_assert_cmphex(first & ~bits, ==, 0);                                                                         \
        type##_decode(first, &again);                                                                                  \
        g_assert_true(type##_encode(&again, &second, NULL));                                                           \
        g_assert_cmphex(first, ==, second);                                                                            \
        g_assert_cmpmem(&fields, sizeof fields, &again, sizeof again);                                                 \
    } while (0);

static void test_register_round_trip(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(8);
    for (unsigned round = 0; round < ROUNDS; round++) {
        HOST_REGISTERS(CHECK_REGISTER)
    }
}

static void test_register_refusals(void) {
    GError *error = NULL;
    uint64_t value;
    for (uint64_t address = AGENT_AUX_CFG; address < AGENT_AUX_CFG + 0x100; address += 8)
        if (host_register_layout(address))
            check_refusals(host_register_layout(address));
    g_assert_false(mover_walker_encode(&(struct mover_walker){.walker = 1, .xform_id = 1}, &value, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
    g_assert_nonnull(strstr(error->message, "xform_id = 1"));
    g_error_free(error);
    error = NULL;
    g_assert_false(mover_index_encode(&(struct mover_index){.base = UINT64_C(1) << 40}, &value, &error));
    g_assert_nonnull(strstr(error->message, "field base = "));
    g_error_free(error);
}

/* Every address prints as a text that leads back to it; the named ones of noc-and-memory §5.2 by their names. */
static void test_names(void) {
    static const struct {
        uint64_t address;
        const char *name;
    } cases[] = {
        {0x0040, "PROG_DST"},        {0x0048, "PROG_LEN"},     {0x0050, "PROG_KICK"},
        {0x0060, "PROG_CRED"},       {0x0068, "PROG_BASE"},    {0x0070, "SIG_DONE"},
        {0x0078, "AUX_STAT"},        {0x0080, "AUX_STATW[0]"}, {0x0120, "TX_FLIT[4]"},
        {0x0128, "0x128"},           {0x0140, "TX_KICK"},      {0x0148, "TX_STATUS"},
        {0x01A0, "RX_FLIT[4]"},      {0x01C0, "RX_POP"},       {0x01C8, "RX_STATUS"},
        {0x0800, "MOVER_COMMAND"},   {0x0808, "AUX_CFG[1]"},   {0x0890, "INTERLINK_DOORBELL"},
        {0x1088, "NODE_STATUS[17]"}, {0x2028, "STAGE[5]"},     {0x10000, "ENGINE"},
        {0x11028, "COMMAND[5]"},     {0x0041, "0x41"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        host_register_print(cases[i].address, text);
        g_assert_cmpstr(text->str, ==, cases[i].name);
    }
    for (uint64_t address = 0; address < 0x14000; address += 4) {
        g_autoptr(GString) text = g_string_new(NULL);
        uint64_t back = UINT64_MAX;
        host_register_print(address, text);
        g_assert_true(host_register_find(text->str, &back));
        g_assert_cmphex(address, ==, back);
    }
    static const char *const wrong[] = {"",           "PROG",     "PROG_DST[0]", "TX_FLIT",
                                        "TX_FLIT[5]", "TX_FLIT[", "TX_FLIT[x]",  "[0]"};
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        uint64_t address;
        g_assert_false(host_register_find(wrong[i], &address));
    }
}

static void test_commands(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(9);
    GError *error = NULL;
    uint64_t words[CONTROL_COMMAND_WORDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct control_command command = {(uint8_t)random_bits(random, 4), random_bits(random, 64),
                                          random_bits(random, 64), random_bits(random, 64)},
                               back;
        g_assert_true(control_command_encode(&command, words, NULL));
        control_command_decode(words, &back);
        g_assert_cmpuint(command.op, ==, back.op);
        g_assert_cmphex(command.address, ==, back.address);
        g_assert_cmphex(command.data, ==, back.data);
        g_assert_cmphex(command.mask, ==, back.mask);
    }
    g_assert_false(control_command_encode(&(struct control_command){.op = 16}, words, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
    g_assert_nonnull(strstr(error->message, "field op = 16 "));
    g_error_free(error);
}

static void assert_prints(struct control_command command, const char *expected) {
    g_autoptr(GString) text = g_string_new(NULL);
    control_command_print(&command, text);
    g_assert_cmpstr(text->str, ==, expected);
}

static void test_command_print(void) {
    assert_prints((struct control_command){CONTROL_WR, 0x40, 0x11, 0}, "write PROG_DST=0x11");
    assert_prints((struct control_command){CONTROL_WR, 0x40, 0x11, 1}, "command op=1 address=0x40 data=0x11 mask=0x1");
    assert_prints((struct control_command){CONTROL_POLL, 0x70, 4, 0xffff}, "poll SIG_DONE mask=0xffff value=0x4");
    assert_prints((struct control_command){CONTROL_DONE, 0, 0x55, 0}, "done 0x55");
    assert_prints((struct control_command){7, 1, 2, 3}, "command op=7 address=0x1 data=0x2 mask=0x3");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/host_isa/register_bits", test_register_bits);
    g_test_add_func("/host_isa/register_round_trip", test_register_round_trip);
    g_test_add_func("/host_isa/register_refusals", test_register_refusals);
    g_test_add_func("/host_isa/names", test_names);
    g_test_add_func("/host_isa/commands", test_commands);
    g_test_add_func("/host_isa/command_print", test_command_print);
    return g_test_run();
}
