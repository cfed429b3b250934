// Limit loops that wait for the device: a sync a record, and all waiting records in one sync.

#include "bench_clock.h"
#include "store.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

static int sync_data(int fd) {
#ifdef __APPLE__
  return fcntl(fd, F_FULLFSYNC) == -1 ? errno : 0;
#else
  return fdatasync(fd) != 0 ? errno : 0;
#endif
}

static int write_all(int fd, const uint8_t *bytes, size_t length, uint64_t offset) {
  while (length > 0) {
    ssize_t n = pwrite(fd, bytes, length, (off_t)offset);
    if (n > 0) {
      bytes += n;
      length -= (size_t)n;
      offset += (uint64_t)n;
    } else if (n == 0 || errno != EINTR) {
      return n == 0 ? EIO : errno;
    }
  }
  return 0;
}

/// A file that is already written and on the device. In pieces of 16 KiB: larger ones leave large folios in the page cache, of which a
/// later sync writes the whole for one byte changed.
static int written_file(const char *path, uint64_t length, int *fd) {
  static const uint8_t zeros[16384];
  *fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (*fd < 0) return errno;
  int failure = 0;
  for (uint64_t at = 0; at < length && failure == 0; at += sizeof zeros) failure = write_all(*fd, zeros, sizeof zeros, at);
  if (failure == 0 && fsync(*fd) != 0) failure = errno;
  return failure;
}

static uint64_t make_record(uint8_t *room, uint64_t sequence, size_t value_length) {
  uint64_t length = limit_record_length(value_length);
  memset(room, 0, length);
  uint8_t *key = room + record_header_length;
  bench_key(sequence, key);
  uint64_t header[4] = {hash_key(key), sequence, (uint64_t)key_length << 32 | value_length, 0};
  memcpy(room, header, sizeof header);
  bench_stamp(key + key_length, sequence);
  return length;
}

limit_result limit_sync(const char *path, uint64_t count, size_t value_length) {
  uint64_t record = limit_record_length(value_length), offset = 0;
  uint8_t *room = malloc(record);
  if (!room) return (limit_result){.failure = ENOMEM};
  int fd, failure = written_file(path, record * count, &fd);
  uint64_t begin = bench_nanoseconds();
  for (uint64_t i = 0; i < count && failure == 0; i++) {
    make_record(room, i, value_length);
    failure = write_all(fd, room, record, offset);
    if (failure == 0) failure = sync_data(fd);
    offset += record;
  }
  double seconds = (double)(bench_nanoseconds() - begin) * 1e-9;
  if (fd >= 0) close(fd);
  free(room);
  return (limit_result){count, count, offset, seconds, failure};
}

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t synced;
  int fd;
  int failure;
  bool leading;
  uint64_t appended, durable, offset;
  uint8_t *pending, *writing;
  uint64_t pending_length;
  uint64_t count;
  size_t value_length;
} group;

/// Called with the lock held by the thread that leads: writes and syncs what waits, without the lock.
static void lead(group *g) {
  g->leading = true;
  uint64_t target = g->appended, length = g->pending_length, offset = g->offset;
  uint8_t *bytes = g->pending;
  g->pending = g->writing;
  g->writing = bytes;
  g->pending_length = 0;
  g->offset += length;
  pthread_mutex_unlock(&g->lock);
  int failure = write_all(g->fd, bytes, length, offset);
  if (failure == 0) failure = sync_data(g->fd);
  pthread_mutex_lock(&g->lock);
  if (failure != 0) g->failure = failure;
  g->durable = target;
  g->leading = false;
  pthread_cond_broadcast(&g->synced);
}

static void commit_each(void *context, int thread) {
  group *g = context;
  (void)thread;
  for (uint64_t i = 0; i < g->count; i++) {
    pthread_mutex_lock(&g->lock);
    uint64_t mine = ++g->appended;
    g->pending_length += make_record(g->pending + g->pending_length, mine, g->value_length);
    while (g->durable < mine) {
      if (g->leading) pthread_cond_wait(&g->synced, &g->lock);
      else lead(g);
    }
    pthread_mutex_unlock(&g->lock);
  }
}

limit_result limit_group(const char *path, int threads, uint64_t count, size_t value_length) {
  uint64_t record = limit_record_length(value_length), total = count * (uint64_t)threads;
  group g = {.count = count, .value_length = value_length};
  g.pending = malloc(record * (uint64_t)threads);
  g.writing = malloc(record * (uint64_t)threads);
  if (!g.pending || !g.writing) return (limit_result){.failure = ENOMEM};
  pthread_mutex_init(&g.lock, NULL);
  pthread_cond_init(&g.synced, NULL);
  g.failure = written_file(path, record * total, &g.fd);
  double seconds = g.failure == 0 ? bench_run_threads(threads, commit_each, &g) : 0;
  if (seconds < 0) g.failure = EAGAIN;
  if (g.fd >= 0) close(g.fd);
  pthread_cond_destroy(&g.synced);
  pthread_mutex_destroy(&g.lock);
  free(g.pending);
  free(g.writing);
  return (limit_result){total, g.durable, g.offset, seconds, g.failure};
}
