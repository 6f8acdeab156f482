/* Every hazard of model/hazard_list.h shown by its program in tests/hazards, and by nothing else; and docs/hazards.md,
 * which is made from the same two. FLITSIM_WRITE_DOCS=1 writes the page anew. */
#include "model/hazard_list.h"
#include "program_run.h"
#include "units/deadlock.h"

#define HAZARDS_DIR FLITSIM_SOURCE_DIR "/tests/hazards/"
#define PAGE        FLITSIM_SOURCE_DIR "/docs/hazards.md"

struct listed {
    const char *id, *class, *sentence, *rule, *why;
};

#define SHOWN(id, class, sentence, rule)        {id, class, sentence, rule, NULL},
#define UNSHOWN(id, class, sentence, rule, why) {id, class, sentence, rule, why},
static const struct listed hazards[] = {HAZARD_LIST(SHOWN, UNSHOWN)};

static char *program_of(const struct listed *hazard) {
    g_autofree char *path = g_strconcat(HAZARDS_DIR, hazard->id, ".fs", NULL);
    char *text;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

/* Is the id the one shown, or among those of the line "# also:"? */
static bool expected(const char *text, const char *shown, const char *id) {
    if (strcmp(shown, id) == 0)
        return true;
    const char *also = strstr(text, "# also: ");
    if (!also)
        return false;
    g_autofree char *line = g_strndup(also + 8, strcspn(also + 8, "\n"));
    g_auto(GStrv) ids = g_strsplit(line, " ", -1);
    return g_strv_contains((const char *const *)ids, id);
}

static void shows(const void *data) {
    const struct listed *hazard = data;
    g_autofree char *text = program_of(hazard);
    struct program_run run;
    program_open(&run, text);
    program_go(&run);
    struct system *system = run.system;
    if (!run.ended) {
        struct deadlock_report report;
        deadlock_report_init(&report, system, run.end, run.end);
        deadlock_report_clear(&report);
    }
    for (guint i = 0; i < system->hazards.hazards->len; i++) {
        const struct hazard *seen = g_ptr_array_index(system->hazards.hazards, i);
        if (!expected(text, hazard->id, seen->id))
            g_test_fail_printf("%s: also %s at %s in cycle %" G_GUINT64_FORMAT ": %s", hazard->id, seen->id,
                               seen->where, seen->cycle, seen->what);
    }
    if (!hazard_count(&system->hazards, hazard->id))
        g_test_fail_printf("%s is not reported; the run %s in cycle %" G_GUINT64_FORMAT, hazard->id,
                           run.ended ? "ended" : "stopped", run.end);
    program_close(&run);
}

/* ---- the page ---- */

static void append_program(GString *page, const char *text) {
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_string_append(page, "\n```\n");
    for (char **line = lines; *line; line++)
        if (**line && !g_str_has_prefix(*line, "# also:"))
            g_string_append_printf(page, "%s\n", *line);
    g_string_append(page, "```\n");
}

static char *page_text(void) {
    GString *page = g_string_new(
        "# Hazards\n\nWhat the hardware does not check and the simulator reports. Every program below is run by the "
        "tests on four\nclusters at (1,1) .. (2,2) with ports at (0,1) and (0,2), and shows exactly what it stands "
        "under. A program without\nhost commands gets credit 30, a kick behind every section and a wait for all "
        "signals. This page is made by\n`tests/system/test_hazards.c` from `model/hazard_list.h` and "
        "`tests/hazards/`.\n");
    for (unsigned i = 0; i < G_N_ELEMENTS(hazards); i++) {
        const struct listed *hazard = &hazards[i];
        g_string_append_printf(page, "\n## %s\n\n%s (%s; %s)\n", hazard->id, hazard->sentence, hazard->class,
                               hazard->rule);
        if (hazard->why) {
            g_string_append_printf(page, "\nNo program shows it: %s.\n", hazard->why);
            continue;
        }
        g_autofree char *text = program_of(hazard);
        append_program(page, text);
    }
    return g_string_free(page, FALSE);
}

static void page_is_current(void) {
    g_autofree char *wanted = page_text(), *there = NULL;
    if (g_getenv("FLITSIM_WRITE_DOCS"))
        g_file_set_contents(PAGE, wanted, -1, NULL);
    g_file_get_contents(PAGE, &there, NULL, NULL);
    if (g_strcmp0(wanted, there) != 0)
        g_test_fail_printf("docs/hazards.md is not what the list gives; FLITSIM_WRITE_DOCS=1 writes it");
}

/* ---- every id the simulator can report is in the list ---- */

static bool is_listed(const char *id) {
#define PREFIX(name)                                                                                                   \
    if (g_str_has_prefix(id, name))                                                                                    \
        return true;
    HAZARD_ELSEWHERE(PREFIX)
    for (unsigned i = 0; i < G_N_ELEMENTS(hazards); i++)
        if (strcmp(hazards[i].id, id) == 0)
            return true;
    return false;
}

static void check_source(const char *path) {
    g_autofree char *text = NULL;
    g_autoptr(GRegex) regex = g_regex_new("hazard_(?:report|fatal)\\([^\"]*\"([a-z0-9_]+\\.[a-z0-9_]+)\"", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    for (g_regex_match(regex, text, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
        g_autofree char *id = g_match_info_fetch(match, 1);
        if (!is_listed(id))
            g_test_fail_printf("%s reports %s, which is not in model/hazard_list.h", path, id);
    }
}

static void check_folder(const char *path) {
    GDir *dir = g_dir_open(path, 0, NULL);
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        g_autofree char *inside = g_build_filename(path, name, NULL);
        if (g_file_test(inside, G_FILE_TEST_IS_DIR))
            check_folder(inside);
        else if (g_str_has_suffix(name, ".c"))
            check_source(inside);
    }
    g_dir_close(dir);
}

static void list_is_complete(void) {
    static const char *const rooms[] = {"noc", "memory", "units"};
    for (unsigned i = 0; i < G_N_ELEMENTS(rooms); i++) {
        g_autofree char *path = g_build_filename(FLITSIM_SOURCE_DIR, rooms[i], NULL);
        check_folder(path);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hazards/list_is_complete", list_is_complete);
    g_test_add_func("/hazards/page_is_current", page_is_current);
    for (unsigned i = 0; i < G_N_ELEMENTS(hazards); i++) {
        g_autofree char *path = g_strconcat("/hazards/shown/", hazards[i].id, NULL);
        if (!hazards[i].why)
            g_test_add_data_func(path, &hazards[i], shows);
    }
    return g_test_run();
}
