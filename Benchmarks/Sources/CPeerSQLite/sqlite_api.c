#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include <pthread.h>

sqlite_functions sqlite;

LIBRARY_LOADER(load, sqlite_functions, SQLITE_FUNCTIONS, "libsqlite3.so", "libsqlite3.so.0")

static int is_loaded;

static void load_once(void) { is_loaded = load(&sqlite); }

int sqlite_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_once);
  return is_loaded;
}

static const char settings[] =
    "PRAGMA busy_timeout = 60000;"  // First: the next line can meet the lock of another connection.
    "PRAGMA journal_mode = WAL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA cache_size = -1048576;"  // 1 GiB: everything stays in memory, as in a map.
    "PRAGMA mmap_size = 2147418112;"
    "PRAGMA temp_store = MEMORY;";

static const char *const levels[] = {
    "PRAGMA synchronous = FULL;",
    "PRAGMA synchronous = NORMAL;",
    "PRAGMA synchronous = OFF;",
};

int sqlite_connect(const char *path, kv_durability durability, sqlite3 **result) {
  // Each thread has a connection of its own, so none needs a mutex.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3 *connection = NULL;
  int status = sqlite.sqlite3_open_v2(path, &connection, flags, NULL);
  if (!status) status = sqlite.sqlite3_exec(connection, settings, NULL, NULL, NULL);
  if (!status) status = sqlite.sqlite3_exec(connection, levels[durability], NULL, NULL, NULL);
  if (status) {
    sqlite.sqlite3_close(connection);
    return status;
  }
  *result = connection;
  return SQLITE_OK;
}

int sqlite_prepare(sqlite3 *connection, const char *sql, sqlite3_stmt **statement) {
  return sqlite.sqlite3_prepare_v3(
      connection, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

int sqlite_run(sqlite3_stmt *statement) {
  int status = sqlite.sqlite3_step(statement);
  int reset = sqlite.sqlite3_reset(statement);
  return status == SQLITE_DONE || status == SQLITE_ROW ? SQLITE_OK : reset ? reset : status;
}

int sqlite_begin(sqlite3 *connection) {
  return sqlite.sqlite3_exec(connection, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

int sqlite_end(sqlite3 *connection, int status) {
  if (!status) status = sqlite.sqlite3_exec(connection, "COMMIT", NULL, NULL, NULL);
  if (status) sqlite.sqlite3_exec(connection, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

int sqlite_checkpoint(sqlite3 *connection) {
  return sqlite.sqlite3_wal_checkpoint_v2(
      connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

#endif
