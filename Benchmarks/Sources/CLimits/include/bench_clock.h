// Shared by all subjects of a benchmark: the clock, threads that start together, and keys and values made from a number.

#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/// Nanoseconds on the monotonic clock (about 25 ns per call on Linux).
static inline uint64_t bench_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// The SplitMix64 output for a state; also used to turn consecutive numbers into unrelated words.
static inline uint64_t bench_mix(uint64_t state) {
  state += 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

/// Writes the 16-byte key number `index`.
static inline void bench_key(uint64_t index, uint8_t *key) {
  uint64_t words[2] = {bench_mix(2 * index), bench_mix(2 * index + 1)};
  memcpy(key, words, sizeof words);
}

/// Writes a 16-byte key that sorts by its number.
static inline void bench_ascending_key(uint64_t index, uint8_t *key) {
  memset(key, 0, 8);
  for (int i = 0; i < 8; i++) key[8 + i] = (uint8_t)(index >> (56 - 8 * i));
}

/// Writes the 16-byte key number `index`, whose first half it shares with every other whose number has the same rest.
static inline void bench_grouped_key(uint64_t index, uint64_t groups, uint8_t *key) {
  uint64_t words[2] = {bench_mix(index % groups), bench_mix(~index)};
  memcpy(key, words, sizeof words);
}

/// Stamps a value with number `index`; the rest of the value is unchanged.
static inline void bench_stamp(uint8_t *value, uint64_t index) { memcpy(value, &index, sizeof index); }

/// The number that a value was stamped with.
static inline uint64_t bench_stamp_of(const uint8_t *value) {
  uint64_t index;
  memcpy(&index, value, sizeof index);
  return index;
}

/// Whether operation `index` of a mixed workload is a get, as `percent` of a hundred are.
static inline bool bench_is_get(uint64_t index, uint32_t percent) { return bench_mix(~index) % 100 < percent; }

/// Waits until all previous loads have completed.
///
/// Between two operations it stands for a program that looks at an answer before asking the next question. Without it the
/// processor starts on the next keys of the list while still waiting for memory, and a loop of single gets measures
/// something close to a batch.
static inline void bench_await_loads(void) {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  __asm__ volatile("dsb ld\n\tisb" : : : "memory");
#endif
}

/// Runs `body(context, 0 ..< threads)` on as many threads, released together; returns the seconds from the release to the
/// last return, or a negative number if a thread could not be started.
double bench_run_threads(int threads, void (*body)(void *context, int thread), void *context);

/// Whether the file system keeps its files only in memory, where a sync measures nothing.
bool bench_is_memory_file_system(const char *path);

/// Reads a whole file, so that it is in the page cache; 0 or errno.
int bench_read_through(const char *path);

/// Lets go of the pages of a file that are in the page cache and on the device; 0 or errno.
int bench_forget_pages(const char *path);

/// The bytes of this process's anonymous memory that are resident; 0 if the system does not report them.
uint64_t bench_anonymous_bytes(void);
/// The bytes of this process's memory that are resident, including mapped files; 0 if the system does not report them.
uint64_t bench_resident_bytes(void);
/// The bytes that this process has dirtied or written, to be stored on the device; 0 if the system does not report them.
uint64_t bench_written_bytes(void);
/// The bytes that this process has read from the device.
uint64_t bench_read_bytes(void);
/// This process's page faults that waited for the device.
uint64_t bench_major_faults(void);

#endif
