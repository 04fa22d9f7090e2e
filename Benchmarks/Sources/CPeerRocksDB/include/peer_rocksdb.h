/// RocksDB through its C API.
#ifndef PANDO_PEER_ROCKSDB_H
#define PANDO_PEER_ROCKSDB_H

#include <kv_peer.h>

/// The `kv` suite, also used for durable commits. One block cache of 1 GiB, Bloom filters of 10
/// bits, no compression (the others have none), write buffers of 64 MiB, two background jobs.
extern const kv_system peer_rocksdb;

#endif
