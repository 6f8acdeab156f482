/* The digit classifier end to end on the sample data. */
#include "analysis/result.h"
#include "fact.h"

enum {
    IMAGES = 597,
    FP64_CORRECT = 576, /* configs/data/digits/README.md */
};

static void within_one_image_of_fp64(void) {
    struct finished_run finished;
    run_on_bench(&finished, "ship_2x2_6_2", "digits", NULL, 1);
    g_assert_false(finished.run.answer_wrong);
    g_assert_cmpuint(count_of(&finished, "digits.images"), ==, IMAGES);
    g_assert_cmpuint(count_of(&finished, "digits.correct_fp64"), ==, FP64_CORRECT);
    g_assert_cmpuint(count_of(&finished, "digits.correct"), >=, FP64_CORRECT - 1);
    g_assert_cmpuint(count_of(&finished, "digits.correct"), <=, FP64_CORRECT + 1);
    g_assert_cmpuint(count_of(&finished, "digits.agreement_fp64"), >=, IMAGES - 1);
    g_assert_cmpuint(count_of(&finished, "layers.relayouts"), ==, 1);
    finished_clear(&finished);
}

/* With one int7 term a weight the format costs a second image. */
static void one_term_loses_two_images(void) {
    struct finished_run finished;
    run_on_bench(&finished, "ship_2x2_6_2", "digits:terms=1", NULL, 1);
    g_assert_cmpuint(count_of(&finished, "digits.correct"), ==, FP64_CORRECT - 2);
    finished_clear(&finished);
}

static char *digest(const char *grouping) {
    struct finished_run finished;
    run_on_bench(&finished, "ship_2x2_6_2", "digits:limit=70", SETS((char *)grouping), 1);
    char *text = result_digest(&finished.run);
    finished_clear(&finished);
    return text;
}

static void same_at_any_grouping(void) {
    g_autofree char *one = digest("engine.routers_per_actor=1"), *all = digest("engine.routers_per_actor=100");
    g_assert_cmpstr(one, ==, all);
}

static void staged_and_fused_find_the_same_classes(void) {
    struct finished_run fused, staged;
    run_on_bench(&fused, "ship_2x2_6_2", "digits:limit=120", NULL, 1);
    run_on_bench(&staged, "ship_2x2_6_2", "digits:limit=120,fuse=false", NULL, 1);
    g_assert_cmpuint(count_of(&fused, "digits.correct"), ==, count_of(&staged, "digits.correct"));
    g_assert_cmpuint(fused.run.cycles, <, staged.run.cycles);
    finished_clear(&fused);
    finished_clear(&staged);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/digits/within_one_image_of_fp64", within_one_image_of_fp64);
    g_test_add_func("/digits/one_term_loses_two_images", one_term_loses_two_images);
    g_test_add_func("/digits/same_at_any_grouping", same_at_any_grouping);
    g_test_add_func("/digits/staged_and_fused_find_the_same_classes", staged_and_fused_find_the_same_classes);
    return g_test_run();
}
