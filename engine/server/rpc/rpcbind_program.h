// rpcbind (versions 3 and 4 of program 100000, RFC 1833 2), for the services of this server only.
// Others cannot register.
#pragma once

#include <memory>
#include <string>

#include "rpc/portmap.h"
#include "rpc/rpcbind.h"
#include "server/rpc/program.h"
#include "server/rpc/service_table.h"

namespace steertag::peer {

class RpcbindProgram final : public Program {
 public:
  RpcbindProgram(std::shared_ptr<const ServiceTable> table, std::uint32_t version)
      : table_(std::move(table)), version_(version) {}

  std::uint32_t number() const override { return portmap::kProgram; }
  std::uint32_t version() const override { return version_; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader& arguments,
                         const CallContext& context, ReplyPayload& reply) override;

 private:
  /// Empty if there is no such service.
  std::string find(const rpcbind::Service& wanted, bool exactly) const;
  void dump(ReplyPayload& reply) const;

  std::shared_ptr<const ServiceTable> table_;
  std::uint32_t version_;
};

}  // namespace steertag::peer
