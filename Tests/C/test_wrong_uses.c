// What a caller must not do: each is an error, and nothing else happens.
#include "check.h"

static int view_nothing(void *context, const esker_entry *entry) { return context != NULL && entry != NULL; }

static void test_null_handles(void) {
  void *value = NULL;
  size_t length = 0;
  uint64_t number = 0;
  int64_t sum = 0;
  char *json = NULL;
  char **names = NULL;
  esker_info info = ESKER_INFO_INIT;
  esker_entry entry = ESKER_ENTRY_INIT;
  esker_keyspace *keyspace = NULL;
  esker_batch *batch = NULL;
  esker_snapshot *snapshot = NULL;
  esker_cursor *cursor = NULL;
#define BAD(call) EXPECT(ESKER_ERROR_INVALID_HANDLE, call)
  BAD(esker_sync(NULL));
  BAD(esker_refresh(NULL));
  BAD(esker_merge(NULL));
  BAD(esker_backup(NULL, "d", NULL));
  BAD(esker_statistics(NULL, &json, &length));
  BAD(esker_keyspace_open(NULL, "k", &keyspace));
  BAD(esker_keyspace_remove(NULL, "k"));
  BAD(esker_keyspace_names(NULL, &names, &length));
  BAD(esker_count(NULL, &number));
  BAD(esker_get(NULL, BYTES("k"), &value, &length));
  BAD(esker_get_into(NULL, BYTES("k"), NULL, 0, &length));
  BAD(esker_get_many(NULL, NULL, 0, NULL, &value));
  BAD(esker_contains(NULL, BYTES("k")));
  BAD(esker_get_info(NULL, BYTES("k"), &info));
  BAD(esker_view(NULL, BYTES("k"), view_nothing, NULL));
  BAD(esker_view_range(NULL, NULL, view_nothing, NULL));
  BAD(esker_put(NULL, BYTES("k"), BYTES("v"), NULL, NULL));
  BAD(esker_put_if_absent(NULL, BYTES("k"), BYTES("v"), NULL, NULL));
  BAD(esker_put_if_version(NULL, BYTES("k"), 1, BYTES("v"), NULL, NULL));
  BAD(esker_compare_and_set(NULL, BYTES("k"), BYTES("v"), BYTES("v"), NULL, NULL));
  BAD(esker_increment(NULL, BYTES("k"), 1, NULL, &sum));
  BAD(esker_touch(NULL, BYTES("k"), NULL, NULL));
  BAD(esker_remove(NULL, BYTES("k"), NULL));
  BAD(esker_remove_if_version(NULL, BYTES("k"), 1, NULL));
  BAD(esker_remove_all(NULL, NULL));
  BAD(esker_batch_create(NULL, &batch));
  BAD(esker_batch_put(NULL, NULL, BYTES("k"), BYTES("v"), NULL));
  BAD(esker_batch_remove(NULL, NULL, BYTES("k")));
  BAD(esker_batch_require(NULL, NULL, BYTES("k"), 0));
  BAD(esker_batch_commit(NULL, NULL));
  BAD(esker_snapshot_open(NULL, &snapshot));
  BAD(esker_snapshot_get(NULL, NULL, BYTES("k"), &value, &length));
  BAD(esker_cursor_open(NULL, NULL, NULL, &cursor));
  BAD(esker_cursor_next(NULL, &entry));
  // Nothing to close is closed.
  OK(esker_close(NULL));
  OK(esker_keyspace_close(NULL));
  OK(esker_batch_free(NULL));
  OK(esker_snapshot_close(NULL));
  OK(esker_cursor_close(NULL));
}

