#ifndef CPANDO_LMDB_SHIM_H
#define CPANDO_LMDB_SHIM_H
#include <errno.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <lmdb.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

/* Declared by fcntl.h with _GNU_SOURCE only, which a module's header can't ask for. */
extern int fallocate(int descriptor, int mode, off_t offset, off_t byteCount);

/* Declared by unistd.h; the first is a function of so many arguments as one likes, which Swift can't call. */
extern long syscall(long number, ...);
extern pid_t getpid(void);

/* Gives a file a name that no file has; fails with EEXIST where one has it. The numbers are AT_FDCWD and
   RENAME_NOREPLACE, whose headers would take declarations away from the C library's module. */
static inline int pando_rename_new(const char *path, const char *new_path)
{
  return (int)syscall(SYS_renameat2, -100, path, -100, new_path, 1u);
}

/* Sleeps while a word that processes share is as expected, until a wake whose mask has a bit in common, at
   most so many nanoseconds. Has a look at the word every tick: somebody may change it and wake nobody. Returns 0
   or an error number; any of them says: look again. */
static inline int pando_futex_wait(
  const void *word, uint32_t expected, uint32_t mask, int64_t nanoseconds, int64_t tick)
{
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  for (;;) {
    int64_t step = nanoseconds < tick ? nanoseconds : tick;
    end.tv_sec += step / 1000000000;
    end.tv_nsec += step % 1000000000;
    if (end.tv_nsec >= 1000000000) {
      end.tv_sec += 1;
      end.tv_nsec -= 1000000000;
    }
    if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, &end, (void *)0, mask) == 0) return 0;
    nanoseconds -= step;
    if (errno != ETIMEDOUT || nanoseconds <= 0) return errno;
  }
}

/* The number of the next page by which a write transaction would make the file longer; 0 where the transaction is not
   laid out as in liblmdb 0.9, which its neighbours tell. */
static inline uint64_t pando_next_page(MDB_txn *transaction)
{
  struct { void *parent, *child; size_t next_page, id; void *environment; } head;
  memcpy(&head, transaction, sizeof head);
  int is_known = head.id == mdb_txn_id(transaction) && head.environment == (void *)mdb_txn_env(transaction);
  return is_known ? head.next_page : 0;
}

/* Makes a file without a name, in memory, which ends with its last descriptor and map. Returns -1 with an error number in
   errno. The flags are MFD_CLOEXEC and MFD_NOEXEC_SEAL. A kernel before 6.3 refuses the second; a later one may require it. */
static inline int pando_memory_file(const char *name)
{
  int descriptor = (int)syscall(SYS_memfd_create, name, 1u | 8u);
  if (descriptor < 0 && errno == EINVAL) descriptor = (int)syscall(SYS_memfd_create, name, 1u);
  return descriptor;
}

/* The first fields of an environment of liblmdb 0.9. */
struct pando_environment_head {
  int data, locks, meta;
  uint32_t flags;
  unsigned page_size, system_page_size, reader_count;
  int close_readers;
  unsigned table_count, table_count_max;
  pid_t process;
  char *path, *map;
  void *readers;
};

/* Gives an open environment a table of readers and a file for its locks, in place of a lock file, or takes both away (NULL
   and -1). Returns 0. Returns EINVAL and changes nothing if the environment has another layout, which the other fields
   show, or has both already. */
static inline int pando_set_readers(MDB_env *environment, void *readers, int locks)
{
  struct pando_environment_head head;
  memcpy(&head, environment, sizeof head);
  int data = -1;
  unsigned flags = 0, reader_count = 0;
  const char *path = 0;
  if (mdb_env_get_fd(environment, &data) || mdb_env_get_flags(environment, &flags)
      || mdb_env_get_maxreaders(environment, &reader_count) || mdb_env_get_path(environment, &path)) return EINVAL;
  int is_known = head.data == data && (head.flags & flags) == flags && head.reader_count == reader_count
    && path && head.path == path && head.process == getpid() && (head.readers == 0) == (head.locks == -1);
  if (!is_known || (head.readers == 0) == (readers == 0)) return EINVAL;
  char *start = (char *)environment;
  memcpy(start + __builtin_offsetof(struct pando_environment_head, readers), &readers, sizeof readers);
  memcpy(start + __builtin_offsetof(struct pando_environment_head, locks), &locks, sizeof locks);
  return 0;
}

/* Reads and writes a word that processes share, in one order for all of them. */
static inline uint32_t pando_load(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
static inline void pando_store(uint32_t *word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

/* Tells the processor that the thread only waits for another one. */
static inline void pando_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

/* Wakes all who sleep on a word with a bit in common. Returns how many, or -1. */
static inline int pando_futex_wake(const void *word, uint32_t mask)
{
  return (int)syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT_MAX, (void *)0, (void *)0, mask);
}
#endif
