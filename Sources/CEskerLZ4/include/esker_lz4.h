#ifndef ESKER_LZ4_H
#define ESKER_LZ4_H

// What Esker asks of LZ4, whichever it is. None of LZ4's own types and headers are seen from here.
//
// A level of 0 is the fast one, others are those of LZ4's high compression. A state is memory of esker_lz4_state_size() bytes for its
// level, aligned to 8 or more.

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The largest compressed size of so many bytes, or 0 if they are too many for one block.
int esker_lz4_bound(int length);

// Returns the number of bytes in `target`, negative if the block is damaged or has more than `capacity` bytes.
int esker_lz4_decompress(
  const void *block, int blockLength, void *target, int capacity, const void *dictionary, int dictionaryLength);

size_t esker_lz4_state_size(int level);

// Makes memory a state, which refers to the dictionary's bytes.
void esker_lz4_load(void *state, int level, const void *dictionary, int length);

// Compresses with a loaded state, which is used up. Returns the block's length, or 0 if it is above `capacity`.
int esker_lz4_compress(void *state, int level, const void *source, int length, void *target, int capacity);

#ifdef __cplusplus
}
#endif

#endif