static void test_closed_handles(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  esker_snapshot *snapshot = NULL;
  esker_cursor *cursor = NULL;
  esker_batch *batch = NULL;
  size_t length = 0;
  char *json = NULL;
  open_in_memory(&store, &keyspace);
  OK(esker_snapshot_open(store, &snapshot));
  OK(esker_cursor_open(keyspace, snapshot, NULL, &cursor));
  OK(esker_batch_create(store, &batch));

  // One for the other.
  BAD(esker_sync((esker_store *)keyspace));
  BAD(esker_contains((esker_keyspace *)store, BYTES("k")));
  BAD(esker_cursor_close((esker_cursor *)batch));
  BAD(esker_close((esker_store *)snapshot));

  OK(esker_keyspace_close(keyspace));
  BAD(esker_keyspace_close(keyspace));
  BAD(esker_put(keyspace, BYTES("k"), BYTES("v"), NULL, NULL));
  // Its place is used again, by others that are open, and it still is closed.
  esker_keyspace *others[1000];
  for (int index = 0; index < 1000; index++) {
    OK(esker_keyspace_open(store, NULL, &others[index]));
    CHECK(others[index] != keyspace);
  }
  BAD(esker_put(keyspace, BYTES("k"), BYTES("v"), NULL, NULL));
  BAD(esker_keyspace_close(keyspace));
  for (int index = 0; index < 1000; index++) OK(esker_keyspace_close(others[index]));
  // More than can be open at a time.
  int failures = 0;
  for (int round = 0; round < 1100000; round++) {
    if (esker_keyspace_open(store, NULL, &others[0]) != ESKER_OK || esker_keyspace_close(others[0]) != ESKER_OK) failures++;
  }
  CHECK(failures == 0);

  OK(esker_keyspace_open(store, NULL, &keyspace));
  OK(esker_close(store));
  BAD(esker_close(store));
  BAD(esker_sync(store));
  EXPECT(ESKER_ERROR_CLOSED, esker_put(keyspace, BYTES("k"), BYTES("v"), NULL, NULL));
  EXPECT(ESKER_ERROR_CLOSED, esker_get_into(keyspace, BYTES("k"), NULL, 0, &length));
  BAD(esker_statistics(store, &json, &length));
  CHECK(json == NULL);
  OK(esker_keyspace_close(keyspace));
  OK(esker_batch_free(batch));
  BAD(esker_batch_free(batch));
  OK(esker_snapshot_close(snapshot));
  BAD(esker_snapshot_close(snapshot));
  OK(esker_cursor_close(cursor));
  BAD(esker_cursor_close(cursor));

  // What never was a handle.
  int something = 0;
  uintptr_t numbers[] = {1, 2, 7, 8, 9, 16, 4096, UINTPTR_MAX, UINTPTR_MAX - 6, UINTPTR_MAX / 2, (uintptr_t)&something};
  for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
    BAD(esker_sync((esker_store *)numbers[index]));
    BAD(esker_contains((esker_keyspace *)numbers[index], BYTES("k")));
    BAD(esker_cursor_close((esker_cursor *)numbers[index]));
  }
#undef BAD
}

static void test_arguments(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  void *value = NULL;
  size_t length = 0;
  esker_slice slice = {NULL, 0};
  open_in_memory(&store, &keyspace);
#define BAD(call) EXPECT(ESKER_ERROR_INVALID_ARGUMENT, call)
  BAD(esker_open(NULL, NULL, &store));
  CHECK(store == NULL);
  OK(esker_keyspace_close(keyspace));
  open_in_memory(&store, &keyspace);
  BAD(esker_open("x", NULL, NULL));
  BAD(esker_open("\xff\xfe", NULL, &(esker_store *){NULL}));
  BAD(esker_backup(store, NULL, NULL));
  BAD(esker_backup(store, "\xff", NULL));
  BAD(esker_statistics(store, NULL, &length));
  BAD(esker_keyspace_open(store, "k", NULL));
  BAD(esker_keyspace_open(store, "\xff", &(esker_keyspace *){NULL}));
  BAD(esker_keyspace_remove(store, NULL));
  BAD(esker_keyspace_names(store, NULL, &length));
  BAD(esker_keyspace_names(store, &(char **){NULL}, NULL));
  BAD(esker_count(keyspace, NULL));
  BAD(esker_get(keyspace, NULL, 1, &value, &length));
  BAD(esker_get(keyspace, BYTES("k"), NULL, &length));
  BAD(esker_get(keyspace, BYTES("k"), &value, NULL));
  BAD(esker_get_into(keyspace, BYTES("k"), NULL, 1, &length));
  BAD(esker_get_into(keyspace, BYTES("k"), &value, SIZE_MAX, &length));
  BAD(esker_get_into(keyspace, BYTES("k"), NULL, 0, NULL));
  BAD(esker_get_many(keyspace, NULL, 1, &slice, &value));
  BAD(esker_get_many(keyspace, &slice, 1, NULL, &value));
  BAD(esker_get_many(keyspace, &slice, 1, &slice, NULL));
  BAD(esker_get_many(keyspace, &slice, SIZE_MAX, &slice, &value));
  BAD(esker_get_many(keyspace, &slice, ESKER_MAXIMUM_KEY_COUNT + 1, &slice, &value));
  BAD(esker_contains(keyspace, NULL, 1));
  BAD(esker_get_info(keyspace, BYTES("k"), NULL));
  BAD(esker_put(keyspace, NULL, 1, BYTES("v"), NULL, NULL));
  BAD(esker_put(keyspace, BYTES("k"), NULL, 1, NULL, NULL));
  BAD(esker_compare_and_set(keyspace, BYTES("k"), NULL, 1, BYTES("v"), NULL, NULL));
  BAD(esker_batch_create(store, NULL));
  BAD(esker_snapshot_open(store, NULL));
  BAD(esker_cursor_open(keyspace, NULL, NULL, NULL));
  // Lengths that no memory has.
  size_t lengths[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1};
  for (int index = 0; index < 3; index++) {
    EXPECT(ESKER_ERROR_KEY_TOO_LONG, esker_get(keyspace, "k", lengths[index], &value, &length));
    EXPECT(ESKER_ERROR_KEY_TOO_LONG, esker_get(keyspace, NULL, lengths[index], &value, &length));
    EXPECT(ESKER_ERROR_VALUE_TOO_LONG, esker_put(keyspace, "k", 1, "v", lengths[index], NULL, NULL));
    slice = (esker_slice){"k", lengths[index]};
    EXPECT(ESKER_ERROR_KEY_TOO_LONG, esker_get_many(keyspace, &slice, 1, &slice, &value));
    esker_range range = ESKER_RANGE_INIT;
    range.from = (esker_slice){"k", lengths[index]};
    EXPECT(ESKER_ERROR_KEY_TOO_LONG, esker_cursor_open(keyspace, NULL, &range, &(esker_cursor *){NULL}));
  }
  esker_cursor *cursor = NULL;
  OK(esker_cursor_open(keyspace, NULL, NULL, &cursor));
  BAD(esker_cursor_next(cursor, NULL));
  OK(esker_cursor_close(cursor));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
}

