/* flitsim compare A B: what changed between two runs or sweeps. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/compare.h"

int command_compare(int argc, char **argv) {
    gboolean json = FALSE;
    GError *error = NULL;
    const GOptionEntry entries[] = {
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print the comparison as JSON", NULL},
        G_OPTION_ENTRY_NULL,
    };
    if (!cli_options(
            &argc, &argv, entries, "A B",
            "Says what changed from A to B in configuration and cycles, and which causes of waiting account for\n"
            "the difference. A and B: results or folders of `flitsim run --out`, stores or folders of sweeps,\n"
            "or FILE#ENTRY for a recorded run.",
            2, 2))
        return CLI_AT_FAULT;
    json_t *comparison = compare_sides(argv[1], argv[2], &error);
    if (!comparison)
        return cli_fail(error);
    if (json) {
        json_dumpf(comparison, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
        putchar('\n');
    } else {
        g_autofree char *text = compare_text(comparison);
        fputs(text, stdout);
    }
    json_decref(comparison);
    return CLI_DONE;
}
