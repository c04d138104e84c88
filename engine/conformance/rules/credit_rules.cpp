// Rules on credits and receives: checks and texts.
#include "conformance/rules/credit_rules.h"

#include <algorithm>

#include "conformance/text.h"

namespace steertag::conformance {

namespace {

void check_grant_limit(const Message& message, const Credits& credits, Connection& connection) {
  if (credits.allows_one_more()) return;
  const Rule& rule = credits.granted() ? kCallsStayWithinGrant : kFirstCallGoesAlone;
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected = credits.granted()
                            ? say("at most ", credits.latest(), " outstanding calls, as granted")
                            : "one outstanding call until the first reply";
    finding->observed =
        say("rdma_xid ", Hex{message.words.xid}, " is outstanding call ", credits.in_flight() + 1);
  }
}

}  // namespace

void check_call_credits(const Message& message, Connection& connection) {
  const Credits& credits = connection.direction(message.sender).credits;
  check_grant_limit(message, credits, connection);

  // A call that requests zero credits needs one itself, so zero counts as one.
  const std::uint64_t requested = std::max<std::uint32_t>(message.words.credit, 1);
  if (credits.in_flight() + 1 > requested) {
    if (Finding* finding = open_finding(kCallsStayWithinRequest, message, connection)) {
      finding->expected = say("at most ", requested, " outstanding calls, as requested");
      finding->observed = say("rdma_xid ", Hex{message.words.xid}, " is outstanding call ",
                              credits.in_flight() + 1);
    }
  }

  const Receives& receives = connection.receives(message.sender);
  if (receives.known && receives.left() < credits.in_flight() + 1) {
    if (Finding* finding = open_finding(kReceivesCoverCalls, message, connection)) {
      finding->expected = say(credits.in_flight() + 1, " posted receives, one per reply");
      finding->observed = say(receives.left(), " posted receives");
    }
  }
}

void check_grant(const Message& message, Connection& connection) {
  const std::uint32_t grant = message.words.credit;
  if (grant == 0) {
    if (Finding* finding = open_finding(kGrantIsNotZero, message, connection)) {
      finding->expected = "a grant of at least 1";
      finding->observed = say("rdma_credit 0 in the answer with rdma_xid ", Hex{message.words.xid});
    }
    return;
  }
  // A message that waits for its answer occupies a receive, also if it is faulty.
  const Receives& receives = connection.receives(message.sender);
  const std::size_t pending = connection.direction(trace::other(message.sender)).calls.size();
  if (!receives.known || receives.left() + pending >= grant) return;
  if (Finding* finding = open_finding(kReceivesCoverGrant, message, connection)) {
    finding->expected =
        say("posted receives and pending messages that make up the grant of ", grant);
    finding->observed = say(receives.left(), " posted receives and ", pending, " pending messages");
  }
}

void check_receive(const trace::Event& event, const trace::ReceivePosted& posted,
                   Connection& connection) {
  if (posted.size == 0) return;  // not told
  if (posted.size < wire::kDefaultInlineBytes) {
    if (Finding* finding =
            connection.findings.open(kReceiveTakes1024Octets, event.actor, event.index)) {
      finding->expected = "a receive of at least 1024 octets";
      finding->observed = say("a receive of ", posted.size, " octets");
    }
    return;
  }
  const auto& announced = connection.private_data[static_cast<std::size_t>(event.actor)];
  if (!announced || posted.size >= announced->receive_bytes) return;
  if (Finding* finding =
          connection.findings.open(kReceiveIsAsAnnounced, event.actor, event.index)) {
    finding->expected = say("a receive of ", announced->receive_bytes, " octets, as announced");
    finding->observed = say("a receive of ", posted.size, " octets");
  }
}

}  // namespace steertag::conformance
