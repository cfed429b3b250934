#ifndef ESKER_MEMORY_H
#define ESKER_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// Prefetches the cache line at `address` for reading. A hint: any address is allowed.
static inline void esker_prefetch(const void *_Nullable address) { __builtin_prefetch(address, 0, 3); }

/// Reads one byte of each page of `count` bytes, at least one, so that all of them are mapped, or replaced by zeros.
static inline void esker_touch(const void *_Nonnull start, size_t count) {
  const volatile uint8_t *bytes = (const volatile uint8_t *)start;
  for (size_t offset = 0; offset < count; offset += 4096) (void)bytes[offset];
  (void)bytes[count - 1];
}

// Bytes from the heap; null if there are none.
static inline void *_Nullable esker_allocate(size_t count) { return malloc(count); }
static inline void esker_deallocate(void *_Nonnull bytes) { free(bytes); }

// Below zero if the first bytes are less.
static inline int esker_compare(const void *_Nonnull left, const void *_Nonnull right, size_t count) {
  return memcmp(left, right, count);
}

#endif
