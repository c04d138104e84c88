// Listings of directories in an order of our own, whose cookies never change their meaning.
#pragma once

#include <string>
#include <vector>

#include "peer/server/directory/host_root.h"
#include "peer/server/directory/limits.h"
#include "peer/server/directory/recent_map.h"

namespace steertag::peer {

struct ListedEntry {
  std::uint64_t cookie = 0;
  NodeId node = 0;
  std::string name;
};

/// The cookie of an entry is a keyed code of its name: positions of the host are not stable on
/// every file system, and a sequence would be lost with the server. Entries come by ascending
/// cookie, so what is made or removed meanwhile moves nothing else. Two names of one directory
/// with the same code of 63 bits would need billions of entries; only the key makes them.
class ListingWindows {
 public:
  explicit ListingWindows(const HandleKey& key, std::size_t window_entries = kListingWindowEntries)
      : key_(key), window_entries_(window_entries), windows_(kMostListingWindows) {}

  /// Codes of names are above this: 1 and 2 are "." and "..".
  static constexpr std::uint64_t kDotDotCookie = 2;

  struct Window {
    std::uint64_t after = 0;           // holds the first entries with a greater cookie,
    std::vector<ListedEntry> entries;  // ascending,
    bool to_the_end = false;           // and there are no others
    Time mtime;                        // of the directory when it was read
    Time ctime;
  };
  /// A window whose entries go on after `cookie`. Read anew if `fresh`, or if the directory was
  /// changed, or if the last window ends before. Valid until the next call.
  Result<const Window*> window(const HostRoot& root, const HostObject& directory,
                               std::uint64_t cookie, bool fresh);

 private:
  std::uint64_t cookie_of(std::string_view name) const;
  /// Leaves the entries with the least cookies, as many as a window has.
  void cut(std::vector<ListedEntry>& entries) const;
  Result<Window> read(const HostRoot& root, const HostObject& directory, std::uint64_t after) const;

  HandleKey key_;
  std::size_t window_entries_;
  RecentMap<NodeId, Window> windows_;
};

}  // namespace steertag::peer
