/* See campaign.h. */
#include "analysis/campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/worker.h"
#include "model/error.h"

enum {
    REPORT_MS = 500,
    RESULT_FORMAT = JSON_COMPACT | JSON_REAL_PRECISION(17),
};

/* Keys of a result that tell of the host and not of the machine: left out, so that equal points have equal rows. */
static const char *const host_keys[] = {"wall_s", "cycles_per_wall_s", "flit_hops_per_wall_s"};

/* ---- planning ---- */

static void to_bytes(const char *text, uint8_t *bytes) {
    for (unsigned i = 0; i < CAMPAIGN_KEY_BYTES; i++)
        bytes[i] = (uint8_t)(g_ascii_xdigit_value(text[2 * i]) << 4 | g_ascii_xdigit_value(text[2 * i + 1]));
}

static int by_key(const void *a, const void *b) {
    const struct campaign_point *p = a, *q = b;
    int order = memcmp(p->key, q->key, sizeof p->key);
    return order ? order : (p->number > q->number) - (p->number < q->number);
}

static int by_number(const void *a, const void *b) {
    const struct campaign_point *p = a, *q = b;
    return (p->number > q->number) - (p->number < q->number);
}

/* Keeps the first of equal points, then puts all in order. */
static void order_points(struct campaign_plan *plan) {
    GArray *points = plan->points;
    guint kept = 0;
    g_array_sort(points, by_key);
    for (guint i = 0; i < points->len; i++) {
        const struct campaign_point *point = &g_array_index(points, struct campaign_point, i);
        if (kept &&
            memcmp(g_array_index(points, struct campaign_point, kept - 1).key, point->key, sizeof point->key) == 0)
            continue;
        g_array_index(points, struct campaign_point, kept++) = *point;
    }
    plan->repeated = points->len - kept;
    g_array_set_size(points, kept);
    g_array_sort(points, by_number);
}

static void sign_plan(struct campaign_plan *plan) {
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (guint i = 0; i < plan->points->len; i++)
        g_checksum_update(sum, g_array_index(plan->points, struct campaign_point, i).key, CAMPAIGN_KEY_BYTES);
    g_strlcpy(plan->digest, g_checksum_get_string(sum), sizeof plan->digest);
    g_checksum_free(sum);
}

static bool asked_to_stop(int stop) {
    struct pollfd asked = {.fd = stop, .events = POLLIN};
    return stop >= 0 && poll(&asked, 1, 0) > 0;
}

/* Takes over the error unless it has been said already. */
static void add_complaint(GPtrArray *complaints, GError *error) {
    bool said = complaints->len >= CAMPAIGN_MAX_COMPLAINTS;
    for (guint i = 0; i < complaints->len && !said; i++)
        said = g_str_equal(g_ptr_array_index(complaints, i), error->message);
    if (!said)
        g_ptr_array_add(complaints, g_strdup(error->message));
    g_error_free(error);
}

static void plan_point(struct sweep *sweep, struct campaign_plan *plan, uint64_t number, GPtrArray *complaints) {
    GError *error = NULL;
    struct sweep_point point;
    struct campaign_point planned = {.number = number};
    switch (sweep_resolve(sweep, number, &point, &error)) {
    case SWEEP_POINT_TAKEN:
        to_bytes(point.key, planned.key);
        g_array_append_val(plan->points, planned);
        sweep_point_clear(&point);
        break;
    case SWEEP_POINT_LEFT_OUT:
        plan->left_out++;
        break;
    case SWEEP_POINT_WRONG:
        add_complaint(complaints, error);
        break;
    }
}

bool campaign_plan(struct sweep *sweep, struct campaign_plan *plan, const struct campaign_options *options,
                   GPtrArray *complaints) {
    guint before = complaints->len;
    *plan = (struct campaign_plan){.points = g_array_new(FALSE, FALSE, sizeof(struct campaign_point))};
    for (uint64_t number = 0; number < sweep->count && complaints->len < CAMPAIGN_MAX_COMPLAINTS; number++) {
        plan_point(sweep, plan, number, complaints);
        if (number % 256 == 255 && asked_to_stop(options->stop))
            g_ptr_array_add(complaints, g_strdup("flitsim sweep: stopped before all points were checked"));
    }
    if (plan->points->len == 0 && complaints->len == before)
        g_ptr_array_add(complaints, g_strdup_printf("%s:1:1: when: leaves out all %" G_GUINT64_FORMAT
                                                    " combinations, expected some to remain",
                                                    sweep->source.file, sweep->count));
    if (complaints->len == before) {
        order_points(plan);
        sign_plan(plan);
        return true;
    }
    campaign_plan_clear(plan);
    return false;
}

