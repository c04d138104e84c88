// The connection in full operation: socket output, and deadlines.
//
// It handles the reports of receiver and transmitter.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "fabric/iwarp/connection.h"

namespace steertag::fabric::iwarp {
namespace {

// A connection's share of one turn, so that a flooding peer cannot starve the others.
constexpr int kMostWritesPerTurn = 16;
// RFC 5044 4.5: the MULPDU follows the EMSS. That of TCP follows the path, and at the start it is
// at most half of the peer's first window. Octets between two looks: one more system call for
// these.
constexpr std::uint64_t kEmssInterval = 256 * 1024;

// RFC 5040 4.8: RDMAP reports remote protection errors of Read Requests, DDP errors of tagged
// buffers.
std::optional<Denial> denial(const trace::Terminate& terminate) {
  const auto is = [&](const trace::Terminate& error) {
    return terminate.layer == error.layer && terminate.type == error.type;
  };
  if (is(cause::kReadStag)) {
    return Denial{Operation::rdma_read, {}};
  }
  return is(cause::kTaggedStag) ? std::optional(Denial{Operation::rdma_write, {}}) : std::nullopt;
}

}  // namespace

bool IwarpConnection::may_transmit() const {
  switch (state_) {
    case State::operating:
    case State::draining:
    case State::peer_ended:
      // RFC 5044 7.1.2: the responder sends no FPDU before the initiator's first.
      return role_ == trace::Role::client || fpdus_.fpdus_taken() > 0 || ungated_;
    case State::terminating:
      return true;
    default:
      return false;
  }
}

void IwarpConnection::flush() {
  if (state_ == State::replying) {
    flush_reply();
  }
  if (state_ == State::closed || state_ == State::replying) {
    return;
  }
  more_ = false;
  if (may_transmit()) {
    was_blocked_ = std::exchange(blocked_, false);
    int writes = 0;
    while (state_ != State::closed && send_some()) {
      if (++writes == kMostWritesPerTurn) {
        more_ = true;
        break;
      }
    }
  }
  if (state_ != State::closed) {
    after_flush();
  }
  if (state_ == State::operating) {
    wait_for_peer();
  }
}

void IwarpConnection::wait_for_peer() const {
  if (blocked_) {
    wait(POLLOUT, policy_.blocking.on_writes);
  } else if (receiver_.reads_outstanding() > 0) {
    wait(POLLIN, policy_.blocking.on_reads);
  }
}

// Returns whether more may be sent at once.
bool IwarpConnection::send_some() {
  if (!transmitter_.stage()) {
    return false;
  }
  std::array<iovec, kMostIovecs> room;
  const std::span<const iovec> pieces = transmitter_.gather(room);
  std::size_t total = 0;
  for (const iovec& piece : pieces) {
    total += piece.iov_len;
  }
  std::size_t count = 0;
  if (total > 0) {
    msghdr message{};
    message.msg_iov = room.data();
    message.msg_iovlen = pieces.size();
    const ssize_t sent = ::sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      send_failed(errno);
      return false;
    }
    count = static_cast<std::size_t>(sent);
  }
  last_sent_ = runtime_.reactor.round_time();
  observation_.octets_sent(pieces, count);
  blocked_ = count < total;
  transmitter_.sent(count);
  sent_since_emss_ += count;
  if (sent_since_emss_ >= kEmssInterval) {
    follow_emss();
  }
  return !blocked_;
}

void IwarpConnection::send_failed(int code) {
  if (code == EINTR) {
    mark_unsettled();
  } else if (code == EAGAIN) {
    // The start of the wait: another attempt is no progress.
    if (!was_blocked_) {
      last_sent_ = std::max(last_sent_, runtime_.reactor.round_time());
    }
    blocked_ = true;
    transmitter_.sent(0);
    watch();
  } else if (state_ == State::operating || state_ == State::draining) {
    // Octets that the peer sent before its end (a Terminate) are still unread. The read shows the
    // end.
    transmitter_.drop_all();
    receive();
    if (state_ == State::operating || state_ == State::draining) {
      stream_error(code);
    }
  } else {
    stream_error(code);
  }
}

void IwarpConnection::after_flush() {
  if (transmitter_.cut()) {
    finish({Errc::local_close, "cut by a fault hook", {}, false}, How::lingering, role_);
    return;
  }
  if (state_ == State::terminating && transmitter_.nothing_staged()) {
    finish(std::move(*reason_), How::lingering, role_);
    return;
  }
  if (state_ == State::peer_ended && !blocked_ && !more_) {
    const bool ours = reason_->code == Errc::local_close;
    finish(std::move(*reason_), How::lingering, ours ? role_ : trace::other(role_));
    return;
  }
  if (state_ == State::draining && (transmitter_.idle() || !may_transmit())) {
    socket_.end();
    observation_.end(role_, true);
    state_ = State::ending;
    ending_since_ = runtime_.reactor.now();
  }
  if (more_) {
    mark_unsettled();
  }
  watch();
}

