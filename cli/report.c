/* flitsim report DIR: the page of a run or a sweep. */
#include <stdio.h>

#include "analysis/report.h"
#include "cli/cli.h"

/* Where the page goes when nothing else is said: into the folder, or beside the file. */
static char *default_file(const char *name) {
    if (g_file_test(name, G_FILE_TEST_IS_DIR))
        return g_build_filename(name, "report.html", NULL);
    g_autofree char *folder = g_path_get_dirname(name);
    return g_build_filename(folder, "report.html", NULL);
}

static int write_page(const char *file, const char *page) {
    GError *cause = NULL;
    if (g_str_equal(file, "-")) {
        fputs(page, stdout);
        return CLI_DONE;
    }
    if (!g_file_set_contents(file, page, -1, &cause)) {
        fprintf(stderr, "%s:1:1: (file): can't be written: %s\n", file, cause->message);
        g_error_free(cause);
        return CLI_AT_FAULT;
    }
    printf("report: %s\n", file);
    return CLI_DONE;
}

int command_report(int argc, char **argv) {
    g_autofree char *out = NULL;
    gboolean text = FALSE;
    const GOptionEntry entries[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &out, "Write the page here (DIR/report.html); - is standard output",
         "FILE"},
        {"text", 't', 0, G_OPTION_ARG_NONE, &text, "Print the figures as text instead", NULL},
        G_OPTION_ENTRY_NULL,
    };
    GError *error = NULL;
    if (!cli_options(&argc, &argv, entries, "DIR",
                     "Makes one self-contained page of a run (DIR/result.json) or a sweep (DIR/results.db).", 1, 1))
        return CLI_AT_FAULT;
    g_autofree char *page = report_make(argv[1], text, &error);
    if (!page)
        return cli_fail(error);
    if (text) {
        fputs(page, stdout);
        return CLI_DONE;
    }
    g_autofree char *file = out ? g_strdup(out) : default_file(argv[1]);
    return write_page(file, page);
}
