#ifndef PANDO_SPAWN_NP_H
#define PANDO_SPAWN_NP_H

// Functions of glibc that its headers show with _GNU_SOURCE only, and Swift is built without.

#include <spawn.h>

int memfd_create(const char *name, unsigned int flags);
int pipe2(int ends[2], int flags);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int lowest);

#endif
