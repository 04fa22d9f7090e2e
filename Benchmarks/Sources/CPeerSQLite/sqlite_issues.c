#include "peer_issues.h"
#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include <stdio.h>
#include <stdlib.h>

struct sqlite_issues {
  sqlite3 *connection;
  sqlite3_stmt *insert, *newest, *by_label, *by_both;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS issues ("
    " number INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, title TEXT NOT NULL,"
    " author TEXT NOT NULL, status INTEGER NOT NULL, created INTEGER NOT NULL,"
    " label INTEGER NOT NULL, milestone INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS issues_newest ON issues(status, author, created);"
    "CREATE INDEX IF NOT EXISTS issues_label ON issues(label);"
    "CREATE INDEX IF NOT EXISTS issues_milestone ON issues(milestone);";

static int prepare_all(sqlite_issues *issues) {
  int status = sqlite.sqlite3_exec(issues->connection, schema, NULL, NULL, NULL);
  if (!status) {
    status = sqlite_prepare(
        issues->connection,
        "INSERT INTO issues(identifier, title, author, status, created, label, milestone)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &issues->insert);
  }
  if (!status) {
    status = sqlite_prepare(
        issues->connection,
        "SELECT identifier, title, author, status, created, label, milestone FROM issues"
        " WHERE status = ?1 AND author = ?2 ORDER BY created DESC LIMIT ?3",
        &issues->newest);
  }
  if (!status) {
    status = sqlite_prepare(
        issues->connection, "SELECT count(*) FROM issues WHERE label = ?1", &issues->by_label);
  }
  if (!status) {
    status = sqlite_prepare(
        issues->connection, "SELECT count(*) FROM issues WHERE label = ?1 AND milestone = ?2",
        &issues->by_both);
  }
  return status;
}

int sqlite_issues_open(const char *path, kv_durability durability, sqlite_issues **result) {
  if (!sqlite_load()) return SQLITE_ERROR;
  sqlite_issues *issues = calloc(1, sizeof *issues);
  char *file = NULL;
  if (!issues || asprintf(&file, "%s/issues.sqlite", path) < 0) {
    free(issues);
    return SQLITE_NOMEM;
  }
  int status = sqlite_connect(file, durability, &issues->connection);
  free(file);
  if (!status) status = prepare_all(issues);
  if (status) {
    sqlite_issues_close(issues);
    return status;
  }
  *result = issues;
  return SQLITE_OK;
}

void sqlite_issues_close(sqlite_issues *issues) {
  sqlite.sqlite3_finalize(issues->insert);
  sqlite.sqlite3_finalize(issues->newest);
  sqlite.sqlite3_finalize(issues->by_label);
  sqlite.sqlite3_finalize(issues->by_both);
  sqlite.sqlite3_close(issues->connection);
  free(issues);
}

static void bind_text(sqlite3_stmt *statement, int index, peer_text text) {
  sqlite.sqlite3_bind_text(statement, index, text.bytes, text.byte_count, SQLITE_STATIC);
}

int sqlite_issues_fill(sqlite_issues *issues, const peer_issue *rows, size_t count) {
  int status = sqlite_begin(issues->connection);
  if (status) return status;
  for (size_t i = 0; i < count && !status; i++) {
    bind_text(issues->insert, 1, rows[i].identifier);
    bind_text(issues->insert, 2, rows[i].title);
    bind_text(issues->insert, 3, rows[i].author);
    sqlite.sqlite3_bind_int64(issues->insert, 4, rows[i].status);
    sqlite.sqlite3_bind_int64(issues->insert, 5, rows[i].created);
    sqlite.sqlite3_bind_int64(issues->insert, 6, rows[i].label);
    sqlite.sqlite3_bind_int64(issues->insert, 7, rows[i].milestone);
    status = sqlite_run(issues->insert);
  }
  status = sqlite_end(issues->connection, status);
  if (!status) status = sqlite.sqlite3_exec(issues->connection, "ANALYZE", NULL, NULL, NULL);
  return status ? status : sqlite_checkpoint(issues->connection);
}

int sqlite_issues_count(sqlite_issues *issues, int64_t label, int64_t milestone, int64_t *count) {
  sqlite3_stmt *statement = milestone < 0 ? issues->by_label : issues->by_both;
  sqlite.sqlite3_bind_int64(statement, 1, label);
  if (milestone >= 0) sqlite.sqlite3_bind_int64(statement, 2, milestone);
  int status = sqlite.sqlite3_step(statement);
  if (status == SQLITE_ROW) *count = sqlite.sqlite3_column_int64(statement, 0);
  sqlite.sqlite3_reset(statement);
  return status == SQLITE_ROW ? SQLITE_OK : status;
}

int sqlite_issues_begin(
    sqlite_issues *issues, int64_t status, peer_text author, int64_t limit) {
  sqlite.sqlite3_bind_int64(issues->newest, 1, status);
  bind_text(issues->newest, 2, author);
  sqlite.sqlite3_bind_int64(issues->newest, 3, limit);
  return SQLITE_OK;
}

static peer_text column_text(sqlite3_stmt *statement, int column) {
  peer_text text;
  text.bytes = (const char *)sqlite.sqlite3_column_text(statement, column);
  text.byte_count = sqlite.sqlite3_column_bytes(statement, column);
  return text;
}

int sqlite_issues_next(sqlite_issues *issues, peer_issue *row, int *is_there) {
  int status = sqlite.sqlite3_step(issues->newest);
  *is_there = status == SQLITE_ROW;
  if (status != SQLITE_ROW) return status == SQLITE_DONE ? SQLITE_OK : status;
  row->identifier = column_text(issues->newest, 0);
  row->title = column_text(issues->newest, 1);
  row->author = column_text(issues->newest, 2);
  row->status = sqlite.sqlite3_column_int64(issues->newest, 3);
  row->created = sqlite.sqlite3_column_int64(issues->newest, 4);
  row->label = sqlite.sqlite3_column_int64(issues->newest, 5);
  row->milestone = sqlite.sqlite3_column_int64(issues->newest, 6);
  return SQLITE_OK;
}

void sqlite_issues_done(sqlite_issues *issues) { sqlite.sqlite3_reset(issues->newest); }

#endif
