/* Wire form and payload layouts of flits: recorded flits, round trips, refusals, and that the fast and the checked
 * encoders agree. */
#include "model/isa/wire.h"

#include <string.h>

#include "unit/isa_random.h"

enum {
    ROUNDS = 2000,
};

static void read_flit(const char *hex, struct flit *flit) {
    GError *error = NULL;
    memset(flit, 0, sizeof *flit);
    flit_from_hex(hex, flit, &error);
    g_assert_no_error(error);
}

/* A descriptor and a signal as recorded at the local links of a unit-to-unit run. */
static void test_recorded(void) {
    struct flit flit;
    struct data_descriptor descriptor;
    struct signal_payload signal;
    char hex[FLIT_HEX + 1];
    const char *burst = "211180200200000101100000000000000000000000000000000000000000000000000000";
    read_flit(burst, &flit);
    g_assert_cmpuint(flit.dst_x, ==, 2);
    g_assert_cmpuint(flit.dst_y, ==, 1);
    g_assert_cmpuint(flit.src_x, ==, 1);
    g_assert_cmpuint(flit.src_y, ==, 1);
    g_assert_cmpuint(flit.type, ==, FLIT_CU_DATA);
    g_assert_cmpuint(flit.txn, ==, 2);
    g_assert_cmpuint(flit.last, ==, 0);
    data_descriptor_decode(&flit.payload, &descriptor);
    g_assert_cmpuint(descriptor.buf_id, ==, 2);
    g_assert_cmpuint(descriptor.offset, ==, 0);
    g_assert_cmpuint(descriptor.len, ==, 1);
    g_assert_cmpuint(descriptor.flags, ==, DATA_FLAG_ACK);
    g_assert_cmpuint(descriptor.ack_x, ==, 0);
    g_assert_cmpuint(descriptor.ack_y, ==, 1);
    g_assert_true(flit_to_hex(&flit, hex, NULL));
    g_assert_cmpstr(hex, ==, burst);
    read_flit("012160280300000002000000000000000000000000000000000000000000000000000000", &flit);
    g_assert_cmpuint(flit.dst_y, ==, 1);
    g_assert_cmpuint(flit.src_x, ==, 2);
    g_assert_cmpuint(flit.type, ==, FLIT_CU_SIGNAL);
    g_assert_cmpuint(flit.txn, ==, 2);
    g_assert_cmpuint(flit.last, ==, 1);
    signal_payload_decode(&flit.payload, &signal);
    g_assert_cmpuint(signal.code, ==, SIGNAL_DATA_RECEIVED);
    g_assert_cmphex(signal.arg, ==, 2);
}

static void test_header_round_trip(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(6);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct flit flit = {0}, back;
        uint32_t header = g_rand_int(random), again;
        char hex[FLIT_HEX + 1];
        flit_header_decode(header, &flit);
        flit.payload = random_word(random);
        g_assert_true(flit_header_encode(&flit, &again, NULL));
        g_assert_cmphex(header, ==, again);
        g_assert_true(flit_to_hex(&flit, hex, NULL));
        read_flit(hex, &back);
        g_assert_true(flit_header_encode(&back, &again, NULL));
        g_assert_cmphex(header, ==, again);
        g_assert_cmpmem(&flit.payload, sizeof flit.payload, &back.payload, sizeof back.payload);
    }
}

