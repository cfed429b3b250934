#ifndef ESKER_CRC32C_TABLES_H
#define ESKER_CRC32C_TABLES_H

#include <stdint.h>

/// The maximum number of words per stream in one round of the interleaved loop.
#define ESKER_CRC32C_STREAM_WORDS 128

/// Slicing by eight: entry [k][b] is the state after byte b and k zero bytes.
extern const uint32_t esker_crc32c_slices[8][256];

/// Entry m is x^(64 m - 33) modulo the polynomial, reflected. The carry-less product of a state with it, used as one more
/// word of input, has the effect of m words of zeros after that state: the product of two reflected numbers lacks one factor
/// x, and the word's own step multiplies by x^32.
extern const uint32_t esker_crc32c_shifts[2 * ESKER_CRC32C_STREAM_WORDS + 1];

#endif
