/* The table of parameters: what each row promises holds for the parser, the schema, the page and the presets. */
#include <math.h>

#include "machine_text.h"
#include "model/keys.h"

static char *set_of(const struct config_key *key, double value) {
    if (key->type == KEY_ENUM)
        return g_strdup_printf("%s=%s", key->path, key->names[(int)value]);
    if (key->type == KEY_BOOL)
        return g_strdup_printf("machine.%s=%s", key->path, value != 0 ? "true" : "false");
    return g_strdup_printf("machine.%s=%.17g", key->path, value);
}

static bool is_number(const struct config_key *key) {
    return key->type == KEY_UINT || key->type == KEY_UINT64 || key->type == KEY_DOUBLE;
}

/* Defaults lie in range, paths are unique, every row explains itself. */
static void rows_are_sound(void) {
    for (size_t i = 0; i < machine_key_count; i++) {
        const struct config_key *key = &machine_keys[i];
        g_assert_true(key_find(key->path) == key);
        g_assert_cmpuint(strlen(key->sentence), >, 10);
        for (int preset = 0; is_number(key) && preset < PRESETS; preset++) {
            g_assert_cmpfloat(key->defaults[preset], >=, key->min);
            g_assert_cmpfloat(key->defaults[preset], <=, key->max);
        }
    }
}

/* Bounds are accepted by the row itself (a relation to another key may still refuse), what lies beyond is not. */
static void bounds_are_inclusive(void) {
    for (size_t i = 0; i < machine_key_count; i++) {
        const struct config_key *key = &machine_keys[i];
        double step = key->type == KEY_DOUBLE ? fmax(fabs(key->max) * 1e-9, 1e-6) : 1;
        const double values[] = {key->min, key->max, key->min - step, key->max + step};
        for (size_t v = 0; is_number(key) && v < G_N_ELEMENTS(values); v++) {
            struct machine machine;
            g_autofree char *set = set_of(key, values[v]);
            g_autofree char *message = machine_from_text(&machine, MACHINE_TEXT("\"name\": \"t\""), set);
            bool out_of_range = message && strstr(message, " is ") && strstr(message, ", expected a ") &&
                                strstr(message, "..") && g_str_has_prefix(message, "--set:1:");
            if (out_of_range != (v >= 2))
                g_error("%s: %s", set, message ? message : "accepted");
            if (!message)
                machine_clear(&machine);
        }
    }
}

/* Every name of every choice and both states of every flag are read back as they were given. */
static void choices_are_read_back(void) {
    for (size_t i = 0; i < machine_key_count; i++) {
        const struct config_key *key = &machine_keys[i];
        int count = key->type == KEY_BOOL ? 2 : key->type == KEY_ENUM ? (int)g_strv_length((char **)key->names) : 0;
        for (int value = 0; value < count; value++) {
            struct machine machine;
            g_autofree char *set = set_of(key, value);
            g_autofree char *message = machine_from_text(&machine, MACHINE_TEXT("\"name\": \"t\""), set);
            if (message) { /* only for want of another key, which the message names */
                if (!strstr(message, " and "))
                    g_error("%s: %s", set, message);
                continue;
            }
            g_autofree char *text = key_text(key, &machine);
            g_autofree char *want = key->type == KEY_ENUM ? g_strdup_printf("\"%s\"", key->names[value])
                                                          : g_strdup(value ? "true" : "false");
            g_assert_cmpstr(text, ==, want);
            machine_clear(&machine);
        }
    }
}

/* A value that does not parse whole is an error for every number, whatever it begins with. */
static void values_are_parsed_whole(void) {
    static const char *const values[] = {"0.1x", "1e",  "",    "nan",   "0x",
                                         "0x10", "inf", "1 2", "\"1\"", "true",
                                         "null", "[1]", "{}",  "1,",    "99999999999999999999",
                                         "1e999"};
    for (size_t i = 0; i < machine_key_count; i++)
        for (size_t v = 0; is_number(&machine_keys[i]) && v < G_N_ELEMENTS(values); v++) {
            struct machine machine;
            const char *path = machine_keys[i].path;
            g_autofree char *set = g_strdup_printf("%s=%s", path, values[v]);
            g_autofree char *message = machine_from_text(&machine, MACHINE_TEXT("\"name\": \"t\""), set);
            g_autofree char *prefix = g_strdup_printf("--set:1:%zu: %s: ", strlen(path) + 2, path);
            if (!message || !g_str_has_prefix(message, prefix))
                g_error("%s: %s", set, message ? message : "accepted");
        }
}

static void whole_numbers_are_no_fractions(void) {
    assert_refused(MACHINE_TEXT("\"noc\": {\"fifo_depth\": 8.0}"), NULL,
                   "m.json:1:24: noc.fifo_depth: is 8.0, expected a whole number 1..65536 flits");
    assert_refused(MACHINE_TEXT("\"noc\": {\"fifo_depth\": -1}"), NULL,
                   "m.json:1:24: noc.fifo_depth: is -1, expected a whole number 1..65536 flits");
}

