// What names and attributes do: names DIRECTORY makes, links, renames, removes and looks.
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "check.h"

static struct stat about(const char* path) {
  struct stat found;
  if (lstat(path, &found) != 0) fail("lstat %s: %s", path, strerror(errno));
  return found;
}

static void must(int holds, const char* what) {
  if (!holds) fail("%s", what);
}

static void refused(int result, int reason, const char* what) {
  if (result == 0) fail("%s was not refused", what);
  if (errno != reason) fail("%s: %s instead of %s", what, strerror(errno), strerror(reason));
}

static void write_file(const char* path, const char* text) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
  need(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text), path);
  need(close(file) == 0, path);
}

static void must_hold(const char* path, const char* text) {
  char seen[256] = "";
  int file = open(path, O_RDONLY);
  need(file >= 0, path);
  need(read(file, seen, sizeof seen - 1) >= 0, path);
  close(file);
  if (strcmp(seen, text) != 0) fail("%s holds `%s` instead of `%s`", path, seen, text);
}

static void attributes(void) {
  write_file("a", "one");
  must((about("a").st_mode & 07777) == 0640, "the mode of creation is lost");
  need(chmod("a", 0604) == 0, "chmod");
  must((about("a").st_mode & 07777) == 0604, "chmod is lost");
  struct timespec times[2] = {{1000000000, 123000000}, {1100000000, 456000000}};
  need(utimensat(AT_FDCWD, "a", times, 0) == 0, "utimensat");
  must(about("a").st_mtim.tv_sec == 1100000000 && about("a").st_mtim.tv_nsec == 456000000,
       "the time of modification is lost");
  must(about("a").st_atim.tv_sec == 1000000000, "the time of access is lost");
  struct statvfs space;
  need(statvfs(".", &space) == 0, "statvfs");
  must(space.f_blocks > 0 && space.f_namemax > 0, "statvfs knows no size");
}

static void links(void) {
  need(link("a", "b") == 0, "link");
  must(about("a").st_nlink == 2 && about("a").st_ino == about("b").st_ino, "a link is no link");
  need(symlink("../somewhere/else", "s") == 0, "symlink");
  char target[64] = "";
  need(readlink("s", target, sizeof target - 1) > 0, "readlink");
  must(strcmp(target, "../somewhere/else") == 0, "a symbolic link leads elsewhere");
  must(S_ISLNK(about("s").st_mode), "a symbolic link is none");
  need(unlink("b") == 0, "unlink");
  must(about("a").st_nlink == 1, "the count of links is wrong");
}

static void renames(void) {
  write_file("old", "new text");
  need(rename("old", "a") == 0, "rename over a file");
  must_hold("a", "new text");
  refused(access("old", F_OK), ENOENT, "a renamed name");
  need(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0, "mkdir");
  need(rename("a", "d/a") == 0, "rename into a directory");
  refused(rmdir("d"), ENOTEMPTY, "rmdir of a full directory");
  refused(rename("e", "d"), ENOTEMPTY, "rename over a full directory");
  need(rename("d", "e") == 0, "rename over an empty directory");
  must_hold("e/a", "new text");
  refused(mkdir("e", 0755), EEXIST, "mkdir of a present name");
}

static void opens(void) {
  write_file("x", "x");
  refused(open("x", O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0 ? 0 : -1, EEXIST, "O_EXCL");
  int file = open("x", O_RDWR);
  need(file >= 0 && unlink("x") == 0, "unlink of an open file");
  refused(access("x", F_OK), ENOENT, "a removed name");
  char octet = 0;
  need(pread(file, &octet, 1, 0) == 1 && octet == 'x', "read of a removed open file");
  need(pwrite(file, "z", 1, 100000) == 1, "write of a removed open file");
  need(pread(file, &octet, 1, 50000) == 1 && octet == 0, "read of a hole");
  need(close(file) == 0, "close of a removed file");
}

static void long_names(void) {
  char name[300];
  memset(name, 'n', sizeof name);
  name[256] = '\0';
  refused(open(name, O_WRONLY | O_CREAT, 0600) >= 0 ? 0 : -1, ENAMETOOLONG, "a name of 256");
  name[255] = '\0';
  write_file(name, "long");
  must_hold(name, "long");
  need(unlink(name) == 0, "unlink of a long name");
  write_file("Grüße und\tmehr ☃", "utf-8");
  must_hold("Grüße und\tmehr ☃", "utf-8");
  need(unlink("Grüße und\tmehr ☃") == 0, "unlink");
}

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: names DIRECTORY");
  umask(0);
  need(mkdir(argv[1], 0755) == 0 && chdir(argv[1]) == 0, argv[1]);
  attributes();
  links();
  renames();
  opens();
  long_names();
  need(unlink("e/a") == 0 && rmdir("e") == 0 && unlink("s") == 0, "cleaning up");
  need(chdir("..") == 0 && rmdir(argv[1]) == 0, "rmdir of what must be empty");
  printf("names, links, modes and times are as told\n");
  return 0;
}
