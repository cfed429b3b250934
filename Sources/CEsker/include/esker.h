/*
 * Esker: an embedded, log-structured key-value store. Its interface for C, and for all languages that can call
 * C.
 *
 * Link with libEskerC: `pkg-config --cflags --libs esker`, or in CMake find_package(Esker) and Esker::EskerC.
 *
 *     esker_store *store = NULL;
 *     esker_keyspace *cities = NULL;
 *     if (esker_open("cities.esker", NULL, &store) != ESKER_OK ||
 *         esker_keyspace_open(store, "cities", &cities) != ESKER_OK ||
 *         esker_put(cities, "at", 2, "Vienna", 6, NULL, NULL) != ESKER_OK) {
 *       fprintf(stderr, "%s\n", esker_last_error());
 *     }
 *     esker_keyspace_close(cities);
 *     esker_close(store);
 *
 * Errors. Every function that can fail returns an esker_status. 0 is success. Values from 1 to 99 are answers,
 * such as ESKER_NOT_FOUND. Values from 100 on are failures: ESKER_FAILED(status) is true, and
 * esker_last_error() says what has happened, where, and what to do. Later versions may return further values:
 * take an unknown one from 100 on for a failure. A function that fails has changed nothing, unless its status
 * says otherwise. Where a function fails, what it would return through pointers is 0 or NULL.
 *
 * Handles. A store, a keyspace, a batch, a snapshot, a cursor and a change feed are handles. Each handle that a function has
 * returned is closed once, in any order, by the close function of its type; NULL is ignored there. Handles are
 * numbers in the guise of pointers and are never followed: one that was closed, or never was one, is
 * ESKER_ERROR_INVALID_HANDLE wherever it is used. Closing a store makes calls with its other handles fail with
 * ESKER_ERROR_CLOSED, but what a snapshot shows can still be read; they still have to be closed.
 *
 * Bytes. Keys and values are any bytes, given as a pointer and a length. A pointer may be NULL if the length is
 * 0. A key has at most ESKER_MAXIMUM_KEY_LENGTH bytes, a value at most ESKER_MAXIMUM_VALUE_LENGTH. What the
 * caller passes is read during the call and never kept. Paths and names are UTF-8 and end with a zero byte.
 *
 * Memory. What a function returns in memory of its own (its documentation says "free it") is freed with
 * esker_free().
 *
 * Threads. Any thread may call any function with any handle at any time, and close it while others use it. They
 * then finish as usual, and later calls fail. But a batch, a cursor and a change feed belong to one thread at a
 * time: what a cursor or a feed returns is valid until its next call, or until it is closed. Many threads that use
 * one keyspace at once are faster with a handle each.
 *
 * Processes. A store must not be used in the child of a fork(); let the child open it by itself, in turn or
 * read-only. A process that ends without closing a store loses nothing that was written, but the next opening
 * takes longer.
 *
 * Versions. Structs begin with their size, so that they can grow: a program that was compiled with an older
 * header works with a newer library. Set it with the macro that ends in _INIT, which sets everything else to 0,
 * the default. A library that is older than the header refuses fields that it does not know, unless they are 0.
 * Numbers of constants never change.
 */
#ifndef ESKER_H
#define ESKER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; esker_version() is that of the library. The text has a word behind a hyphen for what is not released. */
#define ESKER_VERSION_MAJOR 1
#define ESKER_VERSION_MINOR 0
#define ESKER_VERSION_PATCH 0
#define ESKER_VERSION "1.0.0-dev"

#define ESKER_MAXIMUM_KEY_LENGTH 65535
/* 1 GiB. */
#define ESKER_MAXIMUM_VALUE_LENGTH 1073741824
/* The most keys of one esker_get_many(). */
#define ESKER_MAXIMUM_KEY_COUNT 1048576
/* The instant at which a value expires that never does. */
#define ESKER_NEVER INT64_MAX
/* Of a change feed: only what is written from now on. */
#define ESKER_NOW UINT64_MAX

