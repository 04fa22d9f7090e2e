#include "peer_store.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

enum { META, IDENTIFIERS, TYPES, NODES, RECORDS, CHANGES, TABLE_COUNT };

struct peer_store {
  MDB_env *environment;
  MDB_dbi tables[TABLE_COUNT];
  uint64_t next_node;
  uint64_t next_commit;
};

static int open_tables(peer_store *store) {
  static const char *names[] = {"meta", "identifiers", "types", "nodes", "records", "changes"};
  MDB_txn *transaction;
  int status = mdb_txn_begin(store->environment, NULL, 0, &transaction);
  if (status) return status;
  for (int i = 0; i < TABLE_COUNT && !status; i++) {
    status = mdb_dbi_open(transaction, names[i], MDB_CREATE, &store->tables[i]);
  }
  if (status) {
    mdb_txn_abort(transaction);
    return status;
  }
  return mdb_txn_commit(transaction);
}

int peer_store_open(const char *path, size_t map_size, peer_store **result) {
  peer_store *store = calloc(1, sizeof *store);
  if (!store) return ENOMEM;
  store->next_node = 1;
  store->next_commit = 1;
  int status = mdb_env_create(&store->environment);
  if (!status) status = mdb_env_set_mapsize(store->environment, map_size);
  if (!status) status = mdb_env_set_maxdbs(store->environment, 128);
  if (!status) status = mdb_env_set_maxreaders(store->environment, 1024);
  if (!status) status = mdb_env_open(store->environment, path, MDB_NOTLS, 0600);
  if (!status) status = open_tables(store);
  if (status) {
    peer_store_close(store);
    return status;
  }
  *result = store;
  return 0;
}

void peer_store_close(peer_store *store) {
  if (!store) return;
  if (store->environment) mdb_env_close(store->environment);
  free(store);
}

static int put(
    MDB_txn *transaction, MDB_dbi table, const void *key, size_t key_size, const void *value,
    size_t value_size, unsigned flags) {
  MDB_val k = {key_size, (void *)key};
  MDB_val v = {value_size, (void *)value};
  return mdb_put(transaction, table, &k, &v, flags);
}

static int put_model(peer_store *store, MDB_txn *transaction, const peer_model *model) {
  uint64_t node = store->next_node++;
  uint64_t key = __builtin_bswap64(node);
  uint64_t record_key = __builtin_bswap64((uint64_t)1 << 48 | node);
  int status = put(
      transaction, store->tables[IDENTIFIERS], model->identifier, model->identifier_size, &node,
      sizeof node, MDB_NOOVERWRITE);
  if (status) return status;
  char row[4 + 512] = {1, 1, 1, 0};
  memcpy(row + 4, model->identifier, model->identifier_size);
  status = put(
      transaction, store->tables[NODES], &key, sizeof key, row, 4 + model->identifier_size,
      MDB_APPEND);
  if (status) return status;
  return put(
      transaction, store->tables[RECORDS], &record_key, sizeof record_key, model->record,
      model->record_size, MDB_APPEND);
}

/// The rows that each commit writes; the change set names every model.
static int put_commit(
    peer_store *store, MDB_txn *transaction, const peer_model *models, size_t count) {
  char state[72] = "PNDO", type[16] = {1};
  uint64_t key = __builtin_bswap64(store->next_commit++);
  size_t size = 64;
  for (size_t i = 0; i < count; i++) size += models[i].identifier_size + 2;
  MDB_val k = {sizeof key, &key};
  MDB_val change_set = {size, NULL};
  int status = mdb_put(
      transaction, store->tables[CHANGES], &k, &change_set, MDB_APPEND | MDB_RESERVE);
  if (status) return status;
  char *end = change_set.mv_data;
  memset(end, 0, size);
  for (size_t i = 0; i < count; i++) {
    memcpy(end, models[i].identifier, models[i].identifier_size);
    end += models[i].identifier_size + 2;
  }
  status = put(transaction, store->tables[META], "state", 5, state, sizeof state, 0);
  if (status) return status;
  return put(transaction, store->tables[TYPES], "Person", 6, type, sizeof type, 0);
}

int peer_store_commit(
    peer_store *store, const peer_model *models, size_t count, size_t models_per_commit) {
  for (size_t start = 0; start < count; start += models_per_commit) {
    size_t end = start + models_per_commit < count ? start + models_per_commit : count;
    MDB_txn *transaction;
    int status = mdb_txn_begin(store->environment, NULL, 0, &transaction);
    if (status) return status;
    for (size_t i = start; i < end && !status; i++) {
      status = put_model(store, transaction, &models[i]);
    }
    if (!status) status = put_commit(store, transaction, models + start, end - start);
    if (status) {
      mdb_txn_abort(transaction);
      return status;
    }
    status = mdb_txn_commit(transaction);
    if (status) return status;
  }
  return 0;
}

int peer_store_fingerprint(peer_store *store, uint64_t *fingerprint) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  int status = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &transaction);
  if (status) return status;
  status = mdb_cursor_open(transaction, store->tables[IDENTIFIERS], &cursor);
  if (status) {
    mdb_txn_abort(transaction);
    return status;
  }
  uint64_t state = 0xcbf29ce484222325;
  MDB_val key, value;
  while (!(status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    const uint8_t *bytes = key.mv_data;
    for (size_t i = 0; i < key.mv_size; i++) state = (state ^ bytes[i]) * 0x100000001b3;
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  *fingerprint = state;
  return status == MDB_NOTFOUND ? 0 : status;
}
