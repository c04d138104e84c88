// Writing that a restart of the server must not hurt: stream FILE MEGABYTES COMMAND...
//
// After a quarter of the file the command is started (it asks the lab for the restart); writing
// goes on meanwhile, with an fsync every few blocks. At the end all is read from the server and
// compared.
#define _GNU_SOURCE
#include <sys/wait.h>

#include "check.h"

enum { kBlockBytes = 256 << 10, kBlocksPerMegabyte = 4, kSyncBlocks = 16, kKey = 0x57e4 };

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: stream FILE MEGABYTES COMMAND...");
  long blocks = atol(argv[2]) * kBlocksPerMegabyte;
  static unsigned char data[kBlockBytes], seen[kBlockBytes];
  int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
  need(file >= 0, argv[1]);
  double longest_s = 0;
  for (long i = 0; i < blocks; ++i) {
    if (i == blocks / 4) {
      pid_t child = fork();
      need(child >= 0, "fork");
      if (child == 0) {
        execvp(argv[3], argv + 3);
        fail("%s: %s", argv[3], strerror(errno));
      }
      int status;
      need(waitpid(child, &status, 0) == child && status == 0, argv[3]);
    }
    double start_s = now_s();
    fill_pattern(data, kBlockBytes, i * (uint64_t)kBlockBytes, kKey);
    need(pwrite(file, data, kBlockBytes, i * (off_t)kBlockBytes) == kBlockBytes, "pwrite");
    if (i % kSyncBlocks == 0) need(fsync(file) == 0, "fsync");
    if (now_s() - start_s > longest_s) longest_s = now_s() - start_s;
  }
  need(fsync(file) == 0, "fsync");
  need(close(file) == 0, "close");
  drop_caches();
  file = open(argv[1], O_RDONLY);
  need(file >= 0, argv[1]);
  for (long i = 0; i < blocks; ++i) {
    fill_pattern(data, kBlockBytes, i * (uint64_t)kBlockBytes, kKey);
    ssize_t got = pread(file, seen, kBlockBytes, i * (off_t)kBlockBytes);
    if (got != kBlockBytes) fail("block %ld: %zd octets: %s", i, got, strerror(errno));
    for (size_t at = 0; memcmp(data, seen, kBlockBytes) != 0; ++at)
      if (data[at] != seen[at])
        fail("offset %lld is 0x%02x instead of 0x%02x", (long long)i * kBlockBytes + at, seen[at],
             data[at]);
  }
  close(file);
  need(unlink(argv[1]) == 0, "unlink");
  printf("%s MiB identical, the longest write took %.1f s\n", argv[2], longest_s);
  return 0;
}
