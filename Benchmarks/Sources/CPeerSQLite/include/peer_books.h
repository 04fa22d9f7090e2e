/// Queries over one table, through SQLite's C API. A function fills a C struct whose texts live until
/// the next call on the same database. Functions return 0 (`SQLITE_OK`) or an SQLite error code.
#ifndef PANDO_PEER_BOOKS_H
#define PANDO_PEER_BOOKS_H

#include "peer_sqlite.h"

/// A row of the table, which has a unique index of the identifier and indexes of shelf, year and title.
typedef struct {
  peer_text identifier, title;
  int64_t year, shelf;
  double rating;
  int is_lent;
} peer_book;

typedef struct sqlite_books sqlite_books;

/// Opens or creates a database in an existing directory.
int sqlite_books_open(const char *path, kv_durability durability, sqlite_books **result);
void sqlite_books_close(sqlite_books *books);

/// Inserts new books in one transaction, and moves the log into the database file.
int sqlite_books_fill(sqlite_books *books, const peer_book *rows, size_t count);

/// What is asked for.
typedef enum {
  /// The book with the identifier `text`.
  PEER_BOOK,
  /// The books of the shelf `low`.
  PEER_SHELF,
  /// The books of the years from `low` up to, and not including, `high`.
  PEER_YEARS,
  /// The first `high` books that are lent, by title.
  PEER_LENT_BY_TITLE,
  /// The books that are rated above `low` thousandths; no index knows.
  PEER_RATED,
} peer_book_query;

/// Begins a query; then `sqlite_books_next` until there is no more, and `sqlite_books_done`.
int sqlite_books_begin(
    sqlite_books *books, peer_book_query query, peer_text text, int64_t low, int64_t high);
int sqlite_books_next(sqlite_books *books, peer_book *row, int *is_there);
void sqlite_books_done(sqlite_books *books);

#endif
