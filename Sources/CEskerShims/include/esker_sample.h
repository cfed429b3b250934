#ifndef ESKER_SAMPLE_H
#define ESKER_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "esker_epoch.h"

extern _Thread_local uint32_t esker_calls_until_sample ESKER_TLS_MODEL;

/// How many calls to let pass, at random: 128 on average.
uint32_t esker_sample_distance(void);

/// True for one in 128 calls on each thread, at random: at a fixed distance, a program whose calls follow a pattern, such as a
/// put after each get, would have the same calls of the pattern measured always and the others never.
static inline bool esker_is_sampled(void) {
  if (--esker_calls_until_sample != 0) return false;
  esker_calls_until_sample = esker_sample_distance();
  return true;
}

#endif
