// Listings of directories in an order of our own, whose cookies never change their meaning.
#pragma once

#include <string>
#include <vector>

#include "server/directory/host_root.h"
#include "server/directory/limits.h"
#include "support/lru_map.h"

namespace steertag::peer {

struct ListedEntry {
  std::uint64_t cookie = 0;
  NodeId node = 0;
  std::string name;
};

/// The cookie of an entry is a keyed code of its name. Positions of the host are not stable on
/// every file system, and a sequence would be lost with the server. Entries come by ascending
/// cookie, so that a name made or removed meanwhile moves nothing else. Two names of one directory
/// with the same code of 63 bits would need billions of entries; only the key makes them.
class ReaddirCookies {
 public:
  /// `clock` is the one that the host stamps changes of its objects with. One that is behind it
  /// costs time, one that is ahead of it may hide a change that follows another at once.
  ReaddirCookies(const HandleKey& key, Clock clock,
                 std::size_t window_entries = kListingWindowEntries)
      : key_(key),
        clock_(std::move(clock)),
        window_entries_(window_entries),
        windows_(kMostListingWindows) {}

  /// Codes of names are above this: 1 and 2 are "." and "..".
  static constexpr std::uint64_t kDotDotCookie = 2;

  struct Window {
    std::uint64_t after = 0;           // holds the first entries with a greater cookie,
    std::vector<ListedEntry> entries;  // ascending,
    bool to_the_end = false;           // and there are no others
    Time read_at;                      // of the clock, before the following
    Time mtime;                        // of the directory, before its entries were read
    Time ctime;
  };
  /// A window whose entries go on after `cookie`. Read anew if the directory was changed, or if the
  /// last window does not reach there. A `fresh` one has every change made before the call. It is
  /// also read anew if the last window was read less than kListingSettles after a change. Another
  /// change may have followed without another time. Valid until the next call.
  Result<const Window*> window(const HostRoot& root, const HostObject& directory,
                               std::uint64_t cookie, bool fresh);
  /// How many times a directory of the host was read from its start, which is what a listing
  /// costs. For tests.
  std::uint64_t directories_read() const { return directories_read_; }

 private:
  std::uint64_t cookie_of(std::string_view name) const;
  /// Leaves the entries with the least cookies, as many as a window has.
  void cut(std::vector<ListedEntry>& entries) const;
  Result<Window> read(const HostRoot& root, const HostObject& directory, std::uint64_t after);

  HandleKey key_;
  Clock clock_;
  std::size_t window_entries_;
  LruMap<NodeId, Window> windows_;
  std::uint64_t directories_read_ = 0;
};

}  // namespace steertag::peer
