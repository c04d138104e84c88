// The RDMA Reads that wait for their responses, in order (RFC 5040 5.2.1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace steertag::conformance {

/// At most this many RDMA Reads are tracked; IRD and ORD have 14 bits (RFC 6581 9).
inline constexpr std::size_t kMostPendingReads = 16384;

/// One RDMA Read on behalf of a call.
struct PendingRead {
  std::uint32_t call = 0;  // pool index and serial of the call
  std::uint64_t serial = 0;
  std::uint64_t left = 0;  // octets still to come
};

/// A ring that grows up to its limit. Beyond it, reads are not tracked.
class PendingReads {
 public:
  void push(const PendingRead& read);
  /// Takes `length` octets of responses. Calls `done(const PendingRead&)` for each completed read.
  template <class Done>
  void respond(std::uint64_t length, Done done) {
    bool any = false;
    while (count_ > 0) {  // at most kMostPendingReads
      PendingRead& first = ring_[head_];
      if (first.left > length) {
        first.left -= length;
        return;
      }
      // A zero-length response answers one zero-length read, and nothing of a longer one.
      if (any && length == 0) return;
      any = true;
      length -= first.left;
      const PendingRead read = first;
      head_ = (head_ + 1) % ring_.size();
      --count_;
      done(read);
    }
  }
  /// The oldest one, or nullptr.
  const PendingRead* first() const { return count_ == 0 ? nullptr : &ring_[head_]; }
  bool lost() const { return lost_; }

 private:
  void grow();

  std::vector<PendingRead> ring_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  bool lost_ = false;
};

}  // namespace steertag::conformance
