/* Address walkers: nesting, signs, wrapping, axes and bounds, against nested loops. */
#include "memory/walker.h"

#include <glib.h>

enum {
    RANDOM_WALKS = 2000,
    ELEMENTS_MAX = 4000,
};

static void reset_is_one_element_at_zero(void) {
    struct walker walker;
    walker_reset(&walker);
    g_assert_cmpuint(walker_elements(&walker), ==, 1);
    g_assert_true(walker_at_last(&walker));
    g_assert_true(walker_valid(&walker));
    g_assert_cmphex(walker_address(&walker), ==, 0);
}

static void innermost_dimension_is_the_last_live_one(void) {
    struct walker walker = {
        .base = 0x1000, .ndim = 2, .dims = {{.count = 2, .stride = 0x100}, {.count = 3, .stride = 0x20}, {.count = 9}}};
    const uint64_t expected[] = {0x1000, 0x1020, 0x1040, 0x1100, 0x1120, 0x1140};
    walker_start(&walker);
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_assert_cmphex(walker_address(&walker), ==, expected[i]);
        g_assert_cmpint(walker_at_last(&walker), ==, i == 5);
        walker_advance(&walker);
    }
    g_assert_cmphex(walker_address(&walker), ==, expected[5]); /* stays on the last element */
}

static void address_wraps_at_40_bits_and_offset_at_32(void) {
    struct walker walker = {.base = 0x10, .ndim = 1, .dims = {{.count = 3, .stride = (uint32_t)-0x20}}};
    walker_start(&walker);
    walker_advance(&walker);
    g_assert_cmphex(walker_address(&walker), ==, UINT64_C(0xFFFFFFFFF0));
    walker = (struct walker){.base = UINT64_C(0x5000000000), .ndim = 1, .dims = {{.count = 3, .stride = 0x60000000}}};
    walker_start(&walker);
    walker_advance(&walker), walker_advance(&walker); /* 2 * 0x60000000 is negative in 32 bits */
    g_assert_cmphex(walker_address(&walker), ==, UINT64_C(0x4FC0000000));
}

static void ndim_7_is_6_and_count_0_is_1(void) {
    struct walker walker = {.ndim = 7};
    for (unsigned d = 0; d < WALKER_DIMS; d++)
        walker.dims[d].count = d == 2 ? 0 : 2;
    g_assert_cmpuint(walker_elements(&walker), ==, 32);
    walker.ndim = 0;
    walker_start(&walker);
    g_assert_cmpuint(walker_elements(&walker), ==, 1);
    g_assert_true(walker_at_last(&walker));
}

static void only_axes_1_and_2_bound(void) {
    struct walker walker = {.ndim = 1,
                            .dims = {{.count = 4, .axis = 2, .step = 1}},
                            .axes = {{.start = 5, .extent = 0}, {.start = (uint16_t)-1, .extent = 2}}};
    const bool inside[] = {false, true, true, false};
    walker_start(&walker);
    for (unsigned i = 0; i < G_N_ELEMENTS(inside); i++) {
        g_assert_cmpint(walker_valid(&walker), ==, inside[i]);
        walker_advance(&walker);
    }
    walker.dims[0].axis = 3;
    walker.axes[1].start = 0;
    for (walker_start(&walker); !walker_at_last(&walker); walker_advance(&walker))
        g_assert_true(walker_valid(&walker));
}

static void extent_is_unsigned_and_position_signed(void) {
    struct walker walker = {
        .ndim = 1, .dims = {{.count = 2, .axis = 1, .step = 0x7FFF}}, .axes = {{.start = 1, .extent = 0xFFFF}}};
    walker_start(&walker);
    g_assert_true(walker_valid(&walker));
    walker_advance(&walker); /* 0x8000 is negative */
    g_assert_false(walker_valid(&walker));
}

