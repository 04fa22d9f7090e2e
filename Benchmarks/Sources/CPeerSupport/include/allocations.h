/// Counts allocations: stands before `malloc` and its kin in this process, for all systems alike. Without
/// counting that costs each of them a look at a flag.
#ifndef PANDO_BENCHMARKS_ALLOCATIONS_H
#define PANDO_BENCHMARKS_ALLOCATIONS_H

#include <stdint.h>

/// Begins to count, for all threads together.
void allocations_begin(void);

/// Counts no more; returns how many there were since `allocations_begin`.
uint64_t allocations_end(void);

#endif
