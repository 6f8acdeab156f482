/* See json_source.h. The scanner walks the text along the JSON grammar, keeping the path of the value it stands in; it
 * serves three ends: positions, keys given twice, and sentences about broken syntax that Jansson says less clearly. */
#include "model/json_source.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_DEPTH = 512, /* nesting; far beyond any sensible file, far below the stack */
};

struct override {
    char *path;
    const char *name; /* of the place: "--set" */
    unsigned number;  /* of the --set on the command line, from 1 */
    unsigned column;  /* of the value within the argument, from 1 */
};

static void override_free(void *data) {
    struct override *override = data;
    g_free(override->path);
    g_free(override);
}

/* ---- messages ---- */

/* One line whatever the input held. */
static void flatten(GString *line) {
    for (gsize i = 0; i < line->len; i++)
        if ((unsigned char)line->str[i] < 0x20 || line->str[i] == 0x7F)
            line->str[i] = ' ';
}

static bool error_va(GError **error, const char *file, unsigned line, unsigned column, const char *path,
                     const char *format, va_list arguments) {
    GString *message = g_string_new(NULL);
    g_string_append_printf(message, "%s:%u:%u: %s: ", file, line, column, path[0] ? path : "(top)");
    g_string_append_vprintf(message, format, arguments);
    flatten(message);
    g_set_error_literal(error, FS_ERROR, FS_ERROR_INPUT, message->str);
    g_string_free(message, TRUE);
    return false;
}

bool json_source_error_at(GError **error, const char *file, unsigned line, unsigned column, const char *path,
                          const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error_va(error, file, line, column, path, format, arguments);
    va_end(arguments);
    return false;
}

const char *json_kind(const json_t *value) {
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",
        [JSON_STRING] = "a text",    [JSON_INTEGER] = "a whole number",
        [JSON_REAL] = "a fraction",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return value ? kinds[json_typeof(value)] : "missing";
}

char *json_path_key(const char *path, const char *key) {
    return path[0] ? g_strconcat(path, ".", key, NULL) : g_strdup(key);
}

char *json_path_index(const char *path, size_t index) {
    return g_strdup_printf("%s[%zu]", path, index);
}

/* ---- the scanner ---- */

struct scan {
    const char *at, *end;
    GString *path;
    unsigned depth;
    /* what is looked for */
    const char *wanted;
    enum json_place place;
    const char *found;
    gsize best; /* bytes of `wanted` matched by the innermost value met so far */
    /* what is wrong */
    const char *fault_at;
    char *fault;
};

static bool scan_value(struct scan *scan);

static bool scan_fault(struct scan *scan, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool scan_fault(struct scan *scan, const char *at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    scan->fault_at = at;
    scan->fault = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return false;
}

static void scan_space(struct scan *scan) {
    while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) && *scan->at)
        scan->at++;
}

/* What stands at the scanner, for "found …". */
static char *scan_here(const struct scan *scan) {
    if (scan->at >= scan->end)
        return g_strdup("the end of the text");
    const char *stop = scan->at;
    while (stop < scan->end && stop - scan->at < 20 && (g_ascii_isalnum(*stop) || strchr("+-._", *stop)))
        stop++;
    if (stop == scan->at)
        stop = g_utf8_next_char(stop);
    g_autofree char *word = g_strndup(scan->at, (gsize)(stop - scan->at));
    return g_strdup_printf("'%s'", word);
}

static bool scan_expected(struct scan *scan, const char *what) {
    g_autofree char *here = scan_here(scan);
    return scan_fault(scan, scan->at, "found %s, expected %s", here, what);
}

