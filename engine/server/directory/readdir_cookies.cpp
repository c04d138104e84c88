// Windows of listings: the next entries of a directory by their cookies.
#include "server/directory/readdir_cookies.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "server/directory/host_directory.h"
#include "server/storage/entry_name.h"
#include "server/storage/filehandle_mac.h"

namespace steertag::peer {
namespace {

bool by_cookie(const ListedEntry& left, const ListedEntry& right) {
  return left.cookie < right.cookie;
}

Time to_time(const statx_timestamp& time) {
  return {time.tv_sec, time.tv_nsec};
}

/// Whether every change since the window was read gives the directory another ctime.
bool is_settled(const ReaddirCookies::Window& window) {
  const std::int64_t latest_seconds = window.read_at.seconds - kListingSettles.count();
  return std::tie(latest_seconds, window.read_at.nanoseconds) >=
         std::tie(window.ctime.seconds, window.ctime.nanoseconds);
}

}  // namespace

void ReaddirCookies::cut(std::vector<ListedEntry>& entries) const {
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(window_entries_);
  std::nth_element(entries.begin(), end, entries.end(), by_cookie);
  entries.erase(end, entries.end());
}

std::uint64_t ReaddirCookies::cookie_of(std::string_view name) const {
  std::uint64_t words[kLongestName / sizeof(std::uint64_t) + 2] = {name.size()};
  std::memcpy(words + 1, name.data(), std::min(name.size(), kLongestName));
  // 63 bits: clients may keep cookies in signed numbers.
  return std::max(filehandle_mac(key_, words) >> 1, kDotDotCookie + 1);
}

Result<ReaddirCookies::Window> ReaddirCookies::read(const HostRoot& root,
                                                    const HostObject& directory,
                                                    std::uint64_t after) {
  Window window;
  window.after = after;
  window.to_the_end = true;
  auto readable = root.reopen(directory, O_RDONLY | O_DIRECTORY);
  if (!readable) return tl::unexpected(readable.error());
  // In this order a change meanwhile is later than the times, and these are later than the clock's.
  window.read_at = clock_();
  auto opened = root.adopt(std::move(*readable));
  if (!opened) return tl::unexpected(opened.error());
  window.mtime = to_time(opened->status.stx_mtime);
  window.ctime = to_time(opened->status.stx_ctime);
  ++directories_read_;
  const Status status = each_entry(std::move(opened->descriptor), [&](const HostEntry& entry) {
    const std::uint64_t cookie = cookie_of(entry.name);
    if (cookie <= after) return true;
    window.entries.push_back({cookie, entry.node, std::string(entry.name)});
    if (window.entries.size() >= 2 * window_entries_) {
      cut(window.entries);
      window.to_the_end = false;
    }
    return true;
  });
  if (status != Status::ok) return tl::unexpected(status);
  if (window.entries.size() > window_entries_) {
    cut(window.entries);
    window.to_the_end = false;
  }
  std::sort(window.entries.begin(), window.entries.end(), by_cookie);
  return window;
}

Result<const ReaddirCookies::Window*> ReaddirCookies::window(const HostRoot& root,
                                                             const HostObject& directory,
                                                             std::uint64_t cookie, bool fresh) {
  const Window* known = windows_.find(directory.node());
  if (known && (!fresh || is_settled(*known)) && cookie >= known->after &&
      known->mtime == to_time(directory.status.stx_mtime) &&
      known->ctime == to_time(directory.status.stx_ctime) &&
      (known->to_the_end || cookie < known->entries.back().cookie))
    return known;
  auto made = read(root, directory, cookie);
  if (!made) return tl::unexpected(made.error());
  Window& kept = windows_.put(directory.node());
  kept = std::move(*made);
  return &kept;
}

}  // namespace steertag::peer
