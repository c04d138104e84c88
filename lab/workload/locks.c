// Locks of two clients: locks FILE FILE-OF-B; both paths lead to one file.
//
// This process is client A; its child opens the other path and is client B, told by pipes what to
// do.
#define _GNU_SOURCE
#include <poll.h>
#include <sys/wait.h>

#include "check.h"

enum {
  kBlockedMs = 1500,   // how long a lock must stay blocked to count as blocked
  kGrantedMs = 45000,  // Linux asks again after 1, 2, 4, ... at most 30 s
  kRounds = 25,        // of the counter that both clients raise
  kMostTries = 6000,
};

struct Order {
  int command, type;
  off_t start, length;
};

static int to_b[2], from_b[2];

static int lock(int file, int command, int type, off_t start, off_t length) {
  struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  if (fcntl(file, command, &range) != 0) return errno;
  if (command == F_GETLK) return range.l_type == F_UNLCK ? 0 : EAGAIN;
  return 0;
}

// Raises the number in the file under a lock, so that no raise may be lost.
static void raise_counter(int file) {
  for (int round = 0; round < kRounds; ++round) {
    int tries = 0, error;
    while ((error = lock(file, F_SETLK, F_WRLCK, 1000, 1)) == EAGAIN || error == EACCES) {
      if (++tries > kMostTries) fail("the lock of the counter is never free");
      usleep(1000 + 500 * (getpid() % 3));
    }
    if (error) fail("the counter's lock: %s", strerror(error));
    uint32_t value = 0;
    need(pread(file, &value, sizeof value, 0) == sizeof value, "read of the counter");
    ++value;
    need(pwrite(file, &value, sizeof value, 0) == sizeof value, "write of the counter");
    if ((error = lock(file, F_SETLK, F_UNLCK, 1000, 1))) fail("unlock: %s", strerror(error));
  }
}

static void client_b(const char* path) {
  int file = open(path, O_RDWR);
  need(file >= 0, path);
  struct Order order;
  while (read(to_b[0], &order, sizeof order) == sizeof order) {
    int answer = 0;
    if (order.command == -1)
      raise_counter(file);
    else
      answer = lock(file, order.command, order.type, order.start, order.length);
    need(write(from_b[1], &answer, sizeof answer) == sizeof answer, "pipe");
  }
  exit(0);
}

static void tell_b(struct Order order) {
  need(write(to_b[1], &order, sizeof order) == sizeof order, "pipe");
}

static int answered(int limit_ms) {
  struct pollfd ready = {.fd = from_b[0], .events = POLLIN};
  return poll(&ready, 1, limit_ms) == 1;
}

static int answer_of_b(const char* what) {
  int answer;
  if (!answered(kGrantedMs)) fail("client B, %s: no answer within %d ms", what, kGrantedMs);
  need(read(from_b[0], &answer, sizeof answer) == sizeof answer, what);
  return answer;
}

static void b_must(int wanted, int command, int type, off_t start, off_t length, const char* what) {
  tell_b((struct Order){command, type, start, length});
  int answer = answer_of_b(what);
  if (answer == EACCES) answer = EAGAIN;
  if (answer != wanted)
    fail("client B, %s: %s instead of %s", what, strerror(answer), strerror(wanted));
}

static void a_must(int file, int type, off_t start, off_t length, const char* what) {
  int error = lock(file, F_SETLK, type, start, length);
  if (error) fail("client A, %s: %s", what, strerror(error));
}

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: locks FILE FILE-OF-B");
  int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666);
  uint32_t counter = 0;
  need(file >= 0 && write(file, &counter, sizeof counter) == sizeof counter && fsync(file) == 0,
       argv[1]);
  need(pipe(to_b) == 0 && pipe(from_b) == 0, "pipe");
  pid_t child = fork();
  need(child >= 0, "fork");
  if (child == 0) {
    close(to_b[1]);
    client_b(argv[2]);
  }
  close(from_b[1]);

  a_must(file, F_WRLCK, 0, 100, "the first lock");
  b_must(EAGAIN, F_SETLK, F_WRLCK, 50, 10, "a write lock inside a write lock");
  b_must(EAGAIN, F_SETLK, F_RDLCK, 99, 10, "a read lock that overlaps a write lock");
  b_must(EAGAIN, F_GETLK, F_WRLCK, 0, 1, "a test of a held range");
  b_must(0, F_GETLK, F_WRLCK, 100, 50, "a test of a free range");
  b_must(0, F_SETLK, F_WRLCK, 100, 100, "a write lock beside it");
  a_must(file, F_UNLCK, 20, 60, "unlock in the middle");
  b_must(0, F_SETLK, F_WRLCK, 20, 60, "a lock of the freed middle");
  b_must(EAGAIN, F_SETLK, F_WRLCK, 80, 1, "a lock of the kept end");
  b_must(0, F_SETLK, F_UNLCK, 0, 0, "unlock of everything");

  a_must(file, F_RDLCK, 0, 0, "a read lock of everything");
  b_must(0, F_SETLK, F_RDLCK, 10, 10, "a read lock beside a read lock");
  b_must(EAGAIN, F_SETLK, F_WRLCK, 30, 10, "a write lock inside a read lock");

  double start_s = now_s();
  tell_b((struct Order){F_SETLKW, F_WRLCK, 30, 10});
  if (answered(kBlockedMs)) fail("client B got a blocking lock while client A held it");
  a_must(file, F_UNLCK, 0, 0, "unlock of everything");
  int granted = answer_of_b("the blocked lock");
  if (granted) fail("client B, the blocked lock: %s", strerror(granted));
  double waited_s = now_s() - start_s;
  b_must(0, F_SETLK, F_UNLCK, 0, 0, "unlock of everything");

  tell_b((struct Order){-1, 0, 0, 0});
  raise_counter(file);
  answer_of_b("the counter");
  a_must(file, F_WRLCK, 0, 0, "a lock of everything");
  need(pread(file, &counter, sizeof counter, 0) == sizeof counter, "read of the counter");
  if (counter != 2 * kRounds) fail("the counter is %u instead of %d", counter, 2 * kRounds);

  close(file);
  b_must(0, F_SETLK, F_WRLCK, 0, 0, "a lock after client A has closed the file");
  close(to_b[1]);
  int status;
  need(waitpid(child, &status, 0) == child && status == 0, "client B");
  need(unlink(argv[1]) == 0, "unlink");
  printf("blocked lock granted after %.1f s, counter %u\n", waited_s, counter);
  return 0;
}
