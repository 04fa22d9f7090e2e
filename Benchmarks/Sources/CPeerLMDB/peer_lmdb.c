#include "peer_lmdb.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct peer_lmdb {
  MDB_env *environment;
  MDB_dbi table;
};

static int open_table(peer_lmdb *peer) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(peer->environment, NULL, 0, &transaction);
  if (status) return status;
  status = mdb_dbi_open(transaction, "rows", MDB_CREATE, &peer->table);
  if (status) {
    mdb_txn_abort(transaction);
    return status;
  }
  return mdb_txn_commit(transaction);
}

int peer_lmdb_open(const char *path, size_t map_size, peer_lmdb **result) {
  peer_lmdb *peer = calloc(1, sizeof *peer);
  if (!peer) return ENOMEM;
  int status = mdb_env_create(&peer->environment);
  if (!status) status = mdb_env_set_mapsize(peer->environment, map_size);
  if (!status) status = mdb_env_set_maxdbs(peer->environment, 128);
  if (!status) status = mdb_env_set_maxreaders(peer->environment, 1024);
  if (!status) status = mdb_env_open(peer->environment, path, MDB_NOTLS, 0600);
  if (!status) status = open_table(peer);
  if (status) {
    peer_lmdb_close(peer);
    return status;
  }
  *result = peer;
  return 0;
}

void peer_lmdb_close(peer_lmdb *peer) {
  if (!peer) return;
  if (peer->environment) mdb_env_close(peer->environment);
  free(peer);
}

int peer_lmdb_put(
    peer_lmdb *peer, const uint8_t *keys, size_t key_size, const uint8_t *values,
    size_t value_size, size_t count) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(peer->environment, NULL, 0, &transaction);
  if (status) return status;
  for (size_t i = 0; i < count; i++) {
    MDB_val key = {key_size, (void *)(keys + i * key_size)};
    MDB_val value = {value_size, (void *)(values + i * value_size)};
    status = mdb_put(transaction, peer->table, &key, &value, 0);
    if (status) {
      mdb_txn_abort(transaction);
      return status;
    }
  }
  return mdb_txn_commit(transaction);
}

/// Eight bytes as a number of the machine's byte order.
static inline uint64_t load(const uint8_t *bytes) {
  uint64_t number;
  memcpy(&number, bytes, sizeof number);
  return number;
}

/// Adds a value of at least 8 bytes; the order of values counts.
static inline uint64_t add(uint64_t checksum, const MDB_val *value) {
  const uint8_t *bytes = value->mv_data;
  return checksum * 31 + load(bytes) + load(bytes + value->mv_size - 8) + value->mv_size;
}

int peer_lmdb_get(
    peer_lmdb *peer, const uint8_t *keys, size_t key_size, size_t count, uint64_t *checksum) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction);
  if (status) return status;
  uint64_t sum = 0;
  for (size_t i = 0; i < count && !status; i++) {
    MDB_val key = {key_size, (void *)(keys + i * key_size)};
    MDB_val value;
    status = mdb_get(transaction, peer->table, &key, &value);
    if (!status) sum = add(sum, &value);
  }
  mdb_txn_abort(transaction);
  *checksum = sum;
  return status;
}

int peer_lmdb_get_each(
    peer_lmdb *peer, const uint8_t *keys, size_t key_size, size_t count, uint64_t *checksum) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction);
  if (status) return status;
  mdb_txn_reset(transaction);
  uint64_t sum = 0;
  for (size_t i = 0; i < count && !status; i++) {
    status = mdb_txn_renew(transaction);
    if (status) break;
    MDB_val key = {key_size, (void *)(keys + i * key_size)};
    MDB_val value;
    status = mdb_get(transaction, peer->table, &key, &value);
    if (!status) sum = add(sum, &value);
    mdb_txn_reset(transaction);
  }
  mdb_txn_abort(transaction);
  *checksum = sum;
  return status;
}

static int open_cursor(peer_lmdb *peer, MDB_txn **transaction, MDB_cursor **cursor) {
  int status = mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, transaction);
  if (status) return status;
  status = mdb_cursor_open(*transaction, peer->table, cursor);
  if (status) mdb_txn_abort(*transaction);
  return status;
}

int peer_lmdb_scan(peer_lmdb *peer, size_t *count, uint64_t *checksum) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  int status = open_cursor(peer, &transaction, &cursor);
  if (status) return status;
  uint64_t sum = 0;
  size_t rows = 0;
  MDB_val key, value;
  while (!(status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    sum = add(add(sum, &key), &value);
    rows++;
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  *checksum = sum;
  *count = rows;
  return status == MDB_NOTFOUND ? 0 : status;
}

static uint64_t hash(uint64_t state, const MDB_val *value) {
  const uint8_t *bytes = value->mv_data;
  for (size_t i = 0; i < value->mv_size; i++) state = (state ^ bytes[i]) * 0x100000001b3;
  return state;
}

int peer_lmdb_fingerprint(peer_lmdb *peer, uint64_t *fingerprint) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  int status = open_cursor(peer, &transaction, &cursor);
  if (status) return status;
  uint64_t state = 0xcbf29ce484222325;
  MDB_val key, value;
  while (!(status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    state = hash(hash(state, &key), &value);
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  *fingerprint = state;
  return status == MDB_NOTFOUND ? 0 : status;
}

const char *peer_lmdb_message(int code) { return mdb_strerror(code); }

const char *peer_lmdb_version(void) { return mdb_version(NULL, NULL, NULL); }
