#ifndef ESKER_OS_H
#define ESKER_OS_H

// What differs between operating systems, or what their headers hide from Swift. Unless stated otherwise, functions that can
// fail return 0 or the error number.

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Files -------------------------------------------------------------------------------------------------------

/// Allocates storage for bytes [0, length) of a file whose current length is `size`, and makes it at least `length` long.
/// EOPNOTSUPP if the file system cannot; the caller then writes zeros.
int esker_preallocate(int descriptor, int64_t size, int64_t length);

/// Makes the file's contents and length durable, down to the device.
int esker_sync_file(int descriptor);

#ifdef __linux__
/// Starts writing back the dirty pages of a range; waits for nothing except room in the device's queue.
void esker_begin_write_back(int descriptor, int64_t offset, int64_t length);

/// Lets pages of a file that are clean, and that nobody has mapped, make room for others. A hint.
void esker_forget(int descriptor, int64_t offset, int64_t length);
#endif

/// Makes a directory's names durable. A file system without such a call orders its names itself, which counts as success.
int esker_sync_directory(int descriptor);

/// Whether files have the attributes that the next two functions set: on Apple's platforms only.
bool esker_has_file_attributes(void);

/// Sets the class of data protection, 1 for A to 4 for D; 0 on a volume without.
int esker_set_protection_class(int descriptor, int number);

/// Sets whether backups of the device leave out a file, or all that is in a directory.
int esker_set_backup_exclusion(int descriptor, bool isExcluded);

/// Takes the whole-file lock without waiting; EWOULDBLOCK if it is held elsewhere.
int esker_try_lock(int descriptor, bool exclusive);
void esker_unlock(int descriptor);

/// A new file without a name, in memory where the system supports that; returns its descriptor, or the negated error number.
int esker_scratch_file(void);

/// The next run of bytes at or after `offset` that may be nonzero. Returns its start, or -1 if there is none, and sets
/// `*end` unless that is null; the cost of finding the end is proportional to the run.
int64_t esker_next_data(int descriptor, int64_t offset, int64_t *_Nullable end);

/// How many files this process may have open: its soft limit, UINT64_MAX if there is none.
uint64_t esker_descriptor_limit(void);

/// Raises the soft limit to the hard one, or as far as the system allows.
void esker_raise_descriptor_limit(void);

/// The name in a directory entry.
static inline const char *_Nonnull esker_entry_name(const struct dirent *_Nonnull entry) { return entry->d_name; }

// ---- Memory ------------------------------------------------------------------------------------------------------

size_t esker_page_size(void);

/// The number of processors online, at least 1.
int esker_processor_count(void);

/// Reserves address space that may not be touched; NULL on failure (with errno set).
void *_Nullable esker_reserve(size_t length);

/// Prefaults pages for writing. EFAULT where a store would raise SIGBUS; 0 without effect where the system has no such call.
int esker_populate_write(void *_Nonnull address, size_t length);

/// Prefaults pages for reading, or asks for read-ahead. A hint.
void esker_populate_read(void *_Nonnull address, size_t length);

/// Says whether a fault in a mapping is to read what is around it, as it usually does. A hint.
void esker_advise_read_ahead(void *_Nonnull address, size_t length, bool is_wanted);

/// Begins to read the pages of a mapped range that are not in memory. A hint.
void esker_fetch(const void *_Nonnull address, size_t length);

/// Whether all pages of a mapped range are in memory.
bool esker_is_resident(const void *_Nonnull address, size_t length);

/// Which of at most 64 pages from the start of a page on are in memory: a bit each, the first the lowest.
uint64_t esker_residency(const void *_Nonnull page, size_t count);

/// Lets pages of a mapped file make room for others. A hint.
void esker_let_go(void *_Nonnull address, size_t length);

#ifdef __APPLE__
/// Bytes of memory that are free or hold pages of files; 0 if the system does not say.
uint64_t esker_page_cache_room(void);
#endif

