/* The mesh: shipped maps against the published table, the three forms against each other, and what is no mesh. */
#include <stdlib.h>

#include <glib/gstdio.h>

#include "machine_text.h"
#include "model/keys.h"
#include "model/map.h"

/* noc-and-memory §11.2, copied: places "x,y" in reading order, each group followed by ">port". */
static const struct {
    const char *name;
    unsigned nx, ny;
    const char *ports, *clusters, *vectors;
} shipped[] = {
    {"one", 1, 1, "0,1", "1,1 >0", ""},
    {"ref2", 1, 2, "0,1 0,2", "1,1 >0 1,2 >1", ""},
    {"ref4", 1, 4, "0,1 0,2 0,3 0,4", "1,1 >0 1,2 >1 1,3 >2 1,4 >3", ""},
    {"ref8", 2, 4, "0,1 0,2 0,3 0,4", "1,1 2,1 >0 1,2 2,2 >1 1,3 2,3 >2 1,4 2,4 >3", ""},
    {"base2", 1, 2, "0,1", "1,1 1,2 >0", ""},
    {"ship_1x1_min", 1, 1, "0,1", "1,1 >0", "1,0 >0"},
    {"ship_1x1_2_2", 1, 1, "0,1", "1,1 2,1 >0", "1,0 1,2 >0"},
    {"ship_1x2_4_0", 1, 2, "0,1 0,2", "1,1 2,1 >0 1,2 2,2 >1", ""},
    {"ship_2x1_6_0", 2, 1, "0,1 3,1", "1,0 1,1 1,2 >0 2,0 2,1 2,2 >1", ""},
    {"ship_2x2_bringup", 2, 2, "0,1 0,2", "1,1 >0 1,2 >1", "1,0 2,0 >0 1,3 2,3 >1"},
    {"ship_2x2_one_port", 2, 2, "0,1", "1,1 1,2 >0", "1,0 2,0 1,3 2,3 >0"},
    {"ship_2x2_4_4_ns", 2, 2, "0,1 0,2", "1,1 2,1 >0 1,2 2,2 >1", "1,0 2,0 >0 1,3 2,3 >1"},
    {"ship_2x2_4_4_ne", 2, 2, "0,1 0,2", "1,1 2,1 >0 1,2 2,2 >1", "1,0 2,0 3,1 >0 3,2 >1"},
    {"ship_2x2_6_0", 2, 2, "0,1 0,2", "1,0 1,1 2,1 >0 1,2 2,2 1,3 >1", ""},
    {"ship_2x2_6_2", 2, 2, "0,1 0,2", "1,0 1,1 2,1 >0 1,2 2,2 1,3 >1", "2,0 >0 2,3 >1"},
    {"ship_2x2_6_4", 2, 2, "0,1 0,2", "1,1 2,1 3,1 >0 1,2 2,2 3,2 >1", "1,0 2,0 >0 1,3 2,3 >1"},
    {"ship_2x2_7_2", 2, 2, "0,1 0,2", "1,0 1,1 2,1 3,1 >0 1,2 2,2 1,3 >1", "2,0 >0 2,3 >1"},
    {"ship_2x2_8_2", 2, 2, "0,1 0,2", "1,0 2,0 1,1 2,1 >0 1,2 2,2 1,3 2,3 >1", "3,1 >0 3,2 >1"},
    {"ship_2x3_6_3", 2, 3, "0,1 0,2 0,3", "1,1 2,1 >0 1,2 2,2 >1 1,3 2,3 >2", "1,0 2,0 3,1 >0"},
    {"ship_3x2_6_3", 2, 3, "0,1 0,2 0,3", "1,1 2,1 >0 1,2 2,2 >1 1,3 2,3 >2", "3,1 >0 3,2 >1 3,3 >2"},
    {"ship_3x2_6_4", 2, 3, "0,1 0,2 0,3", "1,1 2,1 >0 1,2 2,2 >1 1,3 2,3 >2", "1,0 2,0 >0 1,4 2,4 >2"},
    {"ship_2x4_8_8", 2, 4, "0,1 0,2 0,3 0,4", "1,1 2,1 >0 1,2 2,2 >1 1,3 2,3 >2 1,4 2,4 >3",
     "1,0 2,0 3,1 >0 3,2 >1 3,3 >2 3,4 1,5 2,5 >3"},
    {"ship_4x2_4_4", 2, 4, "0,1 0,2 0,3 0,4", "1,1 >0 1,2 >1 1,3 >2 1,4 >3", "2,1 >0 2,2 >1 2,3 >2 2,4 >3"},
    {"ship_4x2_4_10", 4, 2, "0,1 0,2", "1,1 3,1 >0 1,2 3,2 >1", "1,0 2,0 3,0 4,0 5,1 >0 5,2 1,3 2,3 3,3 4,3 >1"},
    {"ship_4x4_8_12", 4, 4, "0,1 0,2 0,3 0,4", "1,1 3,1 >0 1,2 3,2 >1 1,3 3,3 >2 1,4 3,4 >3",
     "1,0 2,0 3,0 4,0 5,1 >0 5,2 >1 5,3 >2 5,4 1,5 2,5 3,5 4,5 >3"},
    {"ship_5x4_8_16", 5, 4, "0,1 0,2 0,3 0,4", "1,1 4,1 >0 1,2 4,2 >1 1,3 4,3 >2 1,4 4,4 >3",
     "1,0 2,0 4,0 5,0 3,1 6,1 >0 3,2 6,2 >1 3,3 6,3 >2 3,4 6,4 1,5 2,5 4,5 5,5 >3"},
};

