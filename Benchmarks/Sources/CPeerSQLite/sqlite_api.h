#ifndef PANDO_PEER_SQLITE_API_H
#define PANDO_PEER_SQLITE_API_H

#if __has_include(<sqlite3.h>)
#define HAS_SQLITE 1
#include <library.h>
#include <kv_peer.h>
#include <sqlite3.h>

#define SQLITE_FUNCTIONS(F)                                                                   \
  F(sqlite3_libversion)                                                                       \
  F(sqlite3_errmsg)                                                                           \
  F(sqlite3_errstr)                                                                           \
  F(sqlite3_open_v2)                                                                          \
  F(sqlite3_close)                                                                            \
  F(sqlite3_exec)                                                                             \
  F(sqlite3_prepare_v3)                                                                       \
  F(sqlite3_finalize)                                                                         \
  F(sqlite3_step)                                                                             \
  F(sqlite3_reset)                                                                            \
  F(sqlite3_bind_blob)                                                                        \
  F(sqlite3_bind_text)                                                                        \
  F(sqlite3_bind_int)                                                                         \
  F(sqlite3_bind_int64)                                                                       \
  F(sqlite3_bind_double)                                                                      \
  F(sqlite3_bind_null)                                                                        \
  F(sqlite3_column_blob)                                                                      \
  F(sqlite3_column_text)                                                                      \
  F(sqlite3_column_bytes)                                                                     \
  F(sqlite3_column_int)                                                                       \
  F(sqlite3_column_int64)                                                                     \
  F(sqlite3_column_double)                                                                    \
  F(sqlite3_column_type)                                                                      \
  F(sqlite3_last_insert_rowid)                                                                \
  F(sqlite3_changes)                                                                          \
  F(sqlite3_wal_checkpoint_v2)

typedef struct {
  SQLITE_FUNCTIONS(LIBRARY_MEMBER)
} sqlite_functions;

/// The library's functions, once `sqlite_load` has returned true.
extern sqlite_functions sqlite;

int sqlite_load(void);

/// Opens a connection: WAL, foreign keys, a page cache of 1 GiB and memory-mapped reading.
int sqlite_connect(const char *path, kv_durability durability, sqlite3 **result);

/// Prepares a statement that is kept.
int sqlite_prepare(sqlite3 *connection, const char *sql, sqlite3_stmt **statement);

/// Runs a statement that returns no rows and makes it ready for the next time.
int sqlite_run(sqlite3_stmt *statement);

int sqlite_begin(sqlite3 *connection);

/// Commits if all went well, else rolls back.
int sqlite_end(sqlite3 *connection, int status);

/// Moves the log into the database file.
int sqlite_checkpoint(sqlite3 *connection);

#endif
#endif
