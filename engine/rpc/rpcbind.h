// rpcbind, versions 3 and 4 of program 100000 (RFC 1833 2), and universal addresses (RFC 5665).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rpc/fields.h"

namespace steertag::rpcbind {

using rpc::Field;

inline constexpr std::uint32_t kLowestVersion = 3;
inline constexpr std::uint32_t kHighestVersion = 4;
/// The RFC sets no limits for strings. Netids have at most 128 octets (RFC 5665 5.1.2), addresses
/// far fewer, and owners are user names.
inline constexpr std::size_t kMostNetidOctets = 128;
inline constexpr std::size_t kMostAddressOctets = 256;
inline constexpr std::size_t kMostOwnerOctets = 256;
/// The list of DUMP has no limit either. This is far above what one host registers.
inline constexpr std::size_t kMostServices = 4096;

/// Procedures of both versions. Those from GETVERSADDR on are of version 4 only.
enum class Procedure : std::uint32_t {
  RPCBPROC_NULL = 0,
  RPCBPROC_SET = 1,
  RPCBPROC_UNSET = 2,
  RPCBPROC_GETADDR = 3,
  RPCBPROC_DUMP = 4,
  RPCBPROC_GETVERSADDR = 9,
};

/// rpcb
struct Service {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::string_view netid{};
  std::string_view address{};  // universal
  std::string_view owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"r_prog", &Service::program}, Field{"r_vers", &Service::version},
              Field{"r_netid", &Service::netid, kMostNetidOctets},
              Field{"r_addr", &Service::address, kMostAddressOctets},
              Field{"r_owner", &Service::owner, kMostOwnerOctets}};
};

/// The result of GETADDR and GETVERSADDR; empty: not registered.
struct UniversalAddress {
  std::string_view text{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"address", &UniversalAddress::text, kMostAddressOctets}};
};

/// rpcblist, the result of DUMP.
struct ServiceList {
  rpc::Chain<Service> services{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"services", &ServiceList::services, kMostServices}};
};

/// "192.0.2.1" and 2049 are "192.0.2.1.8.1" (RFC 5665 5.2.3.3, 5.2.3.4).
std::string universal_address(std::string_view host, std::uint16_t port);
/// The host of a universal address; nullopt for other text.
std::optional<std::string_view> host_of(std::string_view universal_address);
/// Its port likewise.
std::optional<std::uint16_t> port_of(std::string_view universal_address);

}  // namespace steertag::rpcbind
