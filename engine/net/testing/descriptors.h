// Simulates a system without free descriptors, or an event loop that can watch no more.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace steertag::net::testing {

/// The lowest free descriptor, which the next call that creates one returns.
inline int next_descriptor() {
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  return next;
}

/// From now on every call on `descriptor` fails that needs its kind.
inline void make_useless(int descriptor) {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, descriptor);
  ::close(null);
}

inline rlimit descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

/// While it exists, the process gets no further file descriptors; existing ones stay usable. UBSan
/// opens a pipe at the first use of a polymorphic class, so calls must be rehearsed before.
class NoFurtherDescriptors {
 public:
  NoFurtherDescriptors() {
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next_descriptor());
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~NoFurtherDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoFurtherDescriptors(const NoFurtherDescriptors&) = delete;
  NoFurtherDescriptors& operator=(const NoFurtherDescriptors&) = delete;

 private:
  rlimit before_ = descriptor_limit();
};

}  // namespace steertag::net::testing
