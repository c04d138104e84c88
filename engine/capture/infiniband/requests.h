// What one side of a connection asks for: its requests in the order of their sequence numbers, put
// together into events.
#pragma once

#include <cstdint>

#include "capture/feed.h"
#include "capture/infiniband/reads.h"
#include "capture/infiniband/transport_packet.h"

namespace steertag::capture::infiniband {

/// Octets of one Send that are kept: four times the largest inline threshold (RFC 8797 4.2).
inline constexpr std::size_t kMostSendBytes = std::size_t{1} << 20;
/// Capacity that stays allocated between Sends.
inline constexpr std::size_t kKeptSendBytes = std::size_t{64} << 10;
/// Numbers that count as sent before: a duplicate cannot be older than what waits for its
/// acknowledgement. What lies further behind is another sequence.
inline constexpr std::int32_t kMostBehind = 1 << 20;

class Requests {
 public:
  Requests(Side side, ConnectionFeed& feed) : side_(side), feed_(feed) {}

  /// The first request will have this number.
  void start_at(std::uint32_t psn);
  /// False before the first request, and where the number of the next one cannot be known.
  bool known() const { return known_; }
  /// The number that the next request has, or the lowest that it can have.
  std::uint32_t next() const { return next_; }
  Order order(std::uint32_t psn) const;
  /// Whether a request with this number, or a read whose response has it, was seen.
  bool asked(std::uint32_t psn) const;

  /// Tells what a packet that is due says.
  void take(const TransportPacket& packet);
  /// What lies before this number is not in the capture: to be called after the loss was told.
  void skip_to(std::uint32_t psn);
  /// The last response to a read has this number.
  void note_last_response(std::uint32_t psn);
  /// A response of an unknown read that goes on has this number.
  void note_strange_read(std::uint32_t psn);
  /// The path MTU is known from now on.
  void set_mtu(std::uint32_t octets);
  std::uint32_t mtu() const { return mtu_; }

  Reads& reads() { return reads_; }
  const Reads& reads() const { return reads_; }
  /// Octets of memory taken by the Send that is put together.
  std::size_t buffered() const { return send_.capacity(); }
  /// Gives that memory back; nothing more is taken.
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
  ConnectionFeed& feed_;
  bool known_ = false;
  std::uint32_t next_ = 0;
  std::uint32_t mtu_ = 0;
  // Of the last request, if it is a read: only the path MTU tells how many responses it has.
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
