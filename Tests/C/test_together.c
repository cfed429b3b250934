// Ranges, views, verification, merges, events and change feeds at once, and a store that is closed meanwhile.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { writers = 3, feeds = 2, closers = 4, rounds = 25, keys = 100, removed_keys = 40, value_size = 1000 };

static esker_store *store = NULL;
static esker_keyspace *keyspace = NULL;
static atomic_int unexpected = 0;
static atomic_bool written = false;
static atomic_bool told_closed = false;
// No atomic one: the store tells one event at a time.
static int events = 0;
static int segments_sealed = 0;

static void count_event(void *context, const esker_event *event) {
  (void)context;
  events++;
  if (event->kind == ESKER_EVENT_SEGMENT_SEALED) segments_sealed++;
  if (event->kind == ESKER_EVENT_CLOSED) told_closed = true;
}

// Not each of so many is counted, and of those that do not hold the first few.
static void expect_at(bool holds, const char *text, int line) {
  if (!holds && unexpected++ < 10) check(false, text, __FILE__, line);
}
#define expect(condition) expect_at((condition), #condition, __LINE__)

// What a viewer has seen: values of one byte, keys in order.
typedef struct view {
  int shown;
  char last[4];
} view;

static int look(void *context, const esker_entry *entry) {
  view *seen = context;
  const char *value = entry->value;
  expect(entry->value_length == value_size && value[0] == value[value_size - 1]);
  expect(entry->key_length == sizeof seen->last);
  if (entry->key_length != sizeof seen->last) return 1;
  expect(seen->shown == 0 || memcmp(seen->last, entry->key, entry->key_length) < 0);
  memcpy(seen->last, entry->key, entry->key_length);
  seen->shown++;
  return 0;
}

// Each has keys of its own, so what it finds of them is known.
static void *write_and_look(void *argument) {
  int number = (int)(uintptr_t)argument;
  char value[value_size], prefix[16], first[16], key[16];
  int prefix_length = snprintf(prefix, sizeof prefix, "%d-", number);
  int first_length = snprintf(first, sizeof first, "%d-%02d", number, keys - removed_keys);
  esker_range mine = ESKER_RANGE_INIT, rest = ESKER_RANGE_INIT, all = ESKER_RANGE_INIT;
  mine.prefix = (esker_slice){prefix, (size_t)prefix_length};
  rest.prefix = mine.prefix;
  rest.from = (esker_slice){first, (size_t)first_length};
  for (int round = 0; round < rounds; round++) {
    uint64_t count = 0;
    memset(value, 'a' + round % 26, sizeof value);
    for (int index = 0; index < keys; index++) {
      int length = snprintf(key, sizeof key, "%d-%02d", number, index);
      expect(esker_put(keyspace, key, (size_t)length, value, sizeof value, NULL, NULL) == ESKER_OK);
    }
    view one = {0}, many = {0}, everything = {0};
    expect(esker_view(keyspace, first, (size_t)first_length, look, &one) == ESKER_OK && one.shown == 1);
    expect(esker_view_range(keyspace, &mine, look, &many) == ESKER_END && many.shown == keys);
    // With what the others write meanwhile.
    expect(esker_view_range(keyspace, &all, look, &everything) == ESKER_END && everything.shown >= keys);
    expect(esker_count_range(keyspace, &mine, &count) == ESKER_OK && count == keys);
    expect(esker_count_range(keyspace, &all, &count) == ESKER_OK && count >= keys);
    expect(esker_remove_range(keyspace, &rest, NULL, &count) == ESKER_OK && count == removed_keys);
    expect(esker_count_range(keyspace, &mine, &count) == ESKER_OK && count == keys - removed_keys);
  }
  return NULL;
}

static void *merge_and_verify(void *argument) {
  (void)argument;
  do {
    esker_verify_report report = ESKER_VERIFY_REPORT_INIT;
    char *json = NULL;
    size_t length = 0;
    expect(esker_merge(store) == ESKER_OK);
    expect(esker_verify(store, NULL, NULL, &report, &json, &length) == ESKER_OK);
    expect(report.damaged_ranges == 0 && json != NULL && length == strlen(json));
    esker_free(json);
  } while (!written);
  return NULL;
}

// Sees each write once, and ends with the store.
static void *follow(void *argument) {
  esker_changes *changes = argument;
  esker_change change = ESKER_CHANGE_INIT;
  uint64_t last = 0;
  int puts = 0, removals = 0;
  esker_status status;
  while ((status = esker_changes_next(changes, -1, &change)) == ESKER_OK) {
    expect(change.sequence > last && (change.kind == ESKER_CHANGE_PUT || change.kind == ESKER_CHANGE_REMOVE));
    last = change.sequence;
    if (change.kind == ESKER_CHANGE_PUT) {
      puts++;
      expect(change.value_length == value_size);
    } else {
      removals++;
    }
  }
  expect(status == ESKER_END && puts == writers * rounds * keys && removals == writers * rounds * removed_keys);
  return NULL;
}

// Each calls something else until the store is closed.
static void *call_until_closed(void *argument) {
  esker_range all = ESKER_RANGE_INIT;
  esker_status status = ESKER_OK;
  while (!ESKER_FAILED(status)) {
    esker_verify_report report = ESKER_VERIFY_REPORT_INIT;
    view seen = {0};
    uint64_t count = 0;
    switch ((uintptr_t)argument) {
      case 0: status = esker_view_range(keyspace, &all, look, &seen); break;
      case 1: status = esker_view(keyspace, BYTES("1-00"), look, &seen); break;
      case 2: status = esker_count_range(keyspace, &all, &count); break;
      default: status = esker_verify(store, NULL, NULL, &report, NULL, NULL); break;
    }
  }
  expect(status == ESKER_ERROR_CLOSED || status == ESKER_ERROR_INVALID_HANDLE);
  return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument) {
  CHECK(pthread_create(thread, NULL, body, argument) == 0);
}

static void join(pthread_t *threads, int count) {
  for (int index = 0; index < count; index++) CHECK(pthread_join(threads[index], NULL) == 0);
}

void test_together(void) {
  pthread_t writing[writers], following[feeds], closing[closers], merging;
  esker_changes *changes[feeds];
  esker_options options = ESKER_OPTIONS_INIT;
  // So that there is something to seal and to merge.
  options.segment_size = 1 << 18;
  options.on_event = count_event;
  OK(esker_open(path_of("together"), &options, &store));
  OK(esker_keyspace_open(store, NULL, &keyspace));
  for (int feed = 0; feed < feeds; feed++) {
    esker_changes_options shown = ESKER_CHANGES_OPTIONS_INIT;
    shown.including_unsynced = feed == 0;
    OK(esker_changes_open(store, ESKER_NOW, &shown, &changes[feed]));
    start(&following[feed], follow, changes[feed]);
  }
  start(&merging, merge_and_verify, NULL);
  for (uintptr_t writer = 0; writer < writers; writer++) start(&writing[writer], write_and_look, (void *)(writer + 1));
  join(writing, writers);
  written = true;
  join(&merging, 1);
  for (uintptr_t closer = 0; closer < closers; closer++) start(&closing[closer], call_until_closed, (void *)closer);
  OK(esker_close(store));
  join(closing, closers);
  join(following, feeds);
  for (int feed = 0; feed < feeds; feed++) OK(esker_changes_close(changes[feed]));
  OK(esker_keyspace_close(keyspace));
  // The last event may come a little later.
  struct timespec pause = {0, 1000000};
  while (!told_closed) nanosleep(&pause, NULL);
  CHECK(events > segments_sealed && segments_sealed > 1);
}
