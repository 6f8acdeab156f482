/* compare_reference FILE...: runs every entry of recordings of the reference machine and prints a line an entry (what,
 * reference, ours, difference), closing with "N entries, N exact, worst X %". Exit status 0 when all are exact, 1 when
 * some differ, 2 when a file cannot be used. -v prints every differing quantity; --markdown prints docs/accuracy.md
 * instead. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accuracy_page.h"
#include "analysis/replay_file.h"

struct tally {
    bool verbose;
    struct accuracy_page *page; /* NULL: lines */
    unsigned entries, exact;
    double worst;
};

static void print_rows(const struct replay_result *result) {
    for (guint i = 0; i < result->rows->len; i++) {
        const struct replay_row *row = &g_array_index(result->rows, struct replay_row, i);
        if (row->differs)
            printf("    %s: reference %s, ours %s\n", row->what, row->reference, row->ours);
    }
}

static void print_entry(const char *what, const struct replay_result *result) {
    const struct replay_row *head = result->rows->len ? &g_array_index(result->rows, struct replay_row, 0) : NULL;
    g_autofree char *difference = replay_first_difference(result);
    printf("%s | %s %s | ours %s | %s\n", what, head ? head->what : "-", head ? head->reference : "-",
           head ? head->ours : "-", result->differing ? difference : "0");
}

static bool replay_entry(struct tally *tally, const struct replay_file *file, unsigned entry, GError **error) {
    struct replay_result result;
    replay_result_init(&result);
    g_autofree char *what = replay_file_label(file, entry);
    bool readable = replay_file_run(file, entry, &result, error);
    if (readable) {
        tally->entries++;
        tally->exact += !result.differing;
        tally->worst = MAX(tally->worst, replay_worst_percent(&result));
        if (tally->page)
            accuracy_page_entry(tally->page, what, &result);
        else
            print_entry(what, &result);
        if (!tally->page && tally->verbose)
            print_rows(&result);
    }
    replay_result_clear(&result);
    return readable;
}

static bool replay_path(struct tally *tally, const char *path, GError **error) {
    struct replay_file *file = replay_file_open(path, error);
    bool good = file && (!tally->page || accuracy_page_file(tally->page, path, replay_file_kind(file), error));
    for (unsigned e = 0; good && e < replay_file_count(file); e++)
        good = replay_entry(tally, file, e, error);
    replay_file_close(file);
    return good;
}

static int options(struct tally *tally, int argc, char **argv) {
    int first = 1;
    if (first < argc && strcmp(argv[first], "-v") == 0) {
        tally->verbose = true;
        first++;
    } else if (first < argc && strcmp(argv[first], "--markdown") == 0) {
        tally->page = accuracy_page_new();
        first++;
    }
    return first;
}

int main(int argc, char **argv) {
    struct tally tally = {0};
    g_autoptr(GError) error = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int first = options(&tally, argc, argv);
    if (first >= argc) {
        fprintf(stderr, "usage: compare_reference [-v | --markdown] FILE...\n");
        return 2;
    }
    bool good = true;
    for (int i = first; good && i < argc; i++)
        good = replay_path(&tally, argv[i], &error);
    if (!good || (tally.page && !accuracy_page_end(tally.page, &error))) {
        fprintf(stderr, "%s\n", error->message);
        return 2;
    }
    if (tally.page) {
        accuracy_page_print(tally.page, stdout);
        accuracy_page_free(tally.page);
    } else {
        printf("%u entries, %u exact, worst %.4g %%\n", tally.entries, tally.exact, tally.worst);
    }
    return tally.exact == tally.entries ? 0 : 1;
}
