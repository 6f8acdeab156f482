/* See table.h. Only the cells that are asked for are kept of a row. */
#include "analysis/table.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/expression.h"
#include "analysis/json_path.h"
#include "model/error.h"
#include "model/json_source.h"
#include "model/keys.h"

enum {
    MAX_COLUMNS = 1000,
    MAX_METRICS = 8,
};

struct table_row {
    int64_t number;
    json_t *sort;                /* what it is sorted by, or NULL */
    double metrics[MAX_METRICS]; /* smaller is better */
    bool measured;               /* has all of them */
    json_t *cells[];
};

/* ---- units ---- */

/* Ends of result paths and their units; those of the machine's keys are in their own table. */
static const struct {
    const char *start, *end, *unit;
} units[] = {
    {"cycles", "", "cycles"},
    {"clock_mhz", "", "MHz"},
    {"gflops", "", "GFLOP/s"},
    {"wall_s", "", "s"},
    {"flit_hops", "", "flits"},
    {"counts.", "_bytes", "bytes"},
    {"counts.mem_", "", "flits"},
    {"counts.cu_data", "", "flits"},
    {"latency.", ".count", "flits"},
    {"latency.", "", "cycles"},
    {"traffic.latency.", "", "cycles"},
    {"traffic.offered", "", "flits/node/cycle"},
    {"traffic.accepted", "", "flits/node/cycle"},
    {"units[", ".instructions", "instructions"},
    {"units[", "", "cycles"},
    {"ports[", ".read_words", "words"},
    {"ports[", ".write_bursts", "bursts"},
    {"ports[", ".entries", "entries"},
    {"ports[", "", "cycles"},
    {"deadlock.cycle", "", "cycles"},
};

static const char *without_prefix(const char *path, const char *prefix) {
    return g_str_has_prefix(path, prefix) ? path + strlen(prefix) : path;
}

static const char *unit_of(const char *path) {
    const char *machine = without_prefix(path, "machine."), *result = without_prefix(path, "result.");
    for (size_t i = 0; i < machine_key_count; i++)
        if (g_str_equal(machine_keys[i].path, machine))
            return machine_keys[i].unit;
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        bool whole = g_str_equal(result, units[i].start);
        bool part = strpbrk(units[i].start, ".[") && g_str_has_prefix(result, units[i].start);
        if (whole || (part && g_str_has_suffix(result, units[i].end)))
            return units[i].unit;
    }
    return "";
}

/* ---- cells ---- */

/* A row of the store, its JSON read when first needed. */
struct record {
    const struct store_row *row;
    json_t *axes, *config, *result;
};

static json_t *parsed(json_t **tree, const char *text) {
    if (!*tree && text)
        *tree = json_loads(text, JSON_DECODE_ANY, NULL);
    return *tree;
}

static json_t *text_or_null(const char *text) {
    return text ? json_string(text) : NULL;
}

static json_t *count_or_null(int64_t count) {
    return count >= 0 ? json_integer(count) : NULL;
}

static json_t *own_column(const struct store_row *row, const char *path, bool *own) {
    const struct {
        const char *name, *text;
    } texts[] = {
        {"point", row->point},   {"status", row->status},   {"reason", row->reason},
        {"digest", row->digest}, {"version", row->version},
    };
    *own = true;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        if (g_str_equal(texts[i].name, path))
            return text_or_null(texts[i].text);
    if (g_str_equal(path, "number"))
        return count_or_null(row->number);
    if (g_str_equal(path, "cycles"))
        return count_or_null(row->cycles);
    if (g_str_equal(path, "wall_s"))
        return json_real(row->wall_s);
    *own = false;
    return NULL;
}

