/// Any statement of SQL, through SQLite's C API. Functions that return a status return 0 (`SQLITE_OK`) or an SQLite
/// error code.
#ifndef PANDO_PEER_QUERY_H
#define PANDO_PEER_QUERY_H

#include <stdint.h>

typedef struct sqlite_session sqlite_session;
typedef struct sqlite_statement sqlite_statement;

/// Opens a database in memory; returns -1 if SQLite is not installed.
int sqlite_session_open(sqlite_session **result);
void sqlite_session_close(sqlite_session *session);
/// The text of the last error.
const char *sqlite_session_error(sqlite_session *session);
/// Runs statements without results.
int sqlite_session_run(sqlite_session *session, const char *sql);

int sqlite_statement_make(sqlite_session *session, const char *sql, sqlite_statement **result);
void sqlite_statement_free(sqlite_statement *statement);

/// Binds a value to a parameter, counted from 1. A text is copied.
int sqlite_statement_bind_null(sqlite_statement *statement, int place);
int sqlite_statement_bind_integer(sqlite_statement *statement, int place, int64_t value);
int sqlite_statement_bind_double(sqlite_statement *statement, int place, double value);
int sqlite_statement_bind_text(
    sqlite_statement *statement, int place, const char *bytes, int byte_count);

/// Goes to the next row. Sets `is_there` to 0 at the end, and makes the statement ready for the next time then.
int sqlite_statement_next(sqlite_statement *statement, int *is_there);

typedef enum { PEER_NULL, PEER_INTEGER, PEER_DOUBLE, PEER_TEXT } peer_value_kind;

peer_value_kind sqlite_statement_kind(sqlite_statement *statement, int column);
int64_t sqlite_statement_integer(sqlite_statement *statement, int column);
double sqlite_statement_double(sqlite_statement *statement, int column);
/// The text, which lives until the next row.
const char *sqlite_statement_text(sqlite_statement *statement, int column, int *byte_count);

#endif
