#ifdef PEER_KYOTO

#include "peer.hpp"

#include <kchashdb.h>

const std::string kyoto_settings =
    std::string("Kyoto Cabinet ") + kyotocabinet::VERSION + ", HashDB: two buckets a key, linear chains (TLINEAR), the whole file mapped, updates in place (AUTOSYNC in the synced cells)";

namespace {

using kyotocabinet::HashDB;

[[noreturn]] void fail(HashDB &db) { throw std::runtime_error(std::string("Kyoto Cabinet: ") + db.error().message()); }

struct session final : peer_session {
  HashDB &db;

  explicit session(HashDB &db) : db(db) {}

  void put(std::string_view key, std::string_view value) override {
    if (!db.set(key.data(), key.size(), value.data(), value.size())) fail(db);
  }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    int32_t length = db.get(key.data(), key.size(), out, capacity);
    if (length < 0 && db.error() != kyotocabinet::BasicDB::Error::NOREC) fail(db);
    return length;
  }

  void remove(std::string_view key) override {
    if (!db.remove(key.data(), key.size()) && db.error() != kyotocabinet::BasicDB::Error::NOREC) fail(db);
  }
};

struct store final : peer {
  HashDB db;

  explicit store(const peer_options &options) {
    db.tune_options(HashDB::TLINEAR);
    db.tune_buckets(static_cast<int64_t>(options.keys * 2));
    db.tune_map(static_cast<int64_t>(options.bytes * 2 + options.keys * 64 + (64 << 20)));
    uint32_t mode = HashDB::OWRITER | HashDB::OCREATE | (options.synced ? HashDB::OAUTOSYNC : 0);
    if (!db.open(std::string(options.directory) + "/store.kch", mode)) fail(db);
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<session>(db); }

  void settle() override {
    if (!db.synchronize(true)) fail(db);
  }

  void close() override {
    if (!db.close()) fail(db);
  }
};

}  // namespace

std::unique_ptr<peer> open_kyoto(const peer_options &options) { return std::make_unique<store>(options); }

#endif
