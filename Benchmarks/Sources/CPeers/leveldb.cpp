#ifdef PEER_LEVELDB

#include "peer.hpp"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

const std::string leveldb_settings =
    "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion) +
    ": log without sync (with sync in the synced cells), 64 MiB write buffer, files of 32 MiB, Bloom filter of 10 bits, block cache larger than all "
    "data, no compression; compacted before reads; the first entry of a queue looked for from the last one taken";

namespace {

void check(const leveldb::Status &status) {
  if (!status.ok()) throw std::runtime_error("LevelDB: " + status.ToString());
}

leveldb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(leveldb::Slice bytes) { return {bytes.data(), bytes.size()}; }

struct session final : peer_session {
  leveldb::DB *db;
  leveldb::WriteOptions writing;
  std::string value;
  std::string taken;

  session(leveldb::DB *db, bool synced) : db(db) { writing.sync = synced; }

  void put(std::string_view key, std::string_view bytes) override { check(db->Put(writing, slice(key), slice(bytes))); }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    leveldb::Status status = db->Get({}, slice(key), &value);
    if (status.IsNotFound()) return -1;
    check(status);
    return copy_out(value.data(), value.size(), out, capacity);
  }

  void scan(scan_output &output) override {
    std::unique_ptr<leveldb::Iterator> entries(db->NewIterator({}));
    entries->Seek(slice(output.from));
    while (entries->Valid() && output.take(view(entries->key()), view(entries->value()))) entries->Next();
    check(entries->status());
  }

  int64_t take_first(char *out, size_t capacity) override {
    std::unique_ptr<leveldb::Iterator> entries(db->NewIterator({}));
    // From the beginning it would pass everything that was taken before.
    entries->Seek(taken);
    check(entries->status());
    if (!entries->Valid()) return -1;
    const leveldb::Slice found = entries->value();
    const int64_t length = copy_out(found.data(), found.size(), out, capacity);
    taken = entries->key().ToString();
    remove(taken);
    return length;
  }

  void remove(std::string_view key) override { check(db->Delete(writing, slice(key))); }
};

struct store final : peer {
  std::unique_ptr<const leveldb::FilterPolicy> filter{leveldb::NewBloomFilterPolicy(10)};
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<leveldb::DB> db;
  bool synced;

  explicit store(const peer_options &options)
      : cache(leveldb::NewLRUCache(options.bytes * 2 + (64 << 20))), synced(options.synced) {
    leveldb::Options settings;
    settings.create_if_missing = true;
    settings.write_buffer_size = 64 << 20;
    settings.max_file_size = 32 << 20;
    settings.compression = leveldb::kNoCompression;
    settings.filter_policy = filter.get();
    settings.block_cache = cache.get();
    leveldb::DB *opened = nullptr;
    check(leveldb::DB::Open(settings, options.directory, &opened));
    db.reset(opened);
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<session>(db.get(), synced); }
  void settle() override { db->CompactRange(nullptr, nullptr); }
  void close() override { db.reset(); }
};

}  // namespace

std::unique_ptr<peer> open_leveldb(const peer_options &options) { return std::make_unique<store>(options); }

#endif
