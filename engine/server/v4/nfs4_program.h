// NFS version 4, minor versions 0 and 1 (RFC 7530, RFC 8881), over a storage and its state.
#pragma once

#include "nfs/v4/types.h"
#include "server/rpc/program.h"
#include "server/v4/pnfs/data_servers.h"
#include "server/v4/pseudo_root.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {

class Nfs4Program final : public Program {
 public:
  /// The storage's root is found under kExportPath. `storage` must outlive the program. A data
  /// server of pNFS has minor version 1 only.
  Nfs4Program(Backend& storage, const Nfs4StateOptions& options, PnfsRole pnfs = {});
  /// The metadata server is a data server too. `authority` may refer to its state.
  void be_data_server(std::uint32_t index, std::shared_ptr<LayoutAuthority> authority);

  std::uint32_t number() const override { return nfs4::kProgram; }
  std::uint32_t version() const override { return nfs4::kVersion; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader& arguments,
                         const CallContext& context, ReplyPayload& reply) override;
  /// Minor version 1 has its sessions for that; in minor version 0 owners have seqids, and what is
  /// left are operations on names and attributes.
  bool is_idempotent(std::uint32_t procedure, wire::Reader arguments) const override;
  void tend() override;
  Tickets pending() const override;
  Nfs4State& state() { return state_; }

 private:
  rpc::AcceptStatus compound(wire::Reader& arguments, const CallContext& context,
                             ReplyPayload& reply);

  PseudoRoot storage_;
  Nfs4State state_;
  PnfsRole pnfs_;
};

}  // namespace steertag::peer