/* The value at a path, a new reference; NULL when it is not there. `own`: it is a column, which may be empty. */
static json_t *find_cell(struct record *record, const char *path, bool *own) {
    json_t *cell = own_column(record->row, path, own);
    if (*own)
        return cell;
    json_t *axes = parsed(&record->axes, record->row->axes);
    json_t *found = json_object_get(axes, without_prefix(path, "axes."));
    if (found || g_str_has_prefix(path, "axes."))
        return json_incref(found);
    json_t *config = parsed(&record->config, record->row->config);
    found = json_find(config, path); /* machine.…, workload.…, seed */
    if (!found)
        found = json_find(json_object_get(config, "machine"), path);
    if (!found)
        found = json_find(parsed(&record->result, record->row->result), without_prefix(path, "result."));
    return json_incref(found);
}

static void record_clear(struct record *record) {
    json_decref(record->axes);
    json_decref(record->config);
    json_decref(record->result);
}

/* ---- reading ---- */

struct metric {
    char *path;
    bool most;
};

struct table_reader {
    struct table *table;
    const struct table_options *options;
    struct expression *where;
    char *sort;
    bool descending;
    GArray *metrics;       /* of struct metric */
    GHashTable *missing;   /* paths that no row has had so far */
    struct record *record; /* while the condition is evaluated */
    GPtrArray *borrowed;   /* values the condition has looked at */
    bool any_ok;           /* rows with a result there are */
    struct expression_fault fault;
};

static bool option_error(GError **error, const char *option, const char *given, const char *what) {
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "flitsim table: %s '%s': %s", option, given, what);
    return false;
}

static void add_column(struct table_reader *reader, const char *path, bool must_exist) {
    struct table_column column = {.path = g_strdup(path), .unit = unit_of(path)};
    for (guint i = 0; i < reader->table->columns->len; i++)
        if (!must_exist && g_str_equal(g_array_index(reader->table->columns, struct table_column, i).path, path)) {
            g_free(column.path);
            return;
        }
    g_array_append_val(reader->table->columns, column);
    if (must_exist)
        g_hash_table_add(reader->missing, g_strdup(path));
}

static void add_listed(struct table_reader *reader, const json_t *list) {
    size_t index;
    json_t *path;
    json_array_foreach(list, index, path) if (json_is_string(path)) add_column(reader, json_string_value(path), false);
}

static void default_columns(struct table_reader *reader, struct store *store) {
    static const char *const usual[] = {"status", "cycles", "gflops", "peak_fraction"};
    g_autofree char *text = store_fact(store, "sweep");
    json_t *sweep = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *answer = json_object_get(sweep, "answer");
    add_listed(reader, json_object_get(sweep, "axes"));
    add_listed(reader, answer);
    for (size_t i = 0; !answer && i < G_N_ELEMENTS(usual); i++)
        add_column(reader, usual[i], false);
    json_decref(sweep);
}

static bool read_columns(struct table_reader *reader, struct store *store, GError **error) {
    const char *given = reader->options->columns;
    if (!given) {
        default_columns(reader, store);
        return true;
    }
    g_auto(GStrv) paths = g_strsplit(given, ",", MAX_COLUMNS + 1);
    for (unsigned i = 0; paths[i]; i++) {
        if (!g_strstrip(paths[i])[0])
            return option_error(error, "--columns", given, "has an empty path, expected PATH,PATH");
        add_column(reader, paths[i], true);
    }
    return g_strv_length(paths) <= MAX_COLUMNS || option_error(error, "--columns", given, "has too many paths");
}

/* "PATH" or "PATH:WORD" with one of two words; true is the second. */
static bool split_order(const char *text, const char *const *words, char **path, bool *second) {
    const char *colon = strrchr(text, ':');
    *path = colon ? g_strndup(text, (gsize)(colon - text)) : g_strdup(text);
    *second = colon && g_str_equal(colon + 1, words[1]);
    return (*path)[0] && (!colon || *second || g_str_equal(colon + 1, words[0]));
}