/// Writes a shared mapping's dirty pages where the system's file sync would not; a no-op elsewhere.
int esker_sync_mapping(void *_Nonnull address, size_t length);

// ---- The SIGBUS guard ----------------------------------------------------------------------------------------------

/// A guarded address range. It is in a table that is never freed, so that the signal handler and a late reader of the flag
/// always find memory.
struct esker_guard {
  _Atomic(uintptr_t) start;   // 0: the slot is free
  _Atomic(uintptr_t) end;     // end of what is mapped so far
  _Atomic(uint32_t) faulted;
  uint32_t writable;
};

/// Guards [start, start), to be extended by esker_guard_extend; NULL if the table is full. Installs the handler first.
struct esker_guard *_Nullable esker_guard_register(void *_Nonnull start, bool writable);
void esker_guard_extend(struct esker_guard *_Nonnull guard, void *_Nonnull end);
void esker_guard_deregister(struct esker_guard *_Nonnull guard);

/// Whether a page in the range was replaced by zeros.
static inline uint32_t esker_flag_load(const void *_Nonnull flag) {
  return __atomic_load_n((const uint32_t *)flag, __ATOMIC_ACQUIRE);
}

static inline void esker_flag_raise(void *_Nonnull flag) {
  __atomic_store_n((uint32_t *)flag, 1, __ATOMIC_RELEASE);
}

/// Lowers the flag, before the pages are mapped again.
static inline void esker_guard_clear(struct esker_guard *_Nonnull guard) {
  atomic_store_explicit(&guard->faulted, 0, memory_order_seq_cst);
}

static inline const void *_Nonnull esker_guard_flag(const struct esker_guard *_Nonnull guard) {
  return &guard->faulted;
}

extern _Atomic(uint32_t) esker_guard_fault_count;

/// How many pages of all ranges were replaced by zeros since the process began. What the caller read before, it read before this.
static inline uint32_t esker_guard_faults(void) {
  atomic_thread_fence(memory_order_acquire);
  return atomic_load_explicit(&esker_guard_fault_count, memory_order_acquire);
}

// ---- Threads -----------------------------------------------------------------------------------------------------

int esker_condition_init(pthread_cond_t *_Nonnull condition);

/// Waits at most `nanoseconds` on a clock that does not jump; ETIMEDOUT on timeout.
int esker_condition_wait(
  pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, uint64_t nanoseconds);

// A word that threads sleep on.

static inline uint32_t esker_word_load(const void *_Nonnull word) {
  return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
}

static inline void esker_word_advance(void *_Nonnull word) {
  __atomic_fetch_add((uint32_t *)word, 1, __ATOMIC_RELEASE);
}

/// Sleeps while the word equals `value`; may return spuriously.
void esker_word_wait(void *_Nonnull word, uint32_t value);

/// Wakes one thread sleeping on the word, or all of them.
void esker_word_wake(void *_Nonnull word, bool all);

// The same for a word in a file that several processes have mapped, and for that long at most. Wakes all who sleep.
void esker_shared_word_wait(void *_Nonnull word, uint32_t value, uint64_t nanoseconds);
void esker_shared_word_wake(void *_Nonnull word);

struct esker_thread {
  uintptr_t handle;   // a pthread_t: a number on some systems, on others a pointer, which Swift would not let cross threads
};

/// Starts a thread with asynchronous signals blocked, so that the program's own threads keep receiving them.
int esker_thread_start(
  struct esker_thread *_Nonnull thread, void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);
int esker_thread_join(struct esker_thread thread);
int esker_thread_detach(struct esker_thread thread);
bool esker_thread_is_current(struct esker_thread thread);

/// Whether `esker_thread_start` started the calling thread.
bool esker_thread_is_started_here(void);

/// Names the calling thread; the name is truncated to what the system allows.
void esker_thread_set_name(const char *_Nonnull name);

/// Lets the calling thread give way to others when there are more threads to run than processors. A hint.
void esker_thread_give_way(void);

#endif
