/// Plain C on LMDB with the tables of a Pando store, without any work on models.
///
/// A new node costs a row each in `identifiers` and `nodes`, and one in `parents` if it is a child; a
/// commit costs a row each in `meta`, `types` and `changes`, and one in `nodesByType` for each 2 048
/// new nodes. Here are rows of the same number and size. A node that is there already is looked up, compared and written if it differs.
/// Functions return 0 or an error of LMDB or of the system.
#ifndef PANDO_PEER_STORE_H
#define PANDO_PEER_STORE_H

#include <kv_peer.h>

typedef struct peer_store peer_store;

/// A node, and the child that it holds, if any.
typedef struct peer_node {
  const char *identifier;
  size_t identifier_size;
  /// The field that readers look at.
  int64_t number;
  /// As many bytes as the other fields take.
  const char *rest;
  size_t rest_size;
  const struct peer_node *child;
  /// Whether it is of the type that children have.
  int is_child;
} peer_node;

/// Opens an environment in an existing directory.
int peer_store_open(
    const char *path, size_t map_size, kv_durability durability, peer_store **result);

/// Closes an environment; NULL is nothing to close.
void peer_store_close(peer_store *store);

/// Stores all nodes, so many in each transaction. An operation is a node, with one in each
/// transaction including its commit. Threads take turns.
int peer_store_put(
    peer_store *store, const peer_node *nodes, size_t count, size_t per_commit,
    latencies *latencies);

/// Finds nodes and their children by identifier, each in a read transaction of its own or all in
/// one; the checksum is of their numbers.
int peer_store_get(
    peer_store *store, const peer_node *nodes, size_t count, int each, latencies *latencies,
    kv_seen *seen);

/// A hash of the identifiers in byte order (FNV-1a).
int peer_store_hash(peer_store *store, uint64_t *hash);

/// What an error code means.
const char *peer_store_message(int status);

#endif
