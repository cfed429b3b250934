// Included by esker_crc32c.c once per implementation of a step; see there.

TARGET static inline uint32_t NAME(step)(uint32_t state, uint64_t word) { return STEP(state, word); }

/// The state after `count` words, computed by steps alone.
TARGET static inline uint32_t NAME(steps)(uint32_t state, const uint8_t *bytes, size_t count) {
#ifdef FOLD
  // A step takes one cycle but its result is available three cycles later, so three streams run side by side. The states of
  // the first two are advanced past the later streams by one product each, added to the last word of the third. Below a
  // dozen words the products cost more than they save.
  while (count >= 12) {
    size_t stream = count / 3;
    if (stream > ESKER_CRC32C_STREAM_WORDS) stream = ESKER_CRC32C_STREAM_WORDS;
    const uint8_t *first = bytes, *second = bytes + 8 * stream, *third = second + 8 * stream;
    uint32_t a = state, b = 0, c = 0;
    for (size_t i = 0; i + 1 < stream; i++) {
      a = STEP(a, load_word(first + 8 * i));
      b = STEP(b, load_word(second + 8 * i));
      c = STEP(c, load_word(third + 8 * i));
    }
    a = STEP(a, load_word(first + 8 * (stream - 1)));
    b = STEP(b, load_word(second + 8 * (stream - 1)));
    uint64_t moved = FOLD(a, esker_crc32c_shifts[2 * stream]) ^ FOLD(b, esker_crc32c_shifts[stream]);
    state = STEP(c, load_word(third + 8 * (stream - 1)) ^ moved);
    bytes += 24 * stream;
    count -= 3 * stream;
  }
#endif
  for (; count > 0; count--, bytes += 8) state = STEP(state, load_word(bytes));
  return state;
}

/// The state after `count` words.
TARGET static inline uint32_t NAME(words)(uint32_t state, const uint8_t *bytes, size_t count) {
#ifdef FOLDS_WIDE
  if (FOLDS_WIDE(8 * count)) {
    uint8_t folded[64];
    fold_wide(state, bytes, count / 32, folded);
    state = NAME(steps)(0, folded, 8);
    bytes += 256 * (count / 32);
    count &= 31;
  }
#endif
  return NAME(steps)(state, bytes, count);
}

TARGET static uint32_t NAME(checksum)(uint32_t crc, const void *data, size_t length) {
  const uint8_t *bytes = data;
  uint32_t state = NAME(words)(~crc, bytes, length / 8);
  bytes += length & ~(size_t)7;
  for (size_t i = 0; i < (length & 7); i++) state = step_byte(state, bytes[i]);
  return ~state;
}

TARGET static uint32_t NAME(body_checksum)(
  const void *key, size_t keyLength, const void *value, size_t valueLength) {
  const uint8_t *keyBytes = key, *valueBytes = value;
  uint32_t state = NAME(words)(~(uint32_t)0, keyBytes, keyLength / 8);
  size_t rest = keyLength & 7;
  if (rest > 0) {
    // The key's last bytes share a word with the value's first ones.
    size_t shared = valueLength < 8 - rest ? valueLength : 8 - rest;
    uint64_t word = load_last(keyBytes, keyLength, rest);
    word |= load_first(valueBytes, valueLength, shared) << (8 * rest);
    state = STEP(state, word);
    valueBytes += shared;
    valueLength -= shared;
  }
  state = NAME(words)(state, valueBytes, valueLength / 8);
  rest = valueLength & 7;
  if (rest > 0) state = STEP(state, load_last(valueBytes, valueLength, rest));
  return ~state;
}

TARGET static uint32_t NAME(header_checksum)(
  uint32_t salt, uint32_t offsetUnits, uint32_t bodyChecksum, const void *record, uint32_t extensionWords) {
  const uint8_t *bytes = record;
  uint32_t state = STEP(~(uint32_t)0, salt | (uint64_t)offsetUnits << 32);
  state = STEP(state, bodyChecksum);
  state = STEP(state, load_word(bytes + 8));
  state = STEP(state, load_word(bytes + 16));
  state = STEP(state, load_word(bytes + 24));
  for (uint32_t i = 0; i < extensionWords; i++) state = STEP(state, load_word(bytes + 32 + 8 * i));
  state = ~state;
  return state == 0 ? 1 : state;
}

TARGET static uint32_t NAME(record_check)(
  uint32_t salt, uint32_t offsetUnits, const void *record, uint32_t extensionWords, size_t bodyLength) {
  const uint8_t *bytes = record;
  uint64_t first = load_word(bytes);
  uint32_t header = NAME(header_checksum)(salt, offsetUnits, (uint32_t)(first >> 32), record, extensionWords);
  uint32_t body = ~NAME(words)(~(uint32_t)0, bytes + 32 + 8 * (size_t)extensionWords, bodyLength / 8);
  return (header != (uint32_t)first) | (uint32_t)(body != (uint32_t)(first >> 32)) << 1;
}
