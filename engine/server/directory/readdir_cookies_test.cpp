// When a listing from the start costs a reading of the host's directory, and when it must.
#include "server/directory/readdir_cookies.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "server/testing/temporary_directory.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint64_t kStart = ReaddirCookies::kDotDotCookie;
constexpr bool kFresh = true;

class ReaddirCookiesTest : public ::testing::Test {
 protected:
  ReaddirCookiesTest() {
    for (const char* name : {"a", "b", "c", "d", "e"}) make(name);
    // So that the next change gives it another one, even within a tick of the host's clock.
    const timespec long_ago[2] = {{0, UTIME_OMIT}, {946'684'800, 0}};
    EXPECT_EQ(::utimensat(AT_FDCWD, place.path().c_str(), long_ago, 0), 0);
    root = std::make_unique<HostRoot>(*HostRoot::open(place.path()));
    set_clock(kListingSettles);
  }

  void make(const std::string& name) { write_host_file(place / name, name); }
  HostObject directory() const { return *root->object(""); }
  /// Sets the clock to some time after the directory's last change.
  void set_clock(std::chrono::nanoseconds after_change) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    const auto changed = directory().status.stx_ctime;
    const std::int64_t nanoseconds = changed.tv_sec * kSecond + changed.tv_nsec;
    const std::int64_t sum = nanoseconds + after_change.count();
    time = {sum / kSecond, static_cast<std::uint32_t>(sum % kSecond)};
  }
  ReaddirCookies windows_of(std::size_t entries = kListingWindowEntries) {
    return ReaddirCookies(
        {3, 4}, [this] { return time; }, entries);
  }
  /// The names of a window, sorted.
  std::vector<std::string> list(ReaddirCookies& windows, std::uint64_t cookie, bool fresh) {
    const auto window = windows.window(*root, directory(), cookie, fresh);
    std::vector<std::string> names;
    if (!window) {
      ADD_FAILURE() << "not listed: status " << static_cast<int>(window.error());
      return names;
    }
    for (const ListedEntry& entry : (*window)->entries) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory place;
  std::unique_ptr<HostRoot> root;
  Time time;
};

const std::vector<std::string> kNames = {"a", "b", "c", "d", "e"};

TEST_F(ReaddirCookiesTest, ManyListingsOfASettledDirectoryReadItOnce) {
  ReaddirCookies windows = windows_of();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(list(windows, kStart, kFresh), kNames);
  EXPECT_EQ(windows.directories_read(), 1U)
      << "an unchanged directory was read again for a listing from its start";
}

TEST_F(ReaddirCookiesTest, ADirectoryChangedJustNowIsReadEachTime) {
  using namespace std::chrono_literals;
  ReaddirCookies windows = windows_of();
  std::uint64_t reads = 0;
  // The first: a clock of the host that was set back.
  for (const std::chrono::nanoseconds after : {-3600s + 0ns, 0s + 0ns, kListingSettles - 1ns}) {
    set_clock(after);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(list(windows, kStart, kFresh), kNames);
      EXPECT_EQ(windows.directories_read(), ++reads)
          << "a change " << after.count() << " ns before the reading could hide a later one";
    }
  }
  EXPECT_EQ(list(windows, kStart, !kFresh), kNames);
  EXPECT_EQ(windows.directories_read(), reads) << "a listing that goes on was not asked to be new";
  // What counts is when the window was read, not when it is asked for.
  set_clock(kListingSettles);
  EXPECT_EQ(list(windows, kStart, kFresh), kNames);
  EXPECT_EQ(windows.directories_read(), reads + 1)
      << "a window read before the directory settled was taken for a new one";
  EXPECT_EQ(list(windows, kStart, kFresh), kNames);
  EXPECT_EQ(windows.directories_read(), reads + 1);
}

TEST_F(ReaddirCookiesTest, ANameMadeInBetweenIsListed) {
  ReaddirCookies windows = windows_of();
  EXPECT_EQ(list(windows, kStart, kFresh), kNames);
  make("f");
  const std::vector<std::string> all = {"a", "b", "c", "d", "e", "f"};
  EXPECT_EQ(list(windows, kStart, kFresh), all);
  EXPECT_EQ(windows.directories_read(), 2U);
}

TEST_F(ReaddirCookiesTest, AWindowBehindTheStartIsNotTakenForIt) {
  ReaddirCookies windows = windows_of(2);
  const auto first = list(windows, kStart, kFresh);
  const auto window = windows.window(*root, directory(), kStart, kFresh);
  ASSERT_TRUE(window);
  const std::uint64_t last = (*window)->entries.back().cookie;
  EXPECT_EQ(windows.directories_read(), 1U);
  EXPECT_NE(list(windows, last, !kFresh), first);
  EXPECT_EQ(windows.directories_read(), 2U);
  EXPECT_EQ(list(windows, kStart, kFresh), first);
  EXPECT_EQ(windows.directories_read(), 3U);
}

}  // namespace
}  // namespace steertag::peer::testing
