// Files that are read by BATCH of direct access: several READs for one call and one reply.
#pragma once

#include <deque>
#include <map>

#include "client/files/forwarded_files.h"
#include "client/files/identity.h"
#include "client/rdma/call_schedule.h"
#include "nfs/direct/messages.h"

namespace steertag::peer {

/// Octets of one READ of a BATCH: sixteen of them are as much as one large READ of NFS.
inline constexpr std::uint32_t kMostBatchedRead = 65536;

struct BatchStatistics {
  std::uint64_t batches = 0;    // that were answered
  std::uint64_t reads = 0;      // of them, with data
  std::uint64_t nfs_reads = 0;  // READs of NFS
};

/// READs that are asked for between two steps share calls. What fails is done by NFS, whose error
/// the user sees. A server without the program is read by NFS alone.
class BatchFiles final : public ForwardedFiles {
 public:
  /// `files` makes its calls by `schedule`, which must outlive this.
  BatchFiles(std::unique_ptr<RemoteFiles> files, CallSchedule& schedule, Identity identity)
      : ForwardedFiles(std::move(files)), schedule_(schedule), identity_(std::move(identity)) {}

  const BatchStatistics& statistics() const { return statistics_; }

  Expected<RemoteFile, FileError> open(const RemoteHandle& file) override;
  Expected<void, FileError> close(RemoteFile file) override;
  void read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) override;
  void step(std::chrono::milliseconds timeout) override;
  TransferLimits limits() const override;

 private:
  struct Read {
    RemoteFile file = 0;
    std::uint64_t offset = 0;
    std::uint32_t count = 0;
    ReadDone done;
  };
  using Reads = std::vector<Read>;

  void send(Reads reads);
  void take(const Reads& reads, const Expected<CallReply, CallError>& reply);
  void read_by_nfs(const Read& read);

  CallSchedule& schedule_;
  Identity identity_;
  bool missing_ = false;  // the program, at the server
  std::map<RemoteFile, RemoteHandle> open_;
  std::deque<Read> waiting_;
  BatchStatistics statistics_;
};

}  // namespace steertag::peer
