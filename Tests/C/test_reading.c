// Reads of one key and of many, into the caller's memory and the library's.
#include "check.h"

static void test_one(esker_keyspace *keyspace) {
  void *value = (void *)1;
  size_t length = 1;
  EXPECT(ESKER_NOT_FOUND, esker_get(keyspace, BYTES("none"), &value, &length));
  CHECK(value == NULL && length == 0);

  OK(esker_put(keyspace, BYTES("key"), BYTES("a\0b"), NULL, NULL));
  OK(esker_get(keyspace, BYTES("key"), &value, &length));
  CHECK(length == 3 && memcmp(value, "a\0b", 3) == 0);
  esker_free(value);

  // Nothing is a key, and a value.
  OK(esker_put(keyspace, NULL, 0, NULL, 0, NULL, NULL));
  OK(esker_get(keyspace, NULL, 0, &value, &length));
  CHECK(value != NULL && length == 0);
  esker_free(value);
  OK(esker_contains(keyspace, "", 0));
}

static void test_large(esker_keyspace *keyspace) {
  // Around where a copy needs a second look.
  size_t lengths[] = {1, 4095, 4096, 4097, 100000, 3 << 20};
  for (size_t index = 0; index < sizeof lengths / sizeof lengths[0]; index++) {
    size_t length = lengths[index];
    char *written = malloc(length);
    for (size_t place = 0; place < length; place++) written[place] = (char)(place * 7 + index);
    OK(esker_put(keyspace, BYTES("large"), written, length, NULL, NULL));
    void *value = NULL;
    size_t found = 0;
    OK(esker_get(keyspace, BYTES("large"), &value, &found));
    CHECK(found == length && memcmp(value, written, length) == 0);
    esker_free(value);

    char *buffer = calloc(1, length + 1);
    OK(esker_get_into(keyspace, BYTES("large"), buffer, length, &found));
    CHECK(found == length && memcmp(buffer, written, length) == 0 && buffer[length] == 0);
    memset(buffer, 0, length + 1);
    EXPECT(ESKER_BUFFER_TOO_SMALL, esker_get_into(keyspace, BYTES("large"), buffer, length - 1, &found));
    CHECK(found == length && memcmp(buffer, written, length - 1) == 0 && buffer[length - 1] == 0);
    free(buffer);
    free(written);
  }
  size_t found = 0;
  EXPECT(ESKER_BUFFER_TOO_SMALL, esker_get_into(keyspace, BYTES("large"), NULL, 0, &found));
  CHECK(found == 3 << 20);
  EXPECT(ESKER_NOT_FOUND, esker_get_into(keyspace, BYTES("none"), NULL, 0, &found));
  CHECK(found == 0);
}

static void test_many(esker_keyspace *keyspace) {
  enum { count = 1000 };
  char keys[count][16];
  esker_slice wanted[count + 2], values[count + 2];
  for (int index = 0; index < count; index++) {
    int length = snprintf(keys[index], sizeof keys[index], "many-%d", index);
    wanted[index] = (esker_slice){keys[index], (size_t)length};
    if (index % 3 != 0) OK(esker_put(keyspace, keys[index], (size_t)length, keys[index], (size_t)length, NULL, NULL));
  }
  wanted[count] = (esker_slice){"empty", 5};
  OK(esker_put(keyspace, BYTES("empty"), NULL, 0, NULL, NULL));
  wanted[count + 1] = wanted[1];
  void *block = NULL;
  OK(esker_get_many(keyspace, wanted, count + 2, values, &block));
  for (int index = 0; index < count; index++) {
    if (index % 3 == 0) {
      CHECK(values[index].data == NULL && values[index].length == 0);
    } else {
      CHECK(values[index].length == wanted[index].length &&
            memcmp(values[index].data, keys[index], values[index].length) == 0);
    }
  }
  CHECK(values[count].data != NULL && values[count].length == 0);
  CHECK(values[count + 1].length == wanted[1].length);
  esker_free(block);

  OK(esker_get_many(keyspace, NULL, 0, NULL, &block));
  CHECK(block != NULL);
  esker_free(block);
  OK(esker_get_many(keyspace, wanted, 1, values, &block));
  CHECK(block != NULL && values[0].data == NULL);
  esker_free(block);
}

