// The connection's life: startup, the owner's calls, and its end.
#include "fabric/iwarp/connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fabric/provider/sink.h"

namespace steertag::fabric::iwarp {
namespace {

constexpr std::uint64_t kMostMessageBytes = 0xffffffff;  // RFC 5041 5.1: offsets have 32 bits

Unexpected<Error> fail(Errc code, std::string detail) {
  return tl::unexpected(Error{code, std::move(detail)});
}

}  // namespace

IwarpConnection::IwarpConnection(Runtime& runtime, SoftwareDomain& domain, trace::Role role,
                                 const ConnectionOptions& options, Handler& handler,
                                 trace::EventSink* events, trace::ByteSink* bytes)
    : SoftwareConnection(runtime, domain, role, handler, kMostMessageBytes),
      runtime_(runtime),
      policy_(options.iwarp),
      own_private_data_(options.private_data),
      observation_(runtime.reactor, domain, role),
      receiver_(domain, *this, policy_.receive, splitter_),
      fpdus_(receiver_),
      transmitter_(*this, policy_.segments),
      idle_timeout_(options.idle_timeout) {
  observation_.observe(events, bytes);
  if (auto* const queue = dynamic_cast<software::SharedReceives*>(options.receives)) {
    receiver_.receives().share(
        *queue, [this] { mark_unsettled(); }, true);
  }
}

IwarpConnection::~IwarpConnection() {
  if (state_ != State::closed) {
    finish({Errc::local_close, "destroyed", {}, false}, How::lingering, role_);
  }
}

void IwarpConnection::initiate(std::vector<Address> addresses, const ConnectionOptions& options) {
  Initiator::Owner& owner = *this;
  initiator_ = std::make_unique<Initiator>(runtime_.reactor, owner, std::move(addresses), options);
  initiator_->start();
  if (initiator_) {
    peer_name_ = initiator_->peer_name();
  }
}

Expected<void, Error> IwarpConnection::respond(Socket socket, View request, View peer_private_data,
                                               Bytes reply, const Agreement& agreement) {
  const auto key = runtime_.reactor.add(*this, socket.fd(), 0);
  if (!key) {
    return tl::unexpected(key.error());
  }
  key_ = *key;
  socket_ = std::move(socket);
  peer_name_ = peer_address(socket_).text();
  state_ = State::replying;
  last_sent_ = runtime_.reactor.now();
  reply_ = std::make_unique<Reply>();
  reply_->octets = std::move(reply);
  reply_->peer_private_data.assign(peer_private_data.begin(), peer_private_data.end());
  reply_->agreement = agreement;
  observation_.octets(trace::Role::client, request);
  observation_.by_peer(trace::Connect{reply_->peer_private_data});
  startup_notified_ = true;
  update_deadline();
  mark_unsettled();
  return {};
}

void IwarpConnection::on_startup_octets(trace::Role sender, View bytes) {
  observation_.octets(sender, bytes);
}

void IwarpConnection::on_request_sent() {
  peer_name_ = initiator_->peer_name();
  observation_.by_us(trace::Connect{own_private_data_});
  startup_notified_ = true;
}

void IwarpConnection::on_reply(Socket socket, const Agreement& agreement, Bytes private_data) {
  runtime_.ended.push_back(std::move(initiator_));
  const auto key = runtime_.reactor.add(*this, socket.fd(), EPOLLIN);
  if (!key) {
    finish({key.error().code, key.error().detail, {}, false}, How::complete, role_);
    return;
  }
  key_ = *key;
  observation_.by_peer(trace::Accept{private_data});
  enter_operation(std::move(socket), agreement);
  if (agreement.refusal) {
    refused_private_data_ = std::move(private_data);
    start_terminate(
        {*agreement.refusal, {}, 0, {}},
        {Errc::unsupported,
         "the MPA reply cannot be honoured: " + describe(*agreement.refusal) + " (RFC 6581 9)",
         *agreement.refusal, false});
    return;
  }
  give_established(private_data);
  update_deadline();
}

void IwarpConnection::on_failed(Error error, Bytes private_data) {
  peer_name_ = initiator_->peer_name();
  if (error.code == Errc::rejected) {
    observation_.by_peer(trace::Reject{private_data});
  }
  refused_private_data_ = std::move(private_data);
  const bool by_peer = error.code != Errc::timed_out && error.code != Errc::unsupported;
  finish({error.code, std::move(error.detail), {}, false}, How::complete,
         by_peer ? trace::other(role_) : role_);
}

void IwarpConnection::flush_reply() {
  while (reply_->sent < reply_->octets.size()) {
    const View rest = View(reply_->octets).subspan(reply_->sent);
    const ssize_t count = ::send(socket_.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0) {
      send_failed(errno);
      return;
    }
    observation_.octets(role_, rest.first(static_cast<std::size_t>(count)));
    reply_->sent += static_cast<std::size_t>(count);
  }
  const std::unique_ptr<const Reply> reply = std::move(reply_);
  observation_.by_us(trace::Accept{own_private_data_});
  enter_operation(std::move(socket_), reply->agreement);
  give_established(reply->peer_private_data);
}

void IwarpConnection::enter_operation(Socket socket, const Agreement& agreement) {
  socket_ = std::move(socket);
  state_ = State::operating;
  blocked_ = false;
  fpdus_.use_crc(agreement.crc && policy_.receive.checks_crc);
  transmitter_.use_crc(agreement.crc);
  follow_emss();
  receiver_.limit_inbound_reads(agreement.ird);
  ord_ = agreement.ord;
  last_received_ = runtime_.reactor.round_time();
  observation_.start(receiver_.receives().posted());
  watch();
}

void IwarpConnection::follow_emss() {
  sent_since_emss_ = 0;
  transmitter_.set_mulpdu(mulpdu_of(emss(socket_)));
}

void IwarpConnection::post_receive(MutableView buffer, WorkId id) {
  if (receiver_.receives().shared()) {
    return;
  }
  receiver_.receives().post(buffer, id);
  observation_.receive_posted(buffer.size());
}

Expected<void, Error> IwarpConnection::recover_read_faults() {
  recovers_ = true;
  receiver_.recover_read_faults();
  return {};
}

Expected<Outgoing*, Error> IwarpConnection::post(Outgoing::Kind kind, WorkId id,
                                                 const Fault* fault) {
  if (fault != nullptr && fault->packet) {
    return tl::unexpected(Error{Errc::unsupported, "iwarp has no packets of InfiniBand"});
  }
  if (auto may = may_post(); !may) {
    return tl::unexpected(std::move(may.error()));
  }
  Outgoing& operation = transmitter_.post(kind, id);
  if (fault != nullptr) {
    operation.fault = *fault;
  }
  mark_unsettled();
  return &operation;
}

Expected<Posted*, Error> IwarpConnection::post(Operation kind, WorkId id, const Fault* fault) {
  return post(kind == Operation::send ? Outgoing::Kind::send : Outgoing::Kind::rdma_write, id,
              fault);
}

Expected<void, Error> IwarpConnection::post_read(ReadOrder order, WorkId id, const Fault* fault) {
  const auto operation = post(Outgoing::Kind::read_request, id, fault);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  (*operation)->read = {order.sink_stag, order.sink_offset, order.length, order.stag, order.offset};
  (*operation)->memory = std::move(order.memory);
  (*operation)->sink = order.sink;
  return {};
}

Expected<void, Error> IwarpConnection::send_raw(View bytes) {
  const auto operation = post(Outgoing::Kind::raw, 0, nullptr);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  ungated_ = true;
  (*operation)->raw.assign(bytes.begin(), bytes.end());
  return {};
}

Expected<void, Error> IwarpConnection::terminate(const trace::Terminate& terminate) {
  if (state_ != State::operating) {
    return fail(Errc::not_connected, reason_ ? reason_->detail : std::string());
  }
  start_terminate({terminate, {}, 0, {}},
                  {Errc::local_close, "Terminate on request", terminate, false});
  return {};
}

void IwarpConnection::disconnect() {
  if (state_ == State::starting || state_ == State::replying) {
    abort();
  } else if (state_ == State::operating) {
    state_ = State::draining;
    ending_since_ = runtime_.reactor.now();
    reason_ = {Errc::local_close, "", {}, false};
    mark_unsettled();
  }
}

void IwarpConnection::abort() {
  if (state_ != State::closed) {
    finish({Errc::local_close, "aborted", {}, false}, How::reset, role_);
  }
}

void IwarpConnection::start_terminate(const TerminateMessage& message, CloseReason reason) {
  observation_.by_us(message.cause);
  transmitter_.terminate(message);
  reason_ = std::move(reason);
  state_ = State::terminating;
  receiver_.receives().close();
  last_sent_ = runtime_.reactor.now();
  mark_unsettled();
}

void IwarpConnection::violate(Violation violation) {
  const std::string where = "FPDU " + std::to_string(fpdus_.fpdu_number()) + ": ";
  CloseReason reason{Errc::protocol_error, where + violation.detail, violation.cause, false};
  const Segment& segment = fpdus_.segment();
  if (violation.with_segment && segment.tagged && segment.opcode == Opcode::rdma_write) {
    // Observers judge where a peer writes; a refused Write is reported without its octets.
    observation_.by_peer(trace::RdmaWrite{
        segment.stag, segment.offset, fpdus_.ulpdu_length() - segment.header_bytes(), {}});
  }
  if (state_ == State::ending) {
    reason.terminate.reset();  // our half has ended: no Terminate can leave
    finish(std::move(reason), How::lingering, role_);
    return;
  }
  constexpr std::uint8_t kDdpLayer = 1;
  if (violation.cause.layer == kDdpLayer) {
    violation.cause.code += policy_.receive.ddp_code_offset;
  }
  TerminateMessage message{violation.cause, {}, 0, violation.read_request};
  if (violation.with_segment) {
    message.segment = segment;
    message.segment_length = static_cast<std::uint16_t>(fpdus_.ulpdu_length());
  }
  start_terminate(message, std::move(reason));
}

void IwarpConnection::finish(CloseReason reason, How how, trace::Role culprit) {
  if (state_ == State::closed) {
    return;
  }
  state_ = State::closed;
  reason_ = std::move(reason);
  runtime_.reactor.remove(std::exchange(key_, 0));
  if (initiator_) {
    initiator_->stop();
    runtime_.ended.push_back(std::move(initiator_));
  }
  const bool clean = how != How::reset && reason_->code != Errc::peer_reset &&
                     reason_->code != Errc::protocol_error && reason_->code != Errc::timed_out;
  if (startup_notified_) {
    observation_.end(role_, how != How::reset);
    observation_.event(culprit, trace::Disconnect{clean});
  }
  observation_.stop();
  receiver_.receives().close();
  transmitter_.drop_all();
  switch (how) {
    case How::lingering:
      runtime_.lingering.adopt(std::move(socket_),
                               after(runtime_.reactor.now(), runtime_.limits.closing));
      break;
    case How::complete:
      socket_.close();
      break;
    case How::reset:
      socket_.reset();
      break;
  }
  mark_unsettled();
}

}  // namespace steertag::fabric::iwarp
