/// Questions over one table with an index of three columns and two of one, through SQLite's C API.
/// Functions return 0 (`SQLITE_OK`) or an SQLite error code.
#ifndef PANDO_PEER_ISSUES_H
#define PANDO_PEER_ISSUES_H

#include "peer_sqlite.h"

/// A row of the table.
typedef struct {
  peer_text identifier, title, author;
  int64_t status, created, label, milestone;
} peer_issue;

typedef struct sqlite_issues sqlite_issues;

/// Opens or creates a database in an existing directory.
int sqlite_issues_open(const char *path, kv_durability durability, sqlite_issues **result);
void sqlite_issues_close(sqlite_issues *issues);

/// Inserts new issues in one transaction, and moves the log into the database file.
int sqlite_issues_fill(sqlite_issues *issues, const peer_issue *rows, size_t count);

/// How many have a label; with a milestone that is not negative, how many have both.
int sqlite_issues_count(sqlite_issues *issues, int64_t label, int64_t milestone, int64_t *count);

/// Begins the newest `limit` of an author with a status; then `sqlite_issues_next` until there is no
/// more, and `sqlite_issues_done`. The texts of a row live until the next call.
int sqlite_issues_begin(
    sqlite_issues *issues, int64_t status, peer_text author, int64_t limit);
int sqlite_issues_next(sqlite_issues *issues, peer_issue *row, int *is_there);
void sqlite_issues_done(sqlite_issues *issues);

#endif
