#include "esker_crc32c.h"

#include <string.h>

#include "esker_crc32c_tables.h"

// The same text is compiled with the processor's instruction and without it: esker_crc32c_kernel.h holds the loops, written
// in terms of two macros, STEP (one word) and FOLD (carry-less product), and a prefix for the names.

static inline uint64_t load_word(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

/// The last `part` (0 to 7) of `length` bytes as the low bytes of a word, zeros above them.
static inline uint64_t load_last(const uint8_t *bytes, size_t length, size_t part) {
  if (part == 0) return 0;
  if (length >= 8) return load_word(bytes + (length - 8)) >> (8 * (8 - part));
  uint64_t word = 0;
  for (size_t i = 0; i < part; i++) word |= (uint64_t)bytes[length - part + i] << (8 * i);
  return word;
}

/// The first `part` (0 to 7) of `length` bytes as the low bytes of a word, zeros above them.
static inline uint64_t load_first(const uint8_t *bytes, size_t length, size_t part) {
  if (length >= 8) return load_word(bytes) & (((uint64_t)1 << (8 * part)) - 1);
  return load_last(bytes, part, part);
}

static inline uint32_t step_byte(uint32_t state, uint8_t byte) {
  return (state >> 8) ^ esker_crc32c_slices[0][(state ^ byte) & 0xff];
}

static inline uint32_t step_word_portable(uint32_t state, uint64_t word) {
  word ^= state;
  return esker_crc32c_slices[7][word & 0xff] ^ esker_crc32c_slices[6][(word >> 8) & 0xff] ^
    esker_crc32c_slices[5][(word >> 16) & 0xff] ^ esker_crc32c_slices[4][(word >> 24) & 0xff] ^
    esker_crc32c_slices[3][(word >> 32) & 0xff] ^ esker_crc32c_slices[2][(word >> 40) & 0xff] ^
    esker_crc32c_slices[1][(word >> 48) & 0xff] ^ esker_crc32c_slices[0][word >> 56];
}

#define NAME(name) name##_portable
#define TARGET
#define STEP(state, word) step_word_portable(state, word)
#include "esker_crc32c_kernel.h"
#undef NAME
#undef TARGET
#undef STEP

#if defined(__x86_64__)

#include <immintrin.h>

#define HAS_HARDWARE 1

/// Folds 64 bytes at a time, four times interleaved (so the input is a multiple of 256 bytes), into 64 bytes that lead from
/// state 0 to the same final state.
///
/// V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009: data d bits
/// ahead of later bytes is multiplied by x^d modulo the polynomial and added to them. The pairs are x^(d + 32) and x^(d -
/// 32), reflected, for the two halves of each 128 bits. Checked against the other paths by the tests of EskerFormat.
__attribute__((target("avx512f,vpclmulqdq"))) static void fold_wide(
  uint32_t state, const uint8_t *bytes, size_t blocks, uint8_t folded[64]) {
#define PAIR(low, high) _mm512_set_epi64(high, low, high, low, high, low, high, low)
#define MOVED(lane, pair)                                                                                \
  _mm512_xor_si512(_mm512_clmulepi64_epi128(lane, pair, 0x00), _mm512_clmulepi64_epi128(lane, pair, 0x11))
#define LOAD(offset) _mm512_loadu_si512(bytes + (offset))
  __m512i a = _mm512_xor_si512(LOAD(0), _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)state)));
  __m512i b = LOAD(64), c = LOAD(128), d = LOAD(192);
  const __m512i block = PAIR(0xdcb17aa4, 0xb9e02b86);
  while (--blocks > 0) {
    bytes += 256;
    a = _mm512_xor_si512(MOVED(a, block), LOAD(0));
    b = _mm512_xor_si512(MOVED(b, block), LOAD(64));
    c = _mm512_xor_si512(MOVED(c, block), LOAD(128));
    d = _mm512_xor_si512(MOVED(d, block), LOAD(192));
  }
  d = _mm512_xor_si512(d, MOVED(a, PAIR(0xa87ab8a8, 0xab7aff2a)));
  d = _mm512_xor_si512(d, MOVED(b, PAIR(0x6992cea2, 0x0d3b6092)));
  d = _mm512_xor_si512(d, MOVED(c, PAIR(0x740eef02, 0x9e4addf8)));
  _mm512_storeu_si512(folded, d);
