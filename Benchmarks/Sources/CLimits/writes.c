// Limit loops that append: fill, overwrite, overwrites among gets, delete.

#include "bench_clock.h"
#include "store.h"

#include <stdlib.h>

/// `value_length` is a constant in the caller, so that the copy compiles to straight-line code for the length that matters.
static inline __attribute__((always_inline)) uint64_t
append(limit_store *store, const uint8_t *key, uint64_t hash, uint64_t stamp, size_t value_length) {
  uint64_t length = round_up_8(record_header_length + key_length + value_length), offset;
  uint8_t *room = store_reserve(store, length, &offset);
  if (!room) return UINT64_MAX;
  bench_stamp(store->value, stamp);
  record_begin(store, room, key, hash, value_length);
  memcpy(room + record_header_length + key_length, store->value, value_length);
  memset(room + record_header_length + key_length + value_length, 0, length - record_header_length - key_length - value_length);
  return offset;
}

static inline __attribute__((always_inline)) void
fill(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first, size_t value_length) {
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t *key = keys + i * key_length;
    uint64_t hash = hash_key(key), offset = append(store, key, hash, first + i, value_length);
    if (offset == UINT64_MAX) return;
    table_insert(&store->index, hash, offset);
    bench_await_loads();
  }
}

static inline __attribute__((always_inline)) uint64_t
overwrite(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first, size_t value_length) {
  uint64_t hits = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t *key = keys + i * key_length;
    uint64_t hash = hash_key(key);
    int64_t slot = store_find(store, key, hash);
    if (slot < 0) continue;
    uint64_t offset = append(store, key, hash, first + i, value_length);
    if (offset == UINT64_MAX) return hits;
    store->index.entries[slot] = entry_make(hash, offset);
    hits += 1;
    bench_await_loads();
  }
  return hits;
}

/// Gets copy unwritten data from the buffer. A put of an absent key inserts it.
static inline __attribute__((always_inline)) limit_result
mix(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first, limit_mixture mixture, size_t value_length, uint8_t *out) {
  limit_result sum = {.operations = count};
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t *key = keys + i * key_length;
    uint64_t hash = hash_key(key);
    int64_t slot = store_find(store, key, hash);
    bool is_get = bench_is_get(i, mixture.read_percent);
    if (slot >= 0 && (is_get || mixture.modifies)) {
      const uint8_t *record = store_bytes(store, entry_offset(store->index.entries[slot]));
      memcpy(out, record + record_header_length + key_length, value_length);
      sum.hits += 1;
      sum.checksum += bench_stamp_of(out);
      __asm__ volatile("" : : "r"(out) : "memory");
      bench_await_loads();
    }
    if (!is_get) {
      uint64_t offset = append(store, key, hash, first + i, value_length);
      if (offset == UINT64_MAX) break;
      if (slot >= 0) store->index.entries[slot] = entry_make(hash, offset);
      else table_insert(&store->index, hash, offset);
    }
  }
  return sum;
}

static limit_result finish(limit_store *store, uint64_t count, uint64_t hits, uint64_t begin) {
  store_flush(store);
  double seconds = (double)(bench_nanoseconds() - begin) * 1e-9;
  return (limit_result){count, hits, store->written ^ store->sequence, seconds, store->failure};
}

limit_result limit_fill(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first) {
  uint64_t begin = bench_nanoseconds();
  if (store->value_length == 100) fill(store, keys, count, first, 100);
  else fill(store, keys, count, first, store->value_length);
  return finish(store, count, count, begin);
}

limit_result limit_overwrite(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first) {
  uint64_t begin = bench_nanoseconds(), hits;
  if (store->value_length == 100) hits = overwrite(store, keys, count, first, 100);
  else hits = overwrite(store, keys, count, first, store->value_length);
  return finish(store, count, hits, begin);
}

limit_result limit_mix(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first, limit_mixture mixture) {
  uint8_t *out = malloc(store->value_length);
  if (!out) return (limit_result){.failure = ENOMEM};
  uint64_t begin = bench_nanoseconds();
  limit_result sum = store->value_length == 1000 ? mix(store, keys, count, first, mixture, 1000, out)
                                                 : mix(store, keys, count, first, mixture, store->value_length, out);
  store_flush(store);
  sum.seconds = (double)(bench_nanoseconds() - begin) * 1e-9;
  sum.failure = store->failure;
  free(out);
  return sum;
}

limit_result limit_delete(limit_store *store, const uint8_t *keys, uint64_t count) {
  uint64_t begin = bench_nanoseconds(), hits = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t *key = keys + i * key_length;
    uint64_t hash = hash_key(key), offset;
    int64_t slot = store_find(store, key, hash);
    if (slot < 0) continue;
    uint8_t *room = store_reserve(store, record_header_length + key_length, &offset);
    if (!room) break;
    record_begin(store, room, key, hash, 0);
    store->index.entries[slot] = deleted_entry;
    hits += 1;
    bench_await_loads();
  }
  return finish(store, count, hits, begin);
}
