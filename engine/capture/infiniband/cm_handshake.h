// The connection setup that the messages of the connection manager describe, from the request on.
#pragma once

#include <cstdint>

#include "capture/infiniband/address.h"
#include "rdma/infiniband/cm_message.h"

namespace steertag::capture::infiniband {

/// A copy of a message's private data. `whole` is false if the capture has only a part of it.
struct KeptPrivateData {
  KeptPrivateData() = default;
  /// From a request, without the header of connection setup by IP address.
  explicit KeptPrivateData(const rdma::infiniband::CmMessage& message);
  Bytes octets;
  bool whole = false;
};

/// The client's communication id tells two handshakes apart.
struct CmHandshake {
  FrameStamp stamp;  // of the request
  Address client;
  Address server;
  Address client_path;  // the ends of the path that the connection takes
  Address server_path;
  std::uint32_t client_id = 0;
  std::uint32_t client_queue_pair = 0;
  std::uint32_t server_psn = 0;  // PSN of the server's first request; the client chooses it
  KeptPrivateData private_data;
  bool reported = false;  // the request was reported

  bool answered = false;  // a captured reply, or a packet of the connection, answered it
  std::uint32_t server_id = 0;

  bool is(const Address& client_address, const Address& server_address, std::uint32_t id) const {
    return client_id == id && client == client_address && server == server_address;
  }
  /// The flow from the server to the client.
  FlowKey to_client() const { return {server_path, client_path, client_queue_pair}; }
  FlowKey to_server(std::uint32_t queue_pair) const {
    return {client_path, server_path, queue_pair};
  }
};

/// A reply without a captured request before it.
struct EarlyReply {
  FrameStamp stamp;
  Address client;
  Address server;
  std::uint32_t client_id = 0;
  std::uint32_t server_id = 0;
  std::uint32_t queue_pair = 0;
  std::uint32_t client_psn = 0;  // PSN of the client's first request; the server chooses it
  KeptPrivateData private_data;
};

}  // namespace steertag::capture::infiniband
