// Joins a metadata server, asks it, and heeds it.
#include "server/v4/pnfs/control/data_control.h"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "net/unix_socket.h"

namespace steertag::peer::control {
namespace {

using std::chrono::milliseconds;

net::Time number_of(std::chrono::steady_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

}  // namespace

Expected<std::unique_ptr<DataControl>, std::string> DataControl::open(
    DataControlOptions options, std::shared_ptr<DataServers> data_servers) {
  auto reactor = net::Reactor::open([clock = options.clock] { return number_of(clock()); });
  if (!reactor) return Unexpected<std::string>(reactor.error().message());
  return std::unique_ptr<DataControl>(
      new DataControl(std::move(options), std::move(data_servers), std::move(*reactor)));
}

DataControl::DataControl(DataControlOptions options, std::shared_ptr<DataServers> data_servers,
                         net::Reactor reactor)
    : options_(std::move(options)),
      data_servers_(std::move(data_servers)),
      reactor_(std::move(reactor)),
      timer_(reactor_.add(*this)) {}

DataControl::~DataControl() {
  if (key_ != 0) reactor_.remove(key_);
  reactor_.remove(timer_);
}

void DataControl::join(std::vector<DataServerAddress> addresses) {
  addresses_ = std::move(addresses);
  begun_ = true;
  reactor_.set_deadline(timer_, reactor_.now());
}

std::size_t DataControl::poll(milliseconds timeout) {
  notices_ = 0;
  reactor_.poll(timeout);
  return notices_;
}

// --- the connection

void DataControl::connect() {
  auto socket = net::connect_unix(options_.path);
  if (!socket) return lose(socket.error().message());
  if (!is_trusted_peer(*socket)) return lose("the metadata server belongs to another user");
  stream_.emplace(std::move(*socket));
  const auto key = reactor_.add(*this, stream_->fd(), EPOLLIN);
  if (!key) return lose(key.error().message());
  key_ = *key;
  hello_sent_ = options_.clock();
  reactor_.set_deadline(timer_, net::after(number_of(hello_sent_), kWelcomePatience));
  stream_->send(Hello{kVersion, options_.index, addresses_});
  tend_connection();
}

void DataControl::lose(const std::string& why) {
  // What was granted holds for a lease where the metadata server is gone. Where this side does not
  // go on, nothing may hold once the other side sees the end.
  if (stream_ && !stream_->ended_by_peer()) grants_.forget_all();
  if (key_ != 0) reactor_.remove(std::exchange(key_, 0));
  stream_.reset();
  joined_ = ping_under_way_ = slow_ = false;
  asked_.clear();
  if (!std::exchange(told_, true)) options_.tell("no metadata server: " + why);
  reactor_.set_deadline(timer_, net::after(reactor_.now(), pause_));
  pause_ = std::min(2 * pause_, kLongestJoinPause);
}

void DataControl::on_ready(std::uint32_t events) {
  ++notices_;
  if (!stream_) return;
  if ((events & EPOLLOUT) != 0) stream_->flush();
  stream_->receive([this](const Message& message) { take(message); });
  tend_connection();
}

void DataControl::tend_connection() {
  if (!stream_) return;
  if (!stream_->end().empty()) return lose(std::string(stream_->end()));
  reactor_.watch(key_, EPOLLIN | (stream_->has_unsent() ? EPOLLOUT : 0U));
}

void DataControl::on_deadline() {
  ++notices_;
  if (!begun_) return;
  if (!stream_) return connect();
  if (joined_) return ping();
  stream_->stop("it answers no Hello");
  tend_connection();
}

void DataControl::ping() {
  const Time now = options_.clock();
  if (!ping_under_way_) {
    ping_under_way_ = true;
    ping_sent_ = now;
    stream_->send(Ping{++pings_});
  }
  reactor_.set_deadline(timer_, net::after(number_of(now), lease_ / kPingsPerLease));
  tend_connection();
}

// --- messages

void DataControl::take(const Message& message) {
  if (const auto* welcome = std::get_if<Welcome>(&message)) return take_welcome(*welcome);
  if (const auto* refusal = std::get_if<Refusal>(&message))
    return stream_->stop("it refuses: " + refusal->why);
  if (!joined_) return stream_->stop("its first message was no Welcome");
  if (const auto* answer = std::get_if<Answer>(&message)) return take_answer(*answer);
  if (const auto* revoke = std::get_if<Revoke>(&message)) {
    // No call is under way that was let in before: this is the thread of all calls.
    grants_.forget(revoke->file);
    return stream_->send(Acknowledgement{revoke->epoch});
  }
  if (const auto* verifier = std::get_if<NewVerifier>(&message))
    return data_servers_->share_verifier(verifier->verifier);
  const auto* pong = std::get_if<Pong>(&message);
  if (!pong) return stream_->stop("it sent what only a data server says");
  if (!ping_under_way_ || pong->number != pings_)
    return stream_->stop("it answered a Ping that is not under way");
  ping_under_way_ = false;
  hear(ping_sent_);
}

void DataControl::take_welcome(const Welcome& welcome) {
  if (joined_) return stream_->stop("it said Welcome twice");
  joined_ = true;
  told_ = false;
  pause_ = kFirstJoinPause;
  // Of an earlier run, or of an earlier connection: the Hello has said that there are none.
  grants_.forget_all();
  lease_ = milliseconds(std::min<std::uint64_t>(welcome.lease_ms, UINT32_MAX));
  heard_until_ = {};
  hear(hello_sent_);
  data_servers_->adopt(welcome.pattern, welcome.secret);
  if (welcome.pattern.commit_through_server) data_servers_->share_verifier(welcome.verifier);
  options_.tell("the metadata server is here");
  reactor_.set_deadline(timer_, net::after(reactor_.now(), lease_ / kPingsPerLease));
}

void DataControl::take_answer(const Answer& answer) {
  const auto asked = asked_.extract(answer.number);
  if (asked.empty()) return stream_->stop("it answered what was not asked");
  slow_ = false;
  hear(asked.mapped().sent);
  if (answer.status == nfs4::Status::NFS4_OK)
    grants_.add(asked.mapped().key, {answer.first, answer.last});
  answer_ = answer;
}

void DataControl::hear(Time sent) {
  heard_until_ = std::max(heard_until_, sent + lease_);
}

// --- calls of clients

LayoutRight DataControl::decide(const LayoutWish& wish) {
  const Grants::Key key = Grants::key_of(wish);
  if (auto right = granted(key, wish)) return *right;
  if (!joined_) return {};
  return ask(key, wish);
}

std::optional<LayoutRight> DataControl::granted(const Grants::Key& key, const LayoutWish& wish) {
  if (options_.clock() >= heard_until_) {
    // The metadata server waits no longer than this before it grants the same to others.
    if (!joined_) grants_.forget_all();
    return std::nullopt;
  }
  if (!grants_.allows(key, wish)) return std::nullopt;
  return LayoutRight{nfs4::Status::NFS4_OK, {}};
}

LayoutRight DataControl::ask(const Grants::Key& key, const LayoutWish& wish) {
  const LayoutRight later{nfs4::Status::NFS4ERR_DELAY, {}};
  if (asked_.size() >= kMostAsks || (slow_ && is_asked(key))) return later;
  Ask ask;
  ask.number = ++last_ask_;
  ask.file = wish.file;
  ask.owner = wish.owner;
  ask.stateid = wish.stateid;
  ask.deed = !wish.want ? Deed::commit : *wish.want == AccessMode::write ? Deed::write : Deed::read;
  ask.has_range = wish.range.has_value();
  if (wish.range) ask.first = wish.range->first, ask.last = wish.range->last;
  asked_[ask.number] = {key, options_.clock()};
  answer_.reset();
  stream_->send(ask);
  if (!slow_) await(ask.number);
  tend_connection();
  if (!answer_ || answer_->number != ask.number) return joined_ ? later : LayoutRight{};
  // The answer may be the last word before a Revoke that came with it.
  if (answer_->status == nfs4::Status::NFS4_OK) return granted(key, wish).value_or(later);
  return {answer_->status, {}};
}

void DataControl::await(std::uint64_t number) {
  const Time end = options_.clock() + kAnswerPatience;
  while (stream_->end().empty() && asked_.contains(number)) {
    const auto left = std::chrono::ceil<milliseconds>(end - options_.clock());
    if (left.count() <= 0) {
      slow_ = true;
      return;
    }
    pollfd wait{stream_->fd(), POLLIN, 0};
    if (stream_->has_unsent()) wait.events |= POLLOUT;
    ::poll(&wait, 1, static_cast<int>(left.count()));
    stream_->flush();
    stream_->receive([this](const Message& message) { take(message); });
  }
}

bool DataControl::is_asked(const Grants::Key& key) const {
  return std::ranges::any_of(asked_, [&](const auto& each) { return each.second.key == key; });
}

}  // namespace steertag::peer::control
