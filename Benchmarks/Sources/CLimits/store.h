// The limit's store: one append-only file, a 1 MiB write buffer, a mapping to read from and the bare table.

#ifndef LIMIT_STORE_H
#define LIMIT_STORE_H

#include "limits.h"
#include "table.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

enum { buffer_capacity = 1 << 20 };

struct limit_store {
  int fd;
  int failure;
  uint64_t reserved;        // length of file and mapping
  const uint8_t *mapping;   // written data is read here
  uint8_t *buffer;          // data not yet written is read here
  uint64_t written;         // offset of the buffer's first byte
  uint64_t buffered;
  uint64_t sequence;
  size_t value_length;
  uint8_t *value;           // the value to put; its first 8 bytes are the stamp
  table index;
};

/// The bytes at an offset, written or not.
static inline const uint8_t *store_bytes(const limit_store *store, uint64_t offset) {
  return offset >= store->written ? store->buffer + (offset - store->written) : store->mapping + offset;
}

void store_flush(limit_store *store);

/// Space for `length` bytes at the tail, and their offset; NULL if the file is full or a write failed.
static inline uint8_t *store_reserve(limit_store *store, uint64_t length, uint64_t *offset) {
  if (store->buffered + length > buffer_capacity) store_flush(store);
  *offset = store->written + store->buffered;
  if (store->failure != 0 || *offset + length > store->reserved) {
    if (store->failure == 0) store->failure = ENOSPC;
    return NULL;
  }
  uint8_t *room = store->buffer + store->buffered;
  store->buffered += length;
  return room;
}

/// The slot that holds a key, or -1.
static inline int64_t store_find(const limit_store *store, const uint8_t *key, uint64_t hash) {
  const table *t = &store->index;
  uint64_t tag = entry_tag(hash);
  for (uint64_t slot = table_home(t, hash);; slot = table_next(t, slot)) {
    uint64_t entry = t->entries[slot];
    if (entry == 0) return -1;
    if ((entry & ~address_mask) != tag || entry == deleted_entry) continue;
    if (memcmp(store_bytes(store, entry_offset(entry)) + record_header_length, key, key_length) == 0) return (int64_t)slot;
  }
}

/// Writes header and key; the caller adds the value.
static inline void record_begin(limit_store *store, uint8_t *room, const uint8_t *key, uint64_t hash, uint64_t value_length) {
  uint64_t header[4] = {hash, ++store->sequence, (uint64_t)key_length << 32 | value_length, 0};
  memcpy(room, header, sizeof header);
  memcpy(room + record_header_length, key, key_length);
}

#endif
