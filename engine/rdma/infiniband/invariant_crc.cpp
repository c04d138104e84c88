// The invariant CRC by ISA-L, which uses the processor's fastest instructions.
#include "rdma/infiniband/invariant_crc.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "rdma/octets.h"

namespace steertag::rdma::infiniband {
namespace {

constexpr std::byte kOnes{0xff};  // in place of what routers may change

namespace ipv4 {
constexpr std::size_t kClassAt = 1;
constexpr std::size_t kLengthAt = 2;
constexpr std::size_t kIdentificationAt = 4;
constexpr std::size_t kFlagsAt = 6;
constexpr std::size_t kProtocolAt = 9;
constexpr std::size_t kSourceAt = 12;
constexpr std::size_t kDestinationAt = 16;
constexpr std::uint8_t kVersionAndWords = 0x45;
constexpr std::uint16_t kDontFragment = 0x4000;
}  // namespace ipv4
namespace ipv6 {
constexpr std::size_t kLengthAt = 4;
constexpr std::size_t kProtocolAt = 6;
constexpr std::size_t kSourceAt = 8;
constexpr std::size_t kDestinationAt = 24;
constexpr std::uint8_t kVersion = 0x6f;  // and the upper half of the traffic class
}  // namespace ipv6
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::size_t kUdpLengthAt = 4;
constexpr std::size_t kCongestionAt = 4;  // of the base header: FECN, BECN and reserved bits

// States of the CRC are polynomials modulo the generator, with the highest power in the lowest bit.
constexpr std::uint32_t kGenerator = 0xedb88320;
constexpr std::uint32_t kOne = 0x80000000;

constexpr std::uint32_t times_x(std::uint32_t state) {
  return state >> 1 ^ ((state & 1) != 0 ? kGenerator : 0);
}
constexpr std::uint32_t divided_by_x(std::uint32_t state) {
  return (state & kOne) != 0 ? (state ^ kGenerator) << 1 | 1 : state << 1;
}
constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (; a != 0; a <<= 1) {
    if ((a & kOne) != 0) sum ^= b;
    b = times_x(b);
  }
  return sum;
}

/// Factors that take 1, 2, 4 ... octets of zeros back from a state.
constexpr std::array<std::uint32_t, 16> make_backward_steps() {
  std::array<std::uint32_t, 16> steps{};
  std::uint32_t step = kOne;
  for (int bit = 0; bit < 8; ++bit) step = divided_by_x(step);
  for (std::uint32_t& each : steps) {
    each = step;
    step = product(step, step);
  }
  return steps;
}
constexpr std::array<std::uint32_t, 16> kBackwardSteps = make_backward_steps();

/// The state before `octets` of zeros; fewer than 64 KiB, as any IP packet has.
std::uint32_t before(std::uint32_t state, std::size_t octets) {
  for (const std::uint32_t step : kBackwardSteps) {
    if ((octets & 1) != 0) state = product(state, step);
    octets >>= 1;
  }
  return state;
}

}  // namespace

InvariantCrc::InvariantCrc(const Ipv4Route& route) {
  header_.fill(kOnes);
  std::byte* ip = header_.data() + kLocalRouteBytes;
  store8(ip, ipv4::kVersionAndWords);
  store16(ip + ipv4::kLengthAt, 0);
  store16(ip + ipv4::kIdentificationAt, 0);
  store16(ip + ipv4::kFlagsAt, route.dont_fragment ? ipv4::kDontFragment : 0);
  store8(ip + ipv4::kProtocolAt, kProtocolUdp);
  std::ranges::copy(route.source, ip + ipv4::kSourceAt);
  std::ranges::copy(route.destination, ip + ipv4::kDestinationAt);
  udp_at_ = kLocalRouteBytes + kIpv4Bytes;
  fixed_bytes_ = kLocalRouteBytes + ipv4::kLengthAt;
  put_ports(route.source_port, route.destination_port);
}

InvariantCrc::InvariantCrc(const Ipv6Route& route) {
  header_.fill(kOnes);
  std::byte* ip = header_.data() + kLocalRouteBytes;
  store8(ip, ipv6::kVersion);
  store16(ip + ipv6::kLengthAt, 0);
  store8(ip + ipv6::kProtocolAt, kProtocolUdp);
  std::ranges::copy(route.source, ip + ipv6::kSourceAt);
  std::ranges::copy(route.destination, ip + ipv6::kDestinationAt);
  udp_at_ = kLocalRouteBytes + kIpv6Bytes;
  fixed_bytes_ = kLocalRouteBytes + ipv6::kLengthAt;
  put_ports(route.source_port, route.destination_port);
}

