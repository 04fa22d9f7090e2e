#include <checksum.h>
#include <errno.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb_open.h"
#include "peer_store.h"

enum { META, IDENTIFIERS, TYPES, NODES, NODES_BY_TYPE, PARENTS, CHANGES, TABLE_COUNT };

enum {
  /// Flags, how many records, and how long the identifier is.
  ROW_START = 6,
  /// Type, length, commit number and checksum of a record, before the identifier.
  ROW_ENTRY = 24,
  IDENTIFIER_MAX = 511,
  /// How many nodes share a row of the table that says which nodes have a record of a type.
  NODES_PER_BLOCK = 2048,
};

/// What precedes the other fields in a record.
typedef struct {
  int64_t number;
  /// Node number and type of the child, in a tag; 0 if there is none.
  uint64_t child;
} record_start;

struct peer_store {
  MDB_env *environment;
  MDB_dbi tables[TABLE_COUNT];
  pthread_mutex_t writer;
  uint64_t next_node;
  uint64_t next_commit;
  /// The first node of the transaction under way.
  uint64_t first_new_node;
  /// A row of a node as it is being made.
  char row[4096];
};

static int open_tables(peer_store *store) {
  static const char *names[] = {"meta",        "identifiers", "types",  "nodes",
                                "nodesByType", "parents",     "changes"};
  MDB_txn *transaction;
  int status = mdb_txn_begin(store->environment, NULL, 0, &transaction);
  if (status) return status;
  for (int i = 0; i < TABLE_COUNT && !status; i++) {
    status = mdb_dbi_open(transaction, names[i], MDB_CREATE, &store->tables[i]);
  }
  MDB_stat nodes, changes;
  if (!status) status = mdb_stat(transaction, store->tables[NODES], &nodes);
  if (!status) status = mdb_stat(transaction, store->tables[CHANGES], &changes);
  if (status) {
    mdb_txn_abort(transaction);
    return status;
  }
  store->next_node = nodes.ms_entries + 1;
  store->next_commit = changes.ms_entries + 1;
  return mdb_txn_commit(transaction);
}

int peer_store_open(
    const char *path, size_t map_size, kv_durability durability, peer_store **result) {
  peer_store *store = calloc(1, sizeof *store);
  if (!store) return ENOMEM;
  pthread_mutex_init(&store->writer, NULL);
  int status = lmdb_open(path, map_size, durability, &store->environment);
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
  pthread_mutex_destroy(&store->writer);
  free(store);
}

const char *peer_store_message(int status) { return mdb_strerror(status); }

static int put(
    peer_store *store, MDB_txn *transaction, int table, const void *key, size_t key_size,
    const void *value, size_t value_size, unsigned flags) {
  MDB_val k = {key_size, (void *)key};
  MDB_val v = {value_size, (void *)value};
  return mdb_put(transaction, store->tables[table], &k, &v, flags);
}

static int get(
    peer_store *store, MDB_txn *transaction, int table, const void *key, size_t key_size,
    MDB_val *value) {
  MDB_val k = {key_size, (void *)key};
  return mdb_get(transaction, store->tables[table], &k, value);
}

/// The key of the record of a node; parents have type 1, children type 2.
static uint64_t record_key(uint64_t number, int is_child) {
  return __builtin_bswap64((uint64_t)(1 + is_child) << 48 | number);
}

/// Where the body of a node's only record begins in its row.
static size_t body_offset(size_t identifier_size) {
  return ROW_START + ROW_ENTRY + identifier_size;
}

/// Finds the number of a node, or gives it one.
static int find_or_make(
    peer_store *store, MDB_txn *transaction, const peer_node *node, uint64_t *number,
    int *is_new) {
  *number = store->next_node;
  MDB_val key = {node->identifier_size, (void *)node->identifier};
  MDB_val value = {sizeof *number, number};
  int status = mdb_put(
      transaction, store->tables[IDENTIFIERS], &key, &value, MDB_NOOVERWRITE);
  *is_new = status == 0;
  if (status == MDB_KEYEXIST) {
    memcpy(number, value.mv_data, sizeof *number);
    return 0;
  }
  if (!status) store->next_node++;
  return status;
}

