// Test support: builds the events of a connection step by step for a judge.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/judge.h"
#include "wire/draft.h"
#include "wire/header.h"
#include "wire/private_data.h"
#include "wire/xdr.h"

namespace steertag::conformance {

using trace::Role;

inline void PrintTo(const Finding& finding, std::ostream* out) {
  *out << finding.rule << " (" << finding.requirement->id << ") by "
       << (finding.culprit == Role::client ? "client" : "server") << " at event " << finding.event
       << ": expected " << finding.expected << "; observed " << finding.observed;
}

/// The judge's only finding is this one, at the event of that index.
inline void expect_only(const Judge& judge, std::uint64_t event, std::string_view rule,
                        std::string_view id, Role culprit) {
  ASSERT_THAT(judge.findings(), testing::SizeIs(1));
  const Finding& finding = judge.findings().front();
  EXPECT_EQ(finding.rule, rule) << testing::PrintToString(finding);
  EXPECT_EQ(finding.requirement->id, id);
  EXPECT_EQ(finding.culprit, culprit);
  EXPECT_EQ(finding.event, event);
  EXPECT_FALSE(finding.expected.empty());
  EXPECT_FALSE(finding.observed.empty());
}

/// An RPC call header with AUTH_NONE, without its arguments.
inline Bytes rpc_call(std::uint32_t xid, std::uint32_t program = 400000, std::uint32_t version = 1,
                      std::uint32_t procedure = 1, View arguments = {}) {
  Bytes out;
  wire::Writer writer(out);
  for (const std::uint32_t word : {xid, 0u, 2u, program, version, procedure, 0u, 0u, 0u, 0u}) {
    writer.u32(word);
  }
  writer.raw(arguments);
  return out;
}

/// An accepted RPC reply, without its results.
inline Bytes rpc_reply(std::uint32_t xid, View results = {}) {
  Bytes out;
  wire::Writer writer(out);
  for (const std::uint32_t word : {xid, 1u, 0u, 0u, 0u, 0u}) writer.u32(word);
  writer.raw(results);
  return out;
}

inline Bytes words(std::initializer_list<std::uint32_t> values) {
  Bytes out;
  wire::Writer writer(out);
  for (const std::uint32_t value : values) writer.u32(value);
  return out;
}

/// A header with the XID and credit that most tests use.
inline wire::Header header(std::uint32_t xid, std::uint32_t credit = 32) {
  wire::Header out;
  out.xid = xid;
  out.credit = credit;
  return out;
}

inline wire::Header nomsg(std::uint32_t xid, std::uint32_t credit = 32) {
  wire::Header out = header(xid, credit);
  out.proc = wire::Procedure::nomsg;
  return out;
}

/// `head` with one more read segment or write chunk, or with a reply chunk of one segment.
inline wire::Header with_read(wire::Header head, std::uint32_t position, wire::Segment target) {
  head.read_list.push_back({position, target});
  return head;
}
inline wire::Header with_write(wire::Header head, const std::vector<wire::Segment>& chunk) {
  head.write_list.add(chunk);
  return head;
}
inline wire::Header with_reply_chunk(wire::Header head, wire::Segment segment) {
  head.has_reply_chunk = true;
  head.reply_chunk = {segment};
  return head;
}

inline wire::Segment with_length(wire::Segment segment, std::uint32_t length) {
  segment.length = length;
  return segment;
}

/// What a side announces unless a test says otherwise: 4096 octets both ways, and R.
inline wire::PrivateData announcement(bool invalidation = true, std::uint32_t bytes = 4096) {
  return {invalidation, bytes, bytes};
}

/// Each step returns the builder, so that steps can be chained.
class TraceBuilder {
 public:
  explicit TraceBuilder(Visibility visibility = {}) : judge_(visibility) {}

  TraceBuilder& event(Role actor, trace::Body body) {
    if (is_lost_ && is_lost_()) {
      behind_loss_ = true;
      ++next_;
      return *this;
    }
    if (std::exchange(behind_loss_, false)) judge_.forget_history();
    judge_.on_event({next_, static_cast<std::int64_t>(next_) * 1000, actor, body});
    ++next_;
    return *this;
  }

  /// Opens the connection with these announcements.
  TraceBuilder& open(std::optional<wire::PrivateData> client = announcement(),
                     std::optional<wire::PrivateData> server = announcement()) {
    Bytes octets;
    if (client) wire::encode(*client, octets);
    event(Role::client, trace::Connect{octets});
    octets.clear();
    if (server) wire::encode(*server, octets);
    return event(Role::server, trace::Accept{octets});
  }

  TraceBuilder& send(Role actor, View bytes, std::optional<std::uint32_t> invalidated = {}) {
    return event(actor, trace::Send{bytes, invalidated});
  }
  TraceBuilder& send(Role actor, const wire::Header& head, View payload = {},
                     std::optional<std::uint32_t> invalidated = {}) {
    Bytes bytes;
    wire::encode(head, bytes);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return send(actor, bytes, invalidated);
  }
  TraceBuilder& send(Role actor, const wire::Draft& draft) {
    Bytes bytes;
    wire::encode(draft, bytes);
    return send(actor, bytes);
  }

