#include "sqlite_api.h"

#ifdef HAS_SQLITE

#include "sqlite_models.h"

#include <string.h>

static int insert_author(sqlite_models *models, const peer_tree *tree, sqlite3_int64 *id) {
  sqlite3_stmt *statement = sqlite_models_statement(models, INSERT_AUTHOR);
  bind_text(statement, 1, tree->author_identifier);
  bind_text(statement, 2, tree->author_name);
  sqlite.sqlite3_bind_int64(statement, 3, tree->author_follower_count);
  int status = sqlite_run(statement);
  *id = sqlite.sqlite3_last_insert_rowid(models->connection);
  return status;
}

static int insert_image(sqlite_models *models, const peer_tree *tree, sqlite3_int64 *id) {
  sqlite3_stmt *statement = sqlite_models_statement(models, INSERT_IMAGE);
  bind_text(statement, 1, tree->image_identifier);
  bind_text(statement, 2, tree->image_url);
  sqlite.sqlite3_bind_int64(statement, 3, tree->image_width);
  sqlite.sqlite3_bind_int64(statement, 4, tree->image_height);
  int status = sqlite_run(statement);
  *id = sqlite.sqlite3_last_insert_rowid(models->connection);
  return status;
}

/// Binds all but the first parameter of INSERT_MESSAGE and UPDATE_MESSAGE.
static void bind_message(
    sqlite3_stmt *statement, const peer_tree *tree, sqlite3_int64 author, sqlite3_int64 image) {
  bind_text(statement, 2, tree->text);
  sqlite.sqlite3_bind_int64(statement, 3, tree->sent_at);
  sqlite.sqlite3_bind_int64(statement, 4, tree->like_count);
  sqlite.sqlite3_bind_int64(statement, 5, author);
  if (tree->has_image) {
    sqlite.sqlite3_bind_int64(statement, 6, image);
  } else {
    sqlite.sqlite3_bind_null(statement, 6);
  }
}

static int insert_message(
    sqlite_models *models, const peer_tree *tree, sqlite3_int64 author, sqlite3_int64 image) {
  sqlite3_stmt *statement = sqlite_models_statement(models, INSERT_MESSAGE);
  bind_text(statement, 1, tree->identifier);
  bind_message(statement, tree, author, image);
  return sqlite_run(statement);
}

static int insert_tree(sqlite_models *models, const peer_tree *tree) {
  sqlite3_int64 author, image = 0;
  int status = insert_author(models, tree, &author);
  if (!status && tree->has_image) status = insert_image(models, tree, &image);
  if (!status) status = insert_message(models, tree, author, image);
  return status;
}

static int is_same(sqlite3_stmt *row, int column, peer_text text) {
  peer_text old = column_text(row, column);
  return old.byte_count == text.byte_count && !memcmp(old.bytes, text.bytes, text.byte_count);
}

/// Looks a row up: sets `id`, or 0 if there is none. The caller resets the statement.
static int find(
    sqlite_models *models, statement_name name, peer_text identifier, sqlite3_stmt **statement,
    sqlite3_int64 *id) {
  *statement = sqlite_models_statement(models, name);
  bind_text(*statement, 1, identifier);
  int status = sqlite.sqlite3_step(*statement);
  *id = status == SQLITE_ROW ? sqlite.sqlite3_column_int64(*statement, 0) : 0;
  return status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
}

static int put_author(sqlite_models *models, const peer_tree *tree, sqlite3_int64 *id) {
  sqlite3_stmt *row;
  int status = find(models, FIND_AUTHOR, tree->author_identifier, &row, id);
  int is_unchanged = !status && *id && is_same(row, 1, tree->author_name)
      && sqlite.sqlite3_column_int64(row, 2) == tree->author_follower_count;
  sqlite.sqlite3_reset(row);
  if (status || is_unchanged) return status;
  if (!*id) return insert_author(models, tree, id);
  sqlite3_stmt *update = sqlite_models_statement(models, UPDATE_AUTHOR);
  sqlite.sqlite3_bind_int64(update, 1, *id);
  bind_text(update, 2, tree->author_name);
  sqlite.sqlite3_bind_int64(update, 3, tree->author_follower_count);
  return sqlite_run(update);
}

