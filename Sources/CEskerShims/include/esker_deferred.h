#ifndef ESKER_DEFERRED_H
#define ESKER_DEFERRED_H

#include "esker_epoch.h"

// Where this thread's writes leave their syncs for a task to wait for; null if they wait themselves.
extern _Thread_local void *_Nullable esker_deferred ESKER_TLS_MODEL;

static inline void *_Nullable esker_deferred_current(void) { return esker_deferred; }

/// Returns the previous value.
static inline void *_Nullable esker_deferred_exchange(void *_Nullable next) {
  void *_Nullable before = esker_deferred;
  esker_deferred = next;
  return before;
}

#endif
