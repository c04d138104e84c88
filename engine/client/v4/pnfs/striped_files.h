// Remote files whose octets go to data servers (RFC 8881 12, 13).
// Where there is no layout of use they go to the metadata server.
#pragma once

#include <map>

#include "client/files/forwarded_files.h"
#include "client/v4/nfs4_files.h"
#include "client/v4/pnfs/layouts.h"

namespace steertag::peer {

/// READs or WRITEs under way at all data servers of a file.
inline constexpr std::uint32_t kMostStripedCalls = 1024;

class StripedFiles final : public ForwardedFiles {
 public:
  /// `files` is that of a server with the role EXCHGID4_FLAG_USE_PNFS_MDS. `options` are those of
  /// its session.
  StripedFiles(std::unique_ptr<Nfs4Files> files, DataServerConnector connect,
               SessionOptions options);

  Expected<RemoteFile, FileError> open(const RemoteHandle& file) override;
  Expected<RemoteFile, FileError> create(const RemoteHandle& directory, std::string_view name,
                                         std::uint32_t mode) override;
  Expected<void, FileError> set_size(RemoteFile file, std::uint64_t size) override;
  Expected<void, FileError> close(RemoteFile file) override;
  /// Those of one stripe unit at most: fewer octets than asked for are no error.
  void read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) override;
  void write(RemoteFile file, std::uint64_t offset, View data, Stability stability,
             WriteDone done) override;
  void commit(RemoteFile file, CommitDone done) override;
  /// READ and WRITE do not reach beyond a stripe unit.
  TransferLimits limits_of(RemoteFile file) const override;
  void step(std::chrono::milliseconds timeout) override;
  void keep_delegations(std::function<void(RemoteFile)> recalled) override {
    nfs4_.keep_delegations(std::move(recalled));
  }
  void return_delegation(RemoteFile file) override { nfs4_.return_delegation(file); }
  Expected<void, FileError> end() override;

  /// Of the session with the metadata server.
  std::uint32_t slots() const { return nfs4_.session().slots(); }
  const LayoutCounts& layouts() const { return layouts_.counts(); }
  const DataServerSet& data_servers() const { return servers_; }
  /// READs and WRITEs that went to the metadata server, with and without a layout.
  const DataServerCounts& at_metadata_server() const { return at_metadata_server_; }

 private:
  using PartRef = std::shared_ptr<const ServerPart>;

  /// Asks a server that has restarted for the layouts of all open files.
  void ask_restarted();
  StripedFileRef striped(RemoteFile file) const;
  void add(RemoteFile number, nfs4::LayoutIomode iomode);
  /// The stateid of the open as data servers want it (RFC 8881 13.9.1).
  nfs4::StateId stateid_for_io(RemoteFile number) const;
  const DataServerPolicy& policy() const { return nfs4_.session().policy().data_servers; }

  void read_at_server(RemoteFile number, std::uint64_t offset, std::uint32_t count, ReadDone done);
  /// Makes READ's result that of the file out of that of a part of it (RFC 8881 13.10).
  ReadOutcome of_file(const StripedFile& file, std::uint64_t offset, std::uint32_t count,
                      const ReadOutcome& part) const;
  void write_at_server(RemoteFile number, const StripedFileRef& file, std::uint64_t offset,
                       View data, Stability stability, WriteDone done);
  void note_failure(const StripedFileRef& file, const ServerPart& part, bool answered);

  Nfs4Files& nfs4_;
  DataServerSet servers_;
  Layouts layouts_;
  std::map<RemoteFile, StripedFileRef> open_;
  std::uint64_t asked_as_ = 0;  // the client id by which all of them have been asked for
  DataServerCounts at_metadata_server_;
};

}  // namespace steertag::peer
