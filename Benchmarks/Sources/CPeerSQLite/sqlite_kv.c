#include "peer_sqlite.h"
#include "sqlite_api.h"

#ifndef HAS_SQLITE

static const char *version(void) { return NULL; }

const kv_system peer_sqlite = {.version = version};

#else

#include <checksum.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct kv_database {
  char *path;
  kv_durability durability;
  /// Writers take turns here, where they wake at once, and not at SQLite's lock, where they poll.
  pthread_mutex_t writer;
};

struct kv_session {
  kv_database *database;
  sqlite3 *connection;
  sqlite3_stmt *begin, *commit, *put, *get, *seek, *forward, *backward;
};

static const char *version(void) { return sqlite_load() ? sqlite.sqlite3_libversion() : NULL; }

static const char *message(int status) { return sqlite.sqlite3_errstr(status); }

static void close_database(kv_database *database) {
  pthread_mutex_destroy(&database->writer);
  free(database->path);
  free(database);
}

static int make_table(kv_database *database) {
  sqlite3 *connection;
  int status = sqlite_connect(database->path, database->durability, &connection);
  if (status) return status;
  status = sqlite.sqlite3_exec(
      connection,
      "CREATE TABLE IF NOT EXISTS rows (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
      NULL, NULL, NULL);
  sqlite.sqlite3_close(connection);
  return status;
}

static int open_database(
    const char *path, size_t map_size, kv_durability durability, kv_database **result) {
  (void)map_size;
  kv_database *database = calloc(1, sizeof *database);
  if (!database) return SQLITE_NOMEM;
  database->durability = durability;
  pthread_mutex_init(&database->writer, NULL);
  if (asprintf(&database->path, "%s/rows.sqlite", path) < 0) {
    free(database);
    return SQLITE_NOMEM;
  }
  int status = make_table(database);
  if (status) {
    close_database(database);
    return status;
  }
  *result = database;
  return SQLITE_OK;
}

static void end_session(kv_session *session) {
  sqlite3_stmt *statements[] = {session->begin, session->commit,  session->put,     session->get,
                                session->seek,  session->forward, session->backward};
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    sqlite.sqlite3_finalize(statements[i]);
  }
  sqlite.sqlite3_close(session->connection);
  free(session);
}

static int prepare_all(kv_session *session) {
  struct {
    const char *sql;
    sqlite3_stmt **statement;
  } all[] = {
      {"BEGIN IMMEDIATE", &session->begin},
      {"COMMIT", &session->commit},
      {"INSERT INTO rows(key, value) VALUES (?1, ?2)"
       " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
       &session->put},
      {"SELECT value FROM rows WHERE key = ?1", &session->get},
      {"SELECT key, value FROM rows WHERE key >= ?1 ORDER BY key LIMIT ?2", &session->seek},
      {"SELECT key, value FROM rows ORDER BY key", &session->forward},
      {"SELECT key, value FROM rows ORDER BY key DESC", &session->backward},
  };
  int status = SQLITE_OK;
  for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++) {
    status = sqlite_prepare(session->connection, all[i].sql, all[i].statement);
  }
  return status;
}

static int begin_session(kv_database *database, kv_session **result) {
  kv_session *session = calloc(1, sizeof *session);
  if (!session) return SQLITE_NOMEM;
  session->database = database;
  int status = sqlite_connect(database->path, database->durability, &session->connection);
  if (!status) status = prepare_all(session);
  if (status) {
    end_session(session);
    return status;
  }
  *result = session;
  return SQLITE_OK;
}

static void bind(
    sqlite3_stmt *statement, int index, const uint8_t *block, size_t size, uint32_t row) {
  sqlite.sqlite3_bind_blob(statement, index, block + row * size, (int)size, SQLITE_STATIC);
}

static int put(kv_session *session, const kv_rows *rows, uint32_t row) {
  bind(session->put, 1, rows->keys, rows->key_size, row);
  bind(session->put, 2, rows->values, rows->value_size, row);
  return sqlite_run(session->put);
}

/// Without BEGIN a statement is a transaction.
static int write_one(kv_session *session, const kv_rows *rows, uint32_t row) {
  pthread_mutex_lock(&session->database->writer);
  int status = put(session, rows, row);
  pthread_mutex_unlock(&session->database->writer);
  return status;
}

static int write_batch(
    kv_session *session, const kv_rows *rows, const uint32_t *order, size_t count,
    latencies *latencies) {
  pthread_mutex_lock(&session->database->writer);
  int status = sqlite_run(session->begin);
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    status = put(session, rows, order[i]);
    latency_end(latencies, start);
  }
  if (!status) status = sqlite_run(session->commit);
  pthread_mutex_unlock(&session->database->writer);
  return status;
}

