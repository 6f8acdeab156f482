/* See store.h. */
#include "analysis/store.h"

#include <string.h>

#include <sqlite3.h>

#include "model/error.h"

enum {
    APPLICATION_ID = 0x666c6974, /* "flit" */
    SCHEMA_VERSION = 1,
    BUSY_MS = 30000,
};

static const char schema[] = "BEGIN IMMEDIATE;"
                             "CREATE TABLE IF NOT EXISTS results ("
                             " point TEXT PRIMARY KEY NOT NULL,"
                             " number INTEGER,"
                             " status TEXT NOT NULL,"
                             " reason TEXT,"
                             " digest TEXT,"
                             " cycles INTEGER,"
                             " axes TEXT NOT NULL,"
                             " config TEXT NOT NULL,"
                             " result TEXT,"
                             " wall_s REAL,"
                             " version TEXT NOT NULL);"
                             "CREATE INDEX IF NOT EXISTS results_number ON results (number);"
                             "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL);"
                             "PRAGMA application_id = 1718380916;"
                             "PRAGMA user_version = 1;"
                             "COMMIT;";

G_STATIC_ASSERT(APPLICATION_ID == 1718380916);

/* Statements that are used again and again, prepared once. */
enum statement {
    PUT,
    FIND,
    NUMBER,
    SET_FACT,
    GET_FACT,
    STATEMENTS,
};

static const char *const statements[STATEMENTS] = {
    [PUT] =
        "INSERT OR REPLACE INTO results (point, number, status, reason, digest, cycles, axes, config, result, wall_s,"
        " version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [FIND] = "SELECT status FROM results WHERE point = ?1",
    [NUMBER] = "UPDATE results SET number = ?2 WHERE point = ?1",
    [SET_FACT] = "INSERT OR REPLACE INTO facts (name, value) VALUES (?1, ?2)",
    [GET_FACT] = "SELECT value FROM facts WHERE name = ?1",
};

static const char select_rows[] =
    "SELECT point, number, status, reason, digest, cycles, axes, config, result, wall_s, version FROM results"
    " WHERE number IS NOT NULL OR ?1 ORDER BY number IS NULL, number, point";

struct store {
    sqlite3 *database;
    char *file;
    sqlite3_stmt *prepared[STATEMENTS];
};

static bool store_error(const struct store *store, GError **error, const char *what) {
    g_set_error(error, FS_ERROR, FS_ERROR_IO, "%s:1:1: (file): %s: %s", store->file, what,
                store->database ? sqlite3_errmsg(store->database) : "out of memory");
    return false;
}

char *store_file(const char *name) {
    return g_file_test(name, G_FILE_TEST_IS_DIR) ? g_build_filename(name, STORE_FILE, NULL) : g_strdup(name);
}

static bool execute(struct store *store, const char *sql, const char *what, GError **error) {
    return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK || store_error(store, error, what);
}

static int64_t pragma(struct store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static bool check_kind(struct store *store, GError **error) {
    int64_t application = pragma(store, "PRAGMA application_id"), version = pragma(store, "PRAGMA user_version");
    if (application < 0)
        return store_error(store, error, "can't be read");
    if (application == APPLICATION_ID && version == SCHEMA_VERSION)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT,
                "%s:1:1: (file): is no store of sweep results of version %d, expected "
                "one made by flitsim sweep",
                store->file, SCHEMA_VERSION);
    return false;
}

static bool is_empty(struct store *store) {
    return pragma(store, "SELECT count(*) FROM sqlite_master") == 0;
}

static bool prepare_to_write(struct store *store, GError **error) {
    if (!is_empty(store) && !check_kind(store, error))
        return false;
    return execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", "can't be written", error) &&
           execute(store, schema, "can't be written", error);
}

static bool connect(struct store *store, const char *name, int flags) {
    return sqlite3_open_v2(name, &store->database, flags | SQLITE_OPEN_URI, NULL) == SQLITE_OK;
}

/* A store in a folder that can't be written has no place for what readers share; if nobody writes, it needs none. */
static bool reopen_immutable(struct store *store) {
    g_autofree char *wal = g_strconcat(store->file, "-wal", NULL);
    g_autofree char *path = g_canonicalize_filename(store->file, NULL);
    g_autofree char *escaped = g_uri_escape_string(path, "/", TRUE);
    g_autofree char *uri = g_strdup_printf("file:%s?immutable=1", escaped);
    if (g_file_test(wal, G_FILE_TEST_EXISTS))
        return false;
    sqlite3_close(store->database);
    store->database = NULL;
    return connect(store, uri, SQLITE_OPEN_READONLY);
}

static bool open_to_read(struct store *store, GError **error) {
    if (!g_file_test(store->file, G_FILE_TEST_IS_REGULAR)) {
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:1:1: (file): is no file, expected results of a sweep",
                    store->file);
        return false;
    }
    bool fine = connect(store, store->file, SQLITE_OPEN_READONLY);
    sqlite3_busy_timeout(store->database, BUSY_MS);
    if (fine && pragma(store, "PRAGMA schema_version") < 0)
        fine = reopen_immutable(store);
    return (fine || store_error(store, error, "can't be opened")) && check_kind(store, error);
}

