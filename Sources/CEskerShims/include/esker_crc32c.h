#ifndef ESKER_CRC32C_H
#define ESKER_CRC32C_H

#include <stddef.h>
#include <stdint.h>

// CRC-32C (Castagnoli, RFC 3720), using the processor's instruction if it has one.
//
// Swift compiles without the features that these instructions need, and a function that needs a feature is never inlined
// into one that lacks it. So each function below does the work for a whole record in one call.

#ifdef __cplusplus
extern "C" {
#endif

/// The checksum of `length` bytes, continuing from the checksum `crc` of the bytes before them (0 to start).
uint32_t esker_crc32c(uint32_t crc, const void *data, size_t length);

/// One step over a little-endian word, on a raw state: neither the initial nor the final inversion is applied.
uint32_t esker_crc32c_word(uint32_t rawState, uint64_t word);

/// The checksum of a record's body given in parts: the key, the value and zeros up to a multiple of eight bytes.
uint32_t esker_record_body_checksum(const void *key, size_t keyLength, const void *value, size_t valueLength);

/// The header checksum of the record at `record`: bytes 4..<32 and the extension words are read in place. Never 0.
uint32_t esker_record_header_checksum(uint32_t salt, uint32_t offsetUnits, const void *record, uint32_t extensionWords);

/// The first word of a record that does not have it yet: `bodyChecksum` and the matching header checksum.
uint64_t esker_record_first_word(
  uint32_t salt, uint32_t offsetUnits, uint32_t bodyChecksum, const void *record, uint32_t extensionWords);

/// Checks the record at `record`, which has `bodyLength` bytes of body (a multiple of eight) after the extension words.
/// Returns 0 if it is intact; bit 0 means that the header is damaged, bit 1 the body.
uint32_t esker_record_check(
  uint32_t salt, uint32_t offsetUnits, const void *record, uint32_t extensionWords, size_t bodyLength);

/// `esker_crc32c` without special instructions: the fallback, visible so that tests can compare the two.
uint32_t esker_crc32c_portable(uint32_t crc, const void *data, size_t length);

/// `esker_crc32c` for whole words without the wide folding that some processors support for long runs, visible for the same
/// reason.
uint32_t esker_crc32c_steps(uint32_t crc, const void *data, size_t words);

#ifdef __cplusplus
}
#endif

#endif
