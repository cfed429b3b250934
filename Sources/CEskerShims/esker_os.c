#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "esker_os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

// ---- Files -------------------------------------------------------------------------------------------------------

#ifdef __APPLE__
#include <limits.h>
#include <mach/mach.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/xattr.h>

int esker_preallocate(int descriptor, int64_t size, int64_t length) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return errno;
  int64_t missing = length - (int64_t)status.st_blocks * 512;
  if (missing > 0) {
    fstore_t store = {F_ALLOCATECONTIG | F_ALLOCATEALL, F_PEOFPOSMODE, 0, missing, 0};
    if (fcntl(descriptor, F_PREALLOCATE, &store) != 0) {
      store.fst_flags = F_ALLOCATEALL;
      if (fcntl(descriptor, F_PREALLOCATE, &store) != 0) {
        return errno == ENOTSUP || errno == EINVAL ? EOPNOTSUPP : errno;
      }
    }
  }
  if (length > size && ftruncate(descriptor, length) != 0) return errno;
  return 0;
}

// fsync only reaches the drive's cache; F_FULLFSYNC flushes that too.
int esker_sync_file(int descriptor) {
  for (;;) {
    if (fcntl(descriptor, F_FULLFSYNC) != -1) return 0;
    if (errno == EINTR) continue;
    if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) return errno;
    // A volume without the call (a network share): fsync is the best it offers.
    return fsync(descriptor) == 0 ? 0 : errno;
  }
}

int esker_sync_directory(int descriptor) {
  int code = esker_sync_file(descriptor);
  return code == EINVAL || code == ENOTSUP ? 0 : code;
}

bool esker_has_file_attributes(void) { return true; }

int esker_set_protection_class(int descriptor, int number) {
  if (fcntl(descriptor, F_SETPROTECTIONCLASS, number) != -1) return 0;
  return errno == ENOTSUP || errno == EINVAL || errno == ENOTTY ? 0 : errno;
}

// What NSURLIsExcludedFromBackupKey stands for: the name of the program that is to leave it out, as a binary property list.
static const char excludedName[] = "com.apple.metadata:com_apple_backup_excludeItem";
static const char excludedValue[] =
    "bplist00_\x10\x11" "com.apple.backupd"
    "\x08\0\0\0\0\0\0\x01\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x1c";

int esker_set_backup_exclusion(int descriptor, bool isExcluded) {
  // Without the zero that ends the literal.
  int result = isExcluded ? fsetxattr(descriptor, excludedName, excludedValue, sizeof excludedValue - 1, 0, 0)
                          : fremovexattr(descriptor, excludedName, 0);
  if (result == 0 || errno == ENOTSUP || (!isExcluded && errno == ENOATTR)) return 0;
  return errno;
}
#else

bool esker_has_file_attributes(void) { return false; }

int esker_set_protection_class(int descriptor, int number) {
  (void)descriptor, (void)number;
  return 0;
}

int esker_set_backup_exclusion(int descriptor, bool isExcluded) {
  (void)descriptor, (void)isExcluded;
  return 0;
}

int esker_preallocate(int descriptor, int64_t size, int64_t length) {
  (void)size;
  // Not posix_fallocate: where a file system cannot, glibc reads a byte of each block and writes it back if it is zero, and what
  // another thread has stored there meanwhile is gone.
  while (fallocate(descriptor, 0, 0, length) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOSYS ? EOPNOTSUPP : errno;
  }
  return 0;
}

