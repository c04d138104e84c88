// Opening ports and closing them.
#include "fabric/roce/ports.h"

#include "fabric/roce/port.h"
#include "fabric/roce/runtime.h"

namespace steertag::fabric::roce {
namespace {

// Away from the addresses that people choose for servers.
constexpr std::uint32_t kFirstLoopback = 0x7f800000;
constexpr std::uint32_t kLoopbackMask = 0x007fffff;

// Whether an end can have this address.
Expected<void, Error> check_host(const Address& address) {
  if (!is_specific(address)) {
    return tl::unexpected(
        Error{Errc::unsupported, address.text() + ": roce needs the address of one interface"});
  }
  if (is_link_local(address) && host_of(address).interface == 0) {
    return tl::unexpected(
        Error{Errc::unsupported,
              address.text() + ": a link-local address needs its interface, as in [fe80::1%eth0]"});
  }
  return {};
}

}  // namespace

Ports::Ports(Runtime& runtime) : runtime_(runtime) {}

Ports::~Ports() = default;

Expected<Port*, Error> Ports::at(const Address& local) {
  if (auto checked = check_host(local); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  sweep();
  const auto found = ports_.find(host_of(local));
  if (found != ports_.end()) {
    return found->second.get();
  }
  auto opened = Port::open(runtime_, roce_address(local));
  if (!opened) {
    return tl::unexpected(std::move(opened.error()));
  }
  return ports_.emplace(host_of(local), std::move(*opened)).first->second.get();
}

Expected<Port*, Error> Ports::towards(const Address& peer) {
  if (auto checked = check_host(peer); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  if (is_ipv4(peer) && is_loopback(peer)) {
    return loopback();
  }
  const auto route = runtime_.find_route(peer);
  if (!route) {
    return tl::unexpected(route.error());
  }
  sweep();
  const Host there = host_of(peer);
  const bool ours = ports_.contains(there);
  Error last{Errc::cannot_connect,
             peer.text() +
                 ": two RoCE ends cannot share an address, and this machine has no other "
                 "IPv6 address that reaches this one"};
  for (const Address& source : route->sources) {
    if (host_of(source) == there && !ours) {
      if (is_ipv4(peer)) {
        return loopback();
      }
      continue;
    }
    auto port = at(source);
    if (port) {
      return port;
    }
    last = std::move(port.error());
  }
  return tl::unexpected(std::move(last));
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
    if (ports_.contains(host_of(local))) {
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
  for (const auto& [host, port] : ports_) {
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
