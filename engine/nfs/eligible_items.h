// The DDP-eligible items of a call or reply of any version of NFS, and of direct access (RFC 8267).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nfs/binding.h"
#include "support/bytes.h"
#include "wire/fault.h"

namespace steertag::nfs {

/// The eligible arguments of an encoded call (from its XID on) of NFS version 2, 3 or 4, in payload
/// stream order. See eligible_argument in binding.h for calls that have none. `read_positions` are
/// the positions of the call's read chunks. An item of version 4 is reduced when its position is
/// one of these. Versions 2 and 3 have one item at most, and it is reduced when it is not there.
/// `fault` tells, when it is given, that the walk ended early: the items are those before that.
std::vector<EligibleItem> eligible_arguments(View rpc_call,
                                             std::span<const std::uint32_t> read_positions,
                                             wire::Fault* fault = nullptr);

/// The eligible results of an encoded reply to a call of that procedure, likewise. Item i belongs
/// to write chunk i. `write_lengths` are the lengths of the reply's write chunks. Version 4 and
/// direct access take an item for reduced when its chunk is not empty. A result that reports an
/// error has an `absent` item there, since it uses up its write chunk. Nothing when the RPC reply
/// itself reports an error.
std::vector<EligibleItem> eligible_results(View rpc_reply, std::uint32_t program,
                                           std::uint32_t version, std::uint32_t procedure,
                                           std::span<const std::uint32_t> write_lengths,
                                           wire::Fault* fault = nullptr);

}  // namespace steertag::nfs
