// The port mapper.
#include "server/rpc/portmap_program.h"

namespace steertag::peer {

portmap::Port PortmapProgram::find(const portmap::Mapping& wanted) const {
  // The port of another version, as rpcbind has it: there the caller learns what versions exist.
  portmap::Port found;
  for (const portmap::Mapping& mapping : list().mappings.items) {
    if (mapping.program != wanted.program || mapping.protocol != wanted.protocol) continue;
    if (mapping.version == wanted.version) return {mapping.port};
    if (found.port == 0) found.port = mapping.port;
  }
  return found;
}

portmap::MappingList PortmapProgram::list() const {
  portmap::MappingList list;
  for (const OfferedService& service : table_->services) {
    // Mappings know IPv4's protocols only.
    if (service.netid != "tcp") continue;
    list.mappings.items.push_back({service.program, service.version, portmap::kTcp, service.port});
  }
  return list;
}

rpc::AcceptStatus PortmapProgram::call(std::uint32_t procedure, wire::Reader& arguments,
                                       const CallContext& /*context*/, ReplyPayload& reply) {
  using portmap::Procedure;
  switch (static_cast<Procedure>(procedure)) {
    case Procedure::PMAPPROC_NULL:
      return rpc::AcceptStatus::SUCCESS;
    case Procedure::PMAPPROC_GETPORT: {
      portmap::Mapping wanted;
      wanted.decode(arguments);
      if (!arguments.ok() || arguments.remaining() > 0) return rpc::AcceptStatus::GARBAGE_ARGS;
      put(find(wanted), reply);
      return rpc::AcceptStatus::SUCCESS;
    }
    case Procedure::PMAPPROC_DUMP:
      put(list(), reply);
      return rpc::AcceptStatus::SUCCESS;
    default:  // no service registers here, and no client calls through us
      return rpc::AcceptStatus::PROC_UNAVAIL;
  }
}

}  // namespace steertag::peer
