// Receives that connections share: verbs know it as a shared receive queue (SRQ).
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/bytes.h"

namespace steertag::fabric {

/// The owner's id of a posted operation, returned in the notification of its completion.
using WorkId = std::uint64_t;

/// A Send takes one of these receives when it begins, on whichever connection that is. The others
/// then have one less. Connections that find none have their turns in the order in which they came.
/// A receive whose Send never came whole is for the next one.
class ReceiveQueue {
 public:
  virtual ~ReceiveQueue() = default;
  /// Receives are used in posting order. The buffer must live as long as the queue, or until its
  /// notification.
  virtual void post(MutableView buffer, WorkId id) = 0;
  /// Receives that no Send has taken.
  virtual std::size_t posted() const = 0;
  /// Connections whose next Send has begun and has no receive.
  virtual std::size_t waiting() const = 0;
};

}  // namespace steertag::fabric