/* The units of one kind at one port, in reading order, which is the order of their numbers. */
static void note_units(GString *text, const struct machine *machine, int kind, unsigned port) {
    unsigned number = 0, last = 0, noted = 0;
    for (unsigned i = 0; i < machine->unit_count; i++) {
        const struct machine_unit *unit = &machine->units[i];
        if (unit->kind != kind)
            continue;
        g_autofree char *name = g_strdup_printf("%s%u", unit->type, number++);
        g_assert_cmpstr(unit->name, ==, name);
        g_assert_cmpuint(unit->y * 16 + unit->x, >, last);
        last = unit->y * 16 + unit->x;
        if (unit->port == port && ++noted)
            g_string_append_printf(text, "%s%u,%u", text->len ? " " : "", unit->x, unit->y);
    }
    if (noted)
        g_string_append_printf(text, " >%u", port);
}

/* The machine in the notation of the table above. */
static char *notation(const struct machine *machine, int kind) {
    GString *text = g_string_new(NULL);
    for (unsigned port = 0; port < machine->port_count; port++)
        note_units(text, machine, kind, port);
    return g_string_free(text, FALSE);
}

static char *port_notation(const struct machine *machine) {
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < machine->port_count; i++)
        g_string_append_printf(text, "%s%u,%u", i ? " " : "", machine->ports[i].x, machine->ports[i].y);
    return g_string_free(text, FALSE);
}

static void load(struct machine *machine, const char *name) {
    GError *error = NULL;
    g_autofree char *file = g_strdup_printf("%s/configs/machines/%s.json", FLITSIM_SOURCE_DIR, name);
    config_load_machine(machine, file, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(machine->name, ==, name);
}

static void shipped_maps_are_the_published_ones(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(shipped); i++) {
        struct machine machine;
        load(&machine, shipped[i].name);
        g_autofree char *ports = port_notation(&machine);
        g_autofree char *clusters = notation(&machine, UNIT_CLUSTER), *vectors = notation(&machine, UNIT_VECTOR);
        g_test_message("%s", shipped[i].name);
        g_assert_cmpuint(machine.nx, ==, shipped[i].nx);
        g_assert_cmpuint(machine.ny, ==, shipped[i].ny);
        g_assert_cmpstr(ports, ==, shipped[i].ports);
        g_assert_cmpstr(clusters, ==, shipped[i].clusters);
        g_assert_cmpstr(vectors, ==, shipped[i].vectors);
        g_assert_cmpint(machine.preset, ==, g_str_has_prefix(shipped[i].name, "ship_") ? PRESET_SHIP : PRESET_BENCH);
        machine_clear(&machine);
    }
}

