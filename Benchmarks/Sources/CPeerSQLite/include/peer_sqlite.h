/// SQLite through its C API.
///
/// Everything that can be done in C is done in C; where a Swift struct has to come out, a function
/// fills a C struct whose texts live until the next call on the same database. Functions return 0
/// (`SQLITE_OK`) or an SQLite error code.
#ifndef PANDO_PEER_SQLITE_H
#define PANDO_PEER_SQLITE_H

#include <kv_peer.h>

/// The `kv` suite: one table WITHOUT ROWID, a connection for each thread.
extern const kv_system peer_sqlite;

/// UTF-8, not terminated.
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

/// A message, its author, and its image if it has one.
typedef struct {
  peer_text identifier, text;
  int64_t sent_at, like_count;
  peer_text author_identifier, author_name;
  int64_t author_follower_count;
  int has_image;
  peer_text image_identifier, image_url;
  int64_t image_width, image_height;
} peer_tree;

/// A database of models. The schema gives what Pando gives: an identifier is unique; a tree's parts
/// are rows of their own, shared through integer keys; a reference can't dangle (a required one
/// cascades, an optional one becomes NULL); "who holds this?" has an index.
typedef struct sqlite_models sqlite_models;

/// Opens or creates a database in an existing directory.
int sqlite_models_open(const char *path, kv_durability durability, sqlite_models **result);
void sqlite_models_close(sqlite_models *models);

/// Moves the log into the database file.
int sqlite_models_settle(sqlite_models *models);

/// Begins a transaction; `sqlite_models_end` commits it if `status` is 0, else rolls it back.
int sqlite_models_begin(sqlite_models *models);
int sqlite_models_begin_reading(sqlite_models *models);
int sqlite_models_end(sqlite_models *models, int status);

/// Inserts new people, so many in each transaction. An operation is a person, with one in each
/// transaction including its commit. Threads take turns.
int sqlite_models_insert_people(
    sqlite_models *models, const peer_person *people, size_t count, size_t per_commit,
    latencies *latencies);

/// Inserts new trees in one transaction: it is known that nothing of them is there.
int sqlite_models_insert_trees(
    sqlite_models *models, const peer_tree *trees, size_t count, latencies *latencies);

/// Stores trees, so many in each transaction: each row is looked up, and inserted or updated only
/// if it is new or differs.
int sqlite_models_put_trees(
    sqlite_models *models, const peer_tree *trees, size_t count, size_t per_commit,
    latencies *latencies);

/// Stores the follower counts, and nothing else, of authors, so many in each transaction.
int sqlite_models_update_authors(
    sqlite_models *models, const peer_tree *trees, size_t count, size_t per_commit,
    latencies *latencies);

/// Inserts a new list of messages that are there, as a thread with a title.
int sqlite_models_insert_thread(
    sqlite_models *models, peer_text identifier, peer_text title, const peer_tree *trees,
    size_t count);

/// Which columns of a person to read.
typedef enum { PEER_PERSON, PEER_PERSON_CARD, PEER_PERSON_CONTACT } peer_columns;

/// Finds a person; `sqlite_models_done` when the texts have been copied.
int sqlite_models_person(
    sqlite_models *models, peer_text identifier, peer_columns columns, peer_person *person);
/// Finds a message with author and image.
int sqlite_models_tree(sqlite_models *models, peer_text identifier, peer_tree *tree);
/// Begins to read a thread, whose title it gives.
int sqlite_models_thread(sqlite_models *models, peer_text identifier, peer_text *title);
/// The next message of the thread; sets `is_there` to 0 at the end.
int sqlite_models_thread_next(sqlite_models *models, peer_tree *tree, int *is_there);
/// Ends what one of the four began.
void sqlite_models_done(sqlite_models *models);

/// What can be deleted, with all that depends on it.
typedef enum { PEER_AUTHOR, PEER_IMAGE, PEER_ITEM } peer_kind;

/// Deletes by identifier, each in a transaction of its own.
int sqlite_models_delete(
    sqlite_models *models, peer_kind kind, const peer_text *identifiers, size_t count,
    latencies *latencies);

/// How many messages there are, and how many of them have an image.
int sqlite_models_count_messages(sqlite_models *models, int64_t *messages, int64_t *with_image);

/// A hash of the identifiers of all people in byte order (FNV-1a).
int sqlite_models_hash_people(sqlite_models *models, uint64_t *hash);

/// An element of an ordered list.
typedef struct {
  peer_text identifier, title;
  int64_t number;
} peer_item;

/// Makes the list with new items in one transaction. There is one list in a database: its rows have
/// positions with gaps, so that an insert between two rows needs no others to move.
int sqlite_models_fill_list(sqlite_models *models, const peer_item *items, size_t count);
/// Inserts new items before positions counted from 0, or at the end if the position is -1, each in a
/// transaction of its own.
int sqlite_models_insert_items(
    sqlite_models *models, const int64_t *indexes, const peer_item *items, size_t count,
    latencies *latencies);
/// Removes the items at positions from the list, each in a transaction of its own; the items stay.
int sqlite_models_remove_items(
    sqlite_models *models, const int64_t *indexes, size_t count, latencies *latencies);
/// Begins to read items from a position on; then `sqlite_models_next_item` and `_done`.
int sqlite_models_page(sqlite_models *models, size_t start, size_t count);
int sqlite_models_next_item(sqlite_models *models, peer_item *item, int *is_there);

#endif
