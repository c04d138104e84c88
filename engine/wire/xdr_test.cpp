// XDR at its edges: ends of the buffer, lengths near 2^32, roundup octets, the sticky fault.
#include "wire/xdr.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::from_hex;
using testing::to_hex;

constexpr std::size_t kNoLimit = SIZE_MAX;

void expect_fault(const Reader& reader, FaultCode code, std::size_t offset) {
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.fault().code, code) << reader.fault().message();
  EXPECT_EQ(reader.fault().offset, offset) << reader.fault().message();
}

TEST(XdrReader, TheFirstFaultStays) {
  const Bytes bytes = from_hex("00000002 00000007");
  Reader reader(bytes);
  EXPECT_FALSE(reader.boolean("first"));
  EXPECT_EQ(reader.u32("second"), 0u);
  EXPECT_EQ(reader.u64("third"), 0u);
  EXPECT_TRUE(reader.opaque(10, "fourth").empty());
  expect_fault(reader, FaultCode::bad_boolean, 0);
  EXPECT_EQ(reader.fault().field, "first");
  EXPECT_EQ(reader.fault().message(), "offset 0, first: a presence word is neither 0 nor 1");
}

TEST(XdrReader, WordsNeedAllTheirOctets) {
  const Bytes bytes = from_hex("00000001 000000");
  Reader words(bytes);
  EXPECT_EQ(words.u32("a"), 1u);
  EXPECT_EQ(words.u32("b"), 0u);
  expect_fault(words, FaultCode::truncated, 4);
  Reader hyper(bytes);
  EXPECT_EQ(hyper.u64("a"), 0u);
  expect_fault(hyper, FaultCode::truncated, 0);
}

TEST(XdrReader, OpaqueLengthsNearTheTopDoNotWrap) {
  for (const char* hex : {"ffffffff 61626364", "fffffffd 61626364", "fffffffc 61626364",
                          "80000000 61626364", "00000005 61626364"}) {
    const Bytes bytes = from_hex(hex);
    Reader reader(bytes);
    EXPECT_TRUE(reader.opaque(kNoLimit, "data").empty()) << hex;
    expect_fault(reader, FaultCode::truncated, 4);
  }
  const Bytes bytes = from_hex("61626364");
  for (const std::size_t length : {SIZE_MAX, SIZE_MAX - 2, SIZE_MAX - 3}) {
    Reader reader(bytes);
    EXPECT_TRUE(reader.opaque_fixed(length, "data").empty());
    expect_fault(reader, FaultCode::truncated, 0);
    Reader skipper(bytes);
    skipper.skip(length, "data");
    expect_fault(skipper, FaultCode::truncated, 0);
  }
}

TEST(XdrReader, OpaqueAboveItsLimitIsABadCount) {
  const Bytes bytes = from_hex("00000005 61626364 65000000");
  Reader reader(bytes);
  EXPECT_TRUE(reader.opaque(4, "data").empty());
  expect_fault(reader, FaultCode::bad_count, 0);
  Reader fits(bytes);
  EXPECT_EQ(fits.string(5, "data"), "abcde");
  EXPECT_EQ(fits.remaining(), 0u);
}

TEST(XdrReader, RoundupOctetsMustBeZero) {
  for (const auto& [hex, at] : {std::pair{"00000001 61010000", 5u},
                                {"00000001 61000100", 6u},
                                {"00000001 61000001", 7u},
                                {"00000003 616263ff", 7u}}) {
    const Bytes bytes = from_hex(hex);
    Reader reader(bytes);
    EXPECT_TRUE(reader.opaque(kNoLimit, "data").empty()) << hex;
    expect_fault(reader, FaultCode::bad_padding, at);
  }
}

TEST(XdrReader, RoundupOctetsMustBeThere) {
  const Bytes bytes = from_hex("00000001 610000");
  Reader reader(bytes);
  EXPECT_TRUE(reader.opaque(kNoLimit, "data").empty());
  expect_fault(reader, FaultCode::truncated, 4);
}

TEST(XdrReader, CountsMustFitTheMessageAndTheLimit) {
  const Bytes bytes = from_hex("00000002 00000000 00000000");
  Reader fits(bytes);
  EXPECT_EQ(fits.count(4, 2, "count"), 2u);
  Reader message(bytes);
  EXPECT_EQ(message.count(8, 2, "count"), 0u);
  expect_fault(message, FaultCode::bad_count, 0);
  Reader limit(bytes);
  EXPECT_EQ(limit.count(4, 1, "count"), 0u);
  expect_fault(limit, FaultCode::bad_count, 0);
  const Bytes wraps = from_hex("10000001 00000000 00000000 00000000 00000000");
  Reader reader(wraps);  // multiplied by 16, this wraps to 16 in 32 bits
  EXPECT_EQ(reader.count(16, kNoLimit, "count"), 0u);
  expect_fault(reader, FaultCode::bad_count, 0);
}

TEST(XdrWriter, WritesBigEndianWithZeroRoundup) {
  Bytes out = from_hex("ff");
  Writer writer(out);
  writer.u32(1);
  writer.u64(0x0102030405060708);
  writer.boolean(true);
  writer.string("abcde");
  writer.raw(from_hex("99"));
  EXPECT_EQ(to_hex(View(out).subspan(1)),
            "00000001 01020304 05060708 00000001 00000005 61626364 65000000 99");
  writer.patch_u32(1, 0xdeadbeef);
  EXPECT_EQ(to_hex(View(out).subspan(1, 4)), "deadbeef");
}

RC_GTEST_PROP(XdrProperty, OpaqueReadsBack, ()) {
  const Bytes data = testing::any_bytes(40);
  Bytes out;
  Writer(out).opaque(data);
  RC_ASSERT(out.size() == 4 + roundup4(data.size()));
  Reader reader(out);
  RC_ASSERT(to_hex(reader.opaque(data.size(), "data")) == to_hex(data));
  RC_ASSERT(reader.ok());
  RC_ASSERT(reader.remaining() == 0u);
}

RC_GTEST_PROP(XdrProperty, EveryTruncationOfOpaqueIsAFault, ()) {
  const Bytes data = testing::any_bytes(40);
  Bytes out;
  Writer(out).opaque(data);
  for (std::size_t size = 0; size < out.size(); ++size) {
    Reader reader(View(out).first(size));
    reader.opaque(data.size(), "data");
    RC_ASSERT(reader.fault().code == FaultCode::truncated);
    RC_ASSERT(reader.fault().offset == (size < 4 ? 0u : 4u));
  }
}

}  // namespace
}  // namespace steertag::wire