static int write_rows(
    kv_session *session, const kv_rows *rows, const uint32_t *order, size_t count,
    size_t per_commit, latencies *latencies) {
  int status = SQLITE_OK;
  if (per_commit == 1) {
    for (size_t i = 0; i < count && !status; i++) {
      uint64_t start = latency_begin(latencies);
      status = write_one(session, rows, order[i]);
      latency_end(latencies, start);
    }
    return status;
  }
  for (size_t i = 0; i < count && !status; i += per_commit) {
    size_t rest = count - i;
    status = write_batch(
        session, rows, order + i, rest < per_commit ? rest : per_commit, latencies);
  }
  return status;
}

static uint64_t add_column(uint64_t checksum, sqlite3_stmt *statement, int column) {
  const void *bytes = sqlite.sqlite3_column_blob(statement, column);
  return checksum_add(
      checksum, bytes, (size_t)sqlite.sqlite3_column_bytes(statement, column));
}

static int read_rows(
    kv_session *session, const uint8_t *keys, size_t key_size, size_t count, int each,
    latencies *latencies, kv_seen *seen) {
  int status = SQLITE_OK;
  if (!each) status = sqlite.sqlite3_exec(session->connection, "BEGIN", NULL, NULL, NULL);
  uint64_t checksum = 0;
  size_t found = 0;
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    bind(session->get, 1, keys, key_size, (uint32_t)i);
    status = sqlite.sqlite3_step(session->get);
    if (status == SQLITE_ROW) {
      checksum = add_column(checksum, session->get, 0);
      found++;
    }
    int reset = sqlite.sqlite3_reset(session->get);
    status = status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : reset ? reset : status;
    latency_end(latencies, start);
  }
  if (!each && !status) status = sqlite_run(session->commit);
  *seen = (kv_seen){checksum, found};
  return status;
}

static int walk(kv_session *session, int reverse, latencies *latencies, kv_seen *seen) {
  sqlite3_stmt *statement = reverse ? session->backward : session->forward;
  uint64_t checksum = 0;
  size_t rows = 0;
  int status;
  while (1) {
    uint64_t start = latency_begin(latencies);
    status = sqlite.sqlite3_step(statement);
    if (status != SQLITE_ROW) break;
    checksum = add_column(add_column(checksum, statement, 0), statement, 1);
    rows++;
    latency_end(latencies, start);
  }
  sqlite.sqlite3_reset(statement);
  *seen = (kv_seen){checksum, rows};
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int seek(
    kv_session *session, const uint8_t *keys, size_t key_size, size_t count, size_t row_count,
    latencies *latencies, kv_seen *seen) {
  int status = sqlite.sqlite3_exec(session->connection, "BEGIN", NULL, NULL, NULL);
  uint64_t checksum = 0;
  size_t rows = 0;
  sqlite.sqlite3_bind_int64(session->seek, 2, (sqlite3_int64)row_count);
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    bind(session->seek, 1, keys, key_size, (uint32_t)i);
    while ((status = sqlite.sqlite3_step(session->seek)) == SQLITE_ROW) {
      checksum = add_column(add_column(checksum, session->seek, 0), session->seek, 1);
      rows++;
    }
    int reset = sqlite.sqlite3_reset(session->seek);
    status = status == SQLITE_DONE ? SQLITE_OK : reset ? reset : status;
    latency_end(latencies, start);
  }
  if (!status) status = sqlite_run(session->commit);
  *seen = (kv_seen){checksum, rows};
  return status;
}

static int hash_rows(kv_session *session, uint64_t *result) {
  uint64_t hash = hash_start;
  int status;
  while ((status = sqlite.sqlite3_step(session->forward)) == SQLITE_ROW) {
    for (int column = 0; column < 2; column++) {
      const void *bytes = sqlite.sqlite3_column_blob(session->forward, column);
      hash = hash_add(
          hash, bytes, (size_t)sqlite.sqlite3_column_bytes(session->forward, column));
    }
  }
  sqlite.sqlite3_reset(session->forward);
  *result = hash;
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int settle(kv_database *database) {
  sqlite3 *connection;
  int status = sqlite_connect(database->path, database->durability, &connection);
  if (status) return status;
  status = sqlite_checkpoint(connection);
  sqlite.sqlite3_close(connection);
  return status;
}

const kv_system peer_sqlite = {
    version,       message,     open_database, close_database, begin_session,
    end_session,   write_rows,  read_rows,     walk,           seek,
    hash_rows,     settle,
};

#endif