static int put_edge(
    peer_store *store, MDB_txn *transaction, uint64_t child, uint64_t parent_key) {
  uint64_t key[2] = {__builtin_bswap64(child), parent_key};
  char kind = 1;
  return put(store, transaction, PARENTS, key, sizeof key, &kind, sizeof kind, 0);
}

/// Stores a node, and its child before it.
static int put_node(
    peer_store *store, MDB_txn *transaction, const peer_node *node, uint64_t *number) {
  record_start start = {node->number, 0};
  if (node->child) {
    int status = put_node(store, transaction, node->child, &start.child);
    if (status) return status;
  }
  int is_new;
  int status = find_or_make(store, transaction, node, number, &is_new);
  if (status) return status;
  uint64_t key = __builtin_bswap64(*number);
  size_t body = body_offset(node->identifier_size);
  size_t size = body + sizeof start + node->rest_size;
  if (node->identifier_size > IDENTIFIER_MAX || size > sizeof store->row) return EINVAL;
  memset(store->row, 1, ROW_START + ROW_ENTRY);
  uint32_t identifier_size = (uint32_t)node->identifier_size;
  memcpy(store->row + 2, &identifier_size, sizeof identifier_size);
  memcpy(store->row + ROW_START, &store->next_commit, sizeof store->next_commit);
  memcpy(store->row + ROW_START + ROW_ENTRY, node->identifier, node->identifier_size);
  memcpy(store->row + body, &start, sizeof start);
  memcpy(store->row + body + sizeof start, node->rest, node->rest_size);
  if (is_new) {
    status = put(store, transaction, NODES, &key, sizeof key, store->row, size, MDB_APPEND);
    if (status || !start.child) return status;
    return put_edge(store, transaction, start.child, record_key(*number, node->is_child));
  }
  MDB_val old;
  status = get(store, transaction, NODES, &key, sizeof key, &old);
  if (status) return status;
  if (old.mv_size == size && !memcmp((char *)old.mv_data + body, store->row + body, size - body)) {
    return 0;
  }
  return put(store, transaction, NODES, &key, sizeof key, store->row, size, 0);
}

/// A bit for each node of the transaction, in rows of 2 048.
static int put_types(peer_store *store, MDB_txn *transaction) {
  char bits[NODES_PER_BLOCK / 8] = {1};
  uint64_t block = store->first_new_node / NODES_PER_BLOCK;
  int status = 0;
  for (; !status && block * NODES_PER_BLOCK < store->next_node; block++) {
    uint64_t key = __builtin_bswap64((uint64_t)1 << 48 | block);
    status = put(store, transaction, NODES_BY_TYPE, &key, sizeof key, bits, sizeof bits, 0);
  }
  return status;
}

/// The rows that each commit writes; the change set names every node.
static int put_commit(
    peer_store *store, MDB_txn *transaction, const peer_node *nodes, size_t count) {
  char state[72] = "PNDO", type[16] = {1};
  uint64_t key = __builtin_bswap64(store->next_commit++);
  size_t size = 64;
  for (size_t i = 0; i < count; i++) size += nodes[i].identifier_size + 2;
  MDB_val k = {sizeof key, &key};
  MDB_val change_set = {size, NULL};
  int status = mdb_put(
      transaction, store->tables[CHANGES], &k, &change_set, MDB_APPEND | MDB_RESERVE);
  if (status) return status;
  char *end = change_set.mv_data;
  memset(end, 0, size);
  for (size_t i = 0; i < count; i++) {
    memcpy(end, nodes[i].identifier, nodes[i].identifier_size);
    end += nodes[i].identifier_size + 2;
  }
  status = put(store, transaction, META, "state", 5, state, sizeof state, 0);
  if (status || store->next_node == store->first_new_node) return status;
  status = put(store, transaction, TYPES, "Person", 6, type, sizeof type, 0);
  return status ? status : put_types(store, transaction);
}

