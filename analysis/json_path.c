/* See json_path.h. */
#include "analysis/json_path.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

static json_t *item(const json_t *list, const char *path, const char **rest) {
    char *end;
    if (!json_is_array(list) || !g_ascii_isdigit(path[1]))
        return NULL;
    guint64 index = g_ascii_strtoull(path + 1, &end, 10);
    *rest = end[0] == ']' ? end + 1 + (end[1] == '.') : "";
    return end[0] == ']' ? json_array_get(list, (size_t)index) : NULL;
}

static json_t *member(const json_t *object, const char *path) {
    json_t *whole = json_object_get(object, path);
    for (const char *end = path + strlen(path); !whole && end > path; end--) {
        if (*end != '.' && *end != '[')
            continue;
        g_autofree char *key = g_strndup(path, (gsize)(end - path));
        json_t *next = json_object_get(object, key);
        if (next)
            whole = json_find(next, *end == '.' ? end + 1 : end);
    }
    return whole;
}

json_t *json_find(const json_t *root, const char *path) {
    if (!*path)
        return (json_t *)root;
    if (path[0] != '[')
        return json_is_object(root) ? member(root, path) : NULL;
    const char *rest = "";
    const json_t *next = item(root, path, &rest);
    return next ? json_find(next, rest) : NULL;
}

char *json_number_text(const json_t *number) {
    if (json_is_integer(number))
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(number));
    double value = json_real_value(number);
    char text[G_ASCII_DTOSTR_BUF_SIZE], format[] = "%.15g";
    for (unsigned digits = 15; digits <= 17; digits++) {
        format[3] = (char)('0' + digits % 10);
        g_ascii_formatd(text, sizeof text, format, value);
        if (g_ascii_strtod(text, NULL) == value)
            break;
    }
    return g_strdup(text);
}

char *json_cell_text(const json_t *value) {
    if (!value || json_is_null(value))
        return g_strdup("");
    if (json_is_string(value))
        return g_strdup(json_string_value(value));
    if (json_is_number(value))
        return json_number_text(value);
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    char *text = g_strdup(dump);
    free(dump);
    return text;
}
