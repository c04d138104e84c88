// Many files in one directory: many DIRECTORY COUNT makes, lists, looks up and removes them.
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/stat.h>

#include "check.h"

enum { kMostFiles = 1000000, kLookUps = 500 };

static void name_of(char* name, size_t length, long number) {
  // Lengths differ, so that entries do not fill a reply evenly.
  snprintf(name, length, "file-%06ld-%.*s", number, (int)(number % 40),
           "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
}

static void list(const char* path, long count, const char* when) {
  unsigned char* seen = calloc(count, 1);
  need(seen != NULL, "memory");
  DIR* directory = opendir(path);
  need(directory != NULL, path);
  long found = 0;
  errno = 0;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL; errno = 0) {
    if (entry->d_name[0] == '.') continue;
    long number = -1;
    char name[128];
    if (sscanf(entry->d_name, "file-%ld-", &number) != 1 || number < 0 || number >= count)
      fail("%s: the listing has the foreign name %s", when, entry->d_name);
    name_of(name, sizeof name, number);
    if (strcmp(name, entry->d_name) != 0) fail("%s: the name %s is wrong", when, entry->d_name);
    if (seen[number]++) fail("%s: the listing has %s twice", when, entry->d_name);
    ++found;
  }
  need(errno == 0, "readdir");
  closedir(directory);
  if (found != count) fail("%s: the listing has %ld of %ld files", when, found, count);
  free(seen);
}

int main(int argc, char** argv) {
  long count = argc == 3 ? atol(argv[2]) : 0;
  if (count < 1 || count > kMostFiles) fail("usage: many DIRECTORY COUNT");
  need(mkdir(argv[1], 0755) == 0, argv[1]);
  int directory = open(argv[1], O_RDONLY | O_DIRECTORY);
  need(directory >= 0, argv[1]);
  char name[128];
  double start_s = now_s();
  for (long i = 0; i < count; ++i) {
    name_of(name, sizeof name, i);
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    need(file >= 0, name);
    close(file);
  }
  double made_s = now_s();
  list(argv[1], count, "after making");
  drop_caches();
  list(argv[1], count, "from the server");
  double listed_s = now_s();
  uint64_t state = 1;
  for (int i = 0; i < kLookUps; ++i) {
    struct stat about;
    name_of(name, sizeof name, next_random(&state) % count);
    need(fstatat(directory, name, &about, 0) == 0, name);
  }
  double removing_s = now_s();
  for (long i = 0; i < count; i += 2) {
    name_of(name, sizeof name, i);
    need(unlinkat(directory, name, 0) == 0, name);
  }
  for (long i = 1; i < count; i += 2) {
    name_of(name, sizeof name, i);
    need(unlinkat(directory, name, 0) == 0, name);
  }
  list(argv[1], 0, "after removing");
  close(directory);
  need(rmdir(argv[1]) == 0, "rmdir");
  printf("%ld files: made in %.0f s, listed twice in %.0f s, removed in %.0f s\n", count,
         made_s - start_s, listed_s - made_s, now_s() - removing_s);
  return 0;
}
