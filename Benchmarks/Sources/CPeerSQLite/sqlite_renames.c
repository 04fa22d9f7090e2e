#include "peer_renames.h"
#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include <stdio.h>
#include <stdlib.h>

struct sqlite_renames {
  sqlite3 *connection;
  sqlite3_stmt *insert, *rename_author, *rename_rows, *count;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS authors (number INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS held ("
    " number INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, title TEXT NOT NULL,"
    " author INTEGER NOT NULL, name TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS held_author ON held(author);"
    "CREATE INDEX IF NOT EXISTS held_name ON held(name);";

static int prepare_all(sqlite_renames *renames) {
  int status = sqlite.sqlite3_exec(renames->connection, schema, NULL, NULL, NULL);
  if (!status) {
    status = sqlite_prepare(
        renames->connection,
        "INSERT INTO held(identifier, title, author, name) VALUES (?1, ?2, 1, ?3)",
        &renames->insert);
  }
  if (!status) {
    status = sqlite_prepare(
        renames->connection, "INSERT OR REPLACE INTO authors(number, name) VALUES (1, ?1)",
        &renames->rename_author);
  }
  if (!status) {
    status = sqlite_prepare(
        renames->connection, "UPDATE held SET name = ?1 WHERE author = 1", &renames->rename_rows);
  }
  if (!status) {
    status = sqlite_prepare(
        renames->connection, "SELECT count(*) FROM held WHERE name = ?1", &renames->count);
  }
  return status;
}

int sqlite_renames_open(const char *path, kv_durability durability, sqlite_renames **result) {
  if (!sqlite_load()) return SQLITE_ERROR;
  sqlite_renames *renames = calloc(1, sizeof *renames);
  char *file = NULL;
  if (!renames || asprintf(&file, "%s/renames.sqlite", path) < 0) {
    free(renames);
    return SQLITE_NOMEM;
  }
  int status = sqlite_connect(file, durability, &renames->connection);
  free(file);
  if (!status) status = prepare_all(renames);
  if (status) {
    sqlite_renames_close(renames);
    return status;
  }
  *result = renames;
  return SQLITE_OK;
}

void sqlite_renames_close(sqlite_renames *renames) {
  sqlite.sqlite3_finalize(renames->insert);
  sqlite.sqlite3_finalize(renames->rename_author);
  sqlite.sqlite3_finalize(renames->rename_rows);
  sqlite.sqlite3_finalize(renames->count);
  sqlite.sqlite3_close(renames->connection);
  free(renames);
}

static void bind_text(sqlite3_stmt *statement, int index, peer_text text) {
  sqlite.sqlite3_bind_text(statement, index, text.bytes, text.byte_count, SQLITE_STATIC);
}

int sqlite_renames_fill(sqlite_renames *renames, size_t count, peer_text name) {
  int status = sqlite_begin(renames->connection);
  if (status) return status;
  bind_text(renames->rename_author, 1, name);
  status = sqlite_run(renames->rename_author);
  for (size_t i = 0; i < count && !status; i++) {
    char identifier[32], title[32];
    peer_text texts[2] = {{identifier, snprintf(identifier, sizeof identifier, "%zu", i)},
                          {title, snprintf(title, sizeof title, "Held by one, %zu", i)}};
    bind_text(renames->insert, 1, texts[0]);
    bind_text(renames->insert, 2, texts[1]);
    bind_text(renames->insert, 3, name);
    status = sqlite_run(renames->insert);
  }
  status = sqlite_end(renames->connection, status);
  return status ? status : sqlite_checkpoint(renames->connection);
}

int sqlite_renames_rename(sqlite_renames *renames, peer_text name) {
  int status = sqlite_begin(renames->connection);
  if (status) return status;
  bind_text(renames->rename_author, 1, name);
  status = sqlite_run(renames->rename_author);
  if (!status) {
    bind_text(renames->rename_rows, 1, name);
    status = sqlite_run(renames->rename_rows);
  }
  return sqlite_end(renames->connection, status);
}

int sqlite_renames_count(sqlite_renames *renames, peer_text name, int64_t *count) {
  bind_text(renames->count, 1, name);
  int status = sqlite.sqlite3_step(renames->count);
  if (status == SQLITE_ROW) *count = sqlite.sqlite3_column_int64(renames->count, 0);
  sqlite.sqlite3_reset(renames->count);
  return status == SQLITE_ROW ? SQLITE_OK : status;
}

#endif
