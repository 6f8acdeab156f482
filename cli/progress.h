/* Telling a user how long work is getting on: a bar on a terminal, now and then a line elsewhere. And the descriptor
 * that becomes readable when the user wants it to stop. */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "analysis/campaign.h"

struct progress_view {
    bool quiet, terminal;
    bool open; /* a bar stands on the terminal's line */
    double line_due_s;
    const char *name;
};

void progress_init(struct progress_view *view, const char *name, bool quiet);
/* A campaign's report; `data` is the view. */
void progress_show(void *data, const struct campaign_progress *progress);
/* Leaves the bar's line. */
void progress_end(struct progress_view *view);

/* Readable once SIGINT, SIGTERM or SIGHUP has come; they no longer end the program. -1: the system has none. */
int progress_stop_descriptor(void);
