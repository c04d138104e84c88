// Reads a file by libnfs, sequentially, several READs at a time: the yardstick of ci/bench-nfs.
//
// libnfs_read URL OCTETS CALLS SECONDS prints octets, calls and seconds. The processor seconds of
// user and system follow.
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include <nfsc/libnfs.h>
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 1000;

struct Reading {
  nfs_context* nfs = nullptr;
  nfsfh* file = nullptr;
  std::uint64_t size = 0;
  std::uint64_t next = 0;
  std::uint64_t octets = 0;
  std::uint64_t calls = 0;
  std::uint64_t io_bytes = 0;
  int under_way = 0;
  bool failed = false;
  Clock::time_point end;

  void begin() {
    if (next + io_bytes > size) next = 0;
    failed = nfs_pread_async(nfs, file, next, io_bytes, &Reading::ended, this) != 0;
    next += io_bytes;
    if (!failed) ++under_way;
  }
  static void ended(int count, nfs_context* /*nfs*/, void* /*data*/, void* self) {
    Reading& reading = *static_cast<Reading*>(self);
    --reading.under_way;
    if (count <= 0) {
      reading.failed = true;
      return;
    }
    reading.octets += static_cast<std::uint64_t>(count);
    ++reading.calls;
    if (!reading.failed && Clock::now() < reading.end) reading.begin();
  }
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

rusage usage() {
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  return now;
}

int fail(nfs_context* nfs, const char* what) {
  std::fprintf(stderr, "libnfs_read: %s: %s\n", what, nfs_get_error(nfs));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: libnfs_read URL OCTETS CALLS SECONDS\n");
    return 2;
  }
  Reading reading;
  nfs_context* const nfs = reading.nfs = nfs_init_context();
  nfs_url* const url = nfs_parse_url_full(nfs, argv[1]);
  if (url == nullptr) return fail(nfs, "the URL");
  if (nfs_mount(nfs, url->server, url->path) != 0) return fail(nfs, "mount");
  if (nfs_open(nfs, url->file, 0, &reading.file) != 0) return fail(nfs, "open");
  nfs_stat_64 status{};
  if (nfs_fstat64(nfs, reading.file, &status) != 0) return fail(nfs, "stat");
  reading.size = status.nfs_size;
  reading.io_bytes = std::strtoull(argv[2], nullptr, 10);
  const int calls = std::atoi(argv[3]);
  if (reading.io_bytes < 1 || reading.io_bytes > reading.size || calls < 1) {
    std::fprintf(stderr, "libnfs_read: the file is too small, or a number makes no sense\n");
    return 2;
  }
  const rusage before = usage();
  const Clock::time_point start = Clock::now();
  reading.end = start + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::atof(argv[4])));
  for (int i = 0; i < calls && !reading.failed; ++i) reading.begin();
  while (reading.under_way > 0) {
    pollfd socket{nfs_get_fd(nfs), static_cast<short>(nfs_which_events(nfs)), 0};
    if (poll(&socket, 1, kPollMs) < 0) continue;  // a signal
    if (nfs_service(nfs, socket.revents) < 0) return fail(nfs, "read");
  }
  if (reading.failed) return fail(nfs, "read");
  const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  const rusage after = usage();
  std::printf("%llu %llu %.9f %.6f %.6f\n", static_cast<unsigned long long>(reading.octets),
              static_cast<unsigned long long>(reading.calls), elapsed,
              seconds(after.ru_utime) - seconds(before.ru_utime),
              seconds(after.ru_stime) - seconds(before.ru_stime));
  return 0;
}
