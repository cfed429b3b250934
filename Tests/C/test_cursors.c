// Snapshots, cursors without order, ranges.
#include <errno.h>

#include "check.h"

static void fill_numbers(esker_keyspace *keyspace, int count) {
  for (int number = 0; number < count; number++) {
    char key[16], value[16];
    int key_length = snprintf(key, sizeof key, "n%05d", number);
    int value_length = snprintf(value, sizeof value, "v%d", number);
    OK(esker_put(keyspace, key, (size_t)key_length, value, (size_t)value_length, NULL, NULL));
  }
}

/// How many entries a cursor shows, each `step` behind the one before, or in any order if that is 0.
static int read_numbers(esker_keyspace *keyspace, esker_snapshot *snapshot, const esker_range *range, int step,
                        int *first) {
  esker_cursor *cursor = NULL;
  esker_entry entry = ESKER_ENTRY_INIT;
  int count = 0, last = 0;
  *first = -1;
  OK(esker_cursor_open(keyspace, snapshot, range, &cursor));
  esker_status status;
  while ((status = esker_cursor_next(cursor, &entry)) == ESKER_OK) {
    char text[16] = "";
    if (entry.key_length >= sizeof text) break;
    memcpy(text, entry.key, entry.key_length);
    int number = atoi(text + 1);
    char value[16];
    int length = snprintf(value, sizeof value, "v%d", number);
    if (entry.value != NULL && (entry.value_length != (size_t)length || memcmp(entry.value, value, entry.value_length) != 0)) break;
    if (entry.version == 0 || entry.expires_at_ms != ESKER_NEVER) break;
    if (count == 0) *first = number;
    if (count > 0 && step != 0 && number != last + step) break;
    last = number;
    count++;
  }
  EXPECT(ESKER_END, status);
  // The end stays the end.
  EXPECT(ESKER_END, esker_cursor_next(cursor, &entry));
  CHECK(entry.key == NULL && entry.key_length == 0);
  OK(esker_cursor_close(cursor));
  return count;
}

void test_snapshots(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL, *later = NULL;
  esker_snapshot *snapshot = NULL;
  void *value = NULL;
  size_t length = 0;
  int first = 0;
  open_in_memory(&store, &keyspace);
  fill_numbers(keyspace, 100);
  OK(esker_snapshot_open(store, &snapshot));
  OK(esker_put(keyspace, BYTES("n00007"), BYTES("other"), NULL, NULL));
  OK(esker_put(keyspace, BYTES("new"), BYTES("other"), NULL, NULL));
  OK(esker_remove(keyspace, BYTES("n00008"), NULL));
  OK(esker_snapshot_get(snapshot, keyspace, BYTES("n00007"), &value, &length));
  CHECK(length == 2 && memcmp(value, "v7", 2) == 0);
  esker_free(value);
  OK(esker_snapshot_get(snapshot, keyspace, BYTES("n00008"), &value, &length));
  esker_free(value);
  EXPECT(ESKER_NOT_FOUND, esker_snapshot_get(snapshot, keyspace, BYTES("new"), &value, &length));
  CHECK(value == NULL);
  OK(esker_keyspace_open(store, "later", &later));
  EXPECT(ESKER_NOT_FOUND, esker_snapshot_get(snapshot, later, BYTES("n00007"), &value, &length));

  esker_range range = ESKER_RANGE_INIT;
  CHECK(read_numbers(keyspace, snapshot, NULL, 0, &first) == 100);
  CHECK(read_numbers(keyspace, snapshot, &range, 1, &first) == 100 && first == 0);
  range.reverse = 1;
  range.limit = 10;
  CHECK(read_numbers(keyspace, snapshot, &range, -1, &first) == 10 && first == 99);

  // A cursor outlives its snapshot, and the store.
  esker_cursor *cursor = NULL;
  esker_entry entry = ESKER_ENTRY_INIT;
  OK(esker_cursor_open(keyspace, snapshot, &range, &cursor));
  OK(esker_cursor_next(cursor, &entry));
  OK(esker_snapshot_close(snapshot));
  OK(esker_cursor_next(cursor, &entry));
  CHECK(entry.key_length == 6 && memcmp(entry.key, "n00098", 6) == 0);
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_snapshot_get(snapshot, keyspace, BYTES("a"), &value, &length));
  OK(esker_keyspace_close(later));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
  OK(esker_cursor_close(cursor));
}

