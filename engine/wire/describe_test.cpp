// The text of messages: legal ones, faulty ones, and any octets.
#include "wire/describe.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::from_hex;

TEST(Describe, NamesEveryField) {
  const Bytes message = from_hex(
      "12345678 00000001 00000020 00000000"
      "00000001 00000060 aabbcc01 00001000 00007f00 00001000 00000000"
      "00000001 00000001 aabbcc11 00000800 00007f00 00100000 00000001 00000000 00000000"
      "00000000 12345678 0000");
  const std::string expected =
      "RDMA_MSG xid 0x12345678 vers 1 credit 32\n"
      "read list\n"
      "  position 96: handle 0xaabbcc01 length 4096 offset 0x00007f0000001000\n"
      "write list\n"
      "  chunk 1: 1 segment\n"
      "    handle 0xaabbcc11 length 2048 offset 0x00007f0000100000\n"
      "  chunk 2: 0 segments\n"
      "reply chunk absent\n"
      "payload stream 6 octets\n"
      "  0x0054  12345678 0000\n";
  EXPECT_EQ(describe(message), expected);
  Header header;
  const auto payload = decode(message, header);
  ASSERT_TRUE(payload);
  EXPECT_EQ(describe(header, *payload), expected);
}

TEST(Describe, ShowsTheFaultAndTheRest) {
  EXPECT_EQ(describe(from_hex("12345678 00000001 00000020 00000000 00000000 00000001 10000001"
                              "aabbcc11 00000800")),
            "RDMA_MSG xid 0x12345678 vers 1 credit 32\n"
            "read list absent\n"
            "write list\n"
            "  chunk 1: 0 segments, count word 0x10000001\n"
            "reply chunk absent\n"
            "fault at offset 24, write list count: the count is larger than the message or the "
            "limit allows\n"
            "not decoded 8 octets\n"
            "  0x001c  aabbcc11 00000800\n");
}

TEST(Describe, Errors) {
  EXPECT_EQ(describe(from_hex("12345678 00000002 00000020 00000004 00000001 00000001 00000001")),
            "RDMA_ERROR xid 0x12345678 vers 2 credit 32\nERR_VERS low 1 high 1\n");
  EXPECT_EQ(describe(from_hex("12345678 00000001 00000020 00000004 00000002")),
            "RDMA_ERROR xid 0x12345678 vers 1 credit 32\nERR_CHUNK\n");
}

TEST(Describe, TooFewOctets) {
  EXPECT_EQ(describe(from_hex("1234")), "no transport header in 2 octets\n  0x0000  1234\n");
}

TEST(Describe, LongListsAndPayloadsAreCounted) {
  Header header;
  header.read_list.resize(kMostDescribedEntries + 5);
  const std::string text = describe(header, Bytes(kMostDescribedBytes + 3));
  EXPECT_NE(text.find("  ... 5 more\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  ... 3 more\n"), std::string::npos) << text;
}

RC_GTEST_PROP(DescribeProperty, AnyOctetsHaveAText, ()) {
  const std::string text = describe(testing::any_bytes(300));
  RC_ASSERT(!text.empty());
  RC_ASSERT(text.back() == '\n');
}

}  // namespace
}  // namespace steertag::wire
