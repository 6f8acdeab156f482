/* What the commands share: their list, their exit statuses, their way to read options. One file a command; to add one,
 * write `int command_NAME(int argc, char **argv)` in cli/NAME.c and a line in COMMANDS. */
#pragma once

#include <glib.h>

#include "model/error.h"

enum cli_status {
    CLI_DONE = 0,     /* all done, every check held */
    CLI_WRONG = 1,    /* the run ended but something is wrong */
    CLI_AT_FAULT = 2, /* the command or a file is at fault: one line on standard error, nothing on standard output */
};

#define COMMANDS(X)                                                                                                    \
    X(run, "run a workload on a machine")                                                                              \
    X(asm, "assemble a program")                                                                                       \
    X(report, "make a page of a run or a sweep")                                                                       \
    X(disasm, "disassemble a program")                                                                                 \
    X(check, "check configuration files")                                                                              \
    X(describe, "draw a machine and list what it is made of")                                                          \
    X(sweep, "run every point of a sweep")                                                                             \
    X(merge, "put the results of shards together")                                                                     \
    X(table, "print results of a sweep")                                                                               \
    X(compare, "say what changed between two runs or sweeps")

/* argv[0] is the command's name; the status is the program's. */
#define CLI_DECLARE(name, help) int command_##name(int argc, char **argv);
COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

/* Reads the options of a command; `arguments` names what follows them, `summary` is a sentence for --help. At least
 * `least` and at most `most` arguments must remain in argv[1..]. Prints the complaint and gives FALSE if not. */
gboolean cli_options(int *argc, char ***argv, const GOptionEntry *entries, const char *arguments, const char *summary,
                     int least, int most);

/* Prints the error on standard error, frees it, and gives the status that goes with it. */
int cli_fail(GError *error);
