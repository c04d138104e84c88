// Tests of record marking: fragments, pieces of any size, limits.
#include "rpc/record.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rpc/testing.h"

namespace steertag::rpc {
namespace {

using testing::from_hex;
using testing::to_hex;
using wire::FaultCode;

TEST(RecordWriter, OneFragment) {
  Bytes out;
  append_record(out, from_hex("0102030405"));
  EXPECT_EQ(to_hex(out), "80000005 01020304 05");
}

TEST(RecordWriter, ThreeFragments) {
  Bytes out;
  append_record(out, from_hex("0102030405"), 2);
  EXPECT_EQ(to_hex(out), to_hex(from_hex("00000002 0102 00000002 0304 80000001 05")));
}

TEST(RecordWriter, EmptyMessageIsOneEmptyFragment) {
  Bytes out;
  append_record(out, {});
  EXPECT_EQ(to_hex(out), "80000000");
}

TEST(RecordReader, StopsAtTheEndOfARecord) {
  const Bytes stream = from_hex("80000002 aabb 80000001 cc");
  RecordReader reader;
  const auto first = reader.take(stream);
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, 6u);
  ASSERT_TRUE(reader.complete());
  EXPECT_EQ(to_hex(reader.record()), "aabb");
  EXPECT_EQ(*reader.take(View{stream}.subspan(6)), 0u) << "took octets over a waiting record";
  reader.next();
  EXPECT_FALSE(reader.complete());
  EXPECT_EQ(*reader.take(View{stream}.subspan(6)), 5u);
  EXPECT_EQ(to_hex(reader.record()), "cc");
}

TEST(RecordReader, RestartsInTheSameMemoryAnywhereInARecord) {
  for (const std::string_view cut : {"8000", "80000002 aa", "00000001 ff", "80000002 aabb"}) {
    RecordReader reader;
    reader.reserve(1000);
    ASSERT_TRUE(reader.take(from_hex(cut)));
    reader.restart();
    EXPECT_FALSE(reader.mid_record()) << cut;
    EXPECT_FALSE(reader.complete()) << cut;
    ASSERT_TRUE(reader.take(from_hex("80000001 cc")));
    ASSERT_TRUE(reader.complete()) << cut;
    EXPECT_EQ(to_hex(reader.record()), "cc") << cut;
  }
}

TEST(RecordReader, KnowsACutRecord) {
  RecordReader reader;
  EXPECT_FALSE(reader.mid_record());
  ASSERT_TRUE(reader.take(from_hex("80")));
  EXPECT_TRUE(reader.mid_record());
  ASSERT_TRUE(reader.take(from_hex("000001")));
  EXPECT_TRUE(reader.mid_record());
  ASSERT_TRUE(reader.take(from_hex("ff")));
  EXPECT_FALSE(reader.mid_record());
}

TEST(RecordReader, KnowsACutBetweenFragments) {
  RecordReader reader;
  ASSERT_TRUE(reader.take(from_hex("00000001 ff")));
  EXPECT_FALSE(reader.complete());
  EXPECT_TRUE(reader.mid_record());
}

TEST(RecordReader, RecordLimitHoldsOverFragments) {
  RecordReader reader(8);
  ASSERT_TRUE(reader.take(from_hex("00000008 0102030405060708")));
  const auto more = reader.take(from_hex("80000001"));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, FaultCode::bad_count);
  EXPECT_EQ(more.error().offset, 12u);
  EXPECT_EQ(more.error().field, "fragment length");
  const auto again = reader.take(from_hex("80000000"));
  ASSERT_FALSE(again) << "framing cannot come back after a fault";
  EXPECT_EQ(again.error().offset, 12u);
}

TEST(RecordReader, FaultOffsetsCountFromTheStart) {
  RecordReader reader(4);
  ASSERT_TRUE(reader.take(from_hex("80000004 01020304")));
  reader.next();
  ASSERT_TRUE(reader.take(from_hex("8000")));
  const auto bad = reader.take(from_hex("0005"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().offset, 8u);
}

TEST(RecordReader, EndlessEmptyFragmentsEnd) {
  RecordReader reader;
  const Bytes empty = from_hex("00000000");
  for (std::size_t i = 0; i < kMostFragments; ++i) ASSERT_TRUE(reader.take(empty)) << i;
  const auto one_more = reader.take(empty);
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, FaultCode::limit_exceeded);
  EXPECT_EQ(one_more.error().offset, 4 * kMostFragments);
}

RC_GTEST_PROP(RecordReader, TakesPiecesOfAnySize, ()) {
  const Bytes message = wire::testing::any_bytes(80);
  const auto fragment = *rc::gen::inRange<std::size_t>(1, 30);
  Bytes stream;
  append_record(stream, message, fragment);
  append_record(stream, message, fragment);
  RecordReader reader;
  std::size_t records = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const auto piece = *rc::gen::inRange<std::size_t>(1, 20);
    const View left = View{stream}.subspan(at);
    const auto taken = reader.take(left.first(std::min(piece, left.size())));
    RC_ASSERT(taken.has_value());
    at += *taken;
    if (!reader.complete()) continue;
    RC_ASSERT(to_hex(reader.record()) == to_hex(message));
    reader.next();
    ++records;
  }
  RC_ASSERT(records == 2u);
  RC_ASSERT(!reader.mid_record());
}

}  // namespace
}  // namespace steertag::rpc
