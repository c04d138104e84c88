// rpcbind.
#include "server/rpc/rpcbind_program.h"

namespace steertag::peer {
namespace {

std::string address_of(const OfferedService& service, std::string_view host) {
  return rpcbind::universal_address(host, service.port);
}

}  // namespace

std::string RpcbindProgram::find(const rpcbind::Service& wanted, bool exactly) const {
  // RFC 1833 2.2.1 takes the netid of the transport of this call. Clients that ask over TCP for
  // "rdma" name it, and mean what they say.
  const std::string_view netid = wanted.netid.empty() ? "tcp" : wanted.netid;
  // What the caller calls this host: it can reach it there.
  const auto hint = rpcbind::host_of(wanted.address);
  std::string other;  // another version of the program
  for (const OfferedService& service : table_->services) {
    if (service.program != wanted.program || service.netid != netid) continue;
    const bool any = is_any_address(service.host) && hint;
    const std::string address = address_of(service, any ? *hint : service.host);
    if (service.version == wanted.version) return address;
    if (other.empty()) other = address;
  }
  return exactly ? "" : other;
}

void RpcbindProgram::dump(ReplyPayload& reply) const {
  std::vector<std::string> addresses;
  for (const OfferedService& service : table_->services)
    addresses.push_back(address_of(service, service.host));
  rpcbind::ServiceList list;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const OfferedService& service = table_->services[i];
    list.services.items.push_back(
        {service.program, service.version, service.netid, addresses[i], "steertag"});
  }
  put(list, reply);
}

rpc::AcceptStatus RpcbindProgram::call(std::uint32_t procedure, wire::Reader& arguments,
                                       const CallContext& /*context*/, ReplyPayload& reply) {
  using rpcbind::Procedure;
  const auto known = static_cast<Procedure>(procedure);
  switch (known) {
    case Procedure::RPCBPROC_NULL:
      return rpc::AcceptStatus::SUCCESS;
    case Procedure::RPCBPROC_GETVERSADDR:
      if (version_ < rpcbind::kHighestVersion) return rpc::AcceptStatus::PROC_UNAVAIL;
      [[fallthrough]];
    case Procedure::RPCBPROC_GETADDR: {
      rpcbind::Service wanted;
      wanted.decode(arguments);
      if (!arguments.ok() || arguments.remaining() > 0) return rpc::AcceptStatus::GARBAGE_ARGS;
      const std::string address = find(wanted, known == Procedure::RPCBPROC_GETVERSADDR);
      put(rpcbind::UniversalAddress{address}, reply);
      return rpc::AcceptStatus::SUCCESS;
    }
    case Procedure::RPCBPROC_DUMP:
      dump(reply);
      return rpc::AcceptStatus::SUCCESS;
    default:  // no service registers here, and no client calls through us
      return rpc::AcceptStatus::PROC_UNAVAIL;
  }
}

}  // namespace steertag::peer
