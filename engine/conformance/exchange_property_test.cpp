// Random legal exchanges give no finding; random events never accuse the wrong side or crash.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <random>

#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

/// Conforming peers. The requester keeps within its credits. The responder pulls, pushes and
/// answers in any order. Numbers from rapidcheck drive both.
class LegalPeers {
 public:
  explicit LegalPeers(TraceBuilder& trace, Role requester) : trace_(trace), requester_(requester) {}

  void step(std::uint32_t choice) {
    random_.seed(choice);
    const bool may_call = calls_.size() < std::min<std::size_t>(grant_, kRequest);
    if (may_call && (calls_.empty() || choice % 3 != 0)) {
      call();
    } else if (!calls_.empty()) {
      answer(choice % calls_.size());
    }
  }
  void drain() {
    while (!calls_.empty()) answer(0);
  }

 private:
  static constexpr std::uint32_t kRequest = 16;

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  std::vector<wire::Segment> segments(std::uint32_t most) {
    std::vector<wire::Segment> out(below(most + 1));
    for (wire::Segment& each : out) {
      each = {next_stag_++, below(5000), 0x1000u * next_stag_};
      if (requester_ == Role::server) each.handle |= 0x80000000u;
    }
    return out;
  }

  void call() {
    wire::Header head = header(++xid_, kRequest);
    const bool is_long = below(4) == 0;
    if (is_long) {
      head.proc = wire::Procedure::nomsg;
      head.read_list.push_back({0, {next_stag_++, 40 + 4 * below(100), 64}});
    }
    for (const wire::Segment& each : segments(3)) head.read_list.push_back({40, each});
    for (std::uint32_t i = below(3); i > 0; --i) head.write_list.add(segments(3));
    if (below(2) == 0) {
      head.has_reply_chunk = true;
      head.reply_chunk = segments(2);
      head.reply_chunk.push_back({next_stag_++, 4096, 0});
    }
    trace_.send(requester_, head, is_long ? Bytes{} : rpc_call(xid_));
    calls_.push_back(head);
  }

  /// Fills segments in order with at most `octets`; returns the rest.
  std::uint32_t fill(std::span<wire::Segment> chunk, std::uint32_t octets) {
    for (wire::Segment& each : chunk) {
      each.length = std::min(each.length, octets);
      octets -= each.length;
      // Two writes, so that the sum counts too.
      const std::uint32_t half = each.length / 2;
      trace_.write(each.handle, each.offset, half, trace::other(requester_));
      trace_.write(each.handle, each.offset + half, each.length - half, trace::other(requester_));
    }
    return octets;
  }

  void answer(std::size_t which) {
    wire::Header head = calls_[which];
    calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(which));
    const Role responder = trace::other(requester_);
    grant_ = 1 + below(20);
    if (below(8) == 0) {
      trace_.err_chunk(responder, head.xid, grant_);
      return;
    }
    for (const wire::ReadSegment& each : head.read_list) {
      trace_.read(each.target.handle, each.target.offset, each.target.length, responder);
      trace_.read_response(each.target.length, requester_);
    }
    std::vector<std::uint32_t> handles;
    for (const wire::ReadSegment& each : head.read_list) handles.push_back(each.target.handle);
    for (const wire::Segment& each : head.reply_chunk) handles.push_back(each.handle);
    std::optional<std::uint32_t> invalidated;
    if (!handles.empty() && below(2) == 0) invalidated = handles[below(100) % handles.size()];

    head.read_list.clear();
    head.credit = grant_;
    head.proc = wire::Procedure::msg;
    for (std::size_t i = 0; i < head.write_list.size(); ++i)
      fill(head.write_list.at(i), below(9000));
    if (head.has_reply_chunk && below(2) == 0) {
      const std::uint32_t octets = 24 + 4 * below(500);
      std::vector<wire::Segment> chunk = head.reply_chunk;
      if (wire::chunk_length(chunk) >= octets) {
        head.proc = wire::Procedure::nomsg;
        fill(head.reply_chunk, octets);
        trace_.send(responder, head, {}, invalidated);
        return;
      }
    }
    for (wire::Segment& each : head.reply_chunk) each.length = 0;
    trace_.send(responder, head, rpc_reply(head.xid), invalidated);
  }

  TraceBuilder& trace_;
  Role requester_;
  std::uint32_t xid_ = 1000;  // the same in both directions
  std::uint32_t grant_ = 1;
  std::uint32_t next_stag_ = 1;
  std::deque<wire::Header> calls_;
  std::minstd_rand random_;
};

/// Complete legal exchanges of both directions.
void exchange(TraceBuilder& trace, const std::vector<std::uint32_t>& steps) {
  LegalPeers forward(trace, Role::client);
  LegalPeers reverse(trace, Role::server);
  for (const std::uint32_t step : steps) {
    for (std::uint32_t i = 0; i < 4; ++i) (step % 4 == 0 ? reverse : forward).step(step + i * 977);
  }
  forward.drain();
  reverse.drain();
  for (const Finding& finding : trace.judge().findings()) {
    RC_FAIL(testing::PrintToString(finding));
  }
}

RC_GTEST_PROP(Exchange, LegalExchangesGiveNoFinding, (const std::vector<std::uint32_t>& steps)) {
  TraceBuilder trace = opened();
  exchange(trace, steps);
}

