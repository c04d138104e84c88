/* For LD_PRELOAD: a host whose calls that force data to the disk do nothing. SKIPPED_SYNCS is `all`, or the
 * kind of object of which they do nothing: `files` or `directories`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int skipped(int file) {
  const char* which = getenv("SKIPPED_SYNCS");
  struct stat status;
  if (which == NULL || fstat(file, &status) != 0) return 0;
  if (strcmp(which, "all") == 0) return 1;
  return strcmp(which, S_ISDIR(status.st_mode) ? "directories" : "files") == 0;
}

static int call(const char* name, int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return skipped(file) ? 0 : real(file);
}

int fsync(int file) {
  return call("fsync", file);
}

int fdatasync(int file) {
  return call("fdatasync", file);
}

int syncfs(int file) {
  return call("syncfs", file);
}
