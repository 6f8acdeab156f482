/* Where in a text a value stands, and one clear line for whatever is wrong with it. */
#include <string.h>

#include <glib/gstdio.h>

#include "model/json_source.h"

static const char sample[] = "{\n"
                             "  \"noc\": {\"fifo_depth\": 8},\n"
                             "  \"é\": [ 1, {\"x\": 2} ],\n"
                             "  \"a\\u0062c\": true\n"
                             "}\n";

static void positions_of_keys_and_values(void) {
    static const struct {
        enum json_place place;
        const char *path;
        unsigned line, column;
    } rows[] = {
        {JSON_PLACE_VALUE, "", 1, 1},
        {JSON_PLACE_KEY, "noc", 2, 3},
        {JSON_PLACE_VALUE, "noc", 2, 10},
        {JSON_PLACE_KEY, "noc.fifo_depth", 2, 11},
        {JSON_PLACE_VALUE, "noc.fifo_depth", 2, 25},
        {JSON_PLACE_VALUE, "é[0]", 3, 10},
        {JSON_PLACE_VALUE, "é[1].x", 3, 19}, /* columns count characters, not bytes */
        {JSON_PLACE_KEY, "abc", 4, 3},       /* escapes are read */
        {JSON_PLACE_VALUE, "abc", 4, 15},
        {JSON_PLACE_VALUE, "noc.missing", 2, 10}, /* the innermost part that exists */
        {JSON_PLACE_VALUE, "no", 1, 1},           /* no part of "noc" */
        {JSON_PLACE_VALUE, "é[7].x", 3, 8},
    };
    struct json_source source;
    GError *error = NULL;
    g_assert_true(json_source_parse(&source, "s.json", sample, strlen(sample), &error));
    g_assert_no_error(error);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        unsigned line, column;
        json_source_position(&source, rows[i].place, rows[i].path, &line, &column);
        g_autofree char *got = g_strdup_printf("%s at %u:%u", rows[i].path, line, column);
        g_autofree char *want = g_strdup_printf("%s at %u:%u", rows[i].path, rows[i].line, rows[i].column);
        g_assert_cmpstr(got, ==, want);
    }
    json_source_clear(&source);
}

static const struct {
    const char *text, *message;
} broken[] = {
    {"", "t.json:1:1: (file): is empty, expected a JSON object"},
    {" \n ", "t.json:1:1: (file): is empty, expected a JSON object"},
    {"[1]", "t.json:1:1: (top): is a list, expected an object"},
    {"{\"a\": 1,}", "t.json:1:8: (top): comma after the last key, expected none"},
    {"{\"a\": {\"b\": [1, 2,\n]}}", "t.json:1:18: a.b: comma after the last item, expected none"},
    {"{\"a\": 1\n \"b\": 2}", "t.json:2:2: (top): found '\"', expected ',' or '}'"},
    {"{\"a\" 1}", "t.json:1:6: a: found '1', expected ':' after the key"},
    {"{a: 1}", "t.json:1:2: (top): found 'a', expected a key in double quotes"},
    {"{\"a\": 1, \"b\": {\"a\": 1,\n\"a\": 2}}", "t.json:2:1: b.a: key is given twice, expected it once"},
    {"{\"ab\": 1, \"\\u0061b\": 2}", "t.json:1:11: ab: key is given twice, expected it once"},
    {"{\"a\": 1} x", "t.json:1:10: (top): found 'x', expected the end of the text"},
    {"{\"a\": 1", "t.json:1:8: (top): found the end of the text, expected ',' or '}'"},
    {"{\"a\": \"b}", "t.json:1:7: a: text is not closed, expected '\"'"},
    {"{\"a\": \"b\n\"}", "t.json:1:7: a: text is not closed on its line, expected '\"'"},
    {"{\"a\": \"\\q\"}", "t.json:1:7: a: text holds an escape that JSON does not have"},
    {"{\"a\": \"\\u0000\"}", "t.json:1:7: a: text holds an escape that JSON does not have"},
    {"{\"a\": 99999999999999999999}",
     "t.json:1:7: a: 99999999999999999999 is too large, expected a magnitude below 9.2e18"},
    {"{\"a\": 1e999}", "t.json:1:7: a: 1e999 is too large, expected a magnitude below 1.8e308"},
    {"{\"a\": \"\xff\"}", "t.json:1:8: (file): byte 0xFF is not UTF-8 text, expected UTF-8"},
};

