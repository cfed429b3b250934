#include "table.h"

#include <errno.h>
#include <sys/mman.h>

int table_create(table *t, uint64_t keys, int huge_pages) {
  t->capacity = keys * 100 / 55 + 64;
  size_t bytes = t->capacity * sizeof *t->entries;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (memory == MAP_FAILED) return errno;
#ifdef __linux__
  madvise(memory, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
  (void)huge_pages;
#endif
  t->entries = memory;
  return 0;
}

void table_destroy(table *t) {
  if (t->entries) munmap(t->entries, t->capacity * sizeof *t->entries);
  t->entries = NULL;
}
