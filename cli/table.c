/* flitsim table DIR|DB: results of a sweep as a table. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "analysis/table.h"
#include "cli/tables.h"

bool sweep_has_answer(const struct sweep *sweep) {
    return json_array_size(json_object_get(sweep->source.root, "answer")) > 0;
}

bool table_print_answer(struct store *store, GError **error) {
    struct table table;
    const struct table_options options = {0};
    g_autofree char *about = store_fact(store, "sweep");
    json_t *sweep = about ? json_loads(about, 0, NULL) : NULL;
    const char *question = json_string_value(json_object_get(sweep, "question"));
    bool fine = table_read(&table, store, &options, error);
    if (fine) {
        g_autofree char *text = table_text(&table);
        printf("\n%s%s%s", question ? question : "", question ? "\n" : "", text);
        table_clear(&table);
    }
    json_decref(sweep);
    return fine;
}

static const struct {
    const char *name;
    char *(*write)(const struct table *table);
} formats[] = {
    {"text", table_text},
    {"csv", table_csv},
    {"json", table_json},
};

static char *(*find_format(const char *name))(const struct table *table) {
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (g_str_equal(formats[i].name, name))
            return formats[i].write;
    fprintf(stderr, "flitsim table: --format is '%s', expected text, csv or json\n", name);
    return NULL;
}

static int print_table(const char *name, const struct table_options *options,
                       char *(*write)(const struct table *table)) {
    struct table table;
    GError *error = NULL;
    g_autofree char *file = store_file(name);
    struct store *store = store_open(file, STORE_READ, &error);
    bool fine = store && table_read(&table, store, options, &error);
    store_close(store);
    if (!fine)
        return cli_fail(error);
    g_autofree char *text = write(&table);
    fputs(text, stdout);
    table_clear(&table);
    return CLI_DONE;
}

int command_table(int argc, char **argv) {
    g_autofree char *columns = NULL, *where = NULL, *sort = NULL, *pareto = NULL, *format = NULL;
    gboolean all = FALSE;
    int best = 0;
    const GOptionEntry entries[] = {
        {"columns", 'c', 0, G_OPTION_ARG_STRING, &columns, "Columns, else the axes and the sweep's answer", "PATH,..."},
        {"where", 'w', 0, G_OPTION_ARG_STRING, &where, "Rows for which this holds", "EXPR"},
        {"sort", 's', 0, G_OPTION_ARG_STRING, &sort, "Order, else that of the sweep", "PATH[:desc]"},
        {"best", 'n', 0, G_OPTION_ARG_INT, &best, "The first N rows only", "N"},
        {"pareto", 'p', 0, G_OPTION_ARG_STRING, &pareto, "Rows that no other beats", "PATH:min,PATH:max"},
        {"format", 'f', 0, G_OPTION_ARG_STRING, &format, "How it is written, else text", "text|csv|json"},
        {"all", 'a', 0, G_OPTION_ARG_NONE, &all, "Also rows of earlier forms of the sweep", NULL},
        G_OPTION_ENTRY_NULL,
    };
    if (!cli_options(
            &argc, &argv, entries, "DIR|DB",
            "Prints results of a sweep. A PATH is a column of the store (number, status, cycles, ...), an axis,\n"
            "a key of the machine or the workload, or a key of the result (traffic.latency.mean).",
            1, 1))
        return CLI_AT_FAULT;
    if (best < 0) {
        fprintf(stderr, "flitsim table: --best is %d, expected a number of rows from 0\n", best);
        return CLI_AT_FAULT;
    }
    char *(*write)(const struct table *) = find_format(format ? format : "text");
    const struct table_options options = {.columns = columns,
                                          .where = where,
                                          .sort = sort              ? sort
                                                  : best && !pareto ? "cycles"
                                                                    : NULL,
                                          .pareto = pareto,
                                          .best = (unsigned)best,
                                          .all = all};
    return write ? print_table(argv[1], &options, write) : CLI_AT_FAULT;
}