/* Every file of the folder is in the table above or a bare mesh: none is shipped unseen. */
static void no_shipped_machine_is_left_out(void) {
    GDir *folder = g_dir_open(FLITSIM_SOURCE_DIR "/configs/machines", 0, NULL);
    const char *entry;
    unsigned bare = 0, mapped = 0, joined = 0;
    while ((entry = g_dir_read_name(folder))) {
        g_autofree char *name = g_strndup(entry, strlen(entry) - strlen(".json"));
        struct machine machine;
        load(&machine, name);
        bare += machine.bare;
        joined += machine.mesh_count > 0;
        unsigned known = machine.bare || machine.mesh_count;
        for (size_t i = 0; i < G_N_ELEMENTS(shipped); i++)
            if (g_str_equal(shipped[i].name, name))
                known = ++mapped;
        if (!known)
            g_error("%s is shipped, but no test knows what it should be", name);
        machine_clear(&machine);
    }
    g_dir_close(folder);
    g_assert_cmpuint(mapped, ==, G_N_ELEMENTS(shipped));
    g_assert_cmpuint(bare, ==, 5);
    g_assert_cmpuint(joined, ==, 1);
}

/* workloads §0.2 */
static void reference_machines_have_the_published_sizes(void) {
    static const struct {
        const char *name;
        unsigned tiles;
    } rows[] = {{"ref2", 512}, {"ref4", 512}, {"ref8", 512}, {"base2", 64}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine machine;
        load(&machine, rows[i].name);
        g_assert_cmpuint(machine.cluster.tiles, ==, rows[i].tiles);
        g_assert_cmpuint(machine.cluster.l1_a, ==, 128);
        g_assert_cmpuint(machine.cluster.l1_b, ==, 256);
        g_assert_cmpuint(machine.noc.fifo_depth, ==, 32);
        g_assert_cmpuint(machine.agent.staging_flits, ==, 128);
        g_assert_cmpuint(machine.agent.commands, ==, 128);
        g_assert_cmpint(machine.memory.attachment, ==, MEMORY_PER_PORT);
        g_assert_cmpuint(machine.memory.latency, ==, 1);
        machine_clear(&machine);
    }
}

/* Everything that a machine is, as text: equal text, equal machine. */
static void assert_same(const struct machine *a, const struct machine *b) {
    g_autofree char *text_a = config_machine_json(a), *text_b = config_machine_json(b);
    g_assert_cmpstr(text_a, ==, text_b);
}

#define PICTURE                                                                                                        \
    "\"name\": \"m\", \"tokens\": {\"sax\": \"saxpy\"}, "                                                              \
    "\"map\": [\"xxx mat nul xxx\", \"mag-mat-vec-mag\", \"... sax mat ...  # comment\", \"xxx nul vec xxx\"]"

static void picture_and_lists_are_the_same_machine(void) {
    struct machine picture, lists;
    assert_machine(&picture, "{" PICTURE "}", NULL);
    assert_machine(
        &lists,
        "{\"name\": \"m\", \"tokens\": {\"sax\": \"saxpy\"}, \"mesh\": {\"columns\": 2, \"rows\": 2},"
        "\"ports\": [{\"x\": 0, \"y\": 1}, {\"x\": 3, \"y\": 1}],"
        "\"units\": [{\"type\": \"vector\", \"x\": 2, \"y\": 3}, {\"type\": \"cluster\", \"x\": 2, \"y\": 2},"
        "{\"type\": \"saxpy\", \"x\": 1, \"y\": 2}, {\"type\": \"vector\", \"x\": 2, \"y\": 1},"
        "{\"type\": \"cluster\", \"x\": 1, \"y\": 1}, {\"type\": \"cluster\", \"x\": 1, \"y\": 0}]}",
        NULL);
    assert_same(&picture, &lists);
    g_assert_cmpuint(lists.unit_count, ==, 6);
    g_assert_cmpint(lists.units[3].kind, ==, UNIT_PLUGIN);
    g_assert_cmpstr(lists.units[3].name, ==, "saxpy0");
    g_assert_cmpuint(lists.units[4].port, ==, 1); /* (2,2) is nearer to (3,1) than to (0,1) */
    machine_clear(&picture);
    machine_clear(&lists);
}