/* A bare mesh may be larger than the header can say; then there is no wire form. */
static void test_header_refusals(void) {
    static const struct {
        struct flit flit;
        const char *field;
    } cases[] = {
        {{.dst_x = 16}, "dst_x = 16"}, {{.dst_y = 20}, "dst_y = 20"}, {{.src_x = 300}, "src_x = 300"},
        {{.src_y = 16}, "src_y = 16"}, {{.type = 16}, "type = 16"},   {{.last = 2}, "last = 2"},
        {{.rsvd = 8}, "rsvd = 8"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint32_t header;
        char hex[FLIT_HEX + 1];
        GError *error = NULL;
        g_assert_false(flit_header_encode(&cases[i].flit, &header, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
        g_assert_nonnull(strstr(error->message, cases[i].field));
        g_error_free(error);
        g_assert_false(flit_to_hex(&cases[i].flit, hex, NULL));
    }
}

static void test_bad_hex(void) {
    struct flit flit;
    struct word256 word;
    GError *error = NULL;
    g_assert_false(flit_from_hex("12", &flit, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    g_clear_error(&error);
    g_assert_false(
        flit_from_hex("21118020020000010110000000000000000000000000000000000000000000000000000g", &flit, NULL));
    g_assert_false(word_from_hex("1000000000008000000028000000000000000000000000000000000000000000 ", &word, &error));
    g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    g_clear_error(&error);
}

/* For random contents of every field: checked encoder = unchecked packer, and the inline decoder = the table. */
#define CHECK_PAYLOAD(type, random)                                                                                    \
    do {                                                                                                               \
        struct type fields, back, table;                                                                               \
        struct word256 checked, packed;                                                                                \
        random_fields(random, &type##_layout, &fields);                                                                \
        g_assert_true(type##_encode(&fields, &checked, NULL));                                                         \
        type##_pack(&fields, &packed);                                                                                 \
        g_assert_cmpmem(&checked, sizeof checked, &packed, sizeof packed);                                             \
        type##_decode(&packed, &back);                                                                                 \
        memset(&table, 0, sizeof table);                                                                               \
        layout_decode(&type##_layout, &packed, &table);                                                                \
        for (unsigned f = 0; f < type##_layout.count; f++) {                                                           \
            const struct isa_field *field = &type##_layout.fields[f];                                                  \
            g_assert_cmphex(field_load(field, &fields), ==, field_load(field, &back));                                 \
            g_assert_cmphex(field_load(field, &fields), ==, field_load(field, &table));                                \
        }                                                                                                              \
    } while (0)

static void test_payload_round_trip(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    for (unsigned round = 0; round < ROUNDS; round++) {
        CHECK_PAYLOAD(mem_request, random);
        CHECK_PAYLOAD(signal_payload, random);
        CHECK_PAYLOAD(ctrl_payload, random);
        CHECK_PAYLOAD(data_descriptor, random);
    }
}

static void test_payload_refusals(void) {
    check_refusals(&mem_request_layout);
    check_refusals(&signal_payload_layout);
    check_refusals(&ctrl_payload_layout);
    check_refusals(&data_descriptor_layout);
}

/* Bits of noc-and-memory §2.6 written out. */
static void test_payload_places(void) {
    struct word256 payload;
    g_assert_true(mem_request_encode(&(struct mem_request){.addr = UINT64_C(0x8123456789),
                                                           .len = 0xab,
                                                           .flags = 0x40,
                                                           .count = 0xcd,
                                                           .peer = {0x11, 0x22, 0x33},
                                                           .n_peer = 2,
                                                           .entry_words = 4},
                                     &payload, NULL));
    g_assert_cmphex(word_get(&payload, 216, 40), ==, UINT64_C(0x8123456789));
    g_assert_cmphex(word_get(&payload, 208, 8), ==, 0xab);
    g_assert_cmphex(word_get(&payload, 200, 8), ==, 0x40);
    g_assert_cmphex(word_get(&payload, 192, 8), ==, 0xcd);
    g_assert_cmphex(word_get(&payload, 168, 24), ==, 0x332211);
    g_assert_cmphex(word_get(&payload, 166, 2), ==, 2);
    g_assert_cmphex(word_get(&payload, 158, 8), ==, 4);
    g_assert_true(ctrl_payload_encode(
        &(struct ctrl_payload){.op = 1, .index = 0xE1, .value = UINT64_C(0x0123456789abcdef)}, &payload, NULL));
    g_assert_cmphex(payload.w[3], ==, UINT64_C(0x01e10123456789ab));
    g_assert_cmphex(payload.w[2], ==, UINT64_C(0xcdef000000000000));
}

static void assert_prints(const struct flit *flit, const char *expected) {
    g_autoptr(GString) text = g_string_new(NULL);
    flit_print(flit, text);
    g_assert_cmpstr(text->str, ==, expected);
}

static void test_print(void) {
    struct flit flit = {.dst_x = 0, .dst_y = 1, .src_x = 2, .src_y = 1, .type = FLIT_MEM_RD_REQ, .txn = 3, .last = 1};
    mem_request_pack(
        &(struct mem_request){
            .addr = 0x2000, .flags = MEM_FLAG_STREAM, .count = 32, .peer = {0x12}, .n_peer = 1, .entry_words = 4},
        &flit.payload);
    assert_prints(&flit,
                  "(2,1)->(0,1) MEM_RD_REQ txn=3 last addr=0x2000 flags=0x40 count=32 peers=(2,1) entry_words=4");
    flit.type = FLIT_CU_SIGNAL;
    signal_payload_pack(&(struct signal_payload){.code = SIGNAL_BATCH_COMPLETE, .arg = 3}, &flit.payload);
    assert_prints(&flit, "(2,1)->(0,1) CU_SIGNAL txn=3 last code=BATCH_COMPLETE arg=0x3");
    signal_payload_pack(&(struct signal_payload){.code = 0x40}, &flit.payload);
    assert_prints(&flit, "(2,1)->(0,1) CU_SIGNAL txn=3 last code=0x40 arg=0x0");
    flit.type = FLIT_CU_CTRL;
    ctrl_payload_pack(&(struct ctrl_payload){.op = CTRL_REPLY, .index = 3, .value = 18}, &flit.payload);
    assert_prints(&flit, "(2,1)->(0,1) CU_CTRL txn=3 last op=2 index=0x3 value=0x12");
    flit = (struct flit){.dst_x = 1, .dst_y = 1, .type = 0x9, .rsvd = 5};
    assert_prints(&flit, "(0,0)->(1,1) TYPE9 txn=0 rsvd=5 "
                         "payload=0x0000000000000000000000000000000000000000000000000000000000000000");
    for (unsigned type = 0; type < FLIT_TYPES; type++)
        g_assert_cmpint(flit_type_find(flit_type_name(type)), ==, (int)type);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/recorded", test_recorded);
    g_test_add_func("/wire/header_round_trip", test_header_round_trip);
    g_test_add_func("/wire/header_refusals", test_header_refusals);
    g_test_add_func("/wire/bad_hex", test_bad_hex);
    g_test_add_func("/wire/payload_round_trip", test_payload_round_trip);
    g_test_add_func("/wire/payload_refusals", test_payload_refusals);
    g_test_add_func("/wire/payload_places", test_payload_places);
    g_test_add_func("/wire/print", test_print);
    return g_test_run();
}
