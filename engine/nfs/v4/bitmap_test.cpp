// Tests of sets of numbers, on the wire and off it.
#include "nfs/v4/bitmap.h"

#include <gtest/gtest.h>

#include "nfs/v4/attribute_ops.h"
#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::encoded;
using rpc::testing::fault_of;
using rpc::testing::from_hex;

TEST(Bitmap, WorkedOctets) {
  EXPECT_EQ(encoded(GetattrArgs{Bitmap::of({0, 31, 32, 75})}),
            from_hex("00000003 80000001 00000001 00000800"));
  EXPECT_EQ(encoded(GetattrArgs{}), from_hex("00000000"));
}

TEST(Bitmap, TrailingZeroWordsStayAndDoNotCount) {
  const Bytes octets = from_hex("00000003 00000002 00000000 00000000");
  wire::Reader reader(octets);
  GetattrArgs args;
  args.decode(reader);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(encoded(args), octets);
  EXPECT_EQ(args.attr_request, Bitmap::of({1}));
  args.attr_request.trim();
  EXPECT_EQ(encoded(args), from_hex("00000001 00000002"));
}

// RFC 7530 2.1, RFC 8881 3.2: bitmap4 is uint32_t<>, without a limit.
TEST(Bitmap, HasAsManyWordsAsItsMessage) {
  for (const std::uint32_t last : {0U, 5U}) {
    Bytes octets(4 + 4 * (kMostBitmapWords + 2));
    wire::store_u32(octets.data(), kMostBitmapWords + 2);
    wire::store_u32(octets.data() + 4, 2);
    wire::store_u32(octets.data() + octets.size() - 8, last);
    wire::Reader reader(octets);
    GetattrArgs args;
    args.decode(reader);
    ASSERT_TRUE(reader.ok()) << reader.fault().message();
    EXPECT_EQ(encoded(args), octets);
    EXPECT_TRUE(args.attr_request.test(1));
    EXPECT_EQ(args.attr_request.has_beyond(), last != 0);
    EXPECT_EQ(args.attr_request == Bitmap::of({1}), last == 0);
    EXPECT_EQ(args.attr_request & Bitmap::of({1, 2}), Bitmap::of({1}));
    EXPECT_EQ(args.attr_request.without(Bitmap::of({1})).none(), last == 0);
    args.attr_request.trim();
    EXPECT_EQ(args.attr_request.wire_words(), last == 0 ? 1 : kMostBitmapWords + 1);
  }
}

TEST(Bitmap, WordsThatTheMessageLacksAreBadCount) {
  const wire::Fault fault = fault_of<GetattrArgs>(from_hex("00000009 00000000"));
  EXPECT_EQ(fault.code, wire::FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 0u);
  EXPECT_EQ(fault.field, "attr_request");
}

TEST(Bitmap, Sets) {
  const Bitmap a = Bitmap::of({1, 40});
  const Bitmap b = Bitmap::of({1, 70});
  EXPECT_EQ(a & b, Bitmap::of({1}));
  EXPECT_EQ((a & b).size(), 1u) << "no empty words";
  EXPECT_EQ(a | b, Bitmap::of({1, 40, 70}));
  EXPECT_EQ(a.without(b), Bitmap::of({40}));
  EXPECT_TRUE(a.without(a).none());
  Bitmap c = a;
  c.reset(40);
  c.reset(200);
  EXPECT_EQ(c, Bitmap::of({1}));
  EXPECT_FALSE(c.set(Bitmap::kNumbers));
  EXPECT_FALSE(c.test(Bitmap::kNumbers));
}

TEST(Bitmap, GoesThroughItsNumbers) {
  std::vector<std::uint32_t> numbers;
  Bitmap::of({75, 0, 32}).for_each([&](std::uint32_t number) { numbers.push_back(number); });
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 32, 75}));
}

}  // namespace
}  // namespace steertag::nfs4
