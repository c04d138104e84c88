// A file with a layout, as its client knows it.
// It has the parts that data servers may be asked for, and what they have not committed.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/v4/pnfs/device_cache.h"
#include "nfs/v4/callback_ops.h"
#include "nfs/v4/layout_ops.h"
#include "nfs/v4/striping.h"

namespace steertag::peer {

/// A length that reaches to the end of the largest file, NFS4_UINT64_MAX.
inline constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

/// A part of a file, and how: layout4, and the scope of recalls and returns.
struct LayoutScope {
  nfs4::LayoutIomode iomode = nfs4::LayoutIomode::LAYOUTIOMODE4_ANY;
  std::uint64_t offset = 0;
  std::uint64_t length = kToTheEnd;

  /// Octets from `offset` to the end of the part; 0: it is not in it.
  std::uint64_t left_from(std::uint64_t at) const;
  bool overlaps(const LayoutScope& other) const;
};

/// A layout that is of use.
struct LayoutSegment {
  LayoutScope scope;
  nfs4::FileLayout layout;
  DeviceRef device;
};
using SegmentRef = std::shared_ptr<const LayoutSegment>;

/// Makes some use of a layout with a fault; false: there is none.
bool patch(LayoutSegment& segment);
/// Changes what the policy does not heed.
void misread(LayoutSegment& segment, const LayoutPolicy& policy);

/// Where octets were written: a handle at a data server, or at the metadata server (nullptr).
using WrittenPlace = std::pair<DataServer*, std::string>;
/// What is not on stable storage there.
struct Unstable {
  WriteVerifier verifier = 0;
  bool through_server = false;  // COMMIT goes to the metadata server (RFC 8881 13.7)
};

/// A CB_LAYOUTRECALL of one file.
struct FileRecall {
  LayoutScope scope;
  nfs4::StateId stateid;
  bool changed = false;  // clora_changed
};

struct StripedFile {
  RemoteHandle handle;
  std::optional<nfs4::Fsid> fsid;
  std::size_t opens = 0;
  std::uint64_t size = 0;  // octets, as far as it is known

  // The layout.
  nfs4::LayoutIomode wanted = nfs4::LayoutIomode::LAYOUTIOMODE4_READ;  // by its opens
  std::uint64_t client_id = 0;                       // that has asked for one last
  std::chrono::steady_clock::time_point next_try{};  // of asking a restarted server
  bool held = false;                 // the server has given one that was not returned
  nfs4::StateId stateid{};           // of it
  std::vector<LayoutScope> granted;  // by it
  std::vector<SegmentRef> segments;  // that may be used
  std::optional<FileRecall> recall;  // to be answered by LAYOUTRETURN
  bool bulk = false;                 // recalled together with others
  bool bulk_changed = false;         // with clora_changed
  bool gap = false;                  // a recall was put off for those that its seqid leaves out
  bool leaving = false;              // goes back as soon as nothing is in flight

  std::uint32_t in_flight = 0;                 // calls to data servers
  bool busy = false;                           // COMMIT, LAYOUTCOMMIT or LAYOUTRETURN are under way
  std::vector<std::function<void()>> waiting;  // for the end of that

  // What was written.
  std::map<WrittenPlace, Unstable> unstable;
  std::optional<std::uint64_t> last_offset;  // of octets at data servers without LAYOUTCOMMIT
  /// That of the file for who writes it. It changes when any server may have lost something.
  WriteVerifier verifier = 1;

  bool idle() const { return in_flight == 0 && !busy && !leaving; }
  bool is_dirty() const { return !unstable.empty() || last_offset; }
};
using StripedFileRef = std::shared_ptr<StripedFile>;

/// A part of a file at one data server.
struct ServerPart {
  SegmentRef segment;
  DataServer* server = nullptr;
  ClientSession* session = nullptr;
  RemoteHandle handle;
  std::uint64_t offset = 0;  // at the data server
  std::uint32_t length = 0;

  WrittenPlace place() const;
};

/// The part of a file from `offset` on, of `count` octets at most. nullopt: no layout has
/// it, or its data server cannot be reached.
std::optional<ServerPart> find_part(const StripedFile& file, std::uint64_t offset,
                                    std::uint32_t count, bool writes);

/// Octets at a place are not stable. Another verifier than before means that some may be lost.
void note_unstable(StripedFile& file, const WrittenPlace& place, const Unstable& octets);

/// The key of a handle.
std::string octets_of(const RemoteHandle& handle);

}  // namespace steertag::peer
