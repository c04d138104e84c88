// Results of direct access.
#include "client/direct/direct_calls.h"

namespace steertag::peer {
namespace {

/// Data and roundup are not in the stream (RFC 8166 3.4.5): the fields are read one by one. False
/// if the count of the data is not that of the item.
bool take_reduced(wire::Reader& reader, View item, direct::ReadResult& result) {
  rpc::decode_value(reader, result.status, "status", 0);
  if (result.status != nfs4::Status::NFS4_OK) return item.empty();
  result.resok4.change = reader.u64("change");
  result.resok4.size = reader.u64("size");
  result.resok4.eof = reader.boolean("eof");
  const std::uint32_t length = reader.u32("data");
  result.resok4.data = item;
  rpc::decode_value(reader, result.resok4.refs, "refs", direct::kMostReferences);
  return length == item.size();
}

CallError bad_results(const wire::Reader& reader, const char* procedure) {
  const std::string counts = std::string(procedure) + ": other octets than its counts say";
  return {CallErrc::bad_results, reader.ok() ? counts : reader.fault().message()};
}

}  // namespace

Expected<direct::ReadResult, CallError> decode_direct_read(const CallReply& reply) {
  if (!reply.item_reduced) return decode_results<direct::ReadResult>(reply.results);
  wire::Reader reader(reply.results);
  direct::ReadResult result;
  const bool counted = take_reduced(reader, reply.item, result);
  if (counted && reader.ok() && reader.remaining() == 0) return result;
  return tl::unexpected(bad_results(reader, "READ"));
}

Request batch_call(const direct::BatchArgs& args, const Identity& identity) {
  Request request = direct_call(direct::Procedure::DIRECTPROC1_BATCH, args, identity);
  for (const direct::ReadArgs& each : args.reads) request.results.push_back(each.count);
  return request;
}

Expected<direct::BatchResult, CallError> decode_direct_batch(const CallReply& reply) {
  if (!reply.item_reduced) return decode_results<direct::BatchResult>(reply.results);
  wire::Reader reader(reply.results);
  direct::BatchResult batch;
  const std::uint32_t count = reader.u32("results");
  bool counted = count == reply.items.size();
  for (std::uint32_t i = 0; counted && i < count && reader.ok(); ++i)
    counted = take_reduced(reader, reply.items[i], batch.results.emplace_back());
  if (counted && reader.ok() && reader.remaining() == 0) return batch;
  return tl::unexpected(bad_results(reader, "BATCH"));
}

}  // namespace steertag::peer