typedef enum esker_status {
  ESKER_OK = 0,

  /* Answers. */
  ESKER_NOT_FOUND = 1,        /* there is no such key, or its value has expired */
  ESKER_CONFLICT = 2,         /* a condition does not hold; nothing was written */
  ESKER_END = 3,              /* a cursor has no more entries; a change feed, no more changes */
  ESKER_BUFFER_TOO_SMALL = 4, /* the value is longer than the buffer */
  ESKER_NOT_YET = 5,          /* a change feed has no change yet */

  /* Failures of the call itself. */
  ESKER_ERROR_INVALID_ARGUMENT = 100, /* a NULL pointer, a length, an option or text that is not allowed */
  ESKER_ERROR_INVALID_HANDLE = 101,   /* a handle that was closed, is of another type, or never was one */
  ESKER_ERROR_NO_MEMORY = 102,        /* no memory, or about a million handles are open */

  /* Failures of the store. */
  ESKER_ERROR_CLOSED = 103,              /* the store was closed */
  ESKER_ERROR_READ_ONLY = 104,           /* the store was opened read-only */
  ESKER_ERROR_SUSPENDED = 105,           /* the store was suspended */
  ESKER_ERROR_CANCELLED = 106,           /* the call was cancelled */
  ESKER_ERROR_LOCKED = 107,              /* another process, or another handle, has the store open for writing */
  ESKER_ERROR_NOT_A_STORE = 108,         /* the path names something else, or nothing where there must be a store */
  ESKER_ERROR_DIRECTORY_NOT_EMPTY = 109, /* the directory for a new store or a backup exists and is not empty */
  ESKER_ERROR_UNFINISHED_COPY = 110,     /* the directory holds a backup that is being made or was interrupted */
  ESKER_ERROR_OTHER_STORE = 111,         /* a keyspace, or a previous backup, of another store */
  ESKER_ERROR_UNKNOWN_FORMAT = 112,      /* written by a newer Esker */
  ESKER_ERROR_DAMAGED = 113,             /* bytes on disk are not what was written; or, of a counter, no counter */
  ESKER_ERROR_NO_SPACE = 114,            /* the volume is full */
  ESKER_ERROR_CAPACITY_REACHED = 115,    /* the write does not fit within the store's capacity */
  ESKER_ERROR_KEYSPACE_FULL = 116,       /* the write does not fit within the keyspace's capacity */
  ESKER_ERROR_ACCESS_DENIED = 117,       /* permissions, or a device that is locked */
  ESKER_ERROR_SYSTEM = 118,              /* a call to the operating system failed: see esker_last_errno() */
  ESKER_ERROR_SYNC_FAILED = 119,         /* a sync failed: the store refuses writes until it is opened again */
  ESKER_ERROR_OUTCOME_UNKNOWN = 120,     /* the write may or may not be there once the store is opened again */
  ESKER_ERROR_KEY_TOO_LONG = 121,
  ESKER_ERROR_VALUE_TOO_LONG = 122,
  ESKER_ERROR_BATCH_TOO_LARGE = 123,
  ESKER_ERROR_HISTORY_GONE = 124,     /* the log no longer has the changes that a feed was to show */
  ESKER_ERROR_INVALID_KEYSPACE = 125, /* a name of more than 255 bytes, or the removal of the default keyspace */
  ESKER_ERROR_KEYSPACE_REMOVED = 126, /* the keyspace was removed since it was opened */
  ESKER_ERROR_NO_SUCH_KEYSPACE = 127  /* a store opened read-only creates no keyspaces */
} esker_status;

#define ESKER_FAILED(status) ((int)(status) >= 100)

/* An open store. */
typedef struct esker_store esker_store;
/* A named set of keys of a store. */
typedef struct esker_keyspace esker_keyspace;
/* Writes that take effect together or not at all. */
typedef struct esker_batch esker_batch;
/* A store as it was at one instant. */
typedef struct esker_snapshot esker_snapshot;
/* A position among entries that are read one after the other. */
typedef struct esker_cursor esker_cursor;
/* A position among the writes to a store, which are followed one after the other. */
typedef struct esker_changes esker_changes;

/* Bytes that somebody else owns. */
typedef struct esker_slice {
  const void *data; /* NULL, as a result, for a key that is absent */
  size_t length;
} esker_slice;

/* ---- Versions, errors, memory ---- */

/* The version of the library, such as "1.0.0". */
const char *esker_version(void);

/* The name of a status, such as "ESKER_NOT_FOUND"; "unknown" for other numbers. */
const char *esker_status_name(esker_status status);

/*
 * What the last failure in this thread was, in one line of English, cut off after about 1000 bytes; "" if
 * nothing has failed yet. Valid until the next failure in this thread, or its end. Not changed by answers and
 * successes.
 */
const char *esker_last_error(void);

/* The errno of the last failure in this thread, where the operating system was its cause; otherwise 0. */
int esker_last_errno(void);

/* Frees memory that a function of this header has returned. NULL is ignored. */
void esker_free(void *memory);

/* ---- Events ---- */