static int put_batch(
    peer_store *store, const peer_node *nodes, size_t count, latencies *latencies) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(store->environment, NULL, 0, &transaction);
  if (status) return status;
  store->first_new_node = store->next_node;
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t number, start = latency_begin(latencies);
    status = put_node(store, transaction, &nodes[i], &number);
    latency_end(latencies, start);
  }
  if (!status) status = put_commit(store, transaction, nodes, count);
  if (!status) return mdb_txn_commit(transaction);
  mdb_txn_abort(transaction);
  return status;
}

int peer_store_put(
    peer_store *store, const peer_node *nodes, size_t count, size_t per_commit,
    latencies *latencies) {
  int status = 0;
  for (size_t i = 0; i < count && !status; i += per_commit) {
    size_t size = count - i < per_commit ? count - i : per_commit;
    uint64_t start = per_commit == 1 ? latency_begin(latencies) : 0;
    pthread_mutex_lock(&store->writer);
    status = put_batch(store, nodes + i, size, per_commit == 1 ? NULL : latencies);
    pthread_mutex_unlock(&store->writer);
    latency_end(latencies, start);
  }
  return status;
}

static int get_record(
    peer_store *store, MDB_txn *transaction, uint64_t number, record_start *start) {
  uint64_t key = __builtin_bswap64(number);
  MDB_val row;
  int status = get(store, transaction, NODES, &key, sizeof key, &row);
  if (status) return status;
  // The identifier's length stands behind flags and record count, as in a store of Pando.
  uint32_t identifier_size;
  memcpy(&identifier_size, (char *)row.mv_data + 2, sizeof identifier_size);
  memcpy(start, (char *)row.mv_data + body_offset(identifier_size), sizeof *start);
  return 0;
}

static int get_node(
    peer_store *store, MDB_txn *transaction, const peer_node *node, uint64_t *checksum) {
  MDB_val value;
  int status = get(
      store, transaction, IDENTIFIERS, node->identifier, node->identifier_size, &value);
  if (status) return status;
  uint64_t number;
  memcpy(&number, value.mv_data, sizeof number);
  record_start start;
  status = get_record(store, transaction, number, &start);
  if (status) return status;
  *checksum = *checksum * 31 + (uint64_t)start.number;
  if (!start.child) return 0;
  status = get_record(store, transaction, start.child, &start);
  if (!status) *checksum = *checksum * 31 + (uint64_t)start.number;
  return status;
}

int peer_store_get(
    peer_store *store, const peer_node *nodes, size_t count, int each, latencies *latencies,
    kv_seen *seen) {
  MDB_txn *transaction;
  int status = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &transaction);
  if (status) return status;
  if (each) mdb_txn_reset(transaction);
  uint64_t checksum = 0;
  for (size_t i = 0; i < count && !status; i++) {
    uint64_t start = latency_begin(latencies);
    if (each && (status = mdb_txn_renew(transaction))) break;
    status = get_node(store, transaction, &nodes[i], &checksum);
    if (each) mdb_txn_reset(transaction);
    latency_end(latencies, start);
  }
  mdb_txn_abort(transaction);
  *seen = (kv_seen){checksum, count};
  return status;
}

int peer_store_hash(peer_store *store, uint64_t *result) {
  MDB_txn *transaction;
  MDB_cursor *cursor;
  int status = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &transaction);
  if (status) return status;
  status = mdb_cursor_open(transaction, store->tables[IDENTIFIERS], &cursor);
  if (status) {
    mdb_txn_abort(transaction);
    return status;
  }
  uint64_t hash = hash_start;
  MDB_val key, value;
  while (!(status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
    hash = hash_add(hash, key.mv_data, key.mv_size);
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  *result = hash;
  return status == MDB_NOTFOUND ? 0 : status;
}
