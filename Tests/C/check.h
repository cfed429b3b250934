// What the tests of the C interface share: checks that count, a store of their own, short names for common calls.
#ifndef CHECK_H
#define CHECK_H

#include <esker.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern atomic_int checks_passed;
extern atomic_int checks_failed;

void check(bool holds, const char *text, const char *file, int line);
void check_status(esker_status status, esker_status expected, const char *text, const char *file, int line);

/// Notes whether something holds, and goes on.
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
/// Notes whether a call returns a status, and goes on.
#define EXPECT(status, call) check_status((call), (status), #call, __FILE__, __LINE__)
#define OK(call) EXPECT(ESKER_OK, call)

/// The directory for what the tests write.
extern const char *directory;

/// A path in it, valid until the next but seven call.
const char *path_of(const char *name);

/// A store in memory and its default keyspace.
void open_in_memory(esker_store **store, esker_keyspace **keyspace);

/// Bytes of a literal, as a pointer and a length.
#define BYTES(literal) (literal), (sizeof(literal) - 1)

/// Whether a key's value is this text.
bool has_value(esker_keyspace *keyspace, const char *key, const char *value);

void test_library(void);
void test_opening(void);
void test_reading(void);
void test_writing(void);
void test_batches(void);
void test_snapshots(void);
void test_cursors(void);
void test_key_ranges(void);
void test_verification(void);
void test_events(void);
void test_changes(void);
void test_copies(void);
void test_wrong_uses(void);
void test_structs(void);
void test_threads(void);
void test_together(void);

#endif
