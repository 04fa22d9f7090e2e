/// Rows that keep the name of what they belong to, with an index of it, through SQLite's C API.
/// Functions return 0 (`SQLITE_OK`) or an SQLite error code.
#ifndef PANDO_PEER_RENAMES_H
#define PANDO_PEER_RENAMES_H

#include "peer_sqlite.h"

typedef struct sqlite_renames sqlite_renames;

/// Opens or creates a database in an existing directory.
int sqlite_renames_open(const char *path, kv_durability durability, sqlite_renames **result);
void sqlite_renames_close(sqlite_renames *renames);

/// Inserts `count` rows of one author in one transaction, and moves the log into the database file.
int sqlite_renames_fill(sqlite_renames *renames, size_t count, peer_text name);

/// Gives the author and all its rows another name, in one transaction.
int sqlite_renames_rename(sqlite_renames *renames, peer_text name);

/// How many rows have a name.
int sqlite_renames_count(sqlite_renames *renames, peer_text name, int64_t *count);

#endif
