// A lock that a restart of the server must not lose: held FILE FILE-OF-B COMMAND...
//
// Client A locks a part of the file; the command makes the server restart and comes back when client
// A has found it again. Then client B, by the other path, must find the part locked, client A must be
// able to write it, and client B must get it once client A has unlocked it.
#define _GNU_SOURCE
#include <sys/wait.h>

#include "check.h"

enum { kStart = 100, kLength = 50 };

static int lock(int file, int type, off_t start, off_t length) {
  struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  if (fcntl(file, F_SETLK, &range) == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

static void run(char** command) {
  pid_t child = fork();
  need(child >= 0, "fork");
  if (child == 0) {
    execvp(command[0], command);
    fail("%s: %s", command[0], strerror(errno));
  }
  int status;
  need(waitpid(child, &status, 0) == child, command[0]);
  if (status != 0) fail("%s ended with status %d", command[0], WEXITSTATUS(status));
}

// What client B, a process of its own, gets for a lock.
static int tried_by_b(const char* path, off_t start, off_t length) {
  pid_t child = fork();
  need(child >= 0, "fork");
  if (child == 0) {
    int file = open(path, O_RDWR);
    if (file < 0) _exit(errno);
    _exit(lock(file, F_WRLCK, start, length));
  }
  int status;
  need(waitpid(child, &status, 0) == child && WIFEXITED(status), "client B");
  return WEXITSTATUS(status);
}

static void b_must(int wanted, const char* path, off_t start, off_t length, const char* what) {
  int got = tried_by_b(path, start, length);
  if (got != wanted) fail("client B, %s: %s instead of %s", what, strerror(got), strerror(wanted));
}

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: held FILE FILE-OF-B COMMAND...");
  unsigned char data[kLength], seen[kLength];
  int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666);
  need(file >= 0, argv[1]);
  need(lock(file, F_WRLCK, kStart, kLength) == 0, "the lock");
  b_must(EAGAIN, argv[2], kStart, 1, "the locked part before the restart");

  double start_s = now_s();
  run(argv + 3);

  b_must(EAGAIN, argv[2], kStart + kLength - 1, 1, "the locked part after the restart");
  b_must(0, argv[2], kStart + kLength, 1, "what is beside the locked part");
  fill_pattern(data, kLength, 0, 7);
  need(pwrite(file, data, kLength, kStart) == kLength && fsync(file) == 0, "write under the lock");
  need(lock(file, F_UNLCK, 0, 0) == 0, "unlock");
  b_must(0, argv[2], kStart, kLength, "the part that was unlocked");
  need(close(file) == 0, "close");

  drop_caches();
  file = open(argv[1], O_RDONLY);
  need(file >= 0 && pread(file, seen, kLength, kStart) == kLength, "read");
  if (memcmp(data, seen, kLength) != 0) fail("what was written under the lock is not there");
  close(file);
  need(unlink(argv[1]) == 0, "unlink");
  printf("the lock was kept; all of it took %.0f s\n", now_s() - start_s);
  return 0;
}
