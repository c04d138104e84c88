// MOUNT version 3 (RFC 1813 appendix I) on the connection that NFS uses, over the same storage.
#pragma once

#include "nfs/mount3_procedures.h"
#include "server/rpc/program.h"
#include "server/storage/backend.h"

namespace steertag::peer {

/// The path under which the storage's root can be mounted, besides "/".
inline constexpr std::string_view kExportPath = "/export";

class Mount3Program final : public Program {
 public:
  explicit Mount3Program(Backend& backend) : backend_(backend) {}

  std::uint32_t number() const override { return mount3::kProgram; }
  std::uint32_t version() const override { return mount3::kVersion; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader& arguments,
                         const CallContext& context, ReplyPayload& reply) override;

 private:
  mount3::MntResult mount(std::string_view path, const Caller& caller) const;

  Backend& backend_;
};

}  // namespace steertag::peer
