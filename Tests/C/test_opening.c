// Versions, names of statuses, openings with each option, keyspaces, closing.
#include "check.h"

void test_library(void) {
  CHECK(strcmp(esker_version(), ESKER_VERSION) == 0);
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", ESKER_VERSION_MAJOR, ESKER_VERSION_MINOR, ESKER_VERSION_PATCH);
  // Behind them is nothing, or a word behind a hyphen.
  const char *rest = &ESKER_VERSION[strlen(version)];
  CHECK(strncmp(version, ESKER_VERSION, strlen(version)) == 0 && (rest[0] == 0 || rest[0] == '-'));
  CHECK(strcmp(esker_status_name(ESKER_NOT_FOUND), "ESKER_NOT_FOUND") == 0);
  CHECK(strcmp(esker_status_name((esker_status)99), "unknown") == 0);
  for (int status = ESKER_ERROR_INVALID_ARGUMENT; status <= ESKER_ERROR_NO_SUCH_KEYSPACE; status++) {
    CHECK(strncmp(esker_status_name((esker_status)status), "ESKER_ERROR_", 12) == 0);
    CHECK(ESKER_FAILED(status));
  }
  CHECK(!ESKER_FAILED(ESKER_BUFFER_TOO_SMALL));
  CHECK(esker_last_error()[0] == 0 && esker_last_errno() == 0);
  esker_free(NULL);
}

static void test_creation(void) {
  esker_store *store = NULL;
  esker_options options = ESKER_OPTIONS_INIT;
  options.create = ESKER_CREATE_NEVER;
  EXPECT(ESKER_ERROR_NOT_A_STORE, esker_open(path_of("created"), &options, &store));
  CHECK(store == NULL);
  options.create = ESKER_CREATE_ALWAYS;
  OK(esker_open(path_of("created"), &options, &store));
  OK(esker_close(store));
  EXPECT(ESKER_ERROR_DIRECTORY_NOT_EMPTY, esker_open(path_of("created"), &options, &store));
  options.create = ESKER_CREATE_NEVER;
  OK(esker_open(path_of("created"), &options, &store));

  esker_store *second = NULL;
  EXPECT(ESKER_ERROR_LOCKED, esker_open(path_of("created"), NULL, &second));
  CHECK(strstr(esker_last_error(), "created is open for writing") != NULL);
  options.read_only = 1;
  OK(esker_open(path_of("created"), &options, &second));
  esker_keyspace *keyspace = NULL;
  EXPECT(ESKER_ERROR_NO_SUCH_KEYSPACE, esker_keyspace_open(second, "none", &keyspace));
  OK(esker_keyspace_open(second, "", &keyspace));
  EXPECT(ESKER_ERROR_READ_ONLY, esker_put(keyspace, BYTES("a"), BYTES("1"), NULL, NULL));

  // What the writer writes, the reader sees.
  esker_keyspace *writing = NULL;
  OK(esker_keyspace_open(store, NULL, &writing));
  OK(esker_put(writing, BYTES("a"), BYTES("1"), NULL, NULL));
  OK(esker_refresh(second));
  CHECK(has_value(keyspace, "a", "1"));
  OK(esker_keyspace_close(keyspace));
  OK(esker_keyspace_close(writing));
  OK(esker_close(second));
  OK(esker_close(store));

  FILE *file = fopen(path_of("file"), "w");
  CHECK(file != NULL && fclose(file) == 0);
  EXPECT(ESKER_ERROR_NOT_A_STORE, esker_open(path_of("file"), NULL, &store));
  EXPECT(ESKER_ERROR_SYSTEM, esker_open(path_of("missing/parent/store"), NULL, &store));
  CHECK(esker_last_errno() != 0);
}

