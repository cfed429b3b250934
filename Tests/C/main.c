// Tests of the C interface against an installed header and library: esker-c-tests DIRECTORY
#include "check.h"

atomic_int checks_passed = 0;
atomic_int checks_failed = 0;
const char *directory = NULL;

void check(bool holds, const char *text, const char *file, int line) {
  if (holds) {
    checks_passed++;
    return;
  }
  checks_failed++;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, text);
}

void check_status(esker_status status, esker_status expected, const char *text, const char *file, int line) {
  if (status == expected) {
    checks_passed++;
    // A failure says what it is.
    if (ESKER_FAILED(status)) check(esker_last_error()[0] != 0, text, file, line);
    return;
  }
  checks_failed++;
  fprintf(stderr, "%s:%d: %s instead of %s: %s (%s)\n", file, line, esker_status_name(status),
          esker_status_name(expected), text, esker_last_error());
}

const char *path_of(const char *name) {
  static char paths[8][1024];
  static int next = 0;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

void open_in_memory(esker_store **store, esker_keyspace **keyspace) {
  esker_options options = ESKER_OPTIONS_INIT;
  options.in_memory = 1;
  OK(esker_open(NULL, &options, store));
  OK(esker_keyspace_open(*store, NULL, keyspace));
}

bool has_value(esker_keyspace *keyspace, const char *key, const char *value) {
  void *found = NULL;
  size_t length = 0;
  if (esker_get(keyspace, key, strlen(key), &found, &length) != ESKER_OK) return false;
  bool same = length == strlen(value) && memcmp(found, value, length) == 0;
  esker_free(found);
  return same;
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: esker-c-tests DIRECTORY\n");
    return 2;
  }
  directory = arguments[1];
  test_library();
  test_opening();
  test_reading();
  test_writing();
  test_batches();
  test_snapshots();
  test_cursors();
  test_key_ranges();
  test_verification();
  test_events();
  test_changes();
  test_copies();
  test_wrong_uses();
  test_structs();
  test_threads();
  test_together();
  printf("%d passed, %d failed\n", (int)checks_passed, (int)checks_failed);
  return checks_failed == 0 ? 0 : 1;
}
