/* Wire form, checked encoders and text of flits (noc-and-memory §2.1 to §2.7). */
#include "model/isa/wire.h"

#include <inttypes.h>
#include <string.h>

#define HEADER(member, low, width) ISA_FIELD(flit, member, #member, low, width, FIELD_NUMBER)

static const struct isa_field header_fields[] = {
    HEADER(dst_x, 28, 4), HEADER(dst_y, 24, 4), HEADER(src_x, 20, 4), HEADER(src_y, 16, 4),
    HEADER(type, 12, 4),  HEADER(txn, 4, 8),    HEADER(last, 3, 1),   HEADER(rsvd, 0, 3),
};
static const struct isa_layout header_layout = ISA_LAYOUT("flit header", flit, header_fields);

bool flit_header_encode(const struct flit *flit, uint32_t *header, GError **error) {
    struct word256 packed;
    if (!layout_encode(&header_layout, flit, &packed, error))
        return false;
    *header = (uint32_t)packed.w[0];
    return true;
}

void word_to_hex(const struct word256 *word, char hex[static WORD_HEX + 1]) {
    g_snprintf(hex, WORD_HEX + 1, "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, word->w[3], word->w[2],
               word->w[1], word->w[0]);
}

/* `count` hex digits, 1..16; false when one is not. */
static bool hex_digits(const char *hex, unsigned count, uint64_t *value) {
    *value = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!g_ascii_isxdigit(hex[i]))
            return false;
        *value = *value << 4 | (unsigned)g_ascii_xdigit_value(hex[i]);
    }
    return true;
}

static bool scan_word(const char *hex, struct word256 *word) {
    for (unsigned lane = 0; lane < 4; lane++)
        if (!hex_digits(hex + 16 * lane, 16, &word->w[3 - lane]))
            return false;
    return true;
}

bool word_from_hex(const char *hex, struct word256 *word, GError **error) {
    if (strlen(hex) == WORD_HEX && scan_word(hex, word))
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "'%s' is not a word, expected 64 hexadecimal digits", hex);
    return false;
}

bool flit_to_hex(const struct flit *flit, char hex[static FLIT_HEX + 1], GError **error) {
    uint32_t header;
    if (!flit_header_encode(flit, &header, error))
        return false;
    g_snprintf(hex, 9, "%08" PRIx32, header);
    word_to_hex(&flit->payload, hex + 8);
    return true;
}

bool flit_from_hex(const char *hex, struct flit *flit, GError **error) {
    uint64_t header;
    if (strlen(hex) != FLIT_HEX || !hex_digits(hex, 8, &header) || !scan_word(hex + 8, &flit->payload)) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "'%s' is not a flit, expected 72 hexadecimal digits", hex);
        return false;
    }
    flit_header_decode((uint32_t)header, flit);
    return true;
}

static const char *const type_names[FLIT_TYPES] = {
    "MEM_RD_REQ", "MEM_WR_REQ", "MEM_RD_RESP", "MEM_WR_ACK", "MEM_WR_DATA", "CU_INST", "CU_SIGNAL", "CU_CTRL",
    "CU_DATA",    "TYPE9",      "TYPE10",      "TYPE11",     "TYPE12",      "TYPE13",  "TYPE14",    "ERROR",
};

const char *flit_type_name(unsigned type) {
    return type_names[type % FLIT_TYPES];
}

