#include "peer_books.h"
#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include <stdio.h>
#include <stdlib.h>

#define COLUMNS "SELECT identifier, title, year, shelf, rating, is_lent FROM books WHERE "

struct sqlite_books {
  sqlite3 *connection;
  sqlite3_stmt *insert;
  sqlite3_stmt *queries[PEER_RATED + 1];
  /// The one under way.
  sqlite3_stmt *current;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS books ("
    " number INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, title TEXT NOT NULL,"
    " year INTEGER NOT NULL, shelf INTEGER NOT NULL, rating REAL NOT NULL,"
    " is_lent INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS books_title ON books(title);"
    "CREATE INDEX IF NOT EXISTS books_year ON books(year);"
    "CREATE INDEX IF NOT EXISTS books_shelf ON books(shelf);";

static const char *const queries[] = {
    COLUMNS "identifier = ?1",
    COLUMNS "shelf = ?2 ORDER BY number",
    COLUMNS "year >= ?2 AND year < ?3 ORDER BY number",
    COLUMNS "is_lent ORDER BY title, number LIMIT ?3",
    COLUMNS "rating > ?2 / 1000.0 ORDER BY number",
};

static int prepare_all(sqlite_books *books) {
  int status = sqlite.sqlite3_exec(books->connection, schema, NULL, NULL, NULL);
  if (!status) {
    status = sqlite_prepare(
        books->connection,
        "INSERT INTO books(identifier, title, year, shelf, rating, is_lent)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &books->insert);
  }
  for (int i = 0; i <= PEER_RATED && !status; i++) {
    status = sqlite_prepare(books->connection, queries[i], &books->queries[i]);
  }
  return status;
}

int sqlite_books_open(const char *path, kv_durability durability, sqlite_books **result) {
  if (!sqlite_load()) return SQLITE_ERROR;
  sqlite_books *books = calloc(1, sizeof *books);
  char *file = NULL;
  if (!books || asprintf(&file, "%s/books.sqlite", path) < 0) {
    free(books);
    return SQLITE_NOMEM;
  }
  int status = sqlite_connect(file, durability, &books->connection);
  free(file);
  if (!status) status = prepare_all(books);
  if (status) {
    sqlite_books_close(books);
    return status;
  }
  *result = books;
  return SQLITE_OK;
}

void sqlite_books_close(sqlite_books *books) {
  sqlite.sqlite3_finalize(books->insert);
  for (int i = 0; i <= PEER_RATED; i++) sqlite.sqlite3_finalize(books->queries[i]);
  sqlite.sqlite3_close(books->connection);
  free(books);
}

static void bind_text(sqlite3_stmt *statement, int index, peer_text text) {
  sqlite.sqlite3_bind_text(statement, index, text.bytes, text.byte_count, SQLITE_STATIC);
}

int sqlite_books_fill(sqlite_books *books, const peer_book *rows, size_t count) {
  int status = sqlite_begin(books->connection);
  if (status) return status;
  for (size_t i = 0; i < count && !status; i++) {
    bind_text(books->insert, 1, rows[i].identifier);
    bind_text(books->insert, 2, rows[i].title);
    sqlite.sqlite3_bind_int64(books->insert, 3, rows[i].year);
    sqlite.sqlite3_bind_int64(books->insert, 4, rows[i].shelf);
    sqlite.sqlite3_bind_double(books->insert, 5, rows[i].rating);
    sqlite.sqlite3_bind_int(books->insert, 6, rows[i].is_lent);
    status = sqlite_run(books->insert);
  }
  status = sqlite_end(books->connection, status);
  if (!status) status = sqlite.sqlite3_exec(books->connection, "ANALYZE", NULL, NULL, NULL);
  return status ? status : sqlite_checkpoint(books->connection);
}

int sqlite_books_begin(
    sqlite_books *books, peer_book_query query, peer_text text, int64_t low, int64_t high) {
  books->current = books->queries[query];
  switch (query) {
    case PEER_BOOK:
      bind_text(books->current, 1, text);
      break;
    case PEER_YEARS:
      sqlite.sqlite3_bind_int64(books->current, 3, high);
      // fall through
    case PEER_SHELF:
    case PEER_RATED:
      sqlite.sqlite3_bind_int64(books->current, 2, low);
      break;
    case PEER_LENT_BY_TITLE:
      sqlite.sqlite3_bind_int64(books->current, 3, high);
      break;
  }
  return SQLITE_OK;
}

static peer_text column_text(sqlite3_stmt *statement, int column) {
  peer_text text;
  text.bytes = (const char *)sqlite.sqlite3_column_text(statement, column);
  text.byte_count = sqlite.sqlite3_column_bytes(statement, column);
  return text;
}

int sqlite_books_next(sqlite_books *books, peer_book *row, int *is_there) {
  int status = sqlite.sqlite3_step(books->current);
  *is_there = status == SQLITE_ROW;
  if (status != SQLITE_ROW) return status == SQLITE_DONE ? SQLITE_OK : status;
  row->identifier = column_text(books->current, 0);
  row->title = column_text(books->current, 1);
  row->year = sqlite.sqlite3_column_int64(books->current, 2);
  row->shelf = sqlite.sqlite3_column_int64(books->current, 3);
  row->rating = sqlite.sqlite3_column_double(books->current, 4);
  row->is_lent = sqlite.sqlite3_column_int(books->current, 5);
  return SQLITE_OK;
}

void sqlite_books_done(sqlite_books *books) { sqlite.sqlite3_reset(books->current); }

#endif
