#ifndef PANDO_ALLOCATIONS_H
#define PANDO_ALLOCATIONS_H

/// How many blocks of memory the calling thread has asked for since it began.
///
/// The program's own `malloc` counts and hands on to the C library's. With a sanitizer, which has
/// a `malloc` of its own, nothing is counted.
unsigned long allocations_on_this_thread(void);

/// Whether allocations are counted.
int allocations_are_counted(void);

#endif
