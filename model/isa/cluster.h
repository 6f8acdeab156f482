/* The cluster instruction: one 256-bit payload, every field in the same place for every opcode (compute-units §2.1). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/error.h"
#include "model/isa/field.h"
#include "model/word.h"

enum cluster_op {
    CLUSTER_NOP = 0, /* 0 and 4..15 retire without effect (§2.3) */
    CLUSTER_FILL = 1,
    CLUSTER_GEMM = 2,
    CLUSTER_DRAIN = 3,
};

/* Field names and widths are those of the table in compute-units §2.1. */
struct cluster_inst {
    uint8_t op;    /* 4 bits */
    uint64_t addr; /* 40 bits: [33:0] and [39:34] are two fields of the payload */
    uint16_t n;
    uint8_t sel; /* 0 A side, 1 B side */
    uint8_t acc;
    uint8_t gm, gn, nk;
    uint8_t anchor;
    uint8_t peer[3]; /* node bytes {y,x}; peer[0] is first */
    uint8_t npeer;   /* 2 bits */
    uint8_t preq;
    uint8_t eoff, aoff, boff;
    uint8_t emit, fuse;
    uint8_t abank, bbank, fbank; /* the second bit of each, 61, 60, 59, is a what-if (cluster.third_bank) */
    uint8_t fwd;                 /* what-if (cluster.forward, compute-units §10.3) */
    uint8_t dnode;
    uint8_t dst_x, dst_y; /* 4 bits each */
    uint8_t dbuf, dflags;
    uint8_t dack_x, dack_y; /* 4 bits each */
    uint8_t dmesh;          /* 2 bits */
    uint8_t dfin;
};

enum {
    CLUSTER_ANCHOR = 40, /* cancels the bias of both scales (compute-units §2.1) */
};

/* Packs the fields; FS_ERROR_RANGE naming the field when a value does not fit its width. */
bool cluster_inst_encode(const struct cluster_inst *inst, struct word256 *payload, GError **error);
/* Unpacks every field, whatever the opcode. Never fails: the hardware executes any bits. */
void cluster_inst_decode(const struct word256 *payload, struct cluster_inst *inst);

/* The one table of fields behind encode, decode, print and parse. */
extern const struct isa_layout cluster_layout;

/* "fill", "gemm", "drain"; "nop" for every other opcode. */
const char *cluster_op_name(unsigned op);
/* What a text line of this opcode starts from: everything zero, but the anchor of a fill, gemm or drain 40. */
struct cluster_inst cluster_inst_default(unsigned op);
/* Appends the canonical text, e.g. "fill addr=0x2000 n=32 sel=b": fields that differ from the default of the opcode. */
void cluster_inst_print(const struct cluster_inst *inst, GString *out);
