// Who says what a client may do at a data server: its metadata server (RFC 8881 13.9, 13.11).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "nfs/v4/types.h"
#include "server/storage/backend.h"
#include "server/storage/permission.h"
#include "server/v4/state/byte_range.h"

namespace steertag::peer {

/// What a client is about to do at a data server.
struct LayoutWish {
  Handle file{};           // of the metadata server
  std::string_view owner;  // the client's co_ownerid, which both servers know (RFC 8881 13.1)
  std::optional<AccessMode> want{};                 // to read or to write; none: COMMIT
  nfs4::StateId stateid{};                          // of the open; without meaning for COMMIT
  std::optional<ByteRange> range{};                 // octets of the file; none: of any
  std::chrono::steady_clock::time_point arrived{};  // the call
};

/// With NFS4_OK the client may do it, in all of the range. What takes a right away calls
/// StateTables::fence.
struct LayoutRight {
  nfs4::Status status = nfs4::Status::NFS4ERR_PNFS_NO_LAYOUT;
  ByteRange range{};
};

class LayoutAuthority {
 public:
  virtual ~LayoutAuthority() = default;
  virtual LayoutRight decide(const LayoutWish& wish) = 0;
  /// The lease of the metadata server, as far as it is known: clients at a data server have no
  /// shorter one (RFC 8881 13.1.1).
  virtual std::chrono::milliseconds lease() const { return {}; }
};

}  // namespace steertag::peer