void IwarpConnection::watch() {
  const std::uint32_t in = open() && !waits() ? std::uint32_t{EPOLLIN} : 0;
  const std::uint32_t out = blocked_ ? std::uint32_t{EPOLLOUT} : 0;
  runtime_.reactor.watch(key_, in | out);
}

Expiry IwarpConnection::next_expiry() const {
  const Limits& limits = runtime_.limits;
  Expiry next;
  // It is our side that takes nothing while a Send waits for a receive.
  const bool waiting = waits();
  const bool inside = !receives_are_empty() && !waiting;
  const bool operating = state_ == State::operating;
  const bool takes = operating || state_ == State::draining;
  const bool reading = operating && !waiting && receiver_.reads_outstanding() > 0;
  next.consider(state_ == State::replying || blocked_, Wait::room, last_sent_, limits.unsent);
  next.consider(takes && inside, Wait::rest, last_received_, limits.mid_message);
  next.consider(reading, Wait::read, last_read_, limits.unanswered_read);
  next.consider(state_ == State::draining, Wait::departure, ending_since_, limits.unsent);
  next.consider(state_ == State::ending, Wait::peers_end, ending_since_, limits.closing);
  next.consider(operating && !waiting && idle_timeout_.count() > 0, Wait::any_traffic,
                last_received_, idle_timeout_);
  return next;
}

void IwarpConnection::expire(Wait wait) {
  const Limits& limits = runtime_.limits;
  const auto give_up = [&](CloseReason reason) {
    reason.terminate = cause::kLocalCatastrophic;
    start_terminate({cause::kLocalCatastrophic, {}, 0, {}}, std::move(reason));
  };
  switch (wait) {
    case Wait::room:
      // The violation is reported even if our Terminate could not be sent.
      finish(state_ == State::terminating ? std::move(*reason_)
                                          : timed_out("the peer took no octets for", limits.unsent),
             How::reset, role_);
      break;
    case Wait::rest:
      give_up(timed_out(
          "FPDU " + std::to_string(fpdus_.fpdu_number()) + ": silence inside a message for",
          limits.mid_message));
      break;
    case Wait::read:
      give_up(timed_out(
          std::to_string(receiver_.reads_outstanding()) + " RDMA Reads went unanswered for",
          limits.unanswered_read));
      break;
    case Wait::departure:
      finish(std::move(*reason_), How::reset, role_);
      break;
    case Wait::peers_end:
      finish(std::move(*reason_), How::complete, role_);
      break;
    case Wait::any_traffic:
      finish(timed_out("no octets came for", idle_timeout_), How::lingering, role_);
      break;
    default:
      break;
  }
}

bool IwarpConnection::open() const {
  return state_ == State::operating || state_ == State::draining || state_ == State::ending;
}

void IwarpConnection::on_message(const PostedReceive& receive, MutableView bytes,
                                 std::optional<std::uint32_t> invalidated) {
  take_message(receive, bytes, invalidated);
}

void IwarpConnection::on_write_segment(const Segment& segment, View payload) {
  if (observation_.wants_events()) {
    observation_.by_peer(trace::RdmaWrite{segment.stag, segment.offset, payload.size(), payload});
  }
}

void IwarpConnection::on_read_request(const ReadRequest& request, std::uint32_t msn,
                                      SoftwareRegion* source) {
  observation_.by_peer(trace::RdmaRead{request.source_stag, request.source_offset, request.length});
  Outgoing& response = transmitter_.respond();
  response.read = request;
  response.msn = msn;
  response.stag = request.sink_stag;
  response.offset = request.sink_offset;
  response.length = request.length;
  if (source != nullptr) {
    response.parts.assign(1, View(source->at(request.source_offset), request.length));
    response.memory = source->memory();
  } else if (request.length > 0) {
    static constexpr std::array<std::byte, 4096> kNothing{};
    response.length = std::min<std::uint32_t>(request.length, kNothing.size());
    response.parts.assign(1, View(kNothing).first(response.length));
  }
  mark_unsettled();
}

void IwarpConnection::on_read_refused(const ReadRequest& request, const ReadRefusal& refusal,
                                      bool recoverable) {
  observation_.by_peer(trace::RdmaRead{request.source_stag, request.source_offset, request.length});
  if (!recoverable) {
    return;
  }
  // Among the responses, which keep the order of their requests.
  Outgoing& answer = transmitter_.respond();
  answer.kind = Outgoing::Kind::read_refusal;
  answer.refusal = refusal;
  mark_unsettled();
}

