// Codec of opaque_auth and of the AUTH_SYS body.
#include "rpc/auth.h"

namespace steertag::rpc {

STEERTAG_DEFINE_XDR(OpaqueAuth)
STEERTAG_DEFINE_XDR(AuthSys)

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
