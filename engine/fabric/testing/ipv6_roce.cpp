// Sockets at ::1, and the addresses that they stand for.
#include "fabric/testing/ipv6_roce.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <random>

#include "fabric/roce/network/udp_datagrams.h"
#include "fabric/roce/provider.h"

namespace steertag::fabric::testing {
namespace {

std::string in_brackets(const Address& address) {
  return "[" + address.host() + "]";
}

/// A port of ::1 that refuses datagrams: its socket takes none but its own.
Socket closed_port() {
  Socket socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Address any = numeric("::1");
  EXPECT_EQ(::bind(socket.fd(), any.generic(), any.length), 0) << error_text(errno);
  const Address own = local_address(socket);
  EXPECT_EQ(::connect(socket.fd(), own.generic(), own.length), 0) << error_text(errno);
  return socket;
}

}  // namespace

bool machine_has_ipv6() {
  const Socket socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Address any = numeric("::1");
  return socket.open() && ::bind(socket.fd(), any.generic(), any.length) == 0;
}

Address numeric(const std::string& host, std::uint16_t port) {
  return resolve({"roce", host, port, ""}, false)->front();
}

Address Ipv6Network::another_address() {
  const std::lock_guard lock(mutex_);
  return numeric("2001:db8::" + std::to_string(++addresses_));  // RFC 3849: no machine has it
}

Expected<std::unique_ptr<roce::Datagrams>, Error> Ipv6Network::open(const Address& local,
                                                                    int buffer_bytes) {
  const std::lock_guard lock(mutex_);
  Place& place = places_[roce::host_of(local)];
  if (place.real.length != 0 && !place.closed.open()) {
    return tl::unexpected(Error{Errc::cannot_listen, local.text() + ": in use"});
  }
  auto socket = roce::UdpDatagrams::open(numeric("::1"), buffer_bytes);
  if (!socket) {
    return socket;
  }
  place = {local, (*socket)->local(), Socket()};
  return std::make_unique<Ipv6Datagrams>(*this, local, std::move(*socket));
}

Address Ipv6Network::real(const Address& address) {
  const std::lock_guard lock(mutex_);
  Place& place = places_[roce::host_of(address)];
  if (place.real.length == 0) {
    place.address = address;
    place.closed = closed_port();
    place.real = local_address(place.closed);
  }
  return place.real;
}

std::optional<Address> Ipv6Network::address_of(const Address& real) {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, place] : places_) {
    if (place.real.port() == real.port()) {
      return place.address;
    }
  }
  return std::nullopt;
}

void Ipv6Network::close(const Address& address) {
  const std::lock_guard lock(mutex_);
  places_.erase(roce::host_of(address));
}

std::size_t Ipv6Datagrams::send(std::span<const roce::Outbound> packets) {
  to_.clear();
  outbound_.assign(packets.begin(), packets.end());
  for (const roce::Outbound& packet : packets) {
    to_.push_back(network_.real(*packet.to));
  }
  for (std::size_t i = 0; i < outbound_.size(); ++i) {
    outbound_[i].to = &to_[i];
  }
  return socket_->send(outbound_);
}

std::span<const roce::Inbound> Ipv6Datagrams::receive() {
  const std::span<const roce::Inbound> all = socket_->receive();
  from_.clear();
  inbound_.assign(all.begin(), all.end());
  for (const roce::Inbound& datagram : all) {
    from_.push_back(network_.address_of(*datagram.from).value_or(*datagram.from));
  }
  for (std::size_t i = 0; i < inbound_.size(); ++i) {
    inbound_[i].from = &from_[i];
  }
  return inbound_;
}

std::optional<Address> Ipv6Datagrams::refusal() {
  const auto real = socket_->refusal();
  return real ? network_.address_of(*real) : std::nullopt;
}

Factory ipv6_roce_factory() {
  const auto network = std::make_shared<Ipv6Network>();
  const auto another_host = [network] { return in_brackets(network->another_address()); };
  const auto make = [network](const Limits& limits, Clock clock) {
    const Address own = network->another_address();
    const auto random =
        std::make_shared<std::mt19937_64>(std::to_integer<int>(roce::gid_of(own).back()));
    const auto loopback = roce::system_route(numeric("::1"));
    const std::uint32_t mtu = loopback ? loopback->mtu : roce::kMostIpBytes;
    auto provider = roce::make_provider(
        [random] { return (*random)(); }, limits, clock ? std::move(clock) : system_clock(),
        [network](const Address& local, int bytes) { return network->open(local, bytes); },
        [own, mtu](const Address& peer) -> Expected<roce::Route, Error> {
          return roce::Route{mtu, {peer, own}};
        });
    return provider ? std::move(*provider) : nullptr;
  };
  return {"roce", another_host(), make, another_host};
}

std::vector<Factory> ipv6_if_chosen() {
  if (if_chosen("roce").empty() || !machine_has_ipv6()) {
    return {};
  }
  return {ipv6_roce_factory()};
}

}  // namespace steertag::fabric::testing
