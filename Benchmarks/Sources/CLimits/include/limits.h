// What the hardware and the kernel allow: the bare loops that every figure of Esker is compared with.
//
// No checksums, no crash safety, no expiry, no deletion of old versions: the least work that could answer to the name of the workload.
// Each loop reports the numbers it read, so that nothing can be optimised away and the two sides can be seen to do the same work.
//
// Record: 32-byte header (hash, sequence, lengths, padding), key, value, rounded up to 8 bytes.
// Table: open addressing, linear probing, 8-byte entries (24-bit tag, 40-bit address), 55 % full when all keys are in.

#ifndef LIMITS_H
#define LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { limit_key_length = 16 };

typedef struct {
  uint64_t operations;
  uint64_t hits;
  uint64_t checksum;
  double seconds;
  int failure;  // errno, 0 for success
} limit_result;

/// What is done how often.
typedef struct {
  uint32_t read_percent;
  bool modifies;  // whether a put reads the value first
} limit_mixture;

typedef struct limit_store limit_store;

/// Creates an empty store: one file with room for `bytes`, mapped for reading, and a table for `keys`.
///
/// The table is anonymous memory, on ordinary pages unless `huge_pages`. NULL on failure, with errno set.
limit_store *limit_create(const char *path, uint64_t keys, uint64_t bytes, size_t value_length, int huge_pages);
void limit_destroy(limit_store *store);
/// Writes back what is dirty, so that it does not happen during the loop that follows; 0 or errno.
int limit_settle(limit_store *store);

/// Bytes of a record with a value of this length.
uint64_t limit_record_length(size_t value_length);

// Each of these takes `count` keys of 16 bytes, one after the other in the order of the operations.

/// Appends new keys: record bytes into a 1 MiB buffer written when full, one insertion in the table each. Value i is marked `first + i`.
limit_result limit_fill(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first);
/// Probe, follow, compare the key, append the new record, store its address in the slot.
limit_result limit_overwrite(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first);
/// Gets, one after the other, and overwrites as `bench_is_get` says, as in `limit_get` and `limit_overwrite`.
limit_result limit_mix(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first, limit_mixture mixture);
/// Probe, follow, compare the key, append a tombstone (header and key), mark the slot.
limit_result limit_delete(limit_store *store, const uint8_t *keys, uint64_t count);
/// Probe, follow, compare the key, copy the value out; one after the other, or as far overlapping as the processor likes.
limit_result limit_get(const limit_store *store, const uint8_t *keys, uint64_t count, bool overlapping);
/// The same, 32 keys at a time with prefetch.
limit_result limit_get_batched(const limit_store *store, const uint8_t *keys, uint64_t count);
/// The same as `limit_get`, one after the other, the keys dealt out in equal runs.
limit_result limit_get_threaded(const limit_store *store, const uint8_t *keys, uint64_t count, int threads);

/// Append and sync a record at a time into a file that is already written.
limit_result limit_sync(const char *path, uint64_t count, size_t value_length);
/// `threads` threads, each `count` records one after the other; each write and each sync is for a record of every thread.
limit_result limit_group(const char *path, int threads, uint64_t count, size_t value_length);

/// Walks the record headers of Esker's own segment files in the order given and enters each record in a table for `keys`.
/// `operations` is the number of records, `checksum` the exclusive or of their hashes.
limit_result limit_scan(const char *const *paths, size_t files, uint64_t keys, int huge_pages);

#endif
