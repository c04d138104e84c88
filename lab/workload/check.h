// How the programs of the workload end when something is not as it must be: one sentence, status 1.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void fail(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  exit(1);
}

// Fails with the system's reason unless `holds`.
#define need(holds, what)                                                           \
  do {                                                                              \
    if (!(holds)) fail("%s:%d: %s: %s", __FILE__, __LINE__, what, strerror(errno)); \
  } while (0)

// A generator with a state of its own, the same on every machine (xorshift64*).
static inline uint64_t next_random(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545F4914F6CDD1DULL;
}

// Octets that name their file and their place in it, so that misplaced data is seen.
static inline void fill_pattern(unsigned char* data, size_t length, uint64_t offset, uint64_t key) {
  for (size_t i = 0; i < length; i += 8) {
    uint64_t state = (offset + i) * 0x9E3779B97F4A7C15ULL ^ key;
    if (state == 0) state = 1;
    uint64_t word = next_random(&state);
    memcpy(data + i, &word, length - i < 8 ? length - i : 8);
  }
}

static inline double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

// Forgets every clean page, so that what is read next comes from the server.
static inline void drop_caches(void) {
  sync();
  int file = open("/proc/sys/vm/drop_caches", O_WRONLY);
  need(file >= 0 && write(file, "3", 1) == 1, "drop_caches");
  close(file);
}
