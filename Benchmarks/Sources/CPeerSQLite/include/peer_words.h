/// Searches by words in an FTS5 table, through SQLite's C API. Functions return 0 (`SQLITE_OK`) or an SQLite
/// error code.
#ifndef PANDO_PEER_WORDS_H
#define PANDO_PEER_WORDS_H

#include "peer_sqlite.h"

typedef struct sqlite_words sqlite_words;

/// Opens or creates a database in an existing directory.
int sqlite_words_open(const char *path, kv_durability durability, sqlite_words **result);
void sqlite_words_close(sqlite_words *words);

/// Inserts texts with the numbers from 0 on in one transaction, without their words.
int sqlite_words_fill(sqlite_words *words, const peer_text *texts, size_t count);

/// Makes the words of all texts.
int sqlite_words_build(sqlite_words *words);

/// Begins a search for the first `limit` texts, by relevance or by number.
int sqlite_words_begin(sqlite_words *words, peer_text search, int is_ranked, int limit);
int sqlite_words_next(sqlite_words *words, int64_t *number, peer_text *text, int *is_there);
void sqlite_words_done(sqlite_words *words);

#endif
