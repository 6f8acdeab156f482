/* Routing tables and their text form; see routing_table.h. */
#include "model/routing_table.h"

#include <stdbool.h>
#include <string.h>

#include "model/error.h"

enum {
    TABLE_SIDE_MAX = 128, /* columns or rows: 128 x 128 routers make a table of 256 MiB */
};

struct span {
    unsigned first, last;
};

struct area {
    struct span x, y;
};

static const char *const side_names[] = {"north", "east", "south", "west"};

struct routing_table *routing_table_new(unsigned columns, unsigned rows) {
    struct routing_table *table = g_new(struct routing_table, 1);
    size_t count = (size_t)columns * rows;
    *table = (struct routing_table){columns, rows, g_malloc(count * count)};
    memset(table->side, SIDE_UNSET, count * count);
    for (size_t i = 0; i < count; i++)
        table->side[i * count + i] = SIDE_HERE;
    return table;
}

void routing_table_free(struct routing_table *table) {
    if (!table)
        return;
    g_free(table->side);
    g_free(table);
}

static uint8_t dimension_order(unsigned x, unsigned y, unsigned to_x, unsigned to_y, bool x_first) {
    if (to_x != x && (x_first || to_y == y))
        return to_x > x ? SIDE_EAST : SIDE_WEST;
    return to_y > y ? SIDE_SOUTH : to_y < y ? SIDE_NORTH : SIDE_HERE;
}

static void fill_base(struct routing_table *table, bool x_first) {
    for (unsigned y = 1; y <= table->rows; y++)
        for (unsigned x = 1; x <= table->columns; x++)
            for (unsigned to_y = 1; to_y <= table->rows; to_y++)
                for (unsigned to_x = 1; to_x <= table->columns; to_x++)
                    *routing_table_at(table, x, y, to_x, to_y) = dimension_order(x, y, to_x, to_y, x_first);
}

/* A decimal number of 1..limit that fills the text up to its end. */
static bool parse_number(const char *text, const char *end, unsigned limit, unsigned *value) {
    unsigned number = 0;
    if (text == end)
        return false;
    for (; text < end; text++) {
        if (!g_ascii_isdigit(*text) || number > limit)
            return false;
        number = 10 * number + (unsigned)(*text - '0');
    }
    *value = number;
    return number >= 1 && number <= limit;
}

static bool parse_span(const char *text, const char *end, unsigned limit, struct span *span) {
    *span = (struct span){1, limit};
    if (end - text == 1 && *text == '*')
        return true;
    const char *dash = memchr(text, '-', (size_t)(end - text));
    if (!dash)
        return parse_number(text, end, limit, &span->first) && (span->last = span->first);
    return parse_number(text, dash, limit, &span->first) && parse_number(dash + 1, end, limit, &span->last) &&
           span->first <= span->last;
}

static bool parse_area(const char *text, const struct routing_table *table, struct area *area) {
    const char *comma = strchr(text, ',');
    *area = (struct area){{1, table->columns}, {1, table->rows}};
    if (strcmp(text, "*") == 0)
        return true;
    return comma && parse_span(text, comma, table->columns, &area->x) &&
           parse_span(comma + 1, text + strlen(text), table->rows, &area->y);
}

static void fill_area(struct routing_table *table, const struct area *at, const struct area *to, uint8_t side) {
    for (unsigned y = at->y.first; y <= at->y.last; y++)
        for (unsigned x = at->x.first; x <= at->x.last; x++)
            for (unsigned to_y = to->y.first; to_y <= to->y.last; to_y++)
                for (unsigned to_x = to->x.first; to_x <= to->x.last; to_x++)
                    if (x != to_x || y != to_y)
                        *routing_table_at(table, x, y, to_x, to_y) = side;
}

static const char *parse_grid(char **words, unsigned count, struct routing_table **table) {
    unsigned columns, rows;
    if (count != 3 || strcmp(words[0], "grid") != 0)
        return "the first statement has to be \"grid COLUMNS ROWS\"";
    if (!parse_number(words[1], words[1] + strlen(words[1]), TABLE_SIDE_MAX, &columns) ||
        !parse_number(words[2], words[2] + strlen(words[2]), TABLE_SIDE_MAX, &rows))
        return "columns and rows of the grid have to be numbers of 1 to 128";
    *table = routing_table_new(columns, rows);
    return NULL;
}

static const char *parse_base(char **words, unsigned count, struct routing_table *table) {
    if (count != 2 || (strcmp(words[1], "xy") != 0 && strcmp(words[1], "yx") != 0))
        return "expected \"base xy\" or \"base yx\"";
    fill_base(table, words[1][0] == 'x');
    return NULL;
}

static const char *parse_route(char **words, unsigned count, struct routing_table *table) {
    struct area at, to;
    if (count != 3)
        return "expected ROUTER DESTINATION SIDE, as in \"1,1 4,3 south\"";
    if (!parse_area(words[0], table, &at))
        return "the router has to be * or X,Y inside the grid, each a number, a range a-b or *";
    if (!parse_area(words[1], table, &to))
        return "the destination has to be * or X,Y inside the grid, each a number, a range a-b or *";
    for (unsigned side = 0; side < G_N_ELEMENTS(side_names); side++)
        if (strcmp(words[2], side_names[side]) == 0) {
            fill_area(table, &at, &to, (uint8_t)side);
            return NULL;
        }
    return "the side has to be north, east, south or west";
}

/* NULL, or what is wrong with the line. */
static const char *parse_line(char *line, struct routing_table **table) {
    char *words[5], *rest = NULL;
    unsigned count = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word && count < G_N_ELEMENTS(words);
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    if (!count)
        return NULL;
    if (!*table)
        return parse_grid(words, count, table);
    if (strcmp(words[0], "grid") == 0)
        return "the grid is given twice";
    if (strcmp(words[0], "base") == 0)
        return parse_base(words, count, *table);
    return parse_route(words, count, *table);
}

struct routing_table *routing_table_parse(const char *text, const char *name, GError **error) {
    struct routing_table *table = NULL;
    char **lines = g_strsplit(text, "\n", -1);
    const char *wrong = NULL;
    unsigned line = 0;
    for (; lines[line] && !wrong; line++)
        wrong = parse_line(lines[line], &table);
    if (!wrong && !table)
        wrong = "the first statement has to be \"grid COLUMNS ROWS\"";
    g_strfreev(lines);
    if (!wrong)
        return table;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:%u: %s", name, MAX(line, 1), wrong);
    routing_table_free(table);
    return NULL;
}