static void test_ranges(esker_keyspace *keyspace) {
  int first = 0;
  esker_range range = ESKER_RANGE_INIT;
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 1000 && first == 0);
  range.from = (esker_slice){"n00100", 6};
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 900 && first == 100);
  range.from_excluded = 1;
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 899 && first == 101);
  range.to = (esker_slice){"n00200", 6};
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 99 && first == 101);
  range.to_included = 1;
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 100);
  range.reverse = 1;
  CHECK(read_numbers(keyspace, NULL, &range, -1, &first) == 100 && first == 200);
  range.limit = 17;
  CHECK(read_numbers(keyspace, NULL, &range, -1, &first) == 17 && first == 200);
  range = (esker_range)ESKER_RANGE_INIT;
  range.prefix = (esker_slice){"n0012", 5};
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 10 && first == 120);
  range.prefix = (esker_slice){"none", 4};
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 0);
  range.prefix = (esker_slice){"", 0};
  range.keys_only = 1;
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 1000);
  // The least key is before all: an empty bound is one.
  range.to = (esker_slice){"", 0};
  CHECK(read_numbers(keyspace, NULL, &range, 1, &first) == 0);

  esker_cursor *cursor = NULL;
  esker_entry entry = ESKER_ENTRY_INIT;
  range = (esker_range)ESKER_RANGE_INIT;
  range.keys_only = 1;
  OK(esker_cursor_open(keyspace, NULL, &range, &cursor));
  OK(esker_cursor_next(cursor, &entry));
  CHECK(entry.value == NULL && entry.value_length == 2);
  OK(esker_cursor_close(cursor));
}

/// Values that are larger than what a cursor reads ahead.
static void test_large_values(esker_store *store) {
  esker_keyspace *keyspace = NULL;
  OK(esker_keyspace_open(store, "large", &keyspace));
  static char value[300 << 10];
  for (char letter = 'a'; letter <= 'h'; letter++) {
    memset(value, letter, sizeof value);
    OK(esker_put(keyspace, &letter, 1, value, sizeof value, NULL, NULL));
  }
  esker_range range = ESKER_RANGE_INIT;
  esker_cursor *cursor = NULL;
  esker_entry entry = ESKER_ENTRY_INIT;
  for (int ordered = 0; ordered <= 1; ordered++) {
    OK(esker_cursor_open(keyspace, NULL, ordered ? &range : NULL, &cursor));
    int count = 0;
    while (esker_cursor_next(cursor, &entry) == ESKER_OK) {
      const char *key = entry.key, *bytes = entry.value;
      CHECK(entry.key_length == 1 && entry.value_length == sizeof value);
      CHECK(bytes[0] == key[0] && bytes[sizeof value - 1] == key[0]);
      if (ordered) CHECK(key[0] == 'a' + count);
      count++;
    }
    CHECK(count == 8);
    OK(esker_cursor_close(cursor));
  }
  OK(esker_keyspace_close(keyspace));
}

/// The numbers that a viewer was shown; it stops after `most`.
typedef struct numbers {
  int first, last, count, most;
  bool has_values;
} numbers;

static int note_number(void *context, const esker_entry *entry) {
  numbers *result = context;
  char text[16] = "", value[16];
  CHECK(entry->key_length < sizeof text && entry->version > 0);
  memcpy(text, entry->key, entry->key_length < sizeof text ? entry->key_length : 0);
  result->last = atoi(text + 1);
  if (result->count++ == 0) result->first = result->last;
  size_t length = (size_t)snprintf(value, sizeof value, "v%d", result->last);
  CHECK(entry->value_length == length);
  result->has_values = entry->value != NULL;
  if (entry->value != NULL) CHECK(memcmp(entry->value, value, length) == 0);
  return result->count == result->most;
}

