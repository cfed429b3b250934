#ifndef ESKER_SAMPLE_H
#define ESKER_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "esker_epoch.h"

extern _Thread_local uint32_t esker_calls ESKER_TLS_MODEL;

/// True for one in 128 calls on each thread.
static inline bool esker_is_sampled(void) { return (++esker_calls & 127) == 0; }

#endif
