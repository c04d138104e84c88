// MOUNT version 3.
#include "server/nfs3/mount3_program.h"

#include "server/storage/permission.h"

namespace steertag::peer {
namespace {

template <class Args>
bool decode(wire::Reader& reader, Args& args) {
  args.decode(reader);
  return reader.ok() && reader.remaining() == 0;
}

/// Takes the first component off a path; empty at its end.
std::string_view take_component(std::string_view& path) {
  const std::size_t start = path.find_first_not_of('/');
  if (start == std::string_view::npos) return path = {};
  path.remove_prefix(start);
  const std::string_view name = path.substr(0, path.find('/'));
  path.remove_prefix(name.size());
  return name;
}

/// Only some of the numbers are those of mountstat3 too (RFC 1813 5.1.5).
mount3::Status to_mount3(Status status) {
  switch (status) {
    case Status::ok:
    case Status::not_owner:
    case Status::no_entry:
    case Status::io:
    case Status::access:
    case Status::not_directory:
    case Status::invalid:
    case Status::name_too_long:
    case Status::not_supported:
      return static_cast<mount3::Status>(status);
    default:
      return mount3::Status::MNT3ERR_SERVERFAULT;
  }
}

}  // namespace

mount3::MntResult Mount3Program::mount(std::string_view path, const Caller& caller) const {
  mount3::MntResult result;
  if (path.empty() || path.front() != '/') {
    result.status = mount3::Status::MNT3ERR_NOENT;
    return result;
  }
  if (path == kExportPath || path.starts_with(std::string(kExportPath) + "/"))
    path.remove_prefix(kExportPath.size());
  NodeId node = backend_.root();
  // The path's length limits the number of rounds.
  for (std::string_view name = take_component(path); !name.empty(); name = take_component(path)) {
    // Whom LOOKUP refuses a name must not get it here, nor hear whether it is there.
    const auto directory = backend_.attributes(node);
    const bool may = !directory || directory->type != FileType::directory ||
                     permits(*directory, caller, AccessMode::execute);
    if (!may) {
      result.status = mount3::Status::MNT3ERR_ACCES;
      return result;
    }
    const auto next = backend_.lookup(node, name);
    if (!next) {
      result.status = to_mount3(next.error());
      return result;
    }
    node = *next;
  }
  const auto attributes = backend_.attributes(node);
  if (!attributes || attributes->type != FileType::directory) {
    result.status = mount3::Status::MNT3ERR_NOTDIR;
    return result;
  }
  const Handle handle = backend_.handle(node);
  result.fhandle = mount3::FileHandle(View(handle));
  result.auth_flavors = {rpc::AuthFlavor::AUTH_SYS, rpc::AuthFlavor::AUTH_NONE};
  return result;
}

rpc::AcceptStatus Mount3Program::call(std::uint32_t procedure, wire::Reader& arguments,
                                      const CallContext& context, ReplyPayload& reply) {
  using mount3::Procedure;
  mount3::DirPath path;
  switch (static_cast<Procedure>(procedure)) {
    case Procedure::MOUNTPROC3_NULL:
      return rpc::AcceptStatus::SUCCESS;
    case Procedure::MOUNTPROC3_MNT:
      if (!decode(arguments, path)) return rpc::AcceptStatus::GARBAGE_ARGS;
      put(mount(path.path, context.caller), reply);
      return rpc::AcceptStatus::SUCCESS;
    case Procedure::MOUNTPROC3_DUMP:
      put(mount3::MountList{}, reply);  // mounts are not recorded: NFS does not need them
      return rpc::AcceptStatus::SUCCESS;
    case Procedure::MOUNTPROC3_UMNT:
      return decode(arguments, path) ? rpc::AcceptStatus::SUCCESS : rpc::AcceptStatus::GARBAGE_ARGS;
    case Procedure::MOUNTPROC3_UMNTALL:
      return rpc::AcceptStatus::SUCCESS;
    case Procedure::MOUNTPROC3_EXPORT: {
      mount3::ExportList list;
      list.exports.items.push_back({kExportPath, {}});
      list.exports.items.push_back({"/", {}});
      put(list, reply);
      return rpc::AcceptStatus::SUCCESS;
    }
  }
  return rpc::AcceptStatus::PROC_UNAVAIL;
}

}  // namespace steertag::peer
