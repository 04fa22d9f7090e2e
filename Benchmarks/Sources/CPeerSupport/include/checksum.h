/// Checksums that every system makes the same way.
#ifndef PANDO_BENCHMARKS_CHECKSUM_H
#define PANDO_BENCHMARKS_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Adds a value of at least 8 bytes; cheap, and the order of values counts.
static inline uint64_t checksum_add(uint64_t checksum, const void *bytes, size_t size) {
  uint64_t first, last;
  memcpy(&first, bytes, sizeof first);
  memcpy(&last, (const char *)bytes + size - sizeof last, sizeof last);
  return checksum * 31 + first + last + size;
}

static const uint64_t hash_start = 0xcbf29ce484222325;

/// Adds every byte (FNV-1a, Fowler, Noll and Vo).
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t size) {
  const uint8_t *next = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ next[i]) * 0x100000001b3;
  return hash;
}

#endif
