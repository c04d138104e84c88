// A peer made of a bare TCP socket: sends any octets and records all received ones.
#pragma once

#include <optional>
#include <string_view>

#include "fabric/fabric.h"
#include "fabric/iwarp/formats.h"
#include "fabric/net_names.h"
#include "fabric/testing/endpoint.h"

namespace steertag::fabric::testing {

/// One FPDU around `payload`, with a right CRC.
Bytes fpdu(const iwarp::Segment& segment, View payload);
iwarp::Segment untagged(iwarp::Opcode opcode, std::uint32_t qn, std::uint32_t msn);
iwarp::Segment tagged(iwarp::Opcode opcode, std::uint32_t stag, std::uint64_t offset);

/// Not blocking: everything happens while the test polls its provider.
class RawPeer {
 public:
  /// Connects to a listener of the provider under test, from an address of this host.
  static RawPeer to(std::uint16_t port, std::string_view source = "127.0.0.1");
  explicit RawPeer(Socket socket) : socket_(std::move(socket)) {}

  /// The name that the other end uses.
  std::string name() const { return local_address(socket_).text(); }
  std::uint16_t peer_port() const { return peer_address(socket_).port(); }
  std::string peer_name() const { return peer_address(socket_).text(); }
  /// Sends as much as the socket takes; returns that number of octets.
  std::size_t send(View bytes);
  /// Moves received octets to `got`; returns false once the stream has ended.
  bool read();
  void end() { socket_.end(); }
  void close() { socket_.close(); }
  /// The cause of the Terminate that is the last FPDU of `got` from `from` on, "layer/type/code".
  std::string terminate(std::size_t from) const;

  Bytes got;
  bool ended = false;

 private:
  Socket socket_;
};

/// A listening TCP socket for clients under test.
class RawServer {
 public:
  RawServer();
  std::uint16_t port() const { return local_address(socket_).port(); }
  /// The next connection, if one waits.
  std::optional<RawPeer> accept();

 private:
  Socket socket_;
};

}  // namespace steertag::fabric::testing