void campaign_plan_clear(struct campaign_plan *plan) {
    g_clear_pointer(&plan->points, g_array_unref);
}

/* ---- the store of a sweep ---- */

static void to_text(const uint8_t *bytes, char *text) {
    for (unsigned i = 0; i < CAMPAIGN_KEY_BYTES; i++)
        g_snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static bool number_rows(struct store *store, const struct campaign_plan *plan, GError **error) {
    char key[SWEEP_KEY_CHARACTERS + 1];
    if (!store_forget_numbers(store, error))
        return false;
    for (guint i = 0; i < plan->points->len; i++) {
        const struct campaign_point *point = &g_array_index(plan->points, struct campaign_point, i);
        to_text(point->key, key);
        if (!store_set_number(store, key, (int64_t)point->number, error))
            return false;
    }
    return true;
}

static bool write_facts(struct store *store, const struct sweep *sweep, const struct campaign_plan *plan,
                        GError **error) {
    json_t *about = sweep_about(sweep);
    char *text = json_dumps(about, JSON_COMPACT);
    bool fine = store_set_fact(store, "schema", "flitsim.results/1", error) &&
                store_set_fact(store, "sweep", text, error) && store_set_fact(store, "plan", plan->digest, error) &&
                store_set_fact(store, "version", FLITSIM_VERSION, error);
    free(text);
    json_decref(about);
    return fine;
}

/* Rows of an earlier form of the sweep stay, but belong to none of its points. */
static bool adapt_store(struct store *store, const struct sweep *sweep, const struct campaign_plan *plan,
                        GError **error) {
    g_autofree char *held = store_fact(store, "plan");
    bool same = g_strcmp0(held, plan->digest) == 0;
    return store_begin(store, error) && (same || number_rows(store, plan, error)) &&
           write_facts(store, sweep, plan, error) && store_commit(store, error);
}

static bool folder_error(const char *folder, GError **error, const char *what) {
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): %s: %s", folder, what, g_strerror(errno));
    return false;
}

static bool lock_folder(const char *folder, int *lock, GError **error) {
    g_autofree char *file = g_build_filename(folder, "sweep.lock", NULL);
    *lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0)
        return folder_error(folder, error, "can't be written, expected a folder for results");
    /* of this process alone: workers that outlive it by a moment must not hold it */
    const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(*lock, F_SETLK, &whole) == 0)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): is in use by another sweep, expected it free", folder);
    close(*lock);
    return false;
}

struct store *campaign_open(const char *folder, const struct sweep *sweep, const struct campaign_plan *plan, int *lock,
                            GError **error) {
    if (g_mkdir_with_parents(folder, 0777) != 0) {
        folder_error(folder, error, "can't be made, expected a folder for results");
        return NULL;
    }
    if (!lock_folder(folder, lock, error))
        return NULL;
    g_autofree char *file = g_build_filename(folder, STORE_FILE, NULL);
    struct store *store = store_open(file, STORE_WRITE, error);
    if (store && adapt_store(store, sweep, plan, error))
        return store;
    store_close(store);
    close(*lock);
    return NULL;
}

/* ---- what became of a point ---- */

static json_t *trim_result(const struct sweep *sweep, json_t *result) {
    for (size_t i = 0; i < G_N_ELEMENTS(host_keys); i++)
        json_object_del(result, host_keys[i]);
    if (!sweep->keep)
        return result;
    json_t *kept = json_object();
    for (size_t i = 0; sweep->keep[i]; i++) {
        json_t *value = json_object_get(result, sweep->keep[i]);
        if (value)
            json_object_set(kept, sweep->keep[i], value);
    }
    json_decref(result);
    return kept;
}

static char *first_line(const char *text, const char *otherwise) {
    gsize length = strcspn(text, "\r\n");
    return g_utf8_make_valid(length ? text : otherwise, length ? (gssize)MIN(length, 1000) : -1);
}

/* Why a run that ended with a result of its own is not right. */
static char *wrong_reason(const json_t *result, const char *err) {
    const json_t *deadlock = json_object_get(result, "deadlock");
    const json_t *cycle = json_object_get(deadlock, "cycle"), *numerics = json_object_get(result, "numerics");
    json_int_t mismatches = json_integer_value(json_object_get(json_object_get(numerics, "vs_model"), "mismatches"));
    if (json_is_integer(cycle))
        return g_strdup_printf("deadlock in cycle %" JSON_INTEGER_FORMAT, json_integer_value(cycle));
    if (mismatches)
        return g_strdup_printf("%" JSON_INTEGER_FORMAT " elements differ from the model", mismatches);
    return first_line(err, "the run ended with status 1");
}

