#include <malloc.h>
#include <sys/stat.h>
#include <time.h>

#include "checksum.h"
#include "kv_peer.h"
#include "process.h"

uint64_t process_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void process_trim(void) { malloc_trim(0); }

uint64_t process_heap(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

uint64_t process_file_size(const char *path) {
  struct stat status;
  return stat(path, &status) ? 0 : (uint64_t)status.st_blocks * 512;
}
