// Every encapsulation of IP and InfiniBand, and packets of other protocols.
#include "capture/link/link_layers.h"

#include <gtest/gtest.h>

#include "wire/testing.h"

namespace steertag::capture {
namespace {

using wire::testing::from_hex;
using wire::testing::to_hex;

const std::string kMacs = "0200 0000 0001 0200 0000 0002 ";
/// 192.0.2.1 to 192.0.2.2, UDP, eight octets after the header.
const std::string kIpv4 = "4500 001c 0000 4000 4011 0000 c000 0201 c000 0202 ";
/// 2001:db8::1 to 2001:db8::2; the test sets next header and length.
const std::string kIpv6Addresses =
    "20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00000002 ";
const std::string kPayload = "01020304 05060708 ";

std::string ipv6(const std::string& length, const std::string& next) {
  return "60000000 " + length + next + "40 " + kIpv6Addresses;
}

/// The last result of a list of packets, with storage for its octets.
class Layers {
 public:
  LinkFrame read(LinkType type, const std::string& hex, std::size_t more_on_wire = 0) {
    octets_ = from_hex(hex);
    return layers_.read({{++frame_, 5}, type, octets_, octets_.size() + more_on_wire});
  }

 private:
  LinkLayers layers_;
  Bytes octets_;
  std::uint64_t frame_ = 0;
};

/// "192.0.2.1 192.0.2.2 17 8 01020304 05060708": addresses, protocol, length on the wire, payload.
std::string text_of(const LinkFrame& frame) {
  if (const auto* datagram = std::get_if<Datagram>(&frame)) {
    return datagram->source.text() + ' ' + datagram->destination.text() + ' ' +
           std::to_string(datagram->protocol) + ' ' + std::to_string(datagram->length) + ' ' +
           to_hex(datagram->payload);
  }
  if (const auto* packet = std::get_if<InfinibandFrame>(&frame)) {
    return std::string(packet->has_lrh ? "lrh " : "grh ") + std::to_string(packet->length) + ' ' +
           to_hex(packet->octets);
  }
  return "none";
}

std::string read(LinkType type, const std::string& hex, std::size_t more_on_wire = 0) {
  Layers layers;
  return text_of(layers.read(type, hex, more_on_wire));
}

std::string read(const std::string& hex, std::size_t more_on_wire = 0) {
  return read(LinkType::ethernet, hex, more_on_wire);
}

const std::string kFour = "192.0.2.1 192.0.2.2 17 8 01020304 05060708";
const std::string kSix = "2001:db8::1 2001:db8::2 17 8 01020304 05060708";

TEST(LinkLayers, EthernetWithAndWithoutTags) {
  EXPECT_EQ(read(kMacs + "0800 " + kIpv4 + kPayload), kFour);
  EXPECT_EQ(read(kMacs + "86dd " + ipv6("0008", "11") + kPayload), kSix);
  EXPECT_EQ(read(kMacs + "8100 0064 0800 " + kIpv4 + kPayload), kFour);
  EXPECT_EQ(read(kMacs + "88a8 0001 8100 0064 0800 " + kIpv4 + kPayload), kFour);
  std::string tags;
  for (std::size_t i = 0; i < kMostVlanTags; ++i) tags += "8100 0001 ";
  EXPECT_EQ(read(kMacs + tags + "0800 " + kIpv4 + kPayload), kFour);
  EXPECT_EQ(read(kMacs + tags + "8100 0001 0800 " + kIpv4 + kPayload), "none")
      << "more tags than the limit";
}

TEST(LinkLayers, PlaceIsThePackets) {
  Layers layers;
  layers.read(LinkType::ethernet, kMacs + "0806 ");
  const auto frame = layers.read(LinkType::ethernet, kMacs + "0800 " + kIpv4 + kPayload);
  EXPECT_EQ(std::get<Datagram>(frame).stamp.frame, 2u);
  EXPECT_EQ(std::get<Datagram>(frame).stamp.time_ns, 5);
}

TEST(LinkLayers, OtherProtocolsAreNothing) {
  EXPECT_EQ(read(kMacs + "0806 " + kIpv4 + kPayload), "none") << "ARP";
  EXPECT_EQ(read(kMacs + "0026 aaaa 0300 0000 0800 " + kIpv4 + kPayload), "none") << "802.3";
  EXPECT_EQ(read(LinkType{4242}, kIpv4 + kPayload), "none") << "an unknown link type";
  EXPECT_EQ(read(kMacs + "0800 55" + kIpv4.substr(2)), "none") << "IP version 5";
}

TEST(LinkLayers, PaddingAndTrailersAreNotThePayload) {
  EXPECT_EQ(read(kMacs + "0800 " + kIpv4 + kPayload + "00000000 00000000 0000"), kFour);
  EXPECT_EQ(read(kMacs + "86dd " + ipv6("0008", "11") + kPayload + "aabbccdd"), kSix);
}

TEST(LinkLayers, ACutPacketHasTheLengthOfTheWire) {
  EXPECT_EQ(read(kMacs + "0800 " + kIpv4 + "010203", 5), "192.0.2.1 192.0.2.2 17 8 010203");
  EXPECT_EQ(read(kMacs + "86dd " + ipv6("0008", "11"), 8), "2001:db8::1 2001:db8::2 17 8 ");
}

TEST(LinkLayers, ALengthOfZeroIsUpToTheEnd) {
  const std::string whole = "4500 0000 " + kIpv4.substr(10);
  EXPECT_EQ(read(kMacs + "0800 " + whole + kPayload), kFour);
  EXPECT_EQ(read(kMacs + "0800 " + whole + "0102", 98), "192.0.2.1 192.0.2.2 17 100 0102");
  EXPECT_EQ(read(kMacs + "86dd " + ipv6("0000", "11") + kPayload), kSix);
}

TEST(LinkLayers, Ipv4OptionsAreGonePast) {
  EXPECT_EQ(read(kMacs + "0800 4600 0020 " + kIpv4.substr(10) + "94040000 " + kPayload), kFour);
}

TEST(LinkLayers, AHeaderThatContradictsItselfIsNothing) {
  EXPECT_EQ(read(kMacs + "0800 4400 001c " + kIpv4.substr(10) + kPayload), "none")
      << "a header of 16 octets";
  EXPECT_EQ(read(kMacs + "0800 4500 0013 " + kIpv4.substr(10) + kPayload), "none")
      << "a packet shorter than its header";
  EXPECT_EQ(read(kMacs + "0800 4f00 001c " + kIpv4.substr(10) + kPayload), "none")
      << "a header longer than its packet";
}

TEST(LinkLayers, EveryCutOfTheHeadersIsNothing) {
  const std::string texts[] = {kMacs + "8100 0064 0800 " + kIpv4,
                               kMacs + "86dd " + ipv6("0008", "11"),
                               kMacs + "86dd " + ipv6("0010", "00") + "11000000 00000000"};
  for (const std::string& text : texts) {
    const Bytes whole = from_hex(text);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      // A copy, so that sanitizers detect an access beyond its end.
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      LinkLayers layers;
      const LinkFrame frame = layers.read({{1, 0}, LinkType::ethernet, part, 100});
      EXPECT_EQ(text_of(frame), "none") << length << " octets of " << text;
    }
  }
}

TEST(LinkLayers, OtherLinks) {
  const std::string ip = kIpv4 + kPayload;
  for (const auto type : {LinkType::raw_ip, LinkType::ipv4}) {
    EXPECT_EQ(read(type, ip), kFour);
  }
  EXPECT_EQ(read(LinkType::ipv6, ipv6("0008", "11") + kPayload), kSix);
  EXPECT_EQ(read(LinkType::null_loopback, "02000000 " + ip), kFour);
  EXPECT_EQ(read(LinkType::openbsd_loopback, "00000002 " + ip), kFour);
  EXPECT_EQ(read(LinkType::null_loopback, "1e000000 " + ipv6("0008", "11") + kPayload), kSix);
  EXPECT_EQ(read(LinkType::linux_cooked, "0000 0001 0006 020000000001 0000 0800 " + ip), kFour);
  EXPECT_EQ(read(LinkType::linux_cooked, "0000 0001 0006 020000000001 0000 8100 0064 0800 " + ip),
            kFour);
  EXPECT_EQ(read(LinkType::linux_cooked_2, "0800 0000 00000003 0001 00 06 020000000001 0000 " + ip),
            kFour);
}

TEST(LinkLayers, Ipv6ExtensionHeadersAreGonePast) {
  const std::string hop = "00000000 00000000 ";
  EXPECT_EQ(read(LinkType::ipv6, ipv6("0030", "00") + "2b000000 00000000 " +   // hop-by-hop
                                     "3c000000 00000000 " +                    // routing
                                     "33010000 00000000 00000000 00000000 " +  // options: 16 octets
                                     "11000000 00000000 " + kPayload),         // authentication
            kSix)
      << "the authentication header counts in words of four";
  std::string many;
  for (std::size_t i = 1; i < kMostExtensionHeaders; ++i) many += hop;
  EXPECT_EQ(read(LinkType::ipv6, ipv6("0088", "00") + many + "11000000 00000000 " + kPayload),
            kSix);
  EXPECT_EQ(read(LinkType::ipv6, ipv6("0090", "00") + many + hop + "11000000 00000000 " + kPayload),
            "none")
      << "more than the limit";
  EXPECT_EQ(read(LinkType::ipv6, ipv6("0010", "2c") + "11000000 00000001 " + kPayload), kSix)
      << "a fragment header of a whole packet";
}

std::string ipv4_fragment(const std::string& total, const std::string& stamp) {
  return "4500 " + total + " abcd " + stamp + " 4011 0000 c000 0201 c000 0202 ";
}

TEST(LinkLayers, FragmentsArePutTogether) {
  Layers layers;
  EXPECT_EQ(text_of(layers.read(LinkType::raw_ip, ipv4_fragment("0018", "0001") + "05060708")),
            "none");
  const LinkFrame whole =
      layers.read(LinkType::raw_ip, ipv4_fragment("001c", "2000") + "01020304 a5a5a5a5");
  EXPECT_EQ(text_of(whole), "192.0.2.1 192.0.2.2 17 12 01020304 a5a5a5a5 05060708");
  EXPECT_EQ(std::get<Datagram>(whole).stamp.frame, 2u) << "the packet that completed it";
}

TEST(LinkLayers, FragmentsOfIpv6MayHaveHeadersOfTheirOwn) {
  Layers layers;
  const std::string options = "11000000 00000000 ";
  EXPECT_EQ(
      text_of(layers.read(LinkType::ipv6, ipv6("0010", "2c") + "3c000001 0000000a " + options)),
      "none");
  EXPECT_EQ(
      text_of(layers.read(LinkType::ipv6, ipv6("0010", "2c") + "ff000008 0000000a " + kPayload)),
      kSix);
}

TEST(LinkLayers, AFragmentInsideOfFragmentsIsNothing) {
  Layers layers;
  const std::string inner = "11000008 0000000a ";  // the last one, of the same packet
  EXPECT_EQ(text_of(layers.read(LinkType::ipv6, ipv6("0010", "2c") + "2c000001 0000000b " + inner)),
            "none");
  EXPECT_EQ(
      text_of(layers.read(LinkType::ipv6, ipv6("0010", "2c") + "11000001 0000000a " + kPayload)),
      "none");
  EXPECT_EQ(
      text_of(layers.read(LinkType::ipv6, ipv6("0010", "2c") + "ff000008 0000000b " + kPayload)),
      "none");
}

const std::string kIb = "00020006 00080004 ";  // LRH: eight words
const std::string kBth = "01020304 05060708 090a0b0c 0d0e0f10 11121314 15161718 ";

TEST(LinkLayers, NativeInfiniband) {
  const std::string expected = "lrh 32 00020006 00080004 " + kBth.substr(0, kBth.size() - 1);
  EXPECT_EQ(read(LinkType::infiniband, kIb + kBth), expected);
  EXPECT_EQ(read(LinkType::infiniband, kIb + kBth + "ffff"), expected) << "without the VCRC";
  EXPECT_EQ(read(LinkType::infiniband, kIb + "0102", 24), "lrh 32 00020006 00080004 0102");
  EXPECT_EQ(read(LinkType::infiniband, "00020006"), "none");
}

TEST(LinkLayers, InfinibandInErfRecords) {
  const std::string expected = "lrh 32 00020006 00080004 " + kBth.substr(0, kBth.size() - 1);
  const std::string time = "0000000000000000 ";
  EXPECT_EQ(read(LinkType::erf, time + "15 00 0030 0000 0020 " + kIb + kBth), expected);
  EXPECT_EQ(read(LinkType::erf,
                 time + "95 00 0040 0000 0020 8100000000000000 0100000000000000 " + kIb + kBth),
            expected)
      << "two extension headers";
  EXPECT_EQ(
      read(LinkType::erf, time + "02 00 0040 0000 002e 0000 " + kMacs + "0800 " + kIpv4 + kPayload),
      kFour)
      << "Ethernet";
  EXPECT_EQ(read(LinkType::erf, time + "05 00 0040 0000 0020 " + kIb + kBth), "none") << "ATM";
}

TEST(LinkLayers, RoceVersionOne) {
  const std::string grh = "60000000 0018 1b40 " + kIpv6Addresses;
  const std::string expected = "grh 64 " + to_hex(from_hex(grh + kBth));
  EXPECT_EQ(read(kMacs + "8915 " + grh + kBth), expected);
  EXPECT_EQ(read(kMacs + "8100 0064 8915 " + grh + kBth + "0000"), expected) << "a trailer";
  EXPECT_EQ(read(kMacs + "8915 " + grh.substr(0, 30)), "none") << "cut inside the header";
}

TEST(IpAddress, Text) {
  IpAddress address;
  EXPECT_EQ(address.text(), "::");
  EXPECT_FALSE(address.is_ipv4());
  address.octets[10] = address.octets[11] = std::byte{0xff};
  address.octets[12] = std::byte{198};
  EXPECT_EQ(address.text(), "198.0.0.0");
  EXPECT_TRUE(address.is_ipv4());
}

}  // namespace
}  // namespace steertag::capture
