#define _GNU_SOURCE
#include "spawn_np.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// What the child needs; it shares the memory of its parent until it is another program.
struct plan {
  const char *path;
  char *const *words;
  char *const *variables;
  const char *directory;
  const int *descriptors;
  int count;
  int report;
  pid_t parent;
};

static int prepare(const struct plan *plan) {
  // The parent may have ended before this call; then the signal would never come.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return -1;
  if (getppid() != plan->parent) _exit(127);
  for (int number = 0; number < plan->count; number++) {
    if (dup2(plan->descriptors[number], number) < 0) return -1;
  }
  if (dup3(plan->report, plan->count, O_CLOEXEC) < 0) return -1;
  if (syscall(SYS_close_range, plan->count + 1, ~0U, 0) != 0) return -1;
  if (plan->directory && chdir(plan->directory) != 0) return -1;
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  return sigprocmask(SIG_SETMASK, &none, NULL);
}

static void become(const struct plan *plan) {
  int report = plan->report;
  if (prepare(plan) == 0) {
    report = plan->count;
    execve(plan->path, plan->words, plan->variables);
  }
  int code = errno;
  ssize_t ignored = write(report, &code, sizeof code);
  (void)ignored;
  _exit(127);
}

pid_t pando_spawn(
    const char *path, char *const words[], char *const variables[], const char *directory,
    const int descriptors[], int count) {
  // Says why the program was not started; closed by the start of the program otherwise.
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -1;
  struct plan plan = {path, words, variables, directory, descriptors, count, report[1], getpid()};

  // No signal handler of the parent may run in the child, which shares its memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = vfork();
  if (child == 0) become(&plan);
  int code = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);

  close(report[1]);
  if (child > 0 && read(report[0], &code, sizeof code) == sizeof code) {
    while (waitpid(child, NULL, 0) == -1 && errno == EINTR) {}
    child = -1;
  }
  close(report[0]);
  errno = code;
  return child;
}
