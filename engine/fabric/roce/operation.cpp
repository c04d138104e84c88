// The connection in full operation: the owner's calls, packets, and the reports of both halves.
#include <utility>

#include "fabric/roce/connection.h"
#include "fabric/roce/port.h"
#include "fabric/sink.h"

namespace steertag::fabric::roce {
namespace {

constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 31;

Unexpected<Error> fail(Errc code, std::string detail) {
  return tl::unexpected(Error{code, std::move(detail)});
}

Unexpected<Error> no_such_hook() {
  return fail(Errc::unsupported, "roce has no faults below messages");
}

}  // namespace

void RoceConnection::settle() {
  unsettled_ = false;
  if (state_ == State::accepting) {
    state_ = State::accepted;
    session_->accept(offer());
  }
  if (answers() && responder_.transmit()) {
    mark_unsettled();
  }
  if (transfers()) {
    requester_.transmit(now());
  }
  if (state_ == State::draining && requester_.posted() == 0) {
    begin_end();
  }
  if (state_ == State::closed) {
    notify_closed();
    return;
  }
  update_deadline();
}

void RoceConnection::on_packet(const Packet& packet) {
  if (!answers()) {
    return;
  }
  last_received_ = now();
  const OpcodeTraits& traits = packet.headers.traits();
  if (traits.is_request()) {
    responder_.take(packet);
  } else if (traits.operation == wire::Operation::acknowledge) {
    requester_.take_acknowledge(packet, now());
  } else if (traits.operation == wire::Operation::read_response) {
    requester_.take_response(packet, now());
  }
  if (state_ != State::closed) {
    mark_unsettled();
  }
}

void RoceConnection::on_room() {
  if (state_ != State::closed) {
    mark_unsettled();
  }
}

bool RoceConnection::room() {
  return session_->room();
}

void RoceConnection::send(PacketHeaders packet, std::span<const View> payload) {
  session_->send(packet, payload);
}

void RoceConnection::post_receive(MutableView buffer, WorkId id) {
  if (state_ == State::closed) {
    return;
  }
  responder_.post(buffer, id);
  observation_.receive_posted(buffer.size());
}

Expected<Outgoing*, Error> RoceConnection::post(Operation kind, WorkId id, const Fault* fault) {
  if (fault != nullptr) {
    return no_such_hook();
  }
  if (state_ != State::operating) {
    return fail(Errc::not_connected, reason_ ? reason_->detail : std::string());
  }
  if (requester_.posted() >= runtime_.limits.posted_operations) {
    return fail(Errc::queue_full, std::to_string(runtime_.limits.posted_operations));
  }
  mark_unsettled();
  return &requester_.post(kind, id);
}

Expected<void, Error> RoceConnection::send(std::span<const View> parts, WorkId id,
                                           std::optional<std::uint32_t> invalidate,
                                           const Fault* fault) {
  std::uint64_t length = 0;
  for (const View& part : parts) {
    length += part.size();
  }
  if (length > kMostMessageBytes) {
    return fail(Errc::too_large, "a Send of " + std::to_string(length) + " octets");
  }
  const auto operation = post(Operation::send, id, fault);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  (*operation)->parts.assign(parts.begin(), parts.end());
  (*operation)->length = length;
  (*operation)->invalidate = invalidate.has_value();
  (*operation)->stag = invalidate.value_or(0);
  return {};
}

Expected<void, Error> RoceConnection::rdma_write(View from, std::uint32_t stag,
                                                 std::uint64_t offset, WorkId id,
                                                 const Fault* fault) {
  if (from.size() > kMostMessageBytes) {
    return fail(Errc::too_large, "an RDMA Write of " + std::to_string(from.size()) + " octets");
  }
  const auto operation = post(Operation::rdma_write, id, fault);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  (*operation)->parts.assign(1, from);
  (*operation)->length = from.size();
  (*operation)->stag = stag;
  (*operation)->offset = offset;
  return {};
}

Expected<void, Error> RoceConnection::rdma_read(Region& sink, std::uint64_t sink_offset,
                                                std::uint32_t length, std::uint32_t stag,
                                                std::uint64_t offset, WorkId id,
                                                const Fault* fault) {
  auto* region = dynamic_cast<SoftwareRegion*>(&sink);
  if (region == nullptr || &region->domain() != &domain_) {
    return fail(Errc::bad_region, "the sink belongs to another domain");
  }
  if (auto inside = check_sink(sink, sink_offset, length); !inside) {
    return inside;
  }
  if (state_ == State::operating && ord_ == 0) {
    return fail(Errc::unsupported, "the peer takes no RDMA Reads (ORD 0)");
  }
  if (length > kMostMessageBytes) {
    return fail(Errc::too_large, "an RDMA Read of " + std::to_string(length) + " octets");
  }
  const auto operation = post(Operation::rdma_read, id, fault);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  (*operation)->length = length;
  (*operation)->stag = stag;
  (*operation)->offset = offset;
  (*operation)->memory = region->memory();
  (*operation)->sink = region->bytes().data() + sink_offset;
  (*operation)->sink_stag = runtime_.stags.fresh_stag();
  (*operation)->sink_offset = sink_offset;
  return {};
}

Expected<void, Error> RoceConnection::open_window(Region& region, Rights rights,
                                                  std::size_t length) {
  auto* ours = dynamic_cast<SoftwareRegion*>(&region);
  if (ours == nullptr || &ours->domain() != &domain_) {
    return fail(Errc::bad_region, "the region belongs to another domain");
  }
  if (state_ != State::operating) {
    return fail(Errc::not_connected, reason_ ? reason_->detail : std::string());
  }
  ours->open_window(windows_, rights, length);
  return {};
}

Expected<void, Error> RoceConnection::send_raw(View /*bytes*/) {
  return no_such_hook();
}

Expected<void, Error> RoceConnection::terminate(const trace::Terminate& /*terminate*/) {
  return no_such_hook();
}

void RoceConnection::on_sending(const Outgoing& operation, std::uint64_t offset,
                                std::uint64_t length) {
  if (!observation_.wants_events()) {
    return;
  }
  switch (operation.kind) {
    case Operation::send: {
      std::optional<std::uint32_t> invalidated;
      if (operation.invalidate) {
        invalidated = operation.stag;
      }
      observation_.by_us(trace::Send{joined(operation), invalidated});
      break;
    }
    case Operation::rdma_write:
      observation_.by_us(trace::RdmaWrite{operation.stag, operation.offset + offset, length,
                                          operation.parts[0].subspan(offset, length)});
      break;
    case Operation::rdma_read:
      observation_.by_us(trace::RdmaRead{operation.stag, operation.offset + offset, length});
      break;
  }
}

// In one piece, like a received Send. Without observers there is no copy.
View RoceConnection::joined(const Outgoing& operation) {
  if (operation.parts.size() == 1) {
    return operation.parts[0];
  }
  runtime_.joined.clear();
  for (const View& part : operation.parts) {
    runtime_.joined.insert(runtime_.joined.end(), part.begin(), part.end());
  }
  return runtime_.joined;
}

void RoceConnection::on_response(const Outgoing& operation, std::uint64_t offset, View payload) {
  octets_read_ += payload.size();
  observation_.by_peer(
      trace::RdmaReadResponse{operation.sink_stag, operation.sink_offset + offset, payload.size()});
}

void RoceConnection::on_done(Operation kind, WorkId id) {
  mark_unsettled();
  if (handler_ != nullptr) {
    ++runtime_.notices;
    handler_->on_completed(*this, id, kind);
  }
}

void RoceConnection::on_requester_failed(CloseReason reason) {
  const bool by_peer = reason.code == Errc::peer_terminated;
  finish(std::move(reason), false, by_peer ? trace::other(role_) : role_);
}

void RoceConnection::on_message(const PostedReceive& receive, MutableView bytes,
                                std::optional<std::uint32_t> invalidated) {
  observation_.by_peer(trace::Send{bytes, invalidated});
  if (invalidated) {
    domain_.table().find(*invalidated)->invalidate();
  }
  if (handler_ != nullptr) {
    ++runtime_.notices;
    handler_->on_received(*this, receive.id, bytes, invalidated);
  }
}

void RoceConnection::on_write(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                              View payload) {
  if (observation_.wants_events()) {
    observation_.by_peer(trace::RdmaWrite{key, address, length, payload});
  }
}

void RoceConnection::on_read(const RdmaHeader& request) {
  observation_.by_peer(trace::RdmaRead{request.key, request.address, request.length});
}

// The peer's sink has no steering tag: the event has 0, and the offset of the source.
void RoceConnection::on_read_answered(const RdmaHeader& request, std::uint64_t offset,
                                      std::uint64_t length) {
  observation_.by_us(trace::RdmaReadResponse{0, request.address + offset, length});
}

void RoceConnection::on_refused_request(Refusal refusal, std::uint32_t psn) {
  session_->fail(psn, refusal.syndrome);
  finish({Errc::protocol_error, text("PSN 0x%06x: ", psn) + refusal.detail, {}, false}, false,
         role_);
}

void RoceConnection::on_source_closed(std::uint32_t psn) {
  session_->fail(psn, kAccessError);
  finish({Errc::local_close, "the source of an RDMA Read was closed meanwhile", {}, false}, false,
         role_);
}

}  // namespace steertag::fabric::roce