/* What has happened in a store. Later versions may tell more. */
typedef enum esker_event_kind {
  ESKER_EVENT_OPENED = 1,          /* records: the keys; sequence: the last write; duration_ns */
  ESKER_EVENT_CUT = 2,             /* a crash had left a hole: from sequence on, so many records were lost */
  ESKER_EVENT_DAMAGED = 3,         /* damage was found, in segment if that is not 0; all else can be read */
  ESKER_EVENT_SEGMENT_SEALED = 4,  /* segment is durable, with so many records and bytes */
  ESKER_EVENT_MERGE_BEGAN = 5,     /* of so many segments: records */
  ESKER_EVENT_MERGE_ENDED = 6,     /* bytes: reclaimed; records: evicted; duration_ns */
  ESKER_EVENT_ERASED = 7,          /* what was dead at sequence is gone; bytes: reclaimed; duration_ns */
  ESKER_EVENT_EVICTED = 8,         /* to stay within the capacity: so many records and bytes */
  ESKER_EVENT_CHECKPOINT = 9,      /* written: up to sequence, of so many bytes */
  ESKER_EVENT_SYNC_FAILED = 10,    /* with error_number; the store refuses writes until it is opened again */
  ESKER_EVENT_BACKGROUND_FAILURE = 11, /* will be retried; nothing is lost; error_number */
  ESKER_EVENT_CLOCK_JUMPED = 12,   /* ahead, by duration_ns; expiry follows it */
  ESKER_EVENT_CLOSED = 13          /* the last event */
} esker_event_kind;

/* An event. What its kind does not name above is 0. */
typedef struct esker_event {
  size_t size;          /* how much of the struct the library has filled in */
  int32_t kind;         /* an esker_event_kind; ignore those that are not known */
  int32_t error_number; /* an errno */
  uint64_t sequence;    /* the number of a write */
  uint64_t segment;     /* the number of a file of the log */
  uint64_t records;
  uint64_t bytes;
  int64_t duration_ns;
  const char *text;     /* the event in one line of English */
} esker_event;

/*
 * Is told what happens in a store: the handler of esker_options. What it is passed is valid until it returns.
 *
 * It is called for one event at a time, in order, by a thread that calls the store or by one of the store's own. It
 * may read and write, must return soon, since others may wait for it, and must not close the store. What it uses must
 * stay until it was told ESKER_EVENT_CLOSED, which may come a little later than esker_close() returns, or until
 * esker_open() has failed. The child of a fork() is told nothing.
 */
typedef void (*esker_event_handler)(void *context, const esker_event *event);

/* Is told how much of a call is done, from 0 to 1, in the thread that called. It returns 0 to go on, anything else to stop. */
typedef int (*esker_progress)(void *context, double share);

/* ---- Stores ---- */

/* What a write survives once its call has returned. */
typedef enum esker_durability {
  ESKER_DURABILITY_DEFAULT = 0,  /* of a write: that of the store; of an opening: what the store remembers */
  ESKER_DURABILITY_BUFFERED = 1, /* the end of the process, however it ends; no power failure. Of a new store */
  ESKER_DURABILITY_SYNCED = 2,   /* a power failure */
  ESKER_DURABILITY_PERIODIC = 3  /* a power failure once a period has passed */
} esker_durability;

/* When a value expires. */
typedef enum esker_expiry {
  ESKER_EXPIRY_DEFAULT = 0, /* of a write: the keyspace's or the store's; of an opening: what the store remembers */
  ESKER_EXPIRY_NEVER = 1,
  ESKER_EXPIRY_AFTER = 2, /* so many milliseconds after the write */
  ESKER_EXPIRY_AT = 3     /* at an instant, in milliseconds since 1970-01-01 00:00 UTC */
} esker_expiry;

/* Whether a store is created. */
typedef enum esker_create {
  ESKER_CREATE_IF_MISSING = 0, /* if there is nothing at the path, or an empty directory */
  ESKER_CREATE_NEVER = 1,      /* else ESKER_ERROR_NOT_A_STORE */
  ESKER_CREATE_ALWAYS = 2      /* else ESKER_ERROR_DIRECTORY_NOT_EMPTY */
} esker_create;

/* How values are compressed when segments are merged. */
typedef enum esker_compression {
  ESKER_COMPRESSION_DEFAULT = 0, /* what the store remembers; off in a new store */
  ESKER_COMPRESSION_OFF = 1,
  ESKER_COMPRESSION_LZ4 = 2 /* at compression_level */
} esker_compression;

