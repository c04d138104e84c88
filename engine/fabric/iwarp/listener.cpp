// Accepting sockets, reading MPA requests and answering them.
#include "fabric/iwarp/listener.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fabric/iwarp/connection.h"
#include "fabric/iwarp/startup_error.h"

namespace steertag::fabric::iwarp {
namespace {

constexpr int kMostAcceptsPerTurn = 64;

/// The octets of a reply, and those behind it.
Bytes octets_of(const StartupFrame& reply, const ReplyPolicy& policy) {
  Bytes octets = encode(reply);
  octets[kStartupKeyBytes] |= policy.reserved_flags;
  if (reply.enhanced && !policy.enhanced_data_first) {
    const auto words = octets.begin() + kStartupHeaderBytes;
    std::rotate(words, words + kEnhancedBytes, octets.end());
  }
  octets.insert(octets.end(), policy.behind.begin(), policy.behind.end());
  return octets;
}

class IwarpRequest final : public ConnectionRequest {
 public:
  IwarpRequest(Runtime& runtime, Socket socket, Bytes octets, StartupFrame frame)
      : runtime_(runtime),
        socket_(std::move(socket)),
        octets_(std::move(octets)),
        frame_(std::move(frame)) {}

  View private_data() const override { return frame_.private_data; }
  Address peer() const override { return peer_address(socket_); }

