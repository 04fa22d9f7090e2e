/// A wake of whoever sleeps on a word in a file, as a commit does it.
#ifndef PANDO_BENCHMARKS_WAKE_H
#define PANDO_BENCHMARKS_WAKE_H

/// Makes a file of a page and maps it for reading only; NULL with `errno` if that fails.
const void *wake_map(const char *path);

/// Wakes all who sleep on the first word.
void wake_others(const void *word);

/// Ends what `wake_map` began.
void wake_unmap(const void *word);

#endif
