// The fields of each block.
#include "trace/pcapng.h"

#include <algorithm>

namespace steertag::trace {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint64_t kUnknownLength = ~std::uint64_t{0};

constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kUserApplication = 4;
constexpr std::uint16_t kTimestampResolution = 9;

}  // namespace

PcapngWriter::PcapngWriter(std::ostream& out, std::string_view application,
                           std::span<const std::string> comments)
    : out_(out) {
  block_.begin(kSectionHeader);
  block_.put32(kByteOrderMagic);
  block_.put16(1);  // version 1.0
  block_.put16(0);
  block_.put64(kUnknownLength);
  block_.put_comments(comments);
  block_.put_text(kUserApplication, application);
  block_.put_end_of_options();
  block_.write(out_);
}

std::uint32_t PcapngWriter::add_interface(LinkType link_type, std::string_view name,
                                          TimeUnit unit) {
  const auto resolution = static_cast<std::byte>(unit);
  block_.begin(kInterfaceDescription);
  block_.put16(static_cast<std::uint16_t>(link_type));
  block_.put16(0);
  block_.put32(0);  // no limit on the packet's length
  if (!name.empty()) block_.put_text(kInterfaceName, name);
  block_.put_option(kTimestampResolution, View(&resolution, 1));
  block_.put_end_of_options();
  block_.write(out_);
  return interfaces_++;
}

void PcapngWriter::add_packet(std::uint32_t interface, std::int64_t time_ns, View packet,
                              std::span<const std::string> comments) {
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
  add_packet(interface, {time, packet, static_cast<std::uint32_t>(packet.size())}, comments);
}

void PcapngWriter::add_packet(std::uint32_t interface, const CutPacket& packet,
                              std::span<const std::string> comments) {
  block_.begin(kEnhancedPacket);
  block_.put32(interface);
  block_.put32(static_cast<std::uint32_t>(packet.time >> 32));
  block_.put32(static_cast<std::uint32_t>(packet.time));
  block_.put32(static_cast<std::uint32_t>(packet.octets.size()));
  block_.put32(packet.wire_bytes);
  block_.put_octets(packet.octets);
  if (!comments.empty()) {
    block_.put_comments(comments);
    block_.put_end_of_options();
  }
  block_.write(out_);
}

}  // namespace steertag::trace
