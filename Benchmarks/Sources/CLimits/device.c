// Limit loop of data beyond memory: what the device reads at random, with as many reads under way as there are threads.

#define _GNU_SOURCE
#include "bench_clock.h"
#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { page = 4096 };

typedef struct {
  const int *descriptors;
  const uint64_t *ends;  // the number of pages up to and including each file
  size_t files;
  uint64_t deadline;
  _Atomic uint64_t reads;
  _Atomic int failure;
} device;

static void read_pages(void *context, int thread) {
  device *d = context;
  void *room;
  if (posix_memalign(&room, page, page) != 0) {
    atomic_store(&d->failure, ENOMEM);
    return;
  }
  uint64_t state = (uint64_t)thread << 40, reads = 0;
  while (bench_nanoseconds() < d->deadline) {
    const uint64_t number = bench_mix(state++) % d->ends[d->files - 1];
    size_t file = 0;
    while (number >= d->ends[file]) file++;
    const uint64_t first = file == 0 ? 0 : d->ends[file - 1];
    if (pread(d->descriptors[file], room, page, (off_t)((number - first) * page)) != page) {
      atomic_store(&d->failure, errno ? errno : EIO);
      break;
    }
    reads++;
  }
  free(room);
  atomic_fetch_add(&d->reads, reads);
}

limit_result limit_read_device(const char *const *paths, size_t files, int threads, double seconds) {
  limit_result result = {0};
  int *descriptors = calloc(files, sizeof *descriptors);
  uint64_t *ends = calloc(files, sizeof *ends);
  uint64_t pages = 0;
  size_t opened = 0;
  while (descriptors && ends && opened < files) {
#ifdef __APPLE__
    int descriptor = open(paths[opened], O_RDONLY);
    if (descriptor >= 0) fcntl(descriptor, F_NOCACHE, 1);
#else
    int descriptor = open(paths[opened], O_RDONLY | O_DIRECT);
#endif
    struct stat status;
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
      result.failure = errno;
      break;
    }
    pages += (uint64_t)status.st_size / page;
    descriptors[opened] = descriptor;
    ends[opened++] = pages;
  }
  if (opened == files && pages > 0) {
    device d = {.descriptors = descriptors, .ends = ends, .files = files};
    d.deadline = bench_nanoseconds() + (uint64_t)(seconds * 1e9);
    result.seconds = bench_run_threads(threads, read_pages, &d);
    result.operations = result.hits = d.reads;
    result.failure = d.failure;
  } else if (result.failure == 0) {
    result.failure = ENOENT;
  }
  for (size_t i = 0; i < opened; i++) close(descriptors[i]);
  free(descriptors);
  free(ends);
  return result;
}

int bench_forget_pages(const char *path) {
  int descriptor = open(path, O_RDONLY);
  if (descriptor < 0) return errno;
#ifdef __APPLE__
  int code = 0;
#else
  int code = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
#endif
  close(descriptor);
  return code;
}

static struct rusage usage(void) {
  struct rusage figures = {0};
  getrusage(RUSAGE_SELF, &figures);
  return figures;
}

uint64_t bench_read_bytes(void) { return (uint64_t)usage().ru_inblock * 512; }

uint64_t bench_major_faults(void) { return (uint64_t)usage().ru_majflt; }
