// The upper-layer binding of direct access to RPC-over-RDMA: the data of READ and BATCH results.
#pragma once

#include <cstdint>
#include <span>

#include "nfs/direct/procedures.h"
#include "nfs/item_walk.h"
#include "nfs/reply_size.h"

namespace steertag::direct {

/// The eligible items of the results that the reader stands before. Item i belongs to write chunk
/// i, as in nfs::eligible_results. A result with an error has an `absent` one. Other procedures
/// have none, and no fault.
nfs::ItemWalk eligible_results(wire::Reader& reader, Procedure procedure,
                               std::span<const std::uint32_t> write_lengths);

/// The largest reply to these arguments, RPC header included.
nfs::ReplySize largest_reply(const HelloArgs& args);
nfs::ReplySize largest_reply(const RefsArgs& args);
nfs::ReplySize largest_reply(const ReadArgs& args);
/// `eligible` is that of all READs.
nfs::ReplySize largest_reply(const BatchArgs& args);
nfs::ReplySize largest_reply(const ReturnArgs& args);
nfs::ReplySize largest_reply(const Void& args);

}  // namespace steertag::direct
