#include <checksum.h>
#include <errno.h>
#include <stdlib.h>

#include "lmdb_open.h"
#include "peer_lmdb.h"

struct kv_database {
  MDB_env *environment;
  MDB_dbi table;
};

struct kv_session {
  kv_database *database;
};

int lmdb_open(const char *path, size_t map_size, kv_durability durability, MDB_env **result) {
  unsigned flags = MDB_NOTLS;
  if (durability == KV_CONSISTENT) flags |= MDB_NOMETASYNC;
  if (durability == KV_UNSYNCHRONIZED) flags |= MDB_NOSYNC;
  MDB_env *environment;
  int status = mdb_env_create(&environment);
  if (status) return status;
  status = mdb_env_set_mapsize(environment, map_size);
  if (!status) status = mdb_env_set_maxdbs(environment, 128);
  if (!status) status = mdb_env_set_maxreaders(environment, 1024);
  if (!status) status = mdb_env_open(environment, path, flags, 0600);
  if (status) {
    mdb_env_close(environment);
    return status;
  }
  *result = environment;
  return 0;
}

static const char *version(void) { return mdb_version(NULL, NULL, NULL); }

static const char *message(int status) { return mdb_strerror(status); }

static int open_table(kv_database *database) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(database->environment, NULL, 0, &transaction);
  if (status) return status;
  status = mdb_dbi_open(transaction, "rows", MDB_CREATE, &database->table);
  if (status) {
    mdb_txn_abort(transaction);
    return status;
  }
  return mdb_txn_commit(transaction);
}

static void close_database(kv_database *database) {
  mdb_env_close(database->environment);
  free(database);
}

static int open_database(
    const char *path, size_t map_size, kv_durability durability, kv_database **result) {
  kv_database *database = calloc(1, sizeof *database);
  if (!database) return ENOMEM;
  int status = lmdb_open(path, map_size, durability, &database->environment);
  if (status) {
    free(database);
    return status;
  }
  status = open_table(database);
  if (status) {
    close_database(database);
    return status;
  }
  *result = database;
  return 0;
}

static int begin_session(kv_database *database, kv_session **result) {
  kv_session *session = malloc(sizeof *session);
  if (!session) return ENOMEM;
  session->database = database;
  *result = session;
  return 0;
}

static void end_session(kv_session *session) { free(session); }

static int put(
    kv_session *session, MDB_txn *transaction, const kv_rows *rows, uint32_t row) {
  MDB_val key = {rows->key_size, (void *)(rows->keys + row * rows->key_size)};
  MDB_val value = {rows->value_size, (void *)(rows->values + row * rows->value_size)};
  return mdb_put(transaction, session->database->table, &key, &value, 0);
}

static int write_one(kv_session *session, const kv_rows *rows, uint32_t row) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(session->database->environment, NULL, 0, &transaction);
  if (status) return status;
  status = put(session, transaction, rows, row);
  if (!status) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return status;
}

static int write_batch(
    kv_session *session, const kv_rows *rows, const uint32_t *order, size_t count,
    latencies *latencies) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(session->database->environment, NULL, 0, &transaction);
  if (status) return status;
  for (size_t i = 0; i < count; i++) {
    uint64_t start = latency_begin(latencies);
    status = put(session, transaction, rows, order[i]);
    if (status) {
      mdb_txn_abort(transaction);
      return status;
    }
    latency_end(latencies, start);
  }
  return mdb_txn_commit(transaction);
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
  for (size_t i = 0; i < count && !status; i += per_commit) {
    size_t rest = count - i;
    status = write_batch(
        session, rows, order + i, rest < per_commit ? rest : per_commit, latencies);
  }
  return status;
}

