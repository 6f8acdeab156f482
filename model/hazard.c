/* Hazard log; see hazard.h. A run has few distinct hazards, so a linear search is the simplest index. */
#include "model/hazard.h"

#include <string.h>

static void hazard_free(gpointer data) {
    struct hazard *hazard = data;
    g_free(hazard->where);
    g_free(hazard->what);
    g_free(hazard);
}

void hazard_log_init(struct hazard_log *log) {
    *log = (struct hazard_log){.hazards = g_ptr_array_new_with_free_func(hazard_free)};
    g_mutex_init(&log->lock);
}

void hazard_log_clear(struct hazard_log *log) {
    if (log->hazards) {
        g_ptr_array_unref(log->hazards);
        g_mutex_clear(&log->lock);
    }
    *log = (struct hazard_log){0};
}

static void report_locked(struct hazard_log *log, const char *id, cycle_t cycle, const char *where, const char *format,
                          va_list args) {
    for (guint i = 0; i < log->hazards->len; i++) {
        struct hazard *hazard = g_ptr_array_index(log->hazards, i);
        if (strcmp(hazard->id, id) == 0 && strcmp(hazard->where, where) == 0) {
            hazard->count++;
            return;
        }
    }
    struct hazard *hazard = g_new(struct hazard, 1);
    *hazard = (struct hazard){
        .id = id, .cycle = cycle, .where = g_strdup(where), .what = g_strdup_vprintf(format, args), .count = 1};
    g_ptr_array_add(log->hazards, hazard);
}

static void report(struct hazard_log *log, const char *id, cycle_t cycle, const char *where, const char *format,
                   va_list args) {
    g_mutex_lock(&log->lock);
    report_locked(log, id, cycle, where, format, args);
    g_mutex_unlock(&log->lock);
}

void hazard_report(struct hazard_log *log, const char *id, cycle_t cycle, const char *where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(log, id, cycle, where, format, args);
    va_end(args);
    if (log->strict)
        log->stop = true;
}

void hazard_fatal(struct hazard_log *log, const char *id, cycle_t cycle, const char *where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(log, id, cycle, where, format, args);
    va_end(args);
    log->stop = true;
}

static gint by_cycle(gconstpointer a, gconstpointer b) {
    const struct hazard *first = *(struct hazard *const *)a, *second = *(struct hazard *const *)b;
    if (first->cycle != second->cycle)
        return first->cycle < second->cycle ? -1 : 1;
    int places = strcmp(first->where, second->where);
    return places ? places : strcmp(first->id, second->id);
}

void hazard_log_sort(struct hazard_log *log) {
    g_ptr_array_sort(log->hazards, by_cycle);
}

uint64_t hazard_count(const struct hazard_log *log, const char *id) {
    uint64_t count = 0;
    for (guint i = 0; i < log->hazards->len; i++) {
        const struct hazard *hazard = g_ptr_array_index(log->hazards, i);
        if (strcmp(hazard->id, id) == 0)
            count += hazard->count;
    }
    return count;
}