static void map_file_is_the_same_machine(void) {
    GError *error = NULL;
    struct machine picture, beside;
    g_autofree char *folder = g_dir_make_tmp("flitsim-XXXXXX", NULL);
    g_autofree char *map = g_build_filename(folder, "x.map", NULL), *file = g_build_filename(folder, "m.json", NULL);
    const char *text = "{\"name\": \"m\", \"tokens\": {\"sax\": \"saxpy\"}, \"map_file\": \"x.map\"}";
    g_file_set_contents(map, "# mesh\r\n\nxxx mat nul xxx\n mag-mat-vec-mag\r\n... sax mat ... # c\n\nxxx nul vec xxx",
                        -1, NULL);
    g_file_set_contents(file, text, -1, NULL);
    assert_machine(&picture, "{" PICTURE "}", NULL);
    config_load_machine(&beside, file, NULL, &error);
    g_assert_no_error(error);
    assert_same(&picture, &beside);
    machine_clear(&picture);
    machine_clear(&beside);
    g_file_set_contents(map, "# mesh\nxxx mag xxx\n\nnul mta nul\nxxx nul xxx\n", -1, NULL);
    g_assert_false(config_load_machine(&beside, file, NULL, &error));
    g_autofree char *want = g_strdup_printf("%s:4:5: map[1]: unknown token 'mta', expected perhaps mat", map);
    g_assert_cmpstr(error->message, ==, want);
    g_clear_error(&error);
    g_unlink(map);
    g_assert_false(config_load_machine(&beside, file, NULL, &error));
    g_autofree char *gone = g_strdup_printf("%s:1:1: (file): can't be opened: No such file or directory, expected a "
                                            "readable file",
                                            map);
    g_assert_cmpstr(error->message, ==, gone);
    g_clear_error(&error);
    g_unlink(file);
    g_rmdir(folder);
}

/* What describe --json prints is a file of the same machine. */
static void written_machine_is_read_back(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(shipped); i++) {
        struct machine machine, again;
        load(&machine, shipped[i].name);
        g_autofree char *text = config_machine_json(&machine);
        assert_machine(&again, text, NULL);
        assert_same(&machine, &again);
        machine_clear(&machine);
        machine_clear(&again);
    }
}

/* Nearest by Manhattan distance on clamped coordinates, ties to the lower port, over many random meshes. */
static void binding_is_nearest(void) {
    GRand *random = g_rand_new_with_seed(7);
    for (int round = 0; round < 200; round++) {
        unsigned nx = (unsigned)g_rand_int_range(random, 1, 7), ny = (unsigned)g_rand_int_range(random, 1, 7);
        GString *text = g_string_new("{\"ports\": [{\"x\": 0, \"y\": 1}");
        if (g_rand_boolean(random))
            g_string_append_printf(text, ", {\"x\": %u, \"y\": %d}", nx + 1, g_rand_int_range(random, 1, (int)ny + 1));
        if (g_rand_boolean(random))
            g_string_append_printf(text, ", {\"x\": %d, \"y\": 0}", g_rand_int_range(random, 1, (int)nx + 1));
        g_string_append_printf(text, "], \"mesh\": {\"columns\": %u, \"rows\": %u}, \"units\": [", nx, ny);
        for (unsigned place = 0; place < nx; place++)
            g_string_append_printf(text, "%s{\"type\": \"cluster\", \"x\": %u, \"y\": %d}", place ? ", " : "",
                                   place + 1, g_rand_int_range(random, 1, (int)ny + 2));
        g_string_append(text, "]}");
        struct machine machine;
        assert_machine(&machine, text->str, NULL);
        for (unsigned i = 0; i < machine.unit_count; i++) {
            const struct machine_unit *unit = &machine.units[i];
            int best = INT_MAX, port = -1;
            for (unsigned p = 0; p < machine.port_count; p++) {
                int dx = (int)CLAMP(unit->x, 1, nx) - (int)CLAMP(machine.ports[p].x, 1, nx);
                int dy = (int)CLAMP(unit->y, 1, ny) - (int)CLAMP(machine.ports[p].y, 1, ny);
                if (abs(dx) + abs(dy) < best) {
                    best = abs(dx) + abs(dy);
                    port = (int)p;
                }
            }
            g_assert_cmpint((int)unit->port, ==, port);
            g_assert_cmpuint(machine_port_hops(&machine, unit), ==, (unsigned)best + 1);
        }
        machine_clear(&machine);
        g_string_free(text, TRUE);
    }
    g_rand_free(random);
}

