#ifndef PANDO_PEER_SQLITE_MODELS_H
#define PANDO_PEER_SQLITE_MODELS_H

#include <pthread.h>

#include "peer_sqlite.h"
#include "sqlite_api.h"

/// The statements of the models, by what they do.
typedef enum {
  BEGIN,
  BEGIN_READING,
  COMMIT,
  INSERT_PERSON,
  INSERT_AUTHOR,
  INSERT_IMAGE,
  INSERT_MESSAGE,
  FIND_AUTHOR,
  FIND_IMAGE,
  FIND_MESSAGE,
  UPDATE_AUTHOR,
  UPDATE_IMAGE,
  UPDATE_MESSAGE,
  UPDATE_FOLLOWERS,
  INSERT_THREAD,
  INSERT_THREAD_MESSAGE,
  GET_PERSON,
  GET_PERSON_CARD,
  GET_PERSON_CONTACT,
  GET_TREE,
  GET_THREAD,
  GET_THREAD_MESSAGES,
  DELETE_AUTHOR,
  DELETE_IMAGE,
  DELETE_ITEM,
  COUNT_MESSAGES,
  LIST_PEOPLE,
  INSERT_ITEM,
  INSERT_POSITION,
  FIRST_POSITION,
  LAST_POSITION,
  NTH_POSITION,
  DELETE_POSITION,
  RENUMBER_OUT,
  RENUMBER_IN,
  GET_PAGE,
  STATEMENT_COUNT,
} statement_name;

extern const char *const sqlite_models_sql[STATEMENT_COUNT];
extern const char sqlite_models_schema[];

struct sqlite_models {
  sqlite3 *connection;
  pthread_mutex_t writer;
  /// Prepared when first used.
  sqlite3_stmt *statements[STATEMENT_COUNT];
  /// What is being read.
  sqlite3_stmt *reading;
};

/// A prepared statement; NULL if SQLite refuses it.
sqlite3_stmt *sqlite_models_statement(sqlite_models *models, statement_name name);

static inline void bind_text(sqlite3_stmt *statement, int index, peer_text text) {
  sqlite.sqlite3_bind_text(statement, index, text.bytes, text.byte_count, SQLITE_STATIC);
}

static inline peer_text column_text(sqlite3_stmt *statement, int column) {
  const char *bytes = (const char *)sqlite.sqlite3_column_text(statement, column);
  return (peer_text){bytes, sqlite.sqlite3_column_bytes(statement, column)};
}

#endif
