// MPA request and reply frames: octets, every fault, and the round trip.
#include "rdma/iwarp/mpa_startup.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::rdma::iwarp {
namespace {

using wire::testing::from_hex;

Bytes octets(std::string_view text) {
  const View view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

const char* const kRequest =
    "4d504120 49442052 65712046 72616d65 5002000c 00100010 f6ab0e18 01010303";
const char* const kReply =
    "4d504120 49442052 65702046 72616d65 5002000c 00100010 f6ab0e18 01000303";

StartupFault fault_of(StartupKind kind, const Bytes& bytes) {
  const auto frame = decode_startup(kind, bytes);
  EXPECT_FALSE(frame) << "the frame was taken";
  return frame ? StartupFault::bad_key : frame.error();
}

TEST(MpaStartup, EncodesAnEnhancedRequest) {
  StartupFrame frame;
  frame.crc = true;
  frame.revision = 2;
  frame.enhanced = Enhanced{false, false, false, false, 16, 16};
  frame.private_data = from_hex("f6ab0e18 01010303");
  EXPECT_EQ(encode(frame), from_hex(kRequest));
}

TEST(MpaStartup, DecodesAnEnhancedReply) {
  const auto frame = decode_startup(StartupKind::reply, from_hex(kReply));
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->crc);
  EXPECT_FALSE(frame->rejected);
  EXPECT_FALSE(frame->markers);
  ASSERT_TRUE(frame->enhanced);
  EXPECT_EQ(frame->enhanced->ird, 16);
  EXPECT_EQ(frame->private_data, from_hex("f6ab0e18 01000303"));
}

TEST(MpaStartup, RevisionOneHasNoEnhancedData) {
  Bytes request = from_hex(kRequest);
  request[17] = std::byte{1};
  const auto frame = decode_startup(StartupKind::request, request);
  ASSERT_TRUE(frame);
  EXPECT_FALSE(frame->enhanced);
  EXPECT_EQ(frame->private_data.size(), 12U);
}

TEST(MpaStartup, ControlFlagsCountOnlyForPeerToPeer) {
  Bytes request = from_hex(kRequest);
  request[20] = std::byte{0x40};
  request[22] = std::byte{0xc0};
  auto frame = decode_startup(StartupKind::request, request);
  ASSERT_TRUE(frame);
  EXPECT_EQ(*frame->enhanced, (Enhanced{false, false, false, false, 16, 16}));
  request[20] = std::byte{0xc0};
  frame = decode_startup(StartupKind::request, request);
  EXPECT_EQ(*frame->enhanced, (Enhanced{true, true, true, true, 16, 16}));
}

TEST(MpaStartup, FaultsShowAtTheFirstOctetThatProvesThem) {
  EXPECT_EQ(octets_lacking(StartupKind::request, octets("G")).error(), StartupFault::bad_key);
  EXPECT_EQ(octets_lacking(StartupKind::reply, octets("HTTP/1.1 400")).error(),
            StartupFault::bad_key);
  EXPECT_EQ(fault_of(StartupKind::reply, from_hex(kRequest)), StartupFault::wrong_direction);
  Bytes frame = from_hex(kRequest);
  frame[17] = std::byte{3};
  EXPECT_EQ(fault_of(StartupKind::request, frame), StartupFault::bad_revision);
  frame = from_hex(kRequest);
  frame[18] = std::byte{2};
  frame[19] = std::byte{1};
  EXPECT_EQ(fault_of(StartupKind::request, frame), StartupFault::private_data_long);
  frame[18] = std::byte{0};
  frame[19] = std::byte{3};
  EXPECT_EQ(fault_of(StartupKind::request, frame), StartupFault::enhanced_truncated);
}

TEST(MpaStartup, AKeyIsSetAsFarAsOctetsAreThere) {
  Bytes whole = from_hex(kReply);
  set_key(StartupKind::request, whole);
  EXPECT_TRUE(decode_startup(StartupKind::request, whole));
  Bytes part = octets("ABC");
  set_key(StartupKind::request, part);
  EXPECT_EQ(part, octets("MPA"));
  set_key(StartupKind::request, {});
}

TEST(MpaStartup, TellsHowManyOctetsAreLacking) {
  const Bytes request = from_hex(kRequest);
  for (std::size_t have = 0; have <= request.size(); ++have) {
    const auto lacking = octets_lacking(StartupKind::request, View(request).first(have));
    ASSERT_TRUE(lacking) << have;
    EXPECT_EQ(*lacking, have < 20 ? 20 - have : request.size() - have);
  }
}

TEST(MpaStartup, LargestPrivateDataPasses) {
  StartupFrame frame;
  frame.private_data.resize(kMostPrivateData);
  EXPECT_TRUE(decode_startup(StartupKind::request, encode(frame)));
  frame.private_data.resize(kMostPrivateData + 1);
  EXPECT_EQ(fault_of(StartupKind::request, encode(frame)), StartupFault::private_data_long);
}

RC_GTEST_PROP(MpaStartupProperty, RoundTrip,
              (bool reply, bool markers, bool crc, bool peer_to_peer)) {
  StartupFrame frame;
  frame.kind = reply ? StartupKind::reply : StartupKind::request;
  frame.markers = markers;
  frame.crc = crc;
  frame.rejected = reply && *rc::gen::arbitrary<bool>();
  frame.revision = *rc::gen::element<std::uint8_t>(1, 2);
  if (frame.revision == 2) {
    Enhanced& enhanced = frame.enhanced.emplace();
    enhanced.peer_to_peer = peer_to_peer;
    enhanced.rtr_write = peer_to_peer;
    enhanced.ird = static_cast<std::uint16_t>(*rc::gen::inRange(0, 0x4000));
    enhanced.ord = static_cast<std::uint16_t>(*rc::gen::inRange(0, 0x4000));
  }
  frame.private_data.resize(*rc::gen::inRange<std::size_t>(0, 509), std::byte{0xa5});
  const auto back = decode_startup(frame.kind, encode(frame));
  RC_ASSERT(back && *back == frame);
}

}  // namespace
}  // namespace steertag::rdma::iwarp
