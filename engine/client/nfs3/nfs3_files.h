// The files of a server over NFS version 3 and MOUNT.
#pragma once

#include <map>
#include <memory>

#include "client/files/delay.h"
#include "client/files/remote_files.h"
#include "client/rdma/call_builder.h"
#include "client/rdma/call_schedule.h"

namespace steertag::peer {

class Nfs3Files final : public RemoteFiles {
 public:
  /// `schedule` carries NFS; MOUNT goes through `mount_schedule` if the server has it elsewhere.
  /// Both must outlive this.
  Nfs3Files(CallSchedule& schedule, Identity identity, CallSchedule* mount_schedule = nullptr);

  /// Mounts the export with the longest path that `path` begins with, and learns its limits. Must
  /// come first; paths are those of the server, the export's included.
  Expected<void, FileError> mount(std::string_view path);

  Expected<RemoteObject, FileError> find(std::string_view path, bool follow) override;
  Expected<RemoteAttributes, FileError> attributes(const RemoteHandle& object) override;
  Expected<std::string, FileError> read_link(const RemoteHandle& link) override;
  Expected<void, FileError> list(const RemoteHandle& directory, const EntrySink& sink) override;
  Expected<void, FileError> list_names(const RemoteHandle& directory,
                                       const NameSink& sink) override;
  Expected<void, FileError> remove(const RemoteHandle& directory, std::string_view name) override;
  Expected<void, FileError> rename(const RemoteHandle& directory, std::string_view from,
                                   std::string_view to) override;
  Expected<RemoteFile, FileError> open(const RemoteHandle& file) override;
  Expected<RemoteFile, FileError> create(const RemoteHandle& directory, std::string_view name,
                                         std::uint32_t mode) override;
  Expected<void, FileError> set_size(RemoteFile file, std::uint64_t size) override;
  Expected<void, FileError> close(RemoteFile file) override;
  void read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) override;
  void write(RemoteFile file, std::uint64_t offset, View data, Stability stability,
             WriteDone done) override;
  void commit(RemoteFile file, CommitDone done) override;
  void step(std::chrono::milliseconds timeout) override { schedule_.step(timeout); }
  TransferLimits limits() const override { return limits_; }
  std::uint32_t version() const override { return nfs3::kVersion; }
  Expected<void, FileError> end() override;

 private:
  /// The whole results of one call, an item that came in a write chunk put back.
  Expected<Bytes, FileError> results_of(CallSchedule& schedule, const Request& request,
                                        std::string_view what);
  template <class Result, class Args>
  Expected<Result, FileError> call(nfs3::Procedure procedure, const Args& args);
  template <class Result, class Args>
  Expected<Result, FileError> call_mount(mount3::Procedure procedure, const Args& args);
  Expected<std::string, FileError> choose_export(std::string_view path);
  Expected<void, FileError> learn_limits();
  /// What follows the mounted export in a path of the server; an error if it is somewhere else.
  Expected<std::string, FileError> below_export(std::string_view path) const;
  /// All entries by READDIR or READDIRPLUS; `args` but for the place in the directory. False of
  /// `visit` ends it.
  template <class Result, class Args, class Visit>
  Expected<void, FileError> list_by(nfs3::Procedure procedure, Args args, const Visit& visit);
  Expected<RemoteObject, FileError> lookup(const RemoteHandle& directory, std::string_view name);
  /// Hands over a call that is tried again after NFS3ERR_JUKEBOX. `take` decodes the results; it
  /// returns false for this status.
  struct DataCall;
  void submit(std::shared_ptr<DataCall> call);
  nfs3::FileHandle handle_of(RemoteFile file) const;

  CallSchedule& schedule_;
  CallSchedule& mount_schedule_;
  Identity identity_;
  std::string export_path_;
  RemoteObject root_;
  TransferLimits limits_;
  std::uint32_t list_bytes_ = 0;
  std::map<RemoteFile, nfs3::FileHandle> open_;
  RemoteFile next_file_ = 1;
  Bytes kept_;  // the results that the last call's views point into
};

}  // namespace steertag::peer
