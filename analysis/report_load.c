/* The points of a sweep out of its store, for the report. */
#include <sqlite3.h>

#include "analysis/report.h"
#include "model/error.h"

static void point_free(void *data) {
    struct report_point *point = data;
    g_free(point->status);
    g_free(point->reason);
    json_decref(point->axes);
    json_decref(point->result);
    g_free(point);
}

static json_t *parse(const unsigned char *text) {
    return text ? json_loads((const char *)text, JSON_DECODE_ANY, NULL) : NULL;
}

static void add_point(GPtrArray *points, sqlite3_stmt *row) {
    struct report_point *point = g_new0(struct report_point, 1);
    point->number = sqlite3_column_int64(row, 0);
    point->status = g_strdup((const char *)sqlite3_column_text(row, 1));
    point->reason = g_strdup((const char *)sqlite3_column_text(row, 2));
    point->axes = parse(sqlite3_column_text(row, 3));
    point->result = parse(sqlite3_column_text(row, 4));
    g_ptr_array_add(points, point);
}

static bool load_points(sqlite3 *database, GPtrArray *points) {
    static const char sql[] =
        "SELECT number, status, reason, axes, result FROM results WHERE number >= 0 ORDER BY number";
    sqlite3_stmt *row = NULL;
    bool fine = sqlite3_prepare_v2(database, sql, -1, &row, NULL) == SQLITE_OK;
    int got = SQLITE_DONE;
    while (fine && (got = sqlite3_step(row)) == SQLITE_ROW)
        add_point(points, row);
    sqlite3_finalize(row);
    return fine && got == SQLITE_DONE;
}

static json_t *load_about(sqlite3 *database) {
    sqlite3_stmt *row = NULL;
    json_t *about = NULL;
    if (sqlite3_prepare_v2(database, "SELECT value FROM facts WHERE name = 'sweep'", -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        about = parse(sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    return json_is_object(about) ? about : json_object();
}

GPtrArray *report_points_load(const char *file, json_t **about, GError **error) {
    sqlite3 *database = NULL;
    GPtrArray *points = g_ptr_array_new_with_free_func(point_free);
    bool fine =
        sqlite3_open_v2(file, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK && load_points(database, points);
    if (fine) {
        *about = load_about(database);
    } else {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:1:1: (file): %s, expected the store of a sweep", file,
                    sqlite3_errmsg(database));
        g_clear_pointer(&points, g_ptr_array_unref);
    }
    sqlite3_close(database);
    return points;
}
