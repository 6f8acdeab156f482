/* Random values for the ISA round trips: every row of a layout gets a value of its full width. */
#pragma once

#include <glib.h>
#include <string.h>

#include "model/isa/field.h"

static inline uint64_t random_bits(GRand *random, unsigned width) {
    uint64_t value = (uint64_t)g_rand_int(random) << 32 | g_rand_int(random);
    return value & bit_mask(width);
}

static inline struct word256 random_word(GRand *random) {
    struct word256 word;
    for (unsigned i = 0; i < 4; i++)
        word.w[i] = random_bits(random, 64);
    return word;
}

/* Fills the described members; the object is zeroed first. */
static inline void random_fields(GRand *random, const struct isa_layout *layout, void *object) {
    struct word256 word = random_word(random);
    memset(object, 0, layout->size);
    layout_decode(layout, &word, object);
}

/* Every row of the layout in turn gets one more than its largest value while its member can hold that; encoding must
 * refuse and name row and value. */
static inline void check_refusals(const struct isa_layout *layout) {
    for (unsigned i = 0; i < layout->count; i++) {
        const struct isa_field *field = &layout->fields[i];
        unsigned width = field->width + field->high_width;
        bool is_signed = field->kind == FIELD_SIGNED;
        char object[ISA_LAYOUT_MAX_BYTES] __attribute__((aligned(8))) = {0};
        struct word256 word;
        GError *error = NULL;
        if (width >= 8u * field->size)
            continue;
        uint64_t value = is_signed ? UINT64_C(1) << (width - 1) : UINT64_C(1) << width;
        field_store(field, object, value);
        g_assert_false(layout_encode(layout, object, &word, &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_RANGE);
        g_autofree char *named =
            g_strdup_printf("field %s = %" G_GUINT64_FORMAT " does not fit in %u ", field->name, value, width);
        g_assert_nonnull(strstr(error->message, named));
        g_clear_error(&error);
        field_store(field, object, value - 1);
        g_assert_true(layout_encode(layout, object, &word, NULL));
        g_assert_cmpuint(word_get(&word, field->low, field->width), ==, (value - 1) & bit_mask(field->width));
    }
}