static bool read_sort(struct table_reader *reader, GError **error) {
    static const char *const words[] = {"asc", "desc"};
    if (!reader->options->sort)
        return true;
    if (!split_order(reader->options->sort, words, &reader->sort, &reader->descending))
        return option_error(error, "--sort", reader->options->sort, "expected PATH, PATH:asc or PATH:desc");
    g_hash_table_add(reader->missing, g_strdup(reader->sort));
    return true;
}

static bool read_metrics(struct table_reader *reader, GError **error) {
    static const char *const words[] = {"min", "max"};
    const char *given = reader->options->pareto;
    if (!given)
        return true;
    g_auto(GStrv) parts = g_strsplit(given, ",", -1);
    for (unsigned i = 0; parts[i]; i++) {
        struct metric metric;
        bool fine = split_order(parts[i], words, &metric.path, &metric.most) && strchr(parts[i], ':');
        g_array_append_val(reader->metrics, metric);
        if (!fine)
            return option_error(error, "--pareto", given, "expected PATH:min,PATH:max");
        g_hash_table_add(reader->missing, g_strdup(metric.path));
    }
    return (reader->metrics->len >= 2 && reader->metrics->len <= MAX_METRICS) ||
           option_error(error, "--pareto", given, "expected 2 to 8 metrics");
}

static void note_name(void *data, const char *name) {
    g_hash_table_add(data, g_strdup(name));
}

static bool where_error(const struct table_reader *reader, struct expression_fault fault, GError **error) {
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "--where:1:%u: %s: %s", fault.column, reader->options->where,
                fault.wrong);
    g_free(fault.wrong);
    return false;
}

static bool read_where(struct table_reader *reader, GError **error) {
    struct expression_fault fault;
    if (!reader->options->where)
        return true;
    reader->where = expression_parse(reader->options->where, &fault);
    if (!reader->where)
        return where_error(reader, fault, error);
    expression_names(reader->where, note_name, reader->missing);
    return true;
}

static json_t *look_up_cell(struct table_reader *reader, struct record *record, const char *path) {
    bool own;
    json_t *cell = find_cell(record, path, &own);
    if (cell || own)
        g_hash_table_remove(reader->missing, path);
    return cell;
}

static bool look_up(void *data, const char *name, struct value *value, char **wrong) {
    struct table_reader *reader = data;
    json_t *cell = look_up_cell(reader, reader->record, name);
    (void)wrong;
    *value = (struct value){.kind = VALUE_NONE};
    if (json_is_number(cell))
        *value = (struct value){.kind = VALUE_NUMBER, .number = json_number_value(cell)};
    else if (json_is_boolean(cell))
        *value = (struct value){.kind = VALUE_BOOL, .number = json_is_true(cell)};
    else if (json_is_string(cell))
        *value = (struct value){.kind = VALUE_TEXT, .text = json_string_value(cell)};
    if (cell)
        g_ptr_array_add(reader->borrowed, cell);
    return true;
}

static bool is_wanted(struct table_reader *reader, struct record *record) {
    struct value value = {.kind = VALUE_BOOL, .number = 1};
    if (!reader->where || reader->fault.wrong)
        return !reader->where;
    reader->record = record;
    bool fine = expression_evaluate(reader->where, look_up, reader, &value, &reader->fault);
    bool holds = fine && value_holds(value);
    g_ptr_array_set_size(reader->borrowed, 0);
    return holds;
}

static void measure(struct table_reader *reader, struct record *record, struct table_row *row) {
    row->measured = true;
    for (guint i = 0; i < reader->metrics->len; i++) {
        const struct metric *metric = &g_array_index(reader->metrics, struct metric, i);
        json_t *cell = look_up_cell(reader, record, metric->path);
        row->measured = row->measured && json_is_number(cell);
        row->metrics[i] = metric->most ? -json_number_value(cell) : json_number_value(cell);
        json_decref(cell);
    }
}

static void row_free(void *data, guint cells) {
    struct table_row *row = data;
    for (guint i = 0; i < cells; i++)
        json_decref(row->cells[i]);
    json_decref(row->sort);
    g_free(row);
}

