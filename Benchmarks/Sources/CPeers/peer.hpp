// The interface of an engine. Failures are exceptions; peers.cpp turns them into messages.

#pragma once

#include "peers.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

struct peer_session {
  virtual ~peer_session() = default;
  virtual void put(std::string_view key, std::string_view value) = 0;
  virtual int64_t get(std::string_view key, char *out, size_t capacity) = 0;
  virtual void remove(std::string_view key) = 0;
  /// Several gets; engines with a multi-get use that.
  virtual void get_many(const char *keys, size_t key_length, size_t count, char *out, size_t stride, int64_t *lengths) {
    for (size_t i = 0; i < count; i++) lengths[i] = get({keys + i * key_length, key_length}, out + i * stride, stride);
  }
  /// Reads up to `count` entries in order of their keys.
  virtual size_t scan(std::string_view, size_t, char *, size_t, int64_t *) { throw std::runtime_error("this engine is used without an order"); }
  virtual void finish() {}
};

struct peer {
  virtual ~peer() = default;
  virtual std::unique_ptr<peer_session> begin() = 0;
  virtual void settle() = 0;
  virtual void close() = 0;
};

/// Copies a value that fits.
inline int64_t copy_out(const void *value, size_t length, char *out, size_t capacity) {
  if (length > capacity) throw std::runtime_error("a value is longer than it was written");
  std::memcpy(out, value, length);
  return static_cast<int64_t>(length);
}

std::unique_ptr<peer> open_rocksdb(const peer_options &options);
std::unique_ptr<peer> open_leveldb(const peer_options &options);
std::unique_ptr<peer> open_lmdb(const peer_options &options);
std::unique_ptr<peer> open_tkrzw(const peer_options &options);
std::unique_ptr<peer> open_kyoto(const peer_options &options);
std::unique_ptr<peer> open_sqlite(const peer_options &options);

extern const std::string rocksdb_settings, leveldb_settings, lmdb_settings, tkrzw_settings, kyoto_settings, sqlite_settings;
