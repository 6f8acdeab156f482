/* flitsim COMMAND ...: finds the command and hands over. */
#include "cli/cli.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/json_source.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
#define CLI_ROW(name, help) {#name, command_##name, help},
    COMMANDS(CLI_ROW)
#undef CLI_ROW
};

static void print_help(FILE *out) {
    fprintf(out, "Usage: flitsim COMMAND [OPTION...] [ARGUMENT...]\n\n"
                 "Simulates mesh-connected matmul accelerators cycle by cycle.\n\nCommands:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\nOptions:\n  --help     this text; `flitsim COMMAND --help` for a command's own\n"
                 "  --version  the program's version\n\n"
                 "Exit status: 0 done and every check held, 1 the run ended but something is wrong,\n"
                 "2 the command or a file is at fault.\n");
}

gboolean cli_options(int *argc, char ***argv, const GOptionEntry *entries, const char *arguments, const char *summary,
                     int least, int most) {
    GError *error = NULL;
    g_autofree char *name = g_strconcat("flitsim ", (*argv)[0], NULL);
    GOptionContext *context = g_option_context_new(arguments);
    g_set_prgname(name);
    g_option_context_set_summary(context, summary);
    if (entries)
        g_option_context_add_main_entries(context, entries, NULL);
    gboolean fine = g_option_context_parse(context, argc, argv, &error);
    g_option_context_free(context);
    if (!fine) {
        fprintf(stderr, "%s: %s, expected options of `%s --help`\n", name, error->message, name);
        g_error_free(error);
        return FALSE;
    }
    if (*argc > 1 && g_str_equal((*argv)[1], "--")) { /* GLib leaves it in place */
        for (int i = 1; i < *argc; i++)
            (*argv)[i] = (*argv)[i + 1];
        --*argc;
    }
    if (*argc - 1 >= least && *argc - 1 <= most)
        return TRUE;
    fprintf(stderr, "%s: %d arguments, expected %s\n", name, *argc - 1, arguments);
    return FALSE;
}

int cli_fail(GError *error) {
    int status = error->domain == FS_ERROR && error->code == FS_ERROR_INTERNAL ? CLI_WRONG : CLI_AT_FAULT;
    fprintf(stderr, "%s\n", error->message);
    g_error_free(error);
    return status;
}

static int unknown_command(const char *name) {
    const char *names[G_N_ELEMENTS(commands)];
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        names[i] = commands[i].name;
    const char *near = nearest_word(name, names, G_N_ELEMENTS(commands));
    fprintf(stderr, "flitsim: unknown command '%s', expected %s%s\n", name,
            near ? "perhaps " : "one of `flitsim --help`", near ? near : "");
    return CLI_AT_FAULT;
}

/* Output that did not reach its file is an error, not a success. */
static int flushed(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "flitsim: standard output can't be written\n");
    return CLI_AT_FAULT;
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, ""); /* characters only: numbers are written the same everywhere */
    if (argc < 2) {
        fprintf(stderr, "flitsim: no command, expected one of `flitsim --help`\n");
        return CLI_AT_FAULT;
    }
    if (g_str_equal(argv[1], "--version")) {
        printf("flitsim %s\n", FLITSIM_VERSION);
        return flushed(CLI_DONE);
    }
    if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h") || g_str_equal(argv[1], "help")) {
        print_help(stdout);
        return flushed(CLI_DONE);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (g_str_equal(commands[i].name, argv[1]))
            return flushed(commands[i].run(argc - 1, argv + 1));
    return unknown_command(argv[1]);
}