int esker_sync_file(int descriptor) {
  while (fdatasync(descriptor) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

void esker_begin_write_back(int descriptor, int64_t offset, int64_t length) {
  sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

void esker_forget(int descriptor, int64_t offset, int64_t length) {
  posix_fadvise(descriptor, offset, length, POSIX_FADV_DONTNEED);
}

int esker_sync_directory(int descriptor) {
  while (fsync(descriptor) != 0) {
    if (errno == EINVAL || errno == EOPNOTSUPP) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}
#endif

int esker_scratch_file(void) {
#ifdef __linux__
  int descriptor = memfd_create("esker", MFD_CLOEXEC);
  return descriptor >= 0 ? descriptor : -errno;
#else
  const char *directory = getenv("TMPDIR");
  char path[1024];
  snprintf(path, sizeof path, "%s/esker-XXXXXX", directory != NULL ? directory : "/tmp");
  int descriptor = mkstemp(path);
  if (descriptor < 0) return -errno;
  unlink(path);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
#endif
}

uint64_t esker_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

void esker_raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  rlim_t before = limit.rlim_cur;
  rlim_t wanted = limit.rlim_max;
#ifdef __APPLE__
  // A hard limit of infinity cannot be used: the system rejects more than its limit per process.
  int most = 0;
  size_t length = sizeof most;
  if (sysctlbyname("kern.maxfilesperproc", &most, &length, NULL, 0) != 0 || most <= 0) most = OPEN_MAX;
  if (wanted > (rlim_t)most) wanted = (rlim_t)most;
#endif
  if (wanted <= before) return;
  limit.rlim_cur = wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
#ifdef __APPLE__
  if (before >= OPEN_MAX) return;
  limit.rlim_cur = OPEN_MAX;
  setrlimit(RLIMIT_NOFILE, &limit);
#endif
}

int64_t esker_next_data(int descriptor, int64_t offset, int64_t *end) {
  off_t start = lseek(descriptor, offset, SEEK_DATA);
  if (start < 0) {
    if (errno == ENXIO) return -1;
    // Unknown here: everything up to the end may be data.
    off_t length = lseek(descriptor, 0, SEEK_END);
    if (end != NULL) *end = length;
    return offset < length ? offset : -1;
  }
  if (end != NULL) *end = lseek(descriptor, start, SEEK_HOLE);
  return start;
}

int esker_try_lock(int descriptor, bool exclusive) {
  while (flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

void esker_unlock(int descriptor) { flock(descriptor, LOCK_UN); }

// ---- Memory ------------------------------------------------------------------------------------------------------

size_t esker_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

int esker_processor_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > 1024 ? 1024 : (int)count;
}

void *esker_reserve(size_t length) {
  void *address = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? NULL : address;
}

void esker_advise_read_ahead(void *address, size_t length, bool is_wanted) {
  madvise(address, length, is_wanted ? MADV_NORMAL : MADV_RANDOM);
}

// Linux reads no more at a time than its read-ahead, which is 128 KiB or more unless it was turned off.
void esker_fetch(const void *address, size_t length) {
  const uintptr_t page = esker_page_size(), piece = 128 << 10;
  uintptr_t start = (uintptr_t)address & ~(page - 1);
  const uintptr_t end = (uintptr_t)address + length;
  while (start < end) {
    const uintptr_t count = end - start < piece ? end - start : piece;
    madvise((void *)start, count, MADV_WILLNEED);
    start += piece;
  }
}

uint64_t esker_residency(const void *page, size_t count) {
  unsigned char pages[64];
  if (count > sizeof pages) count = sizeof pages;
  // Where nothing is known, whoever reads it finds out.
  if (mincore((void *)page, count * esker_page_size(), (void *)pages) != 0) return UINT64_MAX;
  uint64_t resident = 0;
  for (size_t index = 0; index < count; index++) resident |= (uint64_t)(pages[index] & 1) << index;
  return resident;
}

bool esker_is_resident(const void *address, size_t length) {
  const uintptr_t page = esker_page_size();
  uintptr_t start = (uintptr_t)address & ~(page - 1);
  const uintptr_t end = (uintptr_t)address + length;
  while (start < end) {
    const uintptr_t wanted = (end - start + page - 1) / page, count = wanted < 64 ? wanted : 64;
    const uint64_t all = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    if ((~esker_residency((const void *)start, count) & all) != 0) return false;
    start += count * page;
  }
  return true;
}

void esker_let_go(void *address, size_t length) {
#ifdef __linux__
  enum { page_out = 21 };  // Linux 5.4; older C libraries do not define it
  if (madvise(address, length, page_out) == 0) return;
#endif
  madvise(address, length, MADV_DONTNEED);
}

#ifdef __linux__
// Linux 5.14; older C libraries do not define them.
enum { populate_read = 22, populate_write = 23 };

int esker_populate_write(void *address, size_t length) {
  while (madvise(address, length, populate_write) != 0) {
    if (errno == EINVAL) return 0;  // an older kernel: stores fault one by one
    if (errno != EINTR && errno != EAGAIN) return errno;
  }
  return 0;
}

void esker_populate_read(void *address, size_t length) {
  if (madvise(address, length, populate_read) != 0 && errno == EINVAL) madvise(address, length, MADV_WILLNEED);
}

// fdatasync writes pages dirtied through a mapping.
int esker_sync_mapping(void *address, size_t length) {
  (void)address, (void)length;
  return 0;
}
#else

int esker_populate_write(void *address, size_t length) {
  (void)address, (void)length;
  return 0;
}

void esker_populate_read(void *address, size_t length) { madvise(address, length, MADV_WILLNEED); }

#ifdef __APPLE__
uint64_t esker_page_cache_room(void) {
  vm_statistics64_data_t figures;
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const mach_port_t host = mach_host_self();
  const kern_return_t result = host_statistics64(host, HOST_VM_INFO64, (host_info64_t)&figures, &count);
  mach_port_deallocate(mach_task_self(), host);
  if (result != KERN_SUCCESS) return 0;
  return ((uint64_t)figures.free_count + figures.external_page_count) * (uint64_t)esker_page_size();
}
#endif

int esker_sync_mapping(void *address, size_t length) {
  while (length > 0 && msync(address, length, MS_SYNC) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}
#endif