static void binding_can_be_chosen(void) {
    static const struct {
        const char *set, *clusters;
    } rows[] = {
        {"memory.binding=nearest", "1,1 1,2 1,3 >0 1,4 >1"},
        {"memory.binding=balanced", "1,1 1,2 >0 1,3 1,4 >1"},
        {"memory.binding=first", "1,1 1,2 1,3 1,4 >0"},
    };
    const char *text = "{\"map\": [\"xxx nul xxx\", \"nul mat nul\", \"mag mat nul\", \"nul mat nul\", \"mag mat nul\","
                       "\"xxx nul xxx\"]}";
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine machine;
        assert_machine(&machine, text, rows[i].set);
        g_autofree char *clusters = notation(&machine, UNIT_CLUSTER);
        g_assert_cmpstr(clusters, ==, rows[i].clusters);
        machine_clear(&machine);
    }
    struct machine own;
    assert_machine(&own,
                   "{\"mesh\": {\"columns\": 1, \"rows\": 2}, \"ports\": [{\"x\": 0, \"y\": 1}, {\"x\": 0, \"y\": 2}],"
                   "\"units\": [{\"type\": \"cluster\", \"x\": 1, \"y\": 1, \"port\": 1, \"name\": \"a\"},"
                   "{\"type\": \"cluster\", \"x\": 1, \"y\": 2, \"port\": 0}]}",
                   NULL);
    g_assert_cmpstr(own.units[0].name, ==, "a");
    g_assert_cmpstr(own.units[1].name, ==, "cluster1");
    g_assert_cmpuint(own.units[0].port, ==, 1);
    g_assert_cmpuint(own.units[1].port, ==, 0);
    machine_clear(&own);
}

#define EDGE_ROW "xxx nul xxx"
#define MESH     "\"mesh\": {\"columns\": 1, \"rows\": 1}, \"ports\": [{\"x\": 0, \"y\": 1}]"

