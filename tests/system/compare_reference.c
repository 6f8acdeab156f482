/* compare_reference FILE...: runs every entry of recordings of the reference machine and prints a line an entry (what,
 * reference, ours, difference), closing with "N entries, N exact, worst X %". Exit status 0 when all are exact, 1 when
 * some differ, 2 when a file cannot be used. -v prints every differing quantity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/replay_file.h"

static bool verbose;

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
    if (verbose)
        print_rows(result);
}

int main(int argc, char **argv) {
    unsigned entries = 0, exact = 0;
    double worst = 0;
    int first = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (first < argc && strcmp(argv[first], "-v") == 0) {
        verbose = true;
        first++;
    }
    if (first >= argc) {
        fprintf(stderr, "usage: compare_reference [-v] FILE...\n");
        return 2;
    }
    for (int i = first; i < argc; i++) {
        g_autoptr(GError) error = NULL;
        struct replay_file *file = replay_file_open(argv[i], &error);
        for (unsigned e = 0; file && !error && e < replay_file_count(file); e++) {
            struct replay_result result;
            replay_result_init(&result);
            g_autofree char *what = replay_file_label(file, e);
            if (replay_file_run(file, e, &result, &error)) {
                entries++;
                exact += !result.differing;
                worst = MAX(worst, replay_worst_percent(&result));
                print_entry(what, &result);
            }
            replay_result_clear(&result);
        }
        replay_file_close(file);
        if (error) {
            fprintf(stderr, "%s\n", error->message);
            return 2;
        }
    }
    printf("%u entries, %u exact, worst %.4g %%\n", entries, exact, worst);
    return exact == entries ? 0 : 1;
}
