#include "esker_handles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// A handle, from the lowest bit on: the kind, the number of the slot, the generation, which is how often the slot was used before.
#define KIND_BITS 3
#if UINTPTR_MAX > 0xffffffff
#define SLOT_BITS 20
#define GENERATION_BITS 41
#else
#define SLOT_BITS 16
#define GENERATION_BITS 13
#endif

#define SLOTS_PER_CHUNK 256
#define CHUNK_COUNT ((1u << SLOT_BITS) / SLOTS_PER_CHUNK)
#define GENERATION_MASK ((UINT64_C(1) << GENERATION_BITS) - 1)
#define KIND_MASK ((1u << KIND_BITS) - 1)

// What the state of a slot has, from the lowest bit on: how many have entered, whether it is ended or free, the kind, the generation. Kind and
// generation are what a handle must agree with.
#define ENTERED_MASK UINT64_C(0x7ffff)
#define ENDED (UINT64_C(1) << 19)
#define IDENTITY_SHIFT 20

struct slot {
  // Slots that are used by different threads share no line, nor a pair of lines that the processor fetches together.
  _Alignas(128) _Atomic uint64_t state;
  void *object;
  struct slot *next_free;
  uint64_t generation; // guarded by the lock
  uint32_t number;
};

static struct slot *_Atomic chunks[CHUNK_COUNT];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by the lock. The slot that was freed longest ago is used first, so that generations last.
static struct slot *first_free = NULL;
static struct slot *last_free = NULL;
static uint32_t chunk_count = 0;

static uint64_t identity(uint64_t generation, uint64_t kind) {
  return ((generation & GENERATION_MASK) << KIND_BITS | kind) << IDENTITY_SHIFT;
}

static uint64_t identity_of_handle(const void *handle) {
  uintptr_t bits = (uintptr_t)handle;
  return identity((uint64_t)bits >> (KIND_BITS + SLOT_BITS), bits & KIND_MASK);
}

static struct slot *slot_of_handle(const void *handle) {
  uint32_t number = (uint32_t)((uintptr_t)handle >> KIND_BITS) & ((1u << SLOT_BITS) - 1);
  struct slot *chunk = atomic_load_explicit(&chunks[number / SLOTS_PER_CHUNK], memory_order_acquire);
  return chunk == NULL ? NULL : &chunk[number % SLOTS_PER_CHUNK];
}

// With the lock.
static void put_free(struct slot *slot) {
  slot->next_free = NULL;
  if (last_free == NULL) {
    first_free = slot;
  } else {
    last_free->next_free = slot;
  }
  last_free = slot;
}

// With the lock.
static void add_chunk(void) {
  if (chunk_count == CHUNK_COUNT) return;
  struct slot *chunk = aligned_alloc(_Alignof(struct slot), SLOTS_PER_CHUNK * sizeof(struct slot));
  if (chunk == NULL) return;
  for (uint32_t index = 0; index < SLOTS_PER_CHUNK; index++) {
    atomic_init(&chunk[index].state, ENDED);
    chunk[index].object = NULL;
    chunk[index].generation = 0;
    chunk[index].number = chunk_count * SLOTS_PER_CHUNK + index;
    put_free(&chunk[index]);
  }
  atomic_store_explicit(&chunks[chunk_count], chunk, memory_order_release);
  chunk_count++;
}

void *esker_handle_make(esker_handle_kind kind, void *object) {
  pthread_mutex_lock(&lock);
  if (first_free == NULL) add_chunk();
  struct slot *slot = first_free;
  if (slot != NULL) {
    first_free = slot->next_free;
    if (first_free == NULL) last_free = NULL;
    slot->generation = (slot->generation + 1) & GENERATION_MASK;
  }
  pthread_mutex_unlock(&lock);
  if (slot == NULL) return NULL;
  slot->object = object;
  atomic_store_explicit(&slot->state, identity(slot->generation, kind), memory_order_release);
  uintptr_t number = (uintptr_t)slot->number << KIND_BITS;
  return (void *)((uintptr_t)slot->generation << (KIND_BITS + SLOT_BITS) | number | (uintptr_t)kind);
}

// Enters, and sets `flags`, if the handle is open and of that kind.
static void *enter(const void *handle, esker_handle_kind kind, uint64_t flags) {
  if (((uintptr_t)handle & KIND_MASK) != (uintptr_t)kind) return NULL;
  struct slot *slot = slot_of_handle(handle);
  if (slot == NULL) return NULL;
  uint64_t expected = identity_of_handle(handle);
  uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
  do {
    if ((state & ~ENTERED_MASK) != expected) return NULL;
  } while (!atomic_compare_exchange_weak_explicit(&slot->state, &state, (state + 1) | flags, memory_order_acquire,
                                                  memory_order_relaxed));
  return slot->object;
}

void *esker_handle_enter(const void *handle, esker_handle_kind kind) { return enter(handle, kind, 0); }

void *esker_handle_end(const void *handle, esker_handle_kind kind) { return enter(handle, kind, ENDED); }

void *esker_handle_leave(const void *handle) {
  struct slot *slot = slot_of_handle(handle);
  uint64_t state = atomic_fetch_sub_explicit(&slot->state, 1, memory_order_acq_rel) - 1;
  if ((state & ENTERED_MASK) != 0 || (state & ENDED) == 0) return NULL;
  // Nobody else has entered, and nobody enters what is ended.
  void *object = slot->object;
  slot->object = NULL;
  pthread_mutex_lock(&lock);
  put_free(slot);
  pthread_mutex_unlock(&lock);
  return object;
}
