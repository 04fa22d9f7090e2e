/// Finds functions of a library that may not be there.
///
/// A peer lists the functions it uses in a macro, `LIST(F)` with `F(name)` for each, and calls them
/// through a table of the same names. The header is needed to build the peer, the library only to
/// run it; without either the system is absent.
#ifndef PANDO_BENCHMARKS_LIBRARY_H
#define PANDO_BENCHMARKS_LIBRARY_H

#include <dlfcn.h>
#include <stddef.h>

/// A member of the table.
#define LIBRARY_MEMBER(name) __typeof__(&name) name;

/// Fills a member; leaves the function around it if the library lacks the name.
#define LIBRARY_FIND(name)                            \
  *(void **)&library_table->name = dlsym(library, #name); \
  if (!library_table->name) return 0;

/// Defines `static int FUNCTION(TABLE *)`, which fills a table and tells whether all is there.
#define LIBRARY_LOADER(function, table_type, list, ...)                               \
  static int function(table_type *library_table) {                                  \
    static const char *const names[] = {__VA_ARGS__};                               \
    void *library = NULL;                                                           \
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {         \
      library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);                            \
    }                                                                               \
    if (!library) return 0;                                                         \
    list(LIBRARY_FIND) return 1;                                                    \
  }

#endif
