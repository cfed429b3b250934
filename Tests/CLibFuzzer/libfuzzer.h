// What libFuzzer offers to a program that has a function `main` of its own. No header of the toolchain declares it.
#ifndef ESKER_LIBFUZZER_H
#define ESKER_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

// Reads options of libFuzzer, and calls the function for one input after the other.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *data, size_t size));

// Changes an input in one of libFuzzer's own ways, and returns its new size.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maximum);

#endif
