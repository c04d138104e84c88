// How requests are made: the RPC header with the caller's identity, then the arguments.
// A DDP-eligible argument stays where it is.
#pragma once

#include "client/files/identity.h"
#include "client/rdma/call_result.h"
#include "client/rdma/request.h"
#include "nfs/mount3_procedures.h"
#include "nfs/nfs3_procedures.h"

namespace steertag::peer {

/// A request whose stream is the RPC header.
Request start_call(std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                   const Identity& identity);
/// The same with its arguments, none of them eligible.
template <class Args>
Request inline_call(std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                    const Args& args, const Identity& identity) {
  Request request = start_call(program, version, procedure, identity);
  wire::Writer writer(request.stream);
  args.encode(writer);
  return request;
}
/// Bounds the reply of a call of NFS version 3 or MOUNT, and puts the item's length into its count
/// word, the stream's last.
void finish_call(Request& request);

/// The results of a call, from the first octet behind the RPC header to the last. An item that came
/// in a write chunk must be back in its place.
template <class Result>
Expected<Result, CallError> decode_results(View results) {
  wire::Reader reader(results);
  Result result;
  result.decode(reader);
  if (reader.ok() && reader.remaining() == 0) return result;
  return tl::unexpected(CallError{
      CallErrc::bad_results, reader.ok() ? "octets follow the results" : reader.fault().message()});
}

/// A call of NFS version 3. Octets that `args` points to must stay until the reply.
template <class Args>
Request nfs3_call(nfs3::Procedure procedure, const Args& args, const Identity& identity) {
  Request request =
      start_call(nfs3::kProgram, nfs3::kVersion, static_cast<std::uint32_t>(procedure), identity);
  wire::Writer writer(request.stream);
  // The eligible argument is last in both procedures that have one (RFC 8267 4): what remains
  // without it ends with its count word.
  if constexpr (std::is_same_v<Args, nfs3::WriteArgs>) {
    nfs3::WriteArgs reduced = args;
    reduced.data = {};
    request.has_item = true;
    request.item = args.data;
    reduced.encode(writer);
  } else if constexpr (std::is_same_v<Args, nfs3::SymlinkArgs>) {
    nfs3::SymlinkArgs reduced = args;
    reduced.symlink.symlink_data = {};
    request.has_item = true;
    request.item = std::as_bytes(std::span(args.symlink.symlink_data));
    reduced.encode(writer);
  } else {
    args.encode(writer);
  }
  finish_call(request);
  return request;
}

template <class Args>
Request mount3_call(mount3::Procedure procedure, const Args& args, const Identity& identity) {
  Request request = inline_call(mount3::kProgram, mount3::kVersion,
                                static_cast<std::uint32_t>(procedure), args, identity);
  finish_call(request);
  return request;
}

}  // namespace steertag::peer
