// Which call fails. `TORTURE_FAULT` is `call:first:count:error`:
//
//   call    open, write, sync, truncate, mmap or allocate
//   first   the number of the first call that fails, from 1
//   count   how many calls in a row fail, 0 for all that follow
//   error   ENOSPC, EIO, EINTR, EMFILE, ENOMEM; SHORT: half of it is written;
//           AFTER: it is done, and reported as EIO

#define _GNU_SOURCE
#include "torture_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_active, call_kind, error_number, report = -1;
static enum torture_fate fate;
static long first, limit, seen;

static const char *const call_names[] = {
  "open", "write", "sync", "truncate", "mmap", "allocate"};
static const struct { const char *name; int number; } errors[] = {
  {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},
};

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("TORTURE_FAULT");
  if (!text) return;
  char name[16] = "", error[16] = "";
  const char *colon = strchr(text, ':');
  if (!colon || (size_t)(colon - text) >= sizeof name) abort();
  memcpy(name, text, (size_t)(colon - text));
  char *end;
  first = strtol(colon + 1, &end, 10);
  limit = strtol(end + 1, &end, 10);
  strncpy(error, end + 1, sizeof error - 1);
  call_kind = -1;
  for (size_t i = 0; i < sizeof call_names / sizeof *call_names; i++)
    if (!strcmp(name, call_names[i])) call_kind = (int)i;
  if (call_kind < 0 || first < 1) abort();
  fate = FATE_FAIL;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (!strcmp(error, errors[i].name)) error_number = errors[i].number;
  if (!strcmp(error, "SHORT")) fate = FATE_SHORT;
  if (!strcmp(error, "AFTER")) { fate = FATE_CALL_AND_FAIL; error_number = EIO; }
  if (fate != FATE_SHORT && !error_number) abort();
  const char *path = getenv("TORTURE_REPORT");
  if (path) report = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  is_active = 1;
}

enum torture_fate torture_fate_of(enum torture_call call) {
  if (!is_active || (int)call != call_kind) return FATE_CALL;
  pthread_mutex_lock(&lock);
  long number = ++seen;
  pthread_mutex_unlock(&lock);
  if (number < first || (limit && number >= first + limit)) return FATE_CALL;
  if (report >= 0) syscall(SYS_write, report, "!", 1);
  errno = error_number;
  return fate;
}