struct verdict {
    const char *status;
    char *reason; /* NULL when it is ok */
};

static struct verdict judge(const struct worker_outcome *outcome, const json_t *result, bool late, double limit_s) {
    if (late)
        return (struct verdict){"timeout", g_strdup_printf("longer than %g s", limit_s)};
    if (outcome->signal)
        return (struct verdict){"crashed",
                                g_strdup_printf("signal %d (%s)", outcome->signal, g_strsignal(outcome->signal))};
    if (outcome->status == 0 && result)
        return (struct verdict){"ok", NULL};
    if (outcome->status == 1 && result)
        return (struct verdict){"wrong", wrong_reason(result, outcome->err)};
    if (outcome->status == 2)
        return (struct verdict){"refused", first_line(outcome->err, "status 2 without a message")};
    g_autofree char *line = first_line(outcome->err, "no result was printed");
    return (struct verdict){"failed", g_strdup_printf("status %d: %s", outcome->status, line)};
}

static json_t *read_result(const struct worker_outcome *outcome) {
    json_t *result = outcome->signal ? NULL : json_loads(outcome->out, 0, NULL);
    if (json_is_object(result))
        return result;
    json_decref(result);
    return NULL;
}

/* ---- running ---- */

struct slot {
    struct worker *worker; /* NULL: free */
    struct sweep_point point;
    bool late;
};

struct campaign {
    struct sweep *sweep;
    const struct campaign_plan *plan;
    struct store *store;
    const struct campaign_options *options;
    struct campaign_progress *progress;
    struct slot *slots;
    struct pollfd *polled; /* one a slot, then the stop descriptor */
    guint next;            /* point of the plan to look at next */
    gint64 began, reported;
};

static bool in_shard(const struct campaign_options *options, guint index) {
    return index % options->shards == options->shard - 1;
}

static void report(struct campaign *campaign, bool now) {
    gint64 time = g_get_monotonic_time();
    campaign->progress->elapsed_s = (double)(time - campaign->began) / G_USEC_PER_SEC;
    if (!campaign->options->report || (!now && time - campaign->reported < REPORT_MS * 1000))
        return;
    campaign->reported = time;
    campaign->options->report(campaign->options->data, campaign->progress);
}

static int compare_keys(const void *a, const void *b) {
    return memcmp(a, b, CAMPAIGN_KEY_BYTES);
}

static bool is_listed(const GArray *keys, const uint8_t *key) {
    return keys && keys->len && bsearch(key, keys->data, keys->len, CAMPAIGN_KEY_BYTES, compare_keys);
}

/* Whether the point need not be run, and what the store says of it. */
static bool find_point(const struct campaign_point *point, struct store *store, const struct campaign_options *options,
                       bool *there, enum store_presence *presence, GError **error) {
    char key[SWEEP_KEY_CHARACTERS + 1];
    to_text(point->key, key);
    if (!store_find(store, key, presence, error))
        return false;
    *there = *presence == STORE_OK || (*presence == STORE_FAILED && !options->retry) ||
             is_listed(options->known, point->key);
    return true;
}

bool campaign_stock(const struct campaign_plan *plan, struct store *store, const struct campaign_options *options,
                    struct campaign_progress *progress, GError **error) {
    *progress = (struct campaign_progress){0};
    for (guint i = 0; i < plan->points->len; i++) {
        enum store_presence presence;
        bool there;
        if (!in_shard(options, i))
            continue;
        if (!find_point(&g_array_index(plan->points, struct campaign_point, i), store, options, &there, &presence,
                        error))
            return false;
        progress->points++;
        progress->known += there;
        progress->failed += there && presence == STORE_FAILED;
    }
    return true;
}

bool campaign_write_keys(const struct campaign_plan *plan, struct store *store, const struct campaign_options *options,
                         const char *file, GError **error) {
    GString *text = g_string_new(NULL);
    char key[SWEEP_KEY_CHARACTERS + 1];
    bool fine = true;
    for (guint i = 0; i < plan->points->len && fine; i++) {
        const struct campaign_point *point = &g_array_index(plan->points, struct campaign_point, i);
        enum store_presence presence;
        bool there = false;
        fine = find_point(point, store, options, &there, &presence, error);
        to_text(point->key, key);
        if (there)
            g_string_append_printf(text, "%s\n", key);
    }
    fine = fine && g_file_set_contents(file, text->str, (gssize)text->len, error);
    g_string_free(text, TRUE);
    return fine;
}

