// DDP and RDMAP headers against hand-made octets, and their round trip.
#include "rdma/iwarp/segment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::rdma::iwarp {
namespace {

using wire::testing::from_hex;

Bytes encoded(const Segment& segment) {
  Bytes bytes(segment.header_bytes());
  encode(segment, bytes.data());
  return bytes;
}

TEST(Segment, SendWithInvalidate) {
  Segment segment;
  segment.opcode = Opcode::send_invalidate;
  segment.stag = 0x00abcd01;
  segment.msn = 4;
  EXPECT_EQ(encoded(segment), from_hex("4144 00abcd01 00000000 00000004 00000000"));
}

TEST(Segment, RdmaWriteNotLast) {
  Segment segment;
  segment.tagged = true;
  segment.last = false;
  segment.opcode = Opcode::rdma_write;
  segment.stag = 0x00abcd01;
  segment.offset = 0x00007f0000001000;
  EXPECT_EQ(encoded(segment), from_hex("8140 00abcd01 00007f00 00001000"));
}

TEST(Segment, ReservedBitsAreIgnored) {
  const Segment segment = decode_segment(from_hex("bd70 00000501 00000000 00000000").data());
  EXPECT_TRUE(segment.tagged);
  EXPECT_FALSE(segment.last);
  EXPECT_EQ(segment.ddp_version, 1);
  EXPECT_EQ(segment.rdmap_version, 1);
  EXPECT_EQ(segment.opcode, Opcode::rdma_write);
}

TEST(Segment, EveryFieldHasAName) {
  for (std::uint8_t opcode = 0; opcode < 8; ++opcode) {
    EXPECT_NE(name(static_cast<Opcode>(opcode)), "unknown opcode") << int{opcode};
  }
  EXPECT_EQ(name(static_cast<Opcode>(8)), "unknown opcode");
}

TEST(ReadRequest, MatchesItsOctets) {
  const ReadRequest request{0x501, 0, 4096, 0x00abcd01, 0x00007f0000001000};
  Bytes bytes(kReadRequestBytes);
  encode(request, bytes.data());
  EXPECT_EQ(bytes, from_hex("00000501 00000000 00000000 00001000 00abcd01 00007f00 00001000"));
  EXPECT_EQ(decode_read_request(bytes.data()), request);
}

RC_GTEST_PROP(SegmentProperty, RoundTrip,
              (bool tagged, bool last, std::uint32_t stag, std::uint64_t offset, std::uint32_t qn,
               std::uint32_t msn, std::uint32_t mo)) {
  Segment segment;
  segment.tagged = tagged;
  segment.last = last;
  segment.ddp_version = static_cast<std::uint8_t>(*rc::gen::inRange(0, 4));
  segment.rdmap_version = static_cast<std::uint8_t>(*rc::gen::inRange(0, 4));
  segment.opcode = static_cast<Opcode>(*rc::gen::inRange(0, 16));
  segment.stag = stag;
  if (tagged) {
    segment.offset = offset;
  } else {
    segment.qn = qn;
    segment.msn = msn;
    segment.mo = mo;
  }
  RC_ASSERT(decode_segment(encoded(segment).data()) == segment);
}

}  // namespace
}  // namespace steertag::rdma::iwarp