/* Whether other processes may write to the store as long as it is open. */
typedef enum esker_sharing {
  ESKER_SHARING_EXCLUSIVE = 0,
  ESKER_SHARING_IN_TURN = 1 /* those that open it in this way, one after the other */
} esker_sharing;

/* How often reads compare checksums. */
typedef enum esker_verification {
  ESKER_VERIFICATION_ONCE_IN_MEMORY = 0, /* large records once, as long as they stay in memory; small ones always */
  ESKER_VERIFICATION_EVERY_READ = 1,
  ESKER_VERIFICATION_OPENING_ONLY = 2
} esker_verification;

/*
 * How a store is opened. Everything that is 0 has its default. A store remembers durability, default expiry,
 * segment size, compression and capacity: 0 keeps what it remembers.
 */
typedef struct esker_options {
  size_t size;                  /* sizeof(esker_options) */
  uint8_t read_only;            /* 1: changes nothing, and follows the process that writes, if there is one */
  uint8_t in_memory;            /* 1: a new store in memory; the path is ignored and may be NULL */
  uint8_t manual_merge;         /* 1: space is reclaimed by esker_merge() only */
  uint8_t reserved;             /* 0 */
  int32_t create;               /* an esker_create */
  int32_t sharing;              /* an esker_sharing */
  int32_t verification;         /* an esker_verification */
  int32_t durability;           /* an esker_durability: of writes that do not say it */
  int32_t default_expiry;       /* an esker_expiry: of values for which neither the write nor the keyspace says it */
  int32_t compression;          /* an esker_compression */
  int32_t compression_level;    /* of LZ4: 1 to 12; 0 for 4, which gives most of the ratio in half of the time */
  int64_t durability_period_ms; /* of ESKER_DURABILITY_PERIODIC: at least 1 */
  int64_t default_expiry_ms;    /* of ESKER_EXPIRY_AFTER and ESKER_EXPIRY_AT */
  int64_t sharing_patience_ms;  /* how long a write waits for its turn before ESKER_ERROR_LOCKED; 0 for 10 seconds */
  uint64_t segment_size;        /* of a file of the log in bytes: 64 KiB to 1 GiB */
  uint64_t capacity;            /* the most bytes of all files, from 256 KiB on: a cache. UINT64_MAX: no limit */
  uint64_t merge_bytes_per_second; /* the most that merges copy; 0 for no limit */
  esker_event_handler on_event; /* is told what happens in the store; NULL for nobody */
  void *event_context;          /* what it is passed */
} esker_options;

#define ESKER_OPTIONS_INIT {sizeof(esker_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL}

/* Opens the store in a directory. options may be NULL. Close it with esker_close(). */
esker_status esker_open(const char *path, const esker_options *options, esker_store **store);

/*
 * Closes a store: syncs what was written and lets go of its files. Calls that are under way in other threads
 * end first or fail with ESKER_ERROR_CLOSED. Whatever it returns, the handle is gone; a failure says that the
 * last writes may not be durable.
 */
esker_status esker_close(esker_store *store);

/* Makes every write that returned before the call durable. */
esker_status esker_sync(esker_store *store);

/*
 * Lets a store that was opened read-only see everything that was written before the call. Reads follow by themselves,
 * a little later.
 */
esker_status esker_refresh(esker_store *store);

/* Reclaims the space of records that were replaced, removed or expired. A store does so by itself, too. */
esker_status esker_merge(esker_store *store);

/*
 * Copies the store, as it is at one instant, to a directory that does not exist or is empty, while reads and
 * writes continue. The copy is a store and is durable. Files are shared by hard links where possible. previous,
 * which may be NULL, is an earlier backup of this store: what it has is shared with it, also on another volume.
 */
esker_status esker_backup(esker_store *store, const char *directory, const char *previous);

/*
 * Figures of the store as a JSON object in UTF-8, with a zero byte behind its length; free it. Fields keep
 * their names, and others may be added; sizes are in bytes. length may be NULL. Keys that have expired are
 * counted until they are removed.
 */
esker_status esker_statistics(esker_store *store, char **json, size_t *length);

/* What a verification has found. */
typedef struct esker_verify_report {
  size_t size;              /* sizeof(esker_verify_report): the library fills in no more */
  uint64_t files;           /* how much was read */
  uint64_t bytes;
  uint64_t records;
  uint64_t damaged_ranges;  /* 0: everything is as it was written */
  uint64_t damaged_records; /* how many are damaged there at most, as far as that is known */
  uint64_t lost_records;    /* how many of them are the last of their keys, whose values cannot be read */
  uint64_t unknown_records; /* of how many of them that is not known */
} esker_verify_report;