static void test_settings(void) {
  esker_store *store = NULL;
  esker_options options = ESKER_OPTIONS_INIT;
  options.durability = ESKER_DURABILITY_PERIODIC;
  options.durability_period_ms = 1500;
  options.default_expiry = ESKER_EXPIRY_AFTER;
  options.default_expiry_ms = 3600000;
  options.compression = ESKER_COMPRESSION_LZ4;
  options.compression_level = 9;
  options.segment_size = 1 << 20;
  options.capacity = 64 << 20;
  options.sharing = ESKER_SHARING_IN_TURN;
  options.sharing_patience_ms = 2000;
  options.verification = ESKER_VERIFICATION_EVERY_READ;
  options.merge_bytes_per_second = 1 << 20;
  options.manual_merge = 1;
  OK(esker_open(path_of("settings"), &options, &store));
  char *json = NULL;
  size_t length = 0;
  OK(esker_statistics(store, &json, &length));
  CHECK(json != NULL && strlen(json) == length);
  CHECK(strstr(json, "\"durability\":\"periodic\"") != NULL);
  CHECK(strstr(json, "\"syncPeriodSeconds\":1.5") != NULL);
  CHECK(strstr(json, "\"defaultExpirySeconds\":3600.0") != NULL);
  CHECK(strstr(json, "\"compressionLevel\":9") != NULL);
  CHECK(strstr(json, "\"segmentSize\":1048576") != NULL);
  CHECK(strstr(json, "\"capacity\":67108864") != NULL);
  esker_free(json);
  OK(esker_close(store));

  // The store remembers, and forgets a limit that is lifted.
  esker_options lifted = ESKER_OPTIONS_INIT;
  lifted.capacity = UINT64_MAX;
  OK(esker_open(path_of("settings"), &lifted, &store));
  OK(esker_statistics(store, &json, NULL));
  CHECK(strstr(json, "\"compression\":\"lz4\"") != NULL && strstr(json, "\"capacity\":null") != NULL);
  esker_free(json);
  OK(esker_close(store));

  esker_options small = ESKER_OPTIONS_INIT;
  small.in_memory = 1;
  small.segment_size = 1;
  CHECK(ESKER_FAILED(esker_open(NULL, &small, &store)));
  small.segment_size = UINT64_MAX;
  CHECK(ESKER_FAILED(esker_open(NULL, &small, &store)));
  CHECK(store == NULL);
}

static void test_keyspaces(void) {
  esker_store *store = NULL;
  esker_keyspace *standard = NULL, *one = NULL, *again = NULL, *two = NULL;
  open_in_memory(&store, &standard);
  OK(esker_keyspace_open(store, "one", &one));
  OK(esker_keyspace_open(store, "one", &again));
  OK(esker_keyspace_open(store, "\xc3\xa9", &two));
  OK(esker_put(one, BYTES("key"), BYTES("1"), NULL, NULL));
  CHECK(has_value(again, "key", "1"));
  EXPECT(ESKER_NOT_FOUND, esker_contains(standard, BYTES("key")));

  char **names = NULL;
  size_t count = 0;
  OK(esker_keyspace_names(store, &names, &count));
  CHECK(count == 2 && names[2] == NULL);
  CHECK((strcmp(names[0], "one") == 0 && strcmp(names[1], "\xc3\xa9") == 0) ||
        (strcmp(names[1], "one") == 0 && strcmp(names[0], "\xc3\xa9") == 0));
  esker_free(names);

  OK(esker_keyspace_remove(store, "one"));
  EXPECT(ESKER_NOT_FOUND, esker_keyspace_remove(store, "one"));
  EXPECT(ESKER_ERROR_KEYSPACE_REMOVED, esker_put(one, BYTES("key"), BYTES("1"), NULL, NULL));
  EXPECT(ESKER_ERROR_INVALID_KEYSPACE, esker_keyspace_remove(store, ""));
  char long_name[300];
  memset(long_name, 'n', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  EXPECT(ESKER_ERROR_INVALID_KEYSPACE, esker_keyspace_open(store, long_name, &one));
  CHECK(one == NULL);
  OK(esker_keyspace_close(again));
  OK(esker_keyspace_close(two));
  OK(esker_keyspace_close(standard));
  OK(esker_close(store));
}

void test_opening(void) {
  test_creation();
  test_settings();
  test_keyspaces();
}
