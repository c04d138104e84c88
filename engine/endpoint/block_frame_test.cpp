// Tests of the frame of a block: worked octets, and that each bent bit makes it invalid.
#include "endpoint/block_frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::peer {
namespace {

using wire::testing::from_hex;
using wire::testing::to_hex;

constexpr std::uint64_t kGeneration = 0x0102030405060708;

Bytes sealed(View data, std::uint64_t generation = kGeneration) {
  Bytes frame(kFrameOctets + data.size());
  std::ranges::copy(data, frame_data(frame).begin());
  seal_frame(frame, generation);
  return frame;
}

TEST(BlockFrame, WorkedOctets) {
  // The CRC32C of these nine octets, computed by another program.
  EXPECT_EQ(to_hex(sealed(from_hex("61"))),
            to_hex(from_hex("0102030405060708 00000000 b10b7254 61 0102030405060708")));
}

TEST(BlockFrame, OpensWithItsGenerationAlone) {
  const Bytes data = from_hex("68656c6c6f");
  const Bytes frame = sealed(data);
  const auto opened = open_frame(frame, kGeneration);
  ASSERT_TRUE(opened);
  EXPECT_EQ(to_hex(*opened), to_hex(data));
  EXPECT_FALSE(open_frame(frame, kGeneration + 1));
}

TEST(BlockFrame, EveryBitCounts) {
  const Bytes frame = sealed(from_hex("68656c6c6f"));
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    Bytes bent = frame;
    bent[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(open_frame(bent, kGeneration)) << "bit " << bit;
  }
}

TEST(BlockFrame, WipedHasNothing) {
  Bytes frame = sealed(from_hex("68656c6c6f"));
  wipe_frame(frame);
  EXPECT_EQ(frame, Bytes(frame.size()));
  EXPECT_FALSE(open_frame(frame, kGeneration));
  EXPECT_FALSE(open_frame(frame, 0)) << "0 is no generation";
}

TEST(BlockFrame, ShorterThanAFrame) {
  const Bytes frame = sealed({});
  EXPECT_TRUE(open_frame(frame, kGeneration)) << "no data are data";
  for (std::size_t length = 0; length < frame.size(); ++length)
    EXPECT_FALSE(open_frame(View(frame).first(length), kGeneration)) << length;
}

RC_GTEST_PROP(BlockFrame, OpensToWhatWasSealed,
              (const std::vector<std::uint8_t>& octets, std::uint64_t generation)) {
  RC_PRE(generation != 0U);
  const Bytes data(reinterpret_cast<const std::byte*>(octets.data()),
                   reinterpret_cast<const std::byte*>(octets.data()) + octets.size());
  const Bytes frame = sealed(data, generation);
  const auto opened = open_frame(frame, generation);
  RC_ASSERT(opened.has_value());
  RC_ASSERT(std::ranges::equal(*opened, data));
}

}  // namespace
}  // namespace steertag::peer
