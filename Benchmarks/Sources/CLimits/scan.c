// The minimum cost of rebuilding the index: walk the record headers of Esker's segment files and enter each in the bare
// table.
//
// It knows only as much of the format as it needs to get from one record to the next; the format is specified in Esker's
// documentation.

#include "bench_clock.h"
#include "store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { segment_header_length = 128, kind_put = 1, kind_tombstone = 2, flag_expires = 1, flag_keyspace = 2 };

typedef struct {
  uint64_t records;
  uint64_t checksum;
} walk;

static void walk_segment(const uint8_t *bytes, uint64_t length, uint64_t base, table *t, walk *w) {
  uint64_t offset = segment_header_length;
  while (offset + record_header_length <= length) {
    uint64_t header[4];
    memcpy(header, bytes + offset, sizeof header);
    uint64_t kind = header[1] >> 56 & 15, flags = header[1] >> 60;
    if (header[0] == 0 || (kind != kind_put && kind != kind_tombstone)) return;
    if (kind == kind_put) table_insert(t, header[2], base + offset);
    w->records += 1;
    w->checksum ^= header[2];
    uint64_t extension = ((flags & flag_expires) != 0 ? 8 : 0) + ((flags & flag_keyspace) != 0 ? 8 : 0);
    offset += round_up_8(record_header_length + extension + (header[3] >> 32 & 0xFFFF) + (header[3] & 0xFFFFFFFF));
  }
}

static int scan_file(const char *path, uint64_t base, table *t, walk *w, uint64_t *length) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) return errno;
  struct stat info;
  int failure = fstat(fd, &info) == 0 ? 0 : errno;
  *length = (uint64_t)info.st_size;
  if (failure == 0 && *length > segment_header_length) {
    int flags = MAP_SHARED;
#ifdef __linux__
    flags |= MAP_POPULATE;
#endif
    void *bytes = mmap(NULL, *length, PROT_READ, flags, fd, 0);
    if (bytes == MAP_FAILED) {
      failure = errno;
    } else {
      walk_segment(bytes, *length, base, t, w);
      munmap(bytes, *length);
    }
  }
  close(fd);
  return failure;
}

limit_result limit_scan(const char *const *paths, size_t files, uint64_t keys, int huge_pages) {
  table t;
  walk w = {0, 0};
  uint64_t base = 0, begin = bench_nanoseconds();
  int failure = table_create(&t, keys, huge_pages);
  for (size_t i = 0; i < files && failure == 0; i++) {
    uint64_t length = 0;
    failure = scan_file(paths[i], base, &t, &w, &length);
    base += round_up_8(length);
  }
  double seconds = (double)(bench_nanoseconds() - begin) * 1e-9;
  table_destroy(&t);
  return (limit_result){w.records, w.records, w.checksum, seconds, failure};
}
