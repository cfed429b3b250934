#include "esker_lz4.h"

// LZ4 is included rather than compiled, so that its functions are local to this file: those of another copy in the same
// program, of another version perhaps, do not clash with them. Those that it declares without a macro are renamed.
#define LZ4LIB_VISIBILITY static
#define LZ4_PUBLISH_STATIC_FUNCTIONS
#define LZ4_DISABLE_DEPRECATE_WARNINGS
#define LZ4_compress_destSize_extState esker_lz4_compress_dest_size_ext_state
#define LZ4_compress_forceExtDict esker_lz4_compress_force_ext_dict
#define LZ4_decompress_safe_forceExtDict esker_lz4_decompress_safe_force_ext_dict
#define LZ4_decompress_safe_partial_forceExtDict esker_lz4_decompress_safe_partial_force_ext_dict
#define LZ4_loadDict_internal esker_lz4_load_dict_internal
#define LZ4HC_searchExtDict esker_lz4_search_ext_dict
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#include "lz4/lz4.c"
#include "lz4/lz4hc.c"
#pragma clang diagnostic pop

_Static_assert(sizeof(esker_lz4_stream) == sizeof(LZ4_stream_t), "the state of the fast level");
_Static_assert(sizeof(esker_lz4_stream_hc) == sizeof(LZ4_streamHC_t), "the state of the high levels");
_Static_assert(_Alignof(esker_lz4_stream) >= _Alignof(LZ4_stream_t), "the state of the fast level");
_Static_assert(_Alignof(esker_lz4_stream_hc) >= _Alignof(LZ4_streamHC_t), "the state of the high levels");

int esker_lz4_compress_bound(int length) { return LZ4_compressBound(length); }

int esker_lz4_decompress_safe_using_dict(
  const char *block, char *target, int blockLength, int capacity, const char *dictionary, int dictionaryLength) {
  return LZ4_decompress_safe_usingDict(block, target, blockLength, capacity, dictionary, dictionaryLength);
}

esker_lz4_stream *esker_lz4_init_stream(void *buffer, size_t size) {
  return (esker_lz4_stream *)LZ4_initStream(buffer, size);
}

int esker_lz4_load_dict(esker_lz4_stream *stream, const char *dictionary, int length) {
  return LZ4_loadDict((LZ4_stream_t *)stream, dictionary, length);
}

int esker_lz4_compress_fast_continue(
  esker_lz4_stream *stream, const char *source, char *target, int length, int capacity, int acceleration) {
  return LZ4_compress_fast_continue((LZ4_stream_t *)stream, source, target, length, capacity, acceleration);
}

esker_lz4_stream_hc *esker_lz4_init_stream_hc(void *buffer, size_t size) {
  return (esker_lz4_stream_hc *)LZ4_initStreamHC(buffer, size);
}

void esker_lz4_reset_stream_hc_fast(esker_lz4_stream_hc *stream, int level) {
  LZ4_resetStreamHC_fast((LZ4_streamHC_t *)stream, level);
}

int esker_lz4_load_dict_hc(esker_lz4_stream_hc *stream, const char *dictionary, int length) {
  return LZ4_loadDictHC((LZ4_streamHC_t *)stream, dictionary, length);
}

int esker_lz4_compress_hc_continue(
  esker_lz4_stream_hc *stream, const char *source, char *target, int length, int capacity) {
  return LZ4_compress_HC_continue((LZ4_streamHC_t *)stream, source, target, length, capacity);
}
