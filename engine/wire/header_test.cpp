// Faults of the strict decoder: each code with its place and field.
//
// Properties cover every legal header and any octets.
#include "wire/header.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::encoded;
using testing::from_hex;
using testing::to_hex;

struct Bad {
  std::string_view name;
  std::string_view hex;
  FaultCode code;
  std::size_t offset;
  std::string_view field;
};

void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.hex;
}

/// The list of the field. An absent list is never a list that does not decode.
ChunkList list_of(const Bad& bad) {
  if (bad.code == FaultCode::no_chunk) return ChunkList::none;
  if (bad.field.starts_with("read list")) return ChunkList::read;
  if (bad.field.starts_with("write list")) return ChunkList::write;
  return bad.field.starts_with("reply chunk") ? ChunkList::reply : ChunkList::none;
}

class BadMessages : public ::testing::TestWithParam<Bad> {};

TEST_P(BadMessages, GiveOneExactFault) {
  const Bad& bad = GetParam();
  Header header;
  const Expected<View, Fault> decoded = decode(from_hex(bad.hex), header);
  ASSERT_FALSE(decoded) << "decoded as " << to_hex(encoded(header));
  EXPECT_EQ(decoded.error().code, bad.code) << decoded.error().message();
  EXPECT_EQ(decoded.error().offset, bad.offset) << decoded.error().message();
  EXPECT_EQ(decoded.error().field, bad.field) << decoded.error().message();
  EXPECT_EQ(decoded.error().list, list_of(bad)) << decoded.error().message();
}

constexpr auto kTruncated = FaultCode::truncated;
constexpr auto kBadBoolean = FaultCode::bad_boolean;
constexpr auto kBadCount = FaultCode::bad_count;
constexpr auto kTooShort = FaultCode::too_short;
constexpr auto kTrailing = FaultCode::trailing_bytes;

#define FIXED(vers, proc) "12345678 " vers " 00000020 " proc " "
#define MSG FIXED("00000001", "00000000")
#define NOMSG FIXED("00000001", "00000001")
#define ERROR FIXED("00000001", "00000004")

