#ifndef C_BUNDLED_LZ4_H
#define C_BUNDLED_LZ4_H

// The functions of esker_lz4.h, over the package's LZ4 on every platform. Swift knows them under the same names, so that one Swift file
// compiles against either; C and the linker under others, since the tests contain both.

#include <stddef.h>

int esker_bundled_lz4_bound(int length) __attribute__((swift_name("esker_lz4_bound(_:)")));

int esker_bundled_lz4_decompress(
  const void *block, int blockLength, void *target, int capacity, const void *dictionary, int dictionaryLength)
  __attribute__((swift_name("esker_lz4_decompress(_:_:_:_:_:_:)")));

size_t esker_bundled_lz4_state_size(int level) __attribute__((swift_name("esker_lz4_state_size(_:)")));

void esker_bundled_lz4_load(void *state, int level, const void *dictionary, int length)
  __attribute__((swift_name("esker_lz4_load(_:_:_:_:)")));

int esker_bundled_lz4_compress(void *state, int level, const void *source, int length, void *target, int capacity)
  __attribute__((swift_name("esker_lz4_compress(_:_:_:_:_:_:)")));

#endif
