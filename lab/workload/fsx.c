// Random I/O on one file against a model in memory: fsx FILE SEED OPERATIONS [direct].
//
// Reads, writes, appends, truncates, maps, syncs and reopens, all drawn from the seed. The first
// difference ends the run with the operations that led to it.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/stat.h>

#include "check.h"

enum {
  kMostFileBytes = 3 * 1024 * 1024,  // several times rsize and wsize (1 MiB at most)
  kMostOperationBytes = 300 * 1024,  // RDMA segments of the client cover 64 to 256 KiB
  kPageBytes = 4096,
  kShownOperations = 60,
};

enum Kind { kRead, kWrite, kAppend, kTruncate, kMapRead, kMapWrite, kSync, kReopen, kKinds };
static const char* const kNames[kKinds] = {"read",     "write",     "append", "truncate",
                                           "map-read", "map-write", "sync",   "reopen"};

struct Operation {
  enum Kind kind;
  size_t offset, length;
};

static const char* path;
static int direct;
static int file = -1;
static unsigned char model[kMostFileBytes];
static size_t size;
static unsigned char* buffer;
static uint64_t state;
static struct Operation* operations;
static size_t count;

static void show_operations(void) {
  size_t first = count > kShownOperations ? count - kShownOperations : 0;
  for (size_t i = first; i < count; ++i)
    printf("  %zu %s offset %zu length %zu\n", i, kNames[operations[i].kind], operations[i].offset,
           operations[i].length);
}

static void compare(const unsigned char* seen, size_t offset, size_t length) {
  if (memcmp(seen, model + offset, length) == 0) return;
  size_t at = 0, wrong = 0;
  while (seen[at] == model[offset + at]) ++at;
  for (size_t i = at; i < length; ++i) wrong += seen[i] != model[offset + i];
  show_operations();
  fail("operation %zu (%s): %zu octets differ, the first at offset %zu: 0x%02x instead of 0x%02x",
       count - 1, kNames[operations[count - 1].kind], wrong, offset + at, seen[at],
       model[offset + at]);
}

static void broken(const char* what, long result, size_t wanted) {
  show_operations();
  fail("operation %zu: %s returned %ld instead of %zu: %s", count - 1, what, result, wanted,
       strerror(errno));
}

static void open_file(int flags) {
  file = open(path, O_RDWR | flags | (direct ? O_DIRECT : 0), 0644);
  need(file >= 0, path);
}

static void check_size(void) {
  struct stat about;
  need(fstat(file, &about) == 0, "fstat");
  if ((size_t)about.st_size == size) return;
  show_operations();
  fail("operation %zu: the size is %ld instead of %zu", count - 1, (long)about.st_size, size);
}

static void grow(size_t end) {
  if (end > size) size = end;
}

static void do_read(struct Operation o) {
  long result = pread(file, buffer, o.length, o.offset);
  if (result != (long)o.length) broken("pread", result, o.length);
  compare(buffer, o.offset, o.length);
}

static void draw_data(size_t offset, size_t length) {
  fill_pattern(buffer, length, offset, next_random(&state));
  memcpy(model + offset, buffer, length);
}

static void do_write(struct Operation o) {
  if (o.offset > size) memset(model + size, 0, o.offset - size);
  draw_data(o.offset, o.length);
  long result = pwrite(file, buffer, o.length, o.offset);
  if (result != (long)o.length) broken("pwrite", result, o.length);
  grow(o.offset + o.length);
}

static void do_append(struct Operation o) {
  draw_data(o.offset, o.length);
  // Linux's NFS client refuses O_APPEND together with O_DIRECT.
  int appending = open(path, O_WRONLY | O_APPEND);
  need(appending >= 0, path);
  long result = write(appending, buffer, o.length);
  if (result != (long)o.length) broken("write at the end", result, o.length);
  if (close(appending) != 0) broken("close", -1, 0);
  grow(o.offset + o.length);
}

