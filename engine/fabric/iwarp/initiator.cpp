// Steps of the initiator's startup.
#include "fabric/iwarp/initiator.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fabric/iwarp/startup_error.h"

namespace steertag::fabric::iwarp {

StartupFrame request_of(const ConnectionOptions& options) {
  StartupFrame frame;
  frame.crc = options.crc;
  frame.revision = options.mpa_revision;
  if (options.mpa_revision >= 2) {
    frame.enhanced = Enhanced{false, false, false, false, options.ird, options.ord};
  }
  frame.private_data = options.private_data;
  return frame;
}

Expected<Agreement, Error> agree(const ConnectionOptions& options, const StartupFrame& reply) {
  if (reply.markers) {
    return tl::unexpected(markers_demanded());
  }
  Agreement agreement;
  agreement.crc = options.crc || reply.crc;
  agreement.ird = options.ird;
  agreement.ord = options.ord;
  if (!reply.enhanced) {
    return agreement;
  }
  if (options.mpa_revision < 2) {
    return tl::unexpected(
        Error{Errc::protocol_error,
              "the MPA reply is enhanced although the request was not (RFC 6581 6)"});
  }
  const Enhanced& peer = *reply.enhanced;
  if (peer.ird != kNotNegotiated) {
    agreement.ord = std::min(options.ord, peer.ird);
  }
  if (peer.ord != kNotNegotiated && peer.ord > options.ird) {
    agreement.refusal = cause::kMpaInsufficientIrd;
  }
  if (peer.peer_to_peer) {
    agreement.refusal = cause::kMpaNoRtr;  // we asked for the client-server model
  }
  return agreement;
}

Expected<void, Error> check(const ConnectionOptions& options) {
  if (options.mpa_revision != 1 && options.mpa_revision != 2) {
    return tl::unexpected(
        Error{Errc::unsupported,
              "MPA revision " + std::to_string(options.mpa_revision) + "; there are 1 and 2"});
  }
  const std::size_t words = options.mpa_revision >= 2 ? kEnhancedBytes : 0;
  if (options.private_data.size() + words > kMostPrivateData) {
    return tl::unexpected(
        Error{Errc::too_large, "private data of " + std::to_string(options.private_data.size()) +
                                   " octets (RFC 5044 7.1.1: at most " +
                                   std::to_string(kMostPrivateData - words) + ")"});
  }
  if (options.ird > kNotNegotiated || options.ord > kNotNegotiated) {
    return tl::unexpected(Error{Errc::too_large, "IRD and ORD have 14 bits (RFC 6581 9)"});
  }
  return {};
}

Initiator::Initiator(Reactor& reactor, Owner& owner, std::vector<Address> addresses,
                     const ConnectionOptions& options)
    : reactor_(reactor),
      owner_(owner),
      options_(options),
      addresses_(std::move(addresses)),
      deadline_(after(reactor.now(), options.startup_timeout)),
      request_(options.raw_startup ? *options.raw_startup : encode(request_of(options))) {}

Initiator::~Initiator() {
  reactor_.remove(key_);
}

void Initiator::stop() {
  stage_ = Stage::over;
  reactor_.remove(std::exchange(key_, 0));
  socket_.close();
}

std::string Initiator::peer_name() const {
  return addresses_[next_ == 0 ? 0 : next_ - 1].text();
}

void Initiator::try_next() {
  while (next_ < addresses_.size()) {
    const Address& address = addresses_[next_++];
    reactor_.remove(std::exchange(key_, 0));
    socket_ = make_socket(address);
    if (!socket_.open() || !bind_from(socket_, address, options_.local_host, options_.local_port) ||
        (::connect(socket_.fd(), address.generic(), address.length) != 0 && errno != EINPROGRESS)) {
      last_error_ = address.text() + ": " + error_text(errno);
      continue;
    }
    set_no_delay(socket_);
    const auto key = reactor_.add(*this, socket_.fd(), EPOLLOUT);
    if (key) {
      key_ = *key;
      // An address that never answers must not use up the time of the others.
      const Time now = reactor_.now();
      const auto left = static_cast<Time>(addresses_.size() - next_ + 1);
      reactor_.set_deadline(key_, now + (deadline_ - now) / left);
      return;
    }
    last_error_ = address.text() + ": " + key.error().message();
  }
  fail(Errc::cannot_connect, last_error_);
}

void Initiator::on_ready(std::uint32_t /*events*/) {
  switch (stage_) {
    case Stage::connecting:
      connected();
      break;
    case Stage::requesting:
      send_request();
      break;
    case Stage::awaiting_reply:
      read_reply();
      break;
    case Stage::over:
      break;
  }
}

void Initiator::connected() {
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    last_error_ = peer_name() + ": " + error_text(error);
    try_next();
    return;
  }
  stage_ = Stage::requesting;
  reactor_.set_deadline(key_, deadline_);
  send_request();
}

