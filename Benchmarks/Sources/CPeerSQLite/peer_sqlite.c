#include "peer_sqlite.h"

#include <sqlite3.h>

static const char settings[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA cache_size = -1048576;"  // 1 GiB: everything stays in memory, as in a map.
    "PRAGMA mmap_size = 2147418112;"
    "PRAGMA temp_store = MEMORY;";

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS person ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  name TEXT NOT NULL, email TEXT NOT NULL, about TEXT NOT NULL,"
    "  age INTEGER NOT NULL, followerCount INTEGER NOT NULL,"
    "  score REAL NOT NULL, isVerified INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS author ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  name TEXT NOT NULL, followerCount INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS image ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  url TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS message ("
    "  id INTEGER PRIMARY KEY,"
    "  identifier TEXT NOT NULL UNIQUE,"
    "  text TEXT NOT NULL, sentAt INTEGER NOT NULL, likeCount INTEGER NOT NULL,"
    "  author INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE,"
    "  image INTEGER REFERENCES image(id) ON DELETE SET NULL);"
    "CREATE INDEX IF NOT EXISTS messageByAuthor ON message(author);"
    "CREATE INDEX IF NOT EXISTS messageByImage ON message(image);";

int peer_sqlite_open(const char *path, sqlite3 **result) {
  // One thread uses the connection, so it needs no mutex.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3 *database = NULL;
  int status = sqlite3_open_v2(path, &database, flags, NULL);
  if (!status) status = sqlite3_exec(database, settings, NULL, NULL, NULL);
  if (!status) status = sqlite3_exec(database, schema, NULL, NULL, NULL);
  if (status) {
    sqlite3_close(database);
    return status;
  }
  *result = database;
  return SQLITE_OK;
}

static int prepare(sqlite3 *database, const char *sql, sqlite3_stmt **statement) {
  return sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

static void bind(sqlite3_stmt *statement, int index, const peer_text *text) {
  sqlite3_bind_text(statement, index, text->bytes, text->byte_count, SQLITE_STATIC);
}

/// Runs an insert whose values are bound, and makes it ready for the next.
static int insert(sqlite3_stmt *statement) {
  int status = sqlite3_step(statement);
  int reset = sqlite3_reset(statement);
  return status == SQLITE_DONE ? SQLITE_OK : reset ? reset : status;
}

/// Commits if all went well, else rolls back.
static int end(sqlite3 *database, int status) {
  if (!status) status = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
  if (status) sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

static int put_person(sqlite3_stmt *statement, const peer_person *person) {
  bind(statement, 1, &person->identifier);
  bind(statement, 2, &person->name);
  bind(statement, 3, &person->email);
  bind(statement, 4, &person->about);
  sqlite3_bind_int64(statement, 5, person->age);
  sqlite3_bind_int64(statement, 6, person->follower_count);
  sqlite3_bind_double(statement, 7, person->score);
  sqlite3_bind_int(statement, 8, person->is_verified);
  return insert(statement);
}

/// Inserts models in one transaction.
static int put_batch(
    sqlite3 *database, sqlite3_stmt *statement, const peer_person *people, size_t count) {
  int status = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  for (size_t i = 0; i < count && !status; i++) status = put_person(statement, &people[i]);
  return end(database, status);
}

int peer_sqlite_put_people(
    sqlite3 *database, const peer_person *people, size_t count, size_t people_per_commit) {
  sqlite3_stmt *statement;
  int status = prepare(
      database,
      "INSERT INTO person(identifier, name, email, about, age, followerCount, score, isVerified)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
      &statement);
  for (size_t start = 0; start < count && !status; start += people_per_commit) {
    size_t rest = count - start;
    status = put_batch(
        database, statement, people + start, rest < people_per_commit ? rest : people_per_commit);
  }
  sqlite3_finalize(statement);
  return status;
}

/// The inserts of the three tables.
typedef struct {
  sqlite3_stmt *author, *image, *message;
} inserts;

static int prepare_inserts(sqlite3 *database, inserts *inserts) {
  int status = prepare(
      database, "INSERT INTO author(identifier, name, followerCount) VALUES (?1, ?2, ?3)",
      &inserts->author);
  if (status) return status;
  status = prepare(
      database, "INSERT INTO image(identifier, url, width, height) VALUES (?1, ?2, ?3, ?4)",
      &inserts->image);
  if (status) return status;
  return prepare(
      database,
      "INSERT INTO message(identifier, text, sentAt, likeCount, author, image)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
      &inserts->message);
}

static int put_tree(sqlite3 *database, const inserts *inserts, const peer_tree *tree) {
  bind(inserts->author, 1, &tree->author_identifier);
  bind(inserts->author, 2, &tree->author_name);
  sqlite3_bind_int64(inserts->author, 3, tree->author_follower_count);
  int status = insert(inserts->author);
  if (status) return status;
  sqlite3_int64 author = sqlite3_last_insert_rowid(database);

  bind(inserts->image, 1, &tree->image_identifier);
  bind(inserts->image, 2, &tree->image_url);
  sqlite3_bind_int64(inserts->image, 3, tree->image_width);
  sqlite3_bind_int64(inserts->image, 4, tree->image_height);
  status = insert(inserts->image);
  if (status) return status;
  sqlite3_int64 image = sqlite3_last_insert_rowid(database);

  bind(inserts->message, 1, &tree->identifier);
  bind(inserts->message, 2, &tree->text);
  sqlite3_bind_int64(inserts->message, 3, tree->sent_at);
  sqlite3_bind_int64(inserts->message, 4, tree->like_count);
  sqlite3_bind_int64(inserts->message, 5, author);
  sqlite3_bind_int64(inserts->message, 6, image);
  return insert(inserts->message);
}

int peer_sqlite_put_trees(sqlite3 *database, const peer_tree *trees, size_t count) {
  inserts inserts = {NULL, NULL, NULL};
  int status = prepare_inserts(database, &inserts);
  if (!status) status = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  for (size_t i = 0; i < count && !status; i++) {
    status = put_tree(database, &inserts, &trees[i]);
  }
  sqlite3_finalize(inserts.author);
  sqlite3_finalize(inserts.image);
  sqlite3_finalize(inserts.message);
  return end(database, status);
}
