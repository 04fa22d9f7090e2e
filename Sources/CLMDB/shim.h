#ifndef PANDO_CLMDB_SHIM_H
#define PANDO_CLMDB_SHIM_H
#include <lmdb.h>
#endif
