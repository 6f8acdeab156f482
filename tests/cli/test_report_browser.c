/* Report pages in a real browser: Chromium opens the file, and the test looks at the document it made of it, at its
 * console and at a screenshot. Skipped with a word why when there is no Chromium (Debian package chromium). */
#include <stdbool.h>
#include <string.h>

#include <glib/gstdio.h>
#include <jansson.h>

#include "program.h"

#define CUBE "gemm:m=128,k=128,n=128"

static char *folder, *profile;

/* Options for a browser that asks nobody anything. */
static const char *const quiet[] = {"--headless",
                                    "--no-sandbox",
                                    "--disable-gpu",
                                    "--disable-quic",
                                    "--no-first-run",
                                    "--disable-background-networking",
                                    "--disable-component-update",
                                    "--disable-sync",
                                    "--disable-dev-shm-usage",
                                    "--hide-scrollbars",
                                    "--window-size=1180,1500",
                                    "--virtual-time-budget=2000",
                                    "--enable-logging=stderr",
                                    "--v=0"};

/* Opens a file of the folder; `more` is one further option. */
static struct outcome browse(const char *name, const char *more) {
    struct outcome outcome = {.status = -1};
    GError *error = NULL;
    g_autofree char *data = g_strconcat("--user-data-dir=", profile, NULL);
    g_autofree char *page = g_strconcat("file://", folder, "/", name, NULL);
    g_autofree char *program = g_find_program_in_path("chromium");
    GPtrArray *argv = g_ptr_array_new();
    g_ptr_array_add(argv, program);
    for (size_t i = 0; i < G_N_ELEMENTS(quiet); i++)
        g_ptr_array_add(argv, (void *)quiet[i]);
    g_ptr_array_add(argv, data);
    g_ptr_array_add(argv, (void *)more);
    g_ptr_array_add(argv, page);
    g_ptr_array_add(argv, NULL);
    GSubprocess *process = g_subprocess_newv((const char *const *)argv->pdata,
                                             G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    g_assert_no_error(error);
    g_subprocess_communicate_utf8(process, NULL, NULL, &outcome.out, &outcome.err, &error);
    g_assert_no_error(error);
    outcome.status = g_subprocess_get_if_exited(process) ? g_subprocess_get_exit_status(process) : -1;
    g_object_unref(process);
    g_ptr_array_unref(argv);
    remove_tree(profile);
    return outcome;
}

static bool no_browser(void) {
    g_autofree char *program = g_find_program_in_path("chromium");
    if (!program)
        g_test_skip("there is no chromium: apt-get install chromium");
    return !program;
}

static void assert_quiet(const struct outcome *outcome) {
    const char *console = strstr(outcome->err, "CONSOLE");
    g_assert_cmpint(outcome->status, ==, 0);
    if (console)
        g_error("the page's console: %s", console);
}

static int64_t whole(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static char *grouped(int64_t value) {
    return value < 1000 ? g_strdup_printf("%d", (int)value)
                        : g_strdup_printf("%d,%03d", (int)(value / 1000), (int)(value % 1000));
}

static json_t *load_result(void) {
    g_autofree char *path = g_build_filename(folder, "result.json", NULL);
    json_t *result = json_load_file(path, 0, NULL);
    g_assert_nonnull(result);
    return result;
}

/* The document holds the run's figures, and nothing was complained about or asked for elsewhere. */
static void the_document_has_the_figures(void) {
    if (no_browser())
        return;
    json_t *result = load_result(), *router, *out;
    struct outcome page = browse("report.html", "--dump-dom");
    g_autofree char *cycles = grouped(whole(result, "cycles"));
    g_autofree char *tile = g_strdup_printf("<b>%s</b><span>cycles</span>", cycles);
    size_t r, p;
    unsigned found = 0;
    assert_quiet(&page);
    g_assert_nonnull(strstr(page.out, tile));
    g_assert_nonnull(strstr(page.out, "bit for bit as the model"));
    json_array_foreach(json_object_get(result, "routers"), r, router)
        json_array_foreach(json_object_get(router, "out"), p, out) {
        g_autofree char *flits =
            g_strdup_printf("data-flits=\"%d\" data-busy=\"%d\"", (int)whole(out, "flits"), (int)whole(out, "busy"));
        found += strstr(page.out, flits) != NULL;
    }
    g_assert_cmpuint(found, >=, 6);
    g_assert_null(strstr(page.out, "http"));
    outcome_clear(&page);
    json_decref(result);
}

/* A copy of a page with a script that writes down what the browser asked for, and a complaint or not. */
static void write_probe(const char *page, const char *name, const char *more) {
    static const char probe[] =
        "<script>addEventListener('load', () => document.body.dataset.fetched = "
        "'[' + performance.getEntriesByType('resource').map(e => e.name).join() + ']')</script>";
    g_autofree char *from = g_build_filename(folder, page, NULL), *to = g_build_filename(folder, name, NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(from, &text, NULL, NULL));
    char *end = strstr(text, "</body>");
    g_assert_nonnull(end);
    *end = '\0';
    g_autofree char *probed = g_strconcat(text, more, probe, "</body></html>\n", NULL);
    g_assert_true(g_file_set_contents(to, probed, -1, NULL));
}

/* Every address in the document is a place within it. */
static void assert_no_addresses(const char *document) {
    static const char *const names[] = {"href=\"", "src=\"", "url(\"", "@import"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        for (const char *at = document; (at = strstr(at, names[i]));) {
            at += strlen(names[i]);
            if (at[0] != '#' && !g_str_has_prefix(at, "data:"))
                g_error("the page names something outside: %.60s", at - strlen(names[i]));
        }
}

static void nothing_is_fetched(void) {
    if (no_browser())
        return;
    write_probe("report.html", "probe.html", "");
    struct outcome page = browse("probe.html", "--dump-dom");
    assert_quiet(&page);
    g_assert_nonnull(strstr(page.out, "data-fetched=\"[]\""));
    assert_no_addresses(page.out);
    outcome_clear(&page);
}

/* Were anything fetched or wrong, the tests above would see it so. */
static void a_page_that_fetches_is_noticed(void) {
    if (no_browser())
        return;
    write_probe("report.html", "bad.html",
                "<img src=\"http://127.0.0.1:9/x.png\"><script>console.error('wrong')</script>");
    struct outcome page = browse("bad.html", "--dump-dom");
    g_assert_nonnull(strstr(page.err, "CONSOLE"));
    g_assert_nonnull(strstr(page.out, "data-fetched=\"[http://127.0.0.1:9/x.png]\""));
    outcome_clear(&page);
}

static void the_screenshot_shows_something(void) {
    if (no_browser())
        return;
    g_autofree char *file = g_build_filename(folder, "page.png", NULL);
    g_autofree char *option = g_strconcat("--screenshot=", file, NULL);
    g_autofree char *picture = NULL;
    gsize size = 0;
    struct outcome page = browse("report.html", option);
    assert_quiet(&page);
    g_assert_true(g_file_get_contents(file, &picture, &size, NULL));
    g_assert_cmpmem(picture, 4, "\x89PNG", 4);
    g_assert_cmpuint(size, >, 30000); /* an empty page of this size takes some 6,000 */
    outcome_clear(&page);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("flitsim-XXXXXX", NULL);
    profile = g_build_filename(folder, "profile", NULL);
    assert_ended(RUN("run", "ref2", CUBE, "--out", folder, "--interval", "200", "--quiet"), 0);
    assert_ended(RUN("report", folder), 0);
    g_test_add_func("/report_browser/the_document_has_the_figures", the_document_has_the_figures);
    g_test_add_func("/report_browser/nothing_is_fetched", nothing_is_fetched);
    g_test_add_func("/report_browser/a_page_that_fetches_is_noticed", a_page_that_fetches_is_noticed);
    g_test_add_func("/report_browser/the_screenshot_shows_something", the_screenshot_shows_something);
    int status = g_test_run();
    remove_tree(folder);
    g_free(folder);
    g_free(profile);
    return status;
}