/* A string; `decoded` (may be NULL) receives its value. */
static bool scan_string(struct scan *scan, char **decoded) {
    const char *start = scan->at++;
    bool escapes = false;
    for (; scan->at < scan->end && *scan->at != '"'; scan->at++) {
        if ((unsigned char)*scan->at < 0x20)
            return scan_fault(scan, start, "text is not closed on its line, expected '\"'");
        if (*scan->at == '\\') {
            escapes = true;
            if (++scan->at >= scan->end)
                break;
        }
    }
    if (scan->at >= scan->end)
        return scan_fault(scan, start, "text is not closed, expected '\"'");
    scan->at++;
    if (!escapes) {
        if (decoded)
            *decoded = g_strndup(start + 1, (gsize)(scan->at - start - 2));
        return true;
    }
    json_t *value = json_loadb(start, (size_t)(scan->at - start), JSON_DECODE_ANY, NULL);
    if (!value)
        return scan_fault(scan, start, "text holds an escape that JSON does not have");
    if (decoded)
        *decoded = g_strdup(json_string_value(value));
    json_decref(value);
    return true;
}

/* Notes the value or key at `at` if its path is the wanted one or leads to it. */
static void scan_note(struct scan *scan, enum json_place place, const char *at) {
    if (!scan->wanted)
        return;
    gsize length = scan->path->len;
    if (length && (strncmp(scan->wanted, scan->path->str, length) != 0 ||
                   (scan->wanted[length] && !strchr(".[", scan->wanted[length]))))
        return;
    bool whole = scan->wanted[length] == '\0';
    if ((whole ? scan->place : JSON_PLACE_VALUE) == place && (!scan->found || length >= scan->best)) {
        scan->found = at;
        scan->best = length;
    }
}

static bool scan_member(struct scan *scan, GHashTable *seen) {
    const char *at = scan->at;
    if (at >= scan->end || *at != '"')
        return scan_expected(scan, "a key in double quotes");
    char *key = NULL;
    if (!scan_string(scan, &key))
        return false;
    gsize length = scan->path->len;
    if (length)
        g_string_append_c(scan->path, '.');
    g_string_append(scan->path, key);
    scan_note(scan, JSON_PLACE_KEY, at);
    if (!g_hash_table_add(seen, key))
        return scan_fault(scan, at, "key is given twice, expected it once");
    scan_space(scan);
    if (scan->at >= scan->end || *scan->at != ':')
        return scan_expected(scan, "':' after the key");
    scan->at++;
    scan_space(scan);
    if (!scan_value(scan))
        return false;
    g_string_truncate(scan->path, length);
    return true;
}

static bool scan_item(struct scan *scan, size_t index) {
    gsize length = scan->path->len;
    g_string_append_printf(scan->path, "[%zu]", index);
    if (!scan_value(scan))
        return false;
    g_string_truncate(scan->path, length);
    return true;
}

/* The inside of {…} or […]: members or items with commas between, none after the last. */
static bool scan_inside(struct scan *scan, char close, GHashTable *seen) {
    const char *comma = NULL;
    scan->at++;
    for (size_t index = 0;; index++) {
        scan_space(scan);
        if (scan->at < scan->end && *scan->at == close) {
            if (comma)
                return scan_fault(scan, comma, "comma after the last %s, expected none", seen ? "key" : "item");
            scan->at++;
            return true;
        }
        if (!(seen ? scan_member(scan, seen) : scan_item(scan, index)))
            return false;
        scan_space(scan);
        comma = scan->at;
        if (scan->at < scan->end && *scan->at == ',')
            scan->at++;
        else if (scan->at < scan->end && *scan->at == close)
            comma = NULL;
        else
            return scan_expected(scan, close == '}' ? "',' or '}'" : "',' or ']'");
    }
}

static bool scan_container(struct scan *scan) {
    if (scan->depth >= MAX_DEPTH)
        return scan_fault(scan, scan->at, "nested deeper than %d, expected less", MAX_DEPTH);
    scan->depth++;
    bool object = *scan->at == '{';
    GHashTable *seen = object ? g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) : NULL;
    bool fine = scan_inside(scan, object ? '}' : ']', seen);
    if (seen)
        g_hash_table_unref(seen);
    scan->depth--;
    return fine;
}

