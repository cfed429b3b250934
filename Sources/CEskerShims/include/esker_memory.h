#ifndef ESKER_MEMORY_H
#define ESKER_MEMORY_H

/// Prefetches the cache line at `address` for reading. A hint: any address is allowed.
static inline void esker_prefetch(const void *_Nullable address) { __builtin_prefetch(address, 0, 3); }

#endif
