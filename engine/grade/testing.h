// Test helper of grading: passes one connection's events as a reader does.
#pragma once

#include <optional>

#include "conformance/trace_builder.h"
#include "grade/grader.h"

namespace steertag::grade {

using capture::FrameStamp;
using capture::LossKind;
using conformance::rpc_call;
using conformance::rpc_reply;
using trace::Role;

inline const capture::ConnectionName kName{capture::Fabric::iwarp,
                                           {"192.0.2.1:700", "192.0.2.2:20049"}};

/// Passes events to one connection of a grader. Each has a packet of its own, one millisecond
/// apart.
class EventFeed {
 public:
  explicit EventFeed(Grader& grader, const capture::ConnectionName& name = kName,
                     bool by_an_end = false)
      : stamp_{.by_an_end = by_an_end}, sink_(&grader.open(next_stamp(), name)) {}

  EventFeed& event(Role actor, const trace::Body& body) {
    sink_->on_event(stamp_, {events_++, stamp_.time_ns, actor, body});
    next_stamp();
    return *this;
  }
  EventFeed& open(std::optional<wire::PrivateData> client = conformance::announcement(),
                  std::optional<wire::PrivateData> server = conformance::announcement()) {
    Bytes octets;
    if (client) wire::encode(*client, octets);
    event(Role::client, trace::Connect{octets});
    octets.clear();
    if (server) wire::encode(*server, octets);
    return event(Role::server, trace::Accept{octets});
  }
  EventFeed& send(Role actor, const wire::Header& head, View payload,
                  std::optional<std::uint32_t> invalidated = {}) {
    Bytes bytes;
    wire::encode(head, bytes);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return event(actor, trace::Send{bytes, invalidated});
  }
  EventFeed& call(const wire::Header& head) { return send(Role::client, head, rpc_call(head.xid)); }
  EventFeed& reply(const wire::Header& head) {
    return send(Role::server, head, rpc_reply(head.xid));
  }
  EventFeed& loss(Role actor, LossKind kind) {
    sink_->on_loss(stamp_, actor, kind);
    next_stamp();
    return *this;
  }
  /// Moves to another packet.
  EventFeed& at(std::uint64_t frame) {
    stamp_.frame = frame;
    stamp_.time_ns = static_cast<std::int64_t>(frame) * 1'000'000;
    return *this;
  }
  /// `actor` acknowledges all packets so far.
  EventFeed& received(Role actor) {
    sink_->on_acknowledged(stamp_, actor, {stamp_.frame - 1, stamp_.time_ns});
    next_stamp();
    return *this;
  }
  /// A packet of the next message of `actor`.
  EventFeed& message_packet(Role actor, bool in_order = true) {
    sink_->on_message_packet(stamp_, actor, in_order);
    return *this;
  }
  void end(bool by_capture = false) { sink_->on_end(by_capture ? FrameStamp{} : stamp_); }

 private:
  FrameStamp next_stamp() {
    ++stamp_.frame;
    stamp_.time_ns += 1'000'000;
    return stamp_;
  }

  FrameStamp stamp_;
  capture::ConnectionSink* sink_;
  std::uint64_t events_ = 0;
};

}  // namespace steertag::grade
