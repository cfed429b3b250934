#include <stdlib.h>

#include "esker.h"
#include "esker_failure.h"

const char *esker_version(void) { return ESKER_VERSION; }

const char *esker_last_error(void) { return esker_failure_message(); }

int esker_last_errno(void) { return esker_failure_errno(); }

void esker_free(void *memory) { free(memory); }

const char *esker_status_name(esker_status status) {
  // An enumeration may have any number that a caller gives it.
  switch ((int)status) {
#define NAME(status) \
  case status: return #status;
    NAME(ESKER_OK)
    NAME(ESKER_NOT_FOUND)
    NAME(ESKER_CONFLICT)
    NAME(ESKER_END)
    NAME(ESKER_BUFFER_TOO_SMALL)
    NAME(ESKER_NOT_YET)
    NAME(ESKER_ERROR_INVALID_ARGUMENT)
    NAME(ESKER_ERROR_INVALID_HANDLE)
    NAME(ESKER_ERROR_NO_MEMORY)
    NAME(ESKER_ERROR_CLOSED)
    NAME(ESKER_ERROR_READ_ONLY)
    NAME(ESKER_ERROR_SUSPENDED)
    NAME(ESKER_ERROR_CANCELLED)
    NAME(ESKER_ERROR_LOCKED)
    NAME(ESKER_ERROR_NOT_A_STORE)
    NAME(ESKER_ERROR_DIRECTORY_NOT_EMPTY)
    NAME(ESKER_ERROR_UNFINISHED_COPY)
    NAME(ESKER_ERROR_OTHER_STORE)
    NAME(ESKER_ERROR_UNKNOWN_FORMAT)
    NAME(ESKER_ERROR_DAMAGED)
    NAME(ESKER_ERROR_NO_SPACE)
    NAME(ESKER_ERROR_CAPACITY_REACHED)
    NAME(ESKER_ERROR_KEYSPACE_FULL)
    NAME(ESKER_ERROR_ACCESS_DENIED)
    NAME(ESKER_ERROR_SYSTEM)
    NAME(ESKER_ERROR_SYNC_FAILED)
    NAME(ESKER_ERROR_OUTCOME_UNKNOWN)
    NAME(ESKER_ERROR_KEY_TOO_LONG)
    NAME(ESKER_ERROR_VALUE_TOO_LONG)
    NAME(ESKER_ERROR_BATCH_TOO_LARGE)
    NAME(ESKER_ERROR_HISTORY_GONE)
    NAME(ESKER_ERROR_INVALID_KEYSPACE)
    NAME(ESKER_ERROR_KEYSPACE_REMOVED)
    NAME(ESKER_ERROR_NO_SUCH_KEYSPACE)
#undef NAME
    default: return "unknown";
  }
}
