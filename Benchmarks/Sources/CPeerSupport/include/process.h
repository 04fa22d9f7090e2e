/// What the C library knows of this process.
#ifndef PANDO_BENCHMARKS_PROCESS_H
#define PANDO_BENCHMARKS_PROCESS_H

#include <stdint.h>

/// Processor time of all threads so far, in nanoseconds.
uint64_t process_time(void);

/// Gives free memory back to the system.
void process_trim(void);

/// The memory that is allocated now, in bytes.
uint64_t process_heap(void);

/// The room that a file takes on the disk, in bytes; 0 if there is no such file.
uint64_t process_file_size(const char *path);

#endif
