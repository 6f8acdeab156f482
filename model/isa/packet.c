/* Mnemonics of packets; see packet.h. */
#include "model/isa/packet.h"

#include <string.h>

#include "model/isa/wire.h"

static const struct packet {
    const char *mnemonic;
    uint8_t type;
    const struct isa_layout *layout;
} packets[] = {
    {"rdreq", FLIT_MEM_RD_REQ, &mem_request_layout},    {"wrreq", FLIT_MEM_WR_REQ, &mem_request_layout},
    {"signal", FLIT_CU_SIGNAL, &signal_payload_layout}, {"ctrl", FLIT_CU_CTRL, &ctrl_payload_layout},
    {"data", FLIT_CU_DATA, &data_descriptor_layout},
};

static const struct packet *by_type(uint8_t type) {
    for (unsigned i = 0; i < G_N_ELEMENTS(packets); i++)
        if (packets[i].type == type)
            return &packets[i];
    return NULL;
}

const struct isa_layout *packet_find(const char *mnemonic, uint8_t *type) {
    for (unsigned i = 0; i < G_N_ELEMENTS(packets); i++)
        if (strcmp(packets[i].mnemonic, mnemonic) == 0) {
            *type = packets[i].type;
            return packets[i].layout;
        }
    return NULL;
}

bool packet_exact(uint8_t type, const struct word256 *payload) {
    _Alignas(uint64_t) char object[ISA_LAYOUT_MAX_BYTES] = {0};
    struct word256 again;
    const struct packet *packet = by_type(type);
    if (!packet)
        return false;
    layout_decode(packet->layout, payload, object);
    return layout_encode(packet->layout, object, &again, NULL) && memcmp(&again, payload, sizeof again) == 0;
}

void packet_print(uint8_t type, const struct word256 *payload, GString *out) {
    _Alignas(uint64_t) char object[ISA_LAYOUT_MAX_BYTES] = {0}, zero[ISA_LAYOUT_MAX_BYTES] = {0};
    const struct packet *packet = by_type(type);
    layout_decode(packet->layout, payload, object);
    g_string_append(out, packet->mnemonic);
    layout_print(packet->layout, object, zero, out);
}