#define ESKER_VERIFY_REPORT_INIT {sizeof(esker_verify_report), 0, 0, 0, 0, 0, 0, 0}

/*
 * Reads every byte of the store and compares all checksums, and looks whether each entry of the index leads to a
 * record, while reads and writes continue. That something is damaged is no failure: the report says it, and json, which
 * may be NULL, gets each damaged range with its file, place and reason, as esker_statistics() gives figures; free it.
 * progress may be NULL. ESKER_ERROR_CANCELLED if that stopped it.
 */
esker_status esker_verify(esker_store *store, esker_progress progress, void *context, esker_verify_report *report,
                          char **json, size_t *length);

/* ---- Keyspaces ---- */

/*
 * Opens the keyspace of that name and creates it if there is none. NULL and "" name the default keyspace. Close
 * it with esker_keyspace_close().
 */
esker_status esker_keyspace_open(esker_store *store, const char *name, esker_keyspace **keyspace);

/* Closes the handle. The keyspace stays. */
esker_status esker_keyspace_close(esker_keyspace *keyspace);

/*
 * Removes a keyspace with all its entries, in constant time. Handles of it then fail with
 * ESKER_ERROR_KEYSPACE_REMOVED. ESKER_NOT_FOUND if there is none.
 */
esker_status esker_keyspace_remove(esker_store *store, const char *name);

/*
 * The names of all keyspaces but the default one, in no particular order: (*names)[0] to (*names)[*count - 1],
 * and NULL behind them. They are in one block of memory with the array; free the array, and nothing else.
 */
esker_status esker_keyspace_names(esker_store *store, char ***names, size_t *count);

/* The number of entries that have not expired. */
esker_status esker_count(esker_keyspace *keyspace, uint64_t *count);

/* ---- Reading ---- */

/* A copy of a key's value; free it. Not NULL if the value is empty. ESKER_NOT_FOUND without one. */
esker_status esker_get(esker_keyspace *keyspace, const void *key, size_t key_length, void **value,
                       size_t *value_length);

/*
 * Copies a key's value into a buffer of the caller's, and sets value_length to the value's length. If that is
 * more than capacity, returns ESKER_BUFFER_TOO_SMALL; the buffer then has the value's beginning. With a
 * capacity of 0, buffer may be NULL. Allocates nothing, unless the value is compressed.
 */
esker_status esker_get_into(esker_keyspace *keyspace, const void *key, size_t key_length, void *buffer, size_t capacity,
                            size_t *value_length);

/*
 * The values of several keys, in one block of memory, faster than by one call for each. values, an array of the
 * caller's, which may be that of the keys, gets count slices; data is NULL for a key that is absent. They point into
 * *block; free it, and with it all values. Each value is one that its key had during the call; together they are no
 * snapshot.
 */
esker_status esker_get_many(esker_keyspace *keyspace, const esker_slice *keys, size_t count, esker_slice *values,
                            void **block);

/* ESKER_OK if the key has a value, ESKER_NOT_FOUND otherwise. */
esker_status esker_contains(esker_keyspace *keyspace, const void *key, size_t key_length);

/* What is known of a value without reading it. */
typedef struct esker_info {
  size_t size;           /* sizeof(esker_info): the library fills in no more */
  uint64_t version;      /* the number of the write that stored it */
  uint64_t value_length; /* in bytes */
  int64_t expires_at_ms; /* in milliseconds since 1970; ESKER_NEVER */
} esker_info;

#define ESKER_INFO_INIT {sizeof(esker_info), 0, 0, 0}

/* Length, version and expiry of a key's value. ESKER_NOT_FOUND without one. */
esker_status esker_get_info(esker_keyspace *keyspace, const void *key, size_t key_length, esker_info *info);

/* An entry at a cursor, or as it is shown to a viewer. */
typedef struct esker_entry {
  size_t size;           /* sizeof(esker_entry): the library fills in no more */
  const void *key;       /* valid until the next call with the cursor, or until the viewer returns; not NULL */
  size_t key_length;     /* in bytes */
  const void *value;     /* the same; NULL if only keys are wanted */
  size_t value_length;   /* in bytes, also where value is NULL */
  uint64_t version;      /* the number of the write that stored the value */
  int64_t expires_at_ms; /* in milliseconds since 1970; ESKER_NEVER */
} esker_entry;

#define ESKER_ENTRY_INIT {sizeof(esker_entry), NULL, 0, NULL, 0, 0, 0}

/*
 * What a function of the program's is called with: an entry in place, and the pointer that was passed along. It returns
 * 0 to be shown the next one, and anything else to stop. It must return: no longjmp(), no exception. It may use the
 * store, and must not close it.
 */
