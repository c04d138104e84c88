// Any packets of two TCP ends.
//
// No event is reported before a connection opens or after its end. Every connection has one end.
// Payloads are never longer than their length.
//
// Each packet has four octets before it: sender and flags, captured part, and the distances of its
// sequence and acknowledgment numbers. The sequence number counts from the sender's next. The
// acknowledgment counts back from the peer's. 0 in both is a packet in order.
#include <algorithm>
#include <array>
#include <deque>

#include "capture/iwarp/tcp_connections.h"
#include "rdma/octets.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::capture;

constexpr std::size_t kPacketHeader = 4;
constexpr std::size_t kTcpHeader = 20;
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kRst = 0x04;
constexpr std::uint8_t kAck = 0x10;
// Bits of a packet's first octet besides those flags.
constexpr std::uint8_t kByServer = 0x08;
constexpr std::uint8_t kCut = 0x20;  // half of the octets are not captured
constexpr std::uint8_t kFar = 0x40;  // distances have units of 16 MiB
// only a startup frame identifies the protocol at this port
constexpr std::uint8_t kOtherPort = 0x80;

/// Reads every octet, so that sanitizers detect a dangling view.
unsigned sum_of(View octets) {
  unsigned sum = 0;
  for (const std::byte each : octets) sum += std::to_integer<unsigned>(each);
  return sum;
}

class Checks : public ConnectionSinks {
 public:
  ConnectionSink& open(const FrameStamp&, const ConnectionName& name) override {
    fuzz::check(!name.ends.client.empty() && name.ends.client != name.ends.server);
    return sinks_.emplace_back();
  }
  void finished() const {
    for (const Sink& sink : sinks_) fuzz::check(sink.ended);
  }

 private:
  struct Sink : ConnectionSink {
    void on_event(const FrameStamp& stamp, const trace::Event& event) override {
      fuzz::check(!ended && stamp.frame != 0 && event.index == next++);
      if (const auto* write = std::get_if<trace::RdmaWrite>(&event.body)) {
        fuzz::check(write->payload.size() <= write->length);
        sum += sum_of(write->payload);
      } else if (const auto* send = std::get_if<trace::Send>(&event.body)) {
        sum += sum_of(send->bytes);
      }
    }
    void on_loss(const FrameStamp&, trace::Role, LossKind) override { fuzz::check(!ended); }
    void on_end(const FrameStamp&) override {
      fuzz::check(!ended);
      ended = true;
    }
    bool ended = false;
    std::uint64_t next = 0;
    unsigned sum = 0;
  };
  std::deque<Sink> sinks_;
};

/// The state of both ends.
struct TwoEnds {
  std::array<std::uint32_t, 2> next{0xfffffff0, 0x10};

  /// Removes one packet from the front of `rest`.
  void read(View& rest, std::uint64_t frame, iwarp::TcpConnections& reader) {
    const std::uint8_t control = rdma::load8(rest.data());
    const std::size_t length =
        std::min<std::size_t>(rdma::load8(&rest[1]) * 4U, rest.size() - kPacketHeader);
    const std::uint32_t unit = (control & kFar) != 0 ? 1U << 24 : 1;
    const auto ahead = static_cast<std::uint32_t>(static_cast<std::int8_t>(rest[2])) * unit;
    const std::uint32_t behind = rdma::load8(&rest[3]) * unit;
    const std::size_t sender = (control & kByServer) != 0 ? 1 : 0;
    const std::uint16_t server_port = (control & kOtherPort) != 0 ? 4711 : kNfsRdmaPort;
    const std::uint8_t flags = control & (kFin | kSyn | kRst | kAck);
    const View octets = rest.subspan(kPacketHeader, length);
    rest = rest.subspan(kPacketHeader + length);

    Bytes segment(kTcpHeader);
    rdma::store16(&segment[0], sender == 0 ? 50000 : server_port);
    rdma::store16(&segment[2], sender == 0 ? server_port : 50000);
    rdma::store32(&segment[4], next[sender] + ahead);
    rdma::store32(&segment[8], next[1 - sender] - behind);
    rdma::store8(&segment[12], kTcpHeader / 4 << 4);
    rdma::store8(&segment[13], flags);
    segment.insert(
        segment.end(), octets.begin(),
        octets.begin() + static_cast<std::ptrdiff_t>((control & kCut) != 0 ? length / 2 : length));
    if (ahead == 0) {
      next[sender] += static_cast<std::uint32_t>(length) + ((flags & (kSyn | kFin)) != 0 ? 1 : 0);
    }
    std::array<IpAddress, 2> addresses;
    addresses[1].octets[15] = std::byte{1};
    reader.read({{frame, 0},
                 addresses[sender],
                 addresses[1 - sender],
                 kProtocolTcp,
                 segment,
                 kTcpHeader + length});
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  View rest = fuzz::view_of(data, size);
  Checks checks;
  iwarp::TcpConnections reader(checks, {});
  TwoEnds ends;
  for (std::uint64_t frame = 1; rest.size() >= kPacketHeader; ++frame) {
    ends.read(rest, frame, reader);
  }
  reader.finish();
  checks.finished();
  return 0;
}
