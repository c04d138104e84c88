// The datagrams of one connection, with the addresses that they had.
#pragma once

#include <utility>
#include <vector>

#include "trace/capture.h"

namespace steertag::trace {

/// Each datagram becomes one packet of UDP, octet for octet: a checksum inside that covers the
/// addresses stays right.
class DatagramCapture : public Capture {
 public:
  explicit DatagramCapture(std::size_t limit_bytes = kDefaultCaptureBytes);

  void on_datagram(std::int64_t time_ns, const Datagram& datagram) override;
  std::size_t kept_bytes() const override { return octets_.size(); }
  /// The datagrams in order, with their sender. The views are valid until the next one is kept.
  std::vector<std::pair<Role, View>> datagrams() const;

 private:
  struct Kept {
    std::int64_t time_ns;
    Role sender;
    Endpoint from;
    Endpoint to;
    std::uint16_t identification;
    std::size_t begin;
    std::size_t length;
  };

  std::vector<CapturedPacket> plan() const override;

  Bytes octets_;
  std::vector<Kept> kept_;
};

}  // namespace steertag::trace
