// Other engines behind one small C interface, so that each is called as directly as Esker is.
//
// An engine is part of the build if Package.swift found its header. One file per engine; each states its settings, which are
// the best we know.

#ifndef PEERS_H
#define PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *directory;  // exists; empty, or as an earlier process left it
  uint64_t keys;          // how many there will be, for engines that size tables
  uint64_t bytes;         // total size of keys and values
  uint64_t memory;        // what it may use, pages of files included; 0 for no limit
  int threads;            // concurrent sessions
  int batch;              // writes per transaction, for engines with transactions
  bool synced;            // whether each write is on the device before it returns; else it survives a process crash
  bool packed;            // whether values are packed with LZ4
  bool lean;              // whether caches hold only a tenth of the data
  bool ascending;         // whether new keys come in ascending order
} peer_options;

typedef struct peer peer;
/// One thread's access to a store; must not be shared.
typedef struct peer_session peer_session;

/// Entries in the order of their keys.
typedef struct {
  const void *from;  // the first key, or where it would be
  size_t from_length;
  size_t count;    // how many at most, at least one; PTRDIFF_MAX for all
  bool prefix;     // whether only keys that begin with `from` are meant
  bool keys_only;  // whether keys are read, and no values
} peer_range;

/// Version and settings in words; NULL if the engine is not part of the build.
const char *peer_settings(const char *engine);

/// Describes the last failure (NULL, false or a negative length) on the same thread.
const char *peer_message(void);

peer *peer_open(const char *engine, const peer_options *options);
/// Closes a store, as its documentation requires; no session may be left.
bool peer_close(peer *store);
/// Waits for background work, flushes and compacts.
bool peer_settle(peer *store);

peer_session *peer_session_begin(peer *store);
/// Commits the rest of a batch.
bool peer_session_end(peer_session *session);

bool peer_put(peer_session *session, const void *key, size_t key_length, const void *value, size_t value_length);
/// Copies a value out; returns its length, -1 if there is none, -2 on failure.
int64_t peer_get(peer_session *session, const void *key, size_t key_length, void *out, size_t capacity);
/// Gets contiguous keys of one length: value i goes to `out + i * stride`, its length or -1 to `lengths[i]`.
bool peer_get_many(peer_session *session, const void *keys, size_t key_length, size_t count, void *out, size_t stride, int64_t *lengths);
bool peer_remove(peer_session *session, const void *key, size_t key_length);
/// Copies the values or keys of a range out, each `stride` after the one before, and to the beginning again when `capacity` is full. Adds up
/// the numbers that they begin with. Returns how many there were, -2 on failure.
int64_t peer_scan(peer_session *session, const peer_range *range, void *out, size_t capacity, size_t stride, uint64_t *sum);
/// Removes the entry with the least key and copies its value out; returns as `peer_get`.
int64_t peer_take_first(peer_session *session, void *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
