// The requester of a client.
#include "client/rdma/requester.h"

#include <algorithm>

#include "rpc/direction.h"

namespace steertag::peer {

Requester::Requester(fabric::Provider& provider, fabric::Url url, RequesterOptions options,
                     std::uint32_t first_xid, net::Clock clock)
    : provider_(provider),
      url_(std::move(url)),
      options_(options),
      domain_(provider.make_domain()),
      pool_(*domain_, options.memory_bytes, options.policy.memory.registration),
      credits_(options.credits),
      next_xid_(first_xid),
      clock_(std::move(clock)) {}

Requester::~Requester() {
  endpoint_.reset();
}

void Requester::observe(trace::EventSink* events, trace::ByteSink* bytes) {
  events_ = events;
  bytes_ = bytes;
}

Expected<std::uint32_t, CallError> Requester::submit(Request request, CallCallback callback) {
  if (pending() >= kMostCalls)
    return tl::unexpected(CallError{CallErrc::too_many_calls, std::to_string(kMostCalls)});
  const std::uint32_t xid = next_xid_++;
  if (options_.form) request.wish = *options_.form;
  queue_.push_back(std::make_unique<OutgoingCall>(xid, std::move(request), std::move(callback),
                                                  options_.policy.reply));
  unsettled_ = true;
  return xid;
}

void Requester::start_connection() {
  credits_.reset();
  beside_.clear();
  held_receives_.clear();
  placement_ = {};
  down_ = came_up_ = carried_call_ = false;
  ++statistics_.connections;
  endpoint_ =
      std::make_unique<Endpoint>(provider_, static_cast<EndpointUser&>(*this), endpoint_options());
  if (const auto started = endpoint_->connect(url_, *domain_, events_, bytes_); !started) {
    down_ = true;
    down_reason_ = started.error().message();
  }
}

EndpointOptions Requester::endpoint_options() {
  EndpointOptions options;
  options.announced = options_.announced;
  const fabric::Capabilities can = provider_.capabilities();
  const bool keeps_open =
      options_.registration == Registration::cached && options_.policy.memory.clears_flag;
  if ((!can.remote_invalidation && !can.windows) || keeps_open)
    options.announced.remote_invalidation = false;
  options.sends_private_data = options_.sends_private_data;
  // RFC 8166 3.3.1: a receive for every reply that may come.
  options.receives = credits_.requested() + kSpareReceives;
  if (reverse_) options.receives += kReverseGrant;
  options.connection.startup_timeout = options_.connect_timeout;
  options.connection.crc = options_.crc;
  if (options_.pre_posts && !options_.interposer) options.head_reader = this;
  if (options_.interposer) {
    ConnectStep step{statistics_.connections, statistics_.refused, credits_.requested(), options};
    options_.interposer->on_connect(step);
  }
  return options;
}

CallMemory Requester::memory() {
  const bool any_region = provider_.capabilities().remote_invalidation;
  const bool windows = negotiated_.remote_invalidation && !any_region;
  return {pool_, windows ? endpoint_->connection() : nullptr, options_.registration,
          options_.pre_posts && !options_.interposer};
}

void Requester::step(std::chrono::milliseconds timeout) {
  const std::uint64_t before = callbacks_;
  if (down_) {
    if (!came_up_) {
      pause_.failed(clock_());
      ++statistics_.refused;
    }
    endpoint_.reset();
    requeue_all(down_reason_);
    // The next connection has the same domain.
    if (options_.policy.memory.closes_with_connection) pool_.close_idle();
    down_ = false;
  }
  if (!endpoint_ && !queue_.empty()) {
    const std::chrono::milliseconds pause = pause_.left(clock_());
    if (pause.count() == 0) start_connection();
    if (pause.count() > 0) timeout = std::min(timeout, pause);
  }
  pump();
  // A caller that waits for a call that has just ended must not wait for the network. Nor does a
  // connection that could not even be started bring anything.
  const bool idle = callbacks_ == before && !down_;
  provider_.poll(idle ? timeout : std::chrono::milliseconds{0});
  unsettled_ = false;
  pump();
  if (up() && pending() == 0 && !options_.policy.keeps_idle) endpoint_->disconnect();
}

std::chrono::milliseconds Requester::idle_for(std::chrono::milliseconds most) {
  if (unsettled_ || down_) return std::chrono::milliseconds{0};
  if (!endpoint_ && !queue_.empty()) most = std::min(most, pause_.left(clock_()));
  return provider_.idle_for(most);
}

void Requester::abort_connection() {
  if (endpoint_) endpoint_->abort();
}

void Requester::pump() {
  while (up() && !down_ && credits_.open(options_.reserve) && !queue_.empty()) {
    std::unique_ptr<OutgoingCall> call = std::move(queue_.front());
    queue_.pop_front();
    const auto marshalled =
        call->marshal(memory(), negotiated_, credits_.requested(), options_.interposer.get());
    if (!marshalled) {
      // Memory comes back with the replies; a connection that is ending opens no window.
      const bool passes = !outstanding_.empty() || !endpoint_->connection()->established();
      if (marshalled.error() == CallErrc::no_memory && passes) {
        queue_.push_front(std::move(call));
        return;
      }
      tell(*call, tl::unexpected(CallError{marshalled.error(), {}}));
      continue;
    }
    OutgoingCall& sent = *call;
    outstanding_[sent.xid()] = std::move(call);
    if (!transmit(sent)) return;
  }
}

bool Requester::transmit(OutgoingCall& call) {
  carried_call_ = true;
  ++call.attempts;
  ++statistics_.calls;
  if (call.attempts > 1) ++statistics_.retransmitted;
  if (credits_.in_flight() == 0) {
    for (const ReceiveId receive : std::exchange(held_receives_, {})) endpoint_->repost(receive);
  }
  credits_.on_call();
  statistics_.most_in_flight = std::max(statistics_.most_in_flight, credits_.in_flight());
  ++call.sends_outstanding;
  if (const auto sent = endpoint_->send(call.parts(), call.xid()); !sent) {
    endpoint_->abort();  // on_down puts the call back
    return false;
  }
  for (Bytes& message : call.take_behind()) send_beside(std::move(message));
  return true;
}

OutgoingCall* Requester::find(std::uint32_t xid) {
  const auto found = outstanding_.find(xid);
  return found == outstanding_.end() || found->second->answered ? nullptr : found->second.get();
}

void Requester::on_up() {
  unsettled_ = true;
  negotiated_ = endpoint_->negotiated();
  if (options_.interposer) {
    UpStep step{*endpoint_, options_.announced, negotiated_};
    options_.interposer->on_up(step);
    credits_.set_grant(step.grant);
  }
  came_up_ = true;
  pause_.came_up();
}

void Requester::on_message(ReceiveId receive, View message,
                           std::optional<std::uint32_t> invalidated) {
  unsettled_ = true;
  const auto effects = [this] { return statistics_.replies + statistics_.reverse_calls; };
  const std::uint64_t before = effects();
  if (invalidated) {
    ++statistics_.remote_invalidations;
    // It had no leave for any STag, and this one may be that of later calls.
    if (breaks_registration()) return endpoint_->abort();
    for (const auto& [xid, call] : outstanding_) {
      if (call->owns(*invalidated)) call->remotely_invalidated = true;
    }
  }
  auto next = ClientArrival::Receive::repost;
  const fabric::Placement placement = std::exchange(placement_, {});
  if (options_.interposer) {
    next = interpose(message);
  } else if (!placement.to.empty()) {
    handle_split(message, placement);
  } else {
    handle(message);
  }
  if (effects() == before) ++statistics_.discarded;
  if (next == ClientArrival::Receive::repost) endpoint_->repost(receive);
  if (next == ClientArrival::Receive::hold) held_receives_.push_back(receive);
}

bool Requester::breaks_registration() const {
  return options_.registration == Registration::cached && !negotiated_.remote_invalidation &&
         options_.policy.memory.refuses_invalidation;
}

ClientArrival::Receive Requester::interpose(View message) {
  ClientArrival arrival{message, credits_.granted(), reverse_ != nullptr};
  options_.interposer->on_arrival(arrival);
  if (arrival.grant) credits_.set_grant(*arrival.grant);
  if (!arrival.taken) handle(arrival.instead ? View(*arrival.instead) : message);
  for (const Bytes& each : arrival.then) handle(each);
  for (Bytes& answer : arrival.answers) send_beside(std::move(answer));
  if (arrival.more_receives > 0) endpoint_->add_receives(arrival.more_receives);
  if (arrival.disconnects) endpoint_->disconnect();
  return arrival.receive;
}

fabric::Placement Requester::on_head(View head) {
  placement_ = {};
  const auto payload = wire::decode(head, received_);
  const bool plain = payload && received_.proc == wire::Procedure::msg &&
                     received_.read_list.empty() && received_.write_list.empty() &&
                     !received_.has_reply_chunk;
  if (!plain) return {};
  OutgoingCall* const call = find(received_.xid);
  if (!call) return {};
  placement_ = call->place(*payload);
  placement_.from += head.size() - payload->size();
  if (!options_.policy.placement.compares_xid) divert(placement_);
  return placement_;
}

void Requester::divert(fabric::Placement& placement) {
  if (placement.to.empty()) return;
  OutgoingCall* oldest = nullptr;
  for (const auto& [xid, call] : outstanding_) {
    const bool fits = !call->answered && call->pre_posted().size() >= placement.to.size();
    if (fits && (!oldest || static_cast<std::int32_t>(xid - oldest->xid()) < 0))
      oldest = call.get();
  }
  if (oldest) placement.to = oldest->pre_posted().first(placement.to.size());
}

void Requester::handle_split(View message, const fabric::Placement& placement) {
  const std::size_t length = placement.to.size();
  const std::size_t end = placement.from + wire::roundup4(length);
  const auto is_zero = [](std::byte octet) { return octet == std::byte{0}; };
  const PlacementPolicy& policy = options_.policy.placement;
  const bool whole = message.size() == end &&
                     std::ranges::all_of(message.subspan(placement.from + length), is_zero);
  if (whole || (!policy.compares_length && message.size() >= placement.from)) {
    ++statistics_.placed;
    View data = placement.to;
    OutgoingCall* const call = policy.compares_xid ? nullptr : find(wire::load_u32(message.data()));
    if (call) data = call->pre_posted().first(length);
    return handle(message.first(placement.from), data);
  }
  // Another length than its head says: the ordinary way, where it is judged.
  joined_.assign(message.begin(), message.end());
  if (placement.from < joined_.size()) {
    const MutableView gap = MutableView(joined_).subspan(placement.from);
    std::copy_n(placement.to.begin(), std::min(gap.size(), length), gap.begin());
  }
  handle(joined_);
}

void Requester::handle(View message, std::optional<View> placed) {
  const auto payload = wire::decode(message, received_);
  if (!payload) return;  // RFC 8166 4.5: discarded, also an RDMA_ERROR that does not decode
  if (take_reverse(received_, *payload)) return;
  OutgoingCall* call = find(received_.xid);
  if (!call) return;
  if (received_.proc == wire::Procedure::error) return handle_error(received_, *call);
  const bool plain = received_.proc == wire::Procedure::msg;
  if (!plain && received_.proc != wire::Procedure::nomsg) return;
  // RFC 8166 4.3.1: nothing is pulled for a reply.
  if (!received_.read_list.empty()) return;
  // RFC 8167 4.1: a call of the reverse direction may carry the same XID.
  if (plain && rpc::direction(*payload) != rpc::MessageType::REPLY) return;
  const MemoryPolicy& policy = options_.policy.memory;
  if (!policy.closes_long_calls) call->leave_position_zero(left_open_);
  if (!policy.closes_unused && plain) call->leave_reply_chunk(left_open_);
  const bool closes = closes_memory(*call) && options_.registration == Registration::each;
  auto outcome = call->accept(received_, *payload, closes, placed);
  if (!outcome) return;
  // The server broke a rule: what else it does is not to meet later calls.
  if (!*outcome && policy.closes_after_reply && policy.closes_after_fault) call->close_memory();
  credits_.on_reply(received_.credit);
  complete(*call, std::move(*outcome));
}

void Requester::handle_error(const wire::Header& header, OutgoingCall& call) {
  credits_.on_reply(header.credit);
  if (call.retries < options_.policy.error_retries) return make_again(call);
  if (!options_.policy.memory.closes_after_error) call.leave_memory(left_open_);
  call.close_memory();
  if (header.error == wire::ErrorCode::chunk)
    return complete(call, tl::unexpected(CallError{CallErrc::err_chunk, {}}));
  complete(call, tl::unexpected(
                     CallError{CallErrc::err_vers, "versions " + std::to_string(header.vers_low) +
                                                       " to " + std::to_string(header.vers_high)}));
}

void Requester::tell(const OutgoingCall& call, Expected<CallReply, CallError> outcome) {
  ++callbacks_;
  if (options_.interposer) options_.interposer->on_ended(call.xid());
  call.callback()(std::move(outcome));
}

void Requester::complete(OutgoingCall& call, Expected<CallReply, CallError> outcome) {
  ++statistics_.replies;
  call.answered = true;
  const std::uint32_t xid = call.xid();
  tell(call, std::move(outcome));
  if (!closes_memory(call)) call.leave_memory(left_open_);
  call.release_memory();
  retire_sent(xid);
}

bool Requester::closes_memory(const OutgoingCall& call) const {
  const MemoryPolicy& policy = options_.policy.memory;
  return policy.closes_after_reply && (policy.closes_others || !call.remotely_invalidated);
}

void Requester::make_again(OutgoingCall& call) {
  auto again = outstanding_.extract(call.xid());
  OutgoingCall& same = *again.mapped();
  same.close_memory();
  same.release_memory();
  same.rename(next_xid_++);
  same.sends_outstanding = 0;
  ++same.retries;
  ++statistics_.replies;
  queue_.push_back(std::move(again.mapped()));
}

void Requester::retire_sent(std::uint32_t xid) {
  const auto found = outstanding_.find(xid);
  if (found != outstanding_.end() && found->second->answered &&
      found->second->sends_outstanding == 0)
    outstanding_.erase(found);
}

void Requester::on_done(WorkTag tag, fabric::Operation /*operation*/) {
  if (beside_.erase(tag) > 0) return;
  const auto xid = static_cast<std::uint32_t>(tag);
  const auto found = outstanding_.find(xid);
  if (found == outstanding_.end()) return;
  --found->second->sends_outstanding;
  retire_sent(xid);
}

void Requester::on_down(const fabric::CloseReason& reason) {
  if (options_.interposer) options_.interposer->on_down();
  down_ = true;
  down_reason_ = std::string(fabric::sentence(reason.code));
  if (!reason.detail.empty()) down_reason_ += ": " + reason.detail;
}

void Requester::requeue_all(const std::string& why) {
  std::vector<std::unique_ptr<OutgoingCall>> calls;
  for (auto& [xid, call] : outstanding_) {
    if (!call->answered) calls.push_back(std::move(call));
  }
  outstanding_.clear();
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
    return static_cast<std::int32_t>(a->xid() - b->xid()) > 0;  // serial numbers, latest first
  });
  for (auto& call : calls) {
    call->close_memory();
    call->release_memory();
    call->sends_outstanding = 0;
    if (!options_.policy.keeps_xid) call->rename(next_xid_++);
    queue_.push_front(std::move(call));
  }
  // Only such connections in a row count, or the rejections between good ones would add up.
  for (const auto& call : queue_)
    call->vain_connections = carried_call_ ? 0 : call->vain_connections + 1;
  std::deque<std::unique_ptr<OutgoingCall>> keep;
  std::vector<std::unique_ptr<OutgoingCall>> lost;
  for (auto& call : queue_) {
    if (call->attempts + call->vain_connections >= options_.attempts) {
      lost.push_back(std::move(call));
    } else {
      keep.push_back(std::move(call));
    }
  }
  queue_ = std::move(keep);
  for (const auto& call : lost)
    tell(*call, tl::unexpected(CallError{CallErrc::connection_lost, why}));
}

void Requester::give_up(std::uint32_t xid, CallError error) {
  const auto queued = std::find_if(queue_.begin(), queue_.end(),
                                   [&](const auto& call) { return call->xid() == xid; });
  if (queued != queue_.end()) {
    const std::unique_ptr<OutgoingCall> call = std::move(*queued);
    queue_.erase(queued);
    tell(*call, tl::unexpected(std::move(error)));
    return;
  }
  OutgoingCall* call = find(xid);
  if (!call) return;
  if (!options_.policy.memory.closes_after_timeout) {
    call->answered = true;
    tell(*call, tl::unexpected(std::move(error)));
    call->leave_memory(left_open_);
    call->release_memory();
    return retire_sent(xid);
  }
  call->close_memory();
  call->answered = true;
  tell(*call, tl::unexpected(std::move(error)));
  endpoint_->abort();
}

}  // namespace steertag::peer
