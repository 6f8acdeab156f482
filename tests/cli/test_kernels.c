/* Vector kernels and layers as their user types them: results, the profile, and mistakes told in one line. */
#include "cli/command.h"

static void one_kernel(void) {
    struct command_folder folder;
    folder_open(&folder);
    json_t *result = command_json(&folder, "run ship_2x2_6_2 softmax:rows=8,cols=64 --json");
    g_assert_cmpfloat(json_at(result, "numerics.vs_model.mismatches"), ==, 0);
    g_assert_cmpfloat(json_at(result, "numerics.vs_fp64.normalised"), <, 2e-3);
    g_assert_cmpfloat(json_at(result, "kernel.cores"), ==, 2);
    g_assert_true(json_is_null(json_object_get(json_object_get(result, "numerics"), "vs_quantised")));
    g_assert_null(json_object_get(result, "profile"));
    json_decref(result);
    folder_close(&folder);
}

static void the_shipped_digits(void) {
    struct command_folder folder;
    folder_open(&folder);
    json_t *result = command_json(&folder, "run ship_2x2_6_2 " FLITSIM_SOURCE_DIR
                                           "/configs/workloads/digits.json --json --set workload.limit=40");
    g_assert_cmpfloat(json_at(result, "digits.images"), ==, 40);
    g_assert_cmpfloat(json_at(result, "digits.correct"), >=, 38);
    json_decref(result);
    folder_close(&folder);
}

/* Every cycle of a kernel belongs to a word or comes before the first one. */
static void a_profile_adds_up(void) {
    struct command_folder folder;
    folder_open(&folder);
    json_t *result = command_json(&folder, "run ship_2x2_6_2 rmsnorm:rows=40 --json --profile");
    const json_t *image, *word, *images = json_object_get(result, "profile");
    size_t i, w;
    g_assert_cmpuint(json_array_size(images), ==, 1);
    json_array_foreach(images, i, image) {
        double sum = json_at(image, "start_cycles");
        g_assert_cmpfloat(json_at(image, "runs"), ==, json_at(result, "kernel.run_flits"));
        json_array_foreach(json_object_get(image, "words"), w, word) sum += json_at(word, "cycles");
        g_assert_cmpfloat(sum, ==, json_at(image, "cycles"));
        word = json_array_get(json_object_get(image, "words"), json_array_size(json_object_get(image, "words")) - 1);
        g_assert_cmpstr(json_string_value(json_object_get(word, "text")), ==, "vhalt");
    }
    json_decref(result);
    folder_close(&folder);
}

static void a_listing_for_people(void) {
    struct command_folder folder;
    folder_open(&folder);
    struct command_result result = command_line(&folder, "run ship_2x2_6_2 relu:rows=8,cores=1 --profile");
    g_assert_cmpint(result.status, ==, 0);
    g_assert_cmpstr(result.err, ==, "");
    const char *answer = strstr(result.out, "bit for bit equal"),
               *listing = strstr(result.out, "vector kernel: 1 runs");
    g_assert_nonnull(answer);
    g_assert_nonnull(listing);
    g_assert_true(answer < listing);
    g_assert_nonnull(strstr(listing, "vmax v0, v1, k0"));
    g_assert_nonnull(strstr(listing, "vseti s0, 0x80"));
    command_clear(&result);
    result = command_line(&folder, "run one gemm:m=32,k=32,n=32 --profile");
    g_assert_nonnull(strstr(result.out, "no vector kernel ran"));
    command_clear(&result);
    folder_close(&folder);
}

static void mistakes(void) {
    static const char *const lines[][2] = {
        {"run ref2 softmax", "workload:1:1: cores: need a vector core, which the machine does not have, expected a "
                             "machine with one\n"},
        {"run ship_2x2_6_2 softmax:cores=3", "workload:1:15: cores: are 3, expected at most the 2 of the machine\n"},
        {"run ship_2x2_6_2 softmax:variant=fast",
         "workload:1:17: variant: is \"fast\", expected one of plain, expsum, wide\n"},
        {"run ship_2x2_6_0 linear_silu", "workload:1:1: m: needs matmul clusters and vector cores, and the machine has "
                                         "6 and 0, expected one with both\n"},
        {"run ref2 digits:limit=1", "workload:1:1: m: needs matmul clusters and vector cores, and the machine has "
                                    "2 and 0, expected one with both\n"},
        {"run ship_2x2_6_2 linear_bias:variant=d4",
         "workload:1:21: variant: is \"d4\", expected none: there is one text only\n"},
        {"run ship_2x2_6_2 group_norm:groups=3", "workload:1:19: groups: are 3, expected a divisor of cols = 128\n"},
    };
    struct command_folder folder;
    folder_open(&folder);
    for (unsigned i = 0; i < G_N_ELEMENTS(lines); i++) {
        struct command_result result = command_line(&folder, lines[i][0]);
        g_assert_cmpstr(result.err, ==, lines[i][1]);
        g_assert_cmpint(result.status, ==, 2);
        g_assert_cmpstr(result.out, ==, "");
        command_clear(&result);
    }
    folder_close(&folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kernels/one_kernel", one_kernel);
    g_test_add_func("/kernels/the_shipped_digits", the_shipped_digits);
    g_test_add_func("/kernels/a_profile_adds_up", a_profile_adds_up);
    g_test_add_func("/kernels/a_listing_for_people", a_listing_for_people);
    g_test_add_func("/kernels/mistakes", mistakes);
    return g_test_run();
}