static void what_is_no_mesh_is_refused(void) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{}", "m.json:1:1: (top): machine has no mesh, expected map, map_file or mesh (or meshes)"},
        {"{\"map\": 3}", "m.json:1:9: map: is a whole number, expected a list of rows"},
        {"{\"map\": []}",
         "m.json:1:9: map: picture has 0 rows of 0 tokens, expected at least 3 x 3: one router and its "
         "edges"},
        {"{\"map\": [\"" EDGE_ROW "\", 3]}", "m.json:1:25: map[1]: is a whole number, expected a row of tokens"},
        {"{\"map\": [\"" EDGE_ROW "\", \"nul mat nul\", \"" EDGE_ROW "\"]}",
         "m.json:1:9: map: mesh has no memory port, expected 1 to 4 on its edges"},
        {"{\"map\": [\"" EDGE_ROW "\",\n\"mag  mta nul\", \"" EDGE_ROW "\"]}",
         "m.json:2:7: map[1]: unknown token 'mta', expected perhaps mat"},
        {"{\"map\": [\"" EDGE_ROW "\",\n\"mag qqq nul\", \"" EDGE_ROW "\"]}",
         "m.json:2:6: map[1]: unknown token 'qqq', expected one of xxx, ..., nul, mag, mat, vec"},
        {"{\"map\": [\"" EDGE_ROW "\",\n\"mag matt nul\", \"" EDGE_ROW "\"]}",
         "m.json:2:6: map[1]: 'matt' is no token, expected three characters"},
        {"{\"map\": [\"" EDGE_ROW "\",\n\"mgr mat nul\", \"" EDGE_ROW "\"]}",
         "m.json:2:2: map[1]: token 'mgr' is retired, expected mag"},
        {"{\"map\": [\"" EDGE_ROW "\",\n\"mag acu nul\", \"" EDGE_ROW "\"]}",
         "m.json:2:6: map[1]: token 'acu' is retired, expected mat"},
        {"{\"map\": [\"" EDGE_ROW "\",\n\"mag mag nul\", \"" EDGE_ROW "\"]}",
         "m.json:2:6: map[1]: memory port stands at (1,1) inside the mesh, expected on an edge: x 0 or 2, or y 0 or 2"},
        {"{\"map\": [\"xxx nul mat\",\n\"mag mat nul\", \"" EDGE_ROW "\"]}",
         "m.json:1:19: map[0]: cluster stands in corner (2,0), which touches no router, expected nothing"},
        {"{\"map\": [\"xxx nul nul\",\n\"mag mat nul\", \"" EDGE_ROW "\"]}",
         "m.json:1:19: map[0]: link end stands in corner (2,0), which touches no router, expected nothing"},
        {"{\"map\": [\"" EDGE_ROW "\",\n\"mag mat\", \"" EDGE_ROW "\"]}",
         "m.json:2:2: map[1]: row has 2 tokens and the first row 3, expected equally many"},
        {"{\"map\": [\"xxx mag xxx\", \"mag mat mag\", \"mag mat nul\", \"" EDGE_ROW "\"], " MESH "}",
         "m.json:1:71: mesh: stands beside map, expected one of the two"},
        {"{\"map\": [\"xxx mag xxx\", \"mag mat mag\",\n\"mag mat mag\", \"" EDGE_ROW "\"]}",
         "m.json:2:10: map[2]: is memory port number 5, expected at most 4"},
        {"{" MESH
         ", \"units\": [{\"type\": \"cluster\", \"x\": 1, \"y\": 1},\n{\"type\": \"vector\", \"x\": 1, \"y\": 1}]}",
         "m.json:2:1: units[1]: vector stands at (1,1) where units[0] stands too, expected one thing a place"},
        {"{" MESH ", \"units\": [{\"type\": \"cluster\", \"x\": 0, \"y\": 1}]}",
         "m.json:1:76: units[0]: cluster stands at (0,1) where ports[0] stands too, expected one thing a place"},
        {"{" MESH ", \"units\": [\n{\"type\": \"cluster\", \"x\": 1, \"y\": 1, \"port\": 1}]}",
         "m.json:2:45: units[0].port: is 1, expected a whole number 0..0"},
        {"{" MESH ", \"units\": [\n{\"type\": \"clutser\", \"x\": 1, \"y\": 1}]}",
         "m.json:2:10: units[0].type: unknown unit type 'clutser', expected perhaps cluster"},
        {"{" MESH ", \"units\": [\n{\"type\": \"cluster\", \"x\": 3, \"y\": 1}]}",
         "m.json:2:26: units[0].x: is 3, expected a whole number 0..2"},
        {"{" MESH ", \"units\": [\n{\"type\": \"cluster\", \"x\": 1}]}",
         "m.json:2:1: units[0].y: is missing, expected a whole number 0..2"},
        {"{" MESH ", \"units\": [\n{\"typ\": \"cluster\", \"x\": 1, \"y\": 1}]}",
         "m.json:2:2: units[0].typ: unknown key, expected perhaps type"},
        {"{" MESH ", \"units\": [{\"type\": \"cluster\", \"name\": \"a\", \"x\": 1, \"y\": 1},\n"
         "{\"type\": \"vector\", \"name\": \"a\", \"x\": 1, \"y\": 2}]}",
         "m.json:2:1: units[1]: name 'a' is that of the unit at (1,1) too, expected a name of its own"},
        {"{\"mesh\": {\"columns\": 15, \"rows\": 1}}",
         "m.json:1:22: mesh.columns: is 15, expected a whole number 1..14"},
        {"{\"mesh\": {\"columns\": 1}}", "m.json:1:10: mesh.rows: is missing, expected a whole number 1..14"},
        {"{\"mesh\": {\"columns\": 1, \"rows\": 1}, \"units\": []}",
         "m.json:1:10: mesh: mesh has no memory port, expected 1 to 4 on its edges"},
        {"{\"bare\": true, \"mesh\": {\"columns\": 257, \"rows\": 1}}",
         "m.json:1:36: mesh.columns: is 257, expected a whole number 1..256"},
        {"{\"bare\": true, " MACHINE_MAP "}",
         "m.json:1:16: map: stands beside bare, expected mesh with columns and rows"},
        {"{\"bare\": true, " MESH "}", "m.json:1:51: ports: stands beside bare, expected it only with mesh"},
        {"{\"units\": [], " MACHINE_MAP "}", "m.json:1:2: units: stands beside map, expected it only with mesh"},
        {"{\"tokens\": {\"mat\": \"x\"}, " MACHINE_MAP "}",
         "m.json:1:13: tokens.mat: token is taken, expected three other letters"},
        {"{\"tokens\": {\"saxp\": \"x\"}, " MACHINE_MAP "}",
         "m.json:1:13: tokens.saxp: is no token, expected three small letters or digits"},
        {"{\"tokens\": {\"sax\": 1}, " MACHINE_MAP "}", "m.json:1:20: tokens.sax: is a whole number, expected a text"},
        {"{\"plugins\": [1], " MACHINE_MAP "}", "m.json:1:14: plugins[0]: is a whole number, expected a file name"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_refused(rows[i].text, NULL, rows[i].message);
}

