/* A sweep on a cluster: an array job of Slurm whose tasks each run a shard, the wait for it, and the merge. The folder
 * must be one that all nodes see. docs/scaling.md says how to use it. */
#pragma once

#include "analysis/campaign.h"

struct slurm_job {
    const char *sweep_file; /* as the tasks find it: an absolute path */
    const char *folder;     /* absolute */
    unsigned tasks;
    char *lost; /* after the run: what is known of tasks that ended without their results; NULL: nothing */
};

/* Submits, waits, merges into `store`. On a stop the job is cancelled and what is there is merged. Points that have no
 * result afterwards are progress->points - known - done. */
bool slurm_run(const struct sweep *sweep, const struct campaign_plan *plan, struct store *store, struct slurm_job *job,
               const struct campaign_options *options, struct campaign_progress *progress, GError **error);

/* What a shard writes for whoever waits: FOLDER/progress, replaced as a whole. */
void slurm_write_progress(const char *folder, const struct campaign_progress *progress);
