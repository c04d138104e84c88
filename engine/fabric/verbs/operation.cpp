// The connection in full operation: the owner's calls, completions, and failures.
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>

#include "fabric/provider/sink.h"
#include "fabric/verbs/connection.h"

namespace steertag::fabric::verbs {
namespace {

Unexpected<Error> fail(Errc code, std::string detail) {
  return tl::unexpected(Error{code, std::move(detail)});
}

Unexpected<Error> no_such_hook() {
  return fail(Errc::unsupported, "the device makes the octets of the wire (verbs has no faults)");
}

Operation kind_of(const Outgoing& operation) {
  switch (operation.kind) {
    case Outgoing::Kind::rdma_write:
      return Operation::rdma_write;
    case Outgoing::Kind::rdma_read:
      return Operation::rdma_read;
    default:
      return Operation::send;
  }
}

// The Write or Read that the peer's memory does not allow.
std::optional<Denial> denial(const WorkFailure& failure) {
  if (failure.status != IBV_WC_REM_ACCESS_ERR || failure.operation == nullptr) {
    return std::nullopt;
  }
  const Operation kind = kind_of(*failure.operation);
  return kind == Operation::send ? std::nullopt
                                 : std::optional(Denial{kind, failure.operation->id});
}

// The culprit of a failed work request, and the consequence for its connection.
CloseReason reason_of(const WorkFailure& failure) {
  const std::string what = (failure.receive ? "receive " : "operation ") +
                           std::to_string(failure.number) + ": " +
                           ibv_wc_status_str(failure.status);
  switch (failure.status) {
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return {Errc::timed_out, what + ": the peer has posted no receive", {}, false};
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
      return {Errc::peer_reset, what, {}, false};
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
      // As responder to a message of the peer we see these too.
      return {failure.receive ? Errc::protocol_error : Errc::peer_terminated, what, {}, false};
    case IBV_WC_LOC_LEN_ERR:
      return {failure.receive ? Errc::protocol_error : Errc::bad_region, what, {}, false};
    default:
      return {failure.receive ? Errc::protocol_error : Errc::bad_region, what, {}, false};
  }
}

}  // namespace

void VerbsConnection::settle() {
  if (state_ == State::accepting) {
    accept_now();
  }
  if (transfers() && more_completions_) {
    poll_queue();
  }
  hand_over_receives();
  if (transfers()) {
    flush();
  }
  if (state_ == State::draining && queue_pair_.posted() == 0) {
    begin_end();
  }
}

void VerbsConnection::hand_over_receives() {
  if (state_ == State::closed) {
    return;
  }
  if (auto handed = queue_pair_.flush_receives(); !handed) {
    device_refused(std::move(handed.error()));
  }
}

// The device refuses receives, or operations while none is in flight: the connection cannot
// continue.
void VerbsConnection::device_refused(Error error) {
  const bool by_peer = error.code == Errc::peer_reset;
  finish({error.code, std::move(error.detail), {}, false}, false,
         by_peer ? trace::other(role_) : role_);
}

void VerbsConnection::flush() {
  while (transfers()) {
    const bool idle = queue_pair_.oldest_in_flight() == nullptr;
    auto posted = queue_pair_.flush_one();
    if (!posted) {
      device_refused(std::move(posted.error()));
      return;
    }
    if (*posted == nullptr) {
      return;
    }
    if (idle) {
      last_progress_ = runtime_.reactor.now();
    }
    notify_posted(**posted);
  }
}

void VerbsConnection::notify_posted(const Outgoing& operation) {
  if (!observation_.wants_events()) {
    return;
  }
  const View octets{operation.local.first(), operation.local.length()};
  switch (operation.kind) {
    case Outgoing::Kind::send: {
      std::optional<std::uint32_t> invalidated;
      if (operation.invalidate) {
        invalidated = operation.stag;
      }
      observation_.by_us(trace::Send{octets, invalidated});
      break;
    }
    case Outgoing::Kind::rdma_write:
      observation_.by_us(trace::RdmaWrite{operation.stag, operation.offset, octets.size(), octets});
      break;
    case Outgoing::Kind::rdma_read:
      observation_.by_us(trace::RdmaRead{operation.stag, operation.offset, octets.size()});
      break;
    case Outgoing::Kind::bind:
      break;
  }
}

void VerbsConnection::on_completions() {
  if (transfers()) {
    poll_queue();
    update_deadline();
  }
}

void VerbsConnection::poll_queue() {
  more_completions_ = queue_pair_.poll();
  if (state_ != State::closed) {
    mark_unsettled();  // there may be room for waiting work
  }
}

void VerbsConnection::on_done(const Outgoing& operation) {
  last_progress_ = runtime_.reactor.round_time();
  const Operation kind = kind_of(operation);
  if (kind == Operation::rdma_read) {
    octets_read_ += operation.local.length();
    const View payload(operation.local.first(), operation.local.length());
    observation_.by_peer(trace::RdmaReadResponse{operation.local.lkey(), operation.sink_offset,
                                                 payload.size(), payload});
  }
  give_completed(operation.id, kind);
}

void VerbsConnection::on_message(const PostedReceive& receive, MutableView bytes,
                                 std::optional<std::uint32_t> invalidated) {
  last_received_ = runtime_.reactor.round_time();
  observation_.by_peer(trace::Send{bytes, invalidated});
  if (invalidated) {
    if (VerbsRegion* const region = domain_.find(*invalidated); region != nullptr) {
      region->invalidate();
    }
  }
  give_received(receive.id, bytes, invalidated);
}

void VerbsConnection::on_failed(const WorkFailure& failure) {
  if (!transfers()) {
    return;
  }
  if (failure.status == IBV_WC_WR_FLUSH_ERR) {
    note_flush();
    return;
  }
  CloseReason reason = reason_of(failure);
  reason.denied = denial(failure);
  const bool by_peer = reason.code == Errc::peer_terminated || reason.code == Errc::peer_reset;
  finish(std::move(reason), false, by_peer ? trace::other(role_) : role_);
}

void VerbsConnection::note_flush() {
  if (!runtime_.device->iwarp()) {
    // Neither we nor the end of the connection stopped the queue pair: the peer's message did.
    finish({Errc::protocol_error, "the device stopped the queue pair", {}, false}, false, role_);
  } else if (!flushed_) {
    flushed_ = true;  // the end of the stream does so too: the connection manager will report it
    flushed_since_ = runtime_.reactor.now();
  }
}

void VerbsConnection::on_async_event(ibv_event_type type) {
  if (type == IBV_EVENT_COMM_EST) {
    if (state_ == State::accepted) {
      rdma_notify(id_.get(), type);  // a message arrived before the end of the startup
    }
    return;
  }
  // Messages received before the failure are still delivered, and may explain it better.
  while (transfers() && queue_pair_.poll()) {
  }
  if (transfers()) {
    finish({Errc::protocol_error, ibv_event_type_str(type), {}, false}, false, role_);
  }
}

void VerbsConnection::post_receive(MutableView buffer, WorkId id) {
  if (state_ == State::closed) {
    return;
  }
  queue_pair_.post_receive({buffer, id, {}});
  observation_.receive_posted(buffer.size());
  // At once: a message that leaves in this turn may need it.
  hand_over_receives();
}

Expected<void, Error> VerbsConnection::may_take(const Fault* fault) const {
  if (fault != nullptr) {
    return no_such_hook();
  }
  return may_post();
}

void VerbsConnection::post(Outgoing operation) {
  queue_pair_.post(std::move(operation));
  mark_unsettled();
}

Expected<void, Error> VerbsConnection::send(std::span<const View> parts, WorkId id,
                                            std::optional<std::uint32_t> invalidate,
                                            const Fault* fault) {
  if (auto may = may_take(fault); !may) {
    return may;
  }
  const std::uint64_t length = length_of(parts);
  if (length > runtime_.device->largest_message()) {
    return fail(Errc::too_large, "a Send of " + std::to_string(length) + " octets");
  }
  Outgoing operation;
  operation.id = id;
  operation.parts.assign(parts.begin(), parts.end());
  operation.invalidate = invalidate.has_value();
  operation.stag = invalidate.value_or(0);
  post(std::move(operation));
  return {};
}

Expected<void, Error> VerbsConnection::rdma_write(std::span<const View> parts, std::uint32_t stag,
                                                  std::uint64_t offset, WorkId id,
                                                  const Fault* fault) {
  if (auto may = may_take(fault); !may) {
    return may;
  }
  const std::uint64_t length = length_of(parts);
  if (length > runtime_.device->largest_message()) {
    return fail(Errc::too_large, "an RDMA Write of " + std::to_string(length) + " octets");
  }
  Outgoing operation;
  operation.kind = Outgoing::Kind::rdma_write;
  operation.id = id;
  operation.parts.assign(parts.begin(), parts.end());
  operation.stag = stag;
  operation.offset = offset;
  post(std::move(operation));
  return {};
}

Expected<void, Error> VerbsConnection::rdma_read(Region& sink, std::uint64_t sink_offset,
                                                 std::uint32_t length, std::uint32_t stag,
                                                 std::uint64_t offset, WorkId id,
                                                 const Fault* fault) {
  auto* region = dynamic_cast<VerbsRegion*>(&sink);
  if (region == nullptr || &region->domain() != &domain_) {
    return fail(Errc::bad_region, "the sink belongs to another domain");
  }
  if (auto inside = check_sink(sink, sink_offset, length); !inside) {
    return inside;
  }
  if (state_ == State::operating && ord_ == 0) {
    return fail(Errc::unsupported, "the peer takes no RDMA Reads (ORD 0)");
  }
  if (auto may = may_take(fault); !may) {
    return may;
  }
  if (length > runtime_.device->largest_message()) {
    return fail(Errc::too_large, "an RDMA Read of " + std::to_string(length) + " octets");
  }
  Outgoing operation;
  operation.kind = Outgoing::Kind::rdma_read;
  operation.id = id;
  operation.sink = region->memory();
  operation.sink_offset = sink_offset;
  operation.sink_length = length;
  operation.stag = stag;
  operation.offset = offset;
  post(std::move(operation));
  return {};
}

Expected<void, Error> VerbsConnection::open_window(Region& region, Rights rights,
                                                   std::size_t length) {
  auto* ours = dynamic_cast<VerbsRegion*>(&region);
  if (ours == nullptr || &ours->domain() != &domain_) {
    return fail(Errc::bad_region, "the region belongs to another domain");
  }
  if (!runtime_.device->windows() || length == 0) {
    return fail(Errc::unsupported, runtime_.device->name() + " gives no such memory window");
  }
  if (auto may = may_post(); !may) {
    return may;
  }
  const auto bind = ours->make_window(rights, length, queue_pair_.windows());
  if (!bind) {
    return fail(Errc::bad_region,
                "the device gives no further memory window: " + error_text(errno));
  }
  Outgoing operation;
  operation.kind = Outgoing::Kind::bind;
  operation.bind = *bind;
  post(std::move(operation));
  return {};
}

Expected<void, Error> VerbsConnection::send_raw(View /*bytes*/) {
  return no_such_hook();
}

Expected<void, Error> VerbsConnection::terminate(const trace::Terminate& /*terminate*/) {
  return no_such_hook();
}

}  // namespace steertag::fabric::verbs