typedef int (*esker_viewer)(void *context, const esker_entry *entry);

/*
 * Shows a key's value in place, which is how a large one is read without a copy: calls viewer once. It is copied after
 * all if it is short, compressed, or less than 64 KiB and in the file that is being written. ESKER_NOT_FOUND without a
 * value; viewer is not called then. What viewer returns does not matter.
 */
esker_status esker_view(esker_keyspace *keyspace, const void *key, size_t key_length, esker_viewer viewer,
                        void *context);

/* ---- Writing ---- */

/* How a write is done. Everything that is 0 has its default. */
typedef struct esker_write_options {
  size_t size;                  /* sizeof(esker_write_options) */
  int32_t durability;           /* an esker_durability */
  int32_t expiry;               /* an esker_expiry */
  int64_t expiry_ms;            /* of ESKER_EXPIRY_AFTER and ESKER_EXPIRY_AT */
  int64_t durability_period_ms; /* of ESKER_DURABILITY_PERIODIC: at least 1 */
} esker_write_options;

#define ESKER_WRITE_OPTIONS_INIT {sizeof(esker_write_options), 0, 0, 0, 0}

/*
 * In all of these options may be NULL, and so may version, which gets the number of the write: that of the
 * value, which changes exactly when the value is written again. Numbers begin with 1 and ascend.
 */

/* Stores a value, in place of the present one if there is one. */
esker_status esker_put(esker_keyspace *keyspace, const void *key, size_t key_length, const void *value,
                       size_t value_length, const esker_write_options *options, uint64_t *version);

/* Stores a value if the key has none; else ESKER_CONFLICT. */
esker_status esker_put_if_absent(esker_keyspace *keyspace, const void *key, size_t key_length, const void *value,
                                 size_t value_length, const esker_write_options *options, uint64_t *version);

/* Stores a value if the present one has this version; 0 means that there must be none. Else ESKER_CONFLICT. */
esker_status esker_put_if_version(esker_keyspace *keyspace, const void *key, size_t key_length, uint64_t expected,
                                  const void *value, size_t value_length, const esker_write_options *options,
                                  uint64_t *version);

/*
 * Compare and set: stores a value if the present one is equal to expected; NULL means that there must be none,
 * which an empty value is not. Else ESKER_CONFLICT. Writes nothing if neither the value nor its expiry would
 * change.
 */
esker_status esker_compare_and_set(esker_keyspace *keyspace, const void *key, size_t key_length, const void *expected,
                                   size_t expected_length, const void *value, size_t value_length,
                                   const esker_write_options *options, uint64_t *version);

/*
 * Adds amount to a counter, wrapping on overflow, and sets sum, which may be NULL. An absent key counts as 0. A
 * counter is a value of 8 bytes, the least significant first; any other is ESKER_ERROR_DAMAGED. The options'
 * expiry must be 0: a counter keeps its own.
 */
esker_status esker_increment(esker_keyspace *keyspace, const void *key, size_t key_length, int64_t amount,
                             const esker_write_options *options, int64_t *sum);

/*
 * Sets when a present value expires, as the options say, which must say it: ESKER_EXPIRY_NEVER, _AFTER or _AT.
 * Writes the value again. ESKER_NOT_FOUND without a value.
 */
esker_status esker_touch(esker_keyspace *keyspace, const void *key, size_t key_length,
                         const esker_write_options *options, uint64_t *version);

/* Removes a key. ESKER_NOT_FOUND if it had no value. Of the options, only the durability counts. */
esker_status esker_remove(esker_keyspace *keyspace, const void *key, size_t key_length,
                          const esker_write_options *options);

/* Removes a key if its value has this version; else ESKER_CONFLICT. Of the options, only the durability counts. */
esker_status esker_remove_if_version(esker_keyspace *keyspace, const void *key, size_t key_length, uint64_t expected,
                                     const esker_write_options *options);

/* Removes all keys of a keyspace, in constant time. Of the options, only the durability counts. */
esker_status esker_remove_all(esker_keyspace *keyspace, const esker_write_options *options);

/* ---- Batches ---- */

/*
 * A new batch of writes to one or several keyspaces of a store. It collects copies in memory, and
 * esker_batch_commit() writes them: after a crash, and in a snapshot, either all of them are there or none.
 * Free it with esker_batch_free(). At most 2 GiB.
 */
esker_status esker_batch_create(esker_store *store, esker_batch **batch);

