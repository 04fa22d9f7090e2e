#include "wake.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

const void *wake_map(const char *path) {
  int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return 0;
  void *word = MAP_FAILED;
  if (!ftruncate(descriptor, PAGE)) {
    word = mmap(0, PAGE, PROT_READ, MAP_SHARED, descriptor, 0);
  }
  close(descriptor);
  return word == MAP_FAILED ? 0 : word;
}

void wake_others(const void *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT_MAX, (void *)0, (void *)0, 0x0f0f0f0f);
}

void wake_unmap(const void *word) { munmap((void *)word, PAGE); }
