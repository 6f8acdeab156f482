/* mesh-n, mesh-k and mesh-k4 as workloads like any other: graded, whole in the result document, the same in whatever
 * order the meshes are stepped, and with the published scaling (workloads §5.8). */
#include "analysis/result.h"
#include "claims/run_bench.h"

#include <math.h>

#define LINE "ship_4_meshes"

struct mesh_case {
    const char *id;
    unsigned meshes;
    double least, most; /* times faster than one mesh */
    gint64 packets;
};

static const struct mesh_case cases[] = {
    {"mesh-n", 4, 3.98, 4, 0},
    {"mesh-k", 2, 1.71, 1.81, 32},
    {"mesh-k4", 4, 3.4, 3.7, 3 * 32},
};

static const json_t *at(const json_t *object, const char *path) {
    g_auto(GStrv) keys = g_strsplit(path, ".", -1);
    for (char **key = keys; *key; key++)
        object = json_object_get(object, *key);
    g_assert_nonnull(object);
    return object;
}

static json_t *result_of(const char *workload) {
    g_autoptr(GError) error = NULL;
    struct finished_run finished;
    run_on_bench(&finished, LINE, workload, NULL, 1);
    json_t *result = result_build(&finished.run, &error);
    g_assert_no_error(error);
    g_assert_cmpint(result_status(&finished.run), ==, 0);
    finished_clear(&finished);
    return result;
}

/* How many of an array's objects belong to a mesh. */
static unsigned of_mesh(const json_t *array, unsigned mesh) {
    unsigned number = 0;
    size_t index;
    const json_t *item;
    json_array_foreach(array, index, item) number += json_integer_value(at(item, "mesh")) == mesh;
    return number;
}

static void scales_as_published(gconstpointer data) {
    const struct mesh_case *mesh = data;
    json_t *result = result_of(mesh->id);
    double time = json_number_value(at(result, "scaling.time"));
    g_test_message("%s: %.3f", mesh->id, time);
    g_assert_cmpfloat(time, >, mesh->least);
    g_assert_cmpfloat(time, <=, mesh->most);
    g_assert_cmpfloat(json_number_value(at(result, "scaling.compute")), ==, mesh->meshes);
    g_assert_cmpfloat(fabs(json_number_value(at(result, "scaling.summed_cycles")) - 1), <, 0.0005);
    g_assert_cmpint(json_integer_value(at(result, "meshes.link_packets")), ==, mesh->packets);
    g_assert_cmpfloat(json_number_value(at(result, "numerics.vs_fp64.normalised")), <, 2e-2);
    g_assert_cmpuint(json_array_size(at(result, "hazards")), ==, 0);
    json_decref(result);
}

static void every_component_names_its_mesh(void) {
    g_autoptr(GError) error = NULL;
    struct machine machine;
    config_load_machine(&machine, LINE, NULL, &error);
    g_assert_no_error(error);
    json_t *result = result_of("mesh-k4:k=256,compare=false");
    for (unsigned m = 0; m < machine.mesh_count; m++) {
        const struct machine *mesh = &machine.meshes[m];
        g_assert_cmpuint(of_mesh(at(result, "units"), m), ==, mesh->unit_count);
        g_assert_cmpuint(of_mesh(at(result, "ports"), m), ==, mesh->port_count);
        g_assert_cmpuint(of_mesh(at(result, "routers"), m), ==, mesh->nx * mesh->ny);
    }
    g_assert_cmpuint(json_array_size(at(result, "links")), ==, 2 * (machine.mesh_count - 1));
    g_assert_null(json_object_get(result, "scaling"));
    json_decref(result);
    machine_clear(&machine);
}

/* result_build refuses a component whose causes do not add up; here they are added once more. */
static void accounts_add_up(void) {
    json_t *result = result_of("mesh-k:k=256,compare=false");
    size_t index;
    const json_t *unit;
    json_array_foreach(at(result, "units"), index, unit) {
        gint64 sum = 0;
        const char *cause;
        json_t *cycles;
        json_object_foreach((json_t *)at(unit, "cycles"), cause, cycles) sum += json_integer_value(cycles);
        g_assert_cmpint(sum, ==, json_integer_value(at(result, "cycles")));
    }
    json_decref(result);
}

/* What a link's sender counts is what the steps were planned to send. */
static void links_count_their_beats(void) {
    json_t *result = result_of("mesh-k:compare=false");
    size_t index;
    const json_t *link;
    gint64 beats = 0;
    json_array_foreach(at(result, "links"), index, link) beats += json_integer_value(at(link, "beats"));
    g_assert_cmpint(beats * WORD_BYTES, ==, 9216);
    g_assert_cmpint(json_integer_value(at(result, "meshes.link_bytes")), ==, 9216);
    json_decref(result);
}

static void order_of_stepping_changes_nothing(void) {
    static const char *const keys[] = {"mesh-n:clusters=2", "mesh-k:clusters=2,n=256", "mesh-k4:k=512"};
    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *rising = g_strconcat(keys[i], ",compare=false", NULL);
        g_autofree char *falling = g_strconcat(rising, ",falling=true", NULL);
        json_t *one = result_of(rising), *other = result_of(falling);
        g_assert_cmpstr(json_string_value(at(one, "digest")), ==, json_string_value(at(other, "digest")));
        json_decref(one);
        json_decref(other);
    }
}

static void needs_several_meshes(void) {
    g_autoptr(GError) error = NULL;
    struct machine machine;
    struct workload workload;
    struct run run;
    config_load_machine(&machine, "ref2", NULL, &error);
    workload_load(&workload, "mesh-k", NULL, &error);
    g_assert_no_error(error);
    run_init(&run, &machine, &workload);
    g_assert_false(workload.type->run(&run, &error));
    g_assert_cmpstr(error->message, ==,
                    "workload:1:1: meshes: ref2 is one mesh, expected a machine of several (ship_4_meshes)");
    run_clear(&run);
    workload_clear(&workload);
    machine_clear(&machine);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/mesh_workloads/scales_as_published/", cases[i].id, NULL);
        g_test_add_data_func(path, &cases[i], scales_as_published);
    }
    g_test_add_func("/mesh_workloads/every_component_names_its_mesh", every_component_names_its_mesh);
    g_test_add_func("/mesh_workloads/accounts_add_up", accounts_add_up);
    g_test_add_func("/mesh_workloads/links_count_their_beats", links_count_their_beats);
    g_test_add_func("/mesh_workloads/order_of_stepping_changes_nothing", order_of_stepping_changes_nothing);
    g_test_add_func("/mesh_workloads/needs_several_meshes", needs_several_meshes);
    return g_test_run();
}
