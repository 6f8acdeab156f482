/* Every key of two whole machine files in turn deleted, renamed, given another type and extreme values, and the text
 * cut and altered at every byte. A machine comes out, or one line in the promised form; never a crash. No randomness.
 */
#include <stdlib.h>
#include <string.h>

#include "machine_text.h"
#include "model/keys.h"

static unsigned accepted, refused;

/* FILE:LINE:COL: PATH: … on one line. */
static void assert_form(const char *message, const char *what) {
    if (!g_regex_match_simple("^(m\\.json|--set|[^:]*\\.map):[1-9][0-9]*:[1-9][0-9]*: .+: .+$", message,
                              G_REGEX_DOLLAR_ENDONLY, 0) ||
        strchr(message, '\n'))
        g_error("%s: %s", what, message);
}

static void try_text(const char *text, gsize length, const char *what) {
    struct json_source source;
    struct machine machine;
    GError *error = NULL;
    bool fine = json_source_parse(&source, "m.json", text, length, &error);
    if (fine) {
        fine = config_read_machine(&machine, &source, &error);
        json_source_clear(&source);
    }
    if (fine) {
        accepted++;
        machine_clear(&machine);
        return;
    }
    refused++;
    g_assert_error(error, FS_ERROR, FS_ERROR_INPUT);
    assert_form(error->message, what);
    g_error_free(error);
}

static void try_tree(const json_t *root, const char *what) {
    char *text = json_dumps(root, JSON_INDENT(1));
    try_text(text, strlen(text), what);
    free(text);
}

static const char *const values[] = {
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "0.5",
    "-0.0",
    "1e308",
    "\"\"",
    "\"x\"",
    "\"\\n\"",
    "[]",
    "[[]]",
    "[0]",
    "{}",
    "{\"x\": 0}",
    "{\"a\": {\"b\": []}}",
};

static void mutate(json_t *root, json_t *node, const char *path);

/* Every value in place of `*place`, which is then put back. */
static void retype_member(json_t *root, json_t *node, const char *key, const char *path) {
    json_t *kept = json_incref(json_object_get(node, key));
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        json_object_set_new(node, key, json_loads(values[i], JSON_DECODE_ANY, NULL));
        try_tree(root, path);
    }
    json_object_del(node, key);
    try_tree(root, path); /* deleted */
    g_autofree char *renamed = g_strconcat(key, "_", NULL);
    json_object_set(node, renamed, kept);
    try_tree(root, path);
    json_object_del(node, renamed);
    json_object_set_new(node, key, kept);
}

static void retype_item(json_t *root, json_t *node, size_t index, const char *path) {
    json_t *kept = json_incref(json_array_get(node, index));
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        json_array_set_new(node, index, json_loads(values[i], JSON_DECODE_ANY, NULL));
        try_tree(root, path);
    }
    json_array_remove(node, index);
    try_tree(root, path);
    json_array_insert(node, index, kept);
    json_array_insert(node, index, kept); /* given twice */
    try_tree(root, path);
    json_array_remove(node, index);
    json_decref(kept);
}

static void mutate(json_t *root, json_t *node, const char *path) {
    GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
    const char *key;
    json_t *value;
    json_object_foreach(node, key, value) g_ptr_array_add(keys, g_strdup(key));
    for (guint i = 0; i < keys->len; i++) {
        g_autofree char *below = json_path_key(path, keys->pdata[i]);
        retype_member(root, node, keys->pdata[i], below);
        mutate(root, json_object_get(node, keys->pdata[i]), below);
    }
    for (size_t i = 0; i < json_array_size(node); i++) {
        g_autofree char *below = json_path_index(path, i);
        retype_item(root, node, i, below);
        mutate(root, json_array_get(node, i), below);
    }
    g_ptr_array_unref(keys);
}

/* Every key there is, written out by the program itself, and the same mesh as a picture. */
static json_t *whole_tree(const char *text) {
    struct machine machine;
    assert_machine(&machine, text, NULL);
    g_autofree char *json = config_machine_json(&machine);
    machine_clear(&machine);
    return json_loads(json, 0, NULL);
}

static void every_key_of_lists(void) {
    json_t *root = whole_tree(MACHINE_TEXT("\"description\": \"d\""));
    mutate(root, root, "");
    json_decref(root);
    g_assert_cmpuint(accepted, >, 100);
    g_assert_cmpuint(refused, >, 1000);
}

static void every_key_of_a_picture(void) {
    json_t *root =
        json_loads("{\"schema\": \"flitsim.machine/1\", \"tokens\": {\"sax\": \"saxpy\"}, \"plugins\": [\"p.so\"],"
                   "\"map\": [\"xxx nul xxx\", \"mag mat sax\", \"xxx vec xxx\"]}",
                   0, NULL);
    mutate(root, root, "");
    json_decref(root);
}

static void every_key_of_meshes(void) {
    json_t *root =
        json_loads("{\"line\": [1, 0], \"meshes\": [{" MACHINE_MAP "}, {\"mesh\": {\"columns\": 1, \"rows\": 1},"
                   "\"ports\": [{\"x\": 0, \"y\": 1}], \"units\": []}]}",
                   0, NULL);
    mutate(root, root, "");
    json_decref(root);
}

/* Cut after every byte, and every byte replaced by each of some that matter to the grammar. */
static void every_byte(void) {
    static const char bytes[] = "{}[]\",:\\ 0-.e\n\x01\x80\xffxu#";
    char text[] = MACHINE_TEXT("\"noc\": {\"fifo_depth\": 12, \"routing\": \"xy\"}, \"clock_mhz\": 1.5e2");
    gsize length = strlen(text);
    for (gsize at = 0; at < length; at++) {
        char kept = text[at];
        try_text(text, at, "cut");
        for (gsize b = 0; b < sizeof bytes; b++) { /* the closing NUL too */
            text[at] = bytes[b];
            try_text(text, length, "altered");
        }
        text[at] = kept;
    }
}

/* Each key once through --set, with the same values as bare words. */
static void every_key_by_set(void) {
    for (size_t i = 0; i < machine_key_count; i++)
        for (size_t v = 0; v < G_N_ELEMENTS(values); v++) {
            struct machine machine;
            g_autofree char *set = g_strdup_printf("%s=%s", machine_keys[i].path, values[v]);
            g_autofree char *message = machine_from_text(&machine, MACHINE_TEXT("\"name\": \"t\""), set);
            if (message)
                assert_form(message, set);
            else
                machine_clear(&machine);
        }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/fuzz/every_key_of_lists", every_key_of_lists);
    g_test_add_func("/config/fuzz/every_key_of_a_picture", every_key_of_a_picture);
    g_test_add_func("/config/fuzz/every_key_of_meshes", every_key_of_meshes);
    g_test_add_func("/config/fuzz/every_byte", every_byte);
    g_test_add_func("/config/fuzz/every_key_by_set", every_key_by_set);
    return g_test_run();
}
