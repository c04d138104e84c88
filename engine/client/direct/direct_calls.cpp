// Results of direct access.
#include "client/direct/direct_calls.h"

namespace steertag::peer {

Expected<direct::ReadResult, CallError> decode_direct_read(const CallReply& reply) {
  if (!reply.item_reduced) return decode_results<direct::ReadResult>(reply.results);
  // Data and roundup are not in the stream (RFC 8166 3.4.5): the fields are read one by one.
  wire::Reader reader(reply.results);
  direct::ReadResult result;
  rpc::decode_value(reader, result.status, "status", 0);
  result.resok4.change = reader.u64("change");
  result.resok4.size = reader.u64("size");
  result.resok4.eof = reader.boolean("eof");
  const std::uint32_t length = reader.u32("data");
  result.resok4.data = reply.item;
  rpc::decode_value(reader, result.resok4.refs, "refs", direct::kMostReferences);
  const bool whole = reader.ok() && reader.remaining() == 0 && length == reply.item.size();
  if (whole) return result;
  return tl::unexpected(
      CallError{CallErrc::bad_results,
                reader.ok() ? "READ: other octets than its count says" : reader.fault().message()});
}

}  // namespace steertag::peer
