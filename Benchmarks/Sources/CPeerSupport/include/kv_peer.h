/// What a key-value system does in the `kv` suite, as a table of functions.
///
/// A new system fills such a table in a file of its own. Every loop is the system's own, so that
/// nothing stands between it and its library. Functions return 0 or an error that `message`
/// explains.
#ifndef PANDO_BENCHMARKS_KV_PEER_H
#define PANDO_BENCHMARKS_KV_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "latency.h"

/// What a commit waits for.
typedef enum {
  /// A commit that has returned survives a power cut.
  KV_FULL,
  /// A power cut may take the newest commits; what is left is whole.
  KV_CONSISTENT,
  /// Nothing is flushed.
  KV_UNSYNCHRONIZED,
} kv_durability;

/// Rows of one size in two blocks; row i's key starts at i * key_size.
typedef struct {
  const uint8_t *keys, *values;
  size_t key_size, value_size;
} kv_rows;

/// What was read.
typedef struct {
  uint64_t checksum;
  size_t count;
} kv_seen;

/// An open database.
typedef struct kv_database kv_database;
/// What one thread needs to use a database.
typedef struct kv_session kv_session;

typedef struct {
  /// The version of the library; NULL if the library is not there, and then the rest is not called.
  const char *(*version)(void);
  const char *(*message)(int status);
  /// Opens or makes a database in an existing directory.
  int (*open)(const char *path, size_t map_size, kv_durability durability, kv_database **result);
  void (*close)(kv_database *database);
  int (*begin)(kv_database *database, kv_session **result);
  void (*end)(kv_session *session);
  /// Stores rows in the order given, so many in each commit; an operation is a row, with
  /// `per_commit` 1 including its commit.
  int (*write)(
      kv_session *session, const kv_rows *rows, const uint32_t *order, size_t count,
      size_t per_commit, latencies *latencies);
  /// Looks keys up, each in a read transaction of its own or all in one.
  int (*read)(
      kv_session *session, const uint8_t *keys, size_t key_size, size_t count, int each,
      latencies *latencies, kv_seen *seen);
  /// Walks over all rows in key order or backwards.
  int (*walk)(kv_session *session, int reverse, latencies *latencies, kv_seen *seen);
  /// Finds the first key not below each key and reads on for so many rows.
  int (*seek)(
      kv_session *session, const uint8_t *keys, size_t key_size, size_t count, size_t row_count,
      latencies *latencies, kv_seen *seen);
  /// A hash of every byte of every row in key order.
  int (*hash)(kv_session *session, uint64_t *hash);
  /// Writes out what the library holds back, after the clock has stopped.
  int (*settle)(kv_database *database);
} kv_system;

#endif