/* noc-and-memory §11.2, four-mesh machine. */
static void four_meshes_in_a_line(void) {
    static const unsigned line[] = {0, 1, 3, 2};
    static const char *const meshes[] = {"ship_2x2_6_2", "ship_2x1_6_0", "ship_2x2_6_2", "ship_2x2_6_2"};
    struct machine machine, again;
    load(&machine, "ship_4_meshes");
    g_assert_cmpuint(machine.mesh_count, ==, 4);
    g_assert_cmpuint(machine.unit_count, ==, 0);
    for (unsigned i = 0; i < 4; i++) {
        const struct machine *mesh = &machine.meshes[i];
        struct machine alone;
        load(&alone, meshes[i]);
        g_autofree char *clusters = notation(mesh, UNIT_CLUSTER), *same_clusters = notation(&alone, UNIT_CLUSTER);
        g_autofree char *vectors = notation(mesh, UNIT_VECTOR), *same_vectors = notation(&alone, UNIT_VECTOR);
        g_autofree char *name = g_strdup_printf("ship_4_meshes.mesh%u", i);
        g_assert_cmpstr(clusters, ==, same_clusters);
        g_assert_cmpstr(vectors, ==, same_vectors);
        g_assert_cmpstr(mesh->name, ==, name);
        g_assert_cmpuint(mesh->noc.fifo_depth, ==, 512); /* the parameters of the whole */
        g_assert_cmpuint(machine.line[i], ==, line[i]);
        machine_clear(&alone);
    }
    g_autofree char *text = config_machine_json(&machine);
    assert_machine(&again, text, NULL);
    assert_same(&machine, &again);
    machine_clear(&again);
    machine_clear(&machine);
}

#define ONE_MESH "{" MACHINE_MAP "}"

