/// Durable commits in plain C on LMDB, with the tables of a Pando store.
///
/// A new model costs a store a row each in `identifiers`, `nodes` and `records`; a commit costs it a
/// row each in `meta`, `types` and `changes`. Here are rows of the same number and size, made
/// without any work on models.
#ifndef PANDO_PEER_STORE_H
#define PANDO_PEER_STORE_H

#include <stddef.h>
#include <stdint.h>

typedef struct peer_store peer_store;

/// A new model: its identifier, and as many bytes as its record has.
typedef struct {
  const char *identifier;
  size_t identifier_size;
  const char *record;
  size_t record_size;
} peer_model;

/// Opens an environment in an existing directory.
int peer_store_open(const char *path, size_t map_size, peer_store **result);

/// Closes an environment; NULL is nothing to close.
void peer_store_close(peer_store *store);

/// Stores all models, so many in each transaction; every commit is durable.
int peer_store_commit(
    peer_store *store, const peer_model *models, size_t count, size_t models_per_commit);

/// A hash of the identifiers in byte order (FNV-1a).
int peer_store_fingerprint(peer_store *store, uint64_t *fingerprint);

#endif
