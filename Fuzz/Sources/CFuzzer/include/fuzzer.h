#ifndef PANDO_FUZZER_H
#define PANDO_FUZZER_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry point for programs with a main function of their own; see the documentation of
// libFuzzer, "Using libFuzzer as a library".
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
