// The RDMA Reads of one side that wait for responses, in the order in which they were asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "capture/infiniband/transport_packet.h"
#include "trace/event.h"

namespace steertag::capture::infiniband {

/// Reads kept that wait. A queue pair has at most 255 in flight (librdmacm counts them in an
/// octet); more wait only if responses are missing in the capture, and the oldest are forgotten.
inline constexpr std::size_t kMostReads = 256;

/// The sizes that a path MTU can have (InfiniBand specification, chapter 9).
inline constexpr std::uint32_t kSmallestMtu = 256;
inline constexpr std::uint32_t kLargestMtu = 4096;

/// Where a packet stands in an order of sequence numbers.
enum class Order : std::uint8_t { due, behind, ahead };

class Reads {
 public:
  void add(std::uint32_t psn, const rdma::infiniband::RdmaHeader& request);
  /// The number after that of the last response to the read asked for last, or the most that it can
  /// be; to be called for every read, and again if it turns out to be another.
  void set_last_end(std::uint32_t end);
  bool empty() const { return pending_.empty(); }
  /// The number of the response that is due next; there is a read that waits.
  std::uint32_t next() const { return pending_.front().next; }

  Order order_of_response(std::uint32_t psn) const;
  /// An acknowledgement of what was asked for after a read is sent after the read's responses.
  Order order_of_acknowledgement(std::uint32_t psn) const;
  /// Takes a response that is due and gives its event, which is that of one packet. No steering tag
  /// of the sink is on the wire: it is told as 0, at the offsets that were read.
  std::optional<trace::RdmaReadResponse> take(const TransportPacket& response);
  /// Responses before this number are lost. `mtu` is 0 if it is not known.
  void skip_to(std::uint32_t psn, std::uint32_t mtu);

 private:
  struct Pending {
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t next = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t answered = 0;  // octets
  };
  std::deque<Pending> pending_;
};

}  // namespace steertag::capture::infiniband
