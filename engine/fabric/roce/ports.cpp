// Opening ports and closing them.
#include "fabric/roce/ports.h"

#include <sys/socket.h>

#include <cerrno>

#include "fabric/roce/port.h"
#include "fabric/roce/runtime.h"

namespace steertag::fabric::roce {
namespace {

// Away from the addresses that people choose for servers.
constexpr std::uint32_t kFirstLoopback = 0x7f800000;
constexpr std::uint32_t kLoopbackMask = 0x007fffff;

}  // namespace

Ports::Ports(Runtime& runtime) : runtime_(runtime) {}

Ports::~Ports() = default;

Expected<Port*, Error> Ports::at(const Address& local) {
  if (!is_ipv4(local) || !is_specific(local)) {
    return tl::unexpected(
        Error{Errc::unsupported, local.text() + ": roce needs the IPv4 address of one interface"});
  }
  sweep();
  const auto found = ports_.find(gid_of(local));
  if (found != ports_.end()) {
    return found->second.get();
  }
  auto opened = Port::open(runtime_, roce_address(local));
  if (!opened) {
    return tl::unexpected(std::move(opened.error()));
  }
  return ports_.emplace(gid_of(local), std::move(*opened)).first->second.get();
}

Expected<Port*, Error> Ports::towards(const Address& peer) {
  if (!is_ipv4(peer)) {
    return tl::unexpected(Error{Errc::unsupported, peer.text() + ": roce needs an IPv4 address"});
  }
  if (is_loopback(peer)) {
    return loopback();
  }
  // The route tells the source address. No datagram leaves.
  const Socket probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe.open() || ::connect(probe.fd(), peer.generic(), peer.length) != 0) {
    return tl::unexpected(Error{Errc::cannot_connect, peer.text() + ": " + error_text(errno)});
  }
  return at(local_address(probe));
}

Expected<Port*, Error> Ports::loopback() {
  sweep();
  if (loopback_ != nullptr) {
    return loopback_;
  }
  Error last{Errc::cannot_connect, "no free address of 127.128.0.0/9"};
  for (std::uint32_t i = 0; i < runtime_.limits.roce.loopback_tries; ++i) {
    const auto drawn = static_cast<std::uint32_t>(runtime_.random()) & kLoopbackMask;
    const Address local = ipv4_address(kFirstLoopback | drawn, 0);
    if (ports_.contains(gid_of(local))) {
      continue;
    }
    auto port = at(local);
    if (port) {
      loopback_ = *port;
      return port;
    }
    last = std::move(port.error());
  }
  return tl::unexpected(std::move(last));
}

void Ports::flush() {
  for (const auto& [gid, port] : ports_) {
    port->flush();
  }
}

void Ports::sweep() {
  std::erase_if(ports_, [this](const auto& each) {
    const bool unused = each.second->unused();
    if (unused && loopback_ == each.second.get()) {
      loopback_ = nullptr;
    }
    return unused;
  });
}

}  // namespace steertag::fabric::roce