/* Adds a put to a batch. The last operation on a key wins. Of the options, only the expiry counts. */
esker_status esker_batch_put(esker_batch *batch, esker_keyspace *keyspace, const void *key, size_t key_length,
                             const void *value, size_t value_length, const esker_write_options *options);

/* Adds a removal to a batch. */
esker_status esker_batch_remove(esker_batch *batch, esker_keyspace *keyspace, const void *key, size_t key_length);

/*
 * Adds a condition: at the commit, the key must still have this version; 0 means that it must have no value. So
 * a program can read, decide, and write only if what it has read is still so: a transaction.
 */
esker_status esker_batch_require(esker_batch *batch, esker_keyspace *keyspace, const void *key, size_t key_length,
                                 uint64_t version);

/*
 * Writes a batch, which is then empty and may be filled again, in the memory that it has. ESKER_CONFLICT if a
 * condition does not hold. Unless it returns ESKER_OK, the batch keeps what is in it. Of the options, only the
 * durability counts.
 */
esker_status esker_batch_commit(esker_batch *batch, const esker_write_options *options);

/* Frees a batch, and drops what was not committed. */
esker_status esker_batch_free(esker_batch *batch);

/* ---- Snapshots, cursors, ranges ---- */

/*
 * Opens a snapshot: the store as it is now, whatever is written later. Close it with esker_snapshot_close():
 * until then, what it shows stays on disk.
 */
esker_status esker_snapshot_open(esker_store *store, esker_snapshot **snapshot);

/*
 * A copy of the value that a key has in a snapshot; free it. ESKER_NOT_FOUND without one. In a keyspace that
 * keeps its keys in order it takes logarithmic time; otherwise the first call sorts the keyspace's keys, which
 * the snapshot keeps.
 */
esker_status esker_snapshot_get(esker_snapshot *snapshot, esker_keyspace *keyspace, const void *key, size_t key_length,
                                void **value, size_t *value_length);

/* The number of the last write that a snapshot shows: a change feed since then shows all that came behind it. */
esker_status esker_snapshot_sequence(esker_snapshot *snapshot, uint64_t *sequence);

/* Closes a snapshot. Cursors of it go on. */
esker_status esker_snapshot_close(esker_snapshot *snapshot);

/* Which entries a cursor reads. Everything that is 0 has its default: all entries, ascending. */
typedef struct esker_range {
  size_t size;           /* sizeof(esker_range) */
  esker_slice from;      /* the least key; NULL for none */
  esker_slice to;        /* the key before which the range ends; NULL for none */
  esker_slice prefix;    /* what keys begin with; NULL for anything */
  uint8_t from_excluded; /* 1: the range begins behind `from` */
  uint8_t to_included;   /* 1: `to` is in the range */
  uint8_t reverse;       /* 1: the greatest key first */
  uint8_t keys_only;     /* 1: values are not returned */
  uint8_t reserved[4];   /* 0 */
  uint64_t limit;        /* the most entries; 0 for no limit */
} esker_range;

#define ESKER_RANGE_INIT {sizeof(esker_range), {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 0, 0, 0, {0, 0, 0, 0}, 0}

/*
 * Opens a cursor before the first entry of a keyspace. Close it with esker_cursor_close().
 *
 * With a range, entries come in the order of their keys, which are compared as memcmp does. The first range
 * that anybody asks for makes the keyspace keep its keys in order from then on, which takes one pass over the
 * index and some memory for each key. Without a range (NULL) entries come in no particular order, and nothing
 * has to be kept.
 *
 * With a snapshot, the cursor shows that instant. Without one (NULL), a cursor without a range takes a snapshot
 * of its own, and one with a range reads what is there as it comes along: a key that is there all the time is
 * seen once, others may or may not be seen.
 */
esker_status esker_cursor_open(esker_keyspace *keyspace, esker_snapshot *snapshot, const esker_range *range,
                               esker_cursor **cursor);

/*
 * Goes on to the next entry and describes it. ESKER_END behind the last one. ESKER_ERROR_DAMAGED for an entry
 * that cannot be read: with a snapshot or without a range, the next call goes on behind it; otherwise it fails
 * again.
 */
esker_status esker_cursor_next(esker_cursor *cursor, esker_entry *entry);

/* Closes a cursor, and with it what it has returned. */
esker_status esker_cursor_close(esker_cursor *cursor);

/*
 * Shows the entries of a range in place, in the order of their keys, until viewer returns anything but 0: the
 * fastest way to read many. It shows what a cursor with that range and without a snapshot would; range may be NULL
 * for all entries. viewer should be brief, because the store frees no memory as long as it runs. ESKER_OK if viewer
 * has stopped it, ESKER_END once all entries were shown.
 */
