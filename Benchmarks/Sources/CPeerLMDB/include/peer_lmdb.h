/// Plain C on LMDB.
#ifndef PANDO_PEER_LMDB_H
#define PANDO_PEER_LMDB_H

#include <kv_peer.h>

/// The `kv` suite. Flags, limits and transactions are those that the module `PandoLMDB` uses.
extern const kv_system peer_lmdb;

#endif
