// Fragments in any order make a payload, and memory stays limited.
#include "capture/link/fragments.h"

#include <gtest/gtest.h>

namespace steertag::capture {
namespace {

FragmentKey key(std::uint32_t identification = 1) {
  return {{}, {}, identification, kProtocolUdp};
}

/// Octets with different values.
Bytes payload(std::size_t length) {
  Bytes octets(length);
  for (std::size_t i = 0; i < length; ++i) octets[i] = static_cast<std::byte>(i * 7 + 1);
  return octets;
}

Fragment part(const Bytes& whole, std::size_t from, std::size_t to) {
  return {from, to < whole.size(), View(whole).subspan(from, to - from), to - from, 17};
}

TEST(Fragments, MakeAPayloadInAnyOrder) {
  const Bytes whole = payload(3000);
  const std::pair<std::size_t, std::size_t> parts[] = {{0, 1480}, {1480, 2960}, {2960, 3000}};
  std::size_t order[] = {0, 1, 2};
  do {
    Fragments fragments;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& [from, to] = parts[order[i]];
      const auto done = fragments.add(key(), part(whole, from, to), i + 1);
      ASSERT_EQ(done.has_value(), i == 2) << "after fragment " << i + 1;
      if (!done) continue;
      EXPECT_EQ(Bytes(done->octets.begin(), done->octets.end()), whole);
      EXPECT_EQ(done->length, whole.size());
      EXPECT_EQ(done->protocol, 17);
    }
    EXPECT_EQ(fragments.open(), 0u);
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

TEST(Fragments, OfTwoPacketsAreToldApart) {
  const Bytes whole = payload(16);
  Fragments fragments;
  EXPECT_FALSE(fragments.add(key(1), part(whole, 0, 8), 1));
  EXPECT_FALSE(fragments.add(key(2), part(whole, 8, 16), 2));
  EXPECT_TRUE(fragments.add(key(1), part(whole, 8, 16), 3));
  EXPECT_TRUE(fragments.add(key(2), part(whole, 0, 8), 4));
}

TEST(Fragments, ACopyIsNoOverlap) {
  const Bytes whole = payload(24);
  Fragments fragments;
  EXPECT_FALSE(fragments.add(key(), part(whole, 0, 8), 1));
  EXPECT_FALSE(fragments.add(key(), part(whole, 0, 8), 2));
  EXPECT_FALSE(fragments.add(key(), part(whole, 16, 24), 3));
  EXPECT_FALSE(fragments.add(key(), part(whole, 16, 24), 4));
  EXPECT_TRUE(fragments.add(key(), part(whole, 8, 16), 5));
}

TEST(Fragments, AnOverlapMakesThePacketVoid) {
  const Bytes whole = payload(32);
  for (const auto& [from, to] : {std::pair{0, 24}, {8, 24}, {8, 16}, {0, 16}, {0, 8}}) {
    Fragments fragments;
    EXPECT_FALSE(fragments.add(key(), part(whole, 0, 16), 1));
    EXPECT_FALSE(fragments.add(
        key(), part(whole, static_cast<std::size_t>(from), static_cast<std::size_t>(to)), 2));
    const bool copy = from == 0 && to == 16;
    EXPECT_EQ(fragments.add(key(), part(whole, 16, 32), 3).has_value(), copy)
        << "octets " << from << " to " << to;
  }
}

TEST(Fragments, BehindTheLastMakeThePacketVoid) {
  const Bytes whole = payload(32);
  Fragments fragments;
  EXPECT_FALSE(fragments.add(key(), {16, false, View(whole).first(8), 8, 17}, 1));
  EXPECT_FALSE(fragments.add(key(), {24, true, View(whole).first(8), 8, 17}, 2));
  EXPECT_FALSE(fragments.add(key(), {0, true, View(whole).first(16), 16, 17}, 3));
}

TEST(Fragments, ThatCannotBeAreIgnored) {
  const Bytes whole = payload(16);
  Fragments fragments;
  EXPECT_FALSE(fragments.add(key(), {0, true, View(whole).first(7), 7, 17}, 1)) << "no unit of 8";
  EXPECT_FALSE(fragments.add(key(), {8, true, {}, 0, 17}, 1)) << "empty";
  EXPECT_FALSE(fragments.add(key(), {65528, false, whole, 16, 17}, 1)) << "longer than a packet";
  EXPECT_EQ(fragments.open(), 0u);
}

TEST(Fragments, ACutOneEndsWhatIsKnown) {
  const Bytes whole = payload(24);
  Fragments fragments;
  Fragment cut = part(whole, 8, 16);
  cut.octets = cut.octets.first(3);
  EXPECT_FALSE(fragments.add(key(), part(whole, 0, 8), 1));
  EXPECT_FALSE(fragments.add(key(), cut, 2));
  const auto done = fragments.add(key(), part(whole, 16, 24), 3);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->octets.size(), 11u);
  EXPECT_EQ(done->length, 24u);
}

TEST(Fragments, OldOnesAreForgotten) {
  const Bytes whole = payload(16);
  Fragments fragments;
  EXPECT_FALSE(fragments.add(key(), part(whole, 0, 8), 1));
  EXPECT_FALSE(fragments.add(key(), part(whole, 8, 16), 2 + kMostFragmentAge));
}

TEST(Fragments, NoMoreThanTheLimitAreKept) {
  const Bytes whole = payload(16);
  Fragments fragments;
  for (std::uint32_t id = 0; id <= kMostFragmentedPackets; ++id) {
    EXPECT_FALSE(fragments.add(key(id), part(whole, 0, 8), id + 1));
  }
  EXPECT_EQ(fragments.open(), kMostFragmentedPackets);
  EXPECT_TRUE(fragments.add(key(1), part(whole, 8, 16), 1000)) << "the oldest went, not this one";
  EXPECT_FALSE(fragments.add(key(0), part(whole, 8, 16), 1001)) << "the oldest";
}

}  // namespace
}  // namespace steertag::capture