  /// A short call and a short reply of the forward direction.
  TraceBuilder& call(std::uint32_t xid, std::uint32_t credit = 32) {
    return send(Role::client, header(xid, credit), rpc_call(xid));
  }
  TraceBuilder& reply(std::uint32_t xid, std::uint32_t grant = 32) {
    return send(Role::server, header(xid, grant), rpc_reply(xid));
  }
  /// The same with this header. The RPC message of an RDMA_NOMSG is in a chunk.
  TraceBuilder& call(const wire::Header& head) {
    return send(Role::client, head, payload_of(head, rpc_call(head.xid)));
  }
  TraceBuilder& reply(const wire::Header& head) {
    return send(Role::server, head, payload_of(head, rpc_reply(head.xid)));
  }
  /// `count` short calls with XIDs from `first` on.
  TraceBuilder& calls(std::uint32_t first, std::uint32_t count, std::uint32_t credit = 32) {
    for (std::uint32_t i = 0; i < count; ++i) call(first + i, credit);
    return *this;
  }
  /// A short call and its short reply.
  TraceBuilder& exchange(std::uint32_t xid, std::uint32_t grant = 32) {
    return call(xid).reply(xid, grant);
  }
  TraceBuilder& reverse_call(std::uint32_t xid, std::uint32_t credit = 2) {
    return send(Role::server, header(xid, credit), rpc_call(xid, 0x40000000));
  }
  TraceBuilder& reverse_reply(std::uint32_t xid, std::uint32_t grant = 2) {
    return send(Role::client, header(xid, grant), rpc_reply(xid));
  }
  /// RDMA_ERROR/ERR_CHUNK.
  TraceBuilder& err_chunk(Role actor, std::uint32_t xid, std::uint32_t credit = 32,
                          std::uint32_t vers = wire::kVersion) {
    return send(actor, words({xid, vers, credit, 4, 2}));
  }
  TraceBuilder& err_vers(Role actor, std::uint32_t xid, std::uint32_t vers, std::uint32_t low = 1,
                         std::uint32_t high = 1, std::uint32_t credit = 32) {
    return send(actor, words({xid, vers, credit, 4, 1, low, high}));
  }

  TraceBuilder& write(std::uint32_t stag, std::uint64_t offset, std::uint64_t length,
                      Role actor = Role::server) {
    return event(actor, trace::RdmaWrite{stag, offset, length, {}});
  }
  TraceBuilder& read(std::uint32_t stag, std::uint64_t offset, std::uint64_t length,
                     Role actor = Role::server) {
    return event(actor, trace::RdmaRead{stag, offset, length});
  }
  TraceBuilder& read_response(std::uint64_t length, Role owner = Role::client) {
    return event(owner, trace::RdmaReadResponse{1, 0, length});
  }

  TraceBuilder& stop_observing() {
    judge_.stop_observing();
    return *this;
  }
  /// From now on events for which `is_lost` is true do not reach the judge. It learns of the loss
  /// as from a capture reader.
  TraceBuilder& lose(std::function<bool()> is_lost) {
    is_lost_ = std::move(is_lost);
    return *this;
  }
  TraceBuilder& forget_history() {
    judge_.forget_history();
    return *this;
  }
  const Judge& judge() const { return judge_; }
  /// Index of the latest event.
  std::uint64_t last() const { return next_ - 1; }

  /// The number of findings.
  std::size_t findings() const { return judge_.findings().size(); }

  TraceBuilder& expect_nothing() {
    EXPECT_THAT(judge_.findings(), testing::IsEmpty());
    return *this;
  }

  /// The only finding, for the latest event.
  void expect(std::string_view rule, std::string_view id, Role culprit) const {
    ASSERT_THAT(judge_.findings(), testing::SizeIs(1));
    expect_last(rule, id, culprit);
  }
  /// The latest finding, after one for an earlier event.
  void expect_second(std::string_view rule, std::string_view id, Role culprit) const {
    ASSERT_THAT(judge_.findings(), testing::SizeIs(2));
    EXPECT_LT(judge_.findings().front().event, last());
    expect_last(rule, id, culprit);
  }

 private:
  static Bytes payload_of(const wire::Header& head, Bytes message) {
    return head.proc == wire::Procedure::nomsg ? Bytes{} : message;
  }

  void expect_last(std::string_view rule, std::string_view id, Role culprit) const {
    const Finding& finding = judge_.findings().back();
    EXPECT_EQ(finding.rule, rule) << testing::PrintToString(finding);
    EXPECT_EQ(finding.requirement->id, id) << testing::PrintToString(finding);
    EXPECT_EQ(finding.culprit, culprit) << testing::PrintToString(finding);
    EXPECT_EQ(finding.event, last()) << testing::PrintToString(finding);
    EXPECT_FALSE(finding.expected.empty());
    EXPECT_FALSE(finding.observed.empty());
  }

  Judge judge_;
  std::uint64_t next_ = 0;
  std::function<bool()> is_lost_;
  bool behind_loss_ = false;
};

/// A connection that was opened with these announcements.
inline TraceBuilder opened(std::optional<wire::PrivateData> client = announcement(),
                           std::optional<wire::PrivateData> server = announcement()) {
  TraceBuilder trace;
  trace.open(client, server);
  return trace;
}

}  // namespace steertag::conformance
