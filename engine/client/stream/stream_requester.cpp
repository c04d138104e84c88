// The requester of a client over TCP.
#include "client/stream/stream_requester.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "rpc/direction.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::array<std::byte, 4> kZeros{};
/// Calls whose parts are given to the system at a time; each has four (IOV_MAX is 1024).
constexpr std::size_t kMostGatheredCalls = 64;
/// Reads of the socket in one round, so that a fast server leaves room for sending.
constexpr int kMostReadsPerTurn = 16;

}  // namespace

Expected<std::unique_ptr<StreamRequester>, net::Error> StreamRequester::open(
    net::Url url, const StreamRequesterOptions& options, std::uint32_t first_xid,
    net::Clock clock) {
  auto reactor = net::Reactor::open(std::move(clock));
  if (!reactor) return tl::unexpected(std::move(reactor.error()));
  return std::unique_ptr<StreamRequester>(
      new StreamRequester(std::move(url), options, first_xid, std::move(*reactor)));
}

StreamRequester::StreamRequester(net::Url url, const StreamRequesterOptions& options,
                                 std::uint32_t first_xid, net::Reactor reactor)
    : url_(std::move(url)),
      options_(options),
      next_xid_(first_xid),
      reactor_(std::move(reactor)),
      received_(options.record_bytes) {}

StreamRequester::~StreamRequester() {
  close();
}

Expected<std::uint32_t, CallError> StreamRequester::submit(Request request, CallCallback callback) {
  if (pending() >= kMostCalls)
    return tl::unexpected(CallError{CallErrc::too_many_calls, std::to_string(kMostCalls)});
  auto call = std::make_unique<Call>();
  call->xid = next_xid_++;
  call->request = std::move(request);
  call->callback = std::move(callback);
  wire::store_u32(call->request.stream.data(), call->xid);
  const std::size_t length =
      call->request.stream.size() + wire::roundup4(call->request.item.size());
  if (length > rpc::kMostFragmentOctets)
    return tl::unexpected(CallError{CallErrc::too_large, std::to_string(length) + " octets"});
  wire::store_u32(call->mark.data(), rpc::record_mark(static_cast<std::uint32_t>(length), true));
  call->octets = call->mark.size() + length;
  const std::uint32_t xid = call->xid;
  queue_.push_back(std::move(call));
  unsettled_ = true;
  return xid;
}

void StreamRequester::step(std::chrono::milliseconds timeout) {
  const std::uint64_t before = callbacks_;
  if (state_ == State::down) {
    if (!came_up_) pause_.failed(reactor_.now());
    close();
    requeue_all();
  }
  if (state_ == State::none && !queue_.empty()) {
    const std::chrono::milliseconds pause = pause_.left(reactor_.now());
    if (pause.count() == 0) start_connection();
    if (pause.count() > 0) timeout = std::min(timeout, pause);
  }
  pump();
  const bool idle = callbacks_ == before && state_ != State::down;
  reactor_.poll(idle ? timeout : std::chrono::milliseconds{0});
  unsettled_ = false;
  pump();
}

std::chrono::milliseconds StreamRequester::idle_for(std::chrono::milliseconds most) {
  if (unsettled_ || state_ == State::down) return std::chrono::milliseconds{0};
  if (state_ == State::none && !queue_.empty()) most = std::min(most, pause_.left(reactor_.now()));
  return reactor_.idle_for(most);
}

// --- the connection

void StreamRequester::start_connection() {
  ++statistics_.connections;
  came_up_ = carried_call_ = false;
  state_ = State::connecting;
  auto addresses = net::resolve(url_, false);
  if (!addresses) return fail(addresses.error().message());
  addresses_ = std::move(*addresses);
  next_address_ = 0;
  try_next_address();
}

void StreamRequester::try_next_address() {
  while (next_address_ < addresses_.size()) {
    const net::Address& address = addresses_[next_address_++];
    reactor_.remove(key_);
    socket_ = net::make_socket(address);
    if (!socket_.open()) {
      down_reason_ = net::error_text(errno);
      continue;
    }
    net::set_no_delay(socket_);
    if (::connect(socket_.fd(), address.generic(), address.length) != 0 && errno != EINPROGRESS) {
      down_reason_ = "cannot connect to " + address.text() + ": " + net::error_text(errno);
      continue;
    }
    const auto key = reactor_.add(*this, socket_.fd(), EPOLLOUT);
    if (!key) return fail(key.error().message());
    key_ = *key;
    reactor_.set_deadline(key_, net::after(reactor_.now(), options_.connect_timeout));
    return;
  }
  fail(down_reason_);
}

