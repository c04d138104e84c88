// The layouts of a client (RFC 8881 12.5): asked for, committed, recalled, and returned.
#pragma once

#include <map>
#include <optional>

#include "client/v4/pnfs/striped_file.h"

namespace steertag::peer {

/// loga_maxcount.
inline constexpr std::uint32_t kMostLayoutReply = nfs4::kMostLayoutOctets;
/// Files whose layouts are held at a time; others go by the metadata server.
inline constexpr std::size_t kMostStripedFiles = 4096;
/// Between two tries to get a layout of a server that has restarted.
inline constexpr std::chrono::milliseconds kLayoutPause{1'000};

struct LayoutCounts {
  std::uint64_t granted = 0;   // LAYOUTGETs
  std::uint64_t refused = 0;   // LAYOUTGETs, or layouts that are of no use
  std::uint64_t commits = 0;   // LAYOUTCOMMITs
  std::uint64_t returns = 0;   // LAYOUTRETURNs
  std::uint64_t recalled = 0;  // CB_LAYOUTRECALLs
};

class Layouts {
 public:
  using Done = std::function<void(Expected<void, FileError>)>;

  /// All must outlive it. Serves the callbacks of the session about layouts.
  Layouts(CallSchedule& schedule, ClientSession& session, DataServerSet& servers);
  ~Layouts();
  Layouts(const Layouts&) = delete;
  Layouts& operator=(const Layouts&) = delete;

  /// The file with a layout for this iomode, by the stateid of an OPEN; waits. nullptr: the server
  /// gives none, or one of no use. `close` must follow.
  StripedFileRef open(const RemoteHandle& handle, const nfs4::StateId& opened,
                      nfs4::LayoutIomode iomode);
  /// Asks a server that has restarted for another layout, by the stateid of an open there; waits.
  /// True: there is nothing more to ask for. Not from inside a callback.
  bool ask_again(const StripedFileRef& file, const nfs4::StateId& opened);
  /// The end of an open: after the last, what was written is committed and the layout goes back.
  /// Waits.
  Expected<void, FileError> close(const StripedFileRef& file);
  /// Commits what was written, at the servers where RFC 8881 13.7 wants it, then LAYOUTCOMMIT. The
  /// file's verifier has changed if something must be written again.
  void commit(const StripedFileRef& file, Done done);

  void begin_call(StripedFile& file) { ++file.in_flight; }
  void end_call(const StripedFileRef& file);
  /// A data server did not answer.
  void lose_server(const ServerPart& part);
  /// A data server has refused what the layout allows: it is used no more, and goes back.
  void abandon(const StripedFileRef& file);

  const LayoutCounts& counts() const { return counts_; }

 private:
  struct Granted;
  struct Flush;
  const LayoutPolicy& policy() const { return session_.policy().layouts; }
  using FlushRef = std::shared_ptr<Flush>;
  /// CB_LAYOUTRECALL of a file system, or of all.
  struct BulkRecall {
    nfs4::LayoutrecallType type{};
    nfs4::LayoutIomode iomode{};
    std::optional<RemoteHandle> handle;  // in the file system
  };

  Expected<Granted, FileError> ask(const StripedFile& file, const nfs4::StateId& stateid,
                                   nfs4::LayoutIomode iomode);
  /// LAYOUTGET for a file that has no layout of use.
  void get(const StripedFileRef& file, const nfs4::StateId& opened, nfs4::LayoutIomode iomode);
  void take(const StripedFileRef& file, const Granted& granted);
  /// nullptr: it is of no use.
  SegmentRef segment_of(const LayoutScope& scope, View body);

  // Back to the server: layout_return.cpp.
  void flush(const StripedFileRef& file, Done done);
  /// COMMIT, whose verifier has to be that of the WRITEs.
  void commit_at(const FlushRef& flush, DataServer* server, const RemoteHandle& handle,
                 std::vector<WriteVerifier> expected);
  void end_commit(const FlushRef& flush);
  void layout_commit(const FlushRef& flush);
  void give_back(const StripedFileRef& file);
  /// The layout is not held any more, without LAYOUTRETURN.
  void drop(const StripedFileRef& file);
  void returned(const StripedFileRef& file, bool recalled,
                Expected<CompoundReply, FileError> reply);
  /// Nothing is under way any more: what has waited for that begins.
  void resume(const StripedFileRef& file);
  void leave(const StripedFileRef& file);
  /// Begins the return if it is due.
  void settle(const StripedFileRef& file);
  void settle_bulk();

  // From the server: layout_recall.cpp.
  LayoutEvents events();
  nfs4::Status recalled(const nfs4::CbLayoutrecallArgs& args);
  nfs4::Status file_recalled(const nfs4::CbLayoutrecallArgs& args);
  nfs4::Status all_recalled(const nfs4::CbLayoutrecallArgs& args);
  bool devices_changed(const nfs4::CbNotifyDeviceidArgs& args);
  void device_changed(const nfs4::DeviceId& id);
  void forget();
  /// The return begins outside of the notice.
  void leave_later(const StripedFileRef& file);

  CallSchedule& schedule_;
  ClientSession& session_;
  DeviceCache devices_;
  std::map<std::string, StripedFileRef> files_;  // by the octets of their handles
  std::optional<std::string> asking_;            // the file of a LAYOUTGET without a reply
  bool has_layouts_ = true;                      // as far as is known
  std::optional<BulkRecall> bulk_;
  LayoutCounts counts_;
};

}  // namespace steertag::peer