static void huge_walks_saturate(void) {
    struct walker walker = {.ndim = 6};
    for (unsigned d = 0; d < WALKER_DIMS; d++)
        walker.dims[d].count = 0xFFFF;
    g_assert_cmpuint(walker_elements(&walker), ==, UINT64_MAX);
}

static struct walker random_walker(GRand *random) {
    struct walker walker = {.base = ((uint64_t)g_rand_int(random) << 8 | g_rand_int_range(random, 0, 256)),
                            .ndim = (unsigned)g_rand_int_range(random, 0, 8)};
    for (unsigned d = 0; d < WALKER_DIMS; d++)
        walker.dims[d] = (struct walker_dim){.count = (uint16_t)g_rand_int_range(random, 0, 5),
                                             .stride = g_rand_int(random),
                                             .axis = (uint8_t)g_rand_int_range(random, 0, 4),
                                             .step = (int16_t)g_rand_int(random)};
    for (unsigned a = 0; a < WALKER_AXES; a++)
        walker.axes[a] = (struct walker_axis){(uint16_t)g_rand_int(random),
                                              g_rand_boolean(random) ? 0 : (uint16_t)g_rand_int(random)};
    return walker;
}

/* The definition of §8.1 for the element with running number n, in arithmetic of its own. */
static uint64_t defined_address(const struct walker *walker, uint64_t n, bool *valid) {
    gint64 offset = 0, value[WALKER_AXES] = {walker->axes[0].start, walker->axes[1].start};
    for (int d = (int)MIN(walker->ndim, WALKER_DIMS) - 1; d >= 0; d--) {
        uint64_t count = MAX(walker->dims[d].count, 1), index = n % count;
        n /= count;
        offset += (gint64)index * (int32_t)walker->dims[d].stride;
        if (walker->dims[d].axis == 1 || walker->dims[d].axis == 2)
            value[walker->dims[d].axis - 1] += (gint64)index * walker->dims[d].step;
    }
    *valid = true;
    for (unsigned a = 0; a < WALKER_AXES; a++)
        if (walker->axes[a].extent)
            *valid &= (int16_t)value[a] >= 0 && (int16_t)value[a] < walker->axes[a].extent;
    return (walker->base + (uint64_t)(gint64)(int32_t)offset) & ADDRESS_MASK;
}

static void random_walks_follow_the_definition(void) {
    GRand *random = g_rand_new_with_seed(8);
    for (unsigned n = 0; n < RANDOM_WALKS; n++) {
        struct walker walker = random_walker(random);
        uint64_t elements = walker_elements(&walker);
        walker_start(&walker);
        for (uint64_t i = 0; i < MIN(elements, ELEMENTS_MAX); i++) {
            bool valid;
            g_assert_cmphex(walker_address(&walker), ==, defined_address(&walker, i, &valid));
            g_assert_cmpint(walker_valid(&walker), ==, valid);
            g_assert_cmpint(walker_at_last(&walker), ==, i + 1 == elements);
            walker_advance(&walker);
        }
    }
    g_rand_free(random);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/walker/reset_is_one_element_at_zero", reset_is_one_element_at_zero);
    g_test_add_func("/walker/innermost_dimension_is_the_last_live_one", innermost_dimension_is_the_last_live_one);
    g_test_add_func("/walker/address_wraps_at_40_bits_and_offset_at_32", address_wraps_at_40_bits_and_offset_at_32);
    g_test_add_func("/walker/ndim_7_is_6_and_count_0_is_1", ndim_7_is_6_and_count_0_is_1);
    g_test_add_func("/walker/only_axes_1_and_2_bound", only_axes_1_and_2_bound);
    g_test_add_func("/walker/extent_is_unsigned_and_position_signed", extent_is_unsigned_and_position_signed);
    g_test_add_func("/walker/huge_walks_saturate", huge_walks_saturate);
    g_test_add_func("/walker/random_walks_follow_the_definition", random_walks_follow_the_definition);
    return g_test_run();
}
