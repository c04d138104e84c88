// A system that refuses: no further descriptors, or an event loop that watches nothing any more.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace steertag::net::testing {

/// The lowest free descriptor: what the next call that makes one will return.
inline int next_descriptor() {
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  return next;
}

/// From now on every call on `descriptor` fails that its kind allows only.
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

/// While it lives, the process gets no further file descriptors; those it has stay usable. UBSan
/// opens a pipe when it meets a polymorphic class for the first time, so calls have to be rehearsed
/// before.
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
