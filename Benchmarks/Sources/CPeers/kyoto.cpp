#ifdef PEER_KYOTO

#include "peer.hpp"

#include <kchashdb.h>

const std::string kyoto_settings =
    std::string("Kyoto Cabinet ") + kyotocabinet::VERSION + ", HashDB: two buckets a key, linear chains (TLINEAR), the whole file mapped, updates in place (AUTOSYNC in the synced cells)";

const std::string kyoto_tree_settings =
    std::string("Kyoto Cabinet ") + kyotocabinet::VERSION +
    ", TreeDB: linear chains (TLINEAR), the whole file mapped, page cache larger than all data; a kill loses what the cache has not written";

namespace {

using kyotocabinet::BasicDB;
using kyotocabinet::HashDB;
using kyotocabinet::TreeDB;

[[noreturn]] void fail(BasicDB &db) { throw std::runtime_error(std::string("Kyoto Cabinet: ") + db.error().message()); }

void expect_no_record(BasicDB &db) {
  if (db.error() != BasicDB::Error::NOREC) fail(db);
}

template <typename DB> struct session : peer_session {
  DB &db;

  explicit session(DB &db) : db(db) {}

  void put(std::string_view key, std::string_view value) override {
    if (!db.set(key.data(), key.size(), value.data(), value.size())) fail(db);
  }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    int32_t length = db.get(key.data(), key.size(), out, capacity);
    if (length < 0) expect_no_record(db);
    return length;
  }

  void remove(std::string_view key) override {
    if (!db.remove(key.data(), key.size())) expect_no_record(db);
  }
};

/// Passes each record on, and may remove it.
template <typename Body> struct visitor final : BasicDB::Visitor {
  Body body;

  explicit visitor(Body body) : body(body) {}

  const char *visit_full(const char *key, size_t key_length, const char *value, size_t value_length, size_t *) override {
    return body(std::string_view(key, key_length), std::string_view(value, value_length));
  }
};

struct tree_session final : session<TreeDB> {
  TreeDB::Cursor cursor;

  explicit tree_session(TreeDB &db) : session(db), cursor(&db) {}

  void scan(scan_output &output) override {
    bool wants_more = true;
    visitor reader([&](std::string_view key, std::string_view value) {
      wants_more = output.take(key, value);
      return BasicDB::Visitor::NOP;
    });
    if (output.is_whole()) {
      if (!db.iterate(&reader, false)) fail(db);
      return;
    }
    bool found = cursor.jump(output.from.data(), output.from.size());
    while (found && wants_more) found = cursor.accept(&reader, false, true);
    if (!found) expect_no_record(db);
  }

  int64_t take_first(char *out, size_t capacity) override {
    int64_t length = -1;
    visitor taker([&](std::string_view, std::string_view value) {
      length = copy_out(value.data(), value.size(), out, capacity);
      return BasicDB::Visitor::REMOVE;
    });
    if (!cursor.jump() || !cursor.accept(&taker, true, false)) expect_no_record(db);
    return length;
  }
};

void tune(HashDB &db, const peer_options &options) { db.tune_buckets(static_cast<int64_t>(options.keys * 2)); }

/// A bucket belongs to a page here. In the cache, a record has a header and a pointer in its page.
void tune(TreeDB &db, const peer_options &options) {
  db.tune_buckets(static_cast<int64_t>(options.bytes / 1'000 + 100'000));
  db.tune_page_cache(static_cast<int64_t>(options.bytes * 2 + options.keys * 64 + (64 << 20)));
}

template <typename DB, typename Session> struct store final : peer {
  DB db;

  explicit store(const peer_options &options) {
    db.tune_options(DB::TLINEAR);
    db.tune_map(static_cast<int64_t>(options.bytes * 2 + options.keys * 64 + (64 << 20)));
    tune(db, options);
    uint32_t mode = DB::OWRITER | DB::OCREATE | (options.synced ? DB::OAUTOSYNC : 0);
    if (!db.open(std::string(options.directory) + "/store", mode)) fail(db);
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<Session>(db); }

  void settle() override {
    if (!db.synchronize(true)) fail(db);
  }

  void close() override {
    if (!db.close()) fail(db);
  }
};

}  // namespace

std::unique_ptr<peer> open_kyoto(const peer_options &options) { return std::make_unique<store<HashDB, session<HashDB>>>(options); }
std::unique_ptr<peer> open_kyoto_tree(const peer_options &options) { return std::make_unique<store<TreeDB, tree_session>>(options); }

#endif
