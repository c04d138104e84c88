// Lays out IP and TCP headers (RFC 791, 8200, 9293) and their checksums (RFC 1071).
#include "trace/tcp_packet.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace steertag::trace {
namespace {

constexpr std::array<std::byte, 12> kMappedPrefix = {
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint16_t kWindow = 65535;
constexpr std::uint8_t kWindowScale = 14;  // RFC 7323: the largest shift

class Layout {
 public:
  explicit Layout(Bytes& packet) : packet_(packet) {}
  void put8(std::uint8_t value) { packet_.push_back(std::byte{value}); }
  void put16(std::uint16_t value) {
    put8(static_cast<std::uint8_t>(value >> 8));
    put8(static_cast<std::uint8_t>(value));
  }
  void put32(std::uint32_t value) {
    put16(static_cast<std::uint16_t>(value >> 16));
    put16(static_cast<std::uint16_t>(value));
  }
  void put(View octets) { packet_.insert(packet_.end(), octets.begin(), octets.end()); }
  void set16(std::size_t at, std::uint16_t value) {
    packet_[at] = std::byte(value >> 8);
    packet_[at + 1] = std::byte(value & 0xff);
  }

 private:
  Bytes& packet_;
};

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

void put_ipv4(Layout& layout, const Endpoint& from, const Endpoint& to, std::size_t length,
              const Bytes& packet) {
  layout.put8(0x45);
  layout.put8(0);
  layout.put16(static_cast<std::uint16_t>(20 + length));
  layout.put16(0);       // identification: means nothing when fragments are forbidden
  layout.put16(0x4000);  // do not fragment
  layout.put8(kHopLimit);
  layout.put8(kProtocolTcp);
  layout.put16(0);
  layout.put(View(from.address).last(4));
  layout.put(View(to.address).last(4));
  layout.set16(10, fold(sum_words(View(packet).first(20))));
}

void put_ipv6(Layout& layout, const Endpoint& from, const Endpoint& to, std::size_t length) {
  layout.put32(0x60000000);
  layout.put16(static_cast<std::uint16_t>(length));
  layout.put8(kProtocolTcp);
  layout.put8(kHopLimit);
  layout.put(from.address);
  layout.put(to.address);
}

void put_syn_options(Layout& layout) {
  layout.put8(2);  // maximum segment size
  layout.put8(4);
  layout.put16(static_cast<std::uint16_t>(kMaxSegmentBytes));
  layout.put8(1);  // no operation
  layout.put8(3);  // window scale
  layout.put8(3);
  layout.put8(kWindowScale);
}

}  // namespace

bool Endpoint::is_ipv4() const {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.begin());
}

std::optional<Endpoint> parse_endpoint(std::string_view address, std::uint16_t port) {
  const std::string text(address);
  Endpoint endpoint{.address = {}, .port = port};
  if (inet_pton(AF_INET6, text.c_str(), endpoint.address.data()) == 1) return endpoint;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), endpoint.address.begin());
  if (inet_pton(AF_INET, text.c_str(), endpoint.address.data() + kMappedPrefix.size()) == 1)
    return endpoint;
  return std::nullopt;
}

void build_tcp_packet(const Endpoint& from, const Endpoint& to, const TcpSegment& segment,
                      Bytes& packet) {
  packet.clear();
  Layout layout(packet);
  const bool syn = (segment.flags & kSyn) != 0;
  const std::size_t header = syn ? 28 : 20;
  const std::size_t length = header + segment.payload.size();
  const bool ipv4 = from.is_ipv4() && to.is_ipv4();
  if (ipv4)
    put_ipv4(layout, from, to, length, packet);
  else
    put_ipv6(layout, from, to, length);

  const std::size_t tcp = packet.size();
  layout.put16(from.port);
  layout.put16(to.port);
  layout.put32(segment.sequence);
  layout.put32(segment.acknowledgment);
  layout.put8(static_cast<std::uint8_t>(header / 4 << 4));
  layout.put8(segment.flags);
  layout.put16(kWindow);
  layout.put32(0);  // checksum, urgent pointer
  if (syn) put_syn_options(layout);
  layout.put(segment.payload);

  // The pseudo-header: addresses, protocol, TCP length. Its order does not matter to the sum.
  const std::size_t address = ipv4 ? 4 : 16;
  std::uint64_t sum = sum_words(View(from.address).last(address));
  sum += sum_words(View(to.address).last(address));
  sum += kProtocolTcp + length + sum_words(View(packet).subspan(tcp));
  layout.set16(tcp + 16, fold(sum));
}

}  // namespace steertag::trace
