#ifndef ESKER_HANDLES_H
#define ESKER_HANDLES_H

#include <stdint.h>

// The handles of esker.h: numbers that lead to objects. Not part of the interface, and not installed.
//
// A handle has the number of a slot, how often the slot was used before, and the kind of its object. So a handle that was closed is
// noticed without looking at memory that was freed, even if the slot has another object by then. Slots are never freed.
//
// Thread safety: any thread. Only making and ending a handle takes a lock.

typedef enum esker_handle_kind {
  ESKER_HANDLE_STORE = 1,
  ESKER_HANDLE_KEYSPACE = 2,
  ESKER_HANDLE_BATCH = 3,
  ESKER_HANDLE_SNAPSHOT = 4,
  ESKER_HANDLE_CURSOR = 5,
  ESKER_HANDLE_CHANGES = 6,
} esker_handle_kind;

/// A new handle that leads to `object`; null if there is no memory, or too many are open.
void *_Nullable esker_handle_make(esker_handle_kind kind, void *_Nonnull object);

/// The object that a handle leads to; null if it is no open handle of this kind. `esker_handle_leave` must follow: until then, the object
/// is not given back.
void *_Nullable esker_handle_enter(const void *_Nullable handle, esker_handle_kind kind);

/// The same, and ends the handle: nobody enters it from now on.
void *_Nullable esker_handle_end(const void *_Nullable handle, esker_handle_kind kind);

/// Leaves a handle that was entered or ended. Returns the object to the last one who leaves an ended handle, who owns it then;
/// null to all others.
void *_Nullable esker_handle_leave(const void *_Nonnull handle);

#endif