static void unknown_keys_name_the_nearest(void) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {MACHINE_TEXT("\"noc\": {\"fifo_dpeth\": 8}"),
         "m.json:1:10: noc.fifo_dpeth: unknown key, expected perhaps noc.fifo_depth"},
        {MACHINE_TEXT("\"fifo_depth\": 8"), "m.json:1:2: fifo_depth: unknown key, expected perhaps noc.fifo_depth"},
        {MACHINE_TEXT("\"memry\": {}"), "m.json:1:2: memry: unknown key, expected perhaps memory"},
        {MACHINE_TEXT("\"qqqqqqqqqqq\": {}"),
         "m.json:1:2: qqqqqqqqqqq: unknown key, expected a key of docs/configuration.md"},
        {MACHINE_TEXT("\"noc\": 3"), "m.json:1:9: noc: is a whole number, expected an object of keys"},
        {MACHINE_TEXT("\"noc\": {\"routing\": \"xyz\"}"),
         "m.json:1:21: noc.routing: is \"xyz\", expected one of xy, yx, west_first, odd_even, table (nearest: xy)"},
        {MACHINE_TEXT("\"schema\": \"flitsim.machine/2\""),
         "m.json:1:12: schema: is \"flitsim.machine/2\", expected \"flitsim.machine/1\""},
        {MACHINE_TEXT("\"preset\": \"shp\""),
         "m.json:1:12: preset: is \"shp\", expected one of bench, ship (nearest: ship)"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_refused(rows[i].text, NULL, rows[i].message);
}

/* noc-and-memory §11.3, the rows that differ, and some that don't. */
static void presets_hold_the_published_values(void) {
    static const struct {
        const char *path, *bench, *ship;
    } rows[] = {
        {"noc.fifo_depth", "32", "512"},
        {"endpoint.inst_depth", "32", "512"},
        {"endpoint.recv_depth", "16", "512"},
        {"memory.channel_bits", "256", "512"},
        {"memory.latency", "1", "31"},
        {"memory.attachment", "\"per_port\"", "\"converged\""},
        {"noc.fall_through", "3", "3"},
        {"noc.fifo_extra", "2", "2"},
        {"memory.crossing", "8", "8"},
        {"endpoint.completion_depth", "16", "16"},
        {"agent.staging_flits", "128", "128"},
        {"agent.commands", "128", "128"},
        {"agent.poll_interval", "31", "31"},
        {"memory.queue_depth", "64", "64"},
        {"memory.queue_margin", "4", "4"},
        {"memory.write_slots", "16", "16"},
        {"memory.write_burst", "8", "8"},
        {"memory.reads_in_flight", "1", "1"},
        {"memory.size", "4294967296", "4294967296"},
        {"memory.fetch_transform", "false", "false"},
        {"mover.fifo_depth", "512", "512"},
        {"mover.max_writes", "32", "32"},
        {"interlink.rx_beats", "64", "64"},
        {"clock_mhz", "300", "300"},
        {"cluster.l1_a", "512", "512"},
        {"cluster.tiles", "512", "512"},
    };
    struct machine bench, ship;
    assert_machine(&bench, MACHINE_TEXT("\"name\": \"t\""), NULL);
    assert_machine(&ship, MACHINE_TEXT("\"preset\": \"ship\""), NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *of_bench = key_text(key_find(rows[i].path), &bench);
        g_autofree char *of_ship = key_text(key_find(rows[i].path), &ship);
        g_assert_cmpstr(of_bench, ==, rows[i].bench);
        g_assert_cmpstr(of_ship, ==, rows[i].ship);
    }
    machine_clear(&bench);
    machine_clear(&ship);
    assert_machine(&ship, MACHINE_TEXT("\"noc\": {\"fifo_depth\": 9}, \"preset\": \"ship\""), NULL);
    g_assert_cmpuint(ship.noc.fifo_depth, ==, 9); /* also when the preset comes later in the file */
    machine_clear(&ship);
}

static void relations_name_both_values(void) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {MACHINE_TEXT("\"cluster\": {\"tiles\": 500}"), "m.json:1:23: cluster.tiles: is 500, expected a power of two"},
        {MACHINE_TEXT("\"memory\": {\"channel_bits\": 768}"),
         "m.json:1:29: memory.channel_bits: is 768, expected a power of two times 256 bits"},
        {MACHINE_TEXT("\"memory\": {\"queue_depth\": 4}"),
         "m.json:1:28: memory.queue_depth: memory.queue_margin is 4 and memory.queue_depth is 4, expected the first to "
         "be smaller"},
        {MACHINE_TEXT("\"cluster\": {\"drain_queue\": 64}"),
         "m.json:1:29: cluster.drain_queue: cluster.drain_limit is 112 and cluster.drain_queue is 64, expected the "
         "first to be no larger"},
        {MACHINE_TEXT("\"noc\": {\"routing\": \"table\"}"),
         "m.json:1:21: noc.routing: noc.routing is table and noc.routing_table is not given, expected table with a "
         "file, or neither"},
        {MACHINE_TEXT("\"memory\": {\"refresh_cycles\": 9, \"refresh_interval\": 9}"),
         "m.json:1:31: memory.refresh_cycles: memory.refresh_cycles is 9 and memory.refresh_interval is 9, expected "
         "the "
         "first to be smaller"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_refused(rows[i].text, NULL, rows[i].message);
}

