#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include "sqlite_models.h"

/// Between two new neighbours.
static const sqlite3_int64 gap = (sqlite3_int64)1 << 32;

static int insert_item(sqlite_models *models, const peer_item *item, sqlite3_int64 position) {
  sqlite3_stmt *insert = sqlite_models_statement(models, INSERT_ITEM);
  bind_text(insert, 1, item->identifier);
  bind_text(insert, 2, item->title);
  sqlite.sqlite3_bind_int64(insert, 3, item->number);
  int status = sqlite_run(insert);
  if (status) return status;
  sqlite3_stmt *place = sqlite_models_statement(models, INSERT_POSITION);
  sqlite.sqlite3_bind_int64(place, 1, position);
  sqlite.sqlite3_bind_int64(place, 2, sqlite.sqlite3_last_insert_rowid(models->connection));
  return sqlite_run(place);
}

/// The first column of the first row.
static int number(sqlite_models *models, statement_name name, sqlite3_int64 *result) {
  sqlite3_stmt *statement = sqlite_models_statement(models, name);
  int status = sqlite.sqlite3_step(statement);
  if (status == SQLITE_ROW) *result = sqlite.sqlite3_column_int64(statement, 0);
  sqlite.sqlite3_reset(statement);
  return status == SQLITE_ROW ? SQLITE_OK : status;
}

/// The positions of the elements with these numbers, two of them.
static int neighbours(
    sqlite_models *models, sqlite3_int64 index, sqlite3_int64 *left, sqlite3_int64 *right) {
  sqlite3_stmt *statement = sqlite_models_statement(models, NTH_POSITION);
  sqlite.sqlite3_bind_int64(statement, 1, index);
  int status = sqlite.sqlite3_step(statement);
  if (status == SQLITE_ROW) {
    *left = *right = sqlite.sqlite3_column_int64(statement, 0);
    status = sqlite.sqlite3_step(statement);
    if (status == SQLITE_ROW) *right = sqlite.sqlite3_column_int64(statement, 0);
  }
  sqlite.sqlite3_reset(statement);
  return status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
}

/// A free position before the element with a number.
static int position_before(sqlite_models *models, sqlite3_int64 index, sqlite3_int64 *position) {
  for (int attempt = 0; attempt < 2; attempt++) {
    sqlite3_int64 left = 0, right = 0;
    int status = neighbours(models, index - 1, &left, &right);
    if (status) return status;
    *position = left + (right - left) / 2;
    if (*position != left) return SQLITE_OK;
    status = sqlite_run(sqlite_models_statement(models, RENUMBER_OUT));
    if (!status) status = sqlite_run(sqlite_models_statement(models, RENUMBER_IN));
    if (status) return status;
  }
  return SQLITE_FULL;
}

static int insert_one(sqlite_models *models, sqlite3_int64 index, const peer_item *item) {
  int status = sqlite_models_begin(models);
  if (status) return status;
  sqlite3_int64 position = 0;
  if (index > 0) {
    status = position_before(models, index, &position);
  } else {
    status = number(models, index < 0 ? LAST_POSITION : FIRST_POSITION, &position);
    position += index < 0 ? gap : -gap;
  }
  if (!status) status = insert_item(models, item, position);
  return sqlite_models_end(models, status);
}

static int remove_one(sqlite_models *models, sqlite3_int64 index) {
  int status = sqlite_models_begin(models);
  if (status) return status;
  sqlite3_int64 position = 0, right;
  status = neighbours(models, index, &position, &right);
  if (!status) {
    sqlite3_stmt *statement = sqlite_models_statement(models, DELETE_POSITION);
    sqlite.sqlite3_bind_int64(statement, 1, position);
    status = sqlite_run(statement);
  }
  return sqlite_models_end(models, status);
}

int sqlite_models_fill_list(sqlite_models *models, const peer_item *items, size_t count) {
  int status = sqlite_models_begin(models);
  for (size_t i = 0; i < count && !status; i++) {
    status = insert_item(models, &items[i], (sqlite3_int64)(i + 1) * gap);
  }
  return sqlite_models_end(models, status);
}

int sqlite_models_insert_items(
    sqlite_models *models, const int64_t *indexes, const peer_item *items, size_t count,
    latencies *latencies) {
  int status = SQLITE_OK;
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    status = insert_one(models, indexes[i], &items[i]);
    latency_end(latencies, start);
  }
  return status;
}

int sqlite_models_remove_items(
    sqlite_models *models, const int64_t *indexes, size_t count, latencies *latencies) {
  int status = SQLITE_OK;
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    status = remove_one(models, indexes[i]);
    latency_end(latencies, start);
  }
  return status;
}

int sqlite_models_page(sqlite_models *models, size_t start, size_t count) {
  models->reading = sqlite_models_statement(models, GET_PAGE);
  sqlite.sqlite3_bind_int64(models->reading, 1, (sqlite3_int64)start);
  sqlite.sqlite3_bind_int64(models->reading, 2, (sqlite3_int64)count);
  return SQLITE_OK;
}

int sqlite_models_next_item(sqlite_models *models, peer_item *item, int *is_there) {
  int status = sqlite.sqlite3_step(models->reading);
  *is_there = status == SQLITE_ROW;
  if (*is_there) {
    item->identifier = column_text(models->reading, 0);
    item->title = column_text(models->reading, 1);
    item->number = sqlite.sqlite3_column_int64(models->reading, 2);
  }
  return status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
}

#endif
