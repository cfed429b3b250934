// Limit loops that wait for the device: one sync per record, and one sync for all waiting records.

#define _GNU_SOURCE
#include "bench_clock.h"
#include "store.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <os/os_sync_wait_on_address.h>
#else
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

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

/// A file already written and on the device. In pieces of 16 KiB: larger ones leave large folios in the page cache, and a
/// later sync of one changed byte would write a whole folio.
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

/// Sleeps until a word is no longer `value`; may return early.
static void sleep_while(atomic_uint *word, unsigned value) {
#ifdef __APPLE__
  os_sync_wait_on_address(word, value, sizeof *word, OS_SYNC_WAIT_ON_ADDRESS_NONE);
#else
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
#endif
}

static void wake_all(atomic_uint *word) {
#ifdef __APPLE__
  os_sync_wake_by_address_all(word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_NONE);
#else
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
#endif
}

/// Threads that commit together: the last of them to append writes and syncs for all.
///
/// Throughput is highest when each sync carries a record from every thread, so nobody leads until all have appended. There
/// is no lock: each thread has space of its own, and all sleep on the number of the round.
typedef struct {
  int fd;
  int threads;
  uint64_t count;
  size_t value_length;
  uint8_t *records;
  uint64_t record_length;
  atomic_int appended;  // how many threads have appended in this round
  atomic_uint rounds;   // rounds that are on the device
  int failure;          // written before a round ends, read afterwards
} group;

static void commit_each(void *context, int thread) {
  group *g = context;
  uint64_t length = g->record_length * (uint64_t)g->threads;
  for (unsigned round = 0; round < g->count && g->failure == 0; round++) {
    make_record(g->records + g->record_length * (uint64_t)thread, round * (uint64_t)g->threads + (uint64_t)thread, g->value_length);
    if (atomic_fetch_add(&g->appended, 1) + 1 == g->threads) {
      int failure = write_all(g->fd, g->records, length, round * length);
      if (failure == 0) failure = sync_data(g->fd);
      g->failure = failure;
      atomic_store(&g->appended, 0);
      atomic_store(&g->rounds, round + 1);
      wake_all(&g->rounds);
    } else {
      while (atomic_load(&g->rounds) == round) sleep_while(&g->rounds, round);
    }
  }
}

limit_result limit_group(const char *path, int threads, uint64_t count, size_t value_length) {
  uint64_t record = limit_record_length(value_length), total = count * (uint64_t)threads;
  group g = {.threads = threads, .count = count, .value_length = value_length, .record_length = record};
  g.records = malloc(record * (uint64_t)threads);
  if (!g.records) return (limit_result){.failure = ENOMEM};
  g.failure = written_file(path, record * total, &g.fd);
  double seconds = g.failure == 0 ? bench_run_threads(threads, commit_each, &g) : 0;
  if (seconds < 0) g.failure = EAGAIN;
  if (g.fd >= 0) close(g.fd);
  free(g.records);
  return (limit_result){total, total, record * total, seconds, g.failure};
}
