#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "esker_os.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#ifdef __APPLE__
#include <os/os_sync_wait_on_address.h>
#else
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// ---- Conditions --------------------------------------------------------------------------------------------------

enum { nanoseconds_per_second = 1000000000 };

#ifdef __APPLE__
int esker_condition_init(pthread_cond_t *condition) { return pthread_cond_init(condition, NULL); }

int esker_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t nanoseconds) {
  struct timespec span = {
    (time_t)(nanoseconds / nanoseconds_per_second), (long)(nanoseconds % nanoseconds_per_second)};
  return pthread_cond_timedwait_relative_np(condition, mutex, &span);
}
#else
int esker_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  int code = pthread_condattr_init(&attributes);
  if (code != 0) return code;
  code = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  if (code == 0) code = pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
  return code;
}

int esker_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t nanoseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += (time_t)(nanoseconds / nanoseconds_per_second);
  deadline.tv_nsec += (long)(nanoseconds % nanoseconds_per_second);
  if (deadline.tv_nsec >= nanoseconds_per_second) {
    deadline.tv_nsec -= nanoseconds_per_second;
    deadline.tv_sec += 1;
  }
  return pthread_cond_timedwait(condition, mutex, &deadline);
}
#endif

// ---- Words to sleep on -------------------------------------------------------------------------------------------

#ifdef __APPLE__
void esker_word_wait(void *word, uint32_t value) {
  os_sync_wait_on_address(word, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_NONE);
}

void esker_word_wake(void *word, bool all) {
  if (all) os_sync_wake_by_address_all(word, sizeof(uint32_t), OS_SYNC_WAKE_BY_ADDRESS_NONE);
  else os_sync_wake_by_address_any(word, sizeof(uint32_t), OS_SYNC_WAKE_BY_ADDRESS_NONE);
}

void esker_shared_word_wait(void *word, uint32_t value, uint64_t nanoseconds) {
  os_sync_wait_on_address_with_timeout(
    word, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_SHARED, OS_CLOCK_MACH_ABSOLUTE_TIME, nanoseconds);
}

void esker_shared_word_wake(void *word) {
  os_sync_wake_by_address_all(word, sizeof(uint32_t), OS_SYNC_WAKE_BY_ADDRESS_SHARED);
}
#else
void esker_word_wait(void *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void esker_word_wake(void *word, bool all) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, NULL, NULL, 0); }

void esker_shared_word_wait(void *word, uint32_t value, uint64_t nanoseconds) {
  struct timespec span = {
    (time_t)(nanoseconds / nanoseconds_per_second), (long)(nanoseconds % nanoseconds_per_second)};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &span, NULL, 0);
}

void esker_shared_word_wake(void *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }
#endif

// ---- Threads -----------------------------------------------------------------------------------------------------

struct start {
  void (*body)(void *);
  void *context;
};

static _Thread_local bool is_started_here;

bool esker_thread_is_started_here(void) { return is_started_here; }

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  is_started_here = true;
  start.body(start.context);
  return NULL;
}

int esker_thread_start(struct esker_thread *thread, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (start == NULL) return ENOMEM;
  *start = (struct start){body, context};
  // The new thread inherits the mask. Signals raised by a thread's own fault stay unblocked: one that is blocked when it is
  // raised kills the process without calling a handler.
  sigset_t blocked, before;
  sigfillset(&blocked);
  static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigdelset(&blocked, faults[index]);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t handle;
  int code = pthread_create(&handle, NULL, run, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (code != 0) free(start);
  else thread->handle = (uintptr_t)handle;
  return code;
}

_Static_assert(sizeof(pthread_t) == sizeof(uintptr_t), "a handle has room for a thread");

int esker_thread_join(struct esker_thread thread) { return pthread_join((pthread_t)thread.handle, NULL); }

int esker_thread_detach(struct esker_thread thread) { return pthread_detach((pthread_t)thread.handle); }

bool esker_thread_is_current(struct esker_thread thread) {
  return pthread_equal((pthread_t)thread.handle, pthread_self()) != 0;
}

void esker_thread_give_way(void) {
#ifdef __APPLE__
  pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#elif defined(__linux__)
  // On Linux the nice value is per thread.
  enum { nice_value = 10 };
  setpriority(PRIO_PROCESS, 0, nice_value);
#endif
}

void esker_thread_set_name(const char *name) {
#ifdef __APPLE__
  pthread_setname_np(name);
#else
  char shortened[16];  // Linux allows 15 bytes plus the terminator
  strncpy(shortened, name, sizeof shortened - 1);
  shortened[sizeof shortened - 1] = '\0';
  pthread_setname_np(pthread_self(), shortened);
#endif
}
