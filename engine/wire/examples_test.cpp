// The worked examples of the wire formats, decoded and encoded.
#include <gtest/gtest.h>

#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::encoded;
using testing::from_hex;
using testing::to_hex;

/// One example: the octets of the header, the payload stream after it, and their meaning.
struct Example {
  std::string_view name;
  std::string_view header_hex;
  std::string_view payload_hex;
  Header header;
};

Header plain(Procedure proc) {
  Header header;
  header.xid = 0x12345678;
  header.credit = 32;
  header.proc = proc;
  return header;
}

Example without_chunks() {
  return {"NoChunks", "12345678 00000001 00000020 00000000  00000000 00000000 00000000",
          "12345678 00000000 00000002", plain(Procedure::msg)};
}

Example write_with_read_list() {
  Header header = plain(Procedure::msg);
  header.read_list = {{0x60, {0xaabbcc01, 4096, 0x00007f0000001000}},
                      {0x60, {0xaabbcc02, 5, 0x00007f0000055003}}};
  return {"ReadList",
          "12345678 00000001 00000020 00000000"
          "00000001 00000060 aabbcc01 00001000 00007f00 00001000"
          "00000001 00000060 aabbcc02 00000005 00007f00 00055003"
          "00000000 00000000 00000000",
          "12345678 00000000 00000002 000186a3 00000003 00000007", header};
}

Example two_arguments() {
  Header header = plain(Procedure::msg);
  header.read_list = {{0x60, {0xaabbcc01, 4101, 0x00007f0000001000}},
                      {0x107c, {0xaabbcc02, 9, 0x00007f0000070000}}};
  return {"SecondPositionCountsTheFirstItemAndItsRoundup",
          "12345678 00000001 00000020 00000000"
          "00000001 00000060 aabbcc01 00001005 00007f00 00001000"
          "00000001 0000107c aabbcc02 00000009 00007f00 00070000"
          "00000000 00000000 00000000",
          "", header};
}

Example long_call() {
  Header header = plain(Procedure::nomsg);
  header.read_list = {{0, {0xaabbcc03, 96, 0x00007f0000060000}},
                      {0x60, {0xaabbcc01, 4101, 0x00007f0000001000}}};
  return {"LongCall",
          "12345678 00000001 00000020 00000001"
          "00000001 00000000 aabbcc03 00000060 00007f00 00060000"
          "00000001 00000060 aabbcc01 00001005 00007f00 00001000"
          "00000000 00000000 00000000",
          "", header};
}

Example call_with_write_list() {
  Header header = plain(Procedure::msg);
  header.write_list.add(std::vector<Segment>{{0xaabbcc11, 4096, 0x00007f0000100000},
                                             {0xaabbcc12, 2048, 0x00007f0000200000}});
  header.write_list.add({});
  header.write_list.add(std::vector<Segment>{{0xaabbcc13, 1024, 0x00007f0000300000}});
  header.has_reply_chunk = true;
  header.reply_chunk = {{0xaabbcc14, 8192, 0x00007f0000400000}};
  return {"WriteListWithEmptyChunkAndReplyChunk",
          "12345678 00000001 00000020 00000000"
          "00000000"
          "00000001 00000002 aabbcc11 00001000 00007f00 00100000"
          "                  aabbcc12 00000800 00007f00 00200000"
          "00000001 00000000"
          "00000001 00000001 aabbcc13 00000400 00007f00 00300000"
          "00000000"
          "00000001 00000001 aabbcc14 00002000 00007f00 00400000",
          "12345678 00000000", header};
}

Example reply_with_write_list() {
  Header header = plain(Procedure::msg);
  header.write_list.add(std::vector<Segment>{{0xaabbcc11, 4096, 0x00007f0000100000},
                                             {0xaabbcc12, 4, 0x00007f0000200000}});
  header.write_list.add({});
  header.write_list.add(std::vector<Segment>{{0xaabbcc13, 0, 0x00007f0000300000}});
  header.has_reply_chunk = true;
  header.reply_chunk = {{0xaabbcc14, 0, 0x00007f0000400000}};
  return {"ReplyEchoesChunksWithPlacedLengths",
          "12345678 00000001 00000020 00000000"
          "00000000"
          "00000001 00000002 aabbcc11 00001000 00007f00 00100000"
          "                  aabbcc12 00000004 00007f00 00200000"
          "00000001 00000000"
          "00000001 00000001 aabbcc13 00000000 00007f00 00300000"
          "00000000"
          "00000001 00000001 aabbcc14 00000000 00007f00 00400000",
          "12345678 00000001", header};
}

Example err_vers() {
  Header header = plain(Procedure::error);
  header.vers = 2;
  header.error = ErrorCode::vers;
  header.vers_low = 1;
  header.vers_high = 1;
  return {"ErrVersEchoesTheRefusedVersion",
          "12345678 00000002 00000020 00000004 00000001 00000001 00000001", "", header};
}

Example err_chunk() {
  Header header = plain(Procedure::error);
  header.error = ErrorCode::chunk;
  return {"ErrChunk", "12345678 00000001 00000020 00000004 00000002", "", header};
}

Example padded_message() {
  Header header = plain(Procedure::msgp);
  header.align = 4096;
  header.thresh = 1024;
  return {"ReservedMsgp",
          "12345678 00000001 00000020 00000002 00001000 00000400 00000000 00000000 00000000",
          "12345678 00000000", header};
}

void PrintTo(const Example& example, std::ostream* out) {
  *out << example.name;
}

class Examples : public ::testing::TestWithParam<Example> {};

TEST_P(Examples, DecodeGivesTheHeaderAndThePayloadStream) {
  const Example& example = GetParam();
  const Bytes payload = from_hex(example.payload_hex);
  const Bytes message = testing::joined(from_hex(example.header_hex), payload);
  Header header;
  const Expected<View, Fault> decoded = decode(message, header);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(header, example.header) << to_hex(encoded(header));
  EXPECT_EQ(to_hex(*decoded), to_hex(payload));
}

TEST_P(Examples, EncodeGivesTheOctets) {
  const Example& example = GetParam();
  EXPECT_EQ(to_hex(encoded(example.header)), to_hex(from_hex(example.header_hex)));
  EXPECT_EQ(encoded_size(example.header), from_hex(example.header_hex).size());
}

TEST_P(Examples, EncodeAppendsToWhatIsThere) {
  Bytes out = from_hex("ffffffff");
  encode(GetParam().header, out);
  EXPECT_EQ(to_hex(out),
            to_hex(testing::joined(from_hex("ffffffff"), from_hex(GetParam().header_hex))));
}

TEST_P(Examples, DraftGivesTheSameOctets) {
  const Example& example = GetParam();
  const Bytes payload = from_hex(example.payload_hex);
  EXPECT_EQ(to_hex(encoded(Draft::from(example.header, payload))),
            to_hex(testing::joined(from_hex(example.header_hex), payload)));
}

INSTANTIATE_TEST_SUITE_P(Wire, Examples,
                         ::testing::Values(without_chunks(), write_with_read_list(),
                                           two_arguments(), long_call(), call_with_write_list(),
                                           reply_with_write_list(), err_vers(), err_chunk(),
                                           padded_message()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Done, EncodesAsTheFixedWordsAlone) {
  EXPECT_EQ(to_hex(encoded(plain(Procedure::done))), "12345678 00000001 00000020 00000003");
}

}  // namespace
}  // namespace steertag::wire
