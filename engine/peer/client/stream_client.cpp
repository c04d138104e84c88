// Connecting, sending calls, matching replies.
#include "peer/client/stream_client.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "rpc/direction.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

// A read takes what a socket buffer of usual size holds.
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
// Reads before what waits to be sent has its turn.
constexpr int kMostReadsPerTurn = 16;
// Pieces of memory that are given to the system at a time (IOV_MAX is 1024).
constexpr std::size_t kMostVectors = 64;
constexpr std::array<std::byte, 4> kZeros{};

}  // namespace

Expected<std::unique_ptr<StreamClient>, net::Error> StreamClient::open(
    const net::Url& url, const StreamClientOptions& options, std::uint32_t first_xid,
    net::Clock clock) {
  auto addresses = net::resolve(url, false);
  if (!addresses) return tl::unexpected(std::move(addresses.error()));
  auto reactor = net::Reactor::open(std::move(clock));
  if (!reactor) return tl::unexpected(std::move(reactor.error()));
  std::unique_ptr<StreamClient> client(
      new StreamClient(std::move(*addresses), options, first_xid, std::move(*reactor)));
  client->connect_next();
  return client;
}

StreamClient::StreamClient(std::vector<net::Address> addresses, const StreamClientOptions& options,
                           std::uint32_t first_xid, net::Reactor reactor)
    : addresses_(std::move(addresses)),
      options_(options),
      next_xid_(first_xid),
      reactor_(std::move(reactor)),
      reader_(options.largest_record) {}

StreamClient::~StreamClient() {
  reactor_.remove(key_);
}

void StreamClient::connect_next() {
  reactor_.remove(std::exchange(key_, 0));
  socket_.close();
  while (next_address_ < addresses_.size()) {
    const net::Address& address = addresses_[next_address_++];
    socket_ = net::make_socket(address);
    if (socket_.open() &&
        (::connect(socket_.fd(), address.generic(), address.length) == 0 || errno == EINPROGRESS)) {
      const auto key = reactor_.add(*this, socket_.fd(), EPOLLOUT);
      if (!key) return fail(CallErrc::connection_lost, key.error().message());
      key_ = *key;
      connect_deadline_ = net::after(reactor_.now(), options_.connect_timeout);
      return set_deadline();
    }
    last_refusal_ = address.text() + ": " + net::error_text(errno);
  }
  fail(CallErrc::connection_lost,
       "cannot connect: " + (last_refusal_.empty() ? "no address" : last_refusal_));
}

void StreamClient::finish_connecting() {
  int code = 0;
  socklen_t length = sizeof code;
  ::getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &code, &length);
  if (code != 0) {
    last_refusal_ = addresses_[next_address_ - 1].text() + ": " + net::error_text(code);
    return connect_next();
  }
  net::set_no_delay(socket_);
  state_ = State::up;
  connect_deadline_ = net::kNever;
  ++notices_;
  flush();
}

void StreamClient::on_ready(std::uint32_t events) {
  if (state_ == State::connecting) return finish_connecting();
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0 && up()) receive();
  if (!up()) return;
  set_watch();
  set_deadline();
}

void StreamClient::on_deadline() {
  const net::Time now = reactor_.round_time();
  if (state_ == State::connecting && now >= connect_deadline_) {
    last_refusal_ = addresses_[next_address_ - 1].text() + ": no answer within " +
                    std::to_string(options_.connect_timeout.count()) + " ms";
    return connect_next();
  }
  while (!deadlines_.empty() && !pending_.contains(deadlines_.front().second))
    deadlines_.pop_front();
  if (!deadlines_.empty() && now >= deadlines_.front().first)
    return fail(CallErrc::timed_out,
                "no reply within " + std::to_string(options_.call_timeout.count()) + " ms");
  set_deadline();
}

void StreamClient::set_deadline() {
  // Outdated ones at the front go when they fire, or with the replies that come before.
  const net::Time call = deadlines_.empty() ? net::kNever : deadlines_.front().first;
  reactor_.set_deadline(key_, std::min(connect_deadline_, call));
}

void StreamClient::set_watch() {
  reactor_.watch(key_, EPOLLIN | (outgoing_.empty() ? 0U : EPOLLOUT));
}

void StreamClient::call(StreamMessage message, Done done) {
  if (state_ == State::down)
    return failed_.push_back({std::move(done), {CallErrc::connection_lost, down_reason_}});
  if (message.stream.size() < rpc::kSmallestCallHeader)
    return failed_.push_back({std::move(done), {CallErrc::bad_call, "shorter than a header"}});
  if (pending_.size() >= options_.most_calls)
    return failed_.push_back({std::move(done), {CallErrc::too_many_calls, ""}});
  const std::uint32_t xid = next_xid_++;
  wire::store_u32(message.stream.data(), xid);
  const net::Time deadline = net::after(reactor_.now(), options_.call_timeout);
  pending_[xid] = {std::move(done), deadline};
  deadlines_.emplace_back(deadline, xid);
  queue(std::move(message));
}

void StreamClient::queue(StreamMessage message) {
  if (state_ == State::down || ending_) return;
  Outgoing& outgoing = outgoing_.emplace_back();
  outgoing.message = std::move(message);
  const std::size_t length =
      outgoing.message.stream.size() + wire::roundup4(outgoing.message.item.size());
  wire::store_u32(outgoing.mark.data(), rpc::record_mark(static_cast<std::uint32_t>(length), true));
  outgoing.octets = outgoing.mark.size() + length;
  // What is queued between two polls leaves together.
  if (up()) set_watch();
  set_deadline();
}

