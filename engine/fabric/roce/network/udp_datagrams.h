// Datagrams over an ordinary UDP socket, with segmentation by the system (UDP_SEGMENT, UDP_GRO).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "fabric/roce/network/datagrams.h"

namespace steertag::fabric::roce {

class UdpDatagrams final : public Datagrams {
 public:
  /// Of one family of addresses. Errc::cannot_listen if the address is not local or its port is
  /// busy. Port 0 is any free one.
  static Expected<std::unique_ptr<Datagrams>, Error> open(const Address& local, int buffer_bytes);

  UdpDatagrams(Socket socket, const Address& local);

  int descriptor() const override { return socket_.fd(); }
  const Address& local() const override { return local_; }
  bool groups() const override { return groups_; }
  std::uint32_t mtu() const override { return mtu_; }
  std::size_t receive_buffer() const override;
  std::size_t send(std::span<const Outbound> packets) override;
  std::span<const Inbound> receive() override;
  std::optional<Address> refusal() override;

 private:
  Socket socket_;
  Address local_;
  bool groups_ = false;
  std::uint32_t mtu_ = kMostIpBytes;   // known from the start: a process may give up system calls
  std::unique_ptr<std::byte[]> room_;  // NOLINT: pages that are not used are not there
  std::array<Address, kReceives> senders_;
  std::vector<Inbound> inbound_;
};

}  // namespace steertag::fabric::roce
