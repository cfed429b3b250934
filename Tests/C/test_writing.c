// Writes: conditions, counters, expiry, durability, removals.
#include "check.h"

static void test_conditions(esker_keyspace *keyspace) {
  uint64_t first = 0, second = 0, none = 1;
  OK(esker_put_if_absent(keyspace, BYTES("c"), BYTES("1"), NULL, &first));
  CHECK(first > 0);
  EXPECT(ESKER_CONFLICT, esker_put_if_absent(keyspace, BYTES("c"), BYTES("2"), NULL, &none));
  CHECK(none == 0 && has_value(keyspace, "c", "1"));

  OK(esker_put_if_version(keyspace, BYTES("c"), first, BYTES("2"), NULL, &second));
  CHECK(second > first && has_value(keyspace, "c", "2"));
  EXPECT(ESKER_CONFLICT, esker_put_if_version(keyspace, BYTES("c"), first, BYTES("3"), NULL, NULL));
  EXPECT(ESKER_CONFLICT, esker_put_if_version(keyspace, BYTES("c"), 0, BYTES("3"), NULL, NULL));
  EXPECT(ESKER_CONFLICT, esker_put_if_version(keyspace, BYTES("none"), first, BYTES("3"), NULL, NULL));

  OK(esker_compare_and_set(keyspace, BYTES("c"), BYTES("2"), BYTES("3"), NULL, &second));
  EXPECT(ESKER_CONFLICT, esker_compare_and_set(keyspace, BYTES("c"), BYTES("2"), BYTES("4"), NULL, NULL));
  EXPECT(ESKER_CONFLICT, esker_compare_and_set(keyspace, BYTES("c"), NULL, 0, BYTES("4"), NULL, NULL));
  CHECK(has_value(keyspace, "c", "3"));
  // Nothing to change: the version stays.
  OK(esker_compare_and_set(keyspace, BYTES("c"), BYTES("3"), BYTES("3"), NULL, &first));
  CHECK(first == second);
  // No value and an empty value are different.
  OK(esker_compare_and_set(keyspace, BYTES("e"), NULL, 0, "", 0, NULL, NULL));
  EXPECT(ESKER_CONFLICT, esker_compare_and_set(keyspace, BYTES("e"), NULL, 0, BYTES("x"), NULL, NULL));
  OK(esker_compare_and_set(keyspace, BYTES("e"), "", 0, BYTES("x"), NULL, NULL));

  EXPECT(ESKER_CONFLICT, esker_remove_if_version(keyspace, BYTES("c"), second + 100, NULL));
  EXPECT(ESKER_CONFLICT, esker_remove_if_version(keyspace, BYTES("c"), 0, NULL));
  OK(esker_remove_if_version(keyspace, BYTES("c"), second, NULL));
  EXPECT(ESKER_NOT_FOUND, esker_contains(keyspace, BYTES("c")));
  EXPECT(ESKER_NOT_FOUND, esker_remove(keyspace, BYTES("c"), NULL));
}

static void test_counters(esker_keyspace *keyspace) {
  int64_t sum = 0;
  OK(esker_increment(keyspace, BYTES("n"), 5, NULL, &sum));
  CHECK(sum == 5);
  OK(esker_increment(keyspace, BYTES("n"), -7, NULL, &sum));
  CHECK(sum == -2);
  OK(esker_increment(keyspace, BYTES("n"), INT64_MIN, NULL, NULL));
  OK(esker_increment(keyspace, BYTES("n"), 0, NULL, &sum));
  CHECK(sum == INT64_MAX - 1);
  unsigned char bytes[8];
  size_t length = 0;
  OK(esker_get_into(keyspace, BYTES("n"), bytes, sizeof bytes, &length));
  CHECK(length == 8 && bytes[0] == 0xfe && bytes[7] == 0x7f);
  OK(esker_put(keyspace, BYTES("text"), BYTES("text"), NULL, NULL));
  EXPECT(ESKER_ERROR_DAMAGED, esker_increment(keyspace, BYTES("text"), 1, NULL, &sum));
  CHECK(sum == 0 && strstr(esker_last_error(), "counter") != NULL);
  esker_write_options options = ESKER_WRITE_OPTIONS_INIT;
  options.expiry = ESKER_EXPIRY_NEVER;
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_increment(keyspace, BYTES("n"), 1, &options, &sum));
}

