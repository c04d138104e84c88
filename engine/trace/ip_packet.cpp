// Lays out IP headers (RFC 791, 8200) and sums words (RFC 1071).
#include "trace/ip_packet.h"

namespace steertag::trace {
namespace {

constexpr std::uint8_t kHopLimit = 64;
constexpr std::size_t kIpv4Bytes = 20;

bool both_ipv4(const Endpoint& from, const Endpoint& to) {
  return from.is_ipv4() && to.is_ipv4();
}

std::uint64_t sum_words(View octets) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 1 < octets.size(); i += 2)
    sum += static_cast<std::uint64_t>(octets[i]) << 8 | static_cast<std::uint64_t>(octets[i + 1]);
  if (i < octets.size()) sum += static_cast<std::uint64_t>(octets[i]) << 8;
  return sum;
}

std::uint16_t fold(std::uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void put_ipv4(PacketLayout& layout, const Endpoint& from, const Endpoint& to, IpProtocol protocol,
              std::size_t length, std::uint16_t identification) {
  const std::size_t start = layout.size();
  layout.put8(0x45);
  layout.put8(0);
  layout.put16(static_cast<std::uint16_t>(kIpv4Bytes + length));
  layout.put16(identification);  // means nothing when fragments are forbidden
  layout.put16(0x4000);          // do not fragment
  layout.put8(kHopLimit);
  layout.put8(static_cast<std::uint8_t>(protocol));
  layout.put16(0);
  layout.put(View(from.address).last(4));
  layout.put(View(to.address).last(4));
  layout.set16(start + 10, fold(sum_words(layout.from(start))));
}

void put_ipv6(PacketLayout& layout, const Endpoint& from, const Endpoint& to, IpProtocol protocol,
              std::size_t length) {
  layout.put32(0x60000000);
  layout.put16(static_cast<std::uint16_t>(length));
  layout.put8(static_cast<std::uint8_t>(protocol));
  layout.put8(kHopLimit);
  layout.put(from.address);
  layout.put(to.address);
}

}  // namespace

void put_ip_header(PacketLayout& layout, const Endpoint& from, const Endpoint& to,
                   IpProtocol protocol, std::size_t length, std::uint16_t identification) {
  if (both_ipv4(from, to))
    put_ipv4(layout, from, to, protocol, length, identification);
  else
    put_ipv6(layout, from, to, protocol, length);
}

std::uint16_t segment_checksum(const Endpoint& from, const Endpoint& to, IpProtocol protocol,
                               View segment) {
  // The pseudo-header: addresses, protocol, length. Its order does not matter to the sum.
  const std::size_t address = both_ipv4(from, to) ? 4 : 16;
  std::uint64_t sum = sum_words(View(from.address).last(address));
  sum += sum_words(View(to.address).last(address));
  sum += static_cast<std::uint64_t>(protocol) + segment.size() + sum_words(segment);
  return fold(sum);
}

}  // namespace steertag::trace