void StreamRequester::on_connected() {
  int code = 0;
  socklen_t length = sizeof code;
  if (::getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) code = errno;
  if (code != 0) {
    down_reason_ =
        "cannot connect to " + addresses_[next_address_ - 1].text() + ": " + net::error_text(code);
    return try_next_address();
  }
  state_ = State::up;
  came_up_ = true;
  pause_.came_up();
  reactor_.set_deadline(key_, net::kNever);
  reactor_.watch(key_, EPOLLIN);
}

void StreamRequester::on_deadline() {
  if (state_ != State::connecting) return;
  down_reason_ = "no connection to " + addresses_[next_address_ - 1].text() + " within " +
                 std::to_string(options_.connect_timeout.count()) + " ms";
  try_next_address();
}

void StreamRequester::on_ready(std::uint32_t events) {
  if (state_ == State::connecting) {
    on_connected();
    if (state_ == State::up) pump();
    return;
  }
  if (state_ != State::up) return;
  // What came before an end or a reset is taken first.
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) receive();
  if ((events & EPOLLOUT) != 0 && state_ == State::up) flush();
}

void StreamRequester::fail(std::string reason) {
  state_ = State::down;
  down_reason_ = std::move(reason);
  if (key_ != 0) reactor_.watch(key_, 0);  // `step` does the rest
}

void StreamRequester::abort_connection() {
  if (state_ == State::none) return;
  if (socket_.open()) {
    reactor_.remove(key_);
    key_ = 0;
    socket_.reset();
  }
  fail("aborted");
}

void StreamRequester::close() {
  reactor_.remove(key_);
  key_ = 0;
  socket_.close();
  received_.clear();
  sending_.clear();
  answers_.clear();
  front_sent_ = 0;
  state_ = State::none;
}

// --- calls

void StreamRequester::pump() {
  while (up() && !queue_.empty() && outstanding_.size() < options_.calls) {
    std::unique_ptr<Call> call = std::move(queue_.front());
    queue_.pop_front();
    carried_call_ = true;
    ++call->attempts;
    ++statistics_.calls;
    if (call->attempts > 1) ++statistics_.retransmitted;
    call->sent = false;
    sending_.push_back(call.get());
    outstanding_[call->xid] = std::move(call);
  }
  if (up() && !sending_.empty()) flush();
}

void StreamRequester::gather() {
  parts_.clear();
  std::size_t skip = front_sent_;
  const auto add = [&](View part) {
    const std::size_t done = std::min(skip, part.size());
    skip -= done;
    if (part.size() > done) parts_.push_back(part.subspan(done));
  };
  for (std::size_t i = 0; i < std::min(sending_.size(), kMostGatheredCalls); ++i) {
    const Call& call = *sending_[i];
    const View item = call.request.item;
    add(call.mark);
    add(call.request.stream);
    add(item);
    add(View(kZeros).first(wire::roundup4(item.size()) - item.size()));
  }
}

void StreamRequester::flush() {
  while (!sending_.empty()) {
    gather();
    std::array<iovec, 4 * kMostGatheredCalls> vectors;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      vectors[i] = {const_cast<std::byte*>(parts_[i].data()), parts_[i].size()};
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = parts_.size();
    const ssize_t count = ::sendmsg(socket_.fd(), &message, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return fail(net::error_text(errno));
      return reactor_.watch(key_, EPOLLIN | EPOLLOUT);
    }
    forget_sent(static_cast<std::size_t>(count));
  }
  reactor_.watch(key_, EPOLLIN);
}

void StreamRequester::forget_sent(std::size_t octets) {
  front_sent_ += octets;
  while (!sending_.empty() && front_sent_ >= sending_.front()->octets) {
    front_sent_ -= sending_.front()->octets;
    Call& call = *sending_.front();
    call.sent = true;
    sending_.pop_front();
    if (call.is_answer) answers_.pop_front();
  }
}