void StreamClient::end() {
  ending_ = true;
  if (up() && outgoing_.empty()) socket_.end();
}

void StreamClient::flush() {
  while (!outgoing_.empty()) {
    std::array<iovec, kMostVectors> vectors;
    std::size_t count = 0;
    std::size_t wanted = 0;
    std::size_t skipped = front_sent_;
    const auto add = [&](View part) {
      const std::size_t skip = std::min(skipped, part.size());
      skipped -= skip;
      part = part.subspan(skip);
      if (part.empty() || count == kMostVectors) return;
      // The system takes no pointer to const, though it only reads.
      vectors[count++] = {const_cast<std::byte*>(part.data()), part.size()};
      wanted += part.size();
    };
    for (const Outgoing& outgoing : outgoing_) {
      if (count == kMostVectors) break;
      const View item = outgoing.message.item;
      add(outgoing.mark);
      add(outgoing.message.stream);
      add(item);
      add(View(kZeros).first(wire::roundup4(item.size()) - item.size()));
    }
    msghdr header{};
    header.msg_iov = vectors.data();
    header.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket_.fd(), &header, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN && errno != EINTR)
        fail(CallErrc::connection_lost, net::error_text(errno));
      return;
    }
    front_sent_ += static_cast<std::size_t>(sent);
    while (!outgoing_.empty() && front_sent_ >= outgoing_.front().octets) {
      front_sent_ -= outgoing_.front().octets;
      outgoing_.pop_front();
    }
    if (static_cast<std::size_t>(sent) < wanted) return;  // the socket is full
  }
  if (ending_) socket_.end();
}

void StreamClient::receive() {
  read_buffer_.resize(kReadBytes);
  for (int i = 0; i < kMostReadsPerTurn && up(); ++i) {
    const ssize_t count = ::recv(socket_.fd(), read_buffer_.data(), read_buffer_.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) return fail(CallErrc::connection_lost, net::error_text(errno));
    if (count == 0) return fail(CallErrc::connection_lost, "the server closed the connection");
    take_records(View(read_buffer_).first(static_cast<std::size_t>(count)));
    if (static_cast<std::size_t>(count) < read_buffer_.size()) return;
  }
}

void StreamClient::take_records(View octets) {
  while (!octets.empty() && up()) {
    if (!reader_.mid_record()) {
      if (const auto record = rpc::whole_record(octets, options_.largest_record)) {
        octets = octets.subspan(rpc::kRecordMarkOctets + record->size());
        take_record(*record);
        continue;
      }
    }
    const auto taken = reader_.take(octets);
    if (!taken) return fail(CallErrc::bad_reply, "record marking: " + taken.error().message());
    octets = octets.subspan(*taken);
    if (!reader_.complete()) continue;
    take_record(reader_.record());
    reader_.next();
  }
}

void StreamClient::take_record(View record) {
  const auto direction = rpc::direction(record);
  if (!direction) return fail(CallErrc::bad_reply, "a record is neither an RPC call nor a reply");
  ++notices_;
  if (*direction == rpc::MessageType::CALL) {
    if (server_call_) server_call_(record);
    return;
  }
  const auto found = pending_.find(*rpc::xid(record));
  if (found == pending_.end()) return;  // nobody waits for it
  const Done done = std::move(found->second.done);
  pending_.erase(found);
  while (!deadlines_.empty() && !pending_.contains(deadlines_.front().second))
    deadlines_.pop_front();
  done(record);
}

void StreamClient::fail(CallErrc code, const std::string& why) {
  state_ = State::down;
  down_reason_ = why;
  reactor_.remove(std::exchange(key_, 0));
  socket_.close();
  outgoing_.clear();
  deadlines_.clear();
  // Told in the order in which they were made.
  std::vector<std::pair<std::uint32_t, Done>> calls;
  for (auto& [xid, pending] : pending_) calls.emplace_back(xid, std::move(pending.done));
  pending_.clear();
  const std::uint32_t next = next_xid_;
  std::ranges::sort(calls, std::greater<>(),
                    [next](const auto& call) { return next - call.first; });
  for (auto& [xid, done] : calls) failed_.push_back({std::move(done), {code, why}});
  ++notices_;
}

void StreamClient::tell_failed() {
  // Whoever is told may call again, which fails in the next poll.
  for (Failed& failed : std::exchange(failed_, {})) {
    ++notices_;
    failed.done(tl::unexpected(std::move(failed.error)));
  }
}

std::size_t StreamClient::poll(std::chrono::milliseconds timeout) {
  using std::chrono::steady_clock;
  notices_ = 0;
  reactor_.begin_round();
  // Real time whatever clock was given: it bounds the caller's wait.
  const auto end = steady_clock::now() + timeout;
  std::chrono::milliseconds left = failed_.empty() ? timeout : std::chrono::milliseconds{0};
  while (true) {
    reactor_.turn(left);
    tell_failed();
    left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (reactor_.take_woken() || notices_ > 0 || left.count() <= 0) return notices_;
  }
}

}  // namespace steertag::peer