static int put_image(sqlite_models *models, const peer_tree *tree, sqlite3_int64 *id) {
  sqlite3_stmt *row;
  int status = find(models, FIND_IMAGE, tree->image_identifier, &row, id);
  int is_unchanged = !status && *id && is_same(row, 1, tree->image_url)
      && sqlite.sqlite3_column_int64(row, 2) == tree->image_width
      && sqlite.sqlite3_column_int64(row, 3) == tree->image_height;
  sqlite.sqlite3_reset(row);
  if (status || is_unchanged) return status;
  if (!*id) return insert_image(models, tree, id);
  sqlite3_stmt *update = sqlite_models_statement(models, UPDATE_IMAGE);
  sqlite.sqlite3_bind_int64(update, 1, *id);
  bind_text(update, 2, tree->image_url);
  sqlite.sqlite3_bind_int64(update, 3, tree->image_width);
  sqlite.sqlite3_bind_int64(update, 4, tree->image_height);
  return sqlite_run(update);
}

static int put_tree(sqlite_models *models, const peer_tree *tree) {
  sqlite3_int64 author, image = 0, id;
  int status = put_author(models, tree, &author);
  if (!status && tree->has_image) status = put_image(models, tree, &image);
  if (status) return status;
  sqlite3_stmt *row;
  status = find(models, FIND_MESSAGE, tree->identifier, &row, &id);
  int is_unchanged = !status && id && is_same(row, 1, tree->text)
      && sqlite.sqlite3_column_int64(row, 2) == tree->sent_at
      && sqlite.sqlite3_column_int64(row, 3) == tree->like_count
      && sqlite.sqlite3_column_int64(row, 4) == author
      && sqlite.sqlite3_column_int64(row, 5) == image;
  sqlite.sqlite3_reset(row);
  if (status || is_unchanged) return status;
  if (!id) return insert_message(models, tree, author, image);
  sqlite3_stmt *update = sqlite_models_statement(models, UPDATE_MESSAGE);
  sqlite.sqlite3_bind_int64(update, 1, id);
  bind_message(update, tree, author, image);
  return sqlite_run(update);
}

static int update_followers(sqlite_models *models, const peer_tree *tree) {
  sqlite3_stmt *statement = sqlite_models_statement(models, UPDATE_FOLLOWERS);
  bind_text(statement, 1, tree->author_identifier);
  sqlite.sqlite3_bind_int64(statement, 2, tree->author_follower_count);
  return sqlite_run(statement);
}

typedef int (*tree_operation)(sqlite_models *, const peer_tree *);

static int in_batches(
    sqlite_models *models, const peer_tree *trees, size_t count, size_t per_commit,
    tree_operation operation, latencies *latencies) {
  int status = SQLITE_OK;
  for (size_t first = 0; first < count && !status; first += per_commit) {
    size_t end = count - first < per_commit ? count : first + per_commit;
    uint64_t commit_start = per_commit == 1 ? latency_begin(latencies) : 0;
    status = sqlite_models_begin(models);
    for (size_t i = first; i < end && !status; i++) {
      uint64_t start = per_commit == 1 ? 0 : latency_begin(latencies);
      status = operation(models, &trees[i]);
      latency_end(latencies, start);
    }
    status = sqlite_models_end(models, status);
    latency_end(latencies, commit_start);
  }
  return status;
}

int sqlite_models_insert_trees(
    sqlite_models *models, const peer_tree *trees, size_t count, latencies *latencies) {
  return in_batches(models, trees, count, count, insert_tree, latencies);
}

int sqlite_models_put_trees(
    sqlite_models *models, const peer_tree *trees, size_t count, size_t per_commit,
    latencies *latencies) {
  return in_batches(models, trees, count, per_commit, put_tree, latencies);
}

int sqlite_models_update_authors(
    sqlite_models *models, const peer_tree *trees, size_t count, size_t per_commit,
    latencies *latencies) {
  return in_batches(models, trees, count, per_commit, update_followers, latencies);
}

int sqlite_models_insert_thread(
    sqlite_models *models, peer_text identifier, peer_text title, const peer_tree *trees,
    size_t count) {
  sqlite3_stmt *thread = sqlite_models_statement(models, INSERT_THREAD);
  bind_text(thread, 1, identifier);
  bind_text(thread, 2, title);
  int status = sqlite_run(thread);
  sqlite3_int64 id = sqlite.sqlite3_last_insert_rowid(models->connection);
  for (size_t i = 0; i < count && !status; i++) {
    status = insert_tree(models, &trees[i]);
    if (status) break;
    sqlite3_stmt *place = sqlite_models_statement(models, INSERT_THREAD_MESSAGE);
    sqlite.sqlite3_bind_int64(place, 1, id);
    sqlite.sqlite3_bind_int64(place, 2, (sqlite3_int64)i);
    bind_text(place, 3, trees[i].identifier);
    status = sqlite_run(place);
  }
  return status;
}

#endif
