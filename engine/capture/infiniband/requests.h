// The requests of one side in the order of their PSNs, reassembled into events.
#pragma once

#include <cstdint>

#include "capture/connection_classifier.h"
#include "capture/infiniband/reads.h"
#include "capture/infiniband/transport_packet.h"

namespace steertag::capture::infiniband {

/// At most this many octets of one Send: four times the largest inline threshold (RFC 8797 4.2).
inline constexpr std::size_t kMostSendBytes = std::size_t{1} << 20;
/// This capacity stays allocated between Sends.
inline constexpr std::size_t kKeptSendBytes = std::size_t{64} << 10;
/// PSNs this far behind count as duplicates. A duplicate cannot be older than the packets that wait
/// for an acknowledgement. A PSN further behind belongs to another sequence.
inline constexpr std::int32_t kMostBehind = 1 << 20;

class Requests {
 public:
  Requests(Side side, ConnectionClassifier& classifier) : side_(side), classifier_(classifier) {}

  /// Sets the PSN of the first request.
  void start_at(std::uint32_t psn);
  /// False before the first request, and while the next PSN is unknown.
  bool known() const { return known_; }
  /// The PSN of the next request, or the lowest one possible.
  std::uint32_t next() const { return next_; }
  Order order(std::uint32_t psn) const;
  /// Whether the capture has a request with this PSN, or the read to which this response belongs.
  bool asked(std::uint32_t psn) const;

  /// Takes the next packet and reports what it completes.
  void take(const TransportPacket& packet);
  /// The capture lacks everything before this PSN. Report the loss first.
  void skip_to(std::uint32_t psn);
  /// The last response to a read has this PSN.
  void note_last_response(std::uint32_t psn);
  /// A response of an unknown, unfinished read has this PSN.
  void note_unknown_read(std::uint32_t psn);
  /// Sets the path MTU.
  void set_mtu(std::uint32_t octets);
  std::uint32_t mtu() const { return mtu_; }

  Reads& reads() { return reads_; }
  const Reads& reads() const { return reads_; }
  /// Octets that the unfinished Send occupies.
  std::size_t buffered() const { return send_.capacity(); }
  /// Frees that memory. Take no packet afterwards.
  void release() { send_ = {}; }

 private:
  enum class Message : std::uint8_t { none, send, write, skipped };

  bool opens(const TransportPacket& packet, Message message);
  void take_send(const TransportPacket& packet);
  void take_write(const TransportPacket& packet);
  void take_read(const TransportPacket& packet);
  void count_responses();
  void lose(const TransportPacket& packet, LossKind kind);
  bool open_ended() const { return read_last_ && mtu_ == 0 && read_length_ > kSmallestMtu; }

  Side side_;
  ConnectionClassifier& classifier_;
  bool known_ = false;
  std::uint32_t next_ = 0;
  std::uint32_t mtu_ = 0;
  // The last request, if it is a read. Only the path MTU determines the number of its responses.
  bool read_last_ = false;
  std::uint32_t read_start_ = 0;
  std::uint32_t read_length_ = 0;
  Message message_ = Message::skipped;
  Bytes send_;
  std::uint32_t write_key_ = 0;
  std::uint64_t write_offset_ = 0;
  Reads reads_;
};

}  // namespace steertag::capture::infiniband
