#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include "sqlite_models.h"

#include <checksum.h>
#include <stdio.h>
#include <stdlib.h>

int sqlite_models_open(const char *path, kv_durability durability, sqlite_models **result) {
  sqlite_models *models = calloc(1, sizeof *models);
  char *file = NULL;
  if (!models || asprintf(&file, "%s/models.sqlite", path) < 0) {
    free(models);
    return SQLITE_NOMEM;
  }
  pthread_mutex_init(&models->writer, NULL);
  int status = sqlite_connect(file, durability, &models->connection);
  free(file);
  if (!status) {
    status = sqlite.sqlite3_exec(models->connection, sqlite_models_schema, NULL, NULL, NULL);
  }
  if (status) {
    sqlite_models_close(models);
    return status;
  }
  *result = models;
  return SQLITE_OK;
}

void sqlite_models_close(sqlite_models *models) {
  if (!models) return;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite.sqlite3_finalize(models->statements[i]);
  sqlite.sqlite3_close(models->connection);
  pthread_mutex_destroy(&models->writer);
  free(models);
}

sqlite3_stmt *sqlite_models_statement(sqlite_models *models, statement_name name) {
  sqlite3_stmt **statement = &models->statements[name];
  if (!*statement) {
    int status = sqlite_prepare(models->connection, sqlite_models_sql[name], statement);
    if (status) {
      fprintf(stderr, "SQLite: %s: %s\n", sqlite.sqlite3_errstr(status), sqlite_models_sql[name]);
      abort();
    }
  }
  return *statement;
}

int sqlite_models_settle(sqlite_models *models) { return sqlite_checkpoint(models->connection); }

int sqlite_models_begin(sqlite_models *models) {
  return sqlite_run(sqlite_models_statement(models, BEGIN));
}

int sqlite_models_begin_reading(sqlite_models *models) {
  return sqlite_run(sqlite_models_statement(models, BEGIN_READING));
}

int sqlite_models_end(sqlite_models *models, int status) {
  if (!status) return sqlite_run(sqlite_models_statement(models, COMMIT));
  return sqlite_end(models->connection, status);
}

static int insert_person(sqlite_models *models, const peer_person *person) {
  sqlite3_stmt *statement = sqlite_models_statement(models, INSERT_PERSON);
  bind_text(statement, 1, person->identifier);
  bind_text(statement, 2, person->name);
  bind_text(statement, 3, person->email);
  bind_text(statement, 4, person->about);
  sqlite.sqlite3_bind_int64(statement, 5, person->age);
  sqlite.sqlite3_bind_int64(statement, 6, person->follower_count);
  sqlite.sqlite3_bind_double(statement, 7, person->score);
  sqlite.sqlite3_bind_int(statement, 8, person->is_verified);
  return sqlite_run(statement);
}

static int insert_batch(
    sqlite_models *models, const peer_person *people, size_t count, latencies *latencies) {
  int status = sqlite_models_begin(models);
  if (status) return status;
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    status = insert_person(models, &people[i]);
    latency_end(latencies, start);
  }
  return sqlite_models_end(models, status);
}

int sqlite_models_insert_people(
    sqlite_models *models, const peer_person *people, size_t count, size_t per_commit,
    latencies *latencies) {
  int status = SQLITE_OK;
  for (size_t i = 0; i < count && !status; i += per_commit) {
    size_t size = count - i < per_commit ? count - i : per_commit;
    uint64_t start = per_commit == 1 ? latency_begin(latencies) : 0;
    pthread_mutex_lock(&models->writer);
    // Without BEGIN a statement is a transaction.
    status = per_commit == 1 ? insert_person(models, people + i)
                             : insert_batch(models, people + i, size, latencies);
    pthread_mutex_unlock(&models->writer);
    latency_end(latencies, start);
  }
  return status;
}

static void fill_person(sqlite3_stmt *row, peer_columns columns, peer_person *person) {
  person->identifier = column_text(row, 0);
  person->name = column_text(row, 1);
  if (columns == PEER_PERSON_CARD) {
    person->is_verified = sqlite.sqlite3_column_int(row, 2);
    return;
  }
  person->email = column_text(row, 2);
  if (columns == PEER_PERSON_CONTACT) return;
  person->about = column_text(row, 3);
  person->age = sqlite.sqlite3_column_int64(row, 4);
  person->follower_count = sqlite.sqlite3_column_int64(row, 5);
  person->score = sqlite.sqlite3_column_double(row, 6);
  person->is_verified = sqlite.sqlite3_column_int(row, 7);
}

