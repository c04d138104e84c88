// What the connection manager's messages tell of one connection, from the request on.
#pragma once

#include <cstdint>

#include "capture/infiniband/address.h"
#include "rdma/infiniband/cm_message.h"

namespace steertag::capture::infiniband {

/// Private data of a message, kept. `whole` is false if the capture has only a part of it.
struct KeptPrivateData {
  KeptPrivateData() = default;
  /// Of a request, without what belongs to connection setup by IP address.
  explicit KeptPrivateData(const rdma::infiniband::CmMessage& message);
  Bytes octets;
  bool whole = false;
};

/// Requests and their answers are told apart by the client's communication id.
struct Exchange {
  Place place;  // of the request
  Address client;
  Address server;
  Address client_path;  // the ends of the path that the connection takes
  Address server_path;
  std::uint32_t client_id = 0;
  std::uint32_t client_queue_pair = 0;
  std::uint32_t server_psn = 0;  // of the server's first request, as the client asks for it
  KeptPrivateData private_data;
  bool told = false;  // the request

  bool answered = false;  // by a reply that the capture has, or by packets of the connection
  std::uint32_t server_id = 0;

  bool is(const Address& client_address, const Address& server_address, std::uint32_t id) const {
    return client_id == id && client == client_address && server == server_address;
  }
  /// The flow of what the server sends.
  FlowKey to_client() const { return {server_path, client_path, client_queue_pair}; }
  FlowKey to_server(std::uint32_t queue_pair) const {
    return {client_path, server_path, queue_pair};
  }
};

/// A reply whose request was not seen, or was captured behind it.
struct EarlyReply {
  Place place;
  Address client;
  Address server;
  std::uint32_t client_id = 0;
  std::uint32_t server_id = 0;
  std::uint32_t queue_pair = 0;
  std::uint32_t client_psn = 0;  // of the client's first request, as the server asks for it
  KeptPrivateData private_data;
};

}  // namespace steertag::capture::infiniband