// Numbers that are possible, and that nobody has use for.
static void test_absurd_numbers(void) {
  for (int field = 0; field < 9; field++) {
    esker_options options = ESKER_OPTIONS_INIT;
    options.in_memory = field != 2;
    switch (field) {
      case 0: options.durability = ESKER_DURABILITY_PERIODIC, options.durability_period_ms = INT64_MAX; break;
      case 1: options.merge_bytes_per_second = UINT64_MAX; break;
      case 2: options.sharing = ESKER_SHARING_IN_TURN, options.sharing_patience_ms = INT64_MAX; break;
      case 3: options.capacity = UINT64_MAX - 1; break;
      case 4: options.capacity = (uint64_t)1 << 62; break;
      case 5: options.default_expiry = ESKER_EXPIRY_AFTER, options.default_expiry_ms = INT64_MAX; break;
      case 6: options.default_expiry = ESKER_EXPIRY_AFTER, options.default_expiry_ms = INT64_MIN; break;
      case 7: options.default_expiry = ESKER_EXPIRY_AT, options.default_expiry_ms = INT64_MIN; break;
      default: options.merge_bytes_per_second = 1; break;
    }
    esker_store *store = NULL;
    esker_keyspace *keyspace = NULL;
    OK(esker_open(path_of("absurd"), &options, &store));
    OK(esker_keyspace_open(store, NULL, &keyspace));
    OK(esker_put(keyspace, BYTES("k"), BYTES("v"), NULL, NULL));
    if (field != 8) OK(esker_merge(store));
    OK(esker_sync(store));
    OK(esker_keyspace_close(keyspace));
    OK(esker_close(store));
  }
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  esker_info info = ESKER_INFO_INIT;
  open_in_memory(&store, &keyspace);
  int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
  for (size_t index = 0; index < sizeof times / sizeof times[0]; index++) {
    for (int expiry = ESKER_EXPIRY_NEVER; expiry <= ESKER_EXPIRY_AT; expiry++) {
      esker_write_options options = ESKER_WRITE_OPTIONS_INIT;
      options.expiry = expiry;
      options.expiry_ms = times[index];
      options.durability = ESKER_DURABILITY_PERIODIC;
      options.durability_period_ms = INT64_MAX;
      OK(esker_put(keyspace, BYTES("k"), BYTES("v"), &options, NULL));
      bool stays = expiry == ESKER_EXPIRY_NEVER || times[index] > 0;
      EXPECT(stays ? ESKER_OK : ESKER_NOT_FOUND, esker_get_info(keyspace, BYTES("k"), &info));
      EXPECT(stays ? ESKER_OK : ESKER_NOT_FOUND, esker_touch(keyspace, BYTES("k"), &options, NULL));
    }
  }
  esker_range range = ESKER_RANGE_INIT;
  esker_cursor *cursor = NULL;
  esker_entry entry = ESKER_ENTRY_INIT;
  range.limit = UINT64_MAX;
  OK(esker_put(keyspace, BYTES("k"), BYTES("v"), NULL, NULL));
  OK(esker_cursor_open(keyspace, NULL, &range, &cursor));
  OK(esker_cursor_next(cursor, &entry));
  EXPECT(ESKER_END, esker_cursor_next(cursor, &entry));
  OK(esker_cursor_close(cursor));
  EXPECT(ESKER_CONFLICT, esker_put_if_version(keyspace, BYTES("k"), UINT64_MAX, BYTES("v"), NULL, NULL));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
}

