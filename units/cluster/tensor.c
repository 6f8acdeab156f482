/* What-if: a FILL described as a tensor (compute-units §10.1). The descriptors are walkers as the memory mover has
 * them; the cluster sets their indexes to a lane and a block of K and sends the four addresses of an entry in one
 * request. */
#include "units/cluster/cluster.h"

void tensor_describe(struct cluster *cluster, const struct word256 *payload) {
    struct tensor_part_inst part;
    tensor_part_decode(payload, &part);
    struct walker *walker = &cluster->tensors[part.descriptor % TENSOR_DESCRIPTORS];
    walker->ndim = TENSOR_DIMS;
    if (part.part == TENSOR_PART_BASE)
        walker->base = part.base;
    for (unsigned a = 0; part.part == TENSOR_PART_AXES && a < TENSOR_AXES; a++)
        walker->axes[a] = (struct walker_axis){(uint16_t)part.axes[a].start, part.axes[a].extent};
    if (part.part < TENSOR_DIMS)
        walker->dims[part.part] = (struct walker_dim){part.count, part.axis, part.step, (uint32_t)part.stride};
}

/* Puts `place` into dimensions [first, end), the last one fastest; false when it lies beyond them. */
static bool set_indexes(struct walker *walker, unsigned first, unsigned end, uint64_t place) {
    for (unsigned d = end; d-- > first;) {
        unsigned count = MAX(walker->dims[d].count, 1u);
        walker->index[d] = (uint16_t)(place % count);
        place /= count;
    }
    return place == 0;
}

static void ask_entry(struct cluster *cluster, unsigned entry) {
    const struct cluster_inst *inst = &cluster->inst;
    struct walker *walker = &cluster->tensors[inst->aoff % TENSOR_DESCRIPTORS];
    unsigned blocks = MAX(inst->nk, 1u);
    uint64_t group = (inst->addr & ((1u << TENSOR_GROUP_BITS) - 1)) + entry / blocks;
    uint64_t block = (inst->addr >> TENSOR_GROUP_BITS) + entry % blocks;
    sequencer_request(cluster);
    struct flit *flit = flit_at(cluster->context.pool, cluster->request);
    flit->txn = (uint8_t)(inst->eoff + entry);
    flit->payload = (struct word256){{0}};
    word_set(&flit->payload, 200, 8, REQUEST_GATHER | (inst->sel ? 0x20 : 0));
    word_set(&flit->payload, 192, 8, 1);
    bool deep = set_indexes(walker, TENSOR_M_DIMS, TENSOR_DIMS, block * MXFP7_BLOCK);
    for (unsigned lane = 0; lane < TENSOR_LANES; lane++) {
        bool exists = deep && set_indexes(walker, 0, TENSOR_M_DIMS, group * TENSOR_LANES + lane);
        walker_refresh(walker);
        exists = exists && walker_valid(walker);
        tensor_lane_set(&flit->payload, lane, exists ? walker_address(walker) : 0, exists);
    }
}

/* The next request as soon as the register is free. */
void tensor_step(struct cluster *cluster) {
    if (cluster->tensor_next == cluster->tensor_end || cluster->request != FLIT_NONE)
        return;
    ask_entry(cluster, cluster->tensor_next++);
}
