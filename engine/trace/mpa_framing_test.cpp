// Checks the ends of a stream's units: startup frames, FPDUs, and other octets.
#include "trace/mpa_framing.h"

#include <gtest/gtest.h>

#include <string_view>

namespace steertag::trace {
namespace {

Bytes octets(std::string_view text) {
  const auto view = std::as_bytes(std::span(text.data(), text.size()));
  return {view.begin(), view.end()};
}

Bytes startup(std::byte flags, std::size_t private_data) {
  Bytes frame = octets("MPA ID Req Frame");
  frame.push_back(flags);
  frame.push_back(std::byte{2});
  frame.push_back(std::byte(private_data >> 8));
  frame.push_back(std::byte(private_data & 0xff));
  frame.resize(frame.size() + private_data);
  return frame;
}

TEST(MpaFraming, StartupFrameEndsAfterItsPrivateData) {
  MpaFraming framing;
  const Bytes frame = startup(std::byte{0x50}, 12);
  EXPECT_EQ(framing.unit_length(View(frame).first(1)), std::nullopt);
  EXPECT_EQ(framing.unit_length(View(frame).first(19)), std::nullopt);
  EXPECT_EQ(framing.unit_length(View(frame).first(20)), 32u);
  framing.take(frame);
  EXPECT_FALSE(framing.wants_markers());
}

TEST(MpaFraming, FpduIsPaddedAndHasItsCrc) {
  MpaFraming framing;
  framing.take(startup(std::byte{0x50}, 0));
  EXPECT_EQ(framing.unit_length(octets(std::string_view("\0", 1))), std::nullopt);
  // RFC 5044 4: length word, ULPDU, pad to four octets, CRC.
  EXPECT_EQ(framing.unit_length(octets(std::string_view("\0\x26", 2))), 44u);
  EXPECT_EQ(framing.unit_length(octets(std::string_view("\0\x13", 2))), 28u);
  EXPECT_EQ(framing.unit_length(octets(std::string_view("\xfd\0", 2))), 64776u);
}

TEST(MpaFraming, AnotherProtocolIsTakenAsItComes) {
  MpaFraming framing;
  const Bytes text = octets("GET / HTTP/1.1");
  EXPECT_EQ(framing.unit_length(text), text.size());
  framing.take(text);
  EXPECT_EQ(framing.unit_length(View(text).first(3)), 3u);
}

TEST(MpaFraming, ImpossibleLengthsAreTakenAsTheyCome) {
  MpaFraming framing;
  const Bytes frame = startup(std::byte{0x50}, 513);
  EXPECT_EQ(framing.unit_length(frame), frame.size()) << "PD_Length over 512";

  MpaFraming later;
  later.take(startup(std::byte{0x50}, 0));
  const Bytes fpdu = octets("\xfd\x01 and on");
  EXPECT_EQ(later.unit_length(fpdu), fpdu.size()) << "ULPDU over 64768";
  later.take(fpdu);
  EXPECT_EQ(later.unit_length(octets("abcdef")), 6u) << "framing is lost from then on";
}

TEST(MpaFraming, SaysWhenTheOtherDirectionCarriesMarkers) {
  MpaFraming framing;
  framing.take(startup(std::byte{0xd0}, 0));
  EXPECT_TRUE(framing.wants_markers());
}

}  // namespace
}  // namespace steertag::trace
