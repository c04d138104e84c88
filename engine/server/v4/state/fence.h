// Takes away what data servers were granted: the state has changed, and they must not go on.
#pragma once

#include "server/rpc/reply_gate.h"
#include "server/storage/backend.h"

namespace steertag::peer {

/// A bit for each data server.
using DataServerMask = std::uint64_t;

/// A revocation passes when every data server has acknowledged it, is dead, or had no word from the
/// metadata server for one lease. What depends on it is not answered before (RFC 8881 13.9.2).
class Fence : public ReplyGate {
 public:
  /// These data servers forget what they were granted for the file.
  virtual void revoke(const Handle& file, DataServerMask data_servers) = 0;
  /// The ticket of the last revocation, 0 before the first; each has the next number.
  virtual std::uint64_t last() const = 0;
  /// Appends the tickets of what has not passed: of the file, or of all.
  virtual void pending(const Handle& file, Tickets& tickets) const = 0;
  virtual void all_pending(Tickets& tickets) const = 0;
};

/// Notes which revocations a call makes: its reply waits for them. None: there is no fence.
class RevocationWatch {
 public:
  explicit RevocationWatch(const Fence* fence)
      : fence_(fence), before_(fence ? fence->last() : 0) {}
  void note(Tickets& tickets) const {
    for (std::uint64_t ticket = before_; fence_ && ticket < fence_->last();)
      tickets.push_back(++ticket);
  }

 private:
  const Fence* fence_;
  std::uint64_t before_;
};

}  // namespace steertag::peer
