// Remote files whose blocks are read by RDMA where a reference is known, and by RPC otherwise.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "client/direct/optimistic_connection.h"
#include "client/direct/read_ahead.h"
#include "client/direct/reference_directory.h"
#include "client/files/forwarded_files.h"
#include "client/files/identity.h"
#include "client/rdma/call_schedule.h"

namespace steertag::peer {

/// Between the end of an optimistic connection and the next HELLO.
inline constexpr std::chrono::milliseconds kHelloPause{1000};
/// After this many ends within kEndsInterval there is no HELLO for as long: something is wrong, and
/// each end costs all Reads in flight.
inline constexpr std::size_t kMostEnds = 3;
inline constexpr std::chrono::milliseconds kEndsInterval{60'000};
/// References that a READ asks for.
inline constexpr std::uint32_t kLazyReferences = 16;

struct OptimisticOptions {
  Identity identity;
  nfs4::Verifier verifier{};  // names this run of the client
  bool crc = true;            // fabric::ConnectionOptions
  bool recoverable = false;   // OptimisticConnection::open
  OptimisticPolicy policy{};
};

struct OptimisticStatistics {
  std::uint64_t valid = 0;      // RDMA Reads with a valid frame
  std::uint64_t failed = 0;     // RDMA Reads with an invalid one, or none
  std::uint64_t rpc_reads = 0;  // READs of direct access that gave data
  std::uint64_t nfs_reads = 0;  // READs of NFS
  std::uint64_t returned = 0;   // references given back
};

class OptimisticFiles final : public ForwardedFiles {
 public:
  /// `files` makes its calls by `schedule`, over `provider` to `url`. All but `files` must outlive
  /// this.
  OptimisticFiles(std::unique_ptr<RemoteFiles> files, CallSchedule& schedule,
                  fabric::Provider& provider, net::Url url, OptimisticOptions options);

  /// Says HELLO and waits for the optimistic connection. Without it, files are read by NFS.
  void start();
  const OptimisticStatistics& statistics() const { return statistics_; }
  const ReferenceDirectory& directory() const { return directory_; }
  bool is_up() const { return connection_ && connection_->is_up(); }

  Expected<RemoteFile, FileError> open(const RemoteHandle& file) override;
  Expected<void, FileError> close(RemoteFile file) override;
  void read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) override;
  void step(std::chrono::milliseconds timeout) override;
  TransferLimits limits() const override;

 private:
  using Time = std::chrono::steady_clock::time_point;
  /// Of the program at the server: not asked yet or to be asked again, asked, there, not there.
  enum class Program : std::uint8_t { unknown, asked, there, missing };
  /// A read within one block.
  struct BlockRead {
    RemoteFile file = 0;
    std::uint64_t offset = 0;
    std::uint32_t count = 0;
    ReadDone done;
  };
  using ReadRef = std::shared_ptr<BlockRead>;

  void say_hello();
  void take_hello(const Expected<CallReply, CallError>& reply);
  /// Does what cannot be done inside notices: opens and drops connections, and says HELLO again.
  void maintain();
  void note_end();
  /// The delegation of a file was recalled. It goes back when no Read of the file is in flight.
  void take_recall(RemoteFile file);
  void return_if_unused(RemoteFile file);
  bool may_refer(RemoteFile file) const {
    return !options_.policy.heeds_recalls || !recalled_.contains(file);
  }
  /// By whose references a file is read: its own, with forgets_closed.
  RemoteFile keeper_of(RemoteFile file) const;
  using RefsDone = std::function<void(const direct::RefsOk*)>;
  /// REFS from this block on. Nothing is passed on if it fails.
  void call_refs(RemoteFile file, const RemoteHandle& handle, std::uint64_t block, RefsDone done);
  void ask_for_references(RemoteFile file, const RemoteHandle& handle);
  /// Asks for those that a sequential reader needs next.
  void read_ahead(RemoteFile file, std::uint64_t block);
  bool is_open_elsewhere(RemoteFile file, const RemoteHandle& handle) const;
  void remember(RemoteFile file, std::span<const direct::Reference> references, Time asked);
  /// RETURN; waits for nothing.
  void give_back(std::span<const direct::Reference> references);
  bool read_optimistically(const ReadRef& read);
  /// An RDMA Read of the file has ended.
  void end_read(RemoteFile file);
  void fall_back(const ReadRef& read);
  void deliver(const BlockRead& read, const direct::Reference& reference, View data);
  void read_by_rpc(const ReadRef& read);
  void read_by_nfs(const ReadRef& read);
  /// An error of the user, later.
  void refuse(const ReadRef& read, const char* why);

  CallSchedule& schedule_;
  fabric::Provider& provider_;
  net::Url url_;
  OptimisticOptions options_;
  Program program_ = Program::unknown;
  std::optional<direct::Ticket> ticket_;  // to be used
  std::uint32_t block_bytes_ = 0;
  std::chrono::milliseconds usable_{};  // of a reference, from the call that brought it
  std::unique_ptr<OptimisticConnection> connection_;
  ReferenceDirectory directory_;
  std::map<RemoteFile, RemoteHandle> open_;
  std::map<RemoteFile, ReadAhead> ahead_;
  std::map<RemoteFile, std::size_t> in_flight_;  // RDMA Reads
  std::set<RemoteFile> recalled_;                // open files that are read by RPC alone
  std::map<RemoteFile, RemoteHandle> closed_;    // without forgets_closed
  std::deque<Time> ends_;                        // of optimistic connections, the last kMostEnds
  Time next_hello_{};
  OptimisticStatistics statistics_;
};

}  // namespace steertag::peer
