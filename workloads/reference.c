/* The reference page of all workloads, from their tables of keys. */
#include "workloads/workload.h"

static const char head[] =
    "# Workloads\n\n"
    "`flitsim run MACHINE WORKLOAD`: WORKLOAD is the short form `id:key=value,key=value` (or just `id`), a JSON file\n"
    "`{\"schema\": \"" WORKLOAD_SCHEMA
    "\", \"workload\": \"id\", \"key\": value, ...}`, or the name of a shipped one.\n"
    "`--set workload.KEY=VALUE` goes before both. `--seed N` (1) seeds generated data.\n\n"
    "This page is generated from the tables of keys: `cmake --build --preset release --target docs`.\n";

static void add_key(const struct config_key *key, GString *page) {
    g_autofree char *expected = key_expected_text(key);
    char value[64] = "not given";
    if (key->type == KEY_ENUM)
        g_snprintf(value, sizeof value, "%s", key->names[(int)key->defaults[0]]);
    else if (key->type == KEY_BOOL)
        g_snprintf(value, sizeof value, "%s", key->defaults[0] != 0 ? "true" : "false");
    else if (key->type != KEY_STRING)
        g_snprintf(value, sizeof value, "%g", key->defaults[0]);
    g_string_append_printf(page, "| `%s` | %s | %s | %s |\n", key->path, value, expected, key->sentence);
}

char *workload_reference(void) {
    GString *page = g_string_new(head);
    for (size_t i = 0; workload_types[i]; i++) {
        const struct workload_type *type = workload_types[i];
        g_string_append_printf(page, "\n## %s\n\n%s\n", type->id, type->sentence);
        if (type->bare_key)
            g_string_append_printf(page, "`%s:VALUE` sets `%s`.\n", type->id, type->bare_key);
        if (type->key_count)
            g_string_append(page, "\n| key | default | allowed | meaning |\n|---|---|---|---|\n");
        for (size_t k = 0; k < type->key_count; k++)
            add_key(&type->keys[k], page);
    }
    return g_string_free(page, FALSE);
}