static bool open_to_write(struct store *store, GError **error) {
    if (!connect(store, store->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        return store_error(store, error, "can't be opened");
    sqlite3_busy_timeout(store->database, BUSY_MS);
    return prepare_to_write(store, error);
}

struct store *store_open(const char *file, enum store_mode mode, GError **error) {
    struct store *store = g_new0(struct store, 1);
    store->file = g_strdup(file);
    bool fine = (mode == STORE_READ ? open_to_read : open_to_write)(store, error);
    for (unsigned i = 0; i < STATEMENTS && fine; i++)
        fine = (mode == STORE_READ && (i == PUT || i == NUMBER || i == SET_FACT)) ||
               sqlite3_prepare_v3(store->database, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &store->prepared[i],
                                  NULL) == SQLITE_OK ||
               store_error(store, error, "can't be used");
    if (!fine)
        g_clear_pointer(&store, store_close);
    return store;
}

void store_close(struct store *store) {
    if (!store)
        return;
    for (unsigned i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(store->prepared[i]);
    sqlite3_close(store->database);
    g_free(store->file);
    g_free(store);
}

bool store_begin(struct store *store, GError **error) {
    return execute(store, "BEGIN IMMEDIATE", "can't be written", error);
}

bool store_commit(struct store *store, GError **error) {
    if (execute(store, "COMMIT", "can't be written", error))
        return true;
    sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* ---- rows ---- */

static void bind_text(sqlite3_stmt *statement, int index, const char *text) {
    if (text)
        sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, index);
}

static void bind_count(sqlite3_stmt *statement, int index, int64_t count) {
    if (count >= 0)
        sqlite3_bind_int64(statement, index, count);
    else
        sqlite3_bind_null(statement, index);
}

/* Runs a statement that gives no rows and makes it ready for the next time. */
static bool finish(struct store *store, sqlite3_stmt *statement, GError **error) {
    bool fine = sqlite3_step(statement) == SQLITE_DONE || store_error(store, error, "can't be written");
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return fine;
}

bool store_put(struct store *store, const struct store_row *row, GError **error) {
    sqlite3_stmt *put = store->prepared[PUT];
    const char *const texts[] = {row->status, row->reason, row->digest};
    bind_text(put, 1, row->point);
    bind_count(put, 2, row->number);
    for (int i = 0; i < 3; i++)
        bind_text(put, 3 + i, texts[i]);
    bind_count(put, 6, row->cycles);
    bind_text(put, 7, row->axes);
    bind_text(put, 8, row->config);
    bind_text(put, 9, row->result);
    sqlite3_bind_double(put, 10, row->wall_s);
    bind_text(put, 11, row->version);
    return finish(store, put, error);
}

bool store_find(struct store *store, const char *point, enum store_presence *presence, GError **error) {
    sqlite3_stmt *find = store->prepared[FIND];
    *presence = STORE_ABSENT;
    bind_text(find, 1, point);
    int step = sqlite3_step(find);
    if (step == SQLITE_ROW)
        *presence = strcmp((const char *)sqlite3_column_text(find, 0), "ok") == 0 ? STORE_OK : STORE_FAILED;
    bool fine = step == SQLITE_ROW || step == SQLITE_DONE || store_error(store, error, "can't be read");
    sqlite3_reset(find);
    return fine;
}

bool store_forget_numbers(struct store *store, GError **error) {
    return execute(store, "UPDATE results SET number = NULL WHERE number IS NOT NULL", "can't be written", error);
}

bool store_set_number(struct store *store, const char *point, int64_t number, GError **error) {
    bind_text(store->prepared[NUMBER], 1, point);
    bind_count(store->prepared[NUMBER], 2, number);
    return finish(store, store->prepared[NUMBER], error);
}

bool store_set_fact(struct store *store, const char *name, const char *value, GError **error) {
    bind_text(store->prepared[SET_FACT], 1, name);
    bind_text(store->prepared[SET_FACT], 2, value);
    return finish(store, store->prepared[SET_FACT], error);
}

char *store_fact(struct store *store, const char *name) {
    sqlite3_stmt *get = store->prepared[GET_FACT];
    bind_text(get, 1, name);
    char *value = sqlite3_step(get) == SQLITE_ROW ? g_strdup((const char *)sqlite3_column_text(get, 0)) : NULL;
    sqlite3_reset(get);
    return value;
}

static const char *column_text(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}

static int64_t column_count(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(statement, column);
}

static struct store_row read_row(sqlite3_stmt *select) {
    return (struct store_row){
        .point = column_text(select, 0),
        .number = column_count(select, 1),
        .status = column_text(select, 2),
        .reason = column_text(select, 3),
        .digest = column_text(select, 4),
        .cycles = column_count(select, 5),
        .axes = column_text(select, 6),
        .config = column_text(select, 7),
        .result = column_text(select, 8),
        .wall_s = sqlite3_column_double(select, 9),
        .version = column_text(select, 10),
    };
}

bool store_each(struct store *store, bool all, bool (*visit)(void *data, const struct store_row *row), void *data,
                GError **error) {
    sqlite3_stmt *select = NULL;
    if (sqlite3_prepare_v2(store->database, select_rows, -1, &select, NULL) != SQLITE_OK)
        return store_error(store, error, "can't be read");
    sqlite3_bind_int(select, 1, all);
    int step;
    bool go_on = true;
    while (go_on && (step = sqlite3_step(select)) == SQLITE_ROW) {
        struct store_row row = read_row(select);
        go_on = visit(data, &row);
    }
    bool fine = !go_on || step == SQLITE_DONE || store_error(store, error, "can't be read");
    sqlite3_finalize(select);
    return fine;
}

static bool add_to_digest(void *data, const struct store_row *row) {
    GChecksum *sum = data;
    const char *const parts[] = {row->point, row->status, row->reason, row->digest,
                                 row->axes,  row->config, row->result, row->version};
    g_autofree char *counts = g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, row->number, row->cycles);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) /* the end of each counts, so that none runs into the next */
        g_checksum_update(sum, (const guchar *)(parts[i] ? parts[i] : ""), parts[i] ? (gssize)strlen(parts[i]) + 1 : 1);
    g_checksum_update(sum, (const guchar *)counts, (gssize)strlen(counts) + 1);
    return true;
}

char *store_rows_digest(struct store *store, GError **error) {
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    char *digest = store_each(store, false, add_to_digest, sum, error) ? g_strdup(g_checksum_get_string(sum)) : NULL;
    g_checksum_free(sum);
    return digest;
}

/* ---- merging ---- */

static const char find_conflict[] =
    "SELECT theirs.point, theirs.digest, ours.digest FROM theirs.results AS theirs JOIN main.results AS ours"
    " ON theirs.point = ours.point WHERE theirs.status = 'ok' AND ours.status = 'ok'"
    " AND (theirs.digest IS NOT ours.digest OR theirs.cycles IS NOT ours.cycles) ORDER BY theirs.number LIMIT 1";

static const char take_rows[] =
    "INSERT OR REPLACE INTO main.results SELECT * FROM theirs.results AS theirs WHERE NOT EXISTS"
    " (SELECT 1 FROM main.results AS ours WHERE ours.point = theirs.point"
    "  AND (ours.status = 'ok' OR theirs.status <> 'ok')) ORDER BY theirs.number;"
    "INSERT OR IGNORE INTO main.facts SELECT * FROM theirs.facts";

static bool conflict_free(struct store *store, const char *file, GError **error) {
    sqlite3_stmt *find = NULL;
    if (sqlite3_prepare_v2(store->database, find_conflict, -1, &find, NULL) != SQLITE_OK)
        return store_error(store, error, "can't be read");
    int step = sqlite3_step(find);
    if (step == SQLITE_ROW)
        g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:1:1: results: point %s has digest %s, expected %s as in %s",
                    file, column_text(find, 0), column_text(find, 1) ? column_text(find, 1) : "none",
                    column_text(find, 2) ? column_text(find, 2) : "none", store->file);
    bool fine = step == SQLITE_DONE || (step != SQLITE_ROW && store_error(store, error, "can't be read"));
    sqlite3_finalize(find);
    return fine;
}