  Expected<std::unique_ptr<Connection>, Error> accept(Domain& domain,
                                                      const ConnectionOptions& options,
                                                      Handler& handler, trace::EventSink* events,
                                                      trace::ByteSink* bytes) override {
    if (!socket_.open()) {
      return tl::unexpected(Error{Errc::not_connected, "the request was answered already"});
    }
    if (auto checked = check(options); !checked) {
      return tl::unexpected(checked.error());
    }
    auto ours = domain_of(runtime_.stags, domain);
    if (!ours) {
      return tl::unexpected(std::move(ours.error()));
    }
    // RFC 5044 7.1.2: the initiator waits for the reply before any FPDU.
    std::byte early{};
    if (::recv(socket_.fd(), &early, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
      socket_.close();
      return tl::unexpected(
          Error{Errc::protocol_error, "octets follow the MPA request (RFC 5044 7.1.2)"});
    }
    auto connection = std::make_unique<IwarpConnection>(runtime_, **ours, trace::Role::server,
                                                        options, handler, events, bytes);
    Bytes reply = options.raw_startup
                      ? *options.raw_startup
                      : octets_of(accepting_reply(options, frame_), options.iwarp.reply);
    if (auto started = connection->respond(std::move(socket_), octets_, frame_.private_data,
                                           std::move(reply), agree_as_responder(options, frame_));
        !started) {
      return tl::unexpected(std::move(started.error()));
    }
    return connection;
  }

  void reject(View private_data) override {
    if (!socket_.open()) {
      return;
    }
    StartupFrame reply;
    reply.kind = StartupKind::reply;
    reply.rejected = true;
    reply.crc = frame_.crc;
    reply.revision = frame_.revision;
    reply.enhanced = frame_.enhanced;
    const std::size_t most = kMostPrivateData - (reply.enhanced ? kEnhancedBytes : 0);
    private_data = private_data.first(std::min(private_data.size(), most));
    reply.private_data.assign(private_data.begin(), private_data.end());
    const Bytes octets = encode(reply);
    // A new socket's buffer takes these few octets at once.
    ::send(socket_.fd(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    runtime_.lingering.adopt(std::move(socket_),
                             after(runtime_.reactor.now(), runtime_.limits.closing));
  }

 private:
  Runtime& runtime_;
  Socket socket_;
  Bytes octets_;
  StartupFrame frame_;
};

}  // namespace

StartupFrame accepting_reply(const ConnectionOptions& options, const StartupFrame& request) {
  const ReplyPolicy& policy = options.iwarp.reply;
  StartupFrame reply;
  reply.kind = StartupKind::reply;
  reply.crc = options.crc || request.crc;
  reply.revision = request.revision;
  reply.private_data = options.private_data;
  if (request.enhanced && policy.answers_enhanced) {
    const Enhanced& peer = *request.enhanced;
    Enhanced& enhanced = reply.enhanced.emplace();
    reply.revision = policy.enhanced_revision;
    const auto unnegotiated = [&](std::uint16_t depth) {
      return depth == kNotNegotiated && policy.echoes_unnegotiated;
    };
    enhanced.ird = unnegotiated(peer.ord) ? kNotNegotiated : options.ird;
    enhanced.ord = unnegotiated(peer.ird) ? kNotNegotiated
                   : policy.limits_ord    ? std::min(options.ord, peer.ird)
                                          : options.ord;
    enhanced.peer_to_peer = peer.peer_to_peer && policy.echoes_peer_to_peer;
    enhanced.rtr_write = policy.offers_unasked_rtr;
    if (peer.peer_to_peer) {
      // A zero-length Write or Read uses no posted receive; a Send would take one. If the peer
      // offers only the Send, the reply says what we accept (RFC 6581 9.2).
      const bool neither = !peer.rtr_write && !peer.rtr_read;
      enhanced.rtr_write = peer.rtr_write || neither;
      enhanced.rtr_read = peer.rtr_read || neither;
    }
  } else if (request.enhanced) {
    reply.revision = 1;
  }
  const std::size_t words = reply.enhanced ? kEnhancedBytes : 0;
  reply.private_data.resize(std::min(reply.private_data.size(), kMostPrivateData - words));
  return reply;
}

Agreement agree_as_responder(const ConnectionOptions& options, const StartupFrame& request) {
  Agreement agreement;
  agreement.crc = (options.crc && options.iwarp.reply.counts_own_crc) || request.crc;
  agreement.ird = options.ird;
  agreement.ord = options.ord;
  if (request.enhanced && request.enhanced->ird != kNotNegotiated) {
    agreement.ord = std::min(options.ord, request.enhanced->ird);
  }
  return agreement;
}

// One accepted socket until its request is whole.
class IwarpListener::Pending final : public Channel {
 public:
  Pending(Runtime& runtime, IwarpListener& listener, net::SourceQuota::Slot slot, Socket socket,
          const Address& peer)
      : runtime_(runtime),
        listener_(listener),
        slot_(std::move(slot)),
        socket_(std::move(socket)),
        peer_(peer) {}
  ~Pending() override { runtime_.reactor.remove(key_); }

  Expected<void, Error> start() {
    Reactor& reactor = runtime_.reactor;
    const auto key = reactor.add(*this, socket_.fd(), EPOLLIN);
    if (!key) {
      return tl::unexpected(key.error());
    }
    key_ = *key;
    reactor.set_deadline(key_, after(reactor.now(), runtime_.limits.startup));
    return {};
  }
  // Known even when the peer has gone.
  std::string peer_name() const { return peer_.text(); }

  void on_ready(std::uint32_t /*events*/) override {
    const auto lacking = octets_lacking(StartupKind::request, octets_);
    const std::size_t have = octets_.size();
    octets_.resize(have + *lacking);
    const ssize_t count = ::recv(socket_.fd(), octets_.data() + have, *lacking, 0);
    const int code = errno;
    octets_.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (!listener_.policy_.checks_key) {
      set_key(StartupKind::request, octets_);
    }
    if (count <= 0) {
      if (count == 0 || (code != EAGAIN && code != EINTR)) {
        refuse(startup_cut(StartupKind::request, have, count == 0 ? 0 : code));
      }
      return;
    }
    const auto still = octets_lacking(StartupKind::request, octets_);
    if (!still) {
      // RFC 5044 7.1.2: close
      refuse(startup_fault(StartupKind::request, still.error(), octets_));
    } else if (*still == 0) {
      take_request();
    }
  }
  void on_deadline() override {
    refuse(startup_late(StartupKind::request, runtime_.limits.startup));
  }

 private:
  void take_request() {
    auto frame = decode_startup(StartupKind::request, octets_);
    if (!frame) {
      refuse(startup_fault(StartupKind::request, frame.error(), octets_));
      return;
    }
    const bool markers = frame->markers;
    runtime_.reactor.remove(std::exchange(key_, 0));
    auto request = std::make_unique<IwarpRequest>(runtime_, std::move(socket_), std::move(octets_),
                                                  std::move(*frame));
    if (markers && listener_.policy_.rejects_markers) {
      request->reject({});
      refuse(markers_demanded());
      return;
    }
    listener_.finish(*this, std::move(request));
  }

  // It lives until the end of the round, when its deadline may also be due.
  void refuse(Error error) {
    runtime_.reactor.remove(std::exchange(key_, 0));
    listener_.refuse(*this, std::move(error));
  }

  Runtime& runtime_;  // outlives the listener
  IwarpListener& listener_;
  net::SourceQuota::Slot slot_;
  Socket socket_;
  Address peer_;
  Reactor::Key key_ = 0;
  Bytes octets_;
};

Expected<std::unique_ptr<Listener>, Error> IwarpListener::open(Runtime& runtime, const Url& url,
                                                               AcceptCallback on_request,
                                                               RefusedCallback on_refused,
                                                               const StartupPolicy& policy) {
  auto socket = listen_at(url);
  if (!socket) {
    return tl::unexpected(std::move(socket.error()));
  }
  auto listener = std::make_unique<IwarpListener>(
      runtime, std::move(*socket), std::move(on_request), std::move(on_refused), policy);
  if (auto started = listener->start(); !started) {
    return tl::unexpected(Error{Errc::cannot_listen, started.error().message()});
  }
  return listener;
}

IwarpListener::IwarpListener(Runtime& runtime, Socket socket, AcceptCallback on_request,
                             RefusedCallback on_refused, const StartupPolicy& policy)
    : runtime_(runtime),
      socket_(std::move(socket)),
      on_request_(std::move(on_request)),
      on_refused_(std::move(on_refused)),
      policy_(policy) {}

Expected<void, Error> IwarpListener::start() {
  const auto key = runtime_.reactor.add(*this, socket_.fd(), EPOLLIN);
  if (!key) {
    return tl::unexpected(key.error());
  }
  key_ = *key;
  return {};
}

IwarpListener::~IwarpListener() {
  runtime_.reactor.remove(key_);
}

std::uint16_t IwarpListener::port() const {
  return local_address(socket_).port();
}

void IwarpListener::on_ready(std::uint32_t /*events*/) {
  std::vector<Refusal> refusals;
  for (int i = 0; i < kMostAcceptsPerTurn; ++i) {
    Address peer;
    Socket socket = accept_from(socket_, peer);
    if (!socket.open()) {
      // After these errors the waiting socket is gone, or there was none. After others it still
      // waits, and would end every round at once.
      const int code = errno;
      if (code != EAGAIN && code != EINTR && code != ECONNABORTED) {
        pause();
        if (!std::exchange(starved_, true)) {
          refusals.push_back({"", accept_error(code)});
        }
      }
      break;
    }
    starved_ = false;
    if (auto admitted = admit(std::move(socket), peer); !admitted) {
      refusals.push_back({peer.text(), std::move(admitted.error())});
    }
  }
  tell(refusals);
}

void IwarpListener::on_deadline() {
  runtime_.reactor.watch(key_, EPOLLIN);
}

void IwarpListener::pause() {
  Reactor& reactor = runtime_.reactor;
  reactor.watch(key_, 0);
  reactor.set_deadline(key_, after(reactor.round_time(), kAcceptPause));
}

Expected<void, Error> IwarpListener::admit(Socket socket, const Address& peer) {
  auto slot = runtime_.startups.admit(peer);
  if (!slot) {
    if (!slot.error().begins_burst) {
      return {};
    }
    return tl::unexpected(Error{Errc::too_many_startups, std::move(slot.error().reason)});
  }
  set_no_delay(socket);
  auto pending =
      std::make_unique<Pending>(runtime_, *this, std::move(*slot), std::move(socket), peer);
  auto started = pending->start();
  if (started) {
    pending_.push_back(std::move(pending));
  }
  return started;
}

void IwarpListener::finish(Pending& pending, std::unique_ptr<ConnectionRequest> request) {
  retire(pending);
  ++runtime_.notices;
  const AcceptCallback on_request = on_request_;  // it may destroy this listener
  on_request(std::move(request));
}

void IwarpListener::refuse(Pending& pending, Error error) {
  const std::vector<Refusal> refusals{{pending.peer_name(), std::move(error)}};
  retire(pending);
  tell(refusals);
}

// Called from inside the channel, which must live until its call returns.
void IwarpListener::retire(Pending& pending) {
  const auto found = std::ranges::find_if(
      pending_, [&](const std::unique_ptr<Pending>& each) { return each.get() == &pending; });
  runtime_.ended.push_back(std::move(*found));
  pending_.erase(found);
}

void IwarpListener::tell(const std::vector<Refusal>& refusals) {
  const RefusedCallback on_refused = on_refused_;  // it may destroy this listener
  if (!on_refused) {
    return;
  }
  Runtime& runtime = runtime_;
  for (const Refusal& refusal : refusals) {
    ++runtime.notices;
    on_refused(refusal.peer, refusal.error);
  }
}

}  // namespace steertag::fabric::iwarp
