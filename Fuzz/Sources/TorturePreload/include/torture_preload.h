#ifndef TORTURE_PRELOAD_H
#define TORTURE_PRELOAD_H

#include <stdint.h>

/// What a preloaded process does to the files of one directory, call by call, in one file.
///
/// The library is put before the C library with LD_PRELOAD and told what to do by variables:
///
/// | variable | meaning |
/// | --- | --- |
/// | `TORTURE_DIRECTORY` | the files beneath it are watched; an absolute path |
/// | `TORTURE_LOG` | record: the file that gets the entries |
/// | `TORTURE_MARKS` | the descriptor whose writes are marks, entries of their own |
/// | `TORTURE_BOOT` | the file that is read in place of the system's identifier of the boot |
/// | `TORTURE_FAULT` | fail: `call:first:count:error`; see `torture_faults.c` |
/// | `TORTURE_REPORT` | fail: a file that gets one byte for each call that failed |

/// The kinds of entries.
enum torture_kind {
  /// A file came to be; the payload is its path.
  TORTURE_CREATE = 1,
  /// Bytes were written; the payload holds them.
  TORTURE_WRITE = 2,
  /// All that was written to the file is on the disk.
  TORTURE_SYNC = 3,
  /// The file has another size: `offset`.
  TORTURE_TRUNCATE = 4,
  /// What the process said of itself.
  TORTURE_MARK = 5,
  /// A directory came to be; the payload is its path.
  TORTURE_MAKE_DIRECTORY = 6,
  /// The names in a directory are on the disk; the payload is its path.
  TORTURE_SYNC_DIRECTORY = 7,
  /// A call that no replay knows; the payload names it.
  TORTURE_UNKNOWN = 8,
};

/// One entry, before its payload. Little endian, as the machine has it.
struct torture_entry {
  uint32_t magic;
  uint8_t kind;
  /// For a write: 1 if it was on the disk when the call returned.
  uint8_t synchronous;
  /// Which file, counted from 1 in the order of their first opening; 0 for none.
  uint16_t file;
  uint64_t offset;
  /// Bytes of payload.
  uint64_t length;
};

#define TORTURE_MAGIC 0x4f444e50u

#endif
