#ifndef PANDO_FAULTS_H
#define PANDO_FAULTS_H

/// What the next system calls of this program do, until set to 0 again.
///
/// The program's own `fdatasync` and `pwrite` take the place of the C library's for liblmdb, too.
enum fault {
  FAULT_NONE = 0,
  /// `fdatasync` fails with EIO.
  FAULT_FLUSH = 1,
  /// A short `pwrite` into the first two pages fails with EIO.
  FAULT_META = 2,
  /// Writes of whole pages fail with ENOSPC.
  FAULT_PAGES = 3,
  /// Writes of whole pages write a half, and the disk has no space left.
  FAULT_SHORT = 4,
  /// No file can be mapped for reading: ENOMEM.
  FAULT_MAP = 5,
  /// No page alone can be mapped for reading, as the first one of a lock file is: then commits wake nobody.
  FAULT_SIGNAL = 6,
};

void faults_set(enum fault fault);

/// How many calls have failed by that.
int faults_count(void);

/// How often the names in a folder have been flushed.
int faults_flushed_folders(void);

/// The clock of the day runs that many seconds before or behind the system's; others go on as they do.
void faults_shift_clock(long seconds);

/// `fork`, which Swift does not offer; the child is killed when the calling thread ends.
int faults_fork(void);

#endif
