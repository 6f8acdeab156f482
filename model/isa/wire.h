/* Flits on the wire: the 288 bits (noc-and-memory §2.1) and the payload layouts of §2.6.
 *
 * Every layout has three faces. X_decode and X_pack are inline and unchecked, for the simulator, which handles one per
 * flit; X_encode checks that every field fits; the isa_layout gives text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "model/flit.h"
#include "model/isa/field.h"
#include "model/word.h"

enum {
    WORD_HEX = 64,
    FLIT_HEX = 72,
};

/* Bits of the 32-bit header, the flit's 287:256 (§2.1). FS_ERROR_RANGE naming the field when a coordinate exceeds 15 or
 * another field its width: a mesh larger than the hardware's has no wire form. */
bool flit_header_encode(const struct flit *flit, uint32_t *header, GError **error);

/* Fills every field of the flit but next_free and offered. */
static inline void flit_header_decode(uint32_t header, struct flit *flit) {
    flit->dst_x = header >> 28 & 15;
    flit->dst_y = header >> 24 & 15;
    flit->src_x = header >> 20 & 15;
    flit->src_y = header >> 16 & 15;
    flit->type = header >> 12 & 15;
    flit->txn = header >> 4 & 255;
    flit->last = header >> 3 & 1;
    flit->rsvd = header & 7;
}

/* 64 hex digits, most significant first, and a NUL. */
void word_to_hex(const struct word256 *word, char hex[static WORD_HEX + 1]);
/* Exactly 64 hex digits. FS_ERROR_INPUT otherwise. */
bool word_from_hex(const char *hex, struct word256 *word, GError **error);
/* 72 hex digits, most significant first, and a NUL; FS_ERROR_RANGE as flit_header_encode. */
bool flit_to_hex(const struct flit *flit, char hex[static FLIT_HEX + 1], GError **error);
/* Exactly 72 hex digits into header fields and payload. FS_ERROR_INPUT otherwise. */
bool flit_from_hex(const char *hex, struct flit *flit, GError **error);

/* "MEM_RD_REQ" .. ; "TYPE9" .. "TYPE14" for the unallocated codes. */
const char *flit_type_name(unsigned type);
/* -1 when no such name. */
int flit_type_find(const char *name);
/* "INST_COMPLETE" ..; NULL for codes without a name (§2.7). */
const char *signal_code_name(unsigned code);
/* Appends one line without newline: route, type, txn, last, rsvd and the payload read by its type. */
void flit_print(const struct flit *flit, GString *out);

/* MEM_RD_REQ and MEM_WR_REQ. */
struct mem_request {
    uint64_t addr;       /* byte address, 40 bits */
    uint8_t len;         /* beats minus one */
    uint8_t flags;       /* bit 6 MEM_FLAG_STREAM */
    uint8_t count;       /* entries; 0 counts as 1 */
    uint8_t peer[3];     /* node bytes {y,x}; peer[0] is peer1 of §2.6, used first */
    uint8_t n_peer;      /* 0..3 */
    uint8_t entry_words; /* 0 or more than 4 counts as 4 */
};

enum {
    MEM_FLAG_STREAM = 0x40,
};

struct signal_payload {
    uint8_t code; /* enum signal_code or unit-defined */
    uint32_t arg;
};

/* CU_CTRL request, and reply with op = 2. */
struct ctrl_payload {
    uint8_t op; /* enum ctrl_op */
    uint8_t index;
    uint64_t value;
};

enum ctrl_op {
    CTRL_READ = 0,
    CTRL_WRITE = 1,
    CTRL_REPLY = 2,
};

/* First flit of a CU_DATA burst. */
struct data_descriptor {
    uint8_t buf_id;
    uint16_t offset;      /* 32-byte granules */
    uint8_t len;          /* data flits minus one */
    uint8_t flags;        /* bit 0 DATA_FLAG_ACK */
    uint8_t ack_x, ack_y; /* 4 bits each; both 0: back to the source */
};

enum {
    DATA_FLAG_ACK = 1,
};

extern const struct isa_layout mem_request_layout, signal_payload_layout, ctrl_payload_layout, data_descriptor_layout;

