// The bare table and the record layout shared by the limit loops.

#ifndef LIMIT_TABLE_H
#define LIMIT_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { record_header_length = 32, key_length = 16 };

static const uint64_t address_mask = (UINT64_C(1) << 40) - 1;
/// A deleted entry: an address that no record has.
static const uint64_t deleted_entry = (UINT64_C(1) << 40) - 1;

typedef struct {
  uint64_t *entries;  // 0 is empty
  uint64_t capacity;
} table;

/// Returns 0, or errno.
int table_create(table *t, uint64_t keys, int huge_pages);
void table_destroy(table *t);

static inline uint64_t hash_words(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xBF58476D1CE4E5B9u);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_key(const uint8_t *key) {
  uint64_t words[2];
  memcpy(words, key, sizeof words);
  return hash_words(words[0], words[1]);
}

/// The home slot of a hash; for any capacity, without a division.
static inline uint64_t table_home(const table *t, uint64_t hash) {
  return (uint64_t)(((unsigned __int128)hash * t->capacity) >> 64);
}

static inline uint64_t table_next(const table *t, uint64_t slot) { return slot + 1 == t->capacity ? 0 : slot + 1; }

/// A tag from the 24 low bits of the hash: the high ones choose the slot.
static inline uint64_t entry_tag(uint64_t hash) { return hash << 40; }

/// Addresses are in units of 8 bytes, starting from 1, so that no entry is 0.
static inline uint64_t entry_make(uint64_t hash, uint64_t offset) { return entry_tag(hash) | ((offset >> 3) + 1); }
static inline uint64_t entry_offset(uint64_t entry) { return ((entry & address_mask) - 1) << 3; }

/// Inserts an entry whose key is known to be absent.
static inline void table_insert(table *t, uint64_t hash, uint64_t offset) {
  uint64_t slot = table_home(t, hash);
  while (t->entries[slot] != 0) slot = table_next(t, slot);
  t->entries[slot] = entry_make(hash, offset);
}

static inline uint64_t round_up_8(uint64_t n) { return (n + 7) & ~UINT64_C(7); }

#endif