static void test_views(esker_keyspace *keyspace) {
  numbers all = {0};
  EXPECT(ESKER_END, esker_view_range(keyspace, NULL, note_number, &all));
  CHECK(all.count == 1000 && all.first == 0 && all.last == 999 && all.has_values);
  esker_range range = ESKER_RANGE_INIT;
  range.from = (esker_slice){"n00100", 6};
  range.to = (esker_slice){"n00200", 6};
  range.reverse = 1;
  range.keys_only = 1;
  numbers some = {0};
  EXPECT(ESKER_END, esker_view_range(keyspace, &range, note_number, &some));
  CHECK(some.count == 100 && some.first == 199 && some.last == 100 && !some.has_values);
  range.limit = 10;
  some = (numbers){0};
  EXPECT(ESKER_END, esker_view_range(keyspace, &range, note_number, &some));
  CHECK(some.count == 10 && some.last == 190);
  some = (numbers){.most = 3};
  OK(esker_view_range(keyspace, &range, note_number, &some));
  CHECK(some.count == 3 && some.last == 197);
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_view_range(keyspace, &range, NULL, NULL));
  range.reserved[0] = 1;
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_view_range(keyspace, &range, note_number, &some));
}

void test_cursors(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  int first = 0;
  open_in_memory(&store, &keyspace);
  fill_numbers(keyspace, 1000);
  CHECK(read_numbers(keyspace, NULL, NULL, 0, &first) == 1000);
  test_ranges(keyspace);
  test_views(keyspace);
  test_large_values(store);

  // Without a range, a cursor shows the instant at which it was opened.
  esker_cursor *cursor = NULL;
  esker_entry entry = ESKER_ENTRY_INIT;
  OK(esker_cursor_open(keyspace, NULL, NULL, &cursor));
  OK(esker_remove_all(keyspace, NULL));
  int count = 0;
  while (esker_cursor_next(cursor, &entry) == ESKER_OK) count++;
  CHECK(count == 1000);
  OK(esker_cursor_close(cursor));

  // An empty key with an empty value.
  OK(esker_put(keyspace, NULL, 0, NULL, 0, NULL, NULL));
  OK(esker_cursor_open(keyspace, NULL, NULL, &cursor));
  OK(esker_cursor_next(cursor, &entry));
  CHECK(entry.key != NULL && entry.key_length == 0 && entry.value != NULL && entry.value_length == 0);
  OK(esker_cursor_close(cursor));

  esker_range range = ESKER_RANGE_INIT;
  OK(esker_cursor_open(keyspace, NULL, &range, &cursor));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
  EXPECT(ESKER_ERROR_CLOSED, esker_cursor_next(cursor, &entry));
  OK(esker_cursor_close(cursor));
}

void test_copies(void) {
  esker_store *store = NULL, *copy = NULL;
  esker_keyspace *keyspace = NULL;
  OK(esker_open(path_of("original"), NULL, &store));
  OK(esker_keyspace_open(store, "k", &keyspace));
  fill_numbers(keyspace, 100);
  OK(esker_backup(store, path_of("backup-1"), NULL));
  EXPECT(ESKER_ERROR_DIRECTORY_NOT_EMPTY, esker_backup(store, path_of("backup-1"), NULL));
  OK(esker_put(keyspace, BYTES("more"), BYTES("1"), NULL, NULL));
  OK(esker_backup(store, path_of("backup-2"), path_of("backup-1")));
  OK(esker_merge(store));
  OK(esker_keyspace_close(keyspace));
  OK(esker_open(path_of("backup-2"), NULL, &copy));
  EXPECT(ESKER_ERROR_SYSTEM, esker_backup(store, path_of("backup-3"), path_of("nothing")));
  CHECK(esker_last_errno() == ENOENT);
  OK(esker_keyspace_open(copy, "k", &keyspace));
  CHECK(has_value(keyspace, "n00042", "v42") && has_value(keyspace, "more", "1"));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(copy));
  OK(esker_close(store));
}
