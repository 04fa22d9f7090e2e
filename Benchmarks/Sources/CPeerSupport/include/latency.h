/// How long operations take, counted the same way in C and in Swift.
///
/// A histogram of nanoseconds with 64 buckets for each power of two, so that every figure is exact
/// to 1.6 % (the layout is that of HdrHistogram by Gil Tene). Reading the clock costs 20 to 30 ns,
/// so short operations are timed one in `stride`; the greatest latency is that of the timed ones.
#ifndef PANDO_BENCHMARKS_LATENCY_H
#define PANDO_BENCHMARKS_LATENCY_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { LATENCY_BITS = 6, LATENCY_BUCKETS = (64 - LATENCY_BITS + 1) << LATENCY_BITS };

typedef struct {
  /// One operation in so many is timed; never 0.
  uint32_t stride;
  /// Operations until the next timed one.
  uint32_t until;
  /// Timed operations.
  uint64_t count;
  /// Nanoseconds of the slowest timed one.
  uint64_t max;
  /// As many counts as there are buckets.
  uint64_t *buckets;
} latencies;

/// The monotonic clock in nanoseconds; never 0.
static inline uint64_t latency_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/// The bucket of a number of nanoseconds; numbers below 64 have one each.
static inline size_t latency_bucket(uint64_t nanoseconds) {
  if (nanoseconds < 1u << LATENCY_BITS) return nanoseconds;
  unsigned shift = 63 - (unsigned)__builtin_clzll(nanoseconds) - LATENCY_BITS;
  return ((size_t)(shift + 1) << LATENCY_BITS)
      + (size_t)((nanoseconds >> shift) - (1u << LATENCY_BITS));
}

/// The greatest number of nanoseconds in a bucket.
static inline uint64_t latency_bucket_end(size_t bucket) {
  if (bucket < 1u << LATENCY_BITS) return bucket;
  unsigned shift = (unsigned)(bucket >> LATENCY_BITS) - 1;
  uint64_t first = ((bucket & ((1u << LATENCY_BITS) - 1)) + (1u << LATENCY_BITS)) << shift;
  return first + (((uint64_t)1 << shift) - 1);
}

static inline void latency_record(latencies *latencies, uint64_t nanoseconds) {
  latencies->buckets[latency_bucket(nanoseconds)]++;
  latencies->count++;
  if (nanoseconds > latencies->max) latencies->max = nanoseconds;
}

/// Begins an operation; 0 if this one is not timed. NULL times nothing.
static inline uint64_t latency_begin(latencies *latencies) {
  if (!latencies || --latencies->until) return 0;
  latencies->until = latencies->stride;
  return latency_now();
}

/// Ends what `latency_begin` began.
static inline void latency_end(latencies *latencies, uint64_t start) {
  if (start) latency_record(latencies, latency_now() - start);
}

#endif
