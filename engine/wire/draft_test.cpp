// Drafts: legal ones equal headers, illegal ones have the set fields, and any octets survive.
#include "wire/draft.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::encoded;
using testing::from_hex;
using testing::to_hex;

Draft msg() {
  Draft draft;
  draft.xid = 0x12345678;
  draft.credit = 32;
  return draft;
}

DraftChunk one_segment() {
  DraftChunk chunk;
  chunk.segments = {{0xaabbcc11, 0x1000, 0x7f00001000}};
  return chunk;
}

TEST(DraftEncode, CountNeedNotMatchTheSegments) {
  Draft draft = msg();
  draft.write_list.push_back(one_segment());
  draft.write_list[0].count = 0x10000001;
  EXPECT_EQ(to_hex(encoded(draft)),
            "12345678 00000001 00000020 00000000 00000000 "
            "00000001 10000001 aabbcc11 00001000 0000007f 00001000 00000000 00000000");
}

TEST(DraftEncode, PresenceWordsAreFree) {
  Draft draft = msg();
  DraftReadEntry entry;
  entry.presence = 2;
  entry.segment = {0x60, {1, 2, 3}};
  draft.read_list.push_back(entry);
  draft.read_list_end = 3;
  draft.write_list_end = 4;
  draft.reply_chunk_absent = 5;
  EXPECT_EQ(to_hex(encoded(draft)),
            "12345678 00000001 00000020 00000000 "
            "00000002 00000060 00000001 00000002 00000000 00000003 00000003 00000004 00000005");
}

TEST(DraftEncode, BodiesCanBeLeftOut) {
  Draft draft = msg();
  DraftReadEntry entry;
  entry.omit_body = true;
  draft.read_list.push_back(entry);
  draft.write_list.push_back(one_segment());
  draft.write_list[0].omit_body = true;
  draft.reply_chunk = one_segment();
  draft.reply_chunk->omit_body = true;
  EXPECT_EQ(to_hex(encoded(draft)),
            "12345678 00000001 00000020 00000000 00000001 00000000 00000001 00000000 00000001");
}

TEST(DraftEncode, CutActsOnTheWholeMessageAndAppendComesAfter) {
  Draft draft = msg();
  draft.payload = from_hex("aaaaaaaa bbbbbbbb");
  draft.cut_to = 30;
  draft.append = from_hex("cccc");
  Bytes out = from_hex("ffff");
  encode(draft, out);
  EXPECT_EQ(to_hex(out),
            to_hex(from_hex("ffff 12345678 00000001 00000020 00000000 00000000 00000000 00000000 "
                            "aaaa cccc")));
}

TEST(DraftEncode, ACutBehindTheEndChangesNothing) {
  Draft draft = msg();
  const Bytes whole = encoded(draft);
  draft.cut_to = 1000;
  EXPECT_EQ(encoded(draft), whole);
}

TEST(DraftEncode, AnUnknownProcedureIsLaidOutAsRdmaMsg) {
  Draft draft = msg();
  draft.proc = 0xffffffff;
  EXPECT_EQ(to_hex(encoded(draft)),
            "12345678 00000001 00000020 ffffffff 00000000 00000000 00000000");
}

TEST(DraftEncode, AnUnknownErrorCodeHasNoBody) {
  Draft draft = msg();
  draft.proc = 4;
  draft.error = 77;
  EXPECT_EQ(to_hex(encoded(draft)), "12345678 00000001 00000020 00000004 0000004d");
}

TEST(DraftFields, NameEveryFieldInOrder) {
  Draft draft = msg();
  DraftReadEntry entry;
  draft.read_list.push_back(entry);
  draft.write_list.push_back(one_segment());
  draft.reply_chunk = DraftChunk{};
  draft.payload = from_hex("12345678");
  std::vector<std::string> seen;
  for (const FieldSpan& field : fields(draft)) {
    seen.push_back(std::to_string(field.offset) + "+" + std::to_string(field.length) + " " +
                   std::string(field.name));
  }
  const std::vector<std::string> expected = {"0+4 rdma_xid",
                                             "4+4 rdma_vers",
                                             "8+4 rdma_credit",
                                             "12+4 rdma_proc",
                                             "16+4 read list presence",
                                             "20+4 read list position",
                                             "24+4 read list handle",
                                             "28+4 read list length",
                                             "32+8 read list offset",
                                             "40+4 read list presence",
                                             "44+4 write list presence",
                                             "48+4 write list count",
                                             "52+4 write list handle",
                                             "56+4 write list length",
                                             "60+8 write list offset",
                                             "68+4 write list presence",
                                             "72+4 reply chunk presence",
                                             "76+4 reply chunk count"};
  EXPECT_EQ(seen, expected);
}

RC_GTEST_PROP(DraftProperty, ALegalDraftIsTheHeader, (const Header& header)) {
  const Bytes payload = testing::any_payload(header);
  RC_ASSERT(to_hex(encoded(Draft::from(header, payload))) ==
            to_hex(testing::joined(encoded(header), payload)));
}

RC_GTEST_PROP(DraftProperty, FieldsCoverTheHeaderWithoutGaps, (const Header& header)) {
  std::size_t end = 0;
  for (const FieldSpan& field : fields(Draft::from(header, {}))) {
    RC_ASSERT(field.offset == end);
    RC_ASSERT(!field.name.empty());
    end += field.length;
  }
  RC_ASSERT(end == encoded_size(header));
}

RC_GTEST_PROP(DraftProperty, ALegalMessageReadsBackWithoutRest, (const Header& header)) {
  const Bytes payload = testing::any_payload(header);
  const Draft draft = draft_of(testing::joined(encoded(header), payload));
  RC_ASSERT(!draft.cut_to);
  RC_ASSERT(draft.append.empty());
  RC_ASSERT(draft.read_list.size() == header.read_list.size());
  RC_ASSERT(draft.write_list.size() == header.write_list.size());
  RC_ASSERT(draft.reply_chunk.has_value() == header.has_reply_chunk);
  RC_ASSERT(to_hex(draft.payload) == to_hex(payload));
}

RC_GTEST_PROP(DraftProperty, DamagedMessagesReadBackOctetForOctet, (const Header& header)) {
  Bytes message = testing::joined(encoded(header), testing::any_payload(header));
  const auto at = *rc::gen::inRange<std::size_t>(0, message.size());
  message[at] = std::byte{*rc::gen::arbitrary<std::uint8_t>()};
  message.resize(*rc::gen::inRange<std::size_t>(0, message.size() + 1));
  RC_ASSERT(to_hex(encoded(draft_of(message))) == to_hex(message));
}

TEST(DraftOf, StopsBehindAWordThatContradictsTheFormat) {
  const Bytes message = from_hex(
      "12345678 00000001 00000020 00000000 00000000 "
      "00000001 10000001 aabbcc11 00001000 0000007f 00001000 00000000 00000000");
  const Draft draft = draft_of(message);
  ASSERT_EQ(draft.write_list.size(), 1u);
  EXPECT_EQ(draft.write_list[0].count, 0x10000001u);
  EXPECT_EQ(draft.cut_to, 28u);
  EXPECT_EQ(draft.append.size(), message.size() - 28);
  EXPECT_EQ(to_hex(encoded(draft)), to_hex(message));
}

}  // namespace
}  // namespace steertag::wire
