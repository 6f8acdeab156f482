/* See progress.h. */
#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    BAR_CELLS = 24,
    FIRST_LINE_S = 5, /* lines off a terminal come at doubling distance, at most LINE_EVERY_S */
    LINE_EVERY_S = 60,
};

void progress_init(struct progress_view *view, const char *name, bool quiet) {
    *view = (struct progress_view){
        .quiet = quiet, .terminal = isatty(STDERR_FILENO), .line_due_s = FIRST_LINE_S, .name = name};
}

static char *time_text(double seconds) {
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        return g_strdup_printf("%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    return g_strdup_printf("%lu:%02lu", whole / 60, whole % 60);
}

/* "120/400  37.2/s  0:08 left  2 failed" */
static char *figures(const struct campaign_progress *progress) {
    uint64_t finished = progress->known + progress->done, left = progress->points - finished;
    double rate = progress->elapsed_s > 0 ? (double)progress->done / progress->elapsed_s : 0;
    g_autofree char *time = rate > 0 ? time_text((double)left / rate) : g_strdup("?");
    g_autofree char *failed =
        progress->failed ? g_strdup_printf("  %" G_GUINT64_FORMAT " failed", progress->failed) : g_strdup("");
    return g_strdup_printf("%" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT "  %.*f/s  %s left%s", finished, progress->points,
                           rate < 10 ? 2 : 0, rate, time, failed);
}

static void show_bar(struct progress_view *view, const struct campaign_progress *progress, const char *text) {
    char bar[BAR_CELLS + 1] = {0};
    uint64_t finished = progress->known + progress->done;
    for (unsigned i = 0; i < BAR_CELLS; i++)
        bar[i] = (i + 1) * progress->points <= finished * BAR_CELLS ? '#' : '.';
    fprintf(stderr, "\r%s [%s] %s\033[K", view->name, bar, text);
    view->open = true;
}

void progress_show(void *data, const struct campaign_progress *progress) {
    struct progress_view *view = data;
    bool line_due = progress->elapsed_s >= view->line_due_s;
    if (view->quiet || (!view->terminal && !line_due))
        return;
    g_autofree char *text = figures(progress);
    if (view->terminal) {
        show_bar(view, progress, text);
        return;
    }
    view->line_due_s = progress->elapsed_s + MIN(progress->elapsed_s, LINE_EVERY_S);
    fprintf(stderr, "%s: %s\n", view->name, text);
}

void progress_end(struct progress_view *view) {
    if (view->open)
        fputc('\n', stderr);
    view->open = false;
}

int progress_stop_descriptor(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}
