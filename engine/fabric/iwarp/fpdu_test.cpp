// FPDU framing: CRC against published values, and the receiver for every split of a stream.
#include "fabric/iwarp/fpdu.h"
#include "fabric/iwarp/formats.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fabric/testing/endpoint.h"

namespace steertag::fabric::iwarp {
namespace {

using testing::hex;
using testing::pattern;

// FPDUs made by hand from the RFCs, with their CRC.
const char* const kFpdus[] = {
    "00264143 00000000 00000000 00000003 00000000 12345678 00000001 00000020 00000004 00000002 "
    "1f83689f",
    "00264144 00abcd01 00000000 00000004 00000000 12345678 00000001 00000020 00000004 00000002 "
    "c8aaf200",
    "0013c140 00abcd01 00007f00 00001000 68656c6c 6f000000 4a5f2d3f",
    "002e4141 00000000 00000001 00000001 00000000 00000501 00000000 00000000 00001000 00abcd01 "
    "00007f00 00001000 b6925019",
    "002a4147 00000000 00000002 00000001 00000000 1202c000 00764143 00000000 00000000 00000005 "
    "00000000 a5002795",
    "00164147 00000000 00000002 00000001 00000000 20020000 7fe42585",
};

// Takes every segment into a buffer of its own.
class Taker final : public SegmentSink {
 public:
  Expected<MutableView, Violation> place(const Segment& /*segment*/, std::size_t bytes) override {
    if (refusing) {
      return tl::unexpected(Violation{cause::kTaggedStag, "refused", true, {}});
    }
    if (room.size() != bytes) {
      room.assign(bytes, std::byte{0});
    }
    return MutableView(room);
  }
  std::optional<Violation> deliver(const Segment& segment, MutableView payload) override {
    segments.push_back(segment);
    payloads.emplace_back(payload.begin(), payload.end());
    return std::nullopt;
  }
  bool receiving() const override { return true; }

  bool refusing = false;
  Bytes room;
  std::vector<Segment> segments;
  std::vector<Bytes> payloads;
};

// An FPDU as the transmitter makes it.
Bytes fpdu(const Segment& segment, const Bytes& payload, bool crc = true) {
  const std::size_t ulpdu = segment.header_bytes() + payload.size();
  Bytes bytes(2 + segment.header_bytes());
  bytes[0] = static_cast<std::byte>(ulpdu >> 8);
  bytes[1] = static_cast<std::byte>(ulpdu);
  encode(segment, bytes.data() + 2);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  Crc32c sum;
  sum.update(bytes);
  std::array<std::byte, kMostTrailerBytes> trailer;
  const std::size_t count = encode_trailer(ulpdu, sum, crc, trailer.data());
  bytes.insert(bytes.end(), trailer.begin(), trailer.begin() + static_cast<std::ptrdiff_t>(count));
  return bytes;
}

Bytes joined(std::size_t count) {
  Bytes stream;
  for (std::size_t i = 0; i < count; ++i) {
    Segment segment;
    segment.msn = static_cast<std::uint32_t>(i + 1);
    const Bytes one = fpdu(segment, pattern(i * 13 % 50, static_cast<std::uint8_t>(i)));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  return stream;
}

TEST(Crc32c, PublishedValues) {
  const auto value = [](const Bytes& bytes) {
    Crc32c crc;
    crc.update(bytes);
    return crc.value();
  };
  // RFC 3720 B.4
  EXPECT_EQ(value(Bytes(32)), 0x8a9136aaU);
  EXPECT_EQ(value(Bytes(32, std::byte{0xff})), 0x62a8ab43U);
  EXPECT_EQ(value({}), 0U);
}

TEST(Crc32c, PiecesGiveTheSameAsTheWhole) {
  const Bytes bytes = pattern(1000);
  Crc32c whole;
  whole.update(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Crc32c pieces;
    pieces.update(View(bytes).first(cut));
    pieces.update(View(bytes).subspan(cut));
    ASSERT_EQ(pieces.value(), whole.value()) << "cut at " << cut;
  }
}

TEST(Fpdu, HandMadeExamplesPassAndAreMadeAgain) {
  for (const char* example : kFpdus) {
    const Bytes octets = hex(example);
    Taker taker;
    FpduReceiver receiver(taker);
    receiver.use_crc(true);
    const auto violation = receiver.take(octets);
    ASSERT_FALSE(violation) << example << ": " << violation->detail;
    ASSERT_EQ(taker.segments.size(), 1U) << example;
    EXPECT_EQ(fpdu(taker.segments[0], taker.payloads[0]), octets) << example;
  }
}

TEST(Fpdu, EveryChangedBitBreaksTheCrc) {
  const Bytes octets = hex(kFpdus[2]);
  for (std::size_t bit = 16; bit < octets.size() * 8; ++bit) {
    Bytes changed = octets;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    Taker taker;
    FpduReceiver receiver(taker);
    receiver.use_crc(true);
    const auto violation = receiver.take(changed);
    ASSERT_TRUE(violation) << "bit " << bit;
    EXPECT_EQ(violation->cause.code, cause::kMpaCrc.code) << "bit " << bit;
    EXPECT_TRUE(taker.segments.empty());
  }
}

TEST(Fpdu, WithoutCrcTheFieldHasNoMeaning) {
  Bytes octets = hex(kFpdus[0]);
  octets.back() ^= std::byte{1};
  Taker taker;
  FpduReceiver receiver(taker);
  EXPECT_FALSE(receiver.take(octets));
  EXPECT_EQ(taker.segments.size(), 1U);
}

TEST(Fpdu, EveryCutOfAStreamGivesTheSameSegments) {
  const Bytes stream = joined(6);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    Taker taker;
    FpduReceiver receiver(taker);
    receiver.use_crc(true);
    ASSERT_FALSE(receiver.take(View(stream).first(cut)));
    ASSERT_FALSE(receiver.take(View(stream).subspan(cut)));
    ASSERT_EQ(taker.segments.size(), 6U) << "cut at " << cut;
    EXPECT_TRUE(receiver.between_fpdus());
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(taker.payloads[i], pattern(i * 13 % 50, static_cast<std::uint8_t>(i)));
    }
  }
}

TEST(Fpdu, PayloadMayArriveAtItsPlace) {
  const Bytes payload = pattern(500);
  const Bytes octets = fpdu(Segment{}, payload);
  Taker taker;
  FpduReceiver receiver(taker);
  receiver.use_crc(true);
  ASSERT_FALSE(receiver.take(View(octets).first(20 + 100)));
  const MutableView rest = receiver.direct();
  ASSERT_EQ(rest.size(), 400U);
  std::copy(payload.begin() + 100, payload.end(), rest.begin());
  ASSERT_FALSE(receiver.placed(400));
  EXPECT_TRUE(receiver.direct().empty());
  ASSERT_FALSE(receiver.take(View(octets).subspan(520)));
  ASSERT_EQ(taker.payloads.size(), 1U);
  EXPECT_EQ(taker.payloads[0], payload);
}

TEST(Fpdu, RefusalIsToldAfterTheCrcProvedTheHeader) {
  Bytes octets = fpdu(Segment{}, pattern(40));
  Taker taker;
  taker.refusing = true;
  FpduReceiver receiver(taker);
  receiver.use_crc(true);
  EXPECT_FALSE(receiver.take(View(octets).first(octets.size() - 1)));
  const auto refused = receiver.take(View(octets).last(1));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->detail, "refused");

