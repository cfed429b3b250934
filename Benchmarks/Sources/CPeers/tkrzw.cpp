#ifdef PEER_TKRZW

#include "peer.hpp"

#include <tkrzw_dbm_hash.h>

const std::string tkrzw_settings =
    std::string("Tkrzw ") + tkrzw::PACKAGE_VERSION + ", HashDBM: two buckets a key, buckets cached, updates in place, memory-mapped file (Synchronize after each write in the synced cells)";

namespace {

using tkrzw::HashDBM;

void check(const tkrzw::Status &status) {
  if (!status.IsOK()) throw std::runtime_error("Tkrzw: " + tkrzw::ToString(status));
}

/// Copies the value without an intermediate string.
struct copier final : tkrzw::DBM::RecordProcessor {
  char *out;
  size_t capacity;
  int64_t length = -1;

  copier(char *out, size_t capacity) : out(out), capacity(capacity) {}

  std::string_view ProcessFull(std::string_view, std::string_view value) override {
    length = static_cast<int64_t>(value.size());
    if (value.size() <= capacity) std::memcpy(out, value.data(), value.size());
    return NOOP;
  }
};

struct session final : peer_session {
  HashDBM &db;
  bool synced;

  session(HashDBM &db, bool synced) : db(db), synced(synced) {}

  void put(std::string_view key, std::string_view value) override {
    check(db.Set(key, value));
    if (synced) check(db.Synchronize(true));
  }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    copier copy(out, capacity);
    check(db.Process(key, &copy, false));
    if (copy.length > static_cast<int64_t>(capacity)) throw std::runtime_error("a value is longer than it was written");
    return copy.length;
  }

  void remove(std::string_view key) override {
    tkrzw::Status status = db.Remove(key);
    if (status != tkrzw::Status::NOT_FOUND_ERROR) check(status);
    if (synced) check(db.Synchronize(true));
  }
};

struct store final : peer {
  HashDBM db;
  bool synced;

  explicit store(const peer_options &options) : synced(options.synced) {
    HashDBM::TuningParameters tuning;
    tuning.update_mode = HashDBM::UPDATE_IN_PLACE;
    tuning.num_buckets = static_cast<int64_t>(options.keys * 2);
    tuning.cache_buckets = 1;
    // Offsets of five bytes reach 2^40 units of 8 bytes: no store here is larger.
    tuning.offset_width = 5;
    tuning.align_pow = 3;
    check(db.OpenAdvanced(std::string(options.directory) + "/store.tkh", true, tkrzw::File::OPEN_DEFAULT, tuning));
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<session>(db, synced); }
  void settle() override { check(db.Synchronize(true)); }
  void close() override { check(db.Close()); }
};

}  // namespace

std::unique_ptr<peer> open_tkrzw(const peer_options &options) { return std::make_unique<store>(options); }

#endif
