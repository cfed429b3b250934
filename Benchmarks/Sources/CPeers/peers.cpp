// The C interface: finds the engine, and keeps exceptions from crossing into C.

#include "peer.hpp"

namespace {

struct engine {
  const char *name;
  const std::string *settings;
  std::unique_ptr<peer> (*open)(const peer_options &);
};

const engine *find(const char *name) {
  static const engine engines[] = {
#ifdef PEER_ROCKSDB
      {"rocksdb", &rocksdb_settings, open_rocksdb},
#endif
#ifdef PEER_LEVELDB
      {"leveldb", &leveldb_settings, open_leveldb},
#endif
#ifdef PEER_LMDB
      {"lmdb", &lmdb_settings, open_lmdb},
#endif
#ifdef PEER_TKRZW
      {"tkrzw", &tkrzw_settings, open_tkrzw},
      {"tkrzw-tree", &tkrzw_tree_settings, open_tkrzw_tree},
#endif
#ifdef PEER_KYOTO
      {"kyoto", &kyoto_settings, open_kyoto},
      {"kyoto-tree", &kyoto_tree_settings, open_kyoto_tree},
#endif
#ifdef PEER_SQLITE
      {"sqlite", &sqlite_settings, open_sqlite},
#endif
      {nullptr, nullptr, nullptr}};
  const engine *e = engines;
  while (e->name && std::string_view(e->name) != name) e++;
  return e->name ? e : nullptr;
}

thread_local std::string message;

template <typename Result, typename Body> Result guarded(Result failure, Body body) {
  try {
    return body();
  } catch (const std::exception &error) {
    message = error.what();
    return failure;
  }
}

std::string_view view(const void *bytes, size_t length) { return {static_cast<const char *>(bytes), length}; }

}  // namespace

const char *peer_settings(const char *name) {
  const engine *e = find(name);
  return e ? e->settings->c_str() : nullptr;
}

const char *peer_message(void) { return message.c_str(); }

peer *peer_open(const char *name, const peer_options *options) {
  return guarded<peer *>(nullptr, [&] {
    const engine *e = find(name);
    if (!e) throw std::runtime_error(std::string(name) + " is not part of this build");
    return e->open(*options).release();
  });
}

bool peer_close(peer *store) {
  std::unique_ptr<peer> owned(store);
  return guarded(false, [&] { return owned->close(), true; });
}

bool peer_settle(peer *store) {
  return guarded(false, [&] { return store->settle(), true; });
}

peer_session *peer_session_begin(peer *store) {
  return guarded<peer_session *>(nullptr, [&] { return store->begin().release(); });
}

bool peer_session_end(peer_session *session) {
  std::unique_ptr<peer_session> owned(session);
  return guarded(false, [&] { return owned->finish(), true; });
}

bool peer_put(peer_session *session, const void *key, size_t key_length, const void *value, size_t value_length) {
  return guarded(false, [&] { return session->put(view(key, key_length), view(value, value_length)), true; });
}

int64_t peer_get(peer_session *session, const void *key, size_t key_length, void *out, size_t capacity) {
  return guarded<int64_t>(-2, [&] { return session->get(view(key, key_length), static_cast<char *>(out), capacity); });
}

bool peer_get_many(peer_session *session, const void *keys, size_t key_length, size_t count, void *out, size_t stride, int64_t *lengths) {
  return guarded(false, [&] {
    session->get_many(static_cast<const char *>(keys), key_length, count, static_cast<char *>(out), stride, lengths);
    return true;
  });
}

bool peer_remove(peer_session *session, const void *key, size_t key_length) {
  return guarded(false, [&] { return session->remove(view(key, key_length)), true; });
}

int64_t peer_scan(peer_session *session, const peer_range *range, void *out, size_t capacity, size_t stride, uint64_t *sum) {
  return guarded<int64_t>(-2, [&] {
    scan_output output(*range, static_cast<char *>(out), capacity, stride);
    session->scan(output);
    *sum += output.sum;
    return static_cast<int64_t>(output.count);
  });
}

int64_t peer_take_first(peer_session *session, void *out, size_t capacity) {
  return guarded<int64_t>(-2, [&] { return session->take_first(static_cast<char *>(out), capacity); });
}
