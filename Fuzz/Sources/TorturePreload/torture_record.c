// The calls of the C library that change files, each watched and passed on to the system.
//
// With TORTURE_LOG every change is written down, in the order in which the calls were made: one
// lock is held from before a call until its entry has been written, so the order is exact.

#define _GNU_SOURCE
#include "torture_internal.h"
#include "torture_preload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS 4096
#define FILES 256
#define PATH_SIZE 512

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_descriptor = -1, marks = -1;
static char directory[PATH_SIZE];
static size_t directory_length;
static char paths[FILES][PATH_SIZE];
static int file_count;
/// Which file a descriptor belongs to, counted from 1; 0 for files that are not watched.
static uint16_t file_of[DESCRIPTORS];
static uint8_t is_directory[DESCRIPTORS];
static uint8_t is_synchronous[DESCRIPTORS];

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("TORTURE_DIRECTORY");
  if (!text) return;
  strncpy(directory, text, sizeof directory - 1);
  directory_length = strlen(directory);
  if ((text = getenv("TORTURE_MARKS"))) marks = atoi(text);
  if (!(text = getenv("TORTURE_LOG"))) return;
  int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, text, flags, 0600);
  if (log_descriptor < 0) abort();
}

static int is_watched(const char *path) {
  return directory_length && !strncmp(path, directory, directory_length)
    && (path[directory_length] == '/' || !path[directory_length]);
}

static int watched(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? file_of[descriptor] : 0;
}

/// Writes an entry down; the lock is held.
static void note(
  int kind, int synchronous, int file, uint64_t offset, const struct iovec *parts, int count,
  size_t length
) {
  if (log_descriptor < 0) return;
  struct torture_entry entry = {
    TORTURE_MAGIC, (uint8_t)kind, (uint8_t)synchronous, (uint16_t)file, offset, length};
  syscall(SYS_write, log_descriptor, &entry, sizeof entry);
  for (int i = 0; i < count && length > 0; i++) {
    size_t size = parts[i].iov_len < length ? parts[i].iov_len : length;
    const char *bytes = parts[i].iov_base;
    length -= size;
    while (size > 0) {
      ssize_t done = syscall(SYS_write, log_descriptor, bytes, size);
      if (done <= 0) abort();
      bytes += done;
      size -= (size_t)done;
    }
  }
}

static void note_text(int kind, int file, const char *text) {
  struct iovec part = {(void *)text, strlen(text)};
  note(kind, 0, file, 0, &part, 1, part.iov_len);
}

static void note_unknown(const char *name) {
  pthread_mutex_lock(&lock);
  note_text(TORTURE_UNKNOWN, 0, name);
  pthread_mutex_unlock(&lock);
}

// MARK: Opening and closing

static int number_of(const char *path) {
  for (int i = 0; i < file_count; i++) if (!strcmp(paths[i], path)) return i + 1;
  if (file_count == FILES) abort();
  strncpy(paths[file_count], path, PATH_SIZE - 1);
  return ++file_count;
}

