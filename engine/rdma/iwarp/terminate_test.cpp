// Terminate messages: RFC bit order when sent, both orders when received.
#include "rdma/iwarp/terminate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::rdma::iwarp {
namespace {

using wire::testing::from_hex;

Bytes encoded(const TerminateMessage& message) {
  Bytes bytes(kMostTerminateBytes);
  bytes.resize(encode(message, bytes.data()));
  return bytes;
}

void expect_cause(const Bytes& octets, int layer, int type, int code) {
  const auto cause = decode_terminate(octets);
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->layer, layer);
  EXPECT_EQ(cause->type, type);
  EXPECT_EQ(cause->code, code);
}

TEST(Terminate, CarriesTheOffendersHeader) {
  Segment offender;
  offender.msn = 5;
  const TerminateMessage message{cause::kNoBuffer, offender, 0x76, {}};
  EXPECT_EQ(encoded(message), from_hex("1202c000 0076 4143 00000000 00000000 00000005 00000000"));
}

TEST(Terminate, CarriesTheReadRequest) {
  Segment offender;
  offender.opcode = Opcode::read_request;
  offender.qn = 1;
  offender.msn = 1;
  const ReadRequest read{0x501, 0, 4096, 0xabcd01, 0x1000};
  const Bytes bytes = encoded({cause::kReadBounds, offender, 46, read});
  EXPECT_EQ(bytes.size(), kMostTerminateBytes);
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 6), from_hex("0101e000 002e"));
}

TEST(Terminate, MpaErrorsCarryNothing) {
  EXPECT_EQ(encoded({cause::kMpaCrc, {}, 0, {}}), from_hex("20020000"));
}

TEST(Terminate, DecodesRfcOrder) {
  expect_cause(from_hex("1202c000"), 1, 2, 2);
  expect_cause(from_hex("20020000"), 2, 0, 2);
  expect_cause(from_hex("0109e000"), 0, 1, 9);
}

TEST(Terminate, DecodesLittleEndianBitFields) {
  expect_cause(from_hex("21020300"), 1, 2, 2);
  expect_cause(from_hex("02020000"), 2, 0, 2);
  expect_cause(from_hex("10000700"), 0, 1, 0);
}

TEST(Terminate, TooShortHasNoCause) {
  EXPECT_FALSE(decode_terminate(from_hex("120200")));
  EXPECT_FALSE(decode_terminate({}));
}

TEST(Terminate, DescribesKnownAndUnknownCauses) {
  EXPECT_EQ(describe(cause::kTooLong),
            "DDP, untagged buffer: message too long for the buffer (1/2/5)");
  EXPECT_EQ(describe({0, 0, 77}), "RDMAP: local catastrophic error (0/0/77)");
  EXPECT_EQ(describe({15, 15, 255}), "unknown error (15/15/255)");
}

RC_GTEST_PROP(TerminateProperty, CausesWithHeaderBitsRoundTrip, (std::uint8_t code)) {
  const trace::Terminate cause{static_cast<std::uint8_t>(*rc::gen::inRange(0, 16)),
                               static_cast<std::uint8_t>(*rc::gen::inRange(0, 16)), code};
  const auto back = decode_terminate(encoded({cause, Segment{}, 18, {}}));
  RC_ASSERT(back && back->layer == cause.layer && back->type == cause.type &&
            back->code == cause.code);
}

}  // namespace
}  // namespace steertag::rdma::iwarp
