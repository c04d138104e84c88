// The program of direct access beside NFS: it grants references over the same storage and state.
#pragma once

#include "nfs/direct/procedures.h"
#include "server/direct/direct_access.h"
#include "server/rpc/program.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {

class DirectProgram final : public Program {
 public:
  /// `storage` and `state` must outlive the program. The storage must tell `access` of changes.
  DirectProgram(Backend& storage, Nfs4State& state, std::shared_ptr<DirectAccess> access);
  ~DirectProgram() override;

  std::uint32_t number() const override { return direct::kProgram; }
  std::uint32_t version() const override { return direct::kVersion; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader& arguments,
                         const CallContext& context, ReplyPayload& reply) override;
  void tend() override;

 private:
  /// One call under way.
  struct Call {
    const CallContext& context;
    DirectUser* user;  // none before HELLO
    ReplyPayload& reply;
    std::size_t new_grants = 0;
  };
  /// A regular file that the caller may read.
  struct File {
    NodeId node = 0;
    Attributes attributes;
  };

  template <class Args>
  rpc::AcceptStatus run(void (DirectProgram::*handler)(const Args&, Call&), wire::Reader& arguments,
                        Call& call);
  void hello(const direct::HelloArgs& args, Call& call);
  void refs(const direct::RefsArgs& args, Call& call);
  void read(const direct::ReadArgs& args, Call& call);
  void batch(const direct::BatchArgs& args, Call& call);
  void take_back(const direct::ReturnArgs& args, Call& call);

  /// The client of NFS version 4 that it named, or one of its sessions, is gone.
  bool has_lost_client(DirectUser& user);
  /// What its RDMA Reads bring about, if a policy says so.
  void follow_reads(DirectUser& user);
  Expected<File, nfs4::Status> readable(const direct::FileHandle& handle,
                                        const direct::StateId& stateid, const Call& call,
                                        bool checks_permission = true);
  /// References to the blocks that have octets between `from` and `to`, at most `most` of them.
  std::vector<direct::Reference> grant(const File& file, std::uint64_t from, std::uint64_t to,
                                       std::uint32_t most, Call& call);
  bool fill(NodeId node, std::uint64_t offset, MutableView data);

  Backend& storage_;
  Nfs4State& state_;
  std::shared_ptr<DirectAccess> access_;
  std::vector<Slice> slices_;  // reused
};

}  // namespace steertag::peer