/* A number as JSON writes it, which must also fit 64 bits or a double. */
static bool scan_number(struct scan *scan, const char *at, const char *word) {
    errno = 0;
    if (strpbrk(word, ".eE"))
        return fabs(g_ascii_strtod(word, NULL)) != HUGE_VAL ||
               scan_fault(scan, at, "%.40s is too large, expected a magnitude below 1.8e308", word);
    g_ascii_strtoll(word, NULL, 10);
    return errno != ERANGE || scan_fault(scan, at, "%.40s is too large, expected a magnitude below 9.2e18", word);
}

/* true, false, null or a number, as far as the next character that can't belong to it. */
static bool scan_literal(struct scan *scan) {
    static const char *const number = "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?$";
    const char *start = scan->at;
    while (scan->at < scan->end && (g_ascii_isalnum(*scan->at) || (strchr("+-._", *scan->at) && *scan->at)))
        scan->at++;
    g_autofree char *word = g_strndup(start, (gsize)(scan->at - start));
    if (g_str_equal(word, "true") || g_str_equal(word, "false") || g_str_equal(word, "null"))
        return true;
    if (g_regex_match_simple(number, word, 0, 0))
        return scan_number(scan, start, word);
    scan->at = start;
    return scan_expected(scan, "a value: a number, a text in double quotes, true, false, null, a list or an object");
}

static bool scan_value(struct scan *scan) {
    scan_note(scan, JSON_PLACE_VALUE, scan->at);
    char first = scan->at < scan->end ? *scan->at : '\0';
    if (first == '{' || first == '[')
        return scan_container(scan);
    if (first == '"')
        return scan_string(scan, NULL);
    return scan_literal(scan);
}

static bool scan_text(struct scan *scan) {
    scan_space(scan);
    if (!scan_value(scan))
        return false;
    scan_space(scan);
    return scan->at == scan->end || scan_expected(scan, "the end of the text");
}

static void text_position(const char *text, const char *at, unsigned *line, unsigned *column) {
    const char *start = text;
    *line = 1;
    for (const char *c = text; c < at; c++)
        if (*c == '\n') {
            ++*line;
            start = c + 1;
        }
    *column = (unsigned)g_utf8_strlen(start, at - start) + 1;
}

/* ---- reading ---- */

