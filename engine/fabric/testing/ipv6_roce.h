// The roce provider over IPv6, as the provider test suite gets it.
//
// UDP port 4791 of an address has room for one process, and a machine may have no other address of
// IPv6 than ::1. So the tests have addresses of their own. Each is a port of ::1.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/net_names.h"
#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/network/route.h"
#include "fabric/roce/packets/gid.h"
#include "fabric/testing/endpoint.h"

namespace steertag::fabric::testing {

/// Whether this machine has ::1.
bool machine_has_ipv6();
/// A numeric address, which may name an interface.
Address numeric(const std::string& host, std::uint16_t port = 0);

/// Addresses of IPv6 that exist in one test process. Any thread may use them. They live as long as
/// the sockets at them.
class Ipv6Network {
 public:
  /// One that no other call returned.
  Address another_address();
  Expected<std::unique_ptr<roce::Datagrams>, Error> open(const Address& local, int buffer_bytes);
  /// The port of ::1 that stands for an address. Without a socket at it, that port refuses.
  Address real(const Address& address);
  /// The address that a port of ::1 stands for.
  std::optional<Address> address_of(const Address& real);
  /// The address has no socket any more.
  void close(const Address& address);

 private:
  struct Place {
    Address address;
    Address real;
    Socket closed;  // refuses datagrams
  };
  std::mutex mutex_;
  std::map<roce::Host, Place> places_;
  std::uint32_t addresses_ = 0;
};

/// Datagrams between addresses of such a network.
class Ipv6Datagrams final : public roce::Datagrams {
 public:
  Ipv6Datagrams(Ipv6Network& network, const Address& local, std::unique_ptr<roce::Datagrams> socket)
      : network_(network), local_(local), socket_(std::move(socket)) {}
  ~Ipv6Datagrams() override { network_.close(local_); }

  int descriptor() const override { return socket_->descriptor(); }
  const Address& local() const override { return local_; }
  bool groups() const override { return socket_->groups(); }
  std::uint32_t mtu() const override { return socket_->mtu(); }
  std::size_t receive_buffer() const override { return socket_->receive_buffer(); }
  std::size_t send(std::span<const roce::Outbound> packets) override;
  std::span<const roce::Inbound> receive() override;
  std::optional<Address> refusal() override;

 private:
  Ipv6Network& network_;
  Address local_;
  std::unique_ptr<roce::Datagrams> socket_;
  std::vector<Address> to_;
  std::vector<Address> from_;
  std::vector<roce::Outbound> outbound_;
  std::vector<roce::Inbound> inbound_;
};

/// A provider on addresses of its own network. Towards itself it uses the port of its listener,
/// towards another provider another address.
Factory ipv6_roce_factory();
/// It, if this run tests roce and the machine has IPv6.
std::vector<Factory> ipv6_if_chosen();

}  // namespace steertag::fabric::testing