/// A connection with losses: the capture lacks single events or long stretches, from the opening on
/// or later.
TraceBuilder opened_with_losses(std::uint32_t seed) {
  TraceBuilder trace;
  const auto is_lost = [seed, random = std::minstd_rand(seed), losing = false]() mutable {
    if (random() % (losing ? 1 + seed % 20 : 10 + seed % 50) == 0) losing = !losing;
    return losing;
  };
  if (seed % 2 == 0) trace.lose(is_lost);
  trace.open();
  trace.lose(is_lost);
  return trace;
}

RC_GTEST_PROP(Exchange, LegalExchangesGiveNoFindingWhereSomeIsLost,
              (const std::vector<std::uint32_t>& steps, std::uint32_t seed)) {
  TraceBuilder trace = opened_with_losses(seed);
  exchange(trace, steps);
}

wire::Draft mutated(wire::Draft draft, std::uint32_t how) {
  switch (how % 12) {
    case 0:
      draft.vers = how;
      break;
    case 1:
      draft.proc = how % 7;
      break;
    case 2:
      draft.read_list_end = how;
      break;
    case 3:
      draft.write_list_end = how;
      break;
    case 4:
      draft.reply_chunk_absent = how;
      break;
    case 5:
      draft.cut_to = how % 80;
      break;
    case 6:
      draft.append = words({how});
      break;
    case 7:
      draft.xid ^= how | 1;
      break;
    case 8:
      draft.payload.resize(how % 50);
      break;
    case 9:
      draft.read_list.push_back({1, {how, {1, how, how}}, false});
      break;
    case 10:
      draft.write_list.push_back({1, how, {{1, 64, how}}, false});
      break;
    case 11:
      draft.reply_chunk = wire::DraftChunk{how % 3, how % 5, {{1, 64, how}}, false};
      break;
  }
  return draft;
}

/// Whatever the client sends: a server breaks no rule if it answers each message once, with the
/// message's XID and version.
void with_hostile_client(TraceBuilder& trace, const std::vector<std::uint32_t>& hostilities) {
  std::uint32_t xid = 1;
  for (const std::uint32_t how : hostilities) {
    const std::uint32_t own = how % 5 == 0 ? xid : ++xid;  // sometimes in use
    Bytes bytes;
    wire::encode(mutated(wire::Draft::from(header(own), rpc_call(own)), how), bytes);
    trace.send(Role::client, bytes);
    const std::optional<wire::FixedWords> fixed = wire::peek(bytes);
    if (how % 3 == 0 || !fixed || bytes.size() < wire::kSmallestHeaderBytes) continue;
    if (fixed->proc == 3 || fixed->proc == 4) continue;  // to be discarded
    if (fixed->vers != wire::kVersion) {
      trace.err_vers(Role::server, fixed->xid, fixed->vers);
    } else {
      trace.err_chunk(Role::server, fixed->xid);
    }
  }
  for (const Finding& finding : trace.judge().findings()) {
    if (finding.culprit == Role::server) RC_FAIL(testing::PrintToString(finding));
  }
}

RC_GTEST_PROP(Exchange, AHostileClientDoesNotMakeTheServerACulprit,
              (const std::vector<std::uint32_t>& hostilities)) {
  TraceBuilder trace = opened();
  with_hostile_client(trace, hostilities);
}

RC_GTEST_PROP(Exchange, AHostileClientDoesNotMakeTheServerACulpritWhereSomeIsLost,
              (const std::vector<std::uint32_t>& hostilities, std::uint32_t seed)) {
  TraceBuilder trace = opened_with_losses(seed);
  with_hostile_client(trace, hostilities);
}

/// The same with the roles exchanged. A client breaks no rule if it sends plain calls, each after
/// the answer to the previous one.
void with_hostile_server(TraceBuilder& trace, const std::vector<std::uint32_t>& hostilities) {
  std::uint32_t xid = 1;
  for (const std::uint32_t how : hostilities) {
    trace.call(++xid);
    Bytes bytes;
    wire::encode(mutated(wire::Draft::from(header(xid, how % 3), rpc_reply(xid)), how), bytes);
    trace.send(Role::server, bytes);
    trace.write(how, how, how % 100);
    trace.reply(xid, how % 2);
  }
  for (const Finding& finding : trace.judge().findings()) {
    if (finding.culprit == Role::client) RC_FAIL(testing::PrintToString(finding));
  }
}

RC_GTEST_PROP(Exchange, AHostileServerDoesNotMakeTheClientACulprit,
              (const std::vector<std::uint32_t>& hostilities)) {
  TraceBuilder trace = opened();
  with_hostile_server(trace, hostilities);
}

RC_GTEST_PROP(Exchange, AHostileServerDoesNotMakeTheClientACulpritWhereSomeIsLost,
              (const std::vector<std::uint32_t>& hostilities, std::uint32_t seed)) {
  TraceBuilder trace = opened_with_losses(seed);
  with_hostile_server(trace, hostilities);
}

RC_GTEST_PROP(Exchange, JunkDoesNotCrash, (const std::vector<std::vector<std::uint8_t>>& sends)) {
  TraceBuilder trace = opened();
  std::uint32_t turn = 0;
  for (const std::vector<std::uint8_t>& octets : sends) {
    Bytes bytes = turn % 2 == 0 ? Bytes{} : words({turn % 5, 1, 1, turn % 6});
    for (const std::uint8_t octet : octets) bytes.push_back(std::byte{octet});
    trace.send(turn++ % 3 == 0 ? Role::server : Role::client, bytes);
    trace.write(turn % 4, octets.size(), octets.size());
    trace.read(turn % 4, octets.size(), octets.size());
    trace.read_response(octets.size());
  }
  RC_ASSERT(trace.findings() <= kMostFindings);
}

}  // namespace
}  // namespace steertag::conformance
