#ifndef ESKER_FORK_H
#define ESKER_FORK_H

#include <unistd.h>

/// `fork`, which Swift hides: a process with threads cannot be copied well. The one that calls this has no others.
static inline pid_t esker_fork(void) { return fork(); }

#endif