void Initiator::send_request() {
  while (sent_ < request_.size()) {
    const View rest = View(request_).subspan(sent_);
    const ssize_t count = ::send(socket_.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) {
        fail(Errc::peer_reset, peer_name() + ": " + error_text(errno));
      }
      return;
    }
    owner_.on_startup_octets(trace::Role::client, rest.first(static_cast<std::size_t>(count)));
    sent_ += static_cast<std::size_t>(count);
  }
  stage_ = Stage::awaiting_reply;
  reactor_.watch(key_, EPOLLIN);
  owner_.on_request_sent();
}

void Initiator::read_reply() {
  // Reads exactly the frame: later octets belong to full operation. Of a foreign protocol it reads
  // up to one frame header, enough to name it.
  const auto lacking = octets_lacking(StartupKind::reply, reply_);
  const std::size_t have = reply_.size();
  reply_.resize(have + *lacking);
  const ssize_t count = ::recv(socket_.fd(), reply_.data() + have, *lacking, 0);
  if (count <= 0) {
    const int code = errno;
    reply_.resize(have);
    if (count < 0 && (code == EAGAIN || code == EINTR)) {
      return;
    }
    fail_with_peer(startup_cut(StartupKind::reply, have, count == 0 ? 0 : code));
    return;
  }
  reply_.resize(have + static_cast<std::size_t>(count));
  owner_.on_startup_octets(trace::Role::server, View(reply_).subspan(have));
  if (!options_.iwarp.startup.checks_key) {
    set_key(StartupKind::reply, reply_);
  }
  const auto still = octets_lacking(StartupKind::reply, reply_);
  if (!still) {
    fail_with_peer(startup_fault(StartupKind::reply, still.error(), reply_));
  } else if (*still == 0) {
    take_reply();
  }
}

void Initiator::take_reply() {
  auto reply = decode_startup(StartupKind::reply, reply_);
  if (!reply) {
    fail_with_peer(startup_fault(StartupKind::reply, reply.error(), reply_));
    return;
  }
  if (reply->rejected) {
    fail(Errc::rejected, peer_name(), std::move(reply->private_data));
    return;
  }
  auto agreement = agree(options_, *reply);
  if (!agreement) {
    fail_with_peer(agreement.error());
    return;
  }
  stage_ = Stage::over;
  reactor_.remove(std::exchange(key_, 0));
  owner_.on_reply(std::move(socket_), *agreement, std::move(reply->private_data));
}

void Initiator::on_deadline() {
  if (stage_ == Stage::connecting && next_ < addresses_.size()) {
    try_next();
    return;
  }
  const std::chrono::milliseconds limit = options_.startup_timeout;
  fail_with_peer(stage_ == Stage::connecting
                     ? Error{Errc::timed_out,
                             "no TCP connection within " + std::to_string(limit.count()) + " ms"}
                     : startup_late(StartupKind::reply, limit));
}

void Initiator::fail_with_peer(const Error& error) {
  fail(error.code, peer_name() + ": " + error.detail);
}

void Initiator::fail(Errc code, std::string detail, Bytes private_data) {
  stop();
  owner_.on_failed({code, std::move(detail)}, std::move(private_data));
}

}  // namespace steertag::fabric::iwarp