GArray *campaign_read_keys(const char *file, GError **error) {
    g_autofree char *text = NULL;
    if (!g_file_get_contents(file, &text, NULL, error))
        return NULL;
    GArray *keys = g_array_new(FALSE, FALSE, CAMPAIGN_KEY_BYTES);
    for (const char *at = text; strcspn(at, "\n") == SWEEP_KEY_CHARACTERS; at += SWEEP_KEY_CHARACTERS + 1) {
        uint8_t key[CAMPAIGN_KEY_BYTES];
        to_bytes(at, key);
        g_array_append_vals(keys, key, 1);
        if (!at[SWEEP_KEY_CHARACTERS])
            break;
    }
    g_array_sort(keys, compare_keys);
    return keys;
}

/* PROGRAM run MACHINE WORKLOAD --seed N --json --quiet --set …; NULL-terminated, the texts are borrowed. */
static GPtrArray *command_of(const struct campaign *campaign, const struct sweep_point *point, const char *seed) {
    GPtrArray *argv = g_ptr_array_new();
    const char *const fixed[] = {campaign->options->program, "run", "--json", "--quiet", "--seed", seed};
    for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
        g_ptr_array_add(argv, (void *)fixed[i]);
    for (char **set = point->sets; *set; set++) {
        g_ptr_array_add(argv, (void *)"--set");
        g_ptr_array_add(argv, *set);
    }
    g_ptr_array_add(argv, (void *)"--");
    g_ptr_array_add(argv, (void *)WORKER_INPUT);
    g_ptr_array_add(argv, point->workload);
    g_ptr_array_add(argv, NULL);
    return argv;
}

static bool start_point(struct campaign *campaign, struct slot *slot, GError **error) {
    g_autofree char *seed =
        g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(slot->point.config, "seed")));
    char *machine = json_dumps(json_object_get(slot->point.config, "machine"), RESULT_FORMAT);
    GPtrArray *argv = command_of(campaign, &slot->point, seed);
    slot->late = false;
    slot->worker = worker_start((const char *const *)argv->pdata, campaign->options->run, machine, error);
    g_ptr_array_unref(argv);
    free(machine);
    if (!slot->worker) {
        sweep_point_clear(&slot->point);
        return false;
    }
    campaign->progress->running++;
    return true;
}

/* The next point of the shard that is to be run; false at the end of the plan, or with an error. */
static bool next_point(struct campaign *campaign, struct sweep_point *point, GError **error) {
    for (; campaign->next < campaign->plan->points->len; campaign->next++) {
        const struct campaign_point *planned =
            &g_array_index(campaign->plan->points, struct campaign_point, campaign->next);
        enum store_presence presence;
        bool there;
        if (!in_shard(campaign->options, campaign->next))
            continue;
        if (!find_point(planned, campaign->store, campaign->options, &there, &presence, error))
            return false;
        if (there)
            continue;
        campaign->next++;
        return sweep_resolve(campaign->sweep, planned->number, point, error) == SWEEP_POINT_TAKEN;
    }
    return false;
}

static bool fill_slots(struct campaign *campaign, GError **error) {
    GError *inner = NULL;
    for (unsigned i = 0; i < campaign->options->jobs; i++) {
        struct slot *slot = &campaign->slots[i];
        if (slot->worker)
            continue;
        if (!next_point(campaign, &slot->point, &inner)) {
            if (inner)
                g_propagate_error(error, inner);
            return !inner;
        }
        if (!start_point(campaign, slot, error))
            return false;
    }
    return true;
}

