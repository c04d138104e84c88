// Mutations by name: what they write, and that variants of the same name agree.
#include "mutate/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mutate/catalogue.h"
#include "mutate/error_mutation.h"
#include "mutate/fixed_words_mutation.h"
#include "mutate/payload_mutation.h"
#include "mutate/private_data_mutation.h"
#include "mutate/returned_list_mutation.h"
#include "wire/testing.h"

namespace steertag::mutate {
namespace {

using wire::testing::encoded;
using wire::testing::from_hex;
using wire::testing::to_hex;

/// A reply with a write chunk of two segments, and an RPC reply.
wire::Draft read_reply() {
  wire::Header header;
  header.xid = 0x12345678;
  header.credit = 32;
  header.write_list.add(std::vector<wire::Segment>{{0xaabbcc11, 4096, 0x00007f0000100000},
                                                   {0xaabbcc12, 2046, 0x00007f0000200000}});
  return wire::Draft::from(
      header, from_hex("12345678 00000001 00000000 00000000 00000000 00000000 0000002a"));
}

wire::Draft error(wire::ErrorCode code) {
  wire::Header header;
  header.xid = 0x12345678;
  header.credit = 32;
  header.proc = wire::Procedure::error;
  header.error = code;
  return wire::Draft::from(header, {});
}

wire::Draft mutated(wire::Draft draft, std::string_view name) {
  EXPECT_TRUE(apply_mutation(draft, name)) << name;
  return draft;
}

std::string hex(const wire::Draft& draft) {
  return to_hex(encoded(draft));
}

std::vector<std::string_view> whole_names() {
  std::vector<std::string_view> names;
  for (const MutationTable& table : {fixed_word_mutations(), error_mutations(), payload_mutations(),
                                     returned_list_mutations()}) {
    for (const Mutation& each : table.whole) names.push_back(each.name);
  }
  return names;
}

TEST(Mutation, NamesAreUnique) {
  std::vector<std::string_view> names = whole_names();
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Mutation, EachChangesAMessageOrSaysThatItDoesNotApply) {
  wire::Draft with_reply_chunk = read_reply();
  with_reply_chunk.reply_chunk = with_reply_chunk.write_list.front();
  wire::Draft with_both = with_reply_chunk;
  with_both.write_list.push_back({});
  with_both.write_list.push_back(mutated(read_reply(), "write-list.unused").write_list.front());
  for (const std::string_view name : whole_names()) {
    bool applies = false;
    for (const wire::Draft& draft :
         {read_reply(), with_both, error(wire::ErrorCode::vers), error(wire::ErrorCode::chunk)}) {
      wire::Draft copy = draft;
      if (*apply_from_tables(copy, name)) {
        applies |= hex(copy) != hex(draft);
      } else {
        EXPECT_EQ(hex(copy), hex(draft)) << name;
      }
    }
    EXPECT_TRUE(applies) << name;
  }
}

TEST(Mutation, NumbersFollowTheirPrefix) {
  EXPECT_EQ(mutated(read_reply(), "version.9").vers, 9U);
  EXPECT_EQ(mutated(read_reply(), "credit.0x80000000").credit, 0x80000000U);
  EXPECT_EQ(mutated(read_reply(), "xid.0").xid, 0U);
  EXPECT_EQ(encoded(mutated(read_reply(), "cut-at.18")).size(), 18U);
  EXPECT_EQ(mutated(read_reply(), "payload.octets-8").payload.size(), 8U);
  wire::Draft draft = read_reply();
  for (const char* name : {"version.", "version.x", "version.02", "version.0x9", "credit.65536",
                           "credit.4294967296", "credit.-1", "nothing", ""})
    EXPECT_FALSE(apply_mutation(draft, name)) << name;
  EXPECT_EQ(draft, read_reply());
}

TEST(Mutation, VariantsHaveTheNameOfTheirMutation) {
  for (const Variant& each : generate_all(read_reply())) {
    wire::Draft copy = read_reply();
    ASSERT_TRUE(apply_mutation(copy, each.name)) << each.name;
    EXPECT_EQ(hex(copy), hex(each.draft)) << each.name;
  }
}

TEST(Mutation, ChangesOctetsAsItChangesADraft) {
  Bytes message = encoded(read_reply());
  ASSERT_TRUE(apply_mutation(message, "version.2"));
  EXPECT_EQ(to_hex(message), hex(mutated(read_reply(), "version.2")));
  ASSERT_TRUE(apply_mutation(message, "version.1"));
  EXPECT_EQ(to_hex(message), hex(read_reply()));
  Bytes unknown = encoded(mutated(read_reply(), "procedure.77"));
  ASSERT_TRUE(apply_mutation(unknown, "procedure.0"));
  EXPECT_EQ(to_hex(unknown), hex(read_reply()));
  Bytes shorter = encoded(mutated(read_reply(), "cut-at.7"));
  EXPECT_FALSE(apply_mutation(shorter, "rpc-xid.differs"));
  EXPECT_EQ(shorter.size(), 7U);
}

TEST(Mutation, OfErrors) {
  const wire::Draft chunk = error(wire::ErrorCode::chunk);
  EXPECT_EQ(hex(mutated(chunk, "error.code-3")), "12345678 00000001 00000020 00000004 00000003");
  EXPECT_EQ(hex(mutated(chunk, "error.procedure-5")),
            "12345678 00000001 00000020 00000005 00000002");
  EXPECT_EQ(hex(mutated(error(wire::ErrorCode::vers), "error.versions-2-3")),
            "12345678 00000001 00000020 00000004 00000001 00000002 00000003");
  EXPECT_EQ(hex(mutated(read_reply(), "procedure.error-err-chunk")), hex(chunk));
  wire::Draft draft = chunk;
  EXPECT_FALSE(apply_mutation(draft, "error.versions-2-3"));
  draft = read_reply();
  EXPECT_FALSE(apply_mutation(draft, "error.code-3"));
}

TEST(Mutation, OfThePayload) {
  const wire::Draft denied = mutated(read_reply(), "rpc-reply.denied");
  EXPECT_EQ(to_hex(denied.payload), "12345678 00000001 00000001 00000001 00000007");
  EXPECT_EQ(to_hex(View(mutated(denied, "payload.record-mark").payload).first(8)),
            "80000014 12345678");
  EXPECT_EQ(hex(mutated(denied, "without.transport-header")), to_hex(denied.payload));
  EXPECT_EQ(to_hex(View(mutated(denied, "rpc-xid.inverted").payload).first(4)), "edcba987");
  EXPECT_EQ(to_hex(View(mutated(denied, "rpc-type.0").payload).first(8)), "12345678 00000000");
  EXPECT_EQ(encoded(padded(denied, 1024)).size(), 1024U);
  EXPECT_EQ(encoded(padded(denied, 20)).size(), encoded(denied).size());
}

TEST(Mutation, OfReturnedLists) {
  const wire::Draft legal = read_reply();
  const auto segments = [&](std::string_view name) {
    return mutated(legal, name).write_list.front().segments;
  };
  EXPECT_EQ(segments("write-list.unused")[1].length, 0U);
  EXPECT_EQ(segments("write-list.lengths-rounded-up")[1].length, 2048U);
  EXPECT_EQ(segments("write-list.handles-differ")[1].handle, 0xaabbcc13U);
  EXPECT_EQ(segments("write-list.first-segments-only").size(), 1U);
  EXPECT_EQ(segments("write-chunk.last-segment-split").size(), 3U);
  EXPECT_EQ(segments("write-chunk.last-segment-split")[2].offset, 0x00007f0000200000U + 1023);
  EXPECT_EQ(segments("write-chunk.length-halved")[0].length, 2048U);
  const auto wrapped = segments("write-chunk.lengths-wrap");
  EXPECT_EQ(wrapped[0].length, 4096U + (1U << 31));
  EXPECT_EQ(wrapped[0].length + wrapped[1].length, 4096U + 2046U);
  EXPECT_TRUE(mutated(legal, "write-list.absent").write_list.empty());
  EXPECT_EQ(mutated(legal, "read-list.invented").read_list.front().segment.position, 28U);
  EXPECT_EQ(mutated(legal, "reply-chunk.invented").reply_chunk->segments.size(), 1U);
  wire::Draft draft = mutated(legal, "reply-chunk.invented");
  EXPECT_FALSE(apply_mutation(draft, "reply-chunk.invented"));
  EXPECT_FALSE(apply_mutation(draft, "write-list.without-unused-chunks"));
}

TEST(PrivateData, IsFoundByName) {
  const auto found = private_data({true, 4096, 4096}, "private-data.version-2");
  ASSERT_TRUE(found);
  EXPECT_EQ(to_hex(found->bytes), "f6ab0e18 02010303");
  EXPECT_FALSE(private_data({}, "private-data.nothing"));
}

}  // namespace
}  // namespace steertag::mutate
