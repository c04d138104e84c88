// The port mapper (version 2 of program 100000, RFC 1833 3), for the services of this server only.
// Others cannot register.
#pragma once

#include <memory>

#include "rpc/portmap.h"
#include "server/rpc/program.h"
#include "server/rpc/service_table.h"

namespace steertag::peer {

class PortmapProgram final : public Program {
 public:
  explicit PortmapProgram(std::shared_ptr<const ServiceTable> table) : table_(std::move(table)) {}

  std::uint32_t number() const override { return portmap::kProgram; }
  std::uint32_t version() const override { return portmap::kVersion; }
  rpc::AcceptStatus call(std::uint32_t procedure, wire::Reader& arguments,
                         const CallContext& context, ReplyPayload& reply) override;

 private:
  portmap::Port find(const portmap::Mapping& wanted) const;
  portmap::MappingList list() const;

  std::shared_ptr<const ServiceTable> table_;
};

}  // namespace steertag::peer