static void do_truncate(struct Operation o) {
  if (ftruncate(file, o.offset) != 0) broken("ftruncate", -1, 0);
  if (o.offset > size) memset(model + size, 0, o.offset - size);
  size = o.offset;
}

static void do_map(struct Operation o) {
  size_t start = o.offset - o.offset % kPageBytes;
  size_t length = o.offset + o.length - start;
  int writes = o.kind == kMapWrite;
  unsigned char* map =
      mmap(NULL, length, PROT_READ | (writes ? PROT_WRITE : 0), MAP_SHARED, file, start);
  need(map != MAP_FAILED, "mmap");
  if (writes) {
    draw_data(o.offset, o.length);
    memcpy(map + (o.offset - start), buffer, o.length);
    if (next_random(&state) % 2 && msync(map, length, MS_SYNC) != 0) broken("msync", -1, 0);
  } else {
    compare(map + (o.offset - start), o.offset, o.length);
  }
  munmap(map, length);
}

static void do_reopen(void) {
  if (close(file) != 0) broken("close", -1, 0);
  open_file(0);
  // Pages that the server has are forgotten, so that later reads ask it.
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static struct Operation draw(void) {
  struct Operation o = {next_random(&state) % kKinds, 0, 0};
  if (direct && (o.kind == kMapRead || o.kind == kMapWrite)) o.kind -= kMapRead - kRead;
  int inside = o.kind == kRead || o.kind == kMapRead || o.kind == kMapWrite;
  if (inside && size == 0) o.kind = kWrite, inside = 0;
  if (o.kind == kAppend && size == kMostFileBytes) o.kind = kTruncate;
  size_t end = inside ? size : kMostFileBytes;
  o.offset = o.kind == kAppend ? size : next_random(&state) % end;
  size_t most = end - o.offset < kMostOperationBytes ? end - o.offset : kMostOperationBytes;
  // Every second operation is a short one.
  if (next_random(&state) % 2 && most > 2 * kPageBytes) most = 2 * kPageBytes;
  if (o.kind != kTruncate) o.length = 1 + next_random(&state) % most;
  if (o.kind == kSync || o.kind == kReopen) o.offset = o.length = 0;
  return o;
}

static void perform(struct Operation o) {
  switch (o.kind) {
    case kRead:
      return do_read(o);
    case kWrite:
      return do_write(o);
    case kAppend:
      return do_append(o);
    case kTruncate:
      return do_truncate(o);
    case kMapRead:
    case kMapWrite:
      return do_map(o);
    case kSync:
      if (fsync(file) != 0) broken("fsync", -1, 0);
      return;
    default:
      return do_reopen();
  }
}

static void compare_all(void) {
  for (size_t offset = 0; offset < size; offset += kMostOperationBytes) {
    size_t left = size - offset;
    do_read(
        (struct Operation){kRead, offset, left < kMostOperationBytes ? left : kMostOperationBytes});
  }
}

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: fsx FILE SEED OPERATIONS [direct]");
  path = argv[1];
  state = strtoull(argv[2], NULL, 10) * 2 + 1;
  size_t wanted = strtoull(argv[3], NULL, 10);
  direct = argc > 4;
  operations = calloc(wanted + 1, sizeof *operations);
  need(operations != NULL && posix_memalign((void**)&buffer, kPageBytes, kMostOperationBytes) == 0,
       "memory");
  open_file(O_CREAT | O_TRUNC);
  while (count < wanted) {
    struct Operation o = draw();
    operations[count++] = o;
    perform(o);
    check_size();
  }
  if (fsync(file) != 0) broken("fsync", -1, 0);
  do_reopen();
  drop_caches();
  check_size();
  compare_all();
  close(file);
  printf("%zu operations%s, seed %s, %zu octets at the end\n", count,
         direct ? " with O_DIRECT" : "", argv[2], size);
  return 0;
}