#undef LOAD
#undef MOVED
#undef PAIR
}

static int wide = 0;

#define FOLDS_WIDE(bytes) (wide && (bytes) >= 512)
#define NAME(name) name##_hardware
#define TARGET __attribute__((target("sse4.2,pclmul")))
#define STEP(state, word) ((uint32_t)_mm_crc32_u64(state, word))
#define FOLD(state, shift)                  \
  ((uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128( \
    _mm_cvtsi32_si128((int)(state)), _mm_cvtsi32_si128((int)(shift)), 0)))
#include "esker_crc32c_kernel.h"

static int detect(void) {
  __builtin_cpu_init();
  wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

#elif defined(__aarch64__) && defined(__LITTLE_ENDIAN__) || defined(__aarch64__) && defined(__AARCH64EL__)

#include <arm_acle.h>
#include <arm_neon.h>

#define HAS_HARDWARE 1
#define NAME(name) name##_hardware
#define TARGET __attribute__((target("crc,aes")))
#define STEP(state, word) __crc32cd(state, word)
#define FOLD(state, shift) ((uint64_t)vgetq_lane_u64(vreinterpretq_u64_p128(vmull_p64(state, shift)), 0))
#include "esker_crc32c_kernel.h"

#if defined(__linux__)
#include <sys/auxv.h>

static int detect(void) {
  const unsigned long crc32 = 1UL << 7, pmull = 1UL << 4;
  const unsigned long needed = crc32 | pmull;
  return (getauxval(AT_HWCAP) & needed) == needed;
}
#else
// Every 64-bit Apple processor that runs a supported system has both.
static int detect(void) { return 1; }
#endif

#endif

#ifdef HAS_HARDWARE

// Set before main. An even earlier caller finds 0 and takes the portable path: slower, with the same result.
static int hardware = 0;

__attribute__((constructor)) static void choose(void) { hardware = detect(); }

#define CHOOSE(name, ...) (hardware ? name##_hardware(__VA_ARGS__) : name##_portable(__VA_ARGS__))

#else

#define CHOOSE(name, ...) name##_portable(__VA_ARGS__)

#endif

uint32_t esker_crc32c(uint32_t crc, const void *data, size_t length) { return CHOOSE(checksum, crc, data, length); }

uint32_t esker_crc32c_portable(uint32_t crc, const void *data, size_t length) {
  return checksum_portable(crc, data, length);
}

uint32_t esker_crc32c_steps(uint32_t crc, const void *data, size_t words) { return ~CHOOSE(steps, ~crc, data, words); }

uint32_t esker_crc32c_word(uint32_t rawState, uint64_t word) { return CHOOSE(step, rawState, word); }

uint32_t esker_record_body_checksum(const void *key, size_t keyLength, const void *value, size_t valueLength) {
  return CHOOSE(body_checksum, key, keyLength, value, valueLength);
}

uint32_t esker_record_header_checksum(
  uint32_t salt, uint32_t offsetUnits, const void *record, uint32_t extensionWords) {
  uint32_t bodyChecksum = (uint32_t)(load_word(record) >> 32);
  return CHOOSE(header_checksum, salt, offsetUnits, bodyChecksum, record, extensionWords);
}

uint64_t esker_record_first_word(
  uint32_t salt, uint32_t offsetUnits, uint32_t bodyChecksum, const void *record, uint32_t extensionWords) {
  uint32_t headerChecksum = CHOOSE(header_checksum, salt, offsetUnits, bodyChecksum, record, extensionWords);
  return headerChecksum | (uint64_t)bodyChecksum << 32;
}

uint32_t esker_record_check(
  uint32_t salt, uint32_t offsetUnits, const void *record, uint32_t extensionWords, size_t bodyLength) {
  return CHOOSE(record_check, salt, offsetUnits, record, extensionWords, bodyLength);
}
