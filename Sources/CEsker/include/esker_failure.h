#ifndef ESKER_FAILURE_H
#define ESKER_FAILURE_H

#include <stddef.h>

// What failed last in each thread, for esker_last_error. Not part of the interface, and not installed.

/// Notes the failure of this thread; what is longer than there is room for is cut off between two characters of UTF-8.
void esker_failure_note(const char *_Nonnull message, size_t length, int code);

/// The message; empty if there was none.
const char *_Nonnull esker_failure_message(void);

/// The errno.
int esker_failure_errno(void);

#endif
