// One large file: big FILE MEGABYTES writes a pattern, reads it from the server and compares.
#define _GNU_SOURCE
#include <sys/stat.h>

#include "check.h"

enum { kBlockBytes = 1 << 20, kMostBlocks = 1 << 20, kKey = 0xb16 };

int main(int argc, char** argv) {
  long blocks = argc == 3 ? atol(argv[2]) : 0;
  if (blocks < 1 || blocks > kMostBlocks) fail("usage: big FILE MEGABYTES");
  static unsigned char data[kBlockBytes], wanted[kBlockBytes];
  int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  need(file >= 0, argv[1]);
  double start_s = now_s();
  for (long i = 0; i < blocks; ++i) {
    fill_pattern(data, kBlockBytes, i * (uint64_t)kBlockBytes, kKey);
    need(write(file, data, kBlockBytes) == kBlockBytes, "write");
  }
  need(fsync(file) == 0, "fsync");
  need(close(file) == 0, "close");
  double written_s = now_s();
  drop_caches();
  file = open(argv[1], O_RDONLY);
  need(file >= 0, argv[1]);
  struct stat about;
  need(fstat(file, &about) == 0, "fstat");
  if (about.st_size != blocks * (off_t)kBlockBytes) fail("the size is %ld", (long)about.st_size);
  for (long i = 0; i < blocks; ++i) {
    fill_pattern(wanted, kBlockBytes, i * (uint64_t)kBlockBytes, kKey);
    for (size_t have = 0; have < kBlockBytes;) {
      ssize_t got = read(file, data + have, kBlockBytes - have);
      need(got > 0, "read");
      have += got;
    }
    for (size_t at = 0; memcmp(data, wanted, kBlockBytes) != 0; ++at)
      if (data[at] != wanted[at])
        fail("offset %lld is 0x%02x instead of 0x%02x", (long long)i * kBlockBytes + at, data[at],
             wanted[at]);
  }
  double read_s = now_s();
  close(file);
  need(unlink(argv[1]) == 0, "unlink");
  printf("%ld MiB identical: written at %.1f MiB/s, read at %.1f MiB/s\n", blocks,
         blocks / (written_s - start_s), blocks / (read_s - written_s));
  return 0;
}
