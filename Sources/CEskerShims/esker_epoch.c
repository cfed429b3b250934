#include "esker_epoch.h"
#include "esker_held.h"
#include "esker_sample.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local struct esker_epoch_slot *esker_epoch_own ESKER_TLS_MODEL = 0;
_Thread_local uint32_t esker_calls_until_sample ESKER_TLS_MODEL = 128;
_Thread_local struct esker_held esker_held ESKER_TLS_MODEL = {0};
_Alignas(128) uint64_t esker_epoch_word[16] = {1};

uint32_t esker_sample_distance(void) {
  // Marsaglia's xorshift, which never reaches 0 from another number.
  static _Thread_local uint32_t state = 2463534242;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  uint32_t distance = state >> 24;
  return distance == 0 ? 128 : distance;
}

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t registry_once = PTHREAD_ONCE_INIT;
static pthread_key_t registry_key;
static struct esker_epoch_slot *registry_head = 0;

// Runs when the thread ends. If a later destructor of the same thread pins again, it registers again and this runs again.
static void release_slot(void *argument) {
  struct esker_epoch_slot *slot = argument;
  esker_epoch_own = 0;
  pthread_mutex_lock(&registry_lock);
  // A thread that ends while pinned is a bug, but must not keep memory from ever being freed.
  slot->depth = 0;
  __atomic_store_n(&slot->epoch, 0, __ATOMIC_RELEASE);
  slot->in_use = 0;
  pthread_mutex_unlock(&registry_lock);
}

static void make_key(void) {
  if (pthread_key_create(&registry_key, release_slot) != 0) abort();
}

struct esker_epoch_slot *esker_epoch_register(void) {
  pthread_once(&registry_once, make_key);
  pthread_mutex_lock(&registry_lock);
  struct esker_epoch_slot *slot = registry_head;
  while (slot != 0 && slot->in_use) slot = slot->next;
  if (slot == 0) {
    slot = aligned_alloc(128, sizeof(struct esker_epoch_slot));
    if (slot == 0) abort();
    slot->epoch = 0;
    slot->depth = 0;
    slot->next = registry_head;
    __atomic_store_n(&registry_head, slot, __ATOMIC_RELEASE);
  }
  slot->in_use = 1;
  pthread_mutex_unlock(&registry_lock);
  if (pthread_setspecific(registry_key, slot) != 0) abort();
  esker_epoch_own = slot;
  return slot;
}

struct esker_epoch_slot *esker_epoch_first(void) { return __atomic_load_n(&registry_head, __ATOMIC_ACQUIRE); }