static bool visit(void *data, const struct store_row *stored) {
    struct table_reader *reader = data;
    struct record record = {.row = stored};
    guint columns = reader->table->columns->len;
    reader->any_ok = reader->any_ok || stored->result;
    if (is_wanted(reader, &record)) {
        struct table_row *row = g_malloc0(sizeof *row + columns * sizeof row->cells[0]);
        row->number = stored->number;
        for (guint i = 0; i < columns; i++)
            row->cells[i] =
                look_up_cell(reader, &record, g_array_index(reader->table->columns, struct table_column, i).path);
        row->sort = reader->sort ? look_up_cell(reader, &record, reader->sort) : NULL;
        measure(reader, &record, row);
        g_ptr_array_add(reader->table->rows, row);
    }
    record_clear(&record);
    return !reader->fault.wrong;
}

/* ---- choosing and ordering ---- */

static int compare_cells(const json_t *a, const json_t *b) {
    bool number_a = json_is_number(a), number_b = json_is_number(b);
    if (number_a && number_b) {
        double x = json_number_value(a), y = json_number_value(b);
        return (x > y) - (x < y);
    }
    if (number_a != number_b)
        return number_a ? -1 : 1;
    g_autofree char *x = json_cell_text(a), *y = json_cell_text(b);
    return strcmp(x, y);
}

/* Rows without the value come last either way; equal ones stay in the order of their numbers. */
static int compare_rows(const void *a, const void *b, void *data) {
    const struct table_row *p = *(struct table_row *const *)a, *q = *(struct table_row *const *)b;
    const struct table_reader *reader = data;
    int order = (!p->sort) - (!q->sort);
    if (!order && p->sort)
        order = compare_cells(p->sort, q->sort) * (reader->descending ? -1 : 1);
    return order ? order : (p->number > q->number) - (p->number < q->number);
}