esker_status esker_view_range(esker_keyspace *keyspace, const esker_range *range, esker_viewer viewer, void *context);

/*
 * The number of entries of a range, which are looked up one by one. Of the range, which must not be NULL, reverse,
 * keys_only and limit must be 0. As with a cursor, the keyspace keeps its keys in order from then on.
 */
esker_status esker_count_range(esker_keyspace *keyspace, const esker_range *range, uint64_t *count);

/*
 * Removes the entries of a range, some hundred at a time, each time all of them or none, and sets removed, which may be
 * NULL. What is written meanwhile may be among them. If it fails, some may have been removed. The range is as in
 * esker_count_range(); esker_remove_all() removes all keys in constant time. Of the options, only the durability counts.
 */
esker_status esker_remove_range(esker_keyspace *keyspace, const esker_range *range, const esker_write_options *options,
                                uint64_t *removed);

/* ---- Change feeds ---- */

/* What a change feed shows. Everything that is 0 has its default. */
typedef struct esker_changes_options {
  size_t size;               /* sizeof(esker_changes_options) */
  uint64_t keeping;          /* how many bytes of merged segments are kept for the feed; 0 for 256 MiB */
  uint8_t including_unsynced; /* 1: writes are shown at once, although a power failure may undo them */
  uint8_t reserved[7];       /* 0 */
} esker_changes_options;

#define ESKER_CHANGES_OPTIONS_INIT {sizeof(esker_changes_options), 0, 0, {0, 0, 0, 0, 0, 0, 0}}

/*
 * Opens a feed of all writes behind the one with the number `since`, in all keyspaces, each once, in order, and later
 * ones as they are made. 0 begins with the first write, ESKER_NOW with the next one; other numbers are those of a change,
 * a write or esker_snapshot_sequence(). options may be NULL. Close it with esker_changes_close().
 *
 * Changes are read from the log: a feed that is slow delays nobody. Merges keep what it has not read, up to `keeping`
 * bytes; beyond that, and if the log no longer has what is behind `since`, it fails with ESKER_ERROR_HISTORY_GONE: begin
 * again with a snapshot. That a value expires, is evicted or moved by a merge is no change.
 */
esker_status esker_changes_open(esker_store *store, uint64_t since, const esker_changes_options *options,
                                esker_changes **changes);

/* What was written. */
typedef enum esker_change_kind {
  ESKER_CHANGE_PUT = 1,
  ESKER_CHANGE_REMOVE = 2,
  ESKER_CHANGE_REMOVE_ALL = 3 /* the keyspace was emptied or removed */
} esker_change_kind;

/* A change of a feed. What it points to is valid until the feed's next call. */
typedef struct esker_change {
  size_t size;             /* sizeof(esker_change): the library fills in no more */
  int32_t kind;            /* an esker_change_kind */
  uint8_t batch_continues; /* 1: the next change belongs to the same batch */
  uint8_t reserved[3];
  uint64_t sequence;       /* the number of the write: where to resume behind it */
  const char *keyspace;    /* its name; "" for the default one */
  const void *key;         /* NULL of ESKER_CHANGE_REMOVE_ALL */
  size_t key_length;
  const void *value;       /* of ESKER_CHANGE_PUT; else NULL */
  size_t value_length;
  int64_t expires_at_ms;   /* of ESKER_CHANGE_PUT, in milliseconds since 1970; ESKER_NEVER */
} esker_change;

#define ESKER_CHANGE_INIT {sizeof(esker_change), 0, 0, {0, 0, 0}, 0, NULL, NULL, 0, NULL, 0, 0}

/*
 * Goes on to the next change and describes it. If there is none yet, waits for one for so many milliseconds, or as long as
 * it takes if that is negative: ESKER_NOT_YET after that. ESKER_END once the store is closed and everything was shown. With
 * a timeout of 0 it waits for nothing, but for the end of a closing that is under way.
 *
 * A write is shown once it is durable; a feed that waits has it synced, one sync for all writes made meanwhile. One that
 * does not wait shows what is durable by then. ESKER_ERROR_DAMAGED for a change that cannot be read: the next call goes on
 * behind it. Closing the feed in another thread does not end a wait; closing the store does.
 */
esker_status esker_changes_next(esker_changes *changes, int64_t timeout_ms, esker_change *change);

/* Closes a feed, and with it what it has returned. */
esker_status esker_changes_close(esker_changes *changes);

#ifdef __cplusplus
}
#endif

#endif
