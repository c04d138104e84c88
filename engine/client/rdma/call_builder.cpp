// The headers and bounds of requests.
#include "client/rdma/call_builder.h"

#include <algorithm>

#include "rpc/auth.h"
#include "rpc/message.h"

namespace steertag::peer {

Request start_call(std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                   const Identity& identity) {
  Request request;
  request.program = program;
  request.version = version;
  request.procedure = procedure;
  rpc::CallHeader header;
  header.program = program;
  header.version = version;
  header.procedure = procedure;
  Bytes credential;
  if (identity.auth_sys) {
    rpc::AuthSys parameters;
    parameters.machine_name = identity.machine_name;
    parameters.uid = identity.uid;
    parameters.gid = identity.gid;
    const std::size_t groups = std::min(identity.gids.size(), rpc::kMostGroups);
    parameters.gids.assign(identity.gids.begin(),
                           identity.gids.begin() + static_cast<std::ptrdiff_t>(groups));
    credential = rpc::encode_auth_sys(parameters);
    header.credential = {rpc::AuthFlavor::AUTH_SYS, credential};
  }
  wire::Writer writer(request.stream);
  header.encode(writer);
  return request;
}

void finish_call(Request& request) {
  if (const auto reply = nfs::largest_reply(request.stream)) request.reply = *reply;
  if (!request.has_item) return;
  wire::Writer writer(request.stream);
  writer.patch_u32(request.stream.size() - 4, static_cast<std::uint32_t>(request.item.size()));
}

}  // namespace steertag::peer