static void broken_text_is_one_line(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(broken); i++) {
        struct json_source source;
        GError *error = NULL;
        g_assert_false(json_source_parse(&source, "t.json", broken[i].text, strlen(broken[i].text), &error));
        g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
        g_assert_cmpstr(error->message, ==, broken[i].message);
        g_error_free(error);
    }
}

static void values_that_are_none(void) {
    static const char *const words[] = {"NaN", "nan", "Infinity", "-",    "+1",  "01",  "0x10",  "1.",
                                        ".5",  "1e",  "1e+",      "True", "nul", "'a'", "1_000", "--1"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        struct json_source source;
        GError *error = NULL;
        g_autofree char *text = g_strdup_printf("{\"a\": %s}", words[i]);
        if (json_source_parse(&source, "t.json", text, strlen(text), &error))
            g_error("%s was taken for a value", words[i]);
        if (!g_str_has_prefix(error->message, "t.json:1:7: a: found '"))
            g_error("%s: %s", words[i], error->message);
        g_error_free(error);
    }
}

/* Deep nesting ends in a message, not in the stack; a NUL byte ends nothing early. */
static void hostile_text(void) {
    struct json_source source;
    GError *error = NULL;
    GString *deep = g_string_new("{\"a\":");
    for (int i = 0; i < 200000; i++)
        g_string_append_c(deep, '[');
    g_assert_false(json_source_parse(&source, "t.json", deep->str, deep->len, &error));
    g_assert_nonnull(strstr(error->message, "nested deeper than"));
    g_clear_error(&error);
    g_string_free(deep, TRUE);
    g_assert_false(json_source_parse(&source, "t.json", "{\"a\": 1}\0x", 10, &error));
    g_assert_cmpstr(error->message, ==, "t.json:1:9: (file): byte 0x00 is not UTF-8 text, expected UTF-8");
    g_clear_error(&error);
}

static void assert_load_fails(const char *file, const char *tail) {
    struct json_source source;
    GError *error = NULL;
    g_autofree char *want = g_strdup_printf("%s:1:1: (file): %s", file, tail);
    g_assert_false(json_source_load(&source, file, &error));
    g_assert_cmpstr(error->message, ==, want);
    g_error_free(error);
}

