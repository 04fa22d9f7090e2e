#ifndef TORTURE_INTERNAL_H
#define TORTURE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The kinds of calls that can be made to fail.
enum torture_call {
  CALL_OPEN,
  CALL_WRITE,
  CALL_SYNC,
  CALL_TRUNCATE,
  CALL_MMAP,
  CALL_ALLOCATE,
};

/// What becomes of a call.
enum torture_fate {
  /// It is made.
  FATE_CALL,
  /// It fails with `errno` and does nothing.
  FATE_FAIL,
  /// It is made, and reported to have failed with `errno`.
  FATE_CALL_AND_FAIL,
  /// A write writes only its first half.
  FATE_SHORT,
};

/// Counts a call and decides what becomes of it; sets `errno` where it fails.
enum torture_fate torture_fate_of(enum torture_call call);

#endif
