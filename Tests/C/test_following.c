// Ranges that are counted and removed, verification, events, change feeds.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "check.h"

static void put_number(esker_keyspace *keyspace, int number) {
  char key[16];
  int length = snprintf(key, sizeof key, "n%05d", number);
  OK(esker_put(keyspace, key, (size_t)length, BYTES("v"), NULL, NULL));
}

void test_key_ranges(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  uint64_t count = 7;
  open_in_memory(&store, &keyspace);
  for (int number = 0; number < 1000; number++) put_number(keyspace, number);
  esker_range range = ESKER_RANGE_INIT;
  OK(esker_count_range(keyspace, &range, &count));
  CHECK(count == 1000);
  range.from = (esker_slice){BYTES("n00100")};
  range.to = (esker_slice){BYTES("n00200")};
  OK(esker_count_range(keyspace, &range, &count));
  CHECK(count == 100);
  range.to_included = 1;
  range.from_excluded = 1;
  OK(esker_count_range(keyspace, &range, &count));
  CHECK(count == 100);
  OK(esker_remove_range(keyspace, &range, NULL, &count));
  CHECK(count == 100);
  OK(esker_count_range(keyspace, &range, &count));
  CHECK(count == 0);
  CHECK(has_value(keyspace, "n00100", "v") && has_value(keyspace, "n00201", "v") && !has_value(keyspace, "n00200", "v"));
  esker_range tail = ESKER_RANGE_INIT;
  tail.prefix = (esker_slice){BYTES("n009")};
  OK(esker_remove_range(keyspace, &tail, NULL, NULL));
  OK(esker_count(keyspace, &count));
  CHECK(count == 800);

  // What says nothing of a set of keys.
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_count_range(keyspace, NULL, &count));
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_remove_range(keyspace, NULL, NULL, NULL));
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_count_range(keyspace, &range, NULL));
  for (int field = 0; field < 3; field++) {
    esker_range wrong = ESKER_RANGE_INIT;
    if (field == 0) wrong.reverse = 1;
    if (field == 1) wrong.keys_only = 1;
    if (field == 2) wrong.limit = 5;
    EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_count_range(keyspace, &wrong, &count));
    EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_remove_range(keyspace, &wrong, NULL, NULL));
  }
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_count_range(NULL, &range, &count));
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_remove_range(NULL, &range, NULL, &count));
  OK(esker_close(store));
  EXPECT(ESKER_ERROR_CLOSED, esker_remove_range(keyspace, &range, NULL, &count));
  OK(esker_keyspace_close(keyspace));
}

static int go_on(void *context, double share) {
  *(double *)context = share;
  return 0;
}

static int stop(void *context, double share) {
  (void)context;
  (void)share;
  return 1;
}

void test_verification(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  esker_verify_report report = ESKER_VERIFY_REPORT_INIT;
  char *json = NULL;
  size_t length = 0;
  double share = 0;
  OK(esker_open(path_of("verified"), NULL, &store));
  OK(esker_keyspace_open(store, NULL, &keyspace));
  for (int number = 0; number < 100; number++) put_number(keyspace, number);
  OK(esker_put(keyspace, BYTES("damaged"), BYTES("whose bytes are easily found"), NULL, NULL));
  OK(esker_verify(store, go_on, &share, &report, &json, &length));
  CHECK(report.damaged_ranges == 0 && report.records >= 101 && report.files > 0 && report.bytes > 0 && share == 1);
  CHECK(json != NULL && strlen(json) == length && strstr(json, "\"damage\":[]") != NULL);
  esker_free(json);
  EXPECT(ESKER_ERROR_CANCELLED, esker_verify(store, stop, NULL, &report, &json, &length));
  CHECK(json == NULL && length == 0 && report.records == 0);
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_verify(store, NULL, NULL, NULL, NULL, NULL));
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_verify(NULL, NULL, NULL, &report, NULL, NULL));

  // One byte of a value, in the file.
  char path[1100];
  bool is_changed = false;
  for (int number = 0; number < 4 && !is_changed; number++) {
    snprintf(path, sizeof path, "%s/%016x.segment", path_of("verified"), (unsigned)number);
    FILE *file = fopen(path, "r+b");
    if (file == NULL) continue;
    static char contents[1 << 20];
    size_t size = fread(contents, 1, sizeof contents, file);
    for (size_t place = 0; place + 5 < size; place++) {
      if (memcmp(contents + place, "whose", 5) != 0) continue;
      fseek(file, (long)place, SEEK_SET);
      fputc('W', file);
      is_changed = true;
      break;
    }
    fclose(file);
  }
  CHECK(is_changed);
  OK(esker_verify(store, NULL, NULL, &report, &json, NULL));
  CHECK(report.damaged_ranges == 1 && report.lost_records <= 1);
  CHECK(json != NULL && strstr(json, ".segment") != NULL && strstr(json, "\"reason\":") != NULL);
  esker_free(json);
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_verify(store, NULL, NULL, &report, NULL, NULL));
}