static void files_that_are_none(void) {
    g_autofree char *folder = g_dir_make_tmp("flitsim-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "empty.json", NULL);
    g_autofree char *missing = g_build_filename(folder, "missing.json", NULL);
    g_assert_true(g_file_set_contents(file, "", 0, NULL));
    assert_load_fails(missing, "can't be opened: No such file or directory, expected a readable file");
    assert_load_fails(folder, "is a directory, expected a file");
    assert_load_fails(file, "is empty, expected a JSON object");
    assert_load_fails("/dev/zero", "is a device, expected a file");
    g_unlink(file);
    g_rmdir(folder);
}

static void set_reaches_every_kind_of_place(void) {
    static const char *const sets[] = {"machine.noc.fifo_depth=16",
                                       "new.deep.key=word",
                                       "é[1].x={\"y\": [1.5]}",
                                       "abc=a=b",
                                       "quoted=\"1\"",
                                       "negative=-1"};
    struct json_source source;
    GError *error = NULL;
    g_assert_true(json_source_parse(&source, "s.json", sample, strlen(sample), &error));
    for (unsigned i = 0; i < G_N_ELEMENTS(sets); i++) {
        json_source_set(&source, i + 1, "machine", sets[i], &error);
        g_assert_no_error(error);
    }
    char *dump = json_dumps(source.root, JSON_COMPACT | JSON_REAL_PRECISION(6));
    g_assert_cmpstr(dump, ==,
                    "{\"noc\":{\"fifo_depth\":16},\"é\":[1,{\"x\":{\"y\":[1.5]}}],\"abc\":\"a=b\","
                    "\"new\":{\"deep\":{\"key\":\"word\"}},\"quoted\":\"1\",\"negative\":-1}");
    free(dump);
    json_source_error(&source, &error, JSON_PLACE_VALUE, "noc.fifo_depth", 0, "is wrong");
    g_assert_cmpstr(error->message, ==, "--set:1:24: noc.fifo_depth: is wrong");
    g_clear_error(&error);
    json_source_error(&source, &error, JSON_PLACE_VALUE, "noc", 0, "is wrong"); /* the text has it */
    g_assert_cmpstr(error->message, ==, "s.json:2:10: noc: is wrong");
    g_clear_error(&error);
    json_source_error(&source, &error, JSON_PLACE_VALUE, "new.deep", 0, "is wrong"); /* only a --set has it */
    g_assert_cmpstr(error->message, ==, "--set:2:14: new.deep: is wrong");
    g_clear_error(&error);
    json_source_error(&source, &error, JSON_PLACE_VALUE, "é[0]", 0, "is wrong"); /* untouched: still the file's */
    g_assert_cmpstr(error->message, ==, "s.json:3:10: é[0]: is wrong");
    g_clear_error(&error);
    json_source_clear(&source);
}

static void set_refuses(void) {
    static const struct {
        const char *set, *message;
    } rows[] = {
        {"noc", "--set:3:1: noc: is no assignment, expected PATH=VALUE"},
        {"=1", "--set:3:1: =1: is no assignment, expected PATH=VALUE"},
        {"", "--set:3:1: (top): is no assignment, expected PATH=VALUE"},
        {"noc.fifo_depth=", "--set:3:16: noc.fifo_depth: value is missing, expected PATH=VALUE"},
        {"noc..x=1", "--set:3:1: noc..x: is not a path, expected names joined by dots"},
        {"noc.=1", "--set:3:1: noc.: is not a path, expected names joined by dots"},
        {"abc.x=1", "--set:3:1: abc.x: 'x' stands in true, expected an object"},
        {"noc[0]=1", "--set:3:1: noc[0]: '[0]' stands in an object, expected a list"},
        {"é[2]=1", "--set:3:1: é[2]: [2] is not in the list, which has 2 items"},
        {"é[-1]=1", "--set:3:1: é[-1]: [-1] is not in the list, which has 2 items"},
        {"é[=1", "--set:3:1: é[: is not a path, expected names joined by dots"},
    };
    struct json_source source;
    g_assert_true(json_source_parse(&source, "s.json", sample, strlen(sample), NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        GError *error = NULL;
        g_assert_false(json_source_set(&source, 3, "machine", rows[i].set, &error));
        g_assert_cmpstr(error->message, ==, rows[i].message);
        g_error_free(error);
    }
    json_source_clear(&source);
}

static void nearest(void) {
    static const char *const words[] = {"fifo_depth", "fall_through", "routing"};
    g_assert_cmpstr(nearest_word("fifo_detph", words, 3), ==, "fifo_depth");
    g_assert_cmpstr(nearest_word("FIFO_DEPTH", words, 3), ==, "fifo_depth");
    g_assert_cmpstr(nearest_word("rooting", words, 3), ==, "routing");
    g_assert_null(nearest_word("quantiser", words, 3));
    g_assert_null(nearest_word("x", words, 0));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json_source/positions_of_keys_and_values", positions_of_keys_and_values);
    g_test_add_func("/json_source/broken_text_is_one_line", broken_text_is_one_line);
    g_test_add_func("/json_source/values_that_are_none", values_that_are_none);
    g_test_add_func("/json_source/hostile_text", hostile_text);
    g_test_add_func("/json_source/files_that_are_none", files_that_are_none);
    g_test_add_func("/json_source/set_reaches_every_kind_of_place", set_reaches_every_kind_of_place);
    g_test_add_func("/json_source/set_refuses", set_refuses);
    g_test_add_func("/json_source/nearest", nearest);
    return g_test_run();
}