static bool file_error(GError **error, const char *file, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool file_error(GError **error, const char *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error_va(error, file, 1, 1, "(file)", format, arguments);
    va_end(arguments);
    return false;
}

static bool read_all(int descriptor, const char *file, GByteArray *bytes, GError **error) {
    guint8 block[1 << 16];
    for (;;) {
        ssize_t got = read(descriptor, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return file_error(error, file, "can't be read: %s", g_strerror(errno));
        if (got == 0)
            return true;
        g_byte_array_append(bytes, block, (guint)got);
        if (bytes->len > JSON_SOURCE_MAX_BYTES)
            return file_error(error, file, "is larger than %d MiB, expected a configuration",
                              JSON_SOURCE_MAX_BYTES >> 20);
    }
}

static bool read_file(const char *file, GByteArray *bytes, GError **error) {
    struct stat status;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return file_error(error, file, "can't be opened: %s, expected a readable file", g_strerror(errno));
    bool fine = fstat(descriptor, &status) == 0;
    if (!fine)
        file_error(error, file, "can't be read: %s", g_strerror(errno));
    else if (S_ISDIR(status.st_mode))
        fine = file_error(error, file, "is a directory, expected a file");
    else if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        fine = file_error(error, file, "is a device, expected a file");
    else {
        fcntl(descriptor, F_SETFL, 0); /* a pipe is waited for */
        fine = read_all(descriptor, file, bytes, error);
    }
    close(descriptor);
    return fine;
}

static bool check_utf8(const char *file, const char *text, gsize length, GError **error) {
    const char *end;
    unsigned line, column;
    if (g_utf8_validate_len(text, length, &end))
        return true;
    text_position(text, end, &line, &column);
    return json_source_error_at(error, file, line, column, "(file)", "byte 0x%02X is not UTF-8 text, expected UTF-8",
                                (unsigned char)*end);
}

char *json_source_read_text(const char *file, gsize *length, GError **error) {
    GByteArray *bytes = g_byte_array_new();
    if (!read_file(file, bytes, error)) {
        g_byte_array_unref(bytes);
        return NULL;
    }
    *length = bytes->len;
    g_byte_array_append(bytes, (const guint8 *)"", 1);
    char *text = (char *)g_byte_array_free(bytes, FALSE);
    if (!check_utf8(file, text, *length, error))
        g_clear_pointer(&text, g_free);
    return text;
}

/* The syntax as the scanner sees it, which includes keys given twice. */
static bool check_syntax(const struct json_source *source, GError **error) {
    struct scan scan = {.at = source->text, .end = source->text + source->length, .path = g_string_new(NULL)};
    bool fine = scan_text(&scan);
    if (!fine) {
        unsigned line, column;
        text_position(source->text, scan.fault_at, &line, &column);
        json_source_error_at(error, source->file, line, column, scan.path->str, "%s", scan.fault);
    }
    g_free(scan.fault);
    g_string_free(scan.path, TRUE);
    return fine;
}

static bool take_text(struct json_source *source, GError **error) {
    json_error_t trouble;
    const char *first = source->text;
    while (g_ascii_isspace(*first))
        first++;
    if (!*first)
        return file_error(error, source->file, "is empty, expected a JSON object");
    if (!check_syntax(source, error))
        return false;
    source->root = json_loadb(source->text, source->length, JSON_DECODE_ANY, &trouble);
    if (!source->root) /* nothing known gets here: the scanner is no laxer than Jansson */
        return json_source_error_at(error, source->file, (unsigned)MAX(trouble.line, 1),
                                    (unsigned)MAX(trouble.column, 1), "(top)", "%s", trouble.text);
    if (!json_is_object(source->root))
        return json_source_error(source, error, JSON_PLACE_VALUE, "", 0, "is %s, expected an object",
                                 json_kind(source->root));
    return true;
}

static bool take(struct json_source *source, const char *file, char *text, gsize length, GError **error) {
    *source = (struct json_source){.file = g_strdup(file),
                                   .text = text,
                                   .length = length,
                                   .overrides = g_ptr_array_new_with_free_func(override_free)};
    if (take_text(source, error))
        return true;
    json_source_clear(source);
    return false;
}

bool json_source_load(struct json_source *source, const char *file, GError **error) {
    gsize length = 0;
    char *text = json_source_read_text(file, &length, error);
    return text && take(source, file, text, length, error);
}

bool json_source_parse(struct json_source *source, const char *file, const char *text, gsize length, GError **error) {
    if (!check_utf8(file, text, length, error))
        return false;
    char *copy = g_malloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return take(source, file, copy, length, error);
}

void json_source_copy(struct json_source *copy, const struct json_source *source) {
    *copy = (struct json_source){.file = g_strdup(source->file),
                                 .text = g_strndup(source->text, source->length),
                                 .length = source->length,
                                 .root = json_deep_copy(source->root),
                                 .overrides = g_ptr_array_new_with_free_func(override_free)};
}

void json_source_clear(struct json_source *source) {
    g_clear_pointer(&source->file, g_free);
    g_clear_pointer(&source->text, g_free);
    g_clear_pointer(&source->overrides, g_ptr_array_unref);
    json_decref(source->root);
    source->root = NULL;
}

/* ---- positions ---- */

/* Whether `path` is `whole` or lies in it. */
static bool is_within(const char *path, const char *whole) {
    gsize length = strlen(whole);
    return strncmp(path, whole, length) == 0 && (!path[length] || path[length] == '.' || path[length] == '[');
}

/* The last --set that gave `path` or something it lies in; with `below`, the last that gave something in it. */
static const struct override *find_override(const struct json_source *source, const char *path, bool below) {
    for (guint i = source->overrides->len; i-- > 0;) {
        const struct override *override = g_ptr_array_index(source->overrides, i);
        if (below ? is_within(override->path, path) : is_within(path, override->path))
            return override;
    }
    return NULL;
}

/* Position in the text; false when `path` itself is not there, only something it lies in. */
static bool text_has(const struct json_source *source, enum json_place place, const char *path, unsigned *line,
                     unsigned *column) {
    struct scan scan = {.at = source->text,
                        .end = source->text + source->length,
                        .path = g_string_new(NULL),
                        .wanted = path,
                        .place = place};
    scan_text(&scan);
    g_free(scan.fault);
    g_string_free(scan.path, TRUE);
    text_position(source->text, scan.found ? scan.found : source->text, line, column);
    return scan.found && scan.best == strlen(path);
}

/* Where `path` comes from: the name of the file or "--set", and the position there. A --set goes before the text; one
 * that only reached something inside `path` counts when the text does not have `path` at all. */
static const char *locate(const struct json_source *source, enum json_place place, const char *path, unsigned *line,
                          unsigned *column) {
    const struct override *override = find_override(source, path, false);
    if (!override && text_has(source, place, path, line, column))
        return source->file;
    if (!override && path[0])
        override = find_override(source, path, true);
    if (!override)
        return source->file;
    *line = override->number;
    *column = place == JSON_PLACE_KEY ? 1 : override->column;
    return override->name;
}

void json_source_position(const struct json_source *source, enum json_place place, const char *path, unsigned *line,
                          unsigned *column) {
    locate(source, place, path, line, column);
}

bool json_source_error(const struct json_source *source, GError **error, enum json_place place, const char *path,
                       unsigned skip, const char *format, ...) {
    unsigned line, column;
    const char *file = locate(source, place, path, &line, &column);
    va_list arguments;
    va_start(arguments, format);
    error_va(error, file, line, column + skip, path, format, arguments);
    va_end(arguments);
    return false;
}

char *json_source_beside(const struct json_source *source, const char *path, const char *name) {
    g_autofree char *folder = g_path_get_dirname(source->file);
    bool as_it_is = g_path_is_absolute(name) || find_override(source, path, false) || g_str_equal(folder, ".");
    return as_it_is ? g_strdup(name) : g_build_filename(folder, name, NULL);
}

/* ---- --set ---- */

/* The value of an assignment: JSON, or a bare word. NULL with an error when it begins like JSON and is none. */
static json_t *assigned_value(const char *text, const char *name, unsigned number, unsigned column, const char *path,
                              GError **error) {
    json_error_t trouble;
    if (!text[0]) {
        json_source_error_at(error, name, number, column, path, "value is missing, expected PATH=VALUE");
        return NULL;
    }
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &trouble);
    if (!value && strchr("{[\"", text[0]))
        json_source_error_at(error, name, number, column, path, "is not JSON: %s", trouble.text);
    else if (!value)
        value = json_string(text);
    return value;
}

/* One step of a path: `key` followed by any number of [index]. Returns what is there; `*rest` is what remains. */
static bool path_step(const char *path, char **key, const char **rest) {
    gsize length = path[0] == '[' ? strcspn(path, "]") + (strchr(path, ']') ? 1 : 0) : strcspn(path, ".[");
    *key = g_strndup(path, length);
    *rest = path + length + (path[length] == '.' ? 1 : 0);
    bool dot_at_end = path[length] == '.' && !path[length + 1];
    return length > 0 && !dot_at_end && (path[0] != '[' || (length > 2 && path[length - 1] == ']'));
}

static bool list_index(const json_t *list, const char *key, size_t *index) {
    char *end;
    guint64 value = g_ascii_strtoull(key + 1, &end, 10);
    *index = (size_t)value;
    return g_ascii_isdigit(key[1]) && end[0] == ']' && value < json_array_size(list);
}

/* Puts `value` at `path` below `node`; what stands in the way is named in `wrong`. */
static bool put(json_t *node, const char *path, json_t *value, char **wrong) {
    g_autofree char *key = NULL;
    const char *rest;
    size_t index = 0;
    if (!path_step(path, &key, &rest)) {
        *wrong = g_strdup("is not a path, expected names joined by dots");
        return false;
    }
    bool item = key[0] == '[';
    if (item ? !json_is_array(node) : !json_is_object(node)) {
        *wrong = g_strdup_printf("'%s' stands in %s, expected %s", key, json_kind(node), item ? "a list" : "an object");
        return false;
    }
    if (item && !list_index(node, key, &index)) {
        *wrong = g_strdup_printf("%s is not in the list, which has %zu items", key, json_array_size(node));
        return false;
    }
    if (!*rest)
        return (item ? json_array_set(node, index, value) : json_object_set(node, key, value)) == 0;
    json_t *next = item ? json_array_get(node, index) : json_object_get(node, key);
    if (!next) {
        next = json_object();
        json_object_set_new(node, key, next);
    }
    return put(next, rest, value, wrong);
}

bool json_source_set(struct json_source *source, unsigned number, const char *prefix, const char *assignment,
                     GError **error) {
    const char *equals = strchr(assignment, '='), *name = source->set_name ? source->set_name : "--set";
    unsigned first = source->set_column + 1;
    if (!equals || equals == assignment)
        return json_source_error_at(error, name, number, first, assignment[0] ? assignment : "(top)",
                                    "is no assignment, expected PATH=VALUE");
    if (!g_utf8_validate(assignment, -1, NULL))
        return json_source_error_at(error, name, number, first, "(top)", "is not UTF-8 text");
    gsize skip =
        prefix && g_str_has_prefix(assignment, prefix) && assignment[strlen(prefix)] == '.' ? strlen(prefix) + 1 : 0;
    g_autofree char *path = g_strndup(assignment + skip, (gsize)(equals - assignment) - skip);
    g_autofree char *wrong = NULL;
    unsigned column = (unsigned)g_utf8_strlen(assignment, equals - assignment) + 1 + first;
    json_t *value = assigned_value(equals + 1, name, number, column, path, error);
    if (!value)
        return false;
    bool fine = put(source->root, path, value, &wrong);
    json_decref(value);
    if (!fine)
        return json_source_error_at(error, name, number, first, path, "%s", wrong ? wrong : "can't be set");
    struct override *override = g_new(struct override, 1);
    *override = (struct override){.path = g_steal_pointer(&path), .name = name, .number = number, .column = column};
    g_ptr_array_add(source->overrides, override);
    return true;
}

/* ---- nearest word ---- */

/* Edit distance in which a swap of neighbours counts once; rows are reused. */
static unsigned edit_distance(const char *a, const char *b) {
    gsize n = strlen(a), m = strlen(b);
    g_autofree unsigned *rows = g_new0(unsigned, 3 * (m + 1));
    unsigned *before = rows, *last = rows + m + 1, *now = rows + 2 * (m + 1);
    for (gsize j = 0; j <= m; j++)
        last[j] = (unsigned)j;
    for (gsize i = 1; i <= n; i++) {
        now[0] = (unsigned)i;
        for (gsize j = 1; j <= m; j++) {
            char ca = g_ascii_tolower(a[i - 1]), cb = g_ascii_tolower(b[j - 1]);
            now[j] = MIN(MIN(last[j], now[j - 1]) + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == g_ascii_tolower(b[j - 2]) && g_ascii_tolower(a[i - 2]) == cb)
                now[j] = MIN(now[j], before[j - 2] + 1);
        }
        unsigned *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
}

const char *nearest_word(const char *word, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    gsize length = strlen(word);
    unsigned best = length > 200 ? 0 : (unsigned)MAX(length / 2, 2);
    for (size_t i = 0; i < count; i++) {
        if (!candidates[i] || strlen(candidates[i]) > 400)
            continue;
        unsigned distance = edit_distance(word, candidates[i]);
        if (distance < best || (distance == best && !nearest && best)) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
