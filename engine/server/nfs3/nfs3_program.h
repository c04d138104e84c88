// NFS version 3 (RFC 1813) over a storage backend: all 22 procedures.
#pragma once

#include "nfs/nfs3_procedures.h"
#include "server/rpc/program.h"
#include "server/storage/backend.h"
#include "server/v4/state/fence.h"

namespace steertag::peer {

/// True while a change of this file must wait for clients of version 4. One may have a delegation,
/// which the server recalls (RFC 8881 10.4). Others may reclaim what they had before a restart (RFC
/// 8881 8.4.2).
using MustWait = std::function<bool(const Handle& file)>;

class Nfs3Program final : public Program {
 public:
  /// `fence`: what of a change data servers have to know; none: nothing.
  explicit Nfs3Program(Backend& backend, MustWait must_wait = {}, const Fence* fence = nullptr)
      : backend_(backend), must_wait_(std::move(must_wait)), fence_(fence) {}

  std::uint32_t number() const override { return nfs3::kProgram; }
  std::uint32_t version() const override { return nfs3::kVersion; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader& arguments,
                         const CallContext& context, ReplyPayload& reply) override;
  bool is_idempotent(std::uint32_t procedure, wire::Reader arguments) const override;
  void tend() override { backend_.tend(); }

 private:
  /// One call under way.
  struct Call {
    wire::Reader& arguments;
    const Caller& caller;
    ReplyPayload& reply;
  };
  /// An object that a handle or a lookup gave, with its attributes before anything was done.
  struct Object {
    NodeId node = 0;
    Attributes attributes;
  };

  /// What READDIR and READDIRPLUS ask for (RFC 1813 3.3.16, 3.3.17).
  struct Listing {
    const nfs3::FileHandle& dir;
    std::uint64_t cookie = 0;
    const nfs3::Verifier& cookieverf;
    std::uint32_t most_names_bytes = 0;  // dircount: entries without attributes and handles
    std::uint32_t most_bytes = 0;        // count or maxcount: the whole resok
    bool plus = false;                   // with attributes and handles
  };

  rpc::AcceptStatus run_procedure(std::uint32_t procedure, Call& call);
  template <class Args>
  rpc::AcceptStatus run(void (Nfs3Program::*handler)(const Args&, Call&), Call& call);

  // nfs3_attributes.cpp
  void getattr(const nfs3::GetattrArgs& args, Call& call);
  void setattr(const nfs3::SetattrArgs& args, Call& call);
  void lookup(const nfs3::LookupArgs& args, Call& call);
  void access(const nfs3::AccessArgs& args, Call& call);
  void fsstat(const nfs3::FsstatArgs& args, Call& call);
  void fsinfo(const nfs3::FsinfoArgs& args, Call& call);
  void pathconf(const nfs3::PathconfArgs& args, Call& call);
  // nfs3_io.cpp
  void readlink(const nfs3::ReadlinkArgs& args, Call& call);
  void read(const nfs3::ReadArgs& args, Call& call);
  void write(const nfs3::WriteArgs& args, Call& call);
  void commit(const nfs3::CommitArgs& args, Call& call);
  // nfs3_directory.cpp
  void create(const nfs3::CreateArgs& args, Call& call);
  void mkdir(const nfs3::MkdirArgs& args, Call& call);
  void symlink(const nfs3::SymlinkArgs& args, Call& call);
  void mknod(const nfs3::MknodArgs& args, Call& call);
  void remove(const nfs3::RemoveArgs& args, Call& call);
  void rmdir(const nfs3::RmdirArgs& args, Call& call);
  void rename(const nfs3::RenameArgs& args, Call& call);
  void link(const nfs3::LinkArgs& args, Call& call);
  // nfs3_listing.cpp
  void list(const Listing& wanted, Call& call);
  void readdir(const nfs3::ReaddirArgs& args, Call& call);
  void readdirplus(const nfs3::ReaddirplusArgs& args, Call& call);

  Result<Object> object(const nfs3::FileHandle& handle) const;
  /// A directory in which the caller may make and remove names.
  Result<Object> writable_directory(const nfs3::FileHandle& handle, const Caller& caller) const;
  /// Status::jukebox while clients of version 4 hinder it, so that the client tries again;
  /// Status::read_only if it cannot be changed at all.
  Status may_change(const Object& object) const;
  /// Whether the caller may remove or move this name of a directory that is writable for it.
  Status may_take(const Object& directory, std::string_view name, const Caller& caller) const;
  nfs3::PostOpAttr after(NodeId node) const;
  nfs3::WccData wcc(const Result<Object>& before) const;
  nfs3::FileHandle handle(NodeId node) const;
  nfs3::Verifier verifier() const;
  Result<NodeId> create_exclusive(const Object& directory, std::string_view name,
                                  const nfs3::Verifier& verifier, const Caller& caller);
  Result<NodeId> create_file(const Object& directory, const nfs3::CreateArgs& args,
                             const Caller& caller);
  void remove_from(const nfs3::DirOpArgs& what, bool is_directory, Call& call);
  void reply_created(const Result<Object>& directory, const Result<NodeId>& created, Call& call);

  Backend& backend_;
  MustWait must_wait_;
  const Fence* fence_;
};

}  // namespace steertag::peer
