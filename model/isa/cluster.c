/* The cluster instruction's bit table (compute-units §2.1). */
#include "model/isa/cluster.h"

#define ROW(member, low, width, kind) ISA_FIELD(cluster_inst, member, #member, low, width, kind)

/* In the order in which text shows them. The bits of every row are the same for every opcode. */
static const struct isa_field cluster_fields[] = {
    ROW(op, 252, 4, FIELD_NUMBER),
    ISA_FIELD_SPLIT(cluster_inst, addr, "addr", 218, 34, 63, 6, FIELD_HEX),
    ROW(n, 202, 16, FIELD_NUMBER),
    ROW(sel, 201, 1, FIELD_SIDE),
    ROW(eoff, 133, 8, FIELD_NUMBER),
    ISA_FIELD_SPLIT(cluster_inst, fbank, "fbank", 112, 1, 59, 1, FIELD_NUMBER),
    ISA_FIELD(cluster_inst, peer[0], "peer0", 144, 8, FIELD_PEER),
    ISA_FIELD(cluster_inst, peer[1], "peer1", 152, 8, FIELD_PEER),
    ISA_FIELD(cluster_inst, peer[2], "peer2", 160, 8, FIELD_PEER),
    ROW(npeer, 142, 2, FIELD_PEERS),
    ROW(gm, 192, 8, FIELD_NUMBER),
    ROW(gn, 184, 8, FIELD_NUMBER),
    ROW(nk, 176, 8, FIELD_NUMBER),
    ROW(anchor, 168, 8, FIELD_NUMBER),
    ROW(aoff, 125, 8, FIELD_NUMBER),
    ROW(boff, 117, 8, FIELD_NUMBER),
    ISA_FIELD_SPLIT(cluster_inst, abank, "abank", 114, 1, 61, 1, FIELD_NUMBER),
    ISA_FIELD_SPLIT(cluster_inst, bbank, "bbank", 113, 1, 60, 1, FIELD_NUMBER),
    ROW(acc, 200, 1, FIELD_FLAG),
    ROW(emit, 116, 1, FIELD_FLAG),
    ROW(fuse, 115, 1, FIELD_FLAG),
    ROW(fwd, 62, 1, FIELD_FLAG),
    ROW(dnode, 111, 1, FIELD_FLAG),
    ROW(dst_x, 107, 4, FIELD_X),
    ROW(dst_y, 103, 4, FIELD_Y),
    ROW(dbuf, 95, 8, FIELD_NUMBER),
    ROW(dflags, 87, 8, FIELD_HEX),
    ROW(dack_x, 79, 4, FIELD_X),
    ROW(dack_y, 83, 4, FIELD_Y),
    ROW(dmesh, 77, 2, FIELD_NUMBER),
    ROW(dfin, 69, 8, FIELD_NODE),
    ROW(preq, 141, 1, FIELD_FLAG),
};

const struct isa_layout cluster_layout = ISA_LAYOUT("cluster instruction", cluster_inst, cluster_fields);

bool cluster_inst_encode(const struct cluster_inst *inst, struct word256 *payload, GError **error) {
    return layout_encode(&cluster_layout, inst, payload, error);
}

void cluster_inst_decode(const struct word256 *payload, struct cluster_inst *inst) {
    *inst = (struct cluster_inst){0};
    layout_decode(&cluster_layout, payload, inst);
}

const char *cluster_op_name(unsigned op) {
    static const char *const names[] = {"nop", "fill", "gemm", "drain"};
    return op < G_N_ELEMENTS(names) ? names[op] : names[0];
}

struct cluster_inst cluster_inst_default(unsigned op) {
    bool known = op >= CLUSTER_FILL && op <= CLUSTER_DRAIN;
    return (struct cluster_inst){.op = known ? (uint8_t)op : CLUSTER_NOP, .anchor = known ? CLUSTER_ANCHOR : 0};
}

void cluster_inst_print(const struct cluster_inst *inst, GString *out) {
    struct cluster_inst defaults = cluster_inst_default(inst->op);
    g_string_append(out, cluster_op_name(inst->op));
    layout_print(&cluster_layout, inst, &defaults, out);
}
