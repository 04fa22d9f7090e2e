#ifndef PANDO_PEER_LMDB_OPEN_H
#define PANDO_PEER_LMDB_OPEN_H

#include <kv_peer.h>
#include <lmdb.h>

/// Opens an environment as Pando does.
int lmdb_open(const char *path, size_t map_size, kv_durability durability, MDB_env **result);

#endif
