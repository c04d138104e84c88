// Test helpers of the iWARP reader: scripted TCP packets, FPDUs, and the reported events.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "capture/iwarp/tcp_connections.h"
#include "capture/testing.h"
#include "rdma/iwarp/crc32c.h"
#include "rdma/iwarp/framing.h"
#include "rdma/iwarp/mpa_startup.h"
#include "rdma/iwarp/segment.h"
#include "rdma/iwarp/terminate.h"
#include "rdma/octets.h"
#include "wire/testing.h"

namespace steertag::capture::iwarp::testing {

using rdma::iwarp::Opcode;
using trace::Role;
using wire::testing::from_hex;

/// RPC-over-RDMA messages of 56 octets each, whose XID is `xid`.
inline Bytes call(std::uint8_t xid) {
  Bytes octets = from_hex(
      "12345600 00000001 00000020 00000000 00000000 00000000 00000000"
      "12345600 00000000 00000002 000186a3 00000003 00000000 00000000");
  octets[3] = octets[31] = std::byte{xid};
  return octets;
}
inline Bytes reply(std::uint8_t xid) {
  Bytes octets = from_hex(
      "12345600 00000001 00000020 00000000 00000000 00000000 00000000"
      "12345600 00000001 00000000 00000000 00000000 00000000 00000000");
  octets[3] = octets[31] = std::byte{xid};
  return octets;
}
/// Octets with ascending values.
inline Bytes octets(std::size_t count, int first = 1) {
  Bytes result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<std::byte>(first + int(i % 251));
  return result;
}
inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
inline Bytes part(const Bytes& whole, std::size_t begin, std::size_t end) {
  return {whole.begin() + std::ptrdiff_t(begin), whole.begin() + std::ptrdiff_t(end)};
}

inline rdma::iwarp::Segment untagged(Opcode opcode, std::uint32_t qn, std::uint32_t msn,
                                     std::uint32_t mo = 0, bool last = true) {
  rdma::iwarp::Segment segment;
  segment.opcode = opcode;
  segment.last = last;
  segment.qn = qn;
  segment.msn = msn;
  segment.mo = mo;
  return segment;
}
inline rdma::iwarp::Segment tagged(Opcode opcode, std::uint32_t stag, std::uint64_t offset,
                                   bool last = true) {
  rdma::iwarp::Segment segment;
  segment.tagged = true;
  segment.last = last;
  segment.opcode = opcode;
  segment.stag = stag;
  segment.offset = offset;
  return segment;
}

enum class Crc : std::uint8_t { zero, right, wrong };
inline Bytes fpdu(const rdma::iwarp::Segment& segment, View payload, Crc crc = Crc::zero) {
  const std::size_t length = segment.header_bytes() + payload.size();
  Bytes result(rdma::iwarp::fpdu_bytes(length));
  rdma::store16(result.data(), static_cast<std::uint16_t>(length));
  rdma::iwarp::encode(segment, result.data() + 2);
  std::copy(payload.begin(), payload.end(),
            result.begin() + 2 + std::ptrdiff_t(segment.header_bytes()));
  if (crc == Crc::zero) return result;
  rdma::iwarp::Crc32c value;
  value.update(View(result).first(result.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) {
    rdma::store8(&result[result.size() - 4 + i], std::uint8_t(value.value() >> (8 * i)));
  }
  if (crc == Crc::wrong) result.back() ^= std::byte{1};
  return result;
}
inline Bytes send(std::uint32_t msn, const Bytes& message, Opcode opcode = Opcode::send,
                  std::uint32_t stag = 0) {
  auto segment = untagged(opcode, rdma::iwarp::kSendQueue, msn);
  segment.stag = stag;
  return fpdu(segment, message);
}
inline Bytes read_request(std::uint32_t msn, std::uint32_t length) {
  Bytes body(rdma::iwarp::kReadRequestBytes);
  rdma::iwarp::encode(rdma::iwarp::ReadRequest{0x501, 0, length, 0xaabb01, 0x1000}, body.data());
  return fpdu(untagged(Opcode::read_request, rdma::iwarp::kReadRequestQueue, msn), body);
}
inline Bytes write(std::uint64_t offset, const Bytes& payload, bool last = true) {
  return fpdu(tagged(Opcode::rdma_write, 0xaabb02, offset, last), payload);
}
inline Bytes read_response(std::uint64_t offset, const Bytes& payload, bool last = true) {
  return fpdu(tagged(Opcode::read_response, 0x501, offset, last), payload);
}
inline Bytes terminate() {
  return fpdu(untagged(Opcode::terminate, rdma::iwarp::kTerminateQueue, 1), from_hex("12020000"));
}
inline rdma::iwarp::StartupFrame startup(rdma::iwarp::StartupKind kind) {
  rdma::iwarp::StartupFrame frame;
  frame.kind = kind;
  frame.revision = 2;
  frame.enhanced = rdma::iwarp::Enhanced{false, false, false, false, 16, 16};
  frame.private_data = from_hex("f6ab0e18 01000303");
  return frame;
}
inline Bytes request() {
  return encode(startup(rdma::iwarp::StartupKind::request));
}
inline Bytes accept() {
  return encode(startup(rdma::iwarp::StartupKind::reply));
}

/// A packet of a script. Its frame number is its place in the script, also in a reordered capture.
struct Packet {
  std::uint64_t frame = 0;
  Role sender = Role::client;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint8_t flags = 0;
  Bytes payload;
  std::size_t cut = 0;  // octets at the payload's end that were not captured
};
using Packets = std::vector<Packet>;

enum Flags : std::uint8_t { kFin = 1, kSyn = 2, kRst = 4, kAck = 16 };

/// Writes both ends of a TCP connection. By default each packet acknowledges everything sent before
/// it.
class Script {
 public:
  /// Near the end of the sequence space, so that every script wraps.
  explicit Script(std::uint32_t client = 0xffffff80, std::uint32_t server = 0xffffffc0)
      : next_{client, server} {}

  Script& handshake() {
    packet(Role::client, {}, kSyn);
    packet(Role::server, {}, kSyn | kAck);
    return packet(Role::client, {}, kAck);
  }
  Script& startups() {
    handshake();
    client(request());
    return server(accept());
  }
  Script& client(const Bytes& payload) { return packet(Role::client, payload, kAck); }
  Script& server(const Bytes& payload) { return packet(Role::server, payload, kAck); }
  Script& ends() {
    packet(Role::client, {}, kFin | kAck);
    packet(Role::server, {}, kFin | kAck);
    return packet(Role::client, {}, kAck);
  }
  Script& packet(Role sender, const Bytes& payload, std::uint8_t flags) {
    std::uint32_t& next = next_[std::size_t(sender)];
    const std::uint32_t peer = next_[std::size_t(trace::other(sender))];
    const bool ack = (flags & kAck) != 0;
    packets.push_back({packets.size() + 1, sender, next, ack ? peer : 0, flags, payload});
    next += static_cast<std::uint32_t>(payload.size());
    if ((flags & (kSyn | kFin)) != 0) ++next;
    return *this;
  }

  Packets packets;

 private:
  std::array<std::uint32_t, 2> next_;
};

inline IpAddress address(std::uint8_t last) {
  IpAddress result;
  result.octets[10] = result.octets[11] = std::byte{0xff};
  result.octets[12] = std::byte{192};
  result.octets[14] = std::byte{2};
  result.octets[15] = std::byte{last};
  return result;
}

struct Ports {
  std::uint16_t client = 50000;
  std::uint16_t server = kNfsRdmaPort;
};

/// Reads packets with one reader.
class Capture {
 public:
  explicit Capture(const ReaderOptions& options = {}) : reader(all, options) {}
  /// `all` stays empty.
  explicit Capture(ConnectionSinks& sinks) : reader(sinks, {}) {}

  /// `frame`: 0 for the packet's own.
  bool read(const Packet& packet, Ports ports = {}, std::uint64_t frame = 0) {
    const bool by_client = packet.sender == Role::client;
    constexpr std::size_t kHeader = 24;  // with four octets of options
    Bytes segment(kHeader);
    rdma::store16(&segment[0], by_client ? ports.client : ports.server);
    rdma::store16(&segment[2], by_client ? ports.server : ports.client);
    rdma::store32(&segment[4], packet.sequence);
    rdma::store32(&segment[8], packet.acknowledgment);
    rdma::store8(&segment[12], kHeader / 4 << 4);
    rdma::store8(&segment[13], packet.flags);
    segment = segment + packet.payload;
    const std::size_t length = segment.size();
    segment.resize(length - packet.cut);
    segment.shrink_to_fit();  // so that the address sanitizer detects an access beyond its end
    const std::uint64_t number = frame == 0 ? packet.frame : frame;
    return reader.read({{number, std::int64_t(number)},
                        address(by_client ? 1 : 2),
                        address(by_client ? 2 : 1),
                        kProtocolTcp,
                        segment,
                        length});
  }
  void read(const Packets& packets, Ports ports = {}) {
    for (const Packet& packet : packets) read(packet, ports);
  }
  void finish() { reader.finish(); }

  capture::testing::AllLines all;
  TcpConnections reader;
};

using Lines = std::vector<std::string>;

/// The lines of the capture's only connection; empty without one.
inline Lines reported(const Packets& packets, Ports ports = {}, const ReaderOptions& options = {}) {
  Capture capture(options);
  capture.read(packets, ports);
  capture.finish();
  return capture.all.connections.empty() ? Lines{} : capture.all.connections.front().lines;
}

/// "12 client send ..." without the frame.
inline std::string without_frame(const std::string& line) {
  return line.substr(line.find(' ') + 1);
}
inline Lines without_frames(const Lines& lines) {
  Lines result;
  for (const std::string& line : lines) result.push_back(without_frame(line));
  return result;
}
inline bool is_loss(const std::string& line) {
  return line.find(" loss: ") != std::string::npos;
}
/// The lines without losses, the end and frame numbers.
inline Lines events(const Lines& lines) {
  Lines result;
  for (const std::string& line : lines) {
    if (!is_loss(line) && !line.ends_with(" end")) result.push_back(without_frame(line));
  }
  return result;
}
inline bool has_loss(const Lines& lines) {
  return std::any_of(lines.begin(), lines.end(), is_loss);
}

/// A connection with every kind of traffic. It has Sends of one and of several segments, several
/// FPDUs in a packet, FPDUs across packets, Reads, Writes and an invalidation.
inline Packets conversation() {
  Script script;
  script.startups();
  script.client(send(1, call(1)));
  script.server(read_request(1, 300));
  script.client(read_response(0, octets(200), false) + read_response(200, octets(100)));
  const Bytes written = write(0x2000, octets(333)) + write(0x3000, octets(41));
  script.server(part(written, 0, 100));
  script.server(part(written, 100, written.size()));
  script.server(send(1, reply(1), Opcode::send_invalidate, 0xaabb02));
  const Bytes second = call(2) + octets(90);
  script.client(fpdu(untagged(Opcode::send_solicited, 0, 2, 0, false), part(second, 0, 60)));
  script.client(fpdu(untagged(Opcode::send_solicited, 0, 2, 60, true), part(second, 60, 146)) +
                send(3, call(3)));
  script.server(send(2, reply(2)));
  script.server(send(3, reply(3), Opcode::send_solicited));
  script.client(send(4, call(4), Opcode::send_solicited_invalidate, 0x77));
  script.server(send(4, reply(4)));
  script.ends();
  return script.packets;
}

}  // namespace steertag::capture::iwarp::testing
