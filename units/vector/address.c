/* Descriptors and their walker; see address.h. */
#include "units/vector/address.h"

#include <glib.h>

#include "model/isa/vector.h"

void descriptor_reset(struct descriptor *descriptor) {
    *descriptor = (struct descriptor){.bound = {1, 1, 1, 1}};
}

void descriptor_write(struct descriptor *descriptor, unsigned field, uint64_t value) {
    if (field == 0)
        descriptor->base = value & ADDRESS_MASK;
    else if (field <= DESCRIPTOR_DIMENSIONS)
        vector_dimension_decode(value, &descriptor->stride[field - 1], &descriptor->bound[field - 1]);
}

static unsigned bound(const struct descriptor *descriptor, unsigned dimension) {
    return MAX(descriptor->bound[dimension], 1u);
}

unsigned descriptor_elements(const struct descriptor *descriptor) {
    unsigned total = 1;
    for (unsigned d = 0; d < DESCRIPTOR_DIMENSIONS; d++)
        total = MIN(total * bound(descriptor, d), WALK_LONGEST + 1u);
    return total;
}

struct walk walk_start(const struct descriptor *descriptor, int64_t offset) {
    return (struct walk){.descriptor = descriptor, .address = (descriptor->base + (uint64_t)offset) & ADDRESS_MASK};
}

void walk_next(struct walk *walk) {
    const struct descriptor *descriptor = walk->descriptor;
    uint64_t address = walk->address;
    for (unsigned d = 0; d < DESCRIPTOR_DIMENSIONS; d++) {
        if (walk->index[d] + 1 < bound(descriptor, d)) {
            walk->address = (address + (uint64_t)(int64_t)descriptor->stride[d]) & ADDRESS_MASK;
            walk->index[d]++;
            for (unsigned inner = 0; inner < d; inner++)
                walk->index[inner] = 0;
            return;
        }
        address -= (uint64_t)((int64_t)descriptor->stride[d] * walk->index[d]);
    }
}
