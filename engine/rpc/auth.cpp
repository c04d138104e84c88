// Codec of opaque_auth and of the AUTH_SYS body, and the wrapping by RPCSEC_GSS credentials.
#include "rpc/auth.h"

namespace steertag::rpc {

STEERTAG_DEFINE_XDR(OpaqueAuth)
STEERTAG_DEFINE_XDR(AuthSys)

Wrapping wrapping_of(const OpaqueAuth& credential) {
  if (credential.flavor != AuthFlavor::RPCSEC_GSS) return Wrapping::plain;
  // RFC 2203 5
  constexpr std::uint32_t kData = 0;
  constexpr std::uint32_t kServiceNone = 1;
  constexpr std::uint32_t kServiceIntegrity = 2;
  constexpr std::uint32_t kServicePrivacy = 3;
  wire::Reader body(credential.body);
  body.u32("version");
  const std::uint32_t gss_procedure = body.u32("gss_proc");
  body.u32("seq_num");
  const std::uint32_t service = body.u32("service");
  // RFC 2203 5.2.2: seq_num and service of a control message mean nothing.
  if (!body.ok() || gss_procedure != kData) return Wrapping::unknown;
  if (service == kServiceNone) return Wrapping::plain;
  const bool wraps = service == kServiceIntegrity || service == kServicePrivacy;
  return wraps ? Wrapping::wrapped : Wrapping::unknown;
}

Expected<AuthSys, wire::Fault> decode_auth_sys(View body) {
  wire::Reader reader(body);
  AuthSys parameters;
  parameters.decode(reader);
  if (reader.remaining() != 0) {
    reader.fail(wire::FaultCode::trailing_bytes, reader.offset(), "authsys_parms");
  }
  if (!reader.ok()) return Unexpected<wire::Fault>(reader.fault());
  return parameters;
}

Bytes encode_auth_sys(const AuthSys& parameters) {
  Bytes body;
  wire::Writer writer(body);
  parameters.encode(writer);
  return body;
}

}  // namespace steertag::rpc
