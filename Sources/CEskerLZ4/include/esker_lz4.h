#ifndef ESKER_LZ4_H
#define ESKER_LZ4_H

// The functions of LZ4 that Esker calls, from the copy in this package; lz4.h and lz4hc.h describe them.
//
// C and the linker know them under names that begin with esker_, since a program may contain another LZ4. Swift knows them
// under LZ4's own names, so that one Swift file compiles against this module and against the system's library.

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ESKER_SWIFT_NAME(name) __attribute__((swift_name(name)))

// States, of the size and the alignment that LZ4's have. They contain pointers, which Swift thus knows.
typedef union ESKER_SWIFT_NAME("LZ4_stream_t") {
  char bytes[16416];
  long long alignment;
  const void *dictionary;
} esker_lz4_stream;

typedef union ESKER_SWIFT_NAME("LZ4_streamHC_t") {
  char bytes[262200];
  long long alignment;
  const void *dictionary;
} esker_lz4_stream_hc;

int esker_lz4_compress_bound(int length) ESKER_SWIFT_NAME("LZ4_compressBound(_:)");

int esker_lz4_decompress_safe_using_dict(
  const char *block, char *target, int blockLength, int capacity, const char *dictionary, int dictionaryLength)
  ESKER_SWIFT_NAME("LZ4_decompress_safe_usingDict(_:_:_:_:_:_:)");

esker_lz4_stream *esker_lz4_init_stream(void *buffer, size_t size) ESKER_SWIFT_NAME("LZ4_initStream(_:_:)");

int esker_lz4_load_dict(esker_lz4_stream *stream, const char *dictionary, int length)
  ESKER_SWIFT_NAME("LZ4_loadDict(_:_:_:)");

int esker_lz4_compress_fast_continue(
  esker_lz4_stream *stream, const char *source, char *target, int length, int capacity, int acceleration)
  ESKER_SWIFT_NAME("LZ4_compress_fast_continue(_:_:_:_:_:_:)");

esker_lz4_stream_hc *esker_lz4_init_stream_hc(void *buffer, size_t size) ESKER_SWIFT_NAME("LZ4_initStreamHC(_:_:)");

void esker_lz4_reset_stream_hc_fast(esker_lz4_stream_hc *stream, int level)
  ESKER_SWIFT_NAME("LZ4_resetStreamHC_fast(_:_:)");

int esker_lz4_load_dict_hc(esker_lz4_stream_hc *stream, const char *dictionary, int length)
  ESKER_SWIFT_NAME("LZ4_loadDictHC(_:_:_:)");

int esker_lz4_compress_hc_continue(
  esker_lz4_stream_hc *stream, const char *source, char *target, int length, int capacity)
  ESKER_SWIFT_NAME("LZ4_compress_HC_continue(_:_:_:_:_:)");

#undef ESKER_SWIFT_NAME

#ifdef __cplusplus
}
#endif

#endif
