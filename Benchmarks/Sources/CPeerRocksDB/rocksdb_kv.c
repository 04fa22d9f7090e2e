#include "peer_rocksdb.h"
#include "rocksdb_api.h"

#ifndef HAS_ROCKSDB

static const char *version(void) { return NULL; }

const kv_system peer_rocksdb = {.version = version};

#else

#include <checksum.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rocksdb_functions rocks;

LIBRARY_LOADER(load, rocksdb_functions, ROCKSDB_FUNCTIONS, "librocksdb.so")

/// Rows of a fill that go into one atomic write, where the others have one transaction.
enum { BATCH = 1000, FAILED = -1 };

struct kv_database {
  rocksdb_t *database;
  rocksdb_cache_t *cache;
  rocksdb_writeoptions_t *unsynced, *synced;
};

struct kv_session {
  kv_database *database;
  rocksdb_readoptions_t *read;
};

static char version_text[64];

/// The C API does not tell the version; the name of the library's file does.
static void find_version(void) {
  Dl_info info;
  char path[PATH_MAX];
  void *function = *(void **)&rocks.rocksdb_open;
  if (!dladdr(function, &info) || !realpath(info.dli_fname, path)) return;
  const char *suffix = strstr(path, ".so.");
  snprintf(version_text, sizeof version_text, "%s", suffix ? suffix + 4 : "unknown");
}

static int is_loaded;

static void load_once(void) {
  is_loaded = load(&rocks);
  if (is_loaded) find_version();
}

static const char *version(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_once);
  return is_loaded ? version_text : NULL;
}

/// The last error of this thread.
static _Thread_local char last_error[512];

static const char *message(int status) {
  (void)status;
  return last_error;
}

static int check(char *error) {
  if (!error) return 0;
  snprintf(last_error, sizeof last_error, "%s", error);
  rocks.rocksdb_free(error);
  return FAILED;
}