static int read_rows(
    kv_session *session, const uint8_t *keys, size_t key_size, size_t count, int each,
    latencies *latencies, kv_seen *seen) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(session->database->environment, NULL, MDB_RDONLY, &transaction);
  if (status) return status;
  MDB_dbi table = session->database->table;
  if (each) mdb_txn_reset(transaction);
  uint64_t checksum = 0;
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t start = latency_begin(latencies);
    if (each && (status = mdb_txn_renew(transaction))) break;
    MDB_val key = {key_size, (void *)(keys + i * key_size)};
    MDB_val value;
    status = mdb_get(transaction, table, &key, &value);
    if (!status) {
      checksum = checksum_add(checksum, value.mv_data, value.mv_size);
      found++;
    } else if (status != MDB_NOTFOUND) {
      break;
    }
    if (each) mdb_txn_reset(transaction);
    latency_end(latencies, start);
    status = 0;
  }
  mdb_txn_abort(transaction);
  *seen = (kv_seen){checksum, found};
  return status;
}

static int open_cursor(kv_session *session, MDB_txn **transaction, MDB_cursor **cursor) {
  int status = mdb_txn_begin(session->database->environment, NULL, MDB_RDONLY, transaction);
  if (status) return status;
  status = mdb_cursor_open(*transaction, session->database->table, cursor);
  if (status) mdb_txn_abort(*transaction);
  return status;
}

static void close_cursor(MDB_txn *transaction, MDB_cursor *cursor) {
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
}

static uint64_t add_row(uint64_t checksum, const MDB_val *key, const MDB_val *value) {
  checksum = checksum_add(checksum, key->mv_data, key->mv_size);
  return checksum_add(checksum, value->mv_data, value->mv_size);
}

static int walk(kv_session *session, int reverse, latencies *latencies, kv_seen *seen) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  int status = open_cursor(session, &transaction, &cursor);
  if (status) return status;
  MDB_cursor_op move = reverse ? MDB_PREV : MDB_NEXT;
  uint64_t checksum = 0;
  size_t rows = 0;
  MDB_val key, value;
  while (1) {
    uint64_t start = latency_begin(latencies);
    status = mdb_cursor_get(cursor, &key, &value, move);
    if (status) break;
    checksum = add_row(checksum, &key, &value);
    rows++;
    latency_end(latencies, start);
  }
  close_cursor(transaction, cursor);
  *seen = (kv_seen){checksum, rows};
  return status == MDB_NOTFOUND ? 0 : status;
}

static int seek(
    kv_session *session, const uint8_t *keys, size_t key_size, size_t count, size_t row_count,
    latencies *latencies, kv_seen *seen) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  int status = open_cursor(session, &transaction, &cursor);
  if (status) return status;
  uint64_t checksum = 0;
  size_t rows = 0;
  for (size_t i = 0; i < count && (!status || status == MDB_NOTFOUND); i++) {
    uint64_t start = latency_begin(latencies);
    MDB_val key = {key_size, (void *)(keys + i * key_size)};
    MDB_val value;
    status = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    for (size_t row = 0; row < row_count && !status; row++) {
      checksum = add_row(checksum, &key, &value);
      rows++;
      status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    latency_end(latencies, start);
  }
  close_cursor(transaction, cursor);
  *seen = (kv_seen){checksum, rows};
  return status == MDB_NOTFOUND ? 0 : status;
}

static int hash_rows(kv_session *session, uint64_t *result) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  int status = open_cursor(session, &transaction, &cursor);
  if (status) return status;
  uint64_t hash = hash_start;
  MDB_val key, value;
  while (!(status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    hash = hash_add(hash_add(hash, key.mv_data, key.mv_size), value.mv_data, value.mv_size);
  }
  close_cursor(transaction, cursor);
  *result = hash;
  return status == MDB_NOTFOUND ? 0 : status;
}

static int settle(kv_database *database) { return mdb_env_sync(database->environment, 1); }

const kv_system peer_lmdb = {
    version,       message,     open_database, close_database, begin_session,
    end_session,   write_rows,  read_rows,     walk,           seek,
    hash_rows,     settle,
};