static bool store_point(struct campaign *campaign, const struct sweep_point *point,
                        const struct worker_outcome *outcome, bool late, GError **error) {
    json_t *result = read_result(outcome);
    struct verdict verdict = judge(outcome, result, late, campaign->options->time_limit_s);
    const json_t *digest = json_object_get(result, "digest"), *cycles = json_object_get(result, "cycles");
    g_autofree char *digest_text = g_strdup(json_string_value(digest));
    int64_t count = json_is_integer(cycles) ? json_integer_value(cycles) : -1;
    result = result ? trim_result(campaign->sweep, result) : NULL;
    char *axes = json_dumps(point->axes, RESULT_FORMAT), *config = json_dumps(point->config, RESULT_FORMAT);
    char *text = result ? json_dumps(result, RESULT_FORMAT) : NULL;
    const struct store_row row = {.point = point->key,
                                  .number = (int64_t)point->number,
                                  .status = verdict.status,
                                  .reason = verdict.reason,
                                  .digest = digest_text,
                                  .cycles = count,
                                  .axes = axes,
                                  .config = config,
                                  .result = text,
                                  .wall_s = outcome->wall_s,
                                  .version = FLITSIM_VERSION};
    bool fine = store_put(campaign->store, &row, error);
    campaign->progress->done += fine;
    campaign->progress->failed += fine && !g_str_equal(verdict.status, "ok");
    g_free(verdict.reason);
    free(axes);
    free(config);
    free(text);
    json_decref(result);
    return fine;
}

static bool end_point(struct campaign *campaign, struct slot *slot, bool keep, GError **error) {
    struct worker_outcome outcome = worker_finish(slot->worker);
    slot->worker = NULL;
    campaign->progress->running--;
    bool fine = !keep || store_point(campaign, &slot->point, &outcome, slot->late, error);
    sweep_point_clear(&slot->point);
    worker_outcome_clear(&outcome);
    return fine;
}

/* Milliseconds until the next thing that is due without anybody's doing: a report, a time limit. */
static int patience(const struct campaign *campaign) {
    double least = REPORT_MS / 1000.0, limit = campaign->options->time_limit_s;
    for (unsigned i = 0; i < campaign->options->jobs && limit > 0; i++) {
        const struct slot *slot = &campaign->slots[i];
        if (slot->worker && !slot->late)
            least = MIN(least, MAX(limit - worker_age(slot->worker), 0));
    }
    return (int)(least * 1000) + 1;
}

static void end_late_ones(struct campaign *campaign) {
    double limit = campaign->options->time_limit_s;
    for (unsigned i = 0; i < campaign->options->jobs && limit > 0; i++) {
        struct slot *slot = &campaign->slots[i];
        if (slot->worker && !slot->late && worker_age(slot->worker) > limit) {
            slot->late = true;
            worker_kill(slot->worker);
        }
    }
}

/* Waits for something to happen and stores what has ended. */
static bool wait_for_ends(struct campaign *campaign, GError **error) {
    unsigned jobs = campaign->options->jobs;
    for (unsigned i = 0; i < jobs; i++)
        campaign->polled[i] = (struct pollfd){
            .fd = campaign->slots[i].worker ? worker_descriptor(campaign->slots[i].worker) : -1, .events = POLLIN};
    campaign->polled[jobs] = (struct pollfd){.fd = campaign->options->stop, .events = POLLIN};
    if (poll(campaign->polled, jobs + 1, patience(campaign)) < 0 && errno != EINTR)
        return folder_error("poll", error, "failed");
    campaign->progress->stopped = campaign->polled[jobs].revents != 0;
    for (unsigned i = 0; i < jobs; i++)
        if (campaign->polled[i].revents && campaign->slots[i].worker &&
            !end_point(campaign, &campaign->slots[i], true, error))
            return false;
    end_late_ones(campaign);
    report(campaign, false);
    return true;
}

/* Points in flight are lost, as promised; nothing of theirs is stored. */
static void drop_running(struct campaign *campaign) {
    for (unsigned i = 0; i < campaign->options->jobs; i++) {
        struct slot *slot = &campaign->slots[i];
        if (!slot->worker)
            continue;
        worker_kill(slot->worker);
        end_point(campaign, slot, false, NULL);
    }
}

bool campaign_run(struct sweep *sweep, const struct campaign_plan *plan, struct store *store,
                  const struct campaign_options *options, struct campaign_progress *progress, GError **error) {
    struct campaign campaign = {.sweep = sweep,
                                .plan = plan,
                                .store = store,
                                .options = options,
                                .progress = progress,
                                .slots = g_new0(struct slot, options->jobs),
                                .polled = g_new0(struct pollfd, options->jobs + 1),
                                .began = g_get_monotonic_time()};
    bool fine = campaign_stock(plan, store, options, progress, error);
    report(&campaign, true);
    while (fine && !progress->stopped) {
        fine = fill_slots(&campaign, error);
        if (!fine || !progress->running)
            break;
        fine = wait_for_ends(&campaign, error);
    }
    drop_running(&campaign);
    report(&campaign, true);
    g_free(campaign.slots);
    g_free(campaign.polled);
    return fine;
}