int flit_type_find(const char *name) {
    for (unsigned i = 0; i < FLIT_TYPES; i++)
        if (strcmp(type_names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *signal_code_name(unsigned code) {
    static const char *const names[] = {"INST_COMPLETE", "BATCH_COMPLETE", "BARRIER_REACHED", "DATA_RECEIVED", "FAULT"};
    return code < G_N_ELEMENTS(names) ? names[code] : NULL;
}

#define ROW(type, member, low, width, kind) ISA_FIELD(type, member, #member, low, width, kind)

static const struct isa_field mem_request_fields[] = {
    ROW(mem_request, addr, 216, 40, FIELD_HEX),
    ROW(mem_request, len, 208, 8, FIELD_NUMBER),
    ROW(mem_request, flags, 200, 8, FIELD_HEX),
    ROW(mem_request, count, 192, 8, FIELD_NUMBER),
    ISA_FIELD(mem_request, peer[0], "peer1", 168, 8, FIELD_PEER),
    ISA_FIELD(mem_request, peer[1], "peer2", 176, 8, FIELD_PEER),
    ISA_FIELD(mem_request, peer[2], "peer3", 184, 8, FIELD_PEER),
    ROW(mem_request, n_peer, 166, 2, FIELD_PEERS),
    ROW(mem_request, entry_words, 158, 8, FIELD_NUMBER),
};
static const struct isa_field signal_payload_fields[] = {
    ROW(signal_payload, code, 248, 8, FIELD_NUMBER),
    ROW(signal_payload, arg, 216, 32, FIELD_HEX),
};
static const struct isa_field ctrl_payload_fields[] = {
    ROW(ctrl_payload, op, 248, 8, FIELD_NUMBER),
    ROW(ctrl_payload, index, 240, 8, FIELD_HEX),
    ROW(ctrl_payload, value, 176, 64, FIELD_HEX),
};
static const struct isa_field data_descriptor_fields[] = {
    ROW(data_descriptor, buf_id, 248, 8, FIELD_NUMBER), ROW(data_descriptor, offset, 232, 16, FIELD_NUMBER),
    ROW(data_descriptor, len, 224, 8, FIELD_NUMBER),    ROW(data_descriptor, flags, 216, 8, FIELD_HEX),
    ROW(data_descriptor, ack_x, 208, 4, FIELD_X),       ROW(data_descriptor, ack_y, 212, 4, FIELD_Y),
};

const struct isa_layout mem_request_layout = ISA_LAYOUT("memory request", mem_request, mem_request_fields);
const struct isa_layout signal_payload_layout = ISA_LAYOUT("signal", signal_payload, signal_payload_fields);
const struct isa_layout ctrl_payload_layout = ISA_LAYOUT("control request", ctrl_payload, ctrl_payload_fields);
const struct isa_layout data_descriptor_layout = ISA_LAYOUT("data descriptor", data_descriptor, data_descriptor_fields);

bool mem_request_encode(const struct mem_request *request, struct word256 *payload, GError **error) {
    return layout_encode(&mem_request_layout, request, payload, error);
}

bool signal_payload_encode(const struct signal_payload *signal, struct word256 *payload, GError **error) {
    return layout_encode(&signal_payload_layout, signal, payload, error);
}

bool ctrl_payload_encode(const struct ctrl_payload *ctrl, struct word256 *payload, GError **error) {
    return layout_encode(&ctrl_payload_layout, ctrl, payload, error);
}

bool data_descriptor_encode(const struct data_descriptor *descriptor, struct word256 *payload, GError **error) {
    return layout_encode(&data_descriptor_layout, descriptor, payload, error);
}

void mem_request_print(const struct mem_request *request, GString *out) {
    layout_print(&mem_request_layout, request, &(struct mem_request){0}, out);
}

void signal_payload_print(const struct signal_payload *signal, GString *out) {
    layout_print(&signal_payload_layout, signal, &(struct signal_payload){0}, out);
}

void ctrl_payload_print(const struct ctrl_payload *ctrl, GString *out) {
    layout_print(&ctrl_payload_layout, ctrl, &(struct ctrl_payload){0}, out);
}

void data_descriptor_print(const struct data_descriptor *descriptor, GString *out) {
    layout_print(&data_descriptor_layout, descriptor, &(struct data_descriptor){0}, out);
}

static void print_payload(const struct word256 *payload, GString *out) {
    char hex[WORD_HEX + 1];
    word_to_hex(payload, hex);
    g_string_append_printf(out, " payload=0x%s", hex);
}

static void print_signal(const struct word256 *payload, GString *out) {
    struct signal_payload signal;
    signal_payload_decode(payload, &signal);
    const char *name = signal_code_name(signal.code);
    if (name)
        g_string_append_printf(out, " code=%s arg=0x%" PRIx32, name, signal.arg);
    else
        g_string_append_printf(out, " code=0x%02x arg=0x%" PRIx32, signal.code, signal.arg);
}

/* A burst's first flit and its data look alike; only the last data flit has `last` set, so a flit without it is shown
 * both ways. */
static void print_data(const struct flit *flit, GString *out) {
    struct data_descriptor descriptor;
    if (!flit->last) {
        data_descriptor_decode(&flit->payload, &descriptor);
        g_string_append(out, " if-descriptor:");
        data_descriptor_print(&descriptor, out);
    }
    print_payload(&flit->payload, out);
}

void flit_print(const struct flit *flit, GString *out) {
    struct mem_request request;
    struct ctrl_payload ctrl;
    g_string_append_printf(out, "(%u,%u)->(%u,%u) %s txn=%u", flit->src_x, flit->src_y, flit->dst_x, flit->dst_y,
                           flit_type_name(flit->type), flit->txn);
    if (flit->last)
        g_string_append(out, " last");
    if (flit->rsvd)
        g_string_append_printf(out, " rsvd=%u", flit->rsvd);
    switch (flit->type) {
    case FLIT_MEM_RD_REQ:
    case FLIT_MEM_WR_REQ:
        mem_request_decode(&flit->payload, &request);
        mem_request_print(&request, out);
        break;
    case FLIT_CU_SIGNAL:
        print_signal(&flit->payload, out);
        break;
    case FLIT_CU_CTRL:
        ctrl_payload_decode(&flit->payload, &ctrl);
        ctrl_payload_print(&ctrl, out);
        break;
    case FLIT_CU_DATA:
        print_data(flit, out);
        break;
    default:
        print_payload(&flit->payload, out);
    }
}