INSTANTIATE_TEST_SUITE_P(
    FixedWords, BadMessages,
    ::testing::Values(
        Bad{"Empty", "", kTooShort, 0, "transport header"},
        Bad{"TwentySevenOctets", FIXED("00000002", "00000000") "00000000 00000000 000000",
            kTooShort, 0, "transport header"},
        Bad{"FixedWordsOnly", MSG, kTooShort, 0, "transport header"},
        Bad{"LegalDone", FIXED("00000001", "00000003"), kTooShort, 0, "transport header"},
        Bad{"Version0", FIXED("00000000", "00000000") "00000000 00000000 00000000",
            FaultCode::bad_version, 4, "rdma_vers"},
        Bad{"Version2WithGarbage", FIXED("00000002", "00000009") "ffffffff ffffffff ffffffff",
            FaultCode::bad_version, 4, "rdma_vers"},
        Bad{"Procedure5", FIXED("00000001", "00000005") "00000000 00000000 00000000",
            FaultCode::bad_procedure, 12, "rdma_proc"},
        Bad{"ProcedureAllOnes", FIXED("00000001", "ffffffff") "00000000 00000000 00000000",
            FaultCode::bad_procedure, 12, "rdma_proc"},
        Bad{"DoneWithBody", FIXED("00000001", "00000003") "00000000 00000000 00000000", kTrailing,
            16, "payload stream"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    ReadList, BadMessages,
    ::testing::Values(
        Bad{"Presence2", MSG "00000002 00000000 00000000", kBadBoolean, 16, "read list presence"},
        Bad{"PresenceAllOnes", MSG "ffffffff 00000000 00000000", kBadBoolean, 16,
            "read list presence"},
        Bad{"Position0x91",
            MSG "00000001 00000091 aabbcc01 00001000 00007f00 00001000 00000000 00000000 00000000",
            FaultCode::bad_position, 20, "read list position"},
        Bad{"SecondPositionUnaligned",
            MSG "00000001 00000060 aabbcc01 00001000 00007f00 00001000"
                "00000001 00000062 aabbcc01 00001000 00007f00 00001000 00000000 00000000 00000000",
            FaultCode::bad_position, 44, "read list position"},
        Bad{"EndsInHandle", MSG "00000001 00000060 aabbcc", kTooShort, 0, "transport header"},
        Bad{"EndsBeforeLength", MSG "00000001 00000060 aabbcc01", kTruncated, 28,
            "read list length"},
        Bad{"EndsInOffset", MSG "00000001 00000060 aabbcc01 00001000 00007f00 000010", kTruncated,
            32, "read list offset"},
        Bad{"EndsBeforeNextPresence", MSG "00000001 00000060 aabbcc01 00001000 00007f00 00001000",
            kTruncated, 40, "read list presence"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    WriteListAndReplyChunk, BadMessages,
    ::testing::Values(
        Bad{"WritePresence2", MSG "00000000 00000002 00000000", kBadBoolean, 20,
            "write list presence"},
        Bad{"WriteCountTopBits",
            MSG "00000000 00000001 10000000 aabbcc11 00001000 00007f00 00100000 00000000 00000000",
            kBadCount, 24, "write list count"},
        Bad{"WriteCountWrapsToOneSegment",
            MSG "00000000 00000001 10000001 aabbcc11 00001000 00007f00 00100000 00000000 00000000",
            kBadCount, 24, "write list count"},
        Bad{"WriteCountOneTooMany",
            MSG "00000000 00000001 00000002 aabbcc11 00001000 00007f00 00100000 00000000 00000000",
            kBadCount, 24, "write list count"},
        Bad{"WriteListNotEnded",
            MSG "00000000 00000001 00000001 aabbcc11 00001000 00007f00 00100000", kTruncated, 44,
            "write list presence"},
        Bad{"ReplyPresence2", MSG "00000000 00000000 00000002", kBadBoolean, 24,
            "reply chunk presence"},
        Bad{"ReplyCountMissing", MSG "00000000 00000000 00000001", kTruncated, 28,
            "reply chunk count"},
        Bad{"ReplyCountAllOnes", MSG "00000000 00000000 00000001 ffffffff", kBadCount, 28,
            "reply chunk count"},
        Bad{"ReplyPresenceMissing", MSG "00000000 00000001 00000000 00000000", kTruncated, 32,
            "reply chunk presence"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    NomsgAndError, BadMessages,
    ::testing::Values(
        Bad{"NomsgWithoutChunk", NOMSG "00000000 00000000 00000000", FaultCode::no_chunk, 16,
            "read list presence"},
        Bad{"NomsgWithoutChunkButPayload", NOMSG "00000000 00000000 00000000 12345678",
            FaultCode::no_chunk, 16, "read list presence"},
        Bad{"NomsgWithPayload", NOMSG "00000000 00000000 00000001 00000000 12345678", kTrailing, 32,
            "payload stream"},
        Bad{"ErrorCode0", ERROR "00000000 00000000 00000000", FaultCode::bad_error_code, 16,
            "rdma_err"},
        Bad{"ErrorCode3In20Octets", ERROR "00000003", kTooShort, 0, "transport header"},
        Bad{"ErrChunkOf24Octets", ERROR "00000002 00000000", kTooShort, 0, "transport header"},
        Bad{"ErrChunkOf28Octets", ERROR "00000002 00000000 00000000", kTrailing, 20,
            "payload stream"},
        Bad{"ErrChunkVersion2", FIXED("00000002", "00000004") "00000002", FaultCode::bad_version, 4,
            "rdma_vers"},
        Bad{"ErrVersTruncated", ERROR "00000001 00000001", kTooShort, 0, "transport header"},
        Bad{"ErrVersOf32Octets", ERROR "00000001 00000001 00000001 00000000", kTrailing, 28,
            "payload stream"},
        Bad{"MsgpWithoutLists", FIXED("00000001", "00000002") "00000000 00000000 00000000",
            kTruncated, 28, "write list presence"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Decode, KeepsXidVersionAndCreditOfABadMessage) {
  Header header;
  EXPECT_FALSE(
      decode(from_hex(FIXED("00000007", "00000000") "00000000 00000000 00000000"), header));
  EXPECT_EQ(header.xid, 0x12345678u);
  EXPECT_EQ(header.vers, 7u);
  EXPECT_EQ(header.credit, 32u);
}

TEST(Decode, ForgetsTheMessageBefore) {
  Header header;
  ASSERT_TRUE(decode(from_hex(MSG "00000001 00000060 aabbcc01 00001000 00007f00 00001000"
                                  "00000000 00000001 00000000 00000000 00000001 00000000"),
                     header));
  ASSERT_EQ(header.read_list.size(), 1u);
  ASSERT_TRUE(header.has_reply_chunk);
  ASSERT_TRUE(decode(from_hex(MSG "00000000 00000000 00000000"), header));
  Header expected;
  expected.xid = 0x12345678;
  expected.credit = 32;
  EXPECT_EQ(header, expected);
}

TEST(Decode, AReusedHeaderKeepsItsLists) {
  Header source;
  source.read_list.resize(20);
  source.reply_chunk.resize(20);
  source.has_reply_chunk = true;
  const Bytes message = encoded(source);
  Header header;
  ASSERT_TRUE(decode(message, header));
  const ReadSegment* const read_list = header.read_list.data();
  const Segment* const reply_chunk = header.reply_chunk.data();
  ASSERT_TRUE(decode(from_hex(MSG "00000000 00000000 00000000"), header));
  ASSERT_TRUE(decode(message, header));
  EXPECT_EQ(header.read_list.data(), read_list) << "the read list was allocated anew";
  EXPECT_EQ(header.reply_chunk.data(), reply_chunk) << "the reply chunk was allocated anew";
}

TEST(Decode, RefusesMoreSegmentsThanTheNamedLimit) {
  Header header;
  header.has_reply_chunk = true;
  header.reply_chunk.resize(kMostSegments);
  Header again;
  ASSERT_TRUE(decode(encoded(header), again));
  header.read_list.resize(1);
  const Expected<View, Fault> decoded = decode(encoded(header), again);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, FaultCode::limit_exceeded);
  EXPECT_EQ(decoded.error().field, "reply chunk count");
  EXPECT_EQ(decoded.error().offset, kFixedBytes + 24 + 4 + 4 + 4);

  header.reply_chunk.clear();
  header.read_list.resize(kMostSegments + 1);
  const Expected<View, Fault> read = decode(encoded(header), again);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, FaultCode::limit_exceeded);
  EXPECT_EQ(read.error().offset, kFixedBytes + 24 * kMostSegments);
}

TEST(Decode, RefusesMoreWriteChunksThanTheNamedLimit) {
  Header header;
  for (std::size_t i = 0; i < kMostWriteChunks; ++i) header.write_list.add({});
  Header again;
  ASSERT_TRUE(decode(encoded(header), again));
  header.write_list.add({});
  const Expected<View, Fault> decoded = decode(encoded(header), again);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, FaultCode::limit_exceeded);
  EXPECT_EQ(decoded.error().field, "write list presence");
}

TEST(Peek, NeedsSixteenOctets) {
  EXPECT_FALSE(peek(from_hex("12345678 00000001 00000020 000000")));
  const auto words = peek(from_hex("12345678 00000002 00000020 00000099"));
  ASSERT_TRUE(words);
  EXPECT_EQ(words->xid, 0x12345678u);
  EXPECT_EQ(words->vers, 2u);
  EXPECT_EQ(words->credit, 32u);
  EXPECT_EQ(words->proc, 0x99u);
}

TEST(ChunkLength, DoesNotWrapAt32Bits) {
  const std::vector<Segment> segments(3, Segment{1, 0xffffffff, 0});
  EXPECT_EQ(chunk_length(segments), 3 * std::uint64_t{0xffffffff});
}

TEST(WriteListValue, KeepsChunksApart) {
  WriteList list;
  list.add(std::vector<Segment>{{1, 2, 3}, {4, 5, 6}});
  list.open();
  list.open();
  list.extend({7, 8, 9});
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list.segment_count(), 3u);
  EXPECT_EQ(list[0].size(), 2u);
  EXPECT_TRUE(list[1].empty());
  ASSERT_EQ(list[2].size(), 1u);
  list.at(2)[0].length = 0;
  EXPECT_EQ(list[2][0], (Segment{7, 0, 9}));
}

RC_GTEST_PROP(HeaderProperty, DecodeUndoesEncode, (const Header& header)) {
  const Bytes payload = testing::any_payload(header);
  const Bytes message = testing::joined(encoded(header), payload);
  RC_ASSERT(encoded(header).size() == encoded_size(header));
  Header again;
  const Expected<View, Fault> decoded = decode(message, again);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(again == header);
  RC_ASSERT(to_hex(*decoded) == to_hex(payload));
}

RC_GTEST_PROP(HeaderProperty, EveryTruncationOfAHeaderIsAFault, (const Header& header)) {
  const Bytes whole = encoded(header);
  Header again;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Expected<View, Fault> decoded = decode(View(whole).first(size), again);
    RC_ASSERT(!decoded);
    RC_ASSERT(decoded.error().offset <= size);
  }
}

RC_GTEST_PROP(HeaderProperty, AcceptedOctetsAreReproduced, (const Header& header)) {
  Bytes message = testing::joined(encoded(header), testing::any_payload(header));
  // One changed octet gives a fault, or a message with exactly these octets.
  const auto at = *rc::gen::inRange<std::size_t>(0, message.size());
  message[at] = std::byte{*rc::gen::arbitrary<std::uint8_t>()};
  Header again;
  const Expected<View, Fault> decoded = decode(message, again);
  if (!decoded) return;
  RC_ASSERT(to_hex(testing::joined(encoded(again), *decoded)) == to_hex(message));
}

RC_GTEST_PROP(HeaderProperty, AnyOctetsGiveAHeaderOrAFaultInside, ()) {
  const Bytes octets = testing::any_bytes(400);
  Header header;
  const Expected<View, Fault> decoded = decode(octets, header);
  if (!decoded) {
    RC_ASSERT(decoded.error().code != FaultCode::none);
    RC_ASSERT(decoded.error().offset <= octets.size());
  }
}

}  // namespace
}  // namespace steertag::wire
