#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static _Atomic int current = FAULT_NONE;

void faults_set(enum fault fault) { atomic_store(&current, fault); }

int faults_fork(void) {
  pid_t parent = getpid();
  pid_t child = fork();
  // Nothing stays when the parent is killed.
  if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)) _exit(127);
  return child;
}

static _Atomic int failures = 0;

int faults_count(void) { return atomic_load(&failures); }

static int fails(int fault, int error) {
  if (atomic_load(&current) != fault) return 0;
  failures++;
  errno = error;
  return 1;
}

static _Atomic int flushed_folders = 0;

int faults_flushed_folders(void) { return atomic_load(&flushed_folders); }

int fsync(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) flushed_folders++;
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  if (fails(FAULT_FLUSH, EIO)) return -1;
  return (int)syscall(SYS_fdatasync, descriptor);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (count < 512 && offset < 8192 && fails(FAULT_META, EIO)) return -1;
  if (count >= 512 && fails(FAULT_PAGES, ENOSPC)) return -1;
  if (count >= 512 && atomic_load(&current) == FAULT_SHORT) count /= 2;
  return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  if (fails(FAULT_PAGES, ENOSPC)) return -1;
  if (atomic_load(&current) == FAULT_SHORT) count -= 1;
  return syscall(SYS_writev, descriptor, parts, count);
}

static void *map(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  int is_data = flags & MAP_SHARED && descriptor >= 0 && !(protection & PROT_WRITE);
  if (is_data && fails(FAULT_MAP, ENOMEM)) return MAP_FAILED;
  if (is_data && size <= 4096 && fails(FAULT_SIGNAL, ENOMEM)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return map(address, size, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return map(address, size, protection, flags, descriptor, offset);
}

int fstatvfs(int descriptor, struct statvfs *status) {
  memset(status, 0, sizeof *status);
  status->f_bsize = status->f_frsize = 4096;
  switch (atomic_load(&current)) {
    case FAULT_NONE: {
      struct statfs real;
      if (syscall(SYS_fstatfs, descriptor, &real) != 0) return -1;
      status->f_bsize = status->f_frsize = real.f_bsize;
      status->f_bavail = real.f_bavail;
      return 0;
    }
    case FAULT_SHORT: return 0;
    default:
      status->f_bavail = 1 << 20;
      return 0;
  }
}

static _Atomic long clock_shift = 0;

void faults_shift_clock(long seconds) { atomic_store(&clock_shift, seconds); }

int clock_gettime(clockid_t clock, struct timespec *time) {
  int status = (int)syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && clock == CLOCK_REALTIME) time->tv_sec += atomic_load(&clock_shift);
  return status;
}
