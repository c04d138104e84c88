// Codecs of COMPOUND's fixed parts, and walks over its operations.
#include "nfs/v4/compound.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(CompoundArgs)
STEERTAG_DEFINE_XDR(CbCompoundArgs)
STEERTAG_DEFINE_XDR(CompoundResult)

bool skip_arguments(wire::Reader& reader, Opnum number) {
  if (rpc::name(number).empty()) return false;
  with_signature(number, [&]<class Args, class Res>(Signature<Args, Res>) {
    Args args{};
    args.decode(reader);
  });
  return reader.ok();
}

bool skip_result(wire::Reader& reader, Opnum number) {
  if (rpc::name(number).empty()) return false;
  with_signature(number, [&]<class Args, class Res>(Signature<Args, Res>) {
    Res result{};
    result.decode(reader);
  });
  return reader.ok();
}

Status status_of(const wire::Fault& fault, std::uint32_t minorversion) {
  if (!fault) return Status::NFS4_OK;
  if (fault.code != wire::FaultCode::limit_exceeded || fault.field != "argarray") {
    return Status::NFS4ERR_BADXDR;
  }
  // RFC 7530 13.1.3.4, RFC 8881 15.1.3.11.
  return minorversion == 0 ? Status::NFS4ERR_RESOURCE : Status::NFS4ERR_TOO_MANY_OPS;
}

}  // namespace steertag::nfs4
