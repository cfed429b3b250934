// Limit loops that read: get, multi-get, get on several threads. A miss gets absent keys; zipfian gets skewed ones.

#include "bench_clock.h"
#include "store.h"

#include <stdlib.h>

enum { window = 32 };

typedef struct {
  uint64_t hits;
  uint64_t checksum;
} tally;

static inline __attribute__((always_inline)) tally
get(const limit_store *store, const uint8_t *keys, uint64_t count, size_t value_length, bool overlapping, uint8_t *out) {
  tally sum = {0, 0};
  const uint8_t *mapping = store->mapping;
  const table *t = &store->index;
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t *key = keys + i * key_length;
    uint64_t hash = hash_key(key), tag = entry_tag(hash);
    for (uint64_t slot = table_home(t, hash); t->entries[slot] != 0; slot = table_next(t, slot)) {
      uint64_t entry = t->entries[slot];
      if ((entry & ~address_mask) != tag || entry == deleted_entry) continue;
      const uint8_t *record = mapping + entry_offset(entry);
      if (memcmp(record + record_header_length, key, key_length) != 0) continue;
      memcpy(out, record + record_header_length + key_length, value_length);
      sum.hits += 1;
      sum.checksum += bench_stamp_of(out);
      break;
    }
    __asm__ volatile("" : : "r"(out) : "memory");
    if (!overlapping) bench_await_loads();
  }
  return sum;
}

static tally get_any(const limit_store *store, const uint8_t *keys, uint64_t count, bool overlapping) {
  uint8_t *out = malloc(store->value_length);
  if (!out) return (tally){0, 0};
  tally sum;
  if (store->value_length != 100) sum = get(store, keys, count, store->value_length, overlapping, out);
  else if (overlapping) sum = get(store, keys, count, 100, true, out);
  else sum = get(store, keys, count, 100, false, out);
  free(out);
  return sum;
}

limit_result limit_get(const limit_store *store, const uint8_t *keys, uint64_t count, bool overlapping) {
  uint64_t begin = bench_nanoseconds();
  tally sum = get_any(store, keys, count, overlapping);
  double seconds = (double)(bench_nanoseconds() - begin) * 1e-9;
  return (limit_result){count, sum.hits, sum.checksum, seconds, 0};
}

static inline void prefetch_record(const uint8_t *record, uint64_t length) {
  for (uint64_t at = 0; at < length; at += 64) __builtin_prefetch(record + at);
  __builtin_prefetch(record + length - 1);
}

/// The first entry with the tag at or after a slot, 0 if there is none; `slot` is left at it.
static inline uint64_t candidate(const table *t, uint64_t tag, uint64_t *slot) {
  for (;; *slot = table_next(t, *slot)) {
    uint64_t entry = t->entries[*slot];
    if (entry == 0) return 0;
    if ((entry & ~address_mask) == tag && entry != deleted_entry) return entry;
  }
}

static tally get_windows(const limit_store *store, const uint8_t *keys, uint64_t count, uint8_t *out) {
  tally sum = {0, 0};
  const table *t = &store->index;
  size_t value_length = store->value_length;
  uint64_t prefetched = limit_record_length(value_length);
  if (prefetched > 512) prefetched = 512;
  for (uint64_t start = 0; start < count; start += window) {
    uint64_t tags[window], slots[window], entries[window];
    uint64_t n = count - start < window ? count - start : window;
    const uint8_t *first = keys + start * key_length;
    for (uint64_t i = 0; i < n; i++) {
      uint64_t hash = hash_key(first + i * key_length);
      tags[i] = entry_tag(hash);
      slots[i] = table_home(t, hash);
      __builtin_prefetch(&t->entries[slots[i]]);
    }
    for (uint64_t i = 0; i < n; i++) {
      entries[i] = candidate(t, tags[i], &slots[i]);
      if (entries[i] != 0) prefetch_record(store->mapping + entry_offset(entries[i]), prefetched);
    }
    for (uint64_t i = 0; i < n; i++) {
      uint64_t entry = entries[i];
      while (entry != 0) {
        const uint8_t *record = store->mapping + entry_offset(entry);
        if (memcmp(record + record_header_length, first + i * key_length, key_length) == 0) {
          uint8_t *place = out + i * value_length;
          if (value_length == 100) memcpy(place, record + record_header_length + key_length, 100);
          else memcpy(place, record + record_header_length + key_length, value_length);
          sum.hits += 1;
          sum.checksum += bench_stamp_of(place);
          break;
        }
        slots[i] = table_next(t, slots[i]);
        entry = candidate(t, tags[i], &slots[i]);
      }
    }
    __asm__ volatile("" : : "r"(out) : "memory");
  }
  return sum;
}

limit_result limit_get_batched(const limit_store *store, const uint8_t *keys, uint64_t count) {
  uint8_t *out = malloc(store->value_length * window);
  if (!out) return (limit_result){.failure = ENOMEM};
  uint64_t begin = bench_nanoseconds();
  tally sum = get_windows(store, keys, count, out);
  double seconds = (double)(bench_nanoseconds() - begin) * 1e-9;
  free(out);
  return (limit_result){count, sum.hits, sum.checksum, seconds, 0};
}

typedef struct {
  const limit_store *store;
  const uint8_t *keys;
  uint64_t each;
  tally *sums;
} shared_work;

static void get_share(void *context, int thread) {
  shared_work *work = context;
  work->sums[thread] = get_any(work->store, work->keys + work->each * (uint64_t)thread * key_length, work->each, false);
}

limit_result limit_get_threaded(const limit_store *store, const uint8_t *keys, uint64_t count, int threads) {
  tally sums[64];
  if (threads < 1 || threads > 64) return (limit_result){.failure = EINVAL};
  shared_work work = {store, keys, count / (uint64_t)threads, sums};
  double seconds = bench_run_threads(threads, get_share, &work);
  if (seconds < 0) return (limit_result){.failure = EAGAIN};
  limit_result result = {work.each * (uint64_t)threads, 0, 0, seconds, 0};
  for (int i = 0; i < threads; i++) {
    result.hits += sums[i].hits;
    result.checksum += sums[i].checksum;
  }
  return result;
}
