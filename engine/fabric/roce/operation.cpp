// The connection in full operation: the owner's calls, packets, and the reports of both halves.
#include <thread>
#include <utility>

#include "fabric/roce/connection.h"
#include "fabric/roce/port.h"

namespace steertag::fabric::roce {
namespace {

Unexpected<Error> fail(Errc code, std::string detail) {
  return tl::unexpected(Error{code, std::move(detail)});
}

Unexpected<Error> no_such_hook() {
  return fail(Errc::unsupported, "roce has no faults of MPA, DDP and RDMAP");
}

}  // namespace

void RoceConnection::settle() {
  if (state_ == State::accepting) {
    state_ = State::accepted;
    session_->accept(offer());
  }
  // An acknowledgement behind a Send is the shorter last packet of its run.
  if (transfers()) {
    requester_.transmit(now());
  }
  if (answers() && (waits_for_owner() || responder_.transmit())) {
    mark_unsettled();
  }
  if (state_ == State::draining && requester_.posted() == 0) {
    begin_end();
  }
}

// Whether an acknowledgement waits for what the owner posts next; once, until the next turn.
bool RoceConnection::waits_for_owner() {
  waited_ = !waited_ && state_ == State::operating && runtime_.notices > 0 &&
            runtime_.prompt_polls >= runtime_.limits.roce.prompt_polls &&
            requester_.posted() == 0 && responder_.only_acknowledges();
  return waited_;
}

void RoceConnection::on_packet(const Packet& packet) {
  if (!answers()) {
    return;
  }
  last_received_ = now();
  const OpcodeTraits& traits = packet.headers.traits();
  if (traits.is_request()) {
    const std::uint32_t expected = responder_.expected();
    responder_.take(packet);
    if (responder_.expected() != expected) {
      last_progress_ = last_received_;
      if (!responder_.between_messages()) {
        std::this_thread::sleep_for(options_.roce.blocks_inside_message);
      }
    }
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

void RoceConnection::send_bent(PacketHeaders packet, std::span<const View> payload,
                               const BentPacket& bent) {
  session_->send_bent(packet, payload, bent);
}

void RoceConnection::post_receive(MutableView buffer, WorkId id) {
  if (state_ == State::closed || responder_.receives().shared()) {
    return;
  }
  responder_.receives().post(buffer, id);
  observation_.receive_posted(buffer.size());
}

Expected<Outgoing*, Error> RoceConnection::queue(Operation kind, WorkId id, const Fault* fault) {
  if (fault != nullptr && !fault->packet) {
    return no_such_hook();
  }
  if (auto may = may_post(); !may) {
    return tl::unexpected(std::move(may.error()));
  }
  mark_unsettled();
  Outgoing& operation = requester_.post(kind, id);
  if (fault != nullptr) {
    operation.bent = fault->packet;
  }
  return &operation;
}

Expected<Posted*, Error> RoceConnection::post(Operation kind, WorkId id, const Fault* fault) {
  return queue(kind, id, fault);
}

Expected<void, Error> RoceConnection::post_read(ReadOrder order, WorkId id, const Fault* fault) {
  const auto operation = queue(Operation::rdma_read, id, fault);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  (*operation)->length = order.length;
  (*operation)->stag = order.stag;
  (*operation)->offset = order.offset;
  (*operation)->memory = std::move(order.memory);
  (*operation)->sink = order.sink;
  (*operation)->sink_stag = order.sink_stag;
  (*operation)->sink_offset = order.sink_offset;
  return {};
}

Expected<void, Error> RoceConnection::open_window(Region& region, Rights rights,
                                                  std::size_t length) {
  SoftwareRegion* const ours = own(region);
  if (ours == nullptr) {
    return fail(Errc::bad_region, "the region belongs to another domain");
  }
  if (state_ != State::operating) {
    return fail(Errc::not_connected, reason_ ? reason_->detail : std::string());
  }
  ours->open_window(windows_, rights, length);
  return {};
}

Expected<void, Error> RoceConnection::send_raw(View bytes) {
  if (session_ == nullptr) {
    return fail(Errc::not_connected, reason_ ? reason_->detail : std::string());
  }
  session_->send_octets(bytes);
  mark_unsettled();
  return {};
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
    case Operation::send:
      tell_send(operation);
      break;
    case Operation::rdma_write:
      tell_write(operation, offset, length);
      break;
    case Operation::rdma_read:
      observation_.by_us(trace::RdmaRead{operation.stag, operation.offset + offset, length});
      break;
  }
}

void RoceConnection::on_response(const Outgoing& operation, std::uint64_t offset, View payload) {
  octets_read_ += payload.size();
  observation_.by_peer(trace::RdmaReadResponse{operation.sink_stag, operation.sink_offset + offset,
                                               payload.size(), payload});
}

void RoceConnection::on_done(Operation kind, WorkId id) {
  mark_unsettled();
  give_completed(id, kind);
}

void RoceConnection::on_requester_failed(CloseReason reason) {
  const bool by_peer = reason.code == Errc::peer_terminated;
  finish(std::move(reason), false, by_peer ? trace::other(role_) : role_);
}

void RoceConnection::on_message(const PostedReceive& receive, MutableView bytes,
                                std::optional<std::uint32_t> invalidated) {
  take_message(receive, bytes, invalidated);
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
  if (state_ == State::operating) {
    session_->fail(psn, {refusal.syndrome, responder_.msn()});
  }
  finish({Errc::protocol_error, text("PSN 0x%06x: ", psn) + refusal.detail, {}, false}, false,
         role_);
}

void RoceConnection::on_source_closed(std::uint32_t psn) {
  if (state_ == State::operating) {
    session_->fail(psn, {kAccessError, responder_.msn()});
  }
  finish({Errc::local_close, "the source of an RDMA Read was closed meanwhile", {}, false}, false,
         role_);
}

}  // namespace steertag::fabric::roce