struct seen {
  atomic_int kinds[32];
  atomic_int wrong;
  atomic_int is_closed;
};

static void note_event(void *context, const esker_event *event) {
  struct seen *seen = context;
  if (event->size < sizeof(esker_event) || event->kind < 1 || event->kind > 31) {
    seen->wrong++;
    return;
  }
  if (event->text == NULL || event->text[0] == 0 || seen->is_closed) seen->wrong++;
  if (event->kind == ESKER_EVENT_OPENED && event->duration_ns < 0) seen->wrong++;
  if (event->kind == ESKER_EVENT_SEGMENT_SEALED && (event->bytes == 0 || event->records == 0)) seen->wrong++;
  seen->kinds[event->kind]++;
  if (event->kind == ESKER_EVENT_CLOSED) seen->is_closed = 1;
}

void test_events(void) {
  static struct seen seen;
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  esker_options options = ESKER_OPTIONS_INIT;
  options.event_context = &seen;
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_open(path_of("observed"), &options, &store));
  options.on_event = note_event;
  options.segment_size = 64 << 10;
  OK(esker_open(path_of("observed"), &options, &store));
  CHECK(seen.kinds[ESKER_EVENT_OPENED] == 1);
  OK(esker_keyspace_open(store, NULL, &keyspace));
  static char value[10000];
  for (int round = 0; round < 50; round++) OK(esker_put(keyspace, BYTES("k"), value, sizeof value, NULL, NULL));
  OK(esker_merge(store));
  CHECK(seen.kinds[ESKER_EVENT_SEGMENT_SEALED] > 0 && seen.kinds[ESKER_EVENT_MERGE_ENDED] > 0);
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
  for (int wait = 0; wait < 100000 && !seen.is_closed; wait++) {
    // Another thread may be telling it.
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
  CHECK(seen.is_closed == 1 && seen.wrong == 0);
}

static bool is_text(const void *bytes, size_t length, const char *text) {
  return bytes != NULL && length == strlen(text) && memcmp(bytes, text, length) == 0;
}

static esker_keyspace *written = NULL;

static void *write_later(void *argument) {
  struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  OK(esker_put(written, BYTES("later"), BYTES("v"), NULL, NULL));
  return argument;
}

static void *close_later(void *argument) {
  struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  OK(esker_close(argument));
  return NULL;
}

