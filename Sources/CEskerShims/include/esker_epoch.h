#ifndef ESKER_EPOCH_H
#define ESKER_EPOCH_H

#include <stdint.h>

// One record per live thread that has ever pinned. Swift reads and writes `epoch` and the global word through `Atomic` at
// these addresses, so that every access is visible to ThreadSanitizer; nothing here touches them after set-up. Records are
// never freed, only reused by later threads, so that a scan needs no lock.
struct esker_epoch_slot {
  uint64_t epoch;                 // 0: not pinned
  uint64_t depth;                 // nested pins; only touched by the owning thread
  struct esker_epoch_slot *_Nullable next;  // fixed before the record is published
  uint64_t in_use;                // guarded by the registry's lock
  char padding[96];               // two cache lines per record: adjacent-line prefetch would couple neighbours
};

#if defined(__linux__)
// One `mov` from the thread pointer instead of a call.
#define ESKER_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define ESKER_TLS_MODEL
#endif

extern _Thread_local struct esker_epoch_slot *_Nullable esker_epoch_own ESKER_TLS_MODEL;
extern uint64_t esker_epoch_word[16];

struct esker_epoch_slot *_Nonnull esker_epoch_register(void);

/// The newest record in the registry; follow `next` to the others.
struct esker_epoch_slot *_Nullable esker_epoch_first(void);

/// The calling thread's record, created at the first call and released when the thread ends.
static inline struct esker_epoch_slot *_Nonnull esker_epoch_current(void) {
  struct esker_epoch_slot *_Nullable slot = esker_epoch_own;
  return __builtin_expect(slot != 0, 1) ? slot : esker_epoch_register();
}

// Pointers to the fields of a record: Swift would treat an access to one field as an access to the whole record.

static inline uint64_t *_Nonnull esker_epoch_value(struct esker_epoch_slot *_Nonnull slot) { return &slot->epoch; }

static inline uint64_t *_Nonnull esker_epoch_depth(struct esker_epoch_slot *_Nonnull slot) { return &slot->depth; }

static inline struct esker_epoch_slot *_Nullable esker_epoch_next(struct esker_epoch_slot *_Nonnull slot) {
  return slot->next;
}

/// The process-wide epoch, alone on its cache lines. Starts at 1.
static inline uint64_t *_Nonnull esker_epoch_global(void) { return esker_epoch_word; }

#endif