static int open_at(int base, const char *path, int flags, mode_t mode) {
  const char *boot = getenv("TORTURE_BOOT");
  if (boot && !strcmp(path, "/proc/sys/kernel/random/boot_id")) path = boot;
  if (!is_watched(path)) return (int)syscall(SYS_openat, base, path, flags, mode);
  enum torture_fate fate = torture_fate_of(CALL_OPEN);
  if (fate != FATE_CALL) return -1;
  pthread_mutex_lock(&lock);
  int existed = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
  int descriptor = (int)syscall(SYS_openat, base, path, flags, mode);
  int error = errno;
  struct stat status;
  if (descriptor >= 0 && descriptor < DESCRIPTORS && fstat(descriptor, &status) == 0) {
    int number = number_of(path);
    file_of[descriptor] = (uint16_t)number;
    is_directory[descriptor] = S_ISDIR(status.st_mode);
    is_synchronous[descriptor] = (flags & (O_DSYNC | O_SYNC)) != 0;
    if (!existed) note_text(TORTURE_CREATE, number, path);
    else if (flags & O_TRUNC) note(TORTURE_TRUNCATE, 0, number, 0, 0, 0, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return descriptor;
}

#define MODE_ARGUMENT(flags, mode) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int base, const char *path, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return open_at(base, path, flags, mode);
}

int openat64(int base, const char *path, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return open_at(base, path, flags, mode);
}

int creat(const char *path, mode_t mode) {
  return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int descriptor) {
  if (watched(descriptor)) file_of[descriptor] = 0;
  return (int)syscall(SYS_close, descriptor);
}

int mkdir(const char *path, mode_t mode) {
  if (!is_watched(path)) return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (torture_fate_of(CALL_OPEN) != FATE_CALL) return -1;
  pthread_mutex_lock(&lock);
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  int error = errno;
  if (result == 0) note_text(TORTURE_MAKE_DIRECTORY, 0, path);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int rename(const char *from, const char *to) {
  if (is_watched(from) || is_watched(to)) note_unknown("rename");
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path) {
  if (is_watched(path)) note_unknown("unlink");
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

// MARK: Writing

/// Writes at an offset, or at the position of the descriptor if it is negative.
static ssize_t write_parts(int descriptor, const struct iovec *parts, int count, off_t offset) {
  int file = watched(descriptor);
  int is_noted = file || (marks >= 0 && descriptor == marks);
  enum torture_fate fate = file ? torture_fate_of(CALL_WRITE) : FATE_CALL;
  if (fate == FATE_FAIL) return -1;
  struct iovec half;
  if (fate == FATE_SHORT) {
    half = parts[0];
    if (count == 1) half.iov_len /= 2;
    parts = &half;
    count = 1;
  }
  int error = errno;
  if (is_noted) pthread_mutex_lock(&lock);
  off_t at = offset;
  if (!file) at = 0;
  else if (offset < 0) at = (off_t)syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  ssize_t done = offset < 0
    ? (count == 1 ? syscall(SYS_write, descriptor, parts[0].iov_base, parts[0].iov_len)
                  : syscall(SYS_writev, descriptor, parts, count))
    : (count == 1
         ? syscall(SYS_pwrite64, descriptor, parts[0].iov_base, parts[0].iov_len, offset)
         : syscall(SYS_pwritev, descriptor, parts, count, offset, 0L));
  if (fate != FATE_CALL_AND_FAIL) error = errno;
  if (done > 0 && is_noted) {
    int kind = file ? TORTURE_WRITE : TORTURE_MARK;
    int synchronous = file && is_synchronous[descriptor];
    note(kind, synchronous, file, (uint64_t)at, parts, count, (size_t)done);
  }
  if (is_noted) pthread_mutex_unlock(&lock);
  errno = error;
  return fate == FATE_CALL_AND_FAIL ? -1 : done;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  struct iovec part = {(void *)bytes, length};
  return write_parts(descriptor, &part, 1, -1);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  return write_parts(descriptor, parts, count, -1);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  struct iovec part = {(void *)bytes, length};
  return write_parts(descriptor, &part, 1, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t offset) {
  return pwrite(descriptor, bytes, length, offset);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  return write_parts(descriptor, parts, count, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off_t offset) {
  return write_parts(descriptor, parts, count, offset);
}

// MARK: Flushing

static int flush(int descriptor, long call) {
  int file = watched(descriptor);
  enum torture_fate fate = file ? torture_fate_of(CALL_SYNC) : FATE_CALL;
  if (fate == FATE_FAIL || fate == FATE_SHORT) return -1;
  pthread_mutex_lock(&lock);
  int result = (int)syscall(call, descriptor);
  int error = errno;
  if (result == 0 && file) {
    if (is_directory[descriptor]) note_text(TORTURE_SYNC_DIRECTORY, 0, paths[file - 1]);
    else note(TORTURE_SYNC, 0, file, 0, 0, 0, 0);
  }
  pthread_mutex_unlock(&lock);
  if (fate == FATE_CALL_AND_FAIL) {
    errno = EIO;
    return -1;
  }
  errno = error;
  return result;
}

int fsync(int descriptor) { return flush(descriptor, SYS_fsync); }

int fdatasync(int descriptor) { return flush(descriptor, SYS_fdatasync); }

int msync(void *address, size_t length, int flags) {
  // Only the lock file is mapped for writing, and nobody relies on what it says after a power cut.
  return (int)syscall(SYS_msync, address, length, flags);
}

// MARK: Sizes and maps

static int truncate_file(int descriptor, off_t size) {
  int file = watched(descriptor);
  enum torture_fate fate = file ? torture_fate_of(CALL_TRUNCATE) : FATE_CALL;
  if (fate == FATE_FAIL || fate == FATE_SHORT) return -1;
  pthread_mutex_lock(&lock);
  int result = (int)syscall(SYS_ftruncate, descriptor, size);
  int error = errno;
  if (result == 0 && file) note(TORTURE_TRUNCATE, 0, file, (uint64_t)size, 0, 0, 0);
  pthread_mutex_unlock(&lock);
  if (fate == FATE_CALL_AND_FAIL) {
    errno = EIO;
    return -1;
  }
  errno = error;
  return result;
}

int ftruncate(int descriptor, off_t size) { return truncate_file(descriptor, size); }

int ftruncate64(int descriptor, off_t size) { return truncate_file(descriptor, size); }

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  if (watched(descriptor)) {
    if (torture_fate_of(CALL_ALLOCATE) != FATE_CALL) return -1;
    // Room alone changes nothing that could be read.
    if (mode != FALLOC_FL_KEEP_SIZE) note_unknown("fallocate");
  }
  return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
  return fallocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  int is_file = watched(descriptor) != 0;
  // How the engine asks whether a map has room in the address space.
  int is_reservation = (flags & MAP_NORESERVE) && protection == PROT_NONE;
  if ((is_file || is_reservation) && torture_fate_of(CALL_MMAP) != FATE_CALL) return MAP_FAILED;
  if (is_file && (protection & PROT_WRITE) && (flags & MAP_SHARED)
      && strstr(paths[file_of[descriptor] - 1], "data.mdb"))
    note_unknown("mmap for writing");
  return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  return mmap(address, length, protection, flags, descriptor, offset);
}
