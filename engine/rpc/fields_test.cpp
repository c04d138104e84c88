// Tests of field lists: unions, bounded arrays, stored octets, signed numbers.
#include "rpc/fields.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rpc/bounded_array.h"
#include "rpc/held_opaque.h"
#include "rpc/testing.h"

namespace steertag::rpc {
namespace {

using testing::encoded;
using testing::fault_of;
using testing::from_hex;

enum class Shape : std::uint32_t { point = 0, line = 1, box = 2, cube = 3 };
constexpr Named<Shape> kShapeNames[] = {
    {Shape::point, "point"}, {Shape::line, "line"}, {Shape::box, "box"}, {Shape::cube, "cube"}};
constexpr std::span<const Named<Shape>> names_of(Shape) {
  return kShapeNames;
}

/// point is void, line has a length, box and cube have sides.
struct Solid {
  Shape shape = Shape::point;
  std::int64_t length = 0;
  BoundedArray<std::uint32_t, 3> sides{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"shape", &Solid::shape}, arm<Shape::line>("length", &Solid::length),
              arm<Shape::box, Shape::cube>("sides", &Solid::sides)};
};
STEERTAG_DEFINE_XDR(Solid)

TEST(Union, OnlyTheSelectedArmIsOnTheWire) {
  Solid solid;
  solid.length = -2;
  solid.sides = {7, 8};
  EXPECT_EQ(encoded(solid), from_hex("00000000"));
  solid.shape = Shape::line;
  EXPECT_EQ(encoded(solid), from_hex("00000001fffffffffffffffe"));
  solid.shape = Shape::cube;
  EXPECT_EQ(encoded(solid), from_hex("00000003000000020000000700000008"));
}

TEST(Union, ArmsOfAnEarlierMessageDoNotStay) {
  const Bytes octets = from_hex("00000002 00000001 00000009");
  Solid solid;
  solid.length = 5;
  wire::Reader reader(octets);
  solid.decode(reader);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(solid.length, 0);
  EXPECT_EQ(solid.sides, (BoundedArray<std::uint32_t, 3>{9}));
}

TEST(Union, UnknownDiscriminantIsBadEnum) {
  const wire::Fault fault = fault_of<Solid>(from_hex("00000004 00000000"));
  EXPECT_EQ(fault.code, wire::FaultCode::bad_enum);
  EXPECT_EQ(fault.offset, 0u);
  EXPECT_EQ(fault.field, "shape");
}

RC_GTEST_PROP(Union, RoundTripsAndFaultsWhenCut, ()) {
  testing::Arena arena;
  testing::check_codec<Solid>(encoded(testing::any<Solid>(arena)));
}

TEST(BoundedArray, MoreThanItHoldsIsBadCount) {
  const wire::Fault fault =
      fault_of<Solid>(from_hex("00000002 00000004 00000001 00000002 00000003 00000004"));
  EXPECT_EQ(fault.code, wire::FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 4u);
  EXPECT_EQ(fault.field, "sides");
}

TEST(BoundedArray, RefusesWhatDoesNotFit) {
  BoundedArray<int, 2> numbers{1, 2, 3};
  EXPECT_EQ(numbers.size(), 2u);
  EXPECT_FALSE(numbers.push_back(4));
  EXPECT_EQ(numbers, (BoundedArray<int, 2>{1, 2}));
}

TEST(ReaderOfAnyValues, PassesLimitsAndEnumerations) {
  const Bytes octets =
      from_hex("00000002 00000004 00000001 00000002 00000003 00000004 00000009 00000005");
  wire::Reader reader(octets, wire::Values::any);
  Solid solid;
  solid.decode(reader);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader.offset(), 24u) << "the fourth side was left behind";
  solid.decode(reader);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 4u) << "shape 9 is void";
}

TEST(ReaderOfAnyValues, StillMeetsTheEnd) {
  const Bytes octets = from_hex("00000002 ffffffff 00000001");
  wire::Reader reader(octets, wire::Values::any);
  Solid solid;
  solid.decode(reader);
  EXPECT_EQ(reader.fault().code, wire::FaultCode::bad_count);
}

TEST(HeldOpaque, KeepsItsOctetsWhenTooMany) {
  HeldOpaque<4> held(from_hex("0102"));
  EXPECT_FALSE(held.assign(Bytes(9)));
  EXPECT_EQ(held, HeldOpaque<4>(from_hex("0102")));
  EXPECT_TRUE(held.assign(Bytes(8))) << "cases send more than the protocol allows";
}

}  // namespace
}  // namespace steertag::rpc
