// Rules on message forms: checks and texts.
#include "conformance/rules/form_rules.h"

#include "conformance/text.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

void check_inline_length(const Message& message, Connection& connection) {
  if (message.payload.size() % 4 == 0) return;
  if (Finding* finding = open_finding(kInlinePayloadIsRoundedUp, message, connection)) {
    finding->expected = "a multiple of four octets";
    finding->observed = say("a payload stream of ", message.payload.size(), " octets");
  }
}

void check_long_length(const Message& message, std::uint64_t length, Connection& connection) {
  if (length % 4 == 0) return;
  if (Finding* finding = open_finding(kLongPayloadIsRoundedUp, message, connection)) {
    finding->expected = "a multiple of four octets";
    finding->observed = say("a chunk of ", length, " octets");
  }
}

/// Of the results that are in write chunks.
std::uint64_t roundup_of_results(const wire::Header& reply) {
  std::uint64_t octets = 0;
  for (std::size_t chunk = 0; chunk < reply.write_list.size(); ++chunk) {
    const std::uint64_t length = wire::chunk_length(reply.write_list[chunk]);
    octets += wire::roundup4(length) - length;
  }
  return octets;
}

}  // namespace

bool keeps_roundup(const Message& reply) {
  const std::size_t odd = reply.payload.size() % 4;
  return odd != 0 && reply.inline_payload() && odd == roundup_of_results(*reply.header) % 4;
}

bool check_call_form(const Message& message, Connection& connection) {
  const std::optional<std::uint64_t> zero = position_zero_length(*message.header);
  if (message.inline_payload()) {
    check_inline_length(message, connection);
    if (!zero) return true;
    if (Finding* finding = open_finding(kPositionZeroChunkMakesANomsg, message, connection)) {
      finding->expected = "RDMA_NOMSG, or no read segment with position 0";
      finding->observed =
          say("RDMA_MSG with ", message.payload.size(),
              " octets of payload stream and a position-zero chunk of ", *zero, " octets");
    }
    return true;
  }
  if (zero && *zero > 0) {
    check_long_length(message, *zero, connection);
    return true;
  }
  if (Finding* finding = open_finding(kNomsgHoldsItsPayloadStream, message, connection)) {
    finding->expected = "a position-zero read chunk with the RPC call";
    finding->observed = zero ? "a position-zero read chunk of 0 octets"
                             : "RDMA_NOMSG without a read segment of position 0";
  }
  return false;
}

void check_reply_form(const Message& message, Connection& connection) {
  const wire::Header& header = *message.header;
  const std::uint64_t returned = wire::chunk_length(header.reply_chunk);
  if (message.inline_payload()) {
    if (!keeps_roundup(message)) {
      check_inline_length(message, connection);
    } else if (Finding* finding =
                   open_finding(kReducedResultsLeaveNoRoundup, message, connection)) {
      const std::uint64_t roundup = roundup_of_results(header);
      finding->expected = say("a payload stream without ", roundup, " octets of roundup");
      finding->observed = say("a payload stream of ", message.payload.size(), " octets");
    }
    if (returned == 0) return;
    if (Finding* finding = open_finding(kInlineReplyLeavesReplyChunkUnused, message, connection)) {
      finding->expected = "zero lengths, as the reply is in the Send";
      finding->observed = say("RDMA_MSG with ", returned, " octets in the reply chunk");
    }
    return;
  }
  if (returned > 0) return check_long_length(message, returned, connection);
  if (Finding* finding = open_finding(kNomsgHoldsItsPayloadStream, message, connection)) {
    finding->expected = "the RPC reply in the reply chunk";
    finding->observed = header.has_reply_chunk ? "RDMA_NOMSG with a reply chunk of 0 octets"
                                               : "RDMA_NOMSG without a reply chunk";
  }
}

}  // namespace steertag::conformance