static void wrong_meshes_are_refused(void) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"{\"meshes\": [" ONE_MESH "]}", "m.json:1:12: meshes: is a list of 1 items, expected a list of 2..4 meshes"},
        {"{\"meshes\": {}}", "m.json:1:12: meshes: is an object of 0 items, expected a list of 2..4 meshes"},
        {"{\"meshes\": [" ONE_MESH ",\n3]}", "m.json:2:1: meshes[1]: is a whole number, expected an object"},
        {"{\"meshes\": [" ONE_MESH ",\n{\"noc\": 1}]}",
         "m.json:2:2: meshes[1].noc: unknown key, expected one of map, map_file, mesh, units, ports"},
        {"{\"meshes\": [" ONE_MESH ",\n{\"map\": [\"xxx mta xxx\"]}]}",
         "m.json:2:15: meshes[1].map[0]: unknown token 'mta', expected perhaps mat"},
        {"{\"meshes\": [" ONE_MESH ",\n{}]}",
         "m.json:2:1: meshes[1]: machine has no mesh, expected map, map_file or mesh"},
        {"{\"meshes\": [" ONE_MESH ", " ONE_MESH "],\n\"line\": [0, 0]}",
         "m.json:2:13: line[1]: is no mesh or one that was named before, expected each of 0..1 once"},
        {"{\"meshes\": [" ONE_MESH ", " ONE_MESH "],\n\"line\": [0]}",
         "m.json:2:9: line: is a list of 1 items, expected a list of 2 meshes"},
        {"{\"line\": [0], " MACHINE_MAP "}", "m.json:1:2: line: stands without meshes, expected both or neither"},
        {"{\"meshes\": [" ONE_MESH ", " ONE_MESH "],\n" MACHINE_MAP "}",
         "m.json:2:1: map: stands beside meshes, expected it inside one"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        assert_refused(rows[i].text, NULL, rows[i].message);
}

/* 14 routers a side fit four-bit coordinates, 15 don't. */
static void picture_of_fifteen_columns_is_refused(void) {
    for (unsigned columns = 14; columns <= 15; columns++) {
        GString *text = g_string_new("{\"map\": [");
        for (int row = 0; row < 3; row++) {
            g_string_append(text, row == 0 ? "\"xxx" : row == 1 ? ", \"mag" : ", \"xxx");
            for (unsigned x = 0; x < columns; x++)
                g_string_append(text, " nul");
            g_string_append(text, " xxx\"");
        }
        g_string_append(text, "]}");
        struct machine machine;
        g_autofree char *message = machine_from_text(&machine, text->str, NULL);
        g_assert_cmpstr(message, ==,
                        columns == 14 ? NULL : "m.json:1:9: map: mesh has 15 x 1 routers, expected at most 14 x 14");
        if (!message)
            machine_clear(&machine);
        g_string_free(text, TRUE);
    }
}

static void bare_meshes_need_no_file(void) {
    static const struct {
        const char *name;
        unsigned nx, ny;
    } rows[] = {
        {"mesh_1x1", 1, 1}, {"mesh_1x5", 1, 5}, {"mesh_3x5", 3, 5}, {"mesh_64x64", 64, 64}, {"mesh_256x256", 256, 256}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct machine machine;
        GError *error = NULL;
        config_load_machine(&machine, rows[i].name, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(machine.bare);
        g_assert_cmpstr(machine.name, ==, rows[i].name);
        g_assert_cmpuint(machine.nx, ==, rows[i].nx);
        g_assert_cmpuint(machine.ny, ==, rows[i].ny);
        g_assert_cmpuint(machine.port_count, ==, 0);
        machine_clear(&machine);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/map/shipped_maps_are_the_published_ones", shipped_maps_are_the_published_ones);
    g_test_add_func("/map/no_shipped_machine_is_left_out", no_shipped_machine_is_left_out);
    g_test_add_func("/map/reference_machines_have_the_published_sizes", reference_machines_have_the_published_sizes);
    g_test_add_func("/map/picture_and_lists_are_the_same_machine", picture_and_lists_are_the_same_machine);
    g_test_add_func("/map/map_file_is_the_same_machine", map_file_is_the_same_machine);
    g_test_add_func("/map/written_machine_is_read_back", written_machine_is_read_back);
    g_test_add_func("/map/binding_is_nearest", binding_is_nearest);
    g_test_add_func("/map/binding_can_be_chosen", binding_can_be_chosen);
    g_test_add_func("/map/what_is_no_mesh_is_refused", what_is_no_mesh_is_refused);
    g_test_add_func("/map/four_meshes_in_a_line", four_meshes_in_a_line);
    g_test_add_func("/map/wrong_meshes_are_refused", wrong_meshes_are_refused);
    g_test_add_func("/map/picture_of_fifteen_columns_is_refused", picture_of_fifteen_columns_is_refused);
    g_test_add_func("/map/bare_meshes_need_no_file", bare_meshes_need_no_file);
    return g_test_run();
}