static int compare_metrics(const void *a, const void *b, void *data) {
    const struct table_row *p = *(struct table_row *const *)a, *q = *(struct table_row *const *)b;
    const struct table_reader *reader = data;
    for (guint i = 0; i < reader->metrics->len; i++)
        if (p->metrics[i] != q->metrics[i])
            return p->metrics[i] < q->metrics[i] ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

static bool dominates(const struct table_row *better, const struct table_row *row, guint metrics) {
    bool strictly = false;
    for (guint i = 0; i < metrics; i++) {
        if (better->metrics[i] > row->metrics[i])
            return false;
        strictly = strictly || better->metrics[i] < row->metrics[i];
    }
    return strictly;
}

static int by_number(const void *a, const void *b) {
    const struct table_row *p = *(struct table_row *const *)a, *q = *(struct table_row *const *)b;
    return (p->number > q->number) - (p->number < q->number);
}

/* In the order of the metrics a row can only be beaten by one before it, so the front suffices to ask. */
static void keep_front(struct table_reader *reader) {
    GPtrArray *rows = reader->table->rows, *front = g_ptr_array_new();
    guint metrics = reader->metrics->len, columns = reader->table->columns->len;
    if (!metrics) {
        g_ptr_array_unref(front);
        return;
    }
    g_ptr_array_sort_with_data(rows, compare_metrics, reader);
    for (guint i = 0; i < rows->len; i++) {
        struct table_row *row = g_ptr_array_index(rows, i);
        bool beaten = !row->measured;
        for (guint f = 0; f < front->len && !beaten; f++)
            beaten = dominates(g_ptr_array_index(front, f), row, metrics);
        if (beaten)
            row_free(row, columns);
        else
            g_ptr_array_add(front, row);
    }
    g_ptr_array_sort(front, by_number);
    g_ptr_array_unref(rows);
    reader->table->rows = front;
}

static void cut(struct table_reader *reader) {
    GPtrArray *rows = reader->table->rows;
    if (reader->sort)
        g_ptr_array_sort_with_data(rows, compare_rows, reader);
    while (reader->options->best && rows->len > reader->options->best)
        row_free(g_ptr_array_remove_index(rows, rows->len - 1), reader->table->columns->len);
}

static bool check_missing(struct table_reader *reader, GError **error) {
    GHashTableIter paths;
    gpointer path;
    g_hash_table_iter_init(&paths, reader->missing);
    if (!reader->any_ok || !g_hash_table_iter_next(&paths, &path, NULL))
        return true;
    return option_error(error, "path", path,
                        "is in no row, expected a column of the store, an axis, a key of machine, "
                        "workload or result");
}

/* Columns that were only offered, and that no row has, are left out. */
static void drop_empty(struct table *table) {
    for (guint c = table->columns->len; c-- > 0;) {
        bool used = false;
        for (guint r = 0; r < table->rows->len && !used; r++)
            used = ((struct table_row *)g_ptr_array_index(table->rows, r))->cells[c];
        if (used || !table->rows->len)
            continue;
        for (guint r = 0; r < table->rows->len; r++) {
            struct table_row *row = g_ptr_array_index(table->rows, r);
            memmove(&row->cells[c], &row->cells[c + 1], (table->columns->len - c - 1) * sizeof row->cells[0]);
        }
        g_array_remove_index(table->columns, c);
    }
}

static void column_clear(void *data) {
    g_free(((struct table_column *)data)->path);
}

static void metric_clear(void *data) {
    g_free(((struct metric *)data)->path);
}

static void unref_json(void *data) {
    json_decref(data);
}

static bool read_options(struct table_reader *reader, struct store *store, GError **error) {
    return read_columns(reader, store, error) && read_sort(reader, error) && read_metrics(reader, error) &&
           read_where(reader, error);
}

static bool read_rows(struct table_reader *reader, struct store *store, GError **error) {
    if (!store_each(store, reader->options->all, visit, reader, error))
        return false;
    if (reader->fault.wrong)
        return where_error(reader, reader->fault, error);
    if (!check_missing(reader, error))
        return false;
    keep_front(reader);
    cut(reader);
    if (!reader->options->columns)
        drop_empty(reader->table);
    return true;
}

bool table_read(struct table *table, struct store *store, const struct table_options *options, GError **error) {
    struct table_reader reader = {.table = table,
                                  .options = options,
                                  .metrics = g_array_new(FALSE, TRUE, sizeof(struct metric)),
                                  .missing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                                  .borrowed = g_ptr_array_new_with_free_func(unref_json)};
    *table =
        (struct table){.columns = g_array_new(FALSE, TRUE, sizeof(struct table_column)), .rows = g_ptr_array_new()};
    g_array_set_clear_func(table->columns, column_clear);
    g_array_set_clear_func(reader.metrics, metric_clear);
    bool fine = read_options(&reader, store, error) && read_rows(&reader, store, error);
    g_array_unref(reader.metrics);
    g_hash_table_unref(reader.missing);
    g_ptr_array_unref(reader.borrowed);
    expression_free(reader.where);
    g_free(reader.sort);
    if (!fine)
        table_clear(table);
    return fine;
}

void table_clear(struct table *table) {
    for (guint i = 0; table->rows && i < table->rows->len; i++)
        row_free(g_ptr_array_index(table->rows, i), table->columns->len);
    g_clear_pointer(&table->rows, g_ptr_array_unref);
    g_clear_pointer(&table->columns, g_array_unref);
}

unsigned table_row_count(const struct table *table) {
    return table->rows->len;
}

const json_t *table_cell(const struct table *table, unsigned row, unsigned column) {
    return ((struct table_row *)g_ptr_array_index(table->rows, row))->cells[column];
}

/* ---- writing ---- */

static const struct table_column *column_of(const struct table *table, unsigned column) {
    return &g_array_index(table->columns, struct table_column, column);
}

static char *header(const struct table *table, unsigned column) {
    const struct table_column *named = column_of(table, column);
    return named->unit[0] ? g_strdup_printf("%s [%s]", named->path, named->unit) : g_strdup(named->path);
}

static void append_padded(GString *line, const char *cell, glong width, bool right, bool last) {
    glong fill = MAX(width - g_utf8_strlen(cell, -1), 0);
    g_string_append_printf(line, "%*s%s", right ? (int)fill : 0, "", cell);
    if (!last)
        g_string_append_printf(line, "%*s", (right ? 0 : (int)fill) + 2, "");
}

/* A short number of digits is for reading; CSV and JSON have them all. */
static char *readable_text(const json_t *cell) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (!json_is_real(cell))
        return json_cell_text(cell);
    return g_strdup(g_ascii_formatd(text, sizeof text, "%.6g", json_real_value(cell)));
}