void StreamRequester::receive() {
  for (int i = 0; i < kMostReadsPerTurn && up(); ++i) {
    const MutableView room = received_.room();
    const ssize_t count = ::recv(socket_.fd(), room.data(), room.size(), 0);
    if (count == 0)
      return fail(received_.mid_record() ? "the server closed the stream inside a record"
                                         : "the server closed the stream");
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) fail(net::error_text(errno));
      return;
    }
    received_.filled(static_cast<std::size_t>(count));
    while (up()) {
      const auto record = received_.next();
      if (!record) return fail("record marking: " + record.error().message());
      if (!*record) break;
      handle(**record);
    }
    if (static_cast<std::size_t>(count) < room.size()) return;  // most likely nothing else waits
  }
}

void StreamRequester::answer(View record) {
  Bytes reply;
  // A server that calls on without reading gets no more (kMostUnsentAnswers).
  if (reverse_ && answers_.size() < kMostUnsentAnswers) reply = reverse_->answer(record);
  if (reply.empty()) {
    ++statistics_.discarded;
    return;
  }
  ++statistics_.reverse_calls;
  auto call = std::make_unique<Call>();
  call->request.stream = std::move(reply);
  call->is_answer = true;
  const auto length = static_cast<std::uint32_t>(call->request.stream.size());
  wire::store_u32(call->mark.data(), rpc::record_mark(length, true));
  call->octets = call->mark.size() + length;
  sending_.push_back(call.get());
  answers_.push_back(std::move(call));
}

void StreamRequester::handle(View record) {
  const auto xid = rpc::xid(record);
  if (xid && rpc::direction(record) == rpc::MessageType::CALL) return answer(record);
  const auto found = outstanding_.find(xid.value_or(0));
  // A second reply, or one to a call that it cannot know yet.
  if (!xid || rpc::direction(record) != rpc::MessageType::REPLY || found == outstanding_.end() ||
      !found->second->sent) {
    ++statistics_.discarded;
    return;
  }
  const std::unique_ptr<Call> call = std::move(found->second);
  outstanding_.erase(found);
  ++statistics_.replies;
  CallReply reply;
  wire::Reader reader(record);
  reply.rpc.decode(reader);
  if (!reader.ok())
    return tell(*call,
                tl::unexpected(CallError{CallErrc::bad_reply,
                                         "the RPC reply header: " + reader.fault().message()}));
  reply.payload = record;
  reply.results = reader.rest();
  tell(*call, reply);
}

void StreamRequester::tell(const Call& call, Expected<CallReply, CallError> outcome) {
  ++callbacks_;
  call.callback(std::move(outcome));
}

void StreamRequester::requeue_all() {
  std::vector<std::unique_ptr<Call>> calls;
  for (auto& [xid, call] : outstanding_) calls.push_back(std::move(call));
  outstanding_.clear();
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
    return static_cast<std::int32_t>(a->xid - b->xid) > 0;  // serial numbers, latest first
  });
  for (auto& call : calls) queue_.push_front(std::move(call));
  // Only such connections in a row count, or the rejections between good ones would add up.
  for (const auto& call : queue_)
    call->vain_connections = carried_call_ ? 0 : call->vain_connections + 1;
  std::deque<std::unique_ptr<Call>> keep;
  std::deque<std::unique_ptr<Call>> lost;
  for (auto& call : queue_) {
    const bool is_lost = call->attempts + call->vain_connections >= options_.attempts;
    (is_lost ? lost : keep).push_back(std::move(call));
  }
  queue_ = std::move(keep);
  for (const auto& call : lost)
    tell(*call, tl::unexpected(CallError{CallErrc::connection_lost, down_reason_}));
}

void StreamRequester::give_up(std::uint32_t xid, CallError error) {
  std::unique_ptr<Call> call;
  const auto queued = std::find_if(queue_.begin(), queue_.end(),
                                   [&](const auto& waiting) { return waiting->xid == xid; });
  const auto found = outstanding_.find(xid);
  if (queued != queue_.end()) {
    call = std::move(*queued);
    queue_.erase(queued);
  } else if (found != outstanding_.end()) {
    call = std::move(found->second);
    outstanding_.erase(found);
    const auto unsent = std::find(sending_.begin(), sending_.end(), call.get());
    if (unsent == sending_.begin() && unsent != sending_.end() && front_sent_ > 0)
      abort_connection();
    else if (unsent != sending_.end())
      sending_.erase(unsent);
  }
  if (call) tell(*call, tl::unexpected(std::move(error)));
}

}  // namespace steertag::peer
