#ifdef PEER_LEVELDB

#include "peer.hpp"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

const std::string leveldb_settings =
    "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion) +
    ": log without sync (with sync in the synced cells), 64 MiB write buffer, files of 32 MiB, Bloom filter of 10 bits, block cache larger than all "
    "data, no compression; compacted before reads";

namespace {

void check(const leveldb::Status &status) {
  if (!status.ok()) throw std::runtime_error("LevelDB: " + status.ToString());
}

leveldb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

struct session final : peer_session {
  leveldb::DB *db;
  leveldb::WriteOptions writing;
  std::string value;

  session(leveldb::DB *db, bool synced) : db(db) { writing.sync = synced; }

  void put(std::string_view key, std::string_view bytes) override { check(db->Put(writing, slice(key), slice(bytes))); }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    leveldb::Status status = db->Get({}, slice(key), &value);
    if (status.IsNotFound()) return -1;
    check(status);
    return copy_out(value.data(), value.size(), out, capacity);
  }

  size_t scan(std::string_view key, size_t count, char *out, size_t stride, int64_t *lengths) override {
    std::unique_ptr<leveldb::Iterator> entries(db->NewIterator({}));
    size_t n = 0;
    for (entries->Seek(slice(key)); n < count && entries->Valid(); entries->Next(), n++) {
      const leveldb::Slice value = entries->value();
      lengths[n] = copy_out(value.data(), value.size(), out + n * stride, stride);
    }
    check(entries->status());
    return n;
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