/* FS_ERROR_RANGE naming the field that does not fit. */
bool mem_request_encode(const struct mem_request *request, struct word256 *payload, GError **error);
bool signal_payload_encode(const struct signal_payload *signal, struct word256 *payload, GError **error);
bool ctrl_payload_encode(const struct ctrl_payload *ctrl, struct word256 *payload, GError **error);
bool data_descriptor_encode(const struct data_descriptor *descriptor, struct word256 *payload, GError **error);

/* Append " name=value" for every field that is not 0. */
void mem_request_print(const struct mem_request *request, GString *out);
void signal_payload_print(const struct signal_payload *signal, GString *out);
void ctrl_payload_print(const struct ctrl_payload *ctrl, GString *out);
void data_descriptor_print(const struct data_descriptor *descriptor, GString *out);

static inline void mem_request_decode(const struct word256 *payload, struct mem_request *request) {
    uint64_t top = payload->w[3], next = payload->w[2];
    *request = (struct mem_request){
        .addr = top >> 24,
        .len = (uint8_t)(top >> 16),
        .flags = (uint8_t)(top >> 8),
        .count = (uint8_t)top,
        .peer = {(uint8_t)(next >> 40), (uint8_t)(next >> 48), (uint8_t)(next >> 56)},
        .n_peer = next >> 38 & 3,
        .entry_words = (uint8_t)(next >> 30),
    };
}

/* Fields must fit their widths. */
static inline void mem_request_pack(const struct mem_request *request, struct word256 *payload) {
    *payload = (struct word256){{
        [3] = request->addr << 24 | (uint64_t)request->len << 16 | (uint64_t)request->flags << 8 | request->count,
        [2] = (uint64_t)request->peer[2] << 56 | (uint64_t)request->peer[1] << 48 | (uint64_t)request->peer[0] << 40 |
              (uint64_t)request->n_peer << 38 | (uint64_t)request->entry_words << 30,
    }};
}

static inline void signal_payload_decode(const struct word256 *payload, struct signal_payload *signal) {
    *signal = (struct signal_payload){.code = (uint8_t)(payload->w[3] >> 56), .arg = (uint32_t)(payload->w[3] >> 24)};
}

static inline void signal_payload_pack(const struct signal_payload *signal, struct word256 *payload) {
    *payload = (struct word256){{[3] = (uint64_t)signal->code << 56 | (uint64_t)signal->arg << 24}};
}

static inline void ctrl_payload_decode(const struct word256 *payload, struct ctrl_payload *ctrl) {
    *ctrl = (struct ctrl_payload){
        .op = (uint8_t)(payload->w[3] >> 56),
        .index = (uint8_t)(payload->w[3] >> 48),
        .value = payload->w[3] << 16 | payload->w[2] >> 48,
    };
}

static inline void ctrl_payload_pack(const struct ctrl_payload *ctrl, struct word256 *payload) {
    *payload = (struct word256){{
        [3] = (uint64_t)ctrl->op << 56 | (uint64_t)ctrl->index << 48 | ctrl->value >> 16,
        [2] = ctrl->value << 48,
    }};
}

static inline void data_descriptor_decode(const struct word256 *payload, struct data_descriptor *descriptor) {
    uint64_t top = payload->w[3];
    *descriptor = (struct data_descriptor){
        .buf_id = (uint8_t)(top >> 56),
        .offset = (uint16_t)(top >> 40),
        .len = (uint8_t)(top >> 32),
        .flags = (uint8_t)(top >> 24),
        .ack_y = top >> 20 & 15,
        .ack_x = top >> 16 & 15,
    };
}

/* Fields must fit their widths. */
static inline void data_descriptor_pack(const struct data_descriptor *descriptor, struct word256 *payload) {
    *payload = (struct word256){{
        [3] = (uint64_t)descriptor->buf_id << 56 | (uint64_t)descriptor->offset << 40 |
              (uint64_t)descriptor->len << 32 | (uint64_t)descriptor->flags << 24 | (uint64_t)descriptor->ack_y << 20 |
              (uint64_t)descriptor->ack_x << 16,
    }};
}
