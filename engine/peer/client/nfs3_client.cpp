// The reference client of NFS version 3 and MOUNT.
#include "peer/client/nfs3_client.h"

#include "nfs/reply_size.h"
#include "rpc/auth.h"

namespace steertag::peer {

Request Nfs3Client::start(std::uint32_t program, std::uint32_t version,
                          std::uint32_t procedure) const {
  Request request;
  request.program = program;
  request.version = version;
  request.procedure = procedure;
  request.wish = client_.wish();
  rpc::CallHeader header;
  header.program = program;
  header.version = version;
  header.procedure = procedure;
  Bytes credential;
  if (identity_.auth_sys) {
    rpc::AuthSys parameters;
    parameters.machine_name = identity_.machine_name;
    parameters.uid = identity_.uid;
    parameters.gid = identity_.gid;
    credential = rpc::encode_auth_sys(parameters);
    header.credential = {rpc::AuthFlavor::AUTH_SYS, credential};
  }
  wire::Writer writer(request.stream);
  header.encode(writer);
  return request;
}

void Nfs3Client::finish(Request& request) const {
  if (const auto reply = nfs::largest_reply(request.stream)) request.reply = *reply;
  if (!request.has_item) return;
  wire::Writer writer(request.stream);
  writer.patch_u32(request.stream.size() - 4, static_cast<std::uint32_t>(request.item.size()));
}

Expected<mount3::MntResult, CallError> Nfs3Client::mount(std::string_view path) {
  Request request = start(mount3::kProgram, mount3::kVersion,
                          static_cast<std::uint32_t>(mount3::Procedure::MOUNTPROC3_MNT));
  wire::Writer writer(request.stream);
  mount3::DirPath{path}.encode(writer);
  finish(request);
  return decode<mount3::MntResult>(client_.round_trip(std::move(request)));
}

}  // namespace steertag::peer
