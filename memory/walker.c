/* Address walker; see walker.h. Offset and axis values are carried along from element to element, since a walk takes
 * one step every cycle. */
#include "memory/walker.h"

#include <string.h>

static inline unsigned live_dims(const struct walker *walker) {
    return walker->ndim < WALKER_DIMS ? walker->ndim : WALKER_DIMS;
}

static inline unsigned dim_count(const struct walker_dim *dim) {
    return dim->count ? dim->count : 1;
}

void walker_reset(struct walker *walker) {
    *walker = (struct walker){.ndim = 1};
    walker_start(walker);
}

void walker_start(struct walker *walker) {
    memset(walker->index, 0, sizeof walker->index);
    walker_refresh(walker);
}

/* Adds `times` steps of a dimension to offset and axis value. */
static inline void dim_move(struct walker *walker, const struct walker_dim *dim, uint32_t times) {
    walker->offset += times * dim->stride;
    if (dim->axis == 1 || dim->axis == 2)
        walker->value[dim->axis - 1] += (uint16_t)(times * (uint32_t)dim->step);
}

void walker_refresh(struct walker *walker) {
    walker->offset = 0;
    for (unsigned a = 0; a < WALKER_AXES; a++)
        walker->value[a] = walker->axes[a].start;
    for (unsigned d = 0; d < live_dims(walker); d++)
        dim_move(walker, &walker->dims[d], walker->index[d]);
}

bool walker_at_last(const struct walker *walker) {
    for (unsigned d = live_dims(walker); d-- > 0;)
        if (walker->index[d] + 1u < dim_count(&walker->dims[d]))
            return false;
    return true;
}

void walker_advance(struct walker *walker) {
    if (walker_at_last(walker))
        return;
    for (unsigned d = live_dims(walker); d-- > 0;) {
        const struct walker_dim *dim = &walker->dims[d];
        if (walker->index[d] + 1u < dim_count(dim)) {
            walker->index[d]++;
            dim_move(walker, dim, 1);
            return;
        }
        dim_move(walker, dim, 0u - walker->index[d]);
        walker->index[d] = 0;
    }
}

bool walker_valid(const struct walker *walker) {
    for (unsigned a = 0; a < WALKER_AXES; a++) {
        int16_t value = (int16_t)walker->value[a];
        if (walker->axes[a].extent && (value < 0 || value >= walker->axes[a].extent))
            return false;
    }
    return true;
}

bool walker_bounded(const struct walker *walker) {
    return walker->axes[0].extent || walker->axes[1].extent;
}

uint64_t walker_elements(const struct walker *walker) {
    uint64_t elements = 1;
    for (unsigned d = 0; d < live_dims(walker); d++)
        if (__builtin_mul_overflow(elements, dim_count(&walker->dims[d]), &elements))
            return UINT64_MAX;
    return elements;
}