static bool is_numeric(const struct table *table, unsigned column) {
    bool numeric = table->rows->len > 0;
    for (unsigned row = 0; row < table->rows->len && numeric; row++) {
        const json_t *cell = table_cell(table, row, column);
        numeric = !cell || json_is_number(cell);
    }
    return numeric;
}

char *table_text(const struct table *table) {
    unsigned columns = table->columns->len, rows = table->rows->len;
    g_autofree glong *widths = g_new0(glong, columns + 1);
    char **cells = g_new0(char *, (gsize)(rows + 1) * columns + 1);
    GString *text = g_string_new(NULL);
    for (unsigned row = 0; row <= rows; row++)
        for (unsigned column = 0; column < columns; column++) {
            char *cell = row ? readable_text(table_cell(table, row - 1, column)) : header(table, column);
            cells[(gsize)row * columns + column] = cell;
            widths[column] = MAX(widths[column], g_utf8_strlen(cell, -1));
        }
    for (unsigned row = 0; row <= rows; row++) {
        for (unsigned column = 0; column < columns; column++)
            append_padded(text, cells[(gsize)row * columns + column], widths[column], is_numeric(table, column),
                          column + 1 == columns);
        g_string_append_c(text, '\n');
    }
    g_strfreev(cells);
    return g_string_free(text, FALSE);
}

/* Quoted only where it must be. */
static void append_csv(GString *line, const char *cell) {
    if (!cell[strcspn(cell, ",\"\r\n")]) {
        g_string_append(line, cell);
        return;
    }
    g_string_append_c(line, '"');
    for (; *cell; cell++) {
        if (*cell == '"')
            g_string_append_c(line, '"');
        g_string_append_c(line, *cell);
    }
    g_string_append_c(line, '"');
}

char *table_csv(const struct table *table) {
    GString *text = g_string_new(NULL);
    for (unsigned row = 0; row <= table->rows->len; row++) {
        for (unsigned column = 0; column < table->columns->len; column++) {
            g_autofree char *cell = row ? json_cell_text(table_cell(table, row - 1, column)) : header(table, column);
            if (column)
                g_string_append_c(text, ',');
            append_csv(text, cell);
        }
        g_string_append(text, "\r\n");
    }
    return g_string_free(text, FALSE);
}

char *table_json(const struct table *table) {
    json_t *root = json_pack("{s:s, s:[], s:[]}", "schema", "flitsim.table/1", "columns", "rows");
    for (unsigned column = 0; column < table->columns->len; column++)
        json_array_append_new(
            json_object_get(root, "columns"),
            json_pack("{s:s, s:s}", "path", column_of(table, column)->path, "unit", column_of(table, column)->unit));
    for (unsigned row = 0; row < table->rows->len; row++) {
        json_t *object = json_object();
        for (unsigned column = 0; column < table->columns->len; column++) {
            const json_t *cell = table_cell(table, row, column);
            json_object_set(object, column_of(table, column)->path, cell ? (json_t *)cell : json_null());
        }
        json_array_append_new(json_object_get(root, "rows"), object);
    }
    char *dump = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    char *text = g_strconcat(dump, "\n", NULL);
    free(dump);
    json_decref(root);
    return text;
}
