// Runs before `main` of the program with all tests: plain `swift test` is bounded and watched and leaves
// nothing behind, and no test has to ask for it.

#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Starts the watchdog; in PandoFixtures.
void pando_watch_tests(int events);

/// Tests at once, if nobody says another number: each has up to ten files open, and many systems
/// allow a process 1 024, some 256.
static const char *const width_name = "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH";
static const char *const width = "12";

/// The descriptor from which the events of the tests can be read.
static const char *const events_name = "PANDO_TEST_EVENTS";

static int contains(int count, char **words, const char *word) {
  for (int index = 1; index < count; index++) {
    if (strncmp(words[index], word, strlen(word)) == 0) return 1;
  }
  return 0;
}

/// Makes a folder for all that the tests make, also those of their processes that end in the middle
/// of things; the watchdog's side removes it at the end.
static void make_folder(void) {
  char path[PATH_MAX];
  const char *parent = getenv("TMPDIR");
  unsetenv("PANDO_TEST_FOLDER");  // of a run that this one is a part of
  int size = snprintf(path, sizeof path, "%s/pando-tests-XXXXXX", parent ? parent : "/tmp");
  if (size >= (int)sizeof path || !mkdtemp(path)) return;
  // A test gives up its rights and must still reach what it may.
  chmod(path, 0711);
  setenv("TMPDIR", path, 1);
  setenv("PANDO_TEST_FOLDER", path, 1);
}

/// Starts this program again in the same process, with its events written to a pipe.
static void begin_again(int count, char **words) {
  int ends[2];
  char path[PATH_MAX], events[32], output[64];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  char **longer = calloc(count + 5, sizeof *longer);
  if (size < 0 || !longer || pipe(ends) != 0) return;
  make_folder();
  path[size] = 0;
  snprintf(events, sizeof events, "%d %d", ends[0], ends[1]);
  snprintf(output, sizeof output, "/proc/self/fd/%d", ends[1]);
  memcpy(longer, words, count * sizeof *longer);
  longer[count] = "--event-stream-output-path";
  longer[count + 1] = output;
  longer[count + 2] = "--event-stream-version";
  longer[count + 3] = "0";
  setenv(events_name, events, 1);
  execv(path, longer);
  // Without the events nothing is watched; the tests run all the same.
  unsetenv(events_name);
  close(ends[0]);
  close(ends[1]);
  free(longer);
}

/// Ends this process when its parent has ended.
///
/// Not PR_SET_PDEATHSIG: that is sent when the thread has ended that started the process, and the
/// parent's threads come and go.
static void *follow_parent(void *context) {
  struct pollfd parent = {(int)(long)context, POLLIN, 0};
  while (poll(&parent, 1, -1) <= 0) {}
  _exit(127);
}

static void die_with_parent(void) {
  long parent = syscall(SYS_pidfd_open, getppid(), 0);
  pthread_t thread;
  sigset_t all, before;
  if (parent < 0) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, follow_parent, (void *)parent) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/// Reads the descriptors that `begin_again` has left.
static int events_of(const char *text) {
  int ends[2];
  if (sscanf(text, "%d %d", &ends[0], &ends[1]) != 2) return -1;
  // The tests' own processes get neither.
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return ends[0];
}

__attribute__((constructor)) static void begin(int count, char **words) {
  const char *given = getenv(width_name);
  if (!given || !*given) setenv(width_name, width, 1);
  if (getenv("SWT_EXIT_TEST_ID")) {
    die_with_parent();
    return;
  }
  const char *events = getenv(events_name);
  if (events) {
    int end = events_of(events);
    unsetenv(events_name);
    if (end >= 0) pando_watch_tests(end);
    return;
  }
  // `swift test` runs the program for XCTest too, and `swift test list` runs no test.
  if (!contains(count, words, "swift-testing") || contains(count, words, "--list-tests")) return;
  // Who wants the events for himself gets them, and there is no watchdog.
  if (contains(count, words, "--event-stream-output-path")) return;
  begin_again(count, words);
}