static bool same_sweep(struct store *store, const char *file, GError **error) {
    struct store *theirs = store_open(file, STORE_READ, error);
    if (!theirs)
        return false;
    g_autofree char *plan = store_fact(theirs, "plan"), *own = store_fact(store, "plan");
    store_close(theirs);
    if (!own || g_strcmp0(plan, own) == 0)
        return true;
    g_set_error(error, FS_ERROR, FS_ERROR_INPUT, "%s:1:1: facts: holds another sweep than %s, expected a shard of it",
                file, store->file);
    return false;
}

static bool attach(struct store *store, const char *file, GError **error) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->database, "ATTACH ?1 AS theirs", -1, &statement, NULL) != SQLITE_OK)
        return store_error(store, error, "can't be used");
    g_autofree char *path = g_canonicalize_filename(file, NULL);
    g_autofree char *escaped = g_uri_escape_string(path, "/", TRUE);
    g_autofree char *wal = g_strconcat(path, "-wal", NULL);
    g_autofree char *uri =
        g_strdup_printf("file:%s?%s", escaped, g_file_test(wal, G_FILE_TEST_EXISTS) ? "mode=rw" : "immutable=1");
    sqlite3_bind_text(statement, 1, uri, -1, SQLITE_STATIC);
    bool fine = sqlite3_step(statement) == SQLITE_DONE || store_error(store, error, "another store can't be opened");
    sqlite3_finalize(statement);
    return fine;
}

bool store_merge(struct store *store, const char *file, GError **error) {
    if (!same_sweep(store, file, error) || !attach(store, file, error))
        return false;
    bool fine = conflict_free(store, file, error) && store_begin(store, error);
    if (fine) {
        fine = execute(store, take_rows, "can't be written", error);
        if (fine)
            fine = store_commit(store, error);
        else
            sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    }
    sqlite3_exec(store->database, "DETACH theirs", NULL, NULL, NULL);
    return fine;
}
