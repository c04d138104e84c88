// The shape of most results of NFS version 4: a status, and more only with NFS4_OK.
#pragma once

#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// A union over nfsstat4 with an arm for NFS4_OK. Result<Void> is a status alone. In the operations
/// of minor version 1 the RFCs put a prefix before `status` and `resok4` (sr_status). Here they
/// have one name, so that one code serves all. A status that the RFCs do not define is `bad_enum`.
template <class Ok>
struct Result {
  Status status = Status::NFS4_OK;
  Ok resok4{};

  void decode(wire::Reader& reader) { rpc::decode_fields(reader, *this); }
  void encode(wire::Writer& writer) const { rpc::encode_fields(writer, *this); }
  static constexpr auto kFields =
      Entries{Field{"status", &Result::status}, arm<Status::NFS4_OK>("resok4", &Result::resok4)};
};

}  // namespace steertag::nfs4
