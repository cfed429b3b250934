#define _GNU_SOURCE
#include "bench_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/param.h>
#include <unistd.h>
#include <sys/mount.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int ready;
  bool released;
  void (*body)(void *, int);
  void *context;
} gate;

typedef struct {
  gate *gate;
  int index;
} runner;

static void *run(void *argument) {
  runner *me = argument;
  gate *g = me->gate;
  pthread_mutex_lock(&g->lock);
  g->ready += 1;
  pthread_cond_broadcast(&g->changed);
  while (!g->released) pthread_cond_wait(&g->changed, &g->lock);
  pthread_mutex_unlock(&g->lock);
  if (g->body) g->body(g->context, me->index);
  return NULL;
}

double bench_run_threads(int threads, void (*body)(void *, int), void *context) {
  gate g = {.body = body, .context = context};
  pthread_mutex_init(&g.lock, NULL);
  pthread_cond_init(&g.changed, NULL);
  pthread_t *handles = calloc((size_t)threads, sizeof *handles);
  runner *runners = calloc((size_t)threads, sizeof *runners);
  int started = 0;
  if (handles && runners) {
    while (started < threads) {
      runners[started] = (runner){&g, started};
      if (pthread_create(&handles[started], NULL, run, &runners[started]) != 0) break;
      started += 1;
    }
  }
  pthread_mutex_lock(&g.lock);
  while (g.ready < started) pthread_cond_wait(&g.changed, &g.lock);
  // Bodies may wait for each other: if some cannot start, none may.
  if (started < threads) g.body = NULL;
  g.released = true;
  uint64_t begin = bench_nanoseconds();
  pthread_cond_broadcast(&g.changed);
  pthread_mutex_unlock(&g.lock);
  for (int i = 0; i < started; i++) pthread_join(handles[i], NULL);
  double seconds = (double)(bench_nanoseconds() - begin) * 1e-9;
  pthread_cond_destroy(&g.changed);
  pthread_mutex_destroy(&g.lock);
  free(handles);
  free(runners);
  return started == threads ? seconds : -1;
}

bool bench_is_memory_file_system(const char *path) {
#ifdef __linux__
  struct statfs info;
  if (statfs(path, &info) != 0) return false;
  return info.f_type == 0x01021994 /* tmpfs */ || (uint32_t)info.f_type == 0x858458F6u /* ramfs */;
#else
  (void)path;
  return false;
#endif
}

int bench_read_through(const char *path) {
  static uint8_t buffer[1 << 20];
  int fd = open(path, O_RDONLY);
  if (fd < 0) return errno;
  ssize_t n = 1;
  off_t at = 0;
  while (n > 0) {
#ifdef SEEK_DATA
    off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0) break;
    at = data;
#endif
    n = pread(fd, buffer, sizeof buffer, at);
    at += n;
  }
  int failure = n < 0 ? errno : 0;
  close(fd);
  return failure;
}

#ifdef __linux__
/// The number after a name in one of the kernel's files about this process; 0 if there is none.
static uint64_t number_in(const char *path, const char *format) {
  uint64_t found = 0;
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  char line[256];
  while (fgets(line, sizeof line, file)) {
    unsigned long long value;
    if (sscanf(line, format, &value) == 1) found = value;
  }
  fclose(file);
  return found;
}

uint64_t bench_anonymous_bytes(void) { return number_in("/proc/self/status", "RssAnon: %llu") * 1024; }
uint64_t bench_resident_bytes(void) { return number_in("/proc/self/status", "VmRSS: %llu") * 1024; }
uint64_t bench_written_bytes(void) { return number_in("/proc/self/io", "write_bytes: %llu"); }
#else
uint64_t bench_anonymous_bytes(void) { return 0; }
uint64_t bench_resident_bytes(void) { return 0; }
uint64_t bench_written_bytes(void) { return 0; }
#endif
