// What a server offers where: the answers of the port mapper and of rpcbind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/url.h"

namespace steertag::peer {

/// A version of a program at one of the server's places.
struct OfferedService {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::string netid;  // "tcp", "tcp6" (RFC 5665 5.1), "rdma", "rdma6" (RFC 8166 9)
  std::string host;   // as it is listened on; may be any address, "0.0.0.0" or "::"
  std::uint16_t port = 0;
};

/// Filled once the server listens.
struct ServiceTable {
  std::vector<OfferedService> services;

  /// The netid of a place, by its transport and the host's `address` in numbers.
  static std::string netid(const net::Url& place, std::string_view address);
  /// Lists a program at a place, `address` being the host's in numbers.
  void add(std::uint32_t program, std::uint32_t version, const net::Url& place,
           const std::string& address);
};

/// Whether the address stands for every address of the host.
bool is_any_address(std::string_view host);

}  // namespace steertag::peer
