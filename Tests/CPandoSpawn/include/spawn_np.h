#ifndef PANDO_SPAWN_NP_H
#define PANDO_SPAWN_NP_H

// What the tests need of the system and Swift has no name for: some functions are shown by glibc's
// headers with _GNU_SOURCE only, and `vfork` is not for Swift.

#include <sys/types.h>

int memfd_create(const char *name, unsigned int flags);
int pipe2(int ends[2], int flags);
pid_t gettid(void);

/// Starts a program, which is killed when the calling thread ends.
///
/// No signal is blocked or ignored in it. `descriptors` become its descriptors 0, 1, …; it has no others.
/// Returns the process, or -1 with errno set.
pid_t pando_spawn(
    const char *path, char *const words[], char *const variables[], const char *directory,
    const int descriptors[], int count);

#endif