void test_wrong_uses(void) {
  test_absurd_numbers();
  test_null_handles();
  test_closed_handles();
  test_arguments();
}

// What programs of older and newer headers pass, and what no header has.
void test_structs(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  open_in_memory(&store, &keyspace);

  // An older one ends earlier: what is missing is 0, whatever lies behind.
  struct {
    esker_write_options options;
  } older = {ESKER_WRITE_OPTIONS_INIT};
  older.options.size = offsetof(esker_write_options, expiry);
  older.options.expiry = 77;
  OK(esker_put(keyspace, BYTES("k"), BYTES("v"), &older.options, NULL));
  esker_info info = ESKER_INFO_INIT;
  info.size = offsetof(esker_info, value_length);
  info.value_length = 77;
  OK(esker_get_info(keyspace, BYTES("k"), &info));
  CHECK(info.version > 0 && info.value_length == 77);

  // A newer one goes on: what is unknown must be 0.
  struct {
    esker_write_options options;
    uint64_t more;
  } newer = {ESKER_WRITE_OPTIONS_INIT, 0};
  newer.options.size = sizeof newer;
  OK(esker_put(keyspace, BYTES("k"), BYTES("v"), &newer.options, NULL));
  newer.more = 1;
  BAD(esker_put(keyspace, BYTES("k"), BYTES("v"), &newer.options, NULL));
  struct {
    esker_info info;
    uint64_t more;
  } longer = {ESKER_INFO_INIT, 77};
  longer.info.size = sizeof longer;
  OK(esker_get_info(keyspace, BYTES("k"), &longer.info));
  CHECK(longer.info.value_length == 1 && longer.more == 77);

  // One that nobody has initialized.
  esker_write_options options = {0, 0, 0, 0, 0};
  BAD(esker_put(keyspace, BYTES("k"), BYTES("v"), &options, NULL));
  options.size = SIZE_MAX;
  BAD(esker_put(keyspace, BYTES("k"), BYTES("v"), &options, NULL));
  info.size = 1;
  BAD(esker_get_info(keyspace, BYTES("k"), &info));
  options = (esker_write_options)ESKER_WRITE_OPTIONS_INIT;
  options.durability = 9;
  BAD(esker_put(keyspace, BYTES("k"), BYTES("v"), &options, NULL));
  options.durability = -1;
  BAD(esker_remove(keyspace, BYTES("k"), &options));
  options.durability = ESKER_DURABILITY_PERIODIC;
  BAD(esker_remove_all(keyspace, &options));
  options.durability = 0;
  options.expiry = 9;
  BAD(esker_put_if_absent(keyspace, BYTES("k"), BYTES("v"), &options, NULL));
  esker_range range = ESKER_RANGE_INIT;
  range.reverse = 2;
  BAD(esker_cursor_open(keyspace, NULL, &range, &(esker_cursor *){NULL}));
  range.reverse = 0;
  range.reserved[3] = 1;
  BAD(esker_cursor_open(keyspace, NULL, &range, &(esker_cursor *){NULL}));
  range.reserved[3] = 0;
  range.to = (esker_slice){NULL, 1};
  BAD(esker_cursor_open(keyspace, NULL, &range, &(esker_cursor *){NULL}));
  for (int field = 0; field < 8; field++) {
    esker_options opening = ESKER_OPTIONS_INIT;
    opening.in_memory = 1;
    esker_store *none = NULL;
    switch (field) {
      case 0: opening.read_only = 2; break;
      case 1: opening.create = 9; break;
      case 2: opening.sharing = -1; break;
      case 3: opening.verification = 3; break;
      case 4: opening.compression_level = 13; break;
      case 5: opening.reserved = 1; break;
      case 6: opening.sharing_patience_ms = -1; break;
      default: opening.compression = 3; break;
    }
    BAD(esker_open(NULL, &opening, &none));
    CHECK(none == NULL);
  }
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
}
