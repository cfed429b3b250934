#ifndef ESKER_HELD_H
#define ESKER_HELD_H

#include <stdint.h>

#include "esker_epoch.h"

// The locks that the calling thread holds, for the assertions of debug builds.
struct esker_held {
  uint64_t ranks;      // one bit per rank with a lock held
  uint32_t io_bans;    // the number of locks held under which no file may be touched
  uint8_t locks[64];   // the number of locks held, by rank
};

extern _Thread_local struct esker_held esker_held ESKER_TLS_MODEL;

static inline uint64_t esker_held_ranks(void) { return esker_held.ranks; }
static inline uint32_t esker_held_io_bans(void) { return esker_held.io_bans; }

static inline void esker_held_add(int32_t rank, uint32_t bans) {
  esker_held.locks[rank] += 1;
  esker_held.ranks |= (uint64_t)1 << rank;
  esker_held.io_bans += bans;
}

static inline void esker_held_remove(int32_t rank, uint32_t bans) {
  esker_held.locks[rank] -= 1;
  if (esker_held.locks[rank] == 0) esker_held.ranks &= ~((uint64_t)1 << rank);
  esker_held.io_bans -= bans;
}

/// Replaces the state with `next`, and returns the previous one.
static inline struct esker_held esker_held_exchange(struct esker_held next) {
  struct esker_held before = esker_held;
  esker_held = next;
  return before;
}

#endif
