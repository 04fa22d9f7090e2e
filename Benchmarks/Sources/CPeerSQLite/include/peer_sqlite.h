/// The model workloads' database in SQLite, set up and filled in C.
///
/// The schema gives what Pando gives: an identifier is unique; a tree's parts are rows of their own,
/// shared through integer keys; a reference can't dangle (a required one cascades, an optional one
/// becomes NULL); "who holds this?" has an index. Functions return 0 or an SQLite error code.
#ifndef PANDO_PEER_SQLITE_H
#define PANDO_PEER_SQLITE_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;

/// UTF-8 that outlives the call, not terminated.
typedef struct {
  const char *bytes;
  int32_t byte_count;
} peer_text;

/// A model of 8 fields.
typedef struct {
  peer_text identifier, name, email, about;
  int64_t age, follower_count;
  double score;
  int is_verified;
} peer_person;

/// A message, its author and its image.
typedef struct {
  peer_text identifier, text;
  int64_t sent_at, like_count;
  peer_text author_identifier, author_name;
  int64_t author_follower_count;
  peer_text image_identifier, image_url;
  int64_t image_width, image_height;
} peer_tree;

/// Opens or creates a database with the schema: WAL, full synchronisation, foreign keys on.
int peer_sqlite_open(const char *path, struct sqlite3 **result);

/// Inserts all models, so many in each transaction.
int peer_sqlite_put_people(
    struct sqlite3 *database, const peer_person *people, size_t count, size_t people_per_commit);

/// Inserts all trees in one transaction, three rows each.
int peer_sqlite_put_trees(struct sqlite3 *database, const peer_tree *trees, size_t count);

#endif
