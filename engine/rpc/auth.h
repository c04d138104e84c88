// RPC authentication (RFC 5531 8.2, 9, appendix A): opaque_auth and the body of AUTH_SYS.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rpc/fields.h"
#include "support/bytes.h"
#include "support/expected.h"
#include "wire/xdr.h"

namespace steertag::rpc {

/// Largest body of an opaque_auth (RFC 5531 8.2).
inline constexpr std::size_t kMostAuthOctets = 400;
/// Longest machine name and most supplementary groups of AUTH_SYS (RFC 5531 appendix A).
inline constexpr std::size_t kMostMachineNameOctets = 255;
inline constexpr std::size_t kMostGroups = 16;

/// An open registry (RFC 5531 8.2): decoding accepts every number.
enum class AuthFlavor : std::uint32_t {
  AUTH_NONE = 0,
  AUTH_SYS = 1,
  AUTH_SHORT = 2,
  AUTH_DH = 3,
  RPCSEC_GSS = 6,
};
inline constexpr Named<AuthFlavor> kAuthFlavorNames[] = {
    {AuthFlavor::AUTH_NONE, "AUTH_NONE"},   {AuthFlavor::AUTH_SYS, "AUTH_SYS"},
    {AuthFlavor::AUTH_SHORT, "AUTH_SHORT"}, {AuthFlavor::AUTH_DH, "AUTH_DH"},
    {AuthFlavor::RPCSEC_GSS, "RPCSEC_GSS"},
};
constexpr std::span<const Named<AuthFlavor>> names_of(AuthFlavor) {
  return kAuthFlavorNames;
}
constexpr bool is_open(AuthFlavor) {
  return true;
}

/// A credential or verifier. The body points into the decoded message, or into the sender's memory.
/// A body of more than kMostAuthOctets can be encoded, and not decoded.
struct OpaqueAuth {
  AuthFlavor flavor = AuthFlavor::AUTH_NONE;
  View body{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"flavor", &OpaqueAuth::flavor},
                                          Field{"body", &OpaqueAuth::body, kMostAuthOctets}};
};

/// The body of an AUTH_SYS credential (authsys_parms).
struct AuthSys {
  std::uint32_t stamp = 0;
  std::string_view machine_name{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> gids{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"stamp", &AuthSys::stamp},
              Field{"machine_name", &AuthSys::machine_name, kMostMachineNameOctets},
              Field{"uid", &AuthSys::uid}, Field{"gid", &AuthSys::gid},
              Field{"gids", &AuthSys::gids, kMostGroups}};
};

/// The encoding of an RPC's arguments and results after its headers.
enum class Wrapping : std::uint8_t {
  plain,    // as XDR of the procedure
  wrapped,  // under the RPCSEC_GSS services integrity or privacy (RFC 2203 5.3.2.2, 5.3.2.3)
  unknown,  // a control message of RPCSEC_GSS, or a credential that RFC 2203 does not define
};

/// From the credential of the call; its verifier does not matter.
Wrapping wrapping_of(const OpaqueAuth& credential);

/// Reads a whole body of flavour AUTH_SYS. Offsets of faults count from the start of `body`. Octets
/// after the last group are `trailing_bytes`.
Expected<AuthSys, wire::Fault> decode_auth_sys(View body);

/// The body of an AUTH_SYS credential, for OpaqueAuth::body.
Bytes encode_auth_sys(const AuthSys& parameters);

}  // namespace steertag::rpc
