#ifdef PEER_ROCKSDB

#include "peer.hpp"

#include <array>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

const std::string rocksdb_settings =
    "RocksDB " NUMBER(ROCKSDB_MAJOR) "." NUMBER(ROCKSDB_MINOR) "." NUMBER(ROCKSDB_PATCH)
    ": write-ahead log without sync (with sync in the synced cells), 64 MiB memtables, four at most, two background jobs, Bloom filter of 10 bits, "
    "hash index in blocks, block cache larger than all data (lean: a tenth of it; beyond memory: half of the memory, direct reads, write buffers of a 32nd), no compression (packed: LZ4 with a dictionary of 64 KiB); compacted before reads; gets into a "
    "pinned slice, MultiGet; the first entry of a queue looked for from the last one taken";

namespace {

using rocksdb::Slice;

void check(const rocksdb::Status &status) {
  if (!status.ok()) throw std::runtime_error("RocksDB: " + status.ToString());
}

Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(Slice bytes) { return {bytes.data(), bytes.size()}; }

struct session final : peer_session {
  rocksdb::DB *db;
  rocksdb::WriteOptions writing;
  rocksdb::ReadOptions reading;
  rocksdb::PinnableSlice pinned;
  std::string taken;

  session(rocksdb::DB *db, bool synced) : db(db) { writing.sync = synced; }

  void put(std::string_view key, std::string_view value) override { check(db->Put(writing, slice(key), slice(value))); }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    pinned.Reset();
    return copied(db->Get(reading, db->DefaultColumnFamily(), slice(key), &pinned), pinned, out, capacity);
  }

  void get_many(const char *keys, size_t key_length, size_t count, char *out, size_t stride, int64_t *lengths) override {
    constexpr size_t most = 32;
    std::array<Slice, most> slices;
    std::array<rocksdb::PinnableSlice, most> values;
    std::array<rocksdb::Status, most> statuses;
    for (size_t first = 0; first < count; first += most) {
      size_t n = std::min(most, count - first);
      for (size_t i = 0; i < n; i++) slices[i] = Slice(keys + (first + i) * key_length, key_length);
      db->MultiGet(reading, db->DefaultColumnFamily(), n, slices.data(), values.data(), statuses.data());
      for (size_t i = 0; i < n; i++) {
        lengths[first + i] = copied(statuses[i], values[i], out + (first + i) * stride, stride);
        values[i].Reset();
      }
    }
  }

  void scan(scan_output &output) override {
    std::unique_ptr<rocksdb::Iterator> entries(db->NewIterator(reading));
    entries->Seek(slice(output.from));
    while (entries->Valid() && output.take(view(entries->key()), view(entries->value()))) entries->Next();
    check(entries->status());
  }

  int64_t take_first(char *out, size_t capacity) override {
    std::unique_ptr<rocksdb::Iterator> entries(db->NewIterator(reading));
    // From the beginning it would pass everything that was taken before.
    entries->Seek(taken);
    check(entries->status());
    if (!entries->Valid()) return -1;
    const Slice found = entries->value();
    const int64_t length = copy_out(found.data(), found.size(), out, capacity);
    taken = entries->key().ToString();
    remove(taken);
    return length;
  }

  void remove(std::string_view key) override { check(db->Delete(writing, slice(key))); }

private:
  static int64_t copied(const rocksdb::Status &status, const rocksdb::PinnableSlice &value, char *out, size_t capacity) {
    if (status.IsNotFound()) return -1;
    check(status);
    return copy_out(value.data(), value.size(), out, capacity);
  }
};

struct store final : peer {
  std::unique_ptr<rocksdb::DB> db;
  bool synced;

  explicit store(const peer_options &options) : synced(options.synced) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    const size_t all = options.bytes * 2 + (64 << 20);
    table.block_cache = rocksdb::NewLRUCache(options.memory ? options.memory / 2 : options.lean ? options.bytes / 10 : all);
    table.format_version = 5;
    rocksdb::Options settings;
    settings.create_if_missing = true;
    settings.IncreaseParallelism(2);
    settings.write_buffer_size = 64 << 20;
    settings.max_write_buffer_number = 4;
    settings.level_compaction_dynamic_level_bytes = true;
    if (options.memory) {
      settings.use_direct_reads = true;
      settings.use_direct_io_for_flush_and_compaction = true;
      settings.write_buffer_size = options.memory / 32;
    }
    settings.compression = options.packed ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
    if (options.packed) settings.compression_opts.max_dict_bytes = 64 << 10;
    settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB *opened = nullptr;
    check(rocksdb::DB::Open(settings, options.directory, &opened));
    db.reset(opened);
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<session>(db.get(), synced); }

  void settle() override {
    check(db->Flush({}));
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    check(db->CompactRange(all, nullptr, nullptr));
  }

  void close() override { check(db->Close()); }
};

}  // namespace

std::unique_ptr<peer> open_rocksdb(const peer_options &options) { return std::make_unique<store>(options); }

#endif
