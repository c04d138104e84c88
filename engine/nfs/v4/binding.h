// The upper-layer binding of NFS version 4 to RPC-over-RDMA (RFC 8267 6).
// It gives the DDP-eligible items of a COMPOUND, in the order of the payload stream.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "nfs/binding.h"
#include "nfs/item_walk.h"
#include "nfs/v4/operations.h"
#include "support/bytes.h"
#include "wire/xdr.h"

namespace steertag::nfs4 {

/// One row of the binding, the same for every minor version (RFC 8267 6.1). Callbacks have none.
struct BindingRow {
  Opnum operation;
  nfs::ItemIn in;
  std::string_view item;  // the RFC's name of the field
};
std::span<const BindingRow> binding_table();

using nfs::ItemWalk;

/// The eligible arguments of a COMPOUND4args that the reader stands before. `read_positions` are
/// the positions of the call's read chunks: an item at one of them is not in this payload.
/// Positions and offsets of faults count from the reader's start. Values are not judged
/// (wire::Values::any).
ItemWalk eligible_arguments(wire::Reader& reader, std::span<const std::uint32_t> read_positions);

/// The eligible results of a COMPOUND4res likewise. `write_lengths` are the lengths of the reply's
/// write chunks. The first belongs to the first operation with an eligible result, and so on (RFC
/// 8267 6.4.1). A chunk that is not empty holds the item. An operation that failed is in the list
/// as `absent`, because it uses up its write chunk.
ItemWalk eligible_results(wire::Reader& reader, std::span<const std::uint32_t> write_lengths);

}  // namespace steertag::nfs4
