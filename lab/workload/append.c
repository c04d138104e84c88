// Appends of two clients in turn: append FILE FILE-OF-B ROUNDS; both paths lead to one file.
//
// Every append opens and closes the file, so each client must see what the other one wrote.
#define _GNU_SOURCE
#include <sys/stat.h>

#include "check.h"

enum { kMostRounds = 100000, kMostRecordBytes = 20000, kKey = 0xadd };

int main(int argc, char** argv) {
  long rounds = argc == 4 ? atol(argv[3]) : 0;
  if (rounds < 1 || rounds > kMostRounds) fail("usage: append FILE FILE-OF-B ROUNDS");
  static unsigned char data[kMostRecordBytes], seen[kMostRecordBytes];
  int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  need(file >= 0 && close(file) == 0, argv[1]);
  uint64_t state = 42;
  off_t size = 0;
  for (long i = 0; i < rounds; ++i) {
    const char* path = argv[1 + i % 2];
    size_t length = 1 + next_random(&state) % kMostRecordBytes;
    fill_pattern(data, length, size, kKey);
    file = open(path, O_WRONLY | O_APPEND);
    need(file >= 0, path);
    need(write(file, data, length) == (ssize_t)length, "write");
    need(close(file) == 0, "close");
    // The other client reads what this one appended.
    file = open(argv[1 + (i + 1) % 2], O_RDONLY);
    need(file >= 0, argv[1 + (i + 1) % 2]);
    struct stat about;
    need(fstat(file, &about) == 0, "fstat");
    if (about.st_size != size + (off_t)length)
      fail("round %ld: the other client sees a size of %ld instead of %ld", i, (long)about.st_size,
           (long)(size + length));
    need(pread(file, seen, length, size) == (ssize_t)length, "pread");
    close(file);
    if (memcmp(seen, data, length) != 0)
      fail("round %ld: the other client reads other octets at %ld", i, (long)size);
    size += length;
  }
  printf("%ld appends of two clients in turn, %ld octets\n", rounds, (long)size);
  return 0;
}
