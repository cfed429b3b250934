#ifdef PEER_SQLITE

#include "peer.hpp"

#include <sqlite3.h>

const std::string sqlite_settings =
    "SQLite " SQLITE_VERSION
    ": one table WITHOUT ROWID, prepared statements, WAL checkpointed every 10,000 pages, synchronous=OFF (FULL in the synced cells), a transaction an "
    "operation (batched: 1,000 operations, the last of which a kill would lose), 2 GiB mapped, cache of 256 MiB; one connection a thread, "
    "locking_mode=EXCLUSIVE where there is only one";

namespace {

struct connection {
  sqlite3 *db = nullptr;

  ~connection() { sqlite3_close_v2(db); }

  void check(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
      throw std::runtime_error(std::string("SQLite: ") + (db ? sqlite3_errmsg(db) : sqlite3_errstr(code)));
  }

  void run(const char *text) { check(sqlite3_exec(db, text, nullptr, nullptr, nullptr)); }

  explicit connection(const peer_options &options) {
    std::string path = std::string(options.directory) + "/store.sqlite";
    check(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr));
    check(sqlite3_busy_timeout(db, 600'000));
    if (options.threads == 1) run("PRAGMA locking_mode=EXCLUSIVE");
    run("PRAGMA journal_mode=WAL");
    run(options.synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
    run("PRAGMA wal_autocheckpoint=10000; PRAGMA mmap_size=2147418112; PRAGMA cache_size=-262144");
    run("CREATE TABLE IF NOT EXISTS store (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID");
  }
};

struct session final : peer_session {
  connection db;
  int batch, pending = 0;
  sqlite3_stmt *putting = nullptr, *getting = nullptr, *scanning = nullptr, *scanning_keys = nullptr, *removing = nullptr, *taking = nullptr,
               *beginning = nullptr, *committing = nullptr;

  explicit session(const peer_options &options) : db(options), batch(options.batch) {
    putting = prepare("INSERT INTO store VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v");
    getting = prepare("SELECT v FROM store WHERE k = ?1");
    scanning = prepare("SELECT k, v FROM store WHERE k >= ?1 ORDER BY k");
    scanning_keys = prepare("SELECT k FROM store WHERE k >= ?1 ORDER BY k");
    removing = prepare("DELETE FROM store WHERE k = ?1");
    taking = prepare("DELETE FROM store WHERE k = (SELECT k FROM store ORDER BY k LIMIT 1) RETURNING v");
    beginning = prepare("BEGIN IMMEDIATE");
    committing = prepare("COMMIT");
  }

  ~session() override {
    for (sqlite3_stmt *statement : {putting, getting, scanning, scanning_keys, removing, taking, beginning, committing})
      sqlite3_finalize(statement);
  }

  void put(std::string_view key, std::string_view value) override {
    begin_batch();
    bind(putting, 1, key);
    bind(putting, 2, value);
    step(putting);
    end_batch();
  }

  int64_t get(std::string_view key, char *out, size_t capacity) override {
    bind(getting, 1, key);
    int code = sqlite3_step(getting);
    db.check(code);
    int64_t length = -1;
    if (code == SQLITE_ROW) length = copy_column(getting, out, capacity);
    sqlite3_reset(getting);
    return length;
  }

  void scan(scan_output &output) override {
    sqlite3_stmt *entries = output.keys_only() ? scanning_keys : scanning;
    bind(entries, 1, output.from);
    int code = sqlite3_step(entries);
    while (code == SQLITE_ROW && output.take(column(entries, 0), output.keys_only() ? std::string_view() : column(entries, 1)))
      code = sqlite3_step(entries);
    db.check(code);
    sqlite3_reset(entries);
  }

  int64_t take_first(char *out, size_t capacity) override {
    begin_batch();
    const int code = sqlite3_step(taking);
    db.check(code);
    const int64_t length = code == SQLITE_ROW ? copy_column(taking, out, capacity) : -1;
    step(taking);
    end_batch();
    return length;
  }

  void remove(std::string_view key) override {
    begin_batch();
    bind(removing, 1, key);
    step(removing);
    end_batch();
  }

  void finish() override {
    if (pending > 0) step(committing);
    pending = 0;
  }

private:
  sqlite3_stmt *prepare(const char *text) {
    sqlite3_stmt *statement = nullptr;
    db.check(sqlite3_prepare_v3(db.db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
    return statement;
  }

  void bind(sqlite3_stmt *statement, int place, std::string_view bytes) {
    db.check(sqlite3_bind_blob64(statement, place, bytes.data(), bytes.size(), SQLITE_STATIC));
  }

  std::string_view column(sqlite3_stmt *statement, int place) {
    const void *bytes = sqlite3_column_blob(statement, place);
    return {static_cast<const char *>(bytes), static_cast<size_t>(sqlite3_column_bytes(statement, place))};
  }

  int64_t copy_column(sqlite3_stmt *statement, char *out, size_t capacity) {
    const std::string_view bytes = column(statement, 0);
    return copy_out(bytes.data(), bytes.size(), out, capacity);
  }

  void step(sqlite3_stmt *statement) {
    sqlite3_step(statement);
    db.check(sqlite3_reset(statement));
  }

  void begin_batch() {
    if (batch > 1 && pending == 0) step(beginning);
  }

  void end_batch() {
    if (batch > 1 && ++pending >= batch) finish();
  }
};

/// Each session is a connection. With one thread that connection holds the lock, so the store keeps none of its own.
struct store final : peer {
  peer_options options;
  std::string directory;

  explicit store(const peer_options &given) : options(given), directory(given.directory) {
    options.directory = directory.c_str();
    connection created(options);
  }

  std::unique_ptr<peer_session> begin() override { return std::make_unique<session>(options); }

  void settle() override {
    connection db(options);
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  void close() override {}
};

}  // namespace

std::unique_ptr<peer> open_sqlite(const peer_options &options) { return std::make_unique<store>(options); }

#endif
