/* Listing a profile; see listing.h. */
#include "analysis/listing.h"

#include "model/isa/vector.h"
#include "model/isa/vector_text.h"

/* Text of the word at `at`, a VSETI with its value; returns the words it takes. */
static unsigned word_text(const struct profile_image *image, unsigned at, GString *text) {
    unsigned count = image->words[at] >> 27 == VECTOR_SETI && at + 1 < VECTOR_IMEM_WORDS ? 2 : 1;
    g_autoptr(GString) lines = g_string_new(NULL);
    vector_words_print(image->words + at, count, lines);
    g_strstrip(lines->str);
    g_string_assign(text, lines->str);
    return count;
}

static unsigned image_end(const struct profile_image *image) {
    unsigned end = image->end;
    return end && image->words[end - 1] >> 27 == VECTOR_SETI && end < VECTOR_IMEM_WORDS ? end + 1 : end;
}

json_t *listing_json(const struct profile *profile) {
    json_t *list = json_array();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < profile->images->len; i++) {
        const struct profile_image *image = &g_array_index(profile->images, struct profile_image, i);
        json_t *object = json_object(), *words = json_array();
        json_object_set_new(object, "cores", json_integer((json_int_t)image->cores));
        json_object_set_new(object, "runs", json_integer((json_int_t)image->runs));
        json_object_set_new(object, "cycles", json_integer((json_int_t)image->cycles));
        json_object_set_new(object, "start_cycles", json_integer((json_int_t)image->start_cycles));
        for (unsigned at = image->first; at < image_end(image);) {
            json_t *word = json_object();
            unsigned count = word_text(image, at, text);
            json_object_set_new(word, "word", json_integer(at));
            json_object_set_new(word, "text", json_string(text->str));
            json_object_set_new(word, "executed", json_integer((json_int_t)image->executed[at]));
            json_object_set_new(word, "cycles", json_integer((json_int_t)image->spent[at]));
            json_array_append_new(words, word);
            at += count;
        }
        json_object_set_new(object, "words", words);
        json_array_append_new(list, object);
    }
    return list;
}

static void add_image(const struct profile_image *image, GString *out) {
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(out,
                           "\nvector kernel: %" G_GUINT64_FORMAT " runs on %" G_GUINT64_FORMAT
                           " cores, %" G_GUINT64_FORMAT " cycles, of these %" G_GUINT64_FORMAT
                           " before the first word\n",
                           image->runs, image->cores, image->cycles, image->start_cycles);
    g_string_append_printf(out, "  %4s  %9s  %11s  %9s  %6s  %s\n", "word", "executed", "cycles", "each", "share", "");
    for (unsigned at = image->first; at < image_end(image);) {
        unsigned count = word_text(image, at, text);
        uint64_t executed = image->executed[at], spent = image->spent[at];
        g_string_append_printf(out, "  %4u  ", at);
        if (executed)
            g_string_append_printf(out, "%9" G_GUINT64_FORMAT "  %11" G_GUINT64_FORMAT "  %9.1f  %5.1f%%", executed,
                                   spent, (double)spent / (double)executed,
                                   100.0 * (double)spent / (double)MAX(image->cycles, 1));
        else
            g_string_append_printf(out, "%9s  %11s  %9s  %6s", "-", "-", "-", "-");
        g_string_append_printf(out, "  %s\n", text->str);
        at += count;
    }
}

char *listing_text(const struct profile *profile) {
    GString *out = g_string_new(NULL);
    if (!profile->images->len)
        g_string_append(out, "\nno vector kernel ran\n");
    for (guint i = 0; i < profile->images->len; i++)
        add_image(&g_array_index(profile->images, struct profile_image, i), out);
    return g_string_free(out, FALSE);
}
