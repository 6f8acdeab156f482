/* See worker.h. Output goes to files in memory, so that nobody has to read along. */
#include "analysis/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/error.h"

enum {
    OUTPUT_MAX_BYTES = 512 << 20,
    INPUT_DESCRIPTOR = 3, /* as WORKER_INPUT says */
    EXIT_NOT_STARTED = 127,
};

struct worker {
    pid_t pid;
    int end, out, err;
    gint64 began;
};

static int memory_file(const char *name) {
    return memfd_create(name, MFD_CLOEXEC);
}

static void close_if_open(int descriptor) {
    if (descriptor >= 0)
        close(descriptor);
}

static bool write_whole(int descriptor, const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t written = write(descriptor, text, left);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            left -= (size_t)written;
        }
    }
    return lseek(descriptor, 0, SEEK_SET) == 0;
}

/* `from` under the number `to`, kept across exec. */
static void give(int from, int to) {
    if (from == to)
        fcntl(from, F_SETFD, 0);
    else
        dup2(from, to);
}

/* The function's turn. Nothing of the parent's is tidied up: it is the parent's. */
static void call(const char *const *argv, worker_function *function) {
    close_range(INPUT_DESCRIPTOR + 1, ~0U, 0);
    char **words = g_strdupv((char **)argv + 1);
    int status = function((int)g_strv_length(words), words);
    if (fflush(stdout) != 0)
        status = EXIT_NOT_STARTED;
    _exit(status);
}

/* In the child. */
static void become(const char *const *argv, worker_function *function, int input, int out, int err, pid_t parent) {
    const struct rlimit none = {0, 0}, output = {OUTPUT_MAX_BYTES, OUTPUT_MAX_BYTES};
    sigset_t nothing;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_NOT_STARTED);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &output);
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0)
        give(null, STDIN_FILENO);
    give(out, STDOUT_FILENO);
    give(err, STDERR_FILENO);
    if (input >= 0)
        give(input, INPUT_DESCRIPTOR);
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (function)
        call(argv, function);
    execvp(argv[0], (char *const *)argv);
    static const char complaint[] = "the program can't be started\n";
    if (write(STDERR_FILENO, complaint, sizeof complaint - 1) < 0)
        _exit(EXIT_NOT_STARTED);
    _exit(EXIT_NOT_STARTED);
}

static void start_error(GError **error, const char *what) {
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "flitsim: %s can't be started: %s", what, g_strerror(errno));
}

struct worker *worker_start(const char *const *argv, worker_function *function, const char *input, GError **error) {
    struct worker worker = {.end = -1, .out = memory_file("out"), .err = memory_file("err")};
    int given = input ? memory_file("input") : -1;
    bool fine = worker.out >= 0 && worker.err >= 0 && (!input || (given >= 0 && write_whole(given, input)));
    pid_t parent = getpid();
    worker.began = g_get_monotonic_time();
    fflush(NULL); /* else a child that calls a function writes what we have not yet written */
    worker.pid = fine ? fork() : -1;
    if (worker.pid == 0)
        become(argv, function, given, worker.out, worker.err, parent);
    if (worker.pid > 0) {
        setpgid(worker.pid, worker.pid); /* whoever is first, before anybody kills the group */
        worker.end = pidfd_open(worker.pid, 0);
    }
    if (worker.pid < 0 || worker.end < 0) {
        start_error(error, argv[0]);
        close_if_open(worker.out);
        close_if_open(worker.err);
    }
    close_if_open(given);
    if (worker.pid > 0 && worker.end < 0) {
        kill(worker.pid, SIGKILL);
        waitpid(worker.pid, NULL, 0);
    }
    return worker.pid < 0 || worker.end < 0 ? NULL : g_memdup2(&worker, sizeof worker);
}

int worker_descriptor(const struct worker *worker) {
    return worker->end;
}

double worker_age(const struct worker *worker) {
    return (double)(g_get_monotonic_time() - worker->began) / G_USEC_PER_SEC;
}

void worker_kill(struct worker *worker) {
    kill(-worker->pid, SIGKILL);
    kill(worker->pid, SIGKILL);
}

/* What was written, as far as it is text. */
static char *caught(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || status.st_size == 0)
        return g_strdup("");
    GString *text = g_string_sized_new((gsize)status.st_size);
    ssize_t got = pread(descriptor, text->str, (size_t)status.st_size, 0);
    g_string_set_size(text, got > 0 ? (gsize)got : 0);
    return g_string_free(text, FALSE);
}

struct worker_outcome worker_finish(struct worker *worker) {
    struct worker_outcome outcome = {.status = -1};
    int status = 0;
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    outcome.wall_s = worker_age(worker);
    if (WIFEXITED(status))
        outcome.status = WEXITSTATUS(status);
    else
        outcome.signal = WTERMSIG(status);
    outcome.out = caught(worker->out);
    outcome.err = caught(worker->err);
    close(worker->out);
    close(worker->err);
    close(worker->end);
    g_free(worker);
    return outcome;
}

void worker_outcome_clear(struct worker_outcome *outcome) {
    g_clear_pointer(&outcome->out, g_free);
    g_clear_pointer(&outcome->err, g_free);
}

bool worker_command(const char *const *argv, double limit_s, struct worker_outcome *outcome, GError **error) {
    struct worker *worker = worker_start(argv, NULL, NULL, error);
    if (!worker)
        return false;
    struct pollfd end = {.fd = worker->end, .events = POLLIN};
    bool in_time = poll(&end, 1, (int)(limit_s * 1000)) > 0;
    if (!in_time)
        worker_kill(worker);
    *outcome = worker_finish(worker);
    if (in_time && outcome->status != EXIT_NOT_STARTED)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "flitsim: %s %s", argv[0],
                in_time ? "can't be started, expected it in PATH" : "did not answer in time");
    worker_outcome_clear(outcome);
    return false;
}
