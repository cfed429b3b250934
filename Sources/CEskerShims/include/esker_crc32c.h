#ifndef ESKER_CRC32C_H
#define ESKER_CRC32C_H

#include <stddef.h>
#include <stdint.h>

// CRC-32C (Castagnoli, RFC 3720), by the processor's instruction where there is one.
//
// Swift compiles without the features that these instructions need, and a function that needs a feature is never
// inlined into one that lacks it. So each function below does a whole record's work behind one call.

#ifdef __cplusplus
extern "C" {
#endif

/// The checksum of `length` bytes that follow bytes with checksum `crc` (0 to start).
uint32_t esker_crc32c(uint32_t crc, const void *data, size_t length);

/// One step over a little-endian word, on a raw state: neither the initial nor the final inversion is applied.
uint32_t esker_crc32c_word(uint32_t rawState, uint64_t word);

/// The checksum of a record's body from its parts: the key, the value and zeros up to a multiple of eight bytes.
uint32_t esker_record_body_checksum(const void *key, size_t keyLength, const void *value, size_t valueLength);

/// The header checksum of the record at `record`: bytes 4..<32 and the extension words are read in place. Never 0.
uint32_t esker_record_header_checksum(uint32_t salt, uint32_t offsetUnits, const void *record, uint32_t extensionWords);

/// The first word of a record that is still without it: `bodyChecksum` and the header checksum that goes with it.
uint64_t esker_record_first_word(
  uint32_t salt, uint32_t offsetUnits, uint32_t bodyChecksum, const void *record, uint32_t extensionWords);

/// Checks the record at `record`, of which `bodyLength` bytes (a multiple of eight) of body follow the extension words.
/// Returns 0 when it is intact; bit 0 says that the header is damaged, bit 1 that the body is.
uint32_t esker_record_check(
  uint32_t salt, uint32_t offsetUnits, const void *record, uint32_t extensionWords, size_t bodyLength);

/// `esker_crc32c` without special instructions: the fallback, visible so that tests can compare the two.
uint32_t esker_crc32c_portable(uint32_t crc, const void *data, size_t length);

/// `esker_crc32c` of whole words without the wide folding that some processors have for long runs, visible for the same reason.
uint32_t esker_crc32c_steps(uint32_t crc, const void *data, size_t words);

/// Whether `esker_crc32c` uses the processor's instruction.
int esker_crc32c_is_hardware(void);

#ifdef __cplusplus
}
#endif

#endif
