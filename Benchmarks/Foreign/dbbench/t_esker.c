// Esker for dbbench, by its interface for C.
//
// It does what the suite's other drivers do: keys of sixteen hexadecimal digits, a write or a batch of writes at a time, reads by key or of
// all keys in order. Values are read in place, as with LMDB. Each thread has a keyspace handle of its own, as esker.h recommends. Whatever
// fails ends the program.

#include <stdio.h>
#include <stdlib.h>

#include <esker.h>

#include "dbb.h"

// Whether keys are kept in order from the opening on. Otherwise they are from the first scan on, and point operations are faster before.
static int FLAGS_ordered = 0;

static esker_store *store;

static void check(esker_status status, const char *call) {
  if (!ESKER_FAILED(status)) return;
  fprintf(stderr, "%s: %s\n", call, esker_last_error());
  exit(1);
}

static esker_keyspace *open_keyspace(void) {
  esker_keyspace *keyspace = NULL;
  check(esker_keyspace_open(store, NULL, &keyspace), "esker_keyspace_open");
  return keyspace;
}

static int stop(void *context, const esker_entry *entry) {
  (void)context, (void)entry;
  return 1;
}

// Has keys kept in order from now on, which the first range does.
static void keep_order(void) {
  esker_keyspace *keyspace = open_keyspace();
  check(esker_view_range(keyspace, NULL, stop, NULL), "esker_view_range");
  check(esker_keyspace_close(keyspace), "esker_keyspace_close");
}

static void db_open(int flags) {
  esker_options options = ESKER_OPTIONS_INIT;
  options.create = FLAGS_use_existing_db ? ESKER_CREATE_NEVER : ESKER_CREATE_IF_MISSING;
  options.durability = flags & DBB_SYNC ? ESKER_DURABILITY_SYNCED : ESKER_DURABILITY_BUFFERED;
  options.compression = FLAGS_compression ? ESKER_COMPRESSION_LZ4 : ESKER_COMPRESSION_OFF;
  check(esker_open(FLAGS_db, &options, &store), "esker_open");
  if (FLAGS_ordered) keep_order();
}

// The suite also closes what is not open.
static void db_close(void) {
  check(esker_close(store), "esker_close");
  store = NULL;
}

// A key as all drivers make it; returns its length.
static size_t make_key(char *key, size_t capacity, uint64_t number) {
  return (size_t)snprintf(key, capacity, "%016lx", (unsigned long)number);
}

static void db_write(DBB_local *dl) {
  const DBB_global *global = dl->dl_global;
  if (global->dg_num != FLAGS_num) {
    char message[100];
    snprintf(message, sizeof message, "(%ld ops)", (long)global->dg_num);
    DBB_message(dl, message);
  }
  esker_keyspace *keyspace = open_keyspace();
  esker_batch *batch = NULL;
  if (global->dg_batchsize > 1) check(esker_batch_create(store, &batch), "esker_batch_create");
  DBB_val value = {.dv_size = (size_t)FLAGS_value_size};
  uint64_t next = 0;
  do {
    for (int each = 0; each < global->dg_batchsize; each++, next++) {
      char key[100];
      const uint64_t number = global->dg_order == DO_FORWARD ? next : DBB_random(dl->dl_rndctx) % (uint64_t)FLAGS_num;
      const size_t length = make_key(key, sizeof key, number);
      DBB_randstring(dl, &value);
      if (batch) {
        check(esker_batch_put(batch, keyspace, key, length, value.dv_data, value.dv_size, NULL), "esker_batch_put");
      } else {
        check(esker_put(keyspace, key, length, value.dv_data, value.dv_size, NULL, NULL), "esker_put");
      }
      dl->dl_bytes += (int64_t)(length + value.dv_size);
      DBB_opdone(dl);
    }
    if (batch) check(esker_batch_commit(batch, NULL), "esker_batch_commit");
  } while (!DBB_done(dl));
  check(esker_batch_free(batch), "esker_batch_free");
  check(esker_keyspace_close(keyspace), "esker_keyspace_close");
}

// What a reading thread passes to its viewer.
typedef struct reading {
  DBB_local *dl;
  size_t found;
} reading;

// Looks at a value in place, as the driver of LMDB does.
static void look(reading *reading, const esker_entry *entry) {
  if (entry->value_length > 0) *(const volatile char *)entry->value;
  reading->found++;
  reading->dl->dl_bytes += (int64_t)(entry->key_length + entry->value_length);
}

static int look_once(void *context, const esker_entry *entry) {
  look(context, entry);
  return 1;
}

static int look_on(void *context, const esker_entry *entry) {
  reading *reading = context;
  look(reading, entry);
  DBB_opdone(reading->dl);
  return DBB_done(reading->dl);
}

static void read_randomly(reading *reading, esker_keyspace *keyspace) {
  DBB_local *dl = reading->dl;
  size_t read = 0;
  do {
    char key[100];
    const size_t length = make_key(key, sizeof key, DBB_random(dl->dl_rndctx) % (uint64_t)FLAGS_num);
    check(esker_view(keyspace, key, length, look_once, reading), "esker_view");
    read++;
    DBB_opdone(dl);
  } while (!DBB_done(dl));
  char message[100];
  snprintf(message, sizeof message, "(%zu of %zu found)", reading->found, read);
  DBB_message(dl, message);
}

static void read_in_order(reading *reading, esker_keyspace *keyspace) {
  esker_range range = ESKER_RANGE_INIT;
  range.reverse = reading->dl->dl_order == DO_REVERSE;
  check(esker_view_range(keyspace, &range, look_on, reading), "esker_view_range");
}

static void db_read(DBB_local *dl) {
  esker_keyspace *keyspace = open_keyspace();
  reading reading = {dl, 0};
  if (dl->dl_order == DO_RANDOM) {
    read_randomly(&reading, keyspace);
  } else {
    read_in_order(&reading, keyspace);
  }
  check(esker_keyspace_close(keyspace), "esker_keyspace_close");
}

static char *db_verstr(void) { return (char *)esker_version(); }

static arg_desc db_options[] = {{"ordered", arg_onoff, &FLAGS_ordered}, {NULL}};

static DBB_backend esker = {"esker", "Esker", db_options, db_verstr, db_open, db_close, db_read, db_write};

DBB_backend *dbb_backend = &esker;
