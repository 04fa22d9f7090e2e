#ifndef PANDO_PEER_ROCKSDB_API_H
#define PANDO_PEER_ROCKSDB_API_H

#if __has_include(<rocksdb/c.h>)
#define HAS_ROCKSDB 1
#include <library.h>
#include <rocksdb/c.h>

#define ROCKSDB_FUNCTIONS(F)                          \
  F(rocksdb_options_create)                           \
  F(rocksdb_options_destroy)                          \
  F(rocksdb_options_set_create_if_missing)            \
  F(rocksdb_options_set_compression)                  \
  F(rocksdb_options_set_max_background_jobs)          \
  F(rocksdb_options_set_write_buffer_size)            \
  F(rocksdb_options_set_block_based_table_factory)    \
  F(rocksdb_options_set_keep_log_file_num)            \
  F(rocksdb_block_based_options_create)               \
  F(rocksdb_block_based_options_destroy)              \
  F(rocksdb_block_based_options_set_block_cache)      \
  F(rocksdb_block_based_options_set_filter_policy)    \
  F(rocksdb_cache_create_lru)                         \
  F(rocksdb_cache_destroy)                            \
  F(rocksdb_filterpolicy_create_bloom_full)           \
  F(rocksdb_open)                                     \
  F(rocksdb_close)                                    \
  F(rocksdb_writeoptions_create)                      \
  F(rocksdb_writeoptions_destroy)                     \
  F(rocksdb_writeoptions_set_sync)                    \
  F(rocksdb_readoptions_create)                       \
  F(rocksdb_readoptions_destroy)                      \
  F(rocksdb_readoptions_set_snapshot)                 \
  F(rocksdb_create_snapshot)                          \
  F(rocksdb_release_snapshot)                         \
  F(rocksdb_put)                                      \
  F(rocksdb_write)                                    \
  F(rocksdb_writebatch_create)                        \
  F(rocksdb_writebatch_destroy)                       \
  F(rocksdb_writebatch_clear)                         \
  F(rocksdb_writebatch_put)                           \
  F(rocksdb_get_pinned)                               \
  F(rocksdb_pinnableslice_value)                      \
  F(rocksdb_pinnableslice_destroy)                    \
  F(rocksdb_create_iterator)                          \
  F(rocksdb_iter_destroy)                             \
  F(rocksdb_iter_valid)                               \
  F(rocksdb_iter_seek)                                \
  F(rocksdb_iter_seek_to_first)                       \
  F(rocksdb_iter_seek_to_last)                        \
  F(rocksdb_iter_next)                                \
  F(rocksdb_iter_prev)                                \
  F(rocksdb_iter_key)                                 \
  F(rocksdb_iter_value)                               \
  F(rocksdb_iter_get_error)                           \
  F(rocksdb_flushoptions_create)                      \
  F(rocksdb_flushoptions_destroy)                     \
  F(rocksdb_flush)                                    \
  F(rocksdb_free)

typedef struct {
  ROCKSDB_FUNCTIONS(LIBRARY_MEMBER)
} rocksdb_functions;

#endif
#endif
