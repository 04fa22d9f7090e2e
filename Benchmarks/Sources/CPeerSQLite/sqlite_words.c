#include "peer_words.h"
#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include <stdio.h>
#include <stdlib.h>

#define SEARCH                                                                                \
  "SELECT notes.number, notes.text FROM words JOIN notes ON notes.number = words.rowid"       \
  " WHERE words MATCH ?1 ORDER BY "

struct sqlite_words {
  sqlite3 *connection;
  sqlite3_stmt *insert;
  /// By number, by relevance.
  sqlite3_stmt *searches[2];
  /// The one under way.
  sqlite3_stmt *current;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS notes (number INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5("
    " text, content='notes', content_rowid='number', tokenize='unicode61 remove_diacritics 2');";

static int prepare_all(sqlite_words *words) {
  int status = sqlite.sqlite3_exec(words->connection, schema, NULL, NULL, NULL);
  if (!status) {
    status = sqlite_prepare(
        words->connection, "INSERT INTO notes(number, text) VALUES (?1, ?2)", &words->insert);
  }
  if (!status) {
    status = sqlite_prepare(words->connection, SEARCH "words.rowid LIMIT ?2", &words->searches[0]);
  }
  if (!status) {
    status = sqlite_prepare(words->connection, SEARCH "words.rank LIMIT ?2", &words->searches[1]);
  }
  return status;
}

int sqlite_words_open(const char *path, kv_durability durability, sqlite_words **result) {
  if (!sqlite_load()) return SQLITE_ERROR;
  sqlite_words *words = calloc(1, sizeof *words);
  char *file = NULL;
  if (!words || asprintf(&file, "%s/words.sqlite", path) < 0) {
    free(words);
    return SQLITE_NOMEM;
  }
  int status = sqlite_connect(file, durability, &words->connection);
  free(file);
  if (!status) status = prepare_all(words);
  if (status) {
    sqlite_words_close(words);
    return status;
  }
  *result = words;
  return SQLITE_OK;
}

void sqlite_words_close(sqlite_words *words) {
  sqlite.sqlite3_finalize(words->insert);
  for (int i = 0; i < 2; i++) sqlite.sqlite3_finalize(words->searches[i]);
  sqlite.sqlite3_close(words->connection);
  free(words);
}

int sqlite_words_fill(sqlite_words *words, const peer_text *texts, size_t count) {
  int status = sqlite_begin(words->connection);
  for (size_t i = 0; i < count && !status; i++) {
    sqlite.sqlite3_bind_int64(words->insert, 1, (int64_t)i);
    sqlite.sqlite3_bind_text(
        words->insert, 2, texts[i].bytes, texts[i].byte_count, SQLITE_STATIC);
    status = sqlite_run(words->insert);
  }
  status = sqlite_end(words->connection, status);
  return status ? status : sqlite_checkpoint(words->connection);
}

int sqlite_words_build(sqlite_words *words) {
  int status = sqlite.sqlite3_exec(
      words->connection, "INSERT INTO words(words) VALUES ('rebuild')", NULL, NULL, NULL);
  return status ? status : sqlite_checkpoint(words->connection);
}

int sqlite_words_begin(sqlite_words *words, peer_text search, int is_ranked, int limit) {
  words->current = words->searches[is_ranked ? 1 : 0];
  sqlite.sqlite3_bind_text(words->current, 1, search.bytes, search.byte_count, SQLITE_STATIC);
  return sqlite.sqlite3_bind_int(words->current, 2, limit);
}

int sqlite_words_next(sqlite_words *words, int64_t *number, peer_text *text, int *is_there) {
  int status = sqlite.sqlite3_step(words->current);
  *is_there = status == SQLITE_ROW;
  if (status != SQLITE_ROW) return status == SQLITE_DONE ? SQLITE_OK : status;
  *number = sqlite.sqlite3_column_int64(words->current, 0);
  text->bytes = (const char *)sqlite.sqlite3_column_text(words->current, 1);
  text->byte_count = sqlite.sqlite3_column_bytes(words->current, 1);
  return SQLITE_OK;
}

void sqlite_words_done(sqlite_words *words) { sqlite.sqlite3_reset(words->current); }

#endif
