/* A child process, of another program or of a function of this one: one input, its output caught whole, its end waited
 * for through a descriptor that poll knows. The child dies with its parent, has a process group of its own (a Ctrl-C at
 * the terminal is its parent's affair), and can't write without bound. */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* The name under which the child finds its input. */
#define WORKER_INPUT "/proc/self/fd/3"

struct worker;

struct worker_outcome {
    int status; /* of exit; -1 when a signal ended it */
    int signal; /* else 0 */
    char *out, *err;
    double wall_s;
};

/* What a child may be instead of another program: given argv from its second word on, gives the status of exit. It has
 * the memory of its parent as it was, which must have no threads. */
typedef int worker_function(int argc, char **argv);

/* `function` NULL: argv[0] is executed. `input` may be NULL. NULL and an error when the system refuses. */
struct worker *worker_start(const char *const *argv, worker_function *function, const char *input, GError **error);

/* Readable once the child has ended. */
int worker_descriptor(const struct worker *worker);

double worker_age(const struct worker *worker);

/* Ends it and all it has started, at once. It must still be finished. */
void worker_kill(struct worker *worker);

/* Waits for the end and frees the worker. */
struct worker_outcome worker_finish(struct worker *worker);
void worker_outcome_clear(struct worker_outcome *outcome);

/* Runs a short command to its end, at most `limit_s` seconds. False and an error when it can't be started or took
 * longer; its exit status is in the outcome. */
bool worker_command(const char *const *argv, double limit_s, struct worker_outcome *outcome, GError **error);