void test_changes(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL, *other = NULL;
  esker_changes *changes = NULL, *later = NULL;
  esker_snapshot *snapshot = NULL;
  esker_batch *batch = NULL;
  esker_change change = ESKER_CHANGE_INIT;
  esker_write_options synced = ESKER_WRITE_OPTIONS_INIT;
  uint64_t sequence = 0;
  synced.durability = ESKER_DURABILITY_SYNCED;
  OK(esker_open(path_of("followed"), NULL, &store));
  OK(esker_keyspace_open(store, NULL, &keyspace));
  OK(esker_keyspace_open(store, "other", &other));
  OK(esker_changes_open(store, 0, NULL, &changes));
  EXPECT(ESKER_NOT_YET, esker_changes_next(changes, 0, &change));
  EXPECT(ESKER_NOT_YET, esker_changes_next(changes, 5, &change));
  CHECK(change.kind == 0 && change.key == NULL);

  OK(esker_put(keyspace, BYTES("k"), BYTES("v"), NULL, NULL));
  // Not before it is durable: whoever waits has it synced.
  OK(esker_changes_next(changes, 60000, &change));
  CHECK(change.kind == ESKER_CHANGE_PUT && is_text(change.key, change.key_length, "k") &&
        is_text(change.value, change.value_length, "v") && strcmp(change.keyspace, "") == 0 &&
        change.expires_at_ms == ESKER_NEVER && change.batch_continues == 0 && change.sequence > 0);
  OK(esker_snapshot_open(store, &snapshot));
  OK(esker_snapshot_sequence(snapshot, &sequence));
  CHECK(sequence >= change.sequence);
  OK(esker_changes_open(store, sequence, NULL, &later));

  OK(esker_batch_create(store, &batch));
  OK(esker_batch_put(batch, other, BYTES("a"), BYTES(""), NULL));
  OK(esker_batch_remove(batch, keyspace, BYTES("k")));
  OK(esker_batch_commit(batch, &synced));
  OK(esker_remove_all(other, &synced));
  for (int feed = 0; feed < 2; feed++) {
    esker_changes *shown = feed == 0 ? changes : later;
    OK(esker_changes_next(shown, 0, &change));
    CHECK(change.kind == ESKER_CHANGE_PUT && strcmp(change.keyspace, "other") == 0 && change.batch_continues == 1);
    CHECK(is_text(change.key, change.key_length, "a") && change.value != NULL && change.value_length == 0);
    OK(esker_changes_next(shown, 0, &change));
    CHECK(change.kind == ESKER_CHANGE_REMOVE && is_text(change.key, change.key_length, "k") && change.value == NULL);
    CHECK(change.batch_continues == 0);
    OK(esker_changes_next(shown, 0, &change));
    CHECK(change.kind == ESKER_CHANGE_REMOVE_ALL && strcmp(change.keyspace, "other") == 0 && change.key == NULL);
    EXPECT(ESKER_NOT_YET, esker_changes_next(shown, 0, &change));
  }

  // At once, if asked for.
  esker_changes_options options = ESKER_CHANGES_OPTIONS_INIT;
  esker_changes *unsynced = NULL;
  options.including_unsynced = 1;
  OK(esker_changes_open(store, ESKER_NOW, &options, &unsynced));
  OK(esker_put(keyspace, BYTES("now"), BYTES("v"), NULL, NULL));
  OK(esker_changes_next(unsynced, 0, &change));
  CHECK(is_text(change.key, change.key_length, "now"));
  EXPECT(ESKER_NOT_YET, esker_changes_next(changes, 0, &change));
  OK(esker_sync(store));
  OK(esker_changes_next(changes, 0, &change));

  // Whoever waits is woken.
  pthread_t thread;
  written = keyspace;
  CHECK(pthread_create(&thread, NULL, write_later, NULL) == 0);
  OK(esker_changes_next(changes, -1, &change));
  CHECK(is_text(change.key, change.key_length, "later"));
  CHECK(pthread_join(thread, NULL) == 0);

  // What is wrong.
  options.reserved[6] = 1;
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_changes_open(store, 0, &options, &(esker_changes *){NULL}));
  options.reserved[6] = 0;
  options.including_unsynced = 2;
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_changes_open(store, 0, &options, &(esker_changes *){NULL}));
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_changes_open(store, 0, NULL, NULL));
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_changes_next(changes, 0, NULL));
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_changes_open(NULL, 0, NULL, &(esker_changes *){NULL}));
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_changes_next((esker_changes *)store, 0, &change));
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_snapshot_sequence(NULL, &sequence));
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_snapshot_sequence(snapshot, NULL));
  esker_changes *gone = NULL;
  OK(esker_changes_open(store, 1000000, NULL, &gone));
  EXPECT(ESKER_ERROR_HISTORY_GONE, esker_changes_next(gone, 0, &change));

  // The end of the store is that of a wait, and of the feed, but not before its last write, which was not durable before.
  CHECK(pthread_create(&thread, NULL, close_later, store) == 0);
  OK(esker_put(keyspace, BYTES("last"), BYTES("v"), NULL, NULL));
  esker_status status = ESKER_NOT_YET;
  while (status == ESKER_NOT_YET) status = esker_changes_next(changes, 0, &change);
  CHECK(status == ESKER_OK && is_text(change.key, change.key_length, "last"));
  EXPECT(ESKER_END, esker_changes_next(changes, -1, &change));
  CHECK(pthread_join(thread, NULL) == 0);
  EXPECT(ESKER_END, esker_changes_next(changes, 1000, &change));
  OK(esker_changes_close(changes));
  EXPECT(ESKER_ERROR_INVALID_HANDLE, esker_changes_next(changes, 0, &change));
  OK(esker_changes_close(later));
  OK(esker_changes_close(unsynced));
  OK(esker_changes_close(gone));
  OK(esker_changes_close(NULL));
  OK(esker_batch_free(batch));
  OK(esker_snapshot_close(snapshot));
  OK(esker_keyspace_close(keyspace));
  OK(esker_keyspace_close(other));
}