static void test_info(esker_keyspace *keyspace) {
  esker_info info = ESKER_INFO_INIT;
  uint64_t version = 0;
  OK(esker_put(keyspace, BYTES("info"), BYTES("12345"), NULL, &version));
  OK(esker_get_info(keyspace, BYTES("info"), &info));
  CHECK(info.version == version && version > 0 && info.value_length == 5 && info.expires_at_ms == ESKER_NEVER);
  CHECK(info.size == sizeof info);
  esker_write_options options = ESKER_WRITE_OPTIONS_INIT;
  options.expiry = ESKER_EXPIRY_AT;
  options.expiry_ms = 4102444800000;
  OK(esker_put(keyspace, BYTES("info"), BYTES("12345"), &options, NULL));
  OK(esker_get_info(keyspace, BYTES("info"), &info));
  CHECK(info.version > version && info.expires_at_ms == 4102444800000);
  EXPECT(ESKER_NOT_FOUND, esker_get_info(keyspace, BYTES("none"), &info));
  CHECK(info.version == 0);
}

/// What a viewer was shown.
typedef struct shown {
  int count;
  esker_entry last;
  char beginning[8];
  char end;
  esker_keyspace *keyspace;
} shown;

static int look(void *context, const esker_entry *entry) {
  shown *result = context;
  result->count++;
  result->last = *entry;
  const char *value = entry->value;
  memset(result->beginning, 0, sizeof result->beginning);
  memcpy(result->beginning, value, entry->value_length < sizeof result->beginning ? entry->value_length : sizeof result->beginning);
  result->end = entry->value_length > 0 ? value[entry->value_length - 1] : 0;
  // What is shown stays as it is, whatever is written.
  if (result->keyspace != NULL) {
    OK(esker_put(result->keyspace, entry->key, entry->key_length, BYTES("other"), NULL, NULL));
    CHECK(entry->value_length == 0 || value[entry->value_length - 1] == result->end);
  }
  return 1;
}

static void test_view(esker_keyspace *keyspace) {
  shown result = {0};
  uint64_t version = 0;
  EXPECT(ESKER_NOT_FOUND, esker_view(keyspace, BYTES("none"), look, &result));
  CHECK(result.count == 0);
  OK(esker_put(keyspace, BYTES("viewed"), BYTES("short"), NULL, &version));
  OK(esker_view(keyspace, BYTES("viewed"), look, &result));
  CHECK(result.count == 1 && strcmp(result.beginning, "short") == 0);
  CHECK(result.last.size == sizeof(esker_entry) && result.last.value_length == 5 && result.last.version == version);
  CHECK(result.last.key_length == 6 && result.last.expires_at_ms == ESKER_NEVER);

  size_t lengths[] = {512, 513, 100000, 3 << 20};
  for (size_t index = 0; index < sizeof lengths / sizeof lengths[0]; index++) {
    size_t length = lengths[index];
    char *written = malloc(length);
    memset(written, 'a', length);
    written[length - 1] = (char)('0' + index);
    OK(esker_put(keyspace, BYTES("viewed"), written, length, NULL, NULL));
    free(written);
    result.keyspace = index % 2 == 0 ? keyspace : NULL;
    OK(esker_view(keyspace, BYTES("viewed"), look, &result));
    CHECK(result.last.value_length == length && result.beginning[7] == 'a' && result.end == (char)('0' + index));
    if (result.keyspace != NULL) CHECK(has_value(keyspace, "viewed", "other"));
  }

  // Nothing, under nothing.
  result = (shown){0};
  OK(esker_put(keyspace, NULL, 0, NULL, 0, NULL, NULL));
  OK(esker_view(keyspace, NULL, 0, look, &result));
  CHECK(result.count == 1 && result.last.key != NULL && result.last.value != NULL && result.last.value_length == 0);
  EXPECT(ESKER_ERROR_INVALID_ARGUMENT, esker_view(keyspace, BYTES("viewed"), NULL, NULL));
}

void test_reading(void) {
  esker_store *store = NULL;
  esker_keyspace *keyspace = NULL;
  open_in_memory(&store, &keyspace);
  test_one(keyspace);
  test_large(keyspace);
  test_many(keyspace);
  test_info(keyspace);
  test_view(keyspace);
  OK(esker_keyspace_close(keyspace));
  OK(esker_close(store));
}