void IwarpConnection::on_response_segment(const Segment& segment, View payload) {
  last_read_ = runtime_.reactor.round_time();
  octets_read_ += payload.size();
  observation_.by_peer(
      trace::RdmaReadResponse{segment.stag, segment.offset, payload.size(), payload});
}

void IwarpConnection::on_read_done(WorkId id) {
  mark_unsettled();  // a read that waited for ORD may start
  give_completed(id, Operation::rdma_read);
}

void IwarpConnection::on_refusal(const ReadRefusal& refusal) {
  observation_.by_peer(trace::RdmaReadRefused{refusal.read_msn, refusal.cause});
}

void IwarpConnection::on_refused(WorkId id, const ReadRefusal& refusal) {
  last_read_ = runtime_.reactor.round_time();
  mark_unsettled();  // a read that waited for ORD may start
  give_read_refused(id, refusal.cause);
}

void IwarpConnection::on_terminate(View body) {
  const auto terminate = decode_terminate(body);
  CloseReason reason{Errc::peer_terminated, "a Terminate without content", {}, true};
  if (terminate) {
    observation_.by_peer(*terminate);
    reason.detail = describe(*terminate);
    reason.terminate = terminate;
    reason.denied = denial(*terminate);
  }
  finish(std::move(reason), How::lingering, trace::other(role_));
}

void IwarpConnection::on_framed(const Outgoing& operation, std::uint64_t offset,
                                std::size_t payload_bytes) {
  if (!observation_.wants_events() || operation.altered()) {
    return;
  }
  switch (operation.kind) {
    case Outgoing::Kind::send:
      tell_send(operation);
      break;
    case Outgoing::Kind::rdma_write:
      tell_write(operation, offset, payload_bytes);
      break;
    case Outgoing::Kind::read_response:
      observation_.by_us(
          trace::RdmaReadResponse{operation.stag, operation.offset + offset, payload_bytes});
      break;
    case Outgoing::Kind::read_refusal:
      observation_.by_us(
          trace::RdmaReadRefused{operation.refusal.read_msn, operation.refusal.cause});
      break;
    case Outgoing::Kind::read_request:
      observation_.by_us(trace::RdmaRead{operation.read.source_stag, operation.read.source_offset,
                                         operation.read.length});
      break;
    case Outgoing::Kind::raw:
      break;
  }
}

void IwarpConnection::on_read_queued(const Outgoing& operation, std::uint32_t sink_stag) {
  if (receiver_.reads_outstanding() == 0) {
    last_read_ = runtime_.reactor.round_time();
  }
  receiver_.expect({sink_stag, operation.read.sink_offset, operation.read.length, 0,
                    operation.memory, operation.sink, operation.id, operation.msn});
}

void IwarpConnection::on_left(Outgoing::Kind kind, WorkId id) {
  switch (kind) {
    case Outgoing::Kind::send:
    case Outgoing::Kind::rdma_write:
      give_completed(id, kind == Outgoing::Kind::send ? Operation::send : Operation::rdma_write);
      break;
    case Outgoing::Kind::read_response:
    case Outgoing::Kind::read_refusal:
      receiver_.inbound_read_answered();
      break;
    case Outgoing::Kind::read_request:
      last_read_ = runtime_.reactor.round_time();  // the peer cannot answer before
      break;
    case Outgoing::Kind::raw:
      break;
  }
}

bool IwarpConnection::may_read() const {
  return receiver_.reads_outstanding() < ord_ || !policy_.segments.limits_reads;
}

bool IwarpConnection::source_open(Outgoing& operation) {
  if (operation.length == 0 || !policy_.receive.refuses_read) {
    return true;
  }
  const SoftwareRegion* source = domain_.table().find(operation.read.source_stag);
  if (source != nullptr && source->memory() == operation.memory) {
    return true;
  }
  if (recovers_) {
    operation.kind = Outgoing::Kind::read_refusal;
    operation.refusal = {operation.msn, cause::kReadStag};
    return false;
  }
  // RFC 5040 4.8: the Read Request header shows the progress of the response.
  ReadRequest rest = operation.read;
  const auto done = static_cast<std::uint32_t>(operation.framed);
  rest.sink_offset += done;
  rest.source_offset += done;
  rest.length -= done;
  start_terminate({cause::kReadStag, {}, 0, rest},
                  {Errc::local_close, "the source of an RDMA Read was closed meanwhile",
                   cause::kReadStag, false});
  return false;
}

}  // namespace steertag::fabric::iwarp
