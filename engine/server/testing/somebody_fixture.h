// A process of tests that is not root's for a while.
#pragma once

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace steertag::peer::testing {

/// While it lives the process is none of root's.
class AsSomebody {
 public:
  AsSomebody() {
    if (user_ != 0) return;
    EXPECT_EQ(::setegid(kSomebody), 0);
    EXPECT_EQ(::seteuid(kSomebody), 0);
  }
  ~AsSomebody() {
    if (user_ != 0) return;
    EXPECT_EQ(::seteuid(user_), 0);
    EXPECT_EQ(::setegid(group_), 0);
    ::prctl(PR_SET_DUMPABLE, 1);  // which a change of the user ends, and leak checkers need
  }
  AsSomebody(const AsSomebody&) = delete;
  AsSomebody& operator=(const AsSomebody&) = delete;

 private:
  static constexpr uid_t kSomebody = 4711;
  uid_t user_ = ::geteuid();
  gid_t group_ = ::getegid();
};

}  // namespace steertag::peer::testing
