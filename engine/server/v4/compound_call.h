// One COMPOUND in progress: what its operations share (RFC 7530 15.2, RFC 8881 16.2).
// It defines the one shape of their handlers.
//
// A handler is a function
//
//     void op_lookup(const nfs4::LookupArgs& args, CompoundCall& call, nfs4::LookupResult& result);
//
// named after the operation. The arguments have been decoded without a fault. It sets
// `result.status`, and the rest of the result with NFS4_OK; the interpreter encodes it. What the
// result points to lives in the arguments, in the storage or in `call.scratch`. The table in
// operation_table.cpp has one row an operation, with its handler and what the interpreter must know
// about it.
#pragma once

#include <cstdint>
#include <optional>

#include "nfs/v4/operations.h"
#include "server/rdma/reply_payload.h"
#include "server/rpc/program.h"
#include "server/v4/pnfs/data_servers.h"
#include "server/v4/pseudo_root.h"

namespace steertag::peer {

class Nfs4State;

/// A filehandle with the stateid that belongs to it (RFC 8881 16.2.3.1): the current or saved ones.
struct CurrentFile {
  Handle handle{};
  nfs4::StateId stateid{};      // all zeros: there is none
  std::uint32_t component = 0;  // at a data server: the index of the stripe unit
};

/// The slot of a session that the COMPOUND runs in, and the limits of its fore channel that the
/// interpreter keeps (RFC 8881 2.10.6.4). SEQUENCE fills it with NFS4_OK.
struct SlotInUse {
  nfs4::SessionId session{};
  std::uint32_t slot = 0;
  bool cachethis = false;
  std::uint32_t maxresponsesize = 0;         // octets with the RPC header
  std::uint32_t maxresponsesize_cached = 0;  // the same
  /// The request was executed before: nothing of it runs again, and these are the octets and items
  /// of its COMPOUND4res. Valid as long as the state is not called.
  const ReplyPayload* replay = nullptr;
};

/// The most octets that the reply may have, RPC header included.
std::uint32_t reply_limit(const SlotInUse& slot);

/// A result that is nothing but an operation's number and status.
inline constexpr std::size_t kStatusResultBytes = 8;

/// Where an eligible result is: slices of `reply` from `first_slice` on.
struct ResultItem {
  std::size_t first_slice = 0;
  std::uint32_t length = 0;  // octets without roundup
};

/// What a server without pNFS is.
inline const PnfsRole kWithoutPnfs{};

/// Everything that handlers read and change. One COMPOUND runs from beginning to end inside one
/// call, so that nothing else touches storage or state meanwhile.
struct CompoundCall {
  const CallContext& context;
  PseudoRoot& storage;
  Nfs4State& state;
  ReplyPayload& reply;  // handlers append nothing to its stream
  std::uint32_t minorversion = 0;
  std::uint32_t operation_count = 0;  // of argarray
  std::uint32_t operation_index = 0;  // of the operation that runs, from 0
  std::size_t request_bytes = 0;      // the whole call, RPC header included, nothing reduced
  const PnfsRole& pnfs = kWithoutPnfs;

  std::optional<CurrentFile> current{};
  std::optional<CurrentFile> saved{};
  std::optional<SlotInUse> slot{};  // none in minor version 0, and outside of sessions
  /// The client that the operations so far belong to; SEQUENCE sets it.
  std::optional<std::uint64_t> clientid{};

  /// Encoded values that the present result points to; empty when a handler starts.
  Bytes scratch{};
  /// READ and READLINK leave their data empty and say here where it is.
  std::optional<ResultItem> item{};
};

/// Octets that a reply has to keep free for operations behind the present one. They are enough for
/// one to say that it does not fit (RFC 8881 2.10.6.4).
std::size_t kept_for_next(const CompoundCall& call);
/// Octets that the present operation's result may have behind its number and status in a reply of
/// at most `limit` octets.
std::size_t room_for_result(const CompoundCall& call, std::size_t limit);

/// An object with its attributes before the operation did anything.
struct Object {
  NodeId node = 0;
  Attributes attributes;
};

/// The object of the current (saved) filehandle, or NFS4ERR_NOFILEHANDLE, NFS4ERR_STALE,
/// NFS4ERR_BADHANDLE ... There is no other way from a filehandle to a node.
Expected<Object, nfs4::Status> current_object(const CompoundCall& call);
Expected<Object, nfs4::Status> saved_object(const CompoundCall& call);

/// Makes `node` the current filehandle, without a stateid (RFC 8881 16.2.3.1.2).
void set_current(CompoundCall& call, NodeId node);
/// The stateid that an operation returns becomes the current one; call it after set_current.
void set_current_stateid(CompoundCall& call, const nfs4::StateId& stateid);
/// `given`, or the current stateid when `given` stands for that in minor version 1 (seqid 1, other
/// zeros; RFC 8881 8.2.3). NFS4ERR_BAD_STATEID when it does but there is none.
Expected<nfs4::StateId, nfs4::Status> effective_stateid(const CompoundCall& call,
                                                        const nfs4::StateId& given);

}  // namespace steertag::peer
