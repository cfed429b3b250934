#include "store.h"

#include "bench_clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

uint64_t limit_record_length(size_t value_length) {
  return round_up_8(record_header_length + key_length + value_length);
}

limit_store *limit_create(const char *path, uint64_t keys, uint64_t bytes, size_t value_length, int huge_pages) {
  limit_store *store = calloc(1, sizeof *store);
  if (!store) return NULL;
  store->fd = -1;
  store->reserved = (bytes + 4095) & ~UINT64_C(4095);
  store->value_length = value_length;
  store->buffer = malloc(buffer_capacity);
  store->value = malloc(value_length);
  int failure = table_create(&store->index, keys, huge_pages);
  if (failure == 0 && (!store->buffer || !store->value || value_length < 8)) failure = EINVAL;
  if (failure == 0) {
    store->fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (store->fd < 0 || ftruncate(store->fd, (off_t)store->reserved) != 0) failure = errno;
  }
  if (failure == 0) {
    void *mapping = mmap(NULL, store->reserved, PROT_READ, MAP_SHARED, store->fd, 0);
    if (mapping == MAP_FAILED) failure = errno;
    else store->mapping = mapping;
  }
  if (failure != 0) {
    limit_destroy(store);
    errno = failure;
    return NULL;
  }
  for (size_t i = 0; i < value_length; i++) store->value[i] = (uint8_t)bench_mix(i);
  return store;
}

void limit_destroy(limit_store *store) {
  if (!store) return;
  table_destroy(&store->index);
  if (store->mapping) munmap((void *)store->mapping, store->reserved);
  if (store->fd >= 0) close(store->fd);
  free(store->buffer);
  free(store->value);
  free(store);
}

void store_flush(limit_store *store) {
  uint64_t done = 0;
  while (done < store->buffered && store->failure == 0) {
    ssize_t n = pwrite(store->fd, store->buffer + done, store->buffered - done, (off_t)(store->written + done));
    if (n > 0) done += (uint64_t)n;
    else if (n == 0 || errno != EINTR) store->failure = n == 0 ? EIO : errno;
  }
  store->written += store->buffered;
  store->buffered = 0;
}

int limit_settle(limit_store *store) {
  store_flush(store);
  if (store->failure == 0 && fsync(store->fd) != 0) store->failure = errno;
  return store->failure;
}
