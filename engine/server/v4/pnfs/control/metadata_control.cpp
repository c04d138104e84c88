// Data servers come, ask, and acknowledge.
#include "server/v4/pnfs/control/metadata_control.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "net/unix_socket.h"
#include "server/v4/pnfs/metadata_authority.h"
#include "server/v4/state/tables.h"

namespace steertag::peer::control {
namespace {

constexpr int kMostAcceptsPerTurn = 16;

std::string name_of(std::uint32_t index) {
  return "data server " + std::to_string(index + 1);
}

}  // namespace

struct MetadataControl::Member final : public net::Channel {
  Member(MetadataControl& its_owner, net::Socket socket)
      : owner(its_owner), stream(std::move(socket)) {}
  void on_ready(std::uint32_t events) override { owner.on_member_ready(*this, events); }
  void on_deadline() override { owner.on_member_deadline(*this); }
  /// It has said Hello: it may hold grants until `fenced_at`.
  bool has_joined() const { return index.has_value(); }

  MetadataControl& owner;
  ControlStream stream;
  net::Reactor::Key key = 0;
  std::optional<std::uint32_t> index;
  std::deque<std::uint64_t> revoked;  // without acknowledgement, ascending
  std::deque<Message> waiting;        // Asks and Pings behind these
  net::Time fenced_at = 0;            // a lease after the last word from here
  bool over = false;                  // the connection is; its data server may still hold grants
};

Expected<std::unique_ptr<MetadataControl>, std::string> MetadataControl::open(
    MetadataControlOptions options, std::shared_ptr<DataServers> data_servers) {
  const auto fail = [](const net::Error& error) {
    return Unexpected<std::string>("no data servers can come: " + error.message());
  };
  auto listening = net::listen_unix(options.path);
  if (!listening) return fail(listening.error());
  auto reactor = net::Reactor::open([clock = options.clock] {
    return std::chrono::nanoseconds(clock().time_since_epoch()).count();
  });
  if (!reactor) return fail(reactor.error());
  std::unique_ptr<MetadataControl> made(new MetadataControl(
      std::move(options), std::move(data_servers), std::move(*reactor), std::move(*listening)));
  const auto key = made->reactor_.add(*made, made->listening_.fd(), EPOLLIN);
  if (!key) return fail(key.error());
  made->key_ = *key;
  return made;
}

MetadataControl::MetadataControl(MetadataControlOptions options,
                                 std::shared_ptr<DataServers> data_servers, net::Reactor reactor,
                                 net::Socket listening)
    : options_(std::move(options)),
      data_servers_(std::move(data_servers)),
      reactor_(std::move(reactor)),
      listening_(std::move(listening)),
      salt_(options_.random()) {}

MetadataControl::~MetadataControl() {
  for (const auto& member : members_) reactor_.remove(member->key);
  reactor_.remove(key_);
}

void MetadataControl::serve(Nfs4State& state, const Backend& storage) {
  state_ = &state;
  storage_ = &storage;
  authority_ = std::make_unique<MetadataAuthority>(state, data_servers_->policy());
  administration_.emplace(state, storage, data_servers_, options_.random);
  state.hold_grace(true);
  renew_verifier();
}

std::size_t MetadataControl::poll(std::chrono::milliseconds timeout) {
  notices_ = 0;
  reactor_.poll(timeout);
  sweep();
  renew_verifier();
  return notices_;
}

// --- connections

void MetadataControl::on_ready(std::uint32_t /*events*/) {
  for (int i = 0; i < kMostAcceptsPerTurn; ++i) {
    net::Address peer;
    net::Socket socket = net::accept_from(listening_, peer);
    if (socket.open()) {
      admit(std::move(socket));
      continue;
    }
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    // Without descriptors the connection waits, and would end every round at once.
    reactor_.watch(key_, 0);
    reactor_.set_deadline(key_, net::after(reactor_.round_time(), kHelloPatience));
    return options_.tell("a data server has to wait: " + net::error_text(errno));
  }
}

void MetadataControl::on_deadline() {
  reactor_.watch(key_, EPOLLIN);
}

void MetadataControl::admit(net::Socket socket) {
  ++notices_;
  if (!is_trusted_peer(socket)) return options_.tell("a data server of another user was refused");
  if (members_.size() >= kMostConnectionsOfControl)
    return options_.tell("a data server was refused: there are " + std::to_string(members_.size()) +
                         " connections");
  auto member = std::make_unique<Member>(*this, std::move(socket));
  const auto key = reactor_.add(*member, member->stream.fd(), EPOLLIN);
  if (!key) return options_.tell("a data server was refused: " + key.error().message());
  member->key = *key;
  reactor_.set_deadline(member->key, net::after(reactor_.round_time(), kHelloPatience));
  members_.push_back(std::move(member));
}

void MetadataControl::on_member_ready(Member& member, std::uint32_t events) {
  ++notices_;
  if ((events & EPOLLOUT) != 0) member.stream.flush();
  member.stream.receive([&](const Message& message) { take(member, message); });
  rewatch(member);
}

void MetadataControl::on_member_deadline(Member& member) {
  ++notices_;
  const bool fenced = member.has_joined() && reactor_.now() >= member.fenced_at;
  if (!member.has_joined()) {
    member.stream.stop("it did not say Hello within " + std::to_string(kHelloPatience.count()) +
                       " ms");
  } else if (fenced && !member.revoked.empty()) {
    // Pongs were withheld since the first of these, so that it has fenced itself.
    member.stream.stop("it acknowledges nothing, and is cut off");
    pass_all(member);
  } else if (!fenced && !member.revoked.empty()) {
    reactor_.set_deadline(member.key, member.fenced_at);
  }
}

void MetadataControl::rewatch(Member& member) {
  if (!member.over && member.stream.end().empty())
    reactor_.watch(member.key, EPOLLIN | (member.stream.has_unsent() ? EPOLLOUT : 0U));
}

void MetadataControl::end(Member& member) {
  member.over = true;
  ++notices_;
  reactor_.remove(std::exchange(member.key, 0));
  member.stream.close();
  // A data server drops its grants before it ends the connection, and a dead one has none.
  if (!member.has_joined() || member.stream.ended_by_peer()) {
    pass_all(member);
    member.fenced_at = 0;
  }
  const std::string who = member.index ? name_of(*member.index) : "a data server";
  options_.tell(who + " is gone: " + member.stream.end());
  if (!member.index) return;
  salt_ = options_.random();
  // What it may still heed takes a while to end.
  member.key = reactor_.add(member);
  reactor_.set_deadline(member.key, member.fenced_at);
}

void MetadataControl::sweep() {
  for (auto at = members_.begin(); at != members_.end();) {
    Member& member = **at;
    if (!member.over && !member.stream.end().empty()) end(member);
    if (member.over && reactor_.now() >= member.fenced_at) {
      pass_all(member);
      if (member.key != 0) reactor_.remove(member.key);
      at = members_.erase(at);
    } else {
      ++at;
    }
  }
}

// --- messages

void MetadataControl::take(Member& member, const Message& message) {
  if (const auto* hello = std::get_if<Hello>(&message)) return take_hello(member, *hello);
  if (!member.has_joined()) return member.stream.stop("its first message was no Hello");
  if (const auto* heeded = std::get_if<Acknowledgement>(&message))
    return take_acknowledgement(member, heeded->epoch);
  if (std::holds_alternative<Ask>(message) || std::holds_alternative<Ping>(message))
    return take_question(member, message);
  member.stream.stop("it sent what only a metadata server says");
}

std::string MetadataControl::objection(const Hello& hello) const {
  if (hello.version != kVersion)
    return "its control protocol has version " + std::to_string(hello.version) +
           ", and here it is " + std::to_string(kVersion);
  const std::uint32_t count = data_servers_->pattern().count;
  if (hello.index >= count) return "there are " + std::to_string(count) + " data servers";
  if (is_here(hello.index)) return name_of(hello.index) + " is here already";
  return hello.addresses.empty() ? "it has no address" : "";
}

void MetadataControl::take_hello(Member& member, const Hello& hello) {
  if (member.has_joined()) return member.stream.stop("it said Hello twice");
  if (const std::string why = objection(hello); !why.empty()) {
    member.stream.send(Refusal{why});
    return member.stream.stop("it was refused: " + why);
  }
  member.index = hello.index;
  member.fenced_at = net::after(reactor_.now(), options_.lease);
  reactor_.set_deadline(member.key, net::kNever);
  member.stream.send(Welcome{data_servers_->secret(), data_servers_->pattern(),
                             static_cast<std::uint64_t>(options_.lease.count()),
                             data_servers_->shared_verifier().value_or(0)});
  const bool has_moved = data_servers_->set(hello.index, hello.addresses);
  options_.tell(name_of(hello.index) + (has_moved ? " is here, at another address" : " is here"));
  if (has_moved) administration_->tell_of_move();
  if (all_here()) state_->hold_grace(false);
}

void MetadataControl::take_acknowledgement(Member& member, std::uint64_t epoch) {
  if (member.revoked.empty() || epoch > member.revoked.back())
    return member.stream.stop("it acknowledged what was not revoked");
  while (!member.revoked.empty() && member.revoked.front() <= epoch) {
    pass(member.revoked.front());
    member.revoked.pop_front();
  }
  while (member.revoked.empty() && !member.waiting.empty()) {
    answer(member, member.waiting.front());
    member.waiting.pop_front();
  }
}

void MetadataControl::take_question(Member& member, const Message& question) {
  if (member.revoked.empty()) return answer(member, question);
  if (member.waiting.size() >= kMostWaitingAsks)
    return member.stream.stop("it asks, and does not acknowledge");
  member.waiting.push_back(question);
}

void MetadataControl::answer(Member& member, const Message& question) {
  member.fenced_at = net::after(reactor_.now(), options_.lease);
  if (const auto* ping = std::get_if<Ping>(&question))
    return member.stream.send(Pong{ping->number});
  member.stream.send(decide(member, std::get<Ask>(question)));
}

Answer MetadataControl::decide(const Member& member, const Ask& ask) {
  LayoutWish wish{ask.file, ask.owner, std::nullopt, ask.stateid, std::nullopt};
  if (ask.deed == Deed::read) wish.want = AccessMode::read;
  if (ask.deed == Deed::write) wish.want = AccessMode::write;
  if (ask.has_range) wish.range = ByteRange{ask.first, ask.last};
  const LayoutRight right = authority_->decide(wish);
  File* file = state_->tables().find_file(ask.file);
  if (file && right.status == nfs4::Status::NFS4_OK)
    file->granted |= DataServerMask{1} << *member.index;
  return {ask.number, right.status, right.range.first, right.range.last};
}

// --- revocations

void MetadataControl::revoke(const Handle& file, DataServerMask data_servers) {
  const std::uint64_t ticket = ++last_;
  std::size_t waiting = 0;
  for (const auto& member : members_) {
    if (!member->index || (data_servers >> *member->index & 1) == 0) continue;
    ++waiting;
    if (member->revoked.empty()) reactor_.set_deadline(member->key, member->fenced_at);
    member->revoked.push_back(ticket);
    if (!member->over) member->stream.send(Revoke{ticket, file});
    rewatch(*member);
  }
  if (waiting == 0) return;
  pending_[ticket] = {file, waiting};
  pending_of_files_.emplace(file, ticket);
}

void MetadataControl::pending(const Handle& file, Tickets& tickets) const {
  const auto [first, last] = pending_of_files_.equal_range(file);
  for (auto at = first; at != last; ++at) tickets.push_back(at->second);
}

void MetadataControl::all_pending(Tickets& tickets) const {
  for (const auto& [ticket, pending] : pending_) tickets.push_back(ticket);
}

void MetadataControl::pass(std::uint64_t ticket) {
  const auto found = pending_.find(ticket);
  if (--found->second.waiting > 0) return;
  const auto [first, last] = pending_of_files_.equal_range(found->second.file);
  pending_of_files_.erase(
      std::find_if(first, last, [&](const auto& each) { return each.second == ticket; }));
  pending_.erase(found);
}

void MetadataControl::pass_all(Member& member) {
  for (const std::uint64_t ticket : std::exchange(member.revoked, {})) pass(ticket);
}

void MetadataControl::renew_verifier() {
  if (!data_servers_->pattern().commit_through_server || !storage_) return;
  const std::uint64_t verifier = salt_ ^ storage_->write_verifier();
  if (data_servers_->shared_verifier() == verifier) return;
  data_servers_->share_verifier(verifier);
  for (const auto& member : members_) {
    if (member->index && !member->over) member->stream.send(NewVerifier{verifier});
    rewatch(*member);
  }
}

void MetadataControl::replace_device() {
  for (std::uint32_t index = 0; index < data_servers_->pattern().count; ++index) {
    if (is_here(index)) continue;
    data_servers_->take_out(index);
    options_.tell(name_of(index) + " is out: there are no layouts until it is here");
  }
  administration_->replace_device();
}

bool MetadataControl::is_here(std::uint32_t index) const {
  return std::ranges::any_of(
      members_, [&](const auto& member) { return member->index == index && !member->over; });
}

bool MetadataControl::all_here() const {
  for (std::uint32_t index = 0; index < data_servers_->pattern().count; ++index) {
    if (!is_here(index)) return false;
  }
  return true;
}

}  // namespace steertag::peer::control