static void nanoseconds_become_cycles(void) {
    static const struct {
        const char *text;
        unsigned cycles;
    } rows[] = {
        {MACHINE_TEXT("\"memory\": {\"latency_ns\": 100}"), 30},
        {MACHINE_TEXT("\"memory\": {\"latency_ns\": 101}"), 31},
        {MACHINE_TEXT("\"clock_mhz\": 450, \"memory\": {\"latency_ns\": 100}"), 45},
        {MACHINE_TEXT("\"memory\": {\"latency_ns\": 0, \"latency\": 7}"), 7},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine machine;
        assert_machine(&machine, rows[i].text, NULL);
        g_assert_cmpuint(machine.memory.latency, ==, rows[i].cycles);
        machine_clear(&machine);
    }
}

/* Legal, but two writes per unit must be able to stand open (noc-and-memory §12.1, 21). */
static void few_write_slots_are_warned_of(void) {
    struct machine machine;
    assert_machine(&machine, MACHINE_TEXT("\"memory\": {\"write_slots\": 1}"), NULL);
    char **warnings = machine_warnings(&machine);
    g_assert_cmpuint(g_strv_length(warnings), ==, 1);
    g_assert_true(g_str_has_prefix(warnings[0], "wr.slots_undersized: memory port 0 has 1 writers"));
    g_strfreev(warnings);
    machine_clear(&machine);
}

static void schema_knows_every_key(void) {
    g_autofree char *text = config_schema();
    json_t *schema = json_loads(text, 0, NULL), *properties = json_object_get(schema, "properties");
    g_assert_nonnull(schema);
    for (size_t i = 0; i < machine_key_count; i++) {
        g_auto(GStrv) parts = g_strsplit(machine_keys[i].path, ".", 2);
        json_t *entry = json_object_get(properties, parts[0]);
        if (parts[1])
            entry = json_object_get(json_object_get(entry, "properties"), parts[1]);
        g_assert_cmpstr(json_string_value(json_object_get(entry, "description")), ==, machine_keys[i].sentence);
    }
    json_decref(schema);
}

/* docs/configuration.md is what the table says today: `cmake --build … --target docs` writes it anew. */
static void reference_page_is_fresh(void) {
    g_autofree char *page = config_reference();
    g_autofree char *stored = NULL;
    g_assert_true(g_file_get_contents(FLITSIM_SOURCE_DIR "/docs/configuration.md", &stored, NULL, NULL));
    if (!g_str_equal(page, stored))
        g_error("docs/configuration.md is stale: build the target docs");
}

/* The parameters of reference/runs.json can be said. */
static void reference_runs_can_be_said(void) {
    struct machine machine;
    assert_machine(&machine,
                   MACHINE_TEXT("\"rtl_defects\": true, \"noc\": {\"fifo_depth\": 32, \"arbiter_phase\": 4}, "
                                "\"endpoint\": {\"inst_depth\": 512, \"recv_depth\": 512}, "
                                "\"agent\": {\"staging_flits\": 1400}, \"cluster\": {\"tiles\": 4096, \"l1_a\": 512, "
                                "\"l1_b\": 512}, \"memory\": {\"attachment\": \"converged\", \"channel_bits\": 512, "
                                "\"reads_in_flight\": 1, \"write_burst\": 1, \"write_slots\": 16, \"latency\": 1, "
                                "\"fetch_transform\": true}"),
                   NULL);
    g_assert_cmpuint(machine.cluster.tiles, ==, 4096);
    g_assert_cmpuint(machine.agent.staging_flits, ==, 1400);
    g_assert_cmpint(machine.memory.attachment, ==, MEMORY_CONVERGED);
    machine_clear(&machine);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/keys/rows_are_sound", rows_are_sound);
    g_test_add_func("/keys/bounds_are_inclusive", bounds_are_inclusive);
    g_test_add_func("/keys/choices_are_read_back", choices_are_read_back);
    g_test_add_func("/keys/values_are_parsed_whole", values_are_parsed_whole);
    g_test_add_func("/keys/whole_numbers_are_no_fractions", whole_numbers_are_no_fractions);
    g_test_add_func("/keys/unknown_keys_name_the_nearest", unknown_keys_name_the_nearest);
    g_test_add_func("/keys/presets_hold_the_published_values", presets_hold_the_published_values);
    g_test_add_func("/keys/relations_name_both_values", relations_name_both_values);
    g_test_add_func("/keys/nanoseconds_become_cycles", nanoseconds_become_cycles);
    g_test_add_func("/keys/few_write_slots_are_warned_of", few_write_slots_are_warned_of);
    g_test_add_func("/keys/schema_knows_every_key", schema_knows_every_key);
    g_test_add_func("/keys/reference_page_is_fresh", reference_page_is_fresh);
    g_test_add_func("/keys/reference_runs_can_be_said", reference_runs_can_be_said);
    return g_test_run();
}
