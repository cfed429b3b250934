// Threads that use the same handles, and one that closes them meanwhile.
#include <pthread.h>

#include "check.h"

enum { thread_count = 4, rounds = 2000 };

static esker_store *store = NULL;
static esker_keyspace *keyspace = NULL;
static esker_cursor *cursor = NULL;
static atomic_int unexpected = 0;
static atomic_int refusals = 0;

static void *write_and_read(void *argument) {
  uintptr_t number = (uintptr_t)argument;
  for (int round = 0; round < rounds; round++) {
    char key[32], buffer[32];
    size_t length = 0;
    int key_length = snprintf(key, sizeof key, "%d-%d", (int)number, round % 100);
    if (esker_put(keyspace, key, (size_t)key_length, key, (size_t)key_length, NULL, NULL) != ESKER_OK ||
        esker_get_into(keyspace, key, (size_t)key_length, buffer, sizeof buffer, &length) != ESKER_OK ||
        length != (size_t)key_length || memcmp(key, buffer, length) != 0 ||
        esker_increment(keyspace, BYTES("sum"), 1, NULL, NULL) != ESKER_OK) {
      unexpected++;
    }
    // Each thread has failures of its own.
    if (round % 50 == 0) {
      char name[16];
      snprintf(name, sizeof name, "%d", (int)number);
      size_t too_long = ESKER_MAXIMUM_KEY_LENGTH + 1 + number;
      if (esker_contains(keyspace, key, too_long) != ESKER_ERROR_KEY_TOO_LONG) unexpected++;
      snprintf(name, sizeof name, "%zu", too_long);
      if (strstr(esker_last_error(), name) == NULL) unexpected++;
    }
  }
  return NULL;
}

static void *read_until_closed(void *argument) {
  (void)argument;
  char buffer[32];
  size_t length = 0;
  esker_status status = ESKER_OK;
  while (!ESKER_FAILED(status)) status = esker_get_into(keyspace, BYTES("sum"), buffer, sizeof buffer, &length);
  if (status != ESKER_ERROR_CLOSED && status != ESKER_ERROR_INVALID_HANDLE) unexpected++;
  return NULL;
}

// Two at once are an error; nothing worse happens.
static void *share_a_cursor(void *argument) {
  (void)argument;
  esker_entry entry = ESKER_ENTRY_INIT;
  esker_status status;
  while ((status = esker_cursor_next(cursor, &entry)) != ESKER_END) {
    if (status == ESKER_ERROR_INVALID_ARGUMENT) {
      refusals++;
    } else if (status != ESKER_OK) {
      unexpected++;
      break;
    }
  }
  return NULL;
}

static void run(void *(*body)(void *), int count, void (*meanwhile)(void)) {
  pthread_t threads[thread_count];
  for (int index = 0; index < count; index++) {
    CHECK(pthread_create(&threads[index], NULL, body, (void *)(uintptr_t)(index + 1)) == 0);
  }
  if (meanwhile != NULL) meanwhile();
  for (int index = 0; index < count; index++) CHECK(pthread_join(threads[index], NULL) == 0);
}

// What fails in one thread is not what has failed last in another.
static void *fail_otherwise(void *argument) {
  (void)argument;
  if (esker_last_error()[0] != 0 || esker_last_errno() != 0) unexpected++;
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_sync(NULL));
  return NULL;
}

static void close_all(void) {
  OK(esker_close(store));
  OK(esker_keyspace_close(keyspace));
}

void test_threads(void) {
  open_in_memory(&store, &keyspace);
  run(write_and_read, thread_count, NULL);
  EXPECT(ESKER_ERROR_KEY_TOO_LONG, esker_contains(keyspace, "", 70000));
  run(fail_otherwise, 1, NULL);
  CHECK(strstr(esker_last_error(), "70000") != NULL);
  int64_t sum = 0;
  OK(esker_increment(keyspace, BYTES("sum"), 0, NULL, &sum));
  CHECK(sum == thread_count * rounds);
  esker_range range = ESKER_RANGE_INIT;
  // Until they have met.
  for (int round = 0; refusals == 0 && round < 10000; round++) {
    OK(esker_cursor_open(keyspace, NULL, &range, &cursor));
    run(share_a_cursor, 2, NULL);
    OK(esker_cursor_close(cursor));
  }
  CHECK(refusals > 0);
  run(read_until_closed, thread_count, close_all);
  CHECK(unexpected == 0);
}
