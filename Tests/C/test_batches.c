// Batches over several keyspaces, with conditions, that are committed, dropped, and filled again.
#include "check.h"

void test_batches(void) {
  esker_store *store = NULL, *other = NULL;
  esker_keyspace *one = NULL, *two = NULL, *foreign = NULL;
  esker_batch *batch = NULL;
  open_in_memory(&store, &one);
  OK(esker_keyspace_open(store, "two", &two));
  OK(esker_put(one, BYTES("gone"), BYTES("1"), NULL, NULL));

  OK(esker_batch_create(store, &batch));
  OK(esker_batch_commit(batch, NULL));
  char key[] = "a", value[] = "1";
  OK(esker_batch_put(batch, one, key, 1, value, 1, NULL));
  // The batch has its own copies.
  key[0] = 'x', value[0] = 'x';
  OK(esker_batch_put(batch, two, BYTES("b"), NULL, 0, NULL));
  OK(esker_batch_put(batch, one, BYTES("c"), BYTES("first"), NULL));
  OK(esker_batch_put(batch, one, BYTES("c"), BYTES("second"), NULL));
  OK(esker_batch_remove(batch, one, BYTES("gone")));
  EXPECT(ESKER_NOT_FOUND, esker_contains(one, BYTES("a")));
  esker_write_options options = ESKER_WRITE_OPTIONS_INIT;
  options.expiry = ESKER_EXPIRY_AT;
  options.expiry_ms = 1;
  OK(esker_batch_put(batch, one, BYTES("expired"), BYTES("1"), &options));
  esker_write_options synced = ESKER_WRITE_OPTIONS_INIT;
  synced.durability = ESKER_DURABILITY_SYNCED;
  OK(esker_batch_commit(batch, &synced));
  CHECK(has_value(one, "a", "1") && has_value(two, "b", "") && has_value(one, "c", "second"));
  EXPECT(ESKER_NOT_FOUND, esker_contains(one, BYTES("gone")));
  EXPECT(ESKER_NOT_FOUND, esker_contains(one, BYTES("expired")));

  // It is empty now.
  OK(esker_put(one, BYTES("a"), BYTES("later"), NULL, NULL));
  OK(esker_batch_commit(batch, NULL));
  CHECK(has_value(one, "a", "later"));

  // It can be filled again; a condition that does not hold keeps all of it from being written.
  uint64_t version = 0;
  OK(esker_put(two, BYTES("v"), BYTES("1"), NULL, &version));
  OK(esker_batch_require(batch, two, BYTES("v"), version));
  OK(esker_batch_require(batch, two, BYTES("absent"), 0));
  OK(esker_batch_put(batch, one, BYTES("d"), BYTES("1"), NULL));
  OK(esker_put(two, BYTES("absent"), BYTES("1"), NULL, NULL));
  EXPECT(ESKER_CONFLICT, esker_batch_commit(batch, NULL));
  EXPECT(ESKER_NOT_FOUND, esker_contains(one, BYTES("d")));
  // It keeps what is in it.
  OK(esker_remove(two, BYTES("absent"), NULL));
  OK(esker_batch_commit(batch, NULL));
  CHECK(has_value(one, "d", "1"));
  // As often as one likes, with more and with less, and with nothing of what was in it before.
  for (int round = 0; round < 5; round++) {
    static char large[300000];
    char number[16];
    memset(large, 'a' + round, sizeof large);
    int count = round % 2 == 0 ? 20 : 3;
    for (int index = 0; index < count; index++) {
      size_t length = (size_t)snprintf(number, sizeof number, "%d-%d", round, index);
      OK(esker_batch_put(batch, index % 2 == 0 ? one : two, number, length, large, sizeof large, NULL));
    }
    uint64_t before = 0, after = 0;
    OK(esker_count(one, &before));
    OK(esker_batch_commit(batch, NULL));
    OK(esker_count(one, &after));
    CHECK(after == before + (uint64_t)(count + 1) / 2);
    size_t length = (size_t)snprintf(number, sizeof number, "%d-%d", round, count - 1);
    void *found = NULL;
    size_t found_length = 0;
    OK(esker_get((count - 1) % 2 == 0 ? one : two, number, length, &found, &found_length));
    CHECK(found_length == sizeof large && memcmp(found, large, sizeof large) == 0);
    esker_free(found);
  }
  OK(esker_batch_put(batch, one, BYTES("dropped"), BYTES("1"), NULL));
  OK(esker_batch_free(batch));
  EXPECT(ESKER_NOT_FOUND, esker_contains(one, BYTES("dropped")));

  // A batch is of one store.
  open_in_memory(&other, &foreign);
  OK(esker_batch_create(store, &batch));
  EXPECT(ESKER_ERROR_OTHER_STORE, esker_batch_put(batch, foreign, BYTES("a"), BYTES("1"), NULL));
  EXPECT(ESKER_ERROR_OTHER_STORE, esker_batch_remove(batch, foreign, BYTES("a")));
  EXPECT(ESKER_ERROR_OTHER_STORE, esker_batch_require(batch, foreign, BYTES("a"), 0));
  OK(esker_batch_put(batch, one, BYTES("late"), BYTES("1"), NULL));
  OK(esker_close(store));
  EXPECT(ESKER_ERROR_CLOSED, esker_batch_commit(batch, NULL));
  OK(esker_batch_free(batch));
  OK(esker_keyspace_close(one));
  OK(esker_keyspace_close(two));
  OK(esker_keyspace_close(foreign));
  OK(esker_close(other));
}
