/// The key-value workloads in plain C on LMDB.
///
/// Every function returns 0 or an error code of LMDB or of the system. A table of rows is given as
/// one block: row i's key starts at i * key_size. Flags, map size and transactions are those that
/// Pando's `LMDB` module uses.
#ifndef PANDO_PEER_LMDB_H
#define PANDO_PEER_LMDB_H

#include <stddef.h>
#include <stdint.h>

typedef struct peer_lmdb peer_lmdb;

/// Opens an environment in an existing directory, with one named table.
int peer_lmdb_open(const char *path, size_t map_size, peer_lmdb **result);

/// Closes an environment; NULL is nothing to close.
void peer_lmdb_close(peer_lmdb *peer);

/// Stores all rows in one write transaction, in the order given, and commits durably.
int peer_lmdb_put(
    peer_lmdb *peer, const uint8_t *keys, size_t key_size, const uint8_t *values,
    size_t value_size, size_t count);

/// Looks all keys up inside one read transaction. A missing key is an error.
int peer_lmdb_get(
    peer_lmdb *peer, const uint8_t *keys, size_t key_size, size_t count, uint64_t *checksum);

/// Looks each key up in a read transaction of its own (reset and renewed).
int peer_lmdb_get_each(
    peer_lmdb *peer, const uint8_t *keys, size_t key_size, size_t count, uint64_t *checksum);

/// Walks the table in key order.
int peer_lmdb_scan(peer_lmdb *peer, size_t *count, uint64_t *checksum);

/// A hash of every byte of every row, in key order (FNV-1a).
int peer_lmdb_fingerprint(peer_lmdb *peer, uint64_t *fingerprint);

/// What an error code means.
const char *peer_lmdb_message(int code);

/// The name, version and date of the library.
const char *peer_lmdb_version(void);

#endif
