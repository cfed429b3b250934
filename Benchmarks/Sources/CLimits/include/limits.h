// What the hardware and the kernel allow: the bare loops that all of Esker's figures are compared with.
//
// No checksums, no crash safety, no expiry, no reclaiming of old versions: the least work that deserves the name of the
// workload. Each loop reports the numbers it read, so that nothing can be optimised away and both sides can be seen to do
// the same work.
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

/// The mix of operations.
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
/// Writes back dirty data, so that this does not happen during the next loop; 0 or errno.
int limit_settle(limit_store *store);

/// The length in bytes of a record with a value of this length.
uint64_t limit_record_length(size_t value_length);

// Each of these takes `count` keys of 16 bytes, contiguous and in the order of the operations.

/// Appends new keys: each takes a record in a 1 MiB buffer, written when full, and one insertion in the table. Value i is
/// stamped `first + i`.
limit_result limit_fill(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first);
/// Probe, follow, compare the key, append the new record, store its address in the slot.
limit_result limit_overwrite(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first);
/// Gets, one after another, and overwrites, chosen by `bench_is_get`, as in `limit_get` and `limit_overwrite`.
limit_result limit_mix(limit_store *store, const uint8_t *keys, uint64_t count, uint64_t first, limit_mixture mixture);
/// Probe, follow, compare the key, append a tombstone (header and key), mark the slot.
limit_result limit_delete(limit_store *store, const uint8_t *keys, uint64_t count);
/// Probe, follow, compare the key, copy the value out; one after another, or overlapping as far as the processor allows.
limit_result limit_get(const limit_store *store, const uint8_t *keys, uint64_t count, bool overlapping);
/// The same, 32 keys at a time with prefetch.
limit_result limit_get_batched(const limit_store *store, const uint8_t *keys, uint64_t count);
/// The same as `limit_get`, one after another, with the keys divided into equal ranges.
limit_result limit_get_threaded(const limit_store *store, const uint8_t *keys, uint64_t count, int threads);

/// Append and sync one record at a time into a file that is already written.
limit_result limit_sync(const char *path, uint64_t count, size_t value_length);
/// `threads` threads, each with `count` records one after another; each write and each sync covers a record of every thread.
limit_result limit_group(const char *path, int threads, uint64_t count, size_t value_length);

/// Walks the record headers of Esker's own segment files in the order given and enters each record in a table for `keys`.
/// `operations` is the number of records, `checksum` the XOR of their hashes.
limit_result limit_scan(const char *const *paths, size_t files, uint64_t keys, int huge_pages);

/// Reads random pages of 4 KiB of the files for so many seconds, past the page cache, one at a time on each thread.
limit_result limit_read_device(const char *const *paths, size_t files, int threads, double seconds);

#endif
