// The shape of every result of NFS version 3: a status and the arm that it selects.
#pragma once

#include "nfs/nfs3_types.h"

namespace steertag::nfs3 {

/// A union over nfsstat3: `ok` is on the wire with NFS3_OK and `fail` with every other status.
/// Encode ignores the other arm; decode leaves it at its defaults. Decoding a status that RFC 1813
/// does not define is `bad_enum`.
template <class Ok, class Fail>
struct Result {
  Status status = Status::NFS3_OK;
  Ok ok{};
  Fail fail{};

  void decode(wire::Reader& reader) {
    rpc::decode_value(reader, status, "status", 0);
    if (!reader.ok()) return;
    if (status == Status::NFS3_OK) {
      fail = Fail{};
      ok.decode(reader);
    } else {
      ok = Ok{};
      fail.decode(reader);
    }
  }
  void encode(wire::Writer& writer) const {
    rpc::encode_value(writer, status);
    if (status == Status::NFS3_OK) {
      ok.encode(writer);
    } else {
      fail.encode(writer);
    }
  }
  static constexpr auto kFields = Entries{Field{"status", &Result::status},
                                          Field{"ok", &Result::ok}, Field{"fail", &Result::fail}};
};

}  // namespace steertag::nfs3