  octets[30] ^= std::byte{1};
  FpduReceiver other(taker);
  other.use_crc(true);
  const auto broken = other.take(octets);
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->cause.layer, cause::kMpaCrc.layer);
}

TEST(Fpdu, PlaceIsAskedForAgainBeforeTheTrailerIsTaken) {
  const Bytes octets = fpdu(Segment{}, pattern(40));
  Taker taker;
  FpduReceiver receiver(taker);
  receiver.use_crc(true);
  ASSERT_FALSE(receiver.take(View(octets).first(octets.size() - 1)));
  taker.refusing = true;
  EXPECT_TRUE(receiver.direct().empty());
  const auto refused = receiver.take(View(octets).last(1));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->detail, "refused");
  EXPECT_TRUE(taker.segments.empty());
}

TEST(Fpdu, LengthWithoutRoomForAHeader) {
  for (const char* start : {"0000 4143", "0001 4143", "0011 4143", "000d c140"}) {
    Taker taker;
    FpduReceiver receiver(taker);
    const auto violation = receiver.take(hex(start));
    ASSERT_TRUE(violation) << start;
    EXPECT_EQ(violation->cause.layer, cause::kMpaLength.layer);
    EXPECT_EQ(violation->cause.code, cause::kMpaLength.code);
  }
}

TEST(Fpdu, MulpduFollowsTheSegmentSize) {
  EXPECT_EQ(mulpdu_of(1460), 1454U);
  EXPECT_EQ(mulpdu_of(1448), 1442U);
  EXPECT_EQ(mulpdu_of(1449), 1442U);
  EXPECT_EQ(mulpdu_of(65483), 64768U);
  EXPECT_EQ(mulpdu_of(0), 128U);
}

RC_GTEST_PROP(FpduProperty, LengthIsAMultipleOfFour, ()) {
  const auto ulpdu = static_cast<std::size_t>(*rc::gen::inRange(14, 65536));
  std::array<std::byte, kMostTrailerBytes> trailer;
  const std::size_t count = encode_trailer(ulpdu, Crc32c{}, false, trailer.data());
  RC_ASSERT((2 + ulpdu + count) % 4 == 0);
  RC_ASSERT(count >= kCrcBytes && count <= kMostTrailerBytes);
}

}  // namespace
}  // namespace steertag::fabric::iwarp
