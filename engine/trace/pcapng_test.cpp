// Reads the writer's blocks back field by field.
#include "trace/pcapng.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <vector>

namespace steertag::trace {
namespace {

struct Block {
  std::uint32_t type = 0;
  std::string body;
};

std::uint32_t read32(std::string_view text, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, text.substr(at, 4).data(), 4);
  return value;
}

std::uint16_t read16(std::string_view text, std::size_t at) {
  std::uint16_t value = 0;
  std::memcpy(&value, text.substr(at, 2).data(), 2);
  return value;
}

std::vector<Block> blocks_of(const std::string& file) {
  std::vector<Block> blocks;
  std::size_t at = 0;
  while (at + 12 <= file.size()) {
    const std::uint32_t length = read32(file, at + 4);
    if (length < 12 || length % 4 != 0 || at + length > file.size()) {
      ADD_FAILURE() << "the block at octet " << at << " has the impossible length " << length;
      return blocks;
    }
    EXPECT_EQ(read32(file, at + length - 4), length) << "lengths of the block at " << at;
    blocks.push_back({read32(file, at), file.substr(at + 8, length - 12)});
    at += length;
  }
  EXPECT_EQ(at, file.size()) << "octets after the last block";
  return blocks;
}

/// Values of all options of one code, from octet `at` of a block's body on.
std::vector<std::string> options_of(const std::string& body, std::size_t at, std::uint16_t code) {
  std::vector<std::string> values;
  while (at + 4 <= body.size() && read16(body, at) != 0) {
    const std::uint16_t length = read16(body, at + 2);
    if (read16(body, at) == code) values.push_back(body.substr(at + 4, length));
    at += 4 + (length + 3u) / 4 * 4;
  }
  return values;
}

TEST(Pcapng, SectionHeaderNamesTheProgramAndCarriesComments) {
  std::ostringstream out;
  const std::vector<std::string> comments = {"case credit-17", "verdict fail"};
  const PcapngWriter writer(out, "steertag", comments);
  const auto blocks = blocks_of(out.str());
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].type, 0x0a0d0d0au);
  EXPECT_EQ(read32(blocks[0].body, 0), 0x1a2b3c4du);
  EXPECT_EQ(options_of(blocks[0].body, 16, 1), comments);
  EXPECT_EQ(options_of(blocks[0].body, 16, 4), std::vector<std::string>{"steertag"});
}

TEST(Pcapng, InterfaceHasNanosecondsAndItsLinkType) {
  std::ostringstream out;
  PcapngWriter writer(out, "steertag");
  EXPECT_EQ(writer.add_interface(LinkType::raw_ip, "iwarp"), 0u);
  EXPECT_EQ(writer.add_interface(LinkType::ethernet, "verbs"), 1u);
  const auto blocks = blocks_of(out.str());
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[1].type, 1u);
  EXPECT_EQ(read16(blocks[1].body, 0), 101u);
  EXPECT_EQ(read16(blocks[2].body, 0), 1u);
  EXPECT_EQ(options_of(blocks[1].body, 8, 9), std::vector<std::string>{"\x09"});
}

TEST(Pcapng, PacketKeepsTimeOctetsAndComments) {
  std::ostringstream out;
  PcapngWriter writer(out, "steertag");
  const std::uint32_t interface = writer.add_interface(LinkType::raw_ip, "iwarp");
  const Bytes packet = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  const std::vector<std::string> comments = {"first", "second"};
  const std::int64_t time_ns = 1'700'000'000'123'456'789;
  writer.add_packet(interface, time_ns, packet, comments);
  const auto blocks = blocks_of(out.str());
  ASSERT_EQ(blocks.size(), 3u);
  const std::string& body = blocks[2].body;
  EXPECT_EQ(blocks[2].type, 6u);
  const std::uint64_t time = std::uint64_t{read32(body, 4)} << 32 | read32(body, 8);
  EXPECT_EQ(time, static_cast<std::uint64_t>(time_ns));
  EXPECT_EQ(read32(body, 12), 5u);
  EXPECT_EQ(read32(body, 16), 5u);
  EXPECT_EQ(body.substr(20, 8), std::string("\1\2\3\4\5\0\0\0", 8));
  EXPECT_EQ(options_of(body, 28, 1), comments);
}

TEST(Pcapng, TimesBeforeTheEpochAreWrittenAsZero) {
  std::ostringstream out;
  PcapngWriter writer(out, "steertag");
  writer.add_packet(writer.add_interface(LinkType::raw_ip, "iwarp"), -1, {});
  const auto blocks = blocks_of(out.str());
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(read32(blocks[2].body, 4), 0u);
  EXPECT_EQ(read32(blocks[2].body, 8), 0u);
}

TEST(Pcapng, LongCommentIsCutBetweenCharacters) {
  std::ostringstream out;
  std::string text(kMaxCommentBytes - 1, 'x');
  text += "\xc3\xa9 and more";  // a two-octet character across the limit
  const std::vector<std::string> comments = {text};
  const PcapngWriter writer(out, "steertag", comments);
  const auto blocks = blocks_of(out.str());
  ASSERT_EQ(blocks.size(), 1u);
  const auto kept = options_of(blocks[0].body, 16, 1);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0], std::string(kMaxCommentBytes - 1, 'x'));
}

TEST(Pcapng, CommentsBeyondTheLimitAreLeftOut) {
  std::ostringstream out;
  const std::vector<std::string> comments(kMaxComments + 1, "again");
  const PcapngWriter writer(out, "steertag", comments);
  const auto blocks = blocks_of(out.str());
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(options_of(blocks[0].body, 16, 1).size(), kMaxComments);
}

}  // namespace
}  // namespace steertag::trace
