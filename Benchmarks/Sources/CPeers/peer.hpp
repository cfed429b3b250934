// The interface of an engine. Failures are exceptions; peers.cpp turns them into messages.

#pragma once

#include "peers.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

/// Copies a value that fits.
inline int64_t copy_out(const void *value, size_t length, char *out, size_t capacity) {
  if (length > capacity) throw std::runtime_error("a value is longer than it was written");
  std::memcpy(out, value, length);
  return static_cast<int64_t>(length);
}

/// Takes the entries of a range.
class scan_output {
  const peer_range &range;
  char *const out, *const end;
  char *place;
  size_t stride;

public:
  const std::string_view from;
  size_t count = 0;
  uint64_t sum = 0;

  scan_output(const peer_range &range, char *out, size_t capacity, size_t stride)
      : range(range), out(out), end(out + capacity), place(out), stride(stride),
        from(static_cast<const char *>(range.from), range.from_length) {}

  bool keys_only() const { return range.keys_only; }
  /// Whether every entry of the store is wanted, for engines that have a faster call for that.
  bool is_whole() const { return from.empty() && range.count == PTRDIFF_MAX; }

  /// Takes the entry unless it lies behind the range; whether a further one is wanted.
  bool take(std::string_view key, std::string_view value) {
    if (range.prefix && key.substr(0, from.size()) != from) return false;
    const std::string_view bytes = range.keys_only ? key : value;
    copy_out(bytes.data(), bytes.size(), place, stride);
    uint64_t number;
    std::memcpy(&number, place, sizeof number);
    sum += number;
    place += stride;
    if (place == end) place = out;
    return ++count < range.count;
  }
};

struct peer_session {
  virtual ~peer_session() = default;
  virtual void put(std::string_view key, std::string_view value) = 0;
  virtual int64_t get(std::string_view key, char *out, size_t capacity) = 0;
  virtual void remove(std::string_view key) = 0;
  /// Several gets; engines with a multi-get use that.
  virtual void get_many(const char *keys, size_t key_length, size_t count, char *out, size_t stride, int64_t *lengths) {
    for (size_t i = 0; i < count; i++) lengths[i] = get({keys + i * key_length, key_length}, out + i * stride, stride);
  }
  /// Passes the entries of a range in the order of their keys, until no further one is wanted.
  virtual void scan(scan_output &) { throw std::runtime_error("this engine is used without an order"); }
  virtual int64_t take_first(char *, size_t) { throw std::runtime_error("this engine is used without an order"); }
  virtual void finish() {}
};

struct peer {
  virtual ~peer() = default;
  virtual std::unique_ptr<peer_session> begin() = 0;
  virtual void settle() = 0;
  virtual void close() = 0;
};

std::unique_ptr<peer> open_rocksdb(const peer_options &options);
std::unique_ptr<peer> open_leveldb(const peer_options &options);
std::unique_ptr<peer> open_lmdb(const peer_options &options);
std::unique_ptr<peer> open_tkrzw(const peer_options &options);
std::unique_ptr<peer> open_tkrzw_tree(const peer_options &options);
std::unique_ptr<peer> open_kyoto(const peer_options &options);
std::unique_ptr<peer> open_kyoto_tree(const peer_options &options);
std::unique_ptr<peer> open_sqlite(const peer_options &options);

extern const std::string rocksdb_settings, leveldb_settings, lmdb_settings, tkrzw_settings, tkrzw_tree_settings, kyoto_settings,
    kyoto_tree_settings, sqlite_settings;
