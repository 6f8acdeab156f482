/* The page of accuracy; see accuracy_page.h. A table shows few figures of each entry and counts all that were compared.
 * Recorded lists of events are shown by the cycle of their last event. */
#include "accuracy_page.h"

#include <jansson.h>
#include <string.h>

enum {
    COLUMNS_MAX = 3,
    DIGEST_SHOWN = 12,
};

/* What stands in the tables. A name is the end of a row's name; of several rows the last is taken. */
static const struct layout {
    const char *kind;
    struct {
        const char *title, *row;
    } columns[COLUMNS_MAX];
} layouts[] = {
    {"GEMM", {{"cycles", "run_cycles"}}},
    {"traffic", {{"order hash", "order_hash"}, {"accepted", "accepted"}, {"latency", "lat_avg"}}},
    {"vector", {{"cycles", "].cycles"}}},
    {"mover", {{"last move done, a channel a port", "per-port.moves_done"}, {"one channel", "converged.moves_done"}}},
    {"interlink", {{"last beat on link 1 of mesh 0", "mesh.0.link1 beats"}}},
    {"control", {{"last step of the engine", "engine"}}},
    {"peer", {{"last signal at the agent", "signals_at_agent"}}},
    {"events", {{"last signal at the agent", "events.agent.signal accepted"}}},
};

struct accuracy_page {
    GString *summary, *tables;
    const struct layout *layout;
    char *path, *kind;
    unsigned entries, exact, all_entries, all_exact;
    guint64 quantities, differing;
    double worst;
};

struct accuracy_page *accuracy_page_new(void) {
    struct accuracy_page *page = g_new0(struct accuracy_page, 1);
    page->summary = g_string_new(NULL);
    page->tables = g_string_new(NULL);
    return page;
}

void accuracy_page_free(struct accuracy_page *page) {
    g_string_free(page->summary, TRUE);
    g_string_free(page->tables, TRUE);
    g_free(page->path);
    g_free(page->kind);
    g_free(page);
}

char *accuracy_page_summary(const char *path, const char *kind, unsigned entries, unsigned exact, GError **error) {
    g_autofree char *text = NULL;
    gsize length;
    if (!g_file_get_contents(path, &text, &length, error))
        return NULL;
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, length);
    g_autofree char *anchor = g_ascii_strdown(kind, -1);
    return g_strdup_printf("| [%s](#%s) | %.*s | %s | %u | %u |", name, anchor, DIGEST_SHOWN, digest, kind, entries,
                           exact);
}

bool accuracy_page_end(struct accuracy_page *page, GError **error) {
    if (!page->path)
        return true;
    g_autofree char *line = accuracy_page_summary(page->path, page->kind, page->entries, page->exact, error);
    if (!line)
        return false;
    g_string_append_printf(page->summary, "%s %" G_GUINT64_FORMAT " | %" G_GUINT64_FORMAT " | %.4g |\n", line,
                           page->quantities, page->differing, page->worst);
    page->all_entries += page->entries;
    page->all_exact += page->exact;
    page->entries = page->exact = 0;
    page->quantities = page->differing = 0;
    page->worst = 0;
    g_clear_pointer(&page->path, g_free);
    g_clear_pointer(&page->kind, g_free);
    return true;
}

static const struct layout *find_layout(const char *kind) {
    for (unsigned i = 0; i < G_N_ELEMENTS(layouts); i++)
        if (strcmp(layouts[i].kind, kind) == 0)
            return &layouts[i];
    g_error("no layout for recordings of kind %s", kind);
}

bool accuracy_page_file(struct accuracy_page *page, const char *path, const char *kind, GError **error) {
    if (!accuracy_page_end(page, error))
        return false;
    page->layout = find_layout(kind);
    page->path = g_strdup(path);
    page->kind = g_strdup(kind);
    g_autofree char *name = g_path_get_basename(path);
    g_string_append_printf(page->tables, "\n## %s\n\n`tests/reference/%s`\n\n| entry |", kind, name);
    GString *rule = g_string_new("|---|");
    for (unsigned c = 0; c < COLUMNS_MAX && page->layout->columns[c].title; c++) {
        g_string_append_printf(page->tables, " %s: reference | ours | difference |", page->layout->columns[c].title);
        g_string_append(rule, "---|---|---|");
    }
    g_string_append_printf(page->tables, " compared | differ | exact |\n%s---|---|---|\n", rule->str);
    g_string_free(rule, TRUE);
    return true;
}

/* What a cell shows of a value: a plain value itself, a list of events the cycle of the last one. */
static char *shown(const char *text) {
    json_t *list = json_loads(text, 0, NULL);
    const json_t *last = json_array_size(list) ? json_array_get(list, json_array_size(list) - 1) : NULL;
    if (json_is_array(last))
        last = json_array_get(last, 0);
    char *cell = json_is_integer(last) ? g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(last))
                 : json_is_array(list) ? g_strdup("none")
                                       : g_strdup(text);
    json_decref(list);
    return cell;
}

static void append_cells(GString *out, const struct replay_result *result, const char *name) {
    const struct replay_row *found = NULL;
    for (guint i = 0; i < result->rows->len; i++) {
        const struct replay_row *row = &g_array_index(result->rows, struct replay_row, i);
        if (g_str_has_suffix(row->what, name))
            found = row;
    }
    if (!found) {
        g_string_append(out, " not recorded | – | – |");
        return;
    }
    g_autofree char *reference = shown(found->reference), *ours = shown(found->ours);
    char *end;
    double difference = g_ascii_strtod(ours, &end) - g_ascii_strtod(reference, NULL);
    g_string_append_printf(out, " %s | %s |", reference, ours);
    if (!found->differs)
        g_string_append(out, " 0 |");
    else if (*end == '\0' && difference != 0)
        g_string_append_printf(out, " %g |", difference);
    else
        g_string_append(out, " differs |");
}

void accuracy_page_entry(struct accuracy_page *page, const char *label, const struct replay_result *result) {
    g_string_append_printf(page->tables, "| %s |", label);
    for (unsigned c = 0; c < COLUMNS_MAX && page->layout->columns[c].title; c++)
        append_cells(page->tables, result, page->layout->columns[c].row);
    g_string_append_printf(page->tables, " %u | %u | %s |\n", result->rows->len, result->differing,
                           result->differing ? "no" : "yes");
    page->entries++;
    page->exact += !result->differing;
    page->quantities += result->rows->len;
    page->differing += result->differing;
    page->worst = MAX(page->worst, replay_worst_percent(result));
}

void accuracy_page_print(const struct accuracy_page *page, FILE *out) {
    fprintf(
        out,
        "# Accuracy\n\n"
        "Every recording of the reference hardware (its RTL, simulated) beside a run of ours. **%u of %u entries are\n"
        "exact**: every recorded cycle, counter, hash and word is equal.\n\n"
        "| file | SHA-256 | kind | entries | exact | quantities compared | differ | worst %% |\n"
        "|---|---|---|---|---|---|---|---|\n%s\n"
        "An entry is exact when nothing that was recorded of it differs; the tables show a few of its figures,\n"
        "`compared` counts all. The order hash of a traffic point is equal only if every flit is delivered in the\n"
        "same cycle; accepted load is in flits a node and cycle, latency in cycles with the wait at the source. Of a\n"
        "list of events the tables show the cycle of the last one.\n\n"
        "This page is written from runs: `cmake --build --preset release --target docs-accuracy`.\n"
        "`build/release/tests/compare_reference -v FILE...` prints every quantity that differs.\n%s",
        page->all_exact, page->all_entries, page->summary->str, page->tables->str);
}
