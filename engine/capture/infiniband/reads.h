// The RDMA Reads of one side that wait for responses, in the order of their requests.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "capture/infiniband/transport_packet.h"
#include "trace/event.h"

namespace steertag::capture::infiniband {

/// At most this many pending reads are kept; beyond that the oldest is evicted. A queue pair has at
/// most 255 in flight, since librdmacm counts them in one octet. More are pending only if the
/// capture lacks responses.
inline constexpr std::size_t kMostReads = 256;

/// The sizes that a path MTU can have (InfiniBand specification, chapter 9).
inline constexpr std::uint32_t kSmallestMtu = 256;
inline constexpr std::uint32_t kLargestMtu = 4096;

/// The place of a packet in an order of PSNs.
enum class Order : std::uint8_t { due, behind, ahead };

class Reads {
 public:
  void add(std::uint32_t psn, const rdma::infiniband::RdmaHeader& request);
  /// The PSN after the last response of the latest read, or the highest one possible. Call it for
  /// every read, and again when the value changes.
  void set_last_end(std::uint32_t end);
  bool empty() const { return pending_.empty(); }
  /// The PSN of the next response. Requires a pending read.
  std::uint32_t next() const { return pending_.front().next; }

  Order order_of_response(std::uint32_t psn) const;
  /// A responder sends the acknowledgement of a later request after the read's responses.
  Order order_of_acknowledgement(std::uint32_t psn) const;
  /// Takes the next response and returns its event, which covers one packet. The wire carries no
  /// steering tag of the sink, so the event has 0 and the offsets of the source.
  std::optional<trace::RdmaReadResponse> take(const TransportPacket& response);
  /// Responses before this PSN are lost. `mtu` is 0 if unknown.
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
