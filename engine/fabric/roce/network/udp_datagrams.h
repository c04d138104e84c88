// Datagrams over an ordinary UDP socket.
#pragma once

#include <array>
#include <vector>

#include "fabric/roce/network/datagrams.h"

namespace steertag::fabric::roce {

class UdpDatagrams final : public Datagrams {
 public:
  /// Errc::cannot_listen if the address is not local or its port is busy.
  static Expected<std::unique_ptr<Datagrams>, Error> open(const Address& local, int buffer_bytes);

  UdpDatagrams(Socket socket, const Address& local);

  int descriptor() const override { return socket_.fd(); }
  const Address& local() const override { return local_; }
  std::size_t send(std::span<const Outbound> packets) override;
  std::span<const Inbound> receive() override;
  std::optional<Address> refusal() override;

 private:
  Socket socket_;
  Address local_;
  std::vector<std::byte> room_ = std::vector<std::byte>(kBatch * kMostDatagramBytes);
  std::array<Address, kBatch> senders_;
  std::array<Inbound, kBatch> inbound_;
};

}  // namespace steertag::fabric::roce
