/* Rows of a replay; see replay.h. */
#include "analysis/replay.h"

#include <string.h>

static void row_clear(gpointer data) {
    struct replay_row *row = data;
    g_free(row->what);
    g_free(row->reference);
    g_free(row->ours);
}

void replay_result_init(struct replay_result *result) {
    *result = (struct replay_result){.rows = g_array_new(FALSE, FALSE, sizeof(struct replay_row))};
    g_array_set_clear_func(result->rows, row_clear);
}

void replay_result_clear(struct replay_result *result) {
    if (result->rows)
        g_array_unref(result->rows);
    *result = (struct replay_result){0};
}

static void add(struct replay_result *result, struct replay_row row) {
    result->differing += row.differs;
    g_array_append_val(result->rows, row);
}

void replay_add_number(struct replay_result *result, const char *what, gint64 reference, gint64 ours) {
    add(result, (struct replay_row){.what = g_strdup(what),
                                    .reference = g_strdup_printf("%" G_GINT64_FORMAT, reference),
                                    .ours = g_strdup_printf("%" G_GINT64_FORMAT, ours),
                                    .differs = reference != ours,
                                    .difference = ours - reference});
}

void replay_add_text(struct replay_result *result, const char *what, const char *reference, const char *ours) {
    add(result, (struct replay_row){.what = g_strdup(what),
                                    .reference = g_strdup(reference),
                                    .ours = g_strdup(ours),
                                    .differs = strcmp(reference, ours) != 0});
}

char *replay_first_difference(const struct replay_result *result) {
    for (guint i = 0; i < result->rows->len; i++) {
        const struct replay_row *row = &g_array_index(result->rows, struct replay_row, i);
        if (row->differs)
            return g_strdup_printf("%s: recorded %s, here %s", row->what, row->reference, row->ours);
    }
    return NULL;
}

double replay_worst_percent(const struct replay_result *result) {
    double worst = 0;
    for (guint i = 0; i < result->rows->len; i++) {
        const struct replay_row *row = &g_array_index(result->rows, struct replay_row, i);
        if (!row->differs)
            continue;
        double reference = g_ascii_strtod(row->reference, NULL);
        double percent = row->difference && reference != 0 ? 100 * ABS(row->difference / reference) : 100;
        worst = MAX(worst, percent);
    }
    return worst;
}
