/* Shards and their merge: together they are the whole, and what contradicts is refused. */
#include <sqlite3.h>

#include "program.h"

static const char sweep_text[] =
    "{\"schema\": \"flitsim.sweep/1\", \"name\": \"small\", \"machine\": \"mesh_2x2\",\n"
    " \"workload\": \"traffic:rate=0.1,cycles=50,warmup=0,drain=500\",\n"
    " \"axes\": {\"noc.fifo_depth\": {\"range\": {\"from\": 2, \"to\": 11, \"step\": 1}}}}\n";

struct bench {
    char *folder, *file, *whole, *merged;
    char *shards[3];
};

static void set_up(struct bench *bench, gconstpointer data) {
    (void)data;
    bench->folder = g_dir_make_tmp("flitsim-merge-XXXXXX", NULL);
    bench->file = g_build_filename(bench->folder, "s.json", NULL);
    bench->whole = g_build_filename(bench->folder, "whole", NULL);
    bench->merged = g_build_filename(bench->folder, "merged", NULL);
    g_assert_true(g_file_set_contents(bench->file, sweep_text, -1, NULL));
    for (unsigned i = 0; i < 3; i++) {
        g_autofree char *name = g_strdup_printf("shard%u", i + 1), *shard = g_strdup_printf("%u/3", i + 1);
        bench->shards[i] = g_build_filename(bench->folder, name, NULL);
        assert_ended(RUN("sweep", bench->file, "--shard", shard, "--out", bench->shards[i], "-q"), 0);
    }
}

static void tear_down(struct bench *bench, gconstpointer data) {
    (void)data;
    remove_tree(bench->folder);
    g_free(bench->folder);
    g_free(bench->file);
    g_free(bench->whole);
    g_free(bench->merged);
    for (unsigned i = 0; i < 3; i++)
        g_free(bench->shards[i]);
}

/* Every column but the time it took, as SQLite itself prints it. */
static int append_row(void *data, int columns, char **texts, char **names) {
    (void)names;
    for (int i = 0; i < columns; i++)
        g_string_append_printf(data, "%s|", texts[i] ? texts[i] : "NULL");
    g_string_append_c(data, '\n');
    return 0;
}

static char *query(const char *folder, const char *sql) {
    g_autofree char *file = g_build_filename(folder, "results.db", NULL);
    GString *text = g_string_new(NULL);
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(file, &database), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, sql, append_row, text, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
    return g_string_free(text, FALSE);
}

static char *dump(const char *folder) {
    return query(folder,
                 "SELECT point, number, status, reason, digest, cycles, axes, config, result, version FROM results"
                 " ORDER BY number; SELECT * FROM facts ORDER BY name");
}

static void shards_merged_are_the_whole_byte_for_byte(struct bench *bench, gconstpointer data) {
    (void)data;
    assert_ended(RUN("sweep", bench->file, "--out", bench->whole, "-q"), 0);
    assert_ended(RUN("merge", bench->merged, bench->shards[2], bench->shards[0], bench->shards[1]), 0);
    g_autofree char *whole = dump(bench->whole), *merged = dump(bench->merged);
    g_assert_cmpstr(whole, ==, merged);
    g_autofree char *table = output_of(RUN("table", bench->whole, "--format", "json"));
    g_autofree char *merged_table = output_of(RUN("table", bench->merged, "--format", "json"));
    g_assert_cmpstr(table, ==, merged_table);
    /* nothing is left to do in the merged one */
    g_autofree char *said = output_of(RUN("sweep", bench->file, "--out", bench->merged));
    g_assert_true(g_str_has_prefix(said, "small: 10 points, 10 ok, 0 failed; 0 run now"));
}

static void shards_share_the_points_and_have_none_in_common(struct bench *bench, gconstpointer data) {
    static const char *const counts[] = {"4|\n", "3|\n", "3|\n"};
    (void)data;
    for (unsigned i = 0; i < 3; i++) {
        g_autofree char *count = query(bench->shards[i], "SELECT count(*) FROM results");
        g_assert_cmpstr(count, ==, counts[i]);
    }
}

static void merging_again_changes_nothing(struct bench *bench, gconstpointer data) {
    (void)data;
    assert_ended(RUN("merge", bench->merged, bench->shards[0], bench->shards[1]), 0);
    g_autofree char *once = dump(bench->merged);
    assert_ended(RUN("merge", bench->merged, bench->shards[1], bench->shards[0]), 0);
    g_autofree char *twice = dump(bench->merged);
    g_assert_cmpstr(once, ==, twice);
}

static void a_good_row_takes_the_place_of_a_failed_one(struct bench *bench, gconstpointer data) {
    (void)data;
    assert_ended(RUN("merge", bench->merged, bench->shards[0]), 0);
    g_free(query(bench->merged, "UPDATE results SET status = 'timeout', digest = NULL, cycles = NULL"));
    assert_ended(RUN("merge", bench->merged, bench->shards[0]), 0);
    g_autofree char *failed = query(bench->merged, "SELECT count(*) FROM results WHERE status <> 'ok'");
    g_assert_cmpstr(failed, ==, "0|\n");
}

static void contradicting_digests_are_refused(struct bench *bench, gconstpointer data) {
    (void)data;
    assert_ended(RUN("merge", bench->merged, bench->shards[0]), 0);
    g_autofree char *before = dump(bench->merged);
    g_free(query(bench->shards[0], "UPDATE results SET digest = 'other' WHERE number = 3"));
    struct outcome outcome = RUN("merge", bench->merged, bench->shards[0]);
    g_assert_cmpint(outcome.status, ==, 2);
    g_assert_nonnull(strstr(outcome.err, "shard1/results.db:1:1: results: point "));
    g_assert_nonnull(strstr(outcome.err, " has digest other, expected "));
    outcome_clear(&outcome);
    g_autofree char *after = dump(bench->merged);
    g_assert_cmpstr(before, ==, after);
}

static void another_sweep_or_no_store_is_refused(struct bench *bench, gconstpointer data) {
    (void)data;
    g_autofree char *other = g_build_filename(bench->folder, "other.json", NULL);
    g_autofree char *text = g_strdup(sweep_text);
    *strstr(text, "50") = '6';
    g_assert_true(g_file_set_contents(other, text, -1, NULL));
    assert_ended(RUN("sweep", other, "--out", bench->whole, "-q"), 0);
    struct outcome outcome = RUN("merge", bench->whole, bench->shards[0]);
    g_assert_cmpint(outcome.status, ==, 2);
    g_assert_nonnull(strstr(outcome.err, "holds another sweep than"));
    outcome_clear(&outcome);
    g_autofree char *line =
        g_strdup_printf("%s:1:1: (file): is no file, expected results of a sweep", "/nowhere/at/all.db");
    assert_refused(RUN("merge", bench->merged, "/nowhere/at/all.db"), line);
    assert_refused(RUN("merge", bench->merged), "flitsim merge: 1 arguments, expected OUT SHARD...");
    g_assert_false(g_file_test(bench->merged, G_FILE_TEST_EXISTS));
}

#define ADD(path, test) g_test_add(path, struct bench, NULL, set_up, test, tear_down)

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    ADD("/merge/whole", shards_merged_are_the_whole_byte_for_byte);
    ADD("/merge/share", shards_share_the_points_and_have_none_in_common);
    ADD("/merge/again", merging_again_changes_nothing);
    ADD("/merge/better", a_good_row_takes_the_place_of_a_failed_one);
    ADD("/merge/conflict", contradicting_digests_are_refused);
    ADD("/merge/refused", another_sweep_or_no_store_is_refused);
    return g_test_run();
}
