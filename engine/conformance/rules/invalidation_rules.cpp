// Rules on Send with Invalidate: checks and texts.
#include "conformance/rules/invalidation_rules.h"

#include <algorithm>

#include "conformance/text.h"

namespace steertag::conformance {

bool offers(const wire::Header& header, std::uint32_t stag) {
  const auto same = [stag](const wire::Segment& segment) { return segment.handle == stag; };
  for (std::size_t i = 0; i < header.write_list.size(); ++i) {
    if (std::any_of(header.write_list[i].begin(), header.write_list[i].end(), same)) return true;
  }
  return std::any_of(header.reply_chunk.begin(), header.reply_chunk.end(), same) ||
         std::any_of(header.read_list.begin(), header.read_list.end(),
                     [&](const wire::ReadSegment& segment) { return same(segment.target); });
}

void check_invalidation(const Message& message, const Call* call, Connection& connection) {
  if (!message.invalidated) return;
  const std::uint32_t stag = *message.invalidated;
  if (connection.established() && !connection.negotiated.remote_invalidation) {
    if (Finding* finding = open_finding(kInvalidationNeedsBothFlags, message, connection)) {
      finding->expected = "a plain Send, as not both sides set R";
      finding->observed = say("Send with Invalidate of STag ", Hex{stag});
    }
    return;
  }
  if (call == nullptr ? connection.direction(trace::other(message.sender)).history_incomplete
                      : !call->clear() || offers(call->header, stag)) {
    return;
  }
  if (Finding* finding = open_finding(kInvalidatedStagBelongsToTheXid, message, connection)) {
    finding->expected = say("an STag that the call with XID ", Hex{message.words.xid}, " offered");
    finding->observed = say("Send with Invalidate of STag ", Hex{stag});
  }
}

}  // namespace steertag::conformance
