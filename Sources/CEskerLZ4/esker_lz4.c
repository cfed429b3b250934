// The only file that includes LZ4: the system's on Linux with glibc, elsewhere and with the trait BundledLZ4 the copy in this package. A
// header that Swift imports must not, or each of its jobs would report that liblz4 is missing, with dozens of lines.

#include <stdint.h>

// Tests compile the copy on all platforms, under names of their own.
#ifdef ESKER_LZ4
#define ESKER_LZ4_BUNDLED
#else
#include "esker_lz4.h"
#define ESKER_LZ4(name) esker_lz4_##name
#endif

// Any header of the C library says whether it is glibc. LZ4Library.swift has the linker take liblz4 by the same condition.
#if !defined(__GLIBC__) && !defined(ESKER_LZ4_BUNDLED)
#define ESKER_LZ4_BUNDLED
#endif

#if !defined(ESKER_LZ4_BUNDLED) && !__has_include(<lz4.h>)
#error liblz4 is missing: apt-get install liblz4-dev, or ask for the trait BundledLZ4
#else

#ifdef ESKER_LZ4_BUNDLED
#include "bundled_lz4.h"
#else
#include <lz4.h>
#include <lz4hc.h>
#endif

int ESKER_LZ4(bound)(int length) { return LZ4_compressBound(length); }

int ESKER_LZ4(decompress)(
  const void *block, int blockLength, void *target, int capacity, const void *dictionary, int dictionaryLength) {
  return LZ4_decompress_safe_usingDict(block, target, blockLength, capacity, dictionary, dictionaryLength);
}

size_t ESKER_LZ4(state_size)(int level) { return level == 0 ? sizeof(LZ4_stream_t) : sizeof(LZ4_streamHC_t); }

void ESKER_LZ4(load)(void *state, int level, const void *dictionary, int length) {
  if (level == 0) {
    LZ4_loadDict(LZ4_initStream(state, sizeof(LZ4_stream_t)), dictionary, length);
  } else {
    LZ4_streamHC_t *stream = LZ4_initStreamHC(state, sizeof(LZ4_streamHC_t));
    LZ4_resetStreamHC_fast(stream, level);
    LZ4_loadDictHC(stream, dictionary, length);
  }
}

int ESKER_LZ4(compress)(void *state, int level, const void *source, int length, void *target, int capacity) {
  return level == 0 ? LZ4_compress_fast_continue(state, source, target, length, capacity, 1)
                    : LZ4_compress_HC_continue(state, source, target, length, capacity);
}

#endif
