// The named limits of a directory export, and why each has its value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace steertag::peer {

/// Open descriptors of files kept for the next READ or WRITE. This is some for each of a few busy
/// clients, and far below the usual 1024 of a process.
inline constexpr std::size_t kMostOpenFiles = 128;
/// One that no READ or WRITE used for this time is closed: longer than clients pause within a
/// transfer, shorter than the usual lease.
inline constexpr std::chrono::seconds kOpenFileIdle{30};
/// Objects whose place in the tree is remembered: about 64 MiB with their names. What is forgotten
/// is found again by a search.
inline constexpr std::size_t kMostPlacedObjects = 262'144;
/// Names remembered of one object; a file with more hard links is found by the latest of them.
inline constexpr std::size_t kMostPlacesPerObject = 8;
/// Removed objects remembered, so that their handles need no search to be stale.
inline constexpr std::size_t kMostGoneObjects = 4096;
/// Objects whose changes are counted, so that two within one tick of the host's clock differ: more
/// than clients work on at a time.
inline constexpr std::size_t kMostCountedObjects = 65'536;
/// Depth of the tree: as deep as a path of PATH_MAX octets can lead.
inline constexpr std::size_t kDeepestPath = 2048;
/// Octets of a path given to the kernel at once: below its PATH_MAX with the terminating NUL.
inline constexpr std::size_t kLongestPathStep = 4000;
/// Entries that one search of the tree looks at: some seconds of work.
inline constexpr std::size_t kMostSearchedEntries = std::size_t{1} << 20;
/// A search rests this many times as long as it took. Handles of objects that are gone thus cannot
/// occupy more than a tenth of the server.
inline constexpr std::int64_t kSearchRestFactor = 9;
/// Tries of a resolution that the host's own renames disturb (EAGAIN of openat2).
inline constexpr int kMostResolveTries = 32;
/// Entries of a directory sorted at once: a directory of 10,000 entries is read once, and a window
/// is about one mebibyte.
inline constexpr std::size_t kListingWindowEntries = 16'384;
/// Directories with a window at the same time: listings that clients have under way.
inline constexpr std::size_t kMostListingWindows = 8;
/// A listing read this long after the directory's last change stays good while the directory's
/// times do not change. This is the coarsest time stamp of a host's file systems (that of FAT). Any
/// later change gives the directory other times.
inline constexpr std::chrono::seconds kListingSettles{2};
/// Entries read of one directory; more than any file system of the host is known to hold.
inline constexpr std::size_t kMostDirectoryEntries = std::size_t{1} << 26;

}  // namespace steertag::peer