static rocksdb_options_t *make_options(rocksdb_cache_t *cache) {
  rocksdb_block_based_table_options_t *table = rocks.rocksdb_block_based_options_create();
  rocks.rocksdb_block_based_options_set_block_cache(table, cache);
  rocks.rocksdb_block_based_options_set_filter_policy(
      table, rocks.rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_options_t *options = rocks.rocksdb_options_create();
  rocks.rocksdb_options_set_create_if_missing(options, 1);
  rocks.rocksdb_options_set_compression(options, rocksdb_no_compression);
  rocks.rocksdb_options_set_max_background_jobs(options, 2);
  rocks.rocksdb_options_set_write_buffer_size(options, 64 << 20);
  rocks.rocksdb_options_set_keep_log_file_num(options, 1);
  rocks.rocksdb_options_set_block_based_table_factory(options, table);
  rocks.rocksdb_block_based_options_destroy(table);
  return options;
}

static int open_database(
    const char *path, size_t map_size, kv_durability durability, kv_database **result) {
  (void)map_size;
  kv_database *database = calloc(1, sizeof *database);
  if (!database) {
    snprintf(last_error, sizeof last_error, "out of memory");
    return FAILED;
  }
  database->cache = rocks.rocksdb_cache_create_lru(1u << 30);
  rocksdb_options_t *options = make_options(database->cache);
  char *error = NULL;
  database->database = rocks.rocksdb_open(options, path, &error);
  rocks.rocksdb_options_destroy(options);
  if (error) {
    rocks.rocksdb_cache_destroy(database->cache);
    free(database);
    return check(error);
  }
  database->unsynced = rocks.rocksdb_writeoptions_create();
  database->synced = rocks.rocksdb_writeoptions_create();
  // The log is always written, in order: without a flush a power cut takes only the newest writes.
  rocks.rocksdb_writeoptions_set_sync(database->synced, durability == KV_FULL);
  *result = database;
  return 0;
}

static void close_database(kv_database *database) {
  rocks.rocksdb_close(database->database);
  rocks.rocksdb_writeoptions_destroy(database->unsynced);
  rocks.rocksdb_writeoptions_destroy(database->synced);
  rocks.rocksdb_cache_destroy(database->cache);
  free(database);
}

static int begin_session(kv_database *database, kv_session **result) {
  kv_session *session = calloc(1, sizeof *session);
  if (!session) return FAILED;
  session->database = database;
  session->read = rocks.rocksdb_readoptions_create();
  *result = session;
  return 0;
}

static void end_session(kv_session *session) {
  rocks.rocksdb_readoptions_destroy(session->read);
  free(session);
}

static int write_one(kv_session *session, const kv_rows *rows, uint32_t row) {
  char *error = NULL;
  rocks.rocksdb_put(
      session->database->database, session->database->synced,
      (const char *)rows->keys + row * rows->key_size, rows->key_size,
      (const char *)rows->values + row * rows->value_size, rows->value_size, &error);
  return check(error);
}

static int write_batch(
    kv_session *session, rocksdb_writebatch_t *batch, const kv_rows *rows, const uint32_t *order,
    size_t count, int is_last, latencies *latencies) {
  rocks.rocksdb_writebatch_clear(batch);
  for (size_t i = 0; i < count; i++) {
    uint64_t start = latency_begin(latencies);
    uint32_t row = order[i];
    rocks.rocksdb_writebatch_put(
        batch, (const char *)rows->keys + row * rows->key_size, rows->key_size,
        (const char *)rows->values + row * rows->value_size, rows->value_size);
    latency_end(latencies, start);
  }
  kv_database *database = session->database;
  char *error = NULL;
  rocks.rocksdb_write(
      database->database, is_last ? database->synced : database->unsynced, batch, &error);
  return check(error);
}

static int write_rows(
    kv_session *session, const kv_rows *rows, const uint32_t *order, size_t count,
    size_t per_commit, latencies *latencies) {
  int status = 0;
  if (per_commit == 1) {
    for (size_t i = 0; i < count && !status; i++) {
      uint64_t start = latency_begin(latencies);
      status = write_one(session, rows, order[i]);
      latency_end(latencies, start);
    }
    return status;
  }
  rocksdb_writebatch_t *batch = rocks.rocksdb_writebatch_create();
  size_t begin = 0;
  while (begin < count && !status) {
    // A batch ends with a commit, or where it would become too large for one write.
    size_t commit_end = (begin / per_commit + 1) * per_commit;
    size_t end = begin + BATCH < commit_end ? begin + BATCH : commit_end;
    if (end > count) end = count;
    int is_last = end == commit_end || end == count;
    status = write_batch(session, batch, rows, order + begin, end - begin, is_last, latencies);
    begin = end;
  }
  rocks.rocksdb_writebatch_destroy(batch);
  return status;
}

static int read_rows(
    kv_session *session, const uint8_t *keys, size_t key_size, size_t count, int each,
    latencies *latencies, kv_seen *seen) {
  rocksdb_t *database = session->database->database;
  // A get sees the newest version; many that shall see the same one need a snapshot.
  const rocksdb_snapshot_t *snapshot = NULL;
  if (!each) {
    snapshot = rocks.rocksdb_create_snapshot(database);
    rocks.rocksdb_readoptions_set_snapshot(session->read, snapshot);
  }
  uint64_t checksum = 0;
  size_t found = 0;
  char *error = NULL;
  for (size_t i = 0; i < count && !error; i++) {
    uint64_t start = latency_begin(latencies);
    rocksdb_pinnableslice_t *slice = rocks.rocksdb_get_pinned(
        database, session->read, (const char *)keys + i * key_size, key_size, &error);
    if (slice) {
      size_t size;
      const char *value = rocks.rocksdb_pinnableslice_value(slice, &size);
      checksum = checksum_add(checksum, value, size);
      found++;
      rocks.rocksdb_pinnableslice_destroy(slice);
    }
    latency_end(latencies, start);
  }
  if (snapshot) {
    rocks.rocksdb_readoptions_set_snapshot(session->read, NULL);
    rocks.rocksdb_release_snapshot(database, snapshot);
  }
  *seen = (kv_seen){checksum, found};
  return check(error);
}

static uint64_t add_row(uint64_t checksum, rocksdb_iterator_t *iterator) {
  size_t size;
  const char *bytes = rocks.rocksdb_iter_key(iterator, &size);
  checksum = checksum_add(checksum, bytes, size);
  bytes = rocks.rocksdb_iter_value(iterator, &size);
  return checksum_add(checksum, bytes, size);
}

/// Ends an iterator and tells what stopped it.
static int destroy(rocksdb_iterator_t *iterator) {
  char *error = NULL;
  rocks.rocksdb_iter_get_error(iterator, &error);
  rocks.rocksdb_iter_destroy(iterator);
  return check(error);
}

static int walk(kv_session *session, int reverse, latencies *latencies, kv_seen *seen) {
  rocksdb_iterator_t *iterator =
      rocks.rocksdb_create_iterator(session->database->database, session->read);
  if (reverse) {
    rocks.rocksdb_iter_seek_to_last(iterator);
  } else {
    rocks.rocksdb_iter_seek_to_first(iterator);
  }
  uint64_t checksum = 0;
  size_t rows = 0;
  while (rocks.rocksdb_iter_valid(iterator)) {
    uint64_t start = latency_begin(latencies);
    checksum = add_row(checksum, iterator);
    rows++;
    if (reverse) {
      rocks.rocksdb_iter_prev(iterator);
    } else {
      rocks.rocksdb_iter_next(iterator);
    }
    latency_end(latencies, start);
  }
  *seen = (kv_seen){checksum, rows};
  return destroy(iterator);
}

static int seek(
    kv_session *session, const uint8_t *keys, size_t key_size, size_t count, size_t row_count,
    latencies *latencies, kv_seen *seen) {
  rocksdb_iterator_t *iterator =
      rocks.rocksdb_create_iterator(session->database->database, session->read);
  uint64_t checksum = 0;
  size_t rows = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t start = latency_begin(latencies);
    rocks.rocksdb_iter_seek(iterator, (const char *)keys + i * key_size, key_size);
    for (size_t row = 0; row < row_count && rocks.rocksdb_iter_valid(iterator); row++) {
      checksum = add_row(checksum, iterator);
      rows++;
      rocks.rocksdb_iter_next(iterator);
    }
    latency_end(latencies, start);
  }
  *seen = (kv_seen){checksum, rows};
  return destroy(iterator);
}

static int hash_rows(kv_session *session, uint64_t *result) {
  rocksdb_iterator_t *iterator =
      rocks.rocksdb_create_iterator(session->database->database, session->read);
  uint64_t hash = hash_start;
  rocks.rocksdb_iter_seek_to_first(iterator);
  for (; rocks.rocksdb_iter_valid(iterator); rocks.rocksdb_iter_next(iterator)) {
    size_t size;
    const char *bytes = rocks.rocksdb_iter_key(iterator, &size);
    hash = hash_add(hash, bytes, size);
    bytes = rocks.rocksdb_iter_value(iterator, &size);
    hash = hash_add(hash, bytes, size);
  }
  *result = hash;
  return destroy(iterator);
}

static int settle(kv_database *database) {
  rocksdb_flushoptions_t *options = rocks.rocksdb_flushoptions_create();
  char *error = NULL;
  rocks.rocksdb_flush(database->database, options, &error);
  rocks.rocksdb_flushoptions_destroy(options);
  return check(error);
}

const kv_system peer_rocksdb = {
    version,       message,     open_database, close_database, begin_session,
    end_session,   write_rows,  read_rows,     walk,           seek,
    hash_rows,     settle,
};

#endif