InvariantCrc::InvariantCrc(const IpRoute& route)
    : InvariantCrc(std::visit([](const auto& each) { return InvariantCrc(each); }, route)) {}

void InvariantCrc::put_ports(std::uint16_t source, std::uint16_t destination) {
  std::byte* udp = header_.data() + udp_at_;
  store16(udp, source);
  store16(udp + 2, destination);
  store16(udp + kUdpLengthAt, 0);
  fixed_crc_ = add(0, View(header_).first(fixed_bytes_));
}

/// The CRC-32 of Ethernet.
std::uint32_t InvariantCrc::add(std::uint32_t crc, View octets) {
  const auto* data = reinterpret_cast<const unsigned char*>(octets.data());
  return crc32_gzip_refl(crc, data, octets.size());
}

std::uint32_t InvariantCrc::start(View first, std::size_t packet_bytes,
                                  std::uint16_t identification) const {
  const std::size_t length = kUdpBytes + packet_bytes + kInvariantCrcBytes;
  std::array<std::byte, kMostBytes> header = header_;
  std::byte* ip = header.data() + kLocalRouteBytes;
  if (is_ipv4()) {
    store16(ip + ipv4::kLengthAt, static_cast<std::uint16_t>(kIpv4Bytes + length));
    store16(ip + ipv4::kIdentificationAt, identification);
  } else {
    store16(ip + ipv6::kLengthAt, static_cast<std::uint16_t>(length));
  }
  store16(header.data() + udp_at_ + kUdpLengthAt, static_cast<std::uint16_t>(length));
  std::byte* base = header.data() + udp_at_ + kUdpBytes;
  std::copy_n(first.begin(), kBaseBytes, base);
  base[kCongestionAt] = kOnes;

  const std::size_t end = udp_at_ + kUdpBytes + kBaseBytes;
  const View covered = View(header).first(end).subspan(fixed_bytes_);
  return add(add(fixed_crc_, covered), first.subspan(kBaseBytes));
}

std::uint32_t InvariantCrc::of(std::span<const View> pieces, std::uint16_t identification) const {
  std::size_t bytes = 0;
  for (const View piece : pieces) bytes += piece.size();
  std::uint32_t crc = start(pieces.front(), bytes, identification);
  for (const View piece : pieces.subspan(1)) crc = add(crc, piece);
  return crc;
}

std::uint32_t InvariantCrc::of(View packet, std::uint16_t identification) const {
  return start(packet, packet.size(), identification);
}

bool InvariantCrc::check(View packet_with_crc, std::uint16_t identification) const {
  if (packet_with_crc.size() < kBaseBytes + kInvariantCrcBytes) return false;
  const View packet = packet_with_crc.first(packet_with_crc.size() - kInvariantCrcBytes);
  return of(packet, identification) == load(packet.data() + packet.size());
}

/// The CRC is linear. The bits in which the right identification differs from the likely one give
/// the difference of both CRCs, moved on by all octets after them.
std::optional<std::uint16_t> InvariantCrc::identification_of(View packet_with_crc,
                                                             std::uint16_t likely) const {
  if (packet_with_crc.size() < kBaseBytes + kInvariantCrcBytes) return std::nullopt;
  const View packet = packet_with_crc.first(packet_with_crc.size() - kInvariantCrcBytes);
  const std::uint32_t difference = of(packet, likely) ^ load(packet.data() + packet.size());
  if (difference == 0) return is_ipv4() ? likely : std::uint16_t{0};
  if (!is_ipv4()) return std::nullopt;
  constexpr std::size_t kFromIdentification = kIpv4Bytes - ipv4::kIdentificationAt + kUdpBytes;
  const std::uint32_t part = before(difference, kFromIdentification + packet.size());
  if (part > 0xffff) return std::nullopt;
  return static_cast<std::uint16_t>((part << 8 | part >> 8) ^ likely);
}

void InvariantCrc::store(std::uint32_t crc, std::byte* to) {
  for (std::size_t i = 0; i < kInvariantCrcBytes; ++i) {
    store8(to + i, static_cast<std::uint8_t>(crc >> 8 * i));
  }
}

std::uint32_t InvariantCrc::load(const std::byte* from) {
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < kInvariantCrcBytes; ++i) {
    crc |= static_cast<std::uint32_t>(load8(from + i)) << 8 * i;
  }
  return crc;
}

}  // namespace steertag::rdma::infiniband
