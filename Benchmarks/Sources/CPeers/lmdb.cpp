#ifdef PEER_LMDB

#include "peer.hpp"

#include <lmdb.h>

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

const std::string lmdb_settings =
    "LMDB " NUMBER(MDB_VERSION_MAJOR) "." NUMBER(MDB_VERSION_MINOR) "." NUMBER(MDB_VERSION_PATCH)
    ": WRITEMAP and NOSYNC (neither in the synced cells), a write transaction an operation (batched: 1,000 operations, the last of which a kill would "
    "lose), APPEND for ascending keys, one read transaction a thread, renewed for each get or multi-get";

namespace {

void check(int code) {
  if (code != 0) throw std::runtime_error(std::string("LMDB: ") + mdb_strerror(code));
}

MDB_val val(std::string_view bytes) { return {bytes.size(), const_cast<char *>(bytes.data())}; }
std::string_view view(const MDB_val &bytes) { return {static_cast<const char *>(bytes.mv_data), bytes.mv_size}; }

struct session final : peer_session {
  MDB_env *env;
  MDB_dbi dbi;
  int batch, pending = 0;
  unsigned put_flags;
  MDB_txn *writing = nullptr, *reading = nullptr;
  MDB_cursor *cursor = nullptr;

  session(MDB_env *env, MDB_dbi dbi, const peer_options &options)
      : env(env), dbi(dbi), batch(options.batch), put_flags(options.ascending ? MDB_APPEND : 0) {}

  ~session() override {
    if (cursor) mdb_cursor_close(cursor);
    if (writing) mdb_txn_abort(writing);
    if (reading) mdb_txn_abort(reading);
  }

  void put(std::string_view key, std::string_view value) override {
    MDB_val k = val(key), v = val(value);
    check(mdb_put(write(), dbi, &k, &v, put_flags));
    wrote();
  }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    read();
    int64_t length = get_in(reading, key, out, capacity);
    mdb_txn_reset(reading);
    return length;
  }

  void get_many(const char *keys, size_t key_length, size_t count, char *out, size_t stride, int64_t *lengths) override {
    read();
    for (size_t i = 0; i < count; i++) lengths[i] = get_in(reading, {keys + i * key_length, key_length}, out + i * stride, stride);
    mdb_txn_reset(reading);
  }

  void scan(scan_output &output) override {
    read();
    check(cursor ? mdb_cursor_renew(reading, cursor) : mdb_cursor_open(reading, dbi, &cursor));
    MDB_val k = val(output.from), v;
    // A key of no bytes is not looked for.
    int code = mdb_cursor_get(cursor, &k, &v, output.from.empty() ? MDB_FIRST : MDB_SET_RANGE);
    while (code == 0 && output.take(view(k), view(v))) code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    if (code != MDB_NOTFOUND) check(code);
    mdb_txn_reset(reading);
  }

  int64_t take_first(char *out, size_t capacity) override {
    MDB_cursor *front;
    check(mdb_cursor_open(write(), dbi, &front));
    MDB_val k, v;
    int64_t length = -1;
    int code = mdb_cursor_get(front, &k, &v, MDB_FIRST);
    if (code == 0) {
      length = copy_out(v.mv_data, v.mv_size, out, capacity);
      code = mdb_cursor_del(front, 0);
    }
    mdb_cursor_close(front);
    if (code != MDB_NOTFOUND) check(code);
    wrote();
    return length;
  }

  void remove(std::string_view key) override {
    MDB_val k = val(key);
    int code = mdb_del(write(), dbi, &k, nullptr);
    if (code != MDB_NOTFOUND) check(code);
    wrote();
  }

  void finish() override {
    if (writing) commit();
  }

private:
  MDB_txn *write() {
    if (!writing) check(mdb_txn_begin(env, nullptr, 0, &writing));
    return writing;
  }

  void wrote() {
    if (++pending >= batch) commit();
  }

  void commit() {
    MDB_txn *txn = writing;
    writing = nullptr;
    pending = 0;
    check(mdb_txn_commit(txn));
  }

  void read() { check(reading ? mdb_txn_renew(reading) : mdb_txn_begin(env, nullptr, MDB_RDONLY, &reading)); }

  int64_t get_in(MDB_txn *txn, std::string_view key, char *out, size_t capacity) {
    MDB_val k = val(key), v;
    int code = mdb_get(txn, dbi, &k, &v);
    if (code == MDB_NOTFOUND) return -1;
    check(code);
    return copy_out(v.mv_data, v.mv_size, out, capacity);
  }
};

struct store final : peer {
  MDB_env *env = nullptr;
  MDB_dbi dbi = 0;
  peer_options options;

  explicit store(const peer_options &options) : options(options) {
    check(mdb_env_create(&env));
    uint64_t size = options.bytes * 4 + options.keys * 64 + (UINT64_C(1) << 30);
    check(mdb_env_set_mapsize(env, size & ~UINT64_C(4095)));
    unsigned flags = MDB_NOTLS | MDB_NORDAHEAD | (options.synced ? 0 : MDB_WRITEMAP | MDB_NOSYNC);
    check(mdb_env_open(env, options.directory, flags, 0644));
    MDB_txn *txn;
    check(mdb_txn_begin(env, nullptr, 0, &txn));
    check(mdb_dbi_open(txn, nullptr, 0, &dbi));
    check(mdb_txn_commit(txn));
  }

  ~store() override {
    if (env) mdb_env_close(env);
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<session>(env, dbi, options); }
  void settle() override { check(mdb_env_sync(env, 1)); }

  void close() override {
    mdb_env_close(env);
    env = nullptr;
  }
};

}  // namespace

std::unique_ptr<peer> open_lmdb(const peer_options &options) { return std::make_unique<store>(options); }

#endif
