#ifndef CPANDO_LMDB_SHIM_H
#define CPANDO_LMDB_SHIM_H
#include <linux/falloc.h>
#include <lmdb.h>
#include <sys/types.h>

/* Declared by fcntl.h with _GNU_SOURCE only, which a module's header can't ask for. */
extern int fallocate(int descriptor, int mode, off_t offset, off_t byteCount);
#endif
