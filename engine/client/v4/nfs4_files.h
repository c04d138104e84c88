// The files of a server over NFS version 4.1.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "client/v4/client_session.h"
#include "nfs/v4/attributes.h"

namespace steertag::peer {

/// Delegations that a server may recall before the reply to the OPEN that grants them. Recalls
/// beyond it get NFS4ERR_DELAY too, and wait for the server to repeat them.
inline constexpr std::size_t kMostEarlyRecalls = 16;

class Nfs4Files final : public RemoteFiles {
 public:
  /// `schedule` must outlive this.
  Nfs4Files(CallSchedule& schedule, SessionOptions options);

  /// Makes the session and finds the root. Must come first; unsupported_version if the server does
  /// not speak version 4.1.
  Expected<void, FileError> start();

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
  void step(std::chrono::milliseconds timeout) override;
  std::uint64_t client_id() const override { return session_.client_id(); }
  /// That of the OPEN, also under a delegation: a recall then hurts no READ in flight.
  nfs4::StateId state_of(RemoteFile file) const override { return open_file(file)->stateid; }
  void keep_delegations(std::function<void(RemoteFile)> recalled) override {
    on_recall_ = std::move(recalled);
  }
  void return_delegation(RemoteFile file) override;
  TransferLimits limits() const override;
  std::uint32_t version() const override { return nfs4::kVersion; }
  Expected<void, FileError> end() override;

  ClientSession& session() { return session_; }
  CallSchedule& schedule() { return schedule_; }
  RemoteHandle handle_of(RemoteFile file) const { return open_file(file)->handle; }

 private:
  struct OpenFile {
    RemoteHandle handle;
    std::uint32_t share_access = 0;
    nfs4::StateId stateid{};
    nfs4::Delegation delegation{};  // that is kept
    std::uint32_t opened = 1;       // times: more than one after the server forgot it
    bool opening = false;
    std::vector<std::function<void(Expected<void, FileError>)>> waiting;
  };
  using OpenRef = std::shared_ptr<OpenFile>;
  using StateIdOther = decltype(nfs4::StateId::other);
  /// An OPEN without its reply, of a file whose delegation may be kept.
  struct Opening {
    RemoteHandle handle;
    std::set<StateIdOther> recalled;  // at most kMostEarlyRecalls
  };
  struct DataCall;

  /// Whether to go on with the next entry.
  using EntryVisit = std::function<Expected<bool, FileError>(const nfs4::Entry&)>;
  Expected<void, FileError> list_by(const RemoteHandle& directory, const nfs4::Bitmap& attributes,
                                    const EntryVisit& visit);
  Expected<RemoteObject, FileError> lookup(const RemoteHandle& directory, std::string_view name);
  /// The owner in the result is a view of `file`, which must outlive it.
  nfs4::OpenArgs open_args(const RemoteFile& file, std::uint32_t share_access) const;
  /// Takes the result of GETATTR.
  Expected<void, FileError> learn_limits(CompoundReply& reply);
  /// Opens a file anew whose stateid the server has forgotten; all calls that find this out
  /// together wait for one OPEN.
  void open_again(RemoteFile number, const OpenRef& file,
                  std::function<void(Expected<void, FileError>)> done);
  void submit(const std::shared_ptr<DataCall>& call);
  /// Returns a delegation: one that is over, or that a server granted although no OPEN asked.
  void give_back(const nfs4::Delegation& delegation, const RemoteHandle& file);
  /// The status of a CB_RECALL.
  nfs4::Status recalled(const nfs4::CbRecallArgs& args);
  /// That of a CB_RECALL of a delegation that no reply has brought.
  nfs4::Status recalled_early(const nfs4::CbRecallArgs& args);
  bool keeps(const nfs4::Delegation& delegation) const;
  OpenRef open_file(RemoteFile file) const;

  SessionOptions answering_recalls(SessionOptions options);

  CallSchedule& schedule_;
  ClientSession session_;
  RemoteObject root_;
  TransferLimits limits_;
  std::map<RemoteFile, OpenRef> open_;
  RemoteFile next_file_ = 1;
  std::map<RemoteFile, Opening> opening_;
  std::set<StateIdOther> unwanted_;            // delegations that are on their way back
  std::function<void(RemoteFile)> on_recall_;  // none: no delegation is kept
};

}  // namespace steertag::peer
