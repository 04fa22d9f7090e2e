#include "peer_query.h"
#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include <stdlib.h>

struct sqlite_session {
  sqlite3 *connection;
};

int sqlite_session_open(sqlite_session **result) {
  if (!sqlite_load()) return -1;
  sqlite_session *session = calloc(1, sizeof *session);
  if (!session) return SQLITE_NOMEM;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int status = sqlite.sqlite3_open_v2(":memory:", &session->connection, flags, NULL);
  if (status) {
    sqlite_session_close(session);
    return status;
  }
  *result = session;
  return SQLITE_OK;
}

void sqlite_session_close(sqlite_session *session) {
  sqlite.sqlite3_close(session->connection);
  free(session);
}

const char *sqlite_session_error(sqlite_session *session) {
  return sqlite.sqlite3_errmsg(session->connection);
}

int sqlite_session_run(sqlite_session *session, const char *sql) {
  return sqlite.sqlite3_exec(session->connection, sql, NULL, NULL, NULL);
}

static sqlite3_stmt *statement_of(sqlite_statement *statement) {
  return (sqlite3_stmt *)statement;
}

int sqlite_statement_make(sqlite_session *session, const char *sql, sqlite_statement **result) {
  return sqlite_prepare(session->connection, sql, (sqlite3_stmt **)result);
}

void sqlite_statement_free(sqlite_statement *statement) {
  sqlite.sqlite3_finalize(statement_of(statement));
}

int sqlite_statement_bind_null(sqlite_statement *statement, int place) {
  return sqlite.sqlite3_bind_null(statement_of(statement), place);
}

int sqlite_statement_bind_integer(sqlite_statement *statement, int place, int64_t value) {
  return sqlite.sqlite3_bind_int64(statement_of(statement), place, value);
}

int sqlite_statement_bind_double(sqlite_statement *statement, int place, double value) {
  return sqlite.sqlite3_bind_double(statement_of(statement), place, value);
}

int sqlite_statement_bind_text(
    sqlite_statement *statement, int place, const char *bytes, int byte_count) {
  return sqlite.sqlite3_bind_text(
      statement_of(statement), place, bytes, byte_count, SQLITE_TRANSIENT);
}

int sqlite_statement_next(sqlite_statement *statement, int *is_there) {
  int status = sqlite.sqlite3_step(statement_of(statement));
  *is_there = status == SQLITE_ROW;
  return status == SQLITE_ROW ? SQLITE_OK : sqlite.sqlite3_reset(statement_of(statement));
}

peer_value_kind sqlite_statement_kind(sqlite_statement *statement, int column) {
  switch (sqlite.sqlite3_column_type(statement_of(statement), column)) {
    case SQLITE_NULL: return PEER_NULL;
    case SQLITE_INTEGER: return PEER_INTEGER;
    case SQLITE_FLOAT: return PEER_DOUBLE;
    default: return PEER_TEXT;
  }
}

int64_t sqlite_statement_integer(sqlite_statement *statement, int column) {
  return sqlite.sqlite3_column_int64(statement_of(statement), column);
}

double sqlite_statement_double(sqlite_statement *statement, int column) {
  return sqlite.sqlite3_column_double(statement_of(statement), column);
}

const char *sqlite_statement_text(sqlite_statement *statement, int column, int *byte_count) {
  const char *text = (const char *)sqlite.sqlite3_column_text(statement_of(statement), column);
  *byte_count = sqlite.sqlite3_column_bytes(statement_of(statement), column);
  return text;
}

#else

int sqlite_session_open(sqlite_session **result) { return -1; }
void sqlite_session_close(sqlite_session *session) {}
const char *sqlite_session_error(sqlite_session *session) { return ""; }
int sqlite_session_run(sqlite_session *session, const char *sql) { return -1; }
int sqlite_statement_make(sqlite_session *session, const char *sql, sqlite_statement **result) {
  return -1;
}
void sqlite_statement_free(sqlite_statement *statement) {}
int sqlite_statement_bind_null(sqlite_statement *statement, int place) { return -1; }
int sqlite_statement_bind_integer(sqlite_statement *statement, int place, int64_t value) {
  return -1;
}
int sqlite_statement_bind_double(sqlite_statement *statement, int place, double value) {
  return -1;
}
int sqlite_statement_bind_text(
    sqlite_statement *statement, int place, const char *bytes, int byte_count) {
  return -1;
}
int sqlite_statement_next(sqlite_statement *statement, int *is_there) { return -1; }
peer_value_kind sqlite_statement_kind(sqlite_statement *statement, int column) {
  return PEER_NULL;
}
int64_t sqlite_statement_integer(sqlite_statement *statement, int column) { return 0; }
double sqlite_statement_double(sqlite_statement *statement, int column) { return 0; }
const char *sqlite_statement_text(sqlite_statement *statement, int column, int *byte_count) {
  return "";
}

#endif
