/* Reader of the recorded vectors: plain text, one case a line, fields separated by one blank, comment lines start with
 * '#'. The folder is $FLITSIM_GOLDEN or the one beside this file. A file that is missing or holds no case fails. */
#pragma once

#include "model/word.h"

#include <glib.h>
#include <string.h>

enum {
    GOLDEN_FAILURES_SHOWN = 10, /* a broken rule fails thousands of lines; the first few say it all */
};

struct golden {
    char *path;
    char *text;
    char *rest;    /* of the text, after the current line */
    char *current; /* the line */
    char **fields; /* of the line */
    unsigned n_fields;
    unsigned line; /* number of the current line, from 1 */
    unsigned cases;
    unsigned failures;
};

static inline void golden_open(struct golden *g, const char *name) {
    const char *folder = g_getenv("FLITSIM_GOLDEN");
    g_autoptr(GError) error = NULL;
    *g = (struct golden){0};
    g->path = g_build_filename(folder && *folder ? folder : FLITSIM_SOURCE_DIR "/tests/golden/vectors", name, NULL);
    if (!g_file_get_contents(g->path, &g->text, NULL, &error))
        g_error("%s", error->message);
    g->rest = g->text;
}

/* Goes to the next case; false at the end of the file and after too many failures. */
static inline gboolean golden_next(struct golden *g) {
    while (*g->rest && g->failures < GOLDEN_FAILURES_SHOWN) {
        g->current = g->rest;
        g->line++;
        g->rest = strchrnul(g->current, '\n');
        if (*g->rest)
            *g->rest++ = '\0';
        if (*g->current == '\0' || *g->current == '#')
            continue;
        g_strfreev(g->fields);
        g->fields = g_strsplit(g->current, " ", -1);
        g->n_fields = g_strv_length(g->fields);
        g->cases++;
        return TRUE;
    }
    return FALSE;
}

static inline void golden_close(struct golden *g) {
    if (g->cases == 0)
        g_error("%s holds no case", g->path);
    g_test_message("%s: %u cases", g->path, g->cases);
    g_strfreev(g->fields);
    g_free(g->text);
    g_free(g->path);
}

static inline const char *golden_text(const struct golden *g, unsigned field) {
    if (field >= g->n_fields)
        g_error("%s:%u: field %u is missing", g->path, g->line, field);
    return g->fields[field];
}

static inline gint64 golden_integer(const struct golden *g, unsigned field, unsigned base) {
    const char *text = golden_text(g, field);
    char *end;
    gint64 value = g_ascii_strtoll(text, &end, base);
    if (end == text || *end)
        g_error("%s:%u: '%s' is not a number of base %u", g->path, g->line, text, base);
    return value;
}

static inline gint64 golden_decimal(const struct golden *g, unsigned field) {
    return golden_integer(g, field, 10);
}

static inline guint32 golden_hex(const struct golden *g, unsigned field) {
    return (guint32)golden_integer(g, field, 16);
}

/* Bits [low+width-1:low], width up to 32, of a hexadecimal field of any length. */
static inline guint32 golden_bits(const struct golden *g, unsigned field, unsigned low, unsigned width) {
    const char *text = golden_text(g, field);
    size_t digits = strlen(text);
    guint64 value = 0;
    for (unsigned at = low / 4, n = 0; at < digits && n < 9; at++, n++) {
        int digit = g_ascii_xdigit_value(text[digits - 1 - at]);
        if (digit < 0)
            g_error("%s:%u: '%s' is not hexadecimal", g->path, g->line, text);
        value |= (guint64)digit << (4 * n);
    }
    return (guint32)(value >> low % 4 & bit_mask(width));
}

static inline struct word256 golden_word(const struct golden *g, unsigned field) {
    struct word256 word = {{0}};
    for (unsigned half = 0; half < 8; half++)
        word_set(&word, 32 * half, 32, golden_bits(g, field, 32 * half, 32));
    return word;
}

static inline void golden_expect(struct golden *g, const char *what, guint64 got, guint64 recorded) {
    if (got == recorded)
        return;
    g->failures++;
    g_test_fail_printf("%s:%u: %s is %" G_GINT64_MODIFIER "x, recorded is %" G_GINT64_MODIFIER "x: %.160s", g->path,
                       g->line, what, got, recorded, g->current);
}

static inline void golden_expect_word(struct golden *g, const char *what, const struct word256 *got,
                                      const struct word256 *recorded) {
    if (memcmp(got, recorded, sizeof *got) == 0)
        return;
    const guint64 *x = got->w, *y = recorded->w;
    g->failures++;
    g_test_fail_printf("%s:%u: %s is %016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER
                       "x%016" G_GINT64_MODIFIER "x, recorded is %016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER
                       "x%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                       g->path, g->line, what, x[3], x[2], x[1], x[0], y[3], y[2], y[1], y[0]);
}
