/* Loaded before others (LD_PRELOAD), it lets a process see a clock of the wall that is an hour ahead. What waits until a time by
   that clock, as libnats does, waits an hour longer: as if the clock had been set back while it waits. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
  int status = (int)syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && clock == CLOCK_REALTIME) time->tv_sec += 3600;
  return status;
}
