#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "esker_os.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

// A page of a mapped file that another process cut off, or that the device cannot read, raises SIGBUS. The handler maps a
// page of zeros there and marks the range, so that the engine finds a bad checksum and a raised flag instead of the process
// being killed.
//
// The handler takes no lock: it scans the slots used so far. A range stays registered as long as it may be accessed, so the
// slot it looks for cannot change meanwhile. A slot that does change belongs to another range, and is recognised by its
// start, which is written last on registration, first on deregistration, and read again after the end.

enum { slot_count = 65536 };

// Zero-filled, so the table's pages are allocated on first use.
static struct esker_guard slots[slot_count];
static _Atomic(uint32_t) used;

_Atomic(uint32_t) esker_guard_fault_count;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t free_slots[slot_count];
static uint32_t free_count;

static pthread_once_t installed = PTHREAD_ONCE_INIT;
static struct sigaction previous;
static uintptr_t page_mask;

// A raw system call where available: sanitizers wrap the function in code that is not async-signal-safe.
static bool map_zeros(uintptr_t start, size_t length, int protection) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
#if defined(__linux__) && defined(SYS_mmap)
  return syscall(SYS_mmap, start, length, protection, flags, -1, 0) == (long)start;
#else
  return mmap((void *)start, length, protection, flags, -1, 0) == (void *)start;
#endif
}

static bool replace_page(uintptr_t address) {
  uint32_t count = atomic_load_explicit(&used, memory_order_acquire);
  for (uint32_t index = 0; index < count; index++) {
    struct esker_guard *slot = &slots[index];
    uintptr_t start = atomic_load_explicit(&slot->start, memory_order_acquire);
    if (start == 0 || address < start) continue;
    uintptr_t end = atomic_load_explicit(&slot->end, memory_order_acquire);
    if (address >= end || atomic_load_explicit(&slot->start, memory_order_acquire) != start) continue;
    int protection = slot->writable ? PROT_READ | PROT_WRITE : PROT_READ;
    // The flag is raised, and the fault counted, before the zeros can be read.
    atomic_store_explicit(&slot->faulted, 1, memory_order_seq_cst);
    atomic_fetch_add_explicit(&esker_guard_fault_count, 1, memory_order_seq_cst);
    if (map_zeros(address & ~page_mask, page_mask + 1, protection)) return true;
    // Too many mappings for another split: replace the whole range, which needs none.
    return map_zeros(start, end - start, protection);
  }
  return false;
}

static void pass_on(int signal_number, siginfo_t *info, void *context) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal_number, info, context);
    return;
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal_number);
    return;
  }
  bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
#ifdef SI_TKILL
  sent = sent || info->si_code == SI_TKILL;
#endif
  if (sent && previous.sa_handler == SIG_IGN) return;
  // Restore the default action. A fault recurs when its instruction is retried; a sent signal is raised again, to be
  // delivered when this handler returns.
  struct sigaction fallback = {0};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal_number, &fallback, NULL);
  if (sent) raise(signal_number);
}

static void on_bus_error(int signal_number, siginfo_t *info, void *context) {
  int saved = errno;
  // si_code is positive, and si_addr meaningful, only if the kernel rather than a process raised the signal.
  if (info->si_code > 0 && replace_page((uintptr_t)info->si_addr)) {
    errno = saved;
    return;
  }
  errno = saved;
  pass_on(signal_number, info, context);
}

static void install(void) {
  page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
  sigaction(SIGBUS, NULL, &previous);
  struct sigaction action = {0};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}

struct esker_guard *esker_guard_register(void *start, bool writable) {
  pthread_once(&installed, install);
  pthread_mutex_lock(&table_lock);
  struct esker_guard *slot = NULL;
  uint32_t count = atomic_load_explicit(&used, memory_order_relaxed);
  if (free_count > 0) {
    slot = &slots[free_slots[--free_count]];
  } else if (count < slot_count) {
    slot = &slots[count];
    atomic_store_explicit(&used, count + 1, memory_order_release);
  }
  if (slot != NULL) {
    slot->writable = writable;
    atomic_store_explicit(&slot->faulted, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->end, (uintptr_t)start, memory_order_release);
    atomic_store_explicit(&slot->start, (uintptr_t)start, memory_order_release);
  }
  pthread_mutex_unlock(&table_lock);
  return slot;
}

void esker_guard_extend(struct esker_guard *guard, void *end) {
  atomic_store_explicit(&guard->end, (uintptr_t)end, memory_order_release);
}

void esker_guard_deregister(struct esker_guard *guard) {
  pthread_mutex_lock(&table_lock);
  atomic_store_explicit(&guard->start, 0, memory_order_release);
  free_slots[free_count++] = (uint32_t)(guard - slots);
  pthread_mutex_unlock(&table_lock);
}
