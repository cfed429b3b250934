#ifdef PEER_TKRZW

#include "peer.hpp"

#include <tkrzw_dbm_hash.h>
#include <tkrzw_dbm_tree.h>

const std::string tkrzw_settings =
    std::string("Tkrzw ") + tkrzw::PACKAGE_VERSION + ", HashDBM: two buckets a key, buckets cached, updates in place, memory-mapped file (Synchronize after each write in the synced cells)";

const std::string tkrzw_tree_settings =
    std::string("Tkrzw ") + tkrzw::PACKAGE_VERSION +
    ", TreeDBM: all pages and buckets cached, updates in place, memory-mapped file; a kill loses what the cache has not written";

namespace {

using tkrzw::HashDBM;
using tkrzw::TreeDBM;

void check(const tkrzw::Status &status) {
  if (!status.IsOK()) throw std::runtime_error("Tkrzw: " + tkrzw::ToString(status));
}

/// Copies the value without an intermediate string, and may remove the record.
struct copier final : tkrzw::DBM::RecordProcessor {
  char *out;
  size_t capacity;
  bool removes;
  int64_t length = -1;

  copier(char *out, size_t capacity, bool removes) : out(out), capacity(capacity), removes(removes) {}

  std::string_view ProcessFull(std::string_view, std::string_view value) override {
    length = copy_out(value.data(), value.size(), out, capacity);
    return removes ? REMOVE : NOOP;
  }
};

template <typename DBM> struct session : peer_session {
  DBM &db;
  bool synced;

  session(DBM &db, bool synced) : db(db), synced(synced) {}

  void put(std::string_view key, std::string_view value) override {
    check(db.Set(key, value));
    if (synced) check(db.Synchronize(true));
  }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    copier copy(out, capacity, false);
    check(db.Process(key, &copy, false));
    return copy.length;
  }

  void remove(std::string_view key) override {
    tkrzw::Status status = db.Remove(key);
    if (status != tkrzw::Status::NOT_FOUND_ERROR) check(status);
    if (synced) check(db.Synchronize(true));
  }
};

struct reader final : tkrzw::DBM::RecordProcessor {
  scan_output &output;
  bool wants_more = true;

  explicit reader(scan_output &output) : output(output) {}

  std::string_view ProcessFull(std::string_view key, std::string_view value) override {
    wants_more = output.take(key, value);
    return NOOP;
  }
};

struct tree_session final : session<TreeDBM> {
  std::unique_ptr<tkrzw::DBM::Iterator> entries;

  tree_session(TreeDBM &db, bool synced) : session(db, synced), entries(db.MakeIterator()) {}

  void scan(scan_output &output) override {
    reader read(output);
    if (output.is_whole()) return check(db.ProcessEach(&read, false));
    check(entries->Jump(output.from));
    tkrzw::Status status = entries->Process(&read, false);
    while (status.IsOK() && read.wants_more) {
      check(entries->Next());
      status = entries->Process(&read, false);
    }
    if (status != tkrzw::Status::NOT_FOUND_ERROR) check(status);
  }

  int64_t take_first(char *out, size_t capacity) override {
    copier copy(out, capacity, true);
    tkrzw::Status status = db.ProcessFirst(&copy, true);
    if (status != tkrzw::Status::NOT_FOUND_ERROR) check(status);
    if (synced) check(db.Synchronize(true));
    return copy.length;
  }
};

void tune(HashDBM::TuningParameters &tuning, const peer_options &options) {
  tuning.num_buckets = static_cast<int64_t>(options.keys * 2);
  // Offsets of five bytes reach 2^40 units of 8 bytes: no store here is larger.
  tuning.offset_width = 5;
  tuning.align_pow = 3;
}

/// A bucket belongs to a page here, and a page is at least a third full.
void tune(TreeDBM::TuningParameters &tuning, const peer_options &options) {
  tuning.num_buckets = static_cast<int64_t>(options.bytes / 1'000 + 100'000);
  tuning.max_cached_pages = static_cast<int32_t>(options.bytes / 2'000 + 10'000);
}

template <typename DBM, typename Session> struct store final : peer {
  DBM db;
  bool synced;

  explicit store(const peer_options &options) : synced(options.synced) {
    typename DBM::TuningParameters tuning;
    tuning.update_mode = HashDBM::UPDATE_IN_PLACE;
    tuning.cache_buckets = 1;
    tune(tuning, options);
    check(db.OpenAdvanced(std::string(options.directory) + "/store", true, tkrzw::File::OPEN_DEFAULT, tuning));
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<Session>(db, synced); }
  void settle() override { check(db.Synchronize(true)); }
  void close() override { check(db.Close()); }
};

}  // namespace

std::unique_ptr<peer> open_tkrzw(const peer_options &options) { return std::make_unique<store<HashDBM, session<HashDBM>>>(options); }
std::unique_ptr<peer> open_tkrzw_tree(const peer_options &options) { return std::make_unique<store<TreeDBM, tree_session>>(options); }

#endif