/// Runs a query by identifier as far as its first row.
static int find(sqlite_models *models, statement_name name, peer_text identifier) {
  models->reading = sqlite_models_statement(models, name);
  bind_text(models->reading, 1, identifier);
  int status = sqlite.sqlite3_step(models->reading);
  if (status == SQLITE_ROW) return SQLITE_OK;
  sqlite_models_done(models);
  return status == SQLITE_DONE ? SQLITE_NOTFOUND : status;
}

int sqlite_models_person(
    sqlite_models *models, peer_text identifier, peer_columns columns, peer_person *person) {
  static const statement_name names[] = {GET_PERSON, GET_PERSON_CARD, GET_PERSON_CONTACT};
  int status = find(models, names[columns], identifier);
  if (!status) fill_person(models->reading, columns, person);
  return status;
}

static void fill_tree(sqlite3_stmt *row, peer_tree *tree) {
  tree->identifier = column_text(row, 0);
  tree->text = column_text(row, 1);
  tree->sent_at = sqlite.sqlite3_column_int64(row, 2);
  tree->like_count = sqlite.sqlite3_column_int64(row, 3);
  tree->author_identifier = column_text(row, 4);
  tree->author_name = column_text(row, 5);
  tree->author_follower_count = sqlite.sqlite3_column_int64(row, 6);
  tree->has_image = sqlite.sqlite3_column_int(row, 7);
  if (!tree->has_image) return;
  tree->image_identifier = column_text(row, 8);
  tree->image_url = column_text(row, 9);
  tree->image_width = sqlite.sqlite3_column_int64(row, 10);
  tree->image_height = sqlite.sqlite3_column_int64(row, 11);
}

int sqlite_models_tree(sqlite_models *models, peer_text identifier, peer_tree *tree) {
  int status = find(models, GET_TREE, identifier);
  if (!status) fill_tree(models->reading, tree);
  return status;
}

int sqlite_models_thread(sqlite_models *models, peer_text identifier, peer_text *title) {
  int status = find(models, GET_THREAD, identifier);
  if (status) return status;
  sqlite3_stmt *messages = sqlite_models_statement(models, GET_THREAD_MESSAGES);
  sqlite.sqlite3_bind_int64(messages, 1, sqlite.sqlite3_column_int64(models->reading, 0));
  *title = column_text(models->reading, 1);
  return SQLITE_OK;
}

int sqlite_models_thread_next(sqlite_models *models, peer_tree *tree, int *is_there) {
  sqlite3_stmt *messages = sqlite_models_statement(models, GET_THREAD_MESSAGES);
  if (models->reading != messages) {
    sqlite_models_done(models);
    models->reading = messages;
  }
  int status = sqlite.sqlite3_step(messages);
  *is_there = status == SQLITE_ROW;
  if (*is_there) fill_tree(messages, tree);
  return status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
}

void sqlite_models_done(sqlite_models *models) { sqlite.sqlite3_reset(models->reading); }

int sqlite_models_delete(
    sqlite_models *models, peer_kind kind, const peer_text *identifiers, size_t count,
    latencies *latencies) {
  static const statement_name names[] = {DELETE_AUTHOR, DELETE_IMAGE, DELETE_ITEM};
  sqlite3_stmt *statement = sqlite_models_statement(models, names[kind]);
  int status = SQLITE_OK;
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    bind_text(statement, 1, identifiers[i]);
    status = sqlite_run(statement);
    latency_end(latencies, start);
  }
  return status;
}

int sqlite_models_count_messages(sqlite_models *models, int64_t *messages, int64_t *with_image) {
  sqlite3_stmt *statement = sqlite_models_statement(models, COUNT_MESSAGES);
  int status = sqlite.sqlite3_step(statement);
  *messages = sqlite.sqlite3_column_int64(statement, 0);
  *with_image = sqlite.sqlite3_column_int64(statement, 1);
  sqlite.sqlite3_reset(statement);
  return status == SQLITE_ROW ? SQLITE_OK : status;
}

int sqlite_models_hash_people(sqlite_models *models, uint64_t *result) {
  sqlite3_stmt *statement = sqlite_models_statement(models, LIST_PEOPLE);
  uint64_t hash = hash_start;
  int status;
  while ((status = sqlite.sqlite3_step(statement)) == SQLITE_ROW) {
    peer_text text = column_text(statement, 0);
    hash = hash_add(hash, text.bytes, (size_t)text.byte_count);
  }
  sqlite.sqlite3_reset(statement);
  *result = hash;
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

#endif
