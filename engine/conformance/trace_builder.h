// Test support: builds the events of a connection step by step and hands them to a judge.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>
#include <string>
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

/// An RPC call header with AUTH_NONE; `arguments` follow.
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

/// An accepted RPC reply; `results` follow.
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

/// A header with the XID and credit of most tests.
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

/// What a side announces unless a test says otherwise: 4096 octets both ways, and R.
inline wire::PrivateData announcement(bool invalidation = true, std::uint32_t bytes = 4096) {
  return {invalidation, bytes, bytes};
}

class TraceBuilder {
 public:
  explicit TraceBuilder(Visibility visibility = {}) : judge_(visibility) {}

  void event(Role actor, trace::Body body) {
    judge_.on_event({next_, static_cast<std::int64_t>(next_) * 1000, actor, body});
    ++next_;
  }

  /// Opens the connection with these announcements.
  TraceBuilder& open(std::optional<wire::PrivateData> client = announcement(),
                     std::optional<wire::PrivateData> server = announcement()) {
    Bytes octets;
    if (client) wire::encode(*client, octets);
    event(Role::client, trace::Connect{octets});
    octets.clear();
    if (server) wire::encode(*server, octets);
    event(Role::server, trace::Accept{octets});
    return *this;
  }

  void send(Role actor, View bytes, std::optional<std::uint32_t> invalidated = {}) {
    event(actor, trace::Send{bytes, invalidated});
  }
  void send(Role actor, const wire::Header& head, View payload = {},
            std::optional<std::uint32_t> invalidated = {}) {
    Bytes bytes;
    wire::encode(head, bytes);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    send(actor, bytes, invalidated);
  }
  void send(Role actor, const wire::Draft& draft) {
    Bytes bytes;
    wire::encode(draft, bytes);
    send(actor, bytes);
  }

  /// A short call and a short reply of the forward direction.
  void call(std::uint32_t xid, std::uint32_t credit = 32) {
    send(Role::client, header(xid, credit), rpc_call(xid));
  }
  void reply(std::uint32_t xid, std::uint32_t grant = 32) {
    send(Role::server, header(xid, grant), rpc_reply(xid));
  }
  void reverse_call(std::uint32_t xid, std::uint32_t credit = 2) {
    send(Role::server, header(xid, credit), rpc_call(xid, 0x40000000));
  }
  void reverse_reply(std::uint32_t xid, std::uint32_t grant = 2) {
    send(Role::client, header(xid, grant), rpc_reply(xid));
  }
  /// RDMA_ERROR/ERR_CHUNK.
  void err_chunk(Role actor, std::uint32_t xid, std::uint32_t credit = 32,
                 std::uint32_t vers = wire::kVersion) {
    send(actor, words({xid, vers, credit, 4, 2}));
  }
  void err_vers(Role actor, std::uint32_t xid, std::uint32_t vers, std::uint32_t low = 1,
                std::uint32_t high = 1, std::uint32_t credit = 32) {
    send(actor, words({xid, vers, credit, 4, 1, low, high}));
  }

  void write(std::uint32_t stag, std::uint64_t offset, std::uint64_t length,
             Role actor = Role::server) {
    event(actor, trace::RdmaWrite{stag, offset, length, {}});
  }
  void read(std::uint32_t stag, std::uint64_t offset, std::uint64_t length,
            Role actor = Role::server) {
    event(actor, trace::RdmaRead{stag, offset, length});
  }
  void read_response(std::uint64_t length, Role owner = Role::client) {
    event(owner, trace::RdmaReadResponse{1, 0, length});
  }

  void lose_sight() { judge_.lose_sight(); }
  const Judge& judge() const { return judge_; }
  /// Index of the latest event.
  std::uint64_t last() const { return next_ - 1; }

  void expect_nothing() const { EXPECT_THAT(judge_.findings(), testing::IsEmpty()); }

  /// Exactly one finding, by the latest event.
  void expect(std::string_view rule, std::string_view id, Role culprit) const {
    ASSERT_THAT(judge_.findings(), testing::SizeIs(1));
    const Finding& finding = judge_.findings().front();
    EXPECT_EQ(finding.rule, rule) << testing::PrintToString(finding);
    EXPECT_EQ(finding.requirement->id, id) << testing::PrintToString(finding);
    EXPECT_EQ(finding.culprit, culprit) << testing::PrintToString(finding);
    EXPECT_EQ(finding.event, last()) << testing::PrintToString(finding);
    EXPECT_FALSE(finding.expected.empty());
    EXPECT_FALSE(finding.observed.empty());
  }

 private:
  Judge judge_;
  std::uint64_t next_ = 0;
};

}  // namespace steertag::conformance
