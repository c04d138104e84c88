// Kept pieces: in order, without overlaps, the first copy of each octet.
#include "capture/iwarp/tcp_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace steertag::capture::iwarp {
namespace {

TEST(TcpStream, SequenceNumbersWrap) {
  Budget budget;
  TcpStream stream(budget);
  stream.set_first(0xffffff00, true);
  const std::uint64_t first = stream.first();
  EXPECT_EQ(stream.position(0xffffff00), first);
  EXPECT_EQ(stream.position(0xfffffeff), first - 1);
  EXPECT_EQ(stream.position(0x00000010), first + 0x110);
  stream.advance(first + 0x110);
  EXPECT_EQ(stream.position(0xffffff00), first);
  EXPECT_TRUE(stream.near(first));
  EXPECT_FALSE(stream.near(first + 0x110 + kMostWindow + 1));
}

TEST(TcpStream, TheStartIsKnownOnlyFromWhereItIs) {
  Budget budget;
  TcpStream stream(budget);
  stream.set_first(100, false);
  stream.set_first(90, true);
  EXPECT_FALSE(stream.at_start()) << "ten octets before the first that was seen";
  stream.set_first(100, true);
  EXPECT_TRUE(stream.at_start());
}

TEST(TcpStream, AnotherFinDoesNotMoveTheFirst) {
  Budget budget;
  TcpStream stream(budget);
  stream.set_first(0, true);
  stream.keep_fin({stream.first() + 5, 0, {7, 7}});
  stream.keep_fin({stream.first() + 9, 0, {8, 8}});
  EXPECT_EQ(stream.head(), TcpStream::Head::none);
  stream.advance(stream.first() + 5);
  EXPECT_EQ(stream.head(), TcpStream::Head::fin);
  EXPECT_EQ(stream.head_stamp().frame, 7u);
}

RC_GTEST_PROP(TcpStreamProperty, TheFirstCopyOfEachOctetIsHandedOn, ()) {
  Budget budget;
  TcpStream stream(budget);
  stream.set_first(*rc::gen::arbitrary<std::uint32_t>(), true);
  std::map<std::uint64_t, int> model;  // the octet at a position; -1 if it was not captured
  const int count = *rc::gen::inRange(1, 30);
  for (int i = 1; i <= count; ++i) {
    const std::uint64_t begin = stream.first() + *rc::gen::inRange<std::uint64_t>(0, 60);
    const Bytes octets(*rc::gen::inRange<std::size_t>(0, 20), static_cast<std::byte>(i));
    const std::size_t missing = *rc::gen::inRange<std::size_t>(0, 3) * 4;
    for (std::size_t at = 0; at < octets.size() + missing; ++at) {
      model.emplace(begin + at, at < octets.size() ? i : -1);
    }
    stream.keep({begin, octets, missing, true, 0, {std::uint64_t(i), 0}});
  }
  for (const auto& [position, octet] : model) {
    if (position >= stream.next()) stream.advance(position);  // across a hole
    if (stream.head() != TcpStream::Head::octets) RC_FAIL("nothing is there");
    const TcpStream::Kept kept = stream.take_octets();
    RC_ASSERT(kept.piece.begin == position);
    const bool there = !kept.piece.octets.empty();
    RC_ASSERT((there ? std::to_integer<int>(kept.piece.octets.front()) : -1) == octet);
    Piece rest = kept.piece;
    rest.drop_before(position + 1);
    if (!rest.empty()) stream.keep(rest);
  }
  stream.advance(stream.next() + 100);
  RC_ASSERT(stream.head() == TcpStream::Head::none);
  RC_ASSERT(stream.keeps_nothing());
}

}  // namespace
}  // namespace steertag::capture::iwarp
