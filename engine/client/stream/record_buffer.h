// The octets that a TCP connection has brought and that are not yet taken.
// Records are received into the place where they are read.
#pragma once

#include <optional>

#include "rpc/record.h"
#include "support/bytes.h"
#include "support/expected.h"

namespace steertag::peer {

/// Octets received at a time while the length of the next record is unknown. Many small replies
/// fit. It is also the most that moves when the start of a large reply comes with them.
inline constexpr std::size_t kRecordStartBytes = 16384;

class RecordBuffer {
 public:
  explicit RecordBuffer(std::size_t record_limit = rpc::kMostRecordOctets)
      : limit_(record_limit), reader_(record_limit) {}

  /// Where to receive the next octets. Memory at most doubles with what has arrived, whatever
  /// length a marking word announces.
  MutableView room();
  /// So many octets of the room were filled.
  void filled(std::size_t octets) { end_ += octets; }
  /// The next whole record, a view until `room` or `next` is called again; nullopt when it has not
  /// arrived. A fault means that the stream has lost its framing.
  Expected<std::optional<View>, wire::Fault> next();
  /// Octets of an unfinished record have arrived.
  bool mid_record() const { return begin_ != end_ || reader_.mid_record(); }
  /// Forgets everything, for the next connection.
  void clear();

 private:
  Expected<std::optional<View>, wire::Fault> next_of_fragments();

  std::size_t limit_;
  Bytes octets_;
  std::size_t begin_ = 0;   // octets before are done with
  std::size_t end_ = 0;     // octets behind have not arrived
  std::size_t wanted_ = 0;  // from `begin_` to the end of the record that has begun; 0: not known
  bool in_fragments_ = false;
  rpc::RecordReader reader_;  // for records of several fragments
};

}  // namespace steertag::peer