static void test_expiry(esker_keyspace *keyspace) {
  esker_write_options options = ESKER_WRITE_OPTIONS_INIT;
  options.expiry = ESKER_EXPIRY_AT;
  options.expiry_ms = 1;
  OK(esker_put(keyspace, BYTES("old"), BYTES("1"), &options, NULL));
  EXPECT(ESKER_NOT_FOUND, esker_contains(keyspace, BYTES("old")));
  options.expiry = ESKER_EXPIRY_AFTER;
  options.expiry_ms = -1;
  OK(esker_put(keyspace, BYTES("old"), BYTES("1"), &options, NULL));
  EXPECT(ESKER_NOT_FOUND, esker_contains(keyspace, BYTES("old")));
  EXPECT(ESKER_NOT_FOUND, esker_touch(keyspace, BYTES("old"), &options, NULL));

  // Far beyond what time has.
  options.expiry_ms = INT64_MAX;
  OK(esker_put(keyspace, BYTES("new"), BYTES("1"), &options, NULL));
  OK(esker_contains(keyspace, BYTES("new")));
  options.expiry_ms = 3600000;
  uint64_t version = 0;
  OK(esker_touch(keyspace, BYTES("new"), &options, &version));
  CHECK(version > 0);
  esker_info info = ESKER_INFO_INIT;
  OK(esker_get_info(keyspace, BYTES("new"), &info));
  CHECK(info.expires_at_ms > 3600000 && info.expires_at_ms < ESKER_NEVER && info.version == version);
  options.expiry = ESKER_EXPIRY_NEVER;
  OK(esker_touch(keyspace, BYTES("new"), &options, NULL));
  OK(esker_get_info(keyspace, BYTES("new"), &info));
  CHECK(info.expires_at_ms == ESKER_NEVER);
  options.expiry = ESKER_EXPIRY_DEFAULT;
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_touch(keyspace, BYTES("new"), &options, NULL));
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_touch(keyspace, BYTES("new"), NULL, NULL));
}

static void test_durability(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  OK(esker_open(path_of("durable"), NULL, &store));
  OK(esker_keyspace_open(store, "k", &keyspace));
  esker_write_options options = ESKER_WRITE_OPTIONS_INIT;
  for (int durability = ESKER_DURABILITY_DEFAULT; durability <= ESKER_DURABILITY_PERIODIC; durability++) {
    options.durability = durability;
    options.durability_period_ms = 100;
    OK(esker_put(keyspace, BYTES("d"), BYTES("1"), &options, NULL));
    OK(esker_remove(keyspace, BYTES("d"), &options));
  }
  OK(esker_put(keyspace, BYTES("d"), BYTES("1"), NULL, NULL));
  OK(esker_sync(store));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
  OK(esker_open(path_of("durable"), NULL, &store));
  OK(esker_keyspace_open(store, "k", &keyspace));
  CHECK(has_value(keyspace, "d", "1"));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
}

static void test_counts(esker_keyspace *keyspace) {
  OK(esker_remove_all(keyspace, NULL));
  uint64_t count = 1;
  OK(esker_count(keyspace, &count));
  CHECK(count == 0);
  OK(esker_put(keyspace, BYTES("1"), BYTES("1"), NULL, NULL));
  OK(esker_put(keyspace, BYTES("2"), BYTES("2"), NULL, NULL));
  OK(esker_count(keyspace, &count));
  CHECK(count == 2);
}

static void test_limits(esker_keyspace *keyspace) {
  static char key[ESKER_MAXIMUM_KEY_LENGTH + 1];
  OK(esker_put(keyspace, key, ESKER_MAXIMUM_KEY_LENGTH, BYTES("1"), NULL, NULL));
  OK(esker_contains(keyspace, key, ESKER_MAXIMUM_KEY_LENGTH));
  EXPECT(ESKER_ERROR_KEY_TOO_LONG, esker_put(keyspace, key, sizeof key, BYTES("1"), NULL, NULL));
  EXPECT(ESKER_ERROR_KEY_TOO_LONG, esker_contains(keyspace, key, sizeof key));
  EXPECT(ESKER_ERROR_VALUE_TOO_LONG,
         esker_put(keyspace, key, 1, key, (size_t)ESKER_MAXIMUM_VALUE_LENGTH + 1, NULL, NULL));

  // A keyspace of a cache refuses what is more than half of it.
  esker_store *cache = NULL;
  esker_keyspace *cached = NULL;
  esker_options options = ESKER_OPTIONS_INIT;
  options.in_memory = 1;
  options.capacity = 256 << 10;
  OK(esker_open(NULL, &options, &cache));
  OK(esker_keyspace_open(cache, NULL, &cached));
  static char large[200 << 10];
  EXPECT(ESKER_ERROR_CAPACITY_REACHED, esker_put(cached, BYTES("k"), large, sizeof large, NULL, NULL));
  OK(esker_keyspace_close(cached));
  OK(esker_close(cache));
}

void test_writing(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  open_in_memory(&store, &keyspace);
  test_conditions(keyspace);
  test_counters(keyspace);
  test_expiry(keyspace);
  test_counts(keyspace);
  test_limits(keyspace);
  OK(esker_merge(store));
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
  test_durability();
}
