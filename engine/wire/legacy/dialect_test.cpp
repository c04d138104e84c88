// The possible dialects of a message, also where the octets do not decide.
#include "wire/legacy/dialect.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/describe.h"
#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::from_hex;
using enum Dialect;

// RPC messages: xid, msg_type, rpcvers; a reply: xid, msg_type, reply_stat, verifier, accept_stat.
constexpr std::string_view kCall = " 12345678 00000000 00000002";
constexpr std::string_view kReply = " 12345678 00000001 00000000 00000000 00000000 00000000";
constexpr std::string_view kNoLists = " 00000000 00000000 00000000";
constexpr std::string_view kReadEntry = " 00000001 00000060 aabbcc01 00001000 00007f00 00001000";
constexpr std::string_view kChunk = " 00000001 00000060 00001000 aabbcc01 00007f00 00001000";

Bytes joined(std::initializer_list<std::string_view> parts) {
  std::string hex;
  for (const std::string_view part : parts) hex += part;
  return from_hex(hex);
}

/// RDMA_MSG with this credit word, and the words after the fixed ones.
Bytes msg(std::string_view credit, std::initializer_list<std::string_view> rest) {
  std::string hex = "12345678 00000001 ";
  hex += credit;
  hex += " 00000000";
  for (const std::string_view part : rest) hex += part;
  return from_hex(hex);
}

struct Sample {
  std::string_view what;
  Bytes octets;
  DialectSet dialects;
};

std::vector<Sample> samples_of_the_rfcs() {
  constexpr std::string_view kCredit = "00000020";
  constexpr std::string_view kNothing = "00000000";
  return {
      {"call", msg(kCredit, {kNoLists, kCall}), {rfc8166, rfc5666}},
      {"reply", msg(kCredit, {kNoLists, kReply}), {rfc8166, rfc5666}},
      {"call with a read chunk", msg(kCredit, {kReadEntry, kNoLists, kCall}), {rfc8166, rfc5666}},
      {"reply with a read chunk", msg(kCredit, {kReadEntry, kNoLists, kReply}), {rfc5666}},
      {"call that asks for nothing", msg(kNothing, {kNoLists, kCall}), {rfc8166, rfc5666}},
      {"reply that grants nothing", msg(kNothing, {kNoLists, kReply}), {rfc5666}},
      {"RDMA_MSGP",
       joined({"12345678 00000001 00000020 00000002 00001000 00000400", kNoLists, kCall}),
       {rfc5666}},
      {"RDMA_DONE", joined({"12345678 00000001 00000020 00000003"}), {rfc5666}},
      {"ERR_CHUNK", joined({"12345678 00000001 00000020 00000004 00000002"}), {rfc8166, rfc5666}},
      {"ERR_CHUNK that grants nothing",
       joined({"12345678 00000001 00000000 00000004 00000002"}),
       {rfc5666}},
      {"error of no meaning",
       joined({"12345678 00000001 00000020 00000004 00000003", kNoLists, kNoLists,
               " 00000000 00000000"}),
       {rfc5666}},
      {"another XID in the RPC message", msg(kCredit, {kNoLists, " 12345679 00000000"}), {}},
      {"another msg_type", msg(kCredit, {kNoLists, " 12345678 00000002"}), {}},
      {"another version", joined({"12345678 00000002 00000020 00000000", kNoLists}), {}},
      {"nothing", {}, {}},
  };
}

std::vector<Sample> samples_of_the_prototype() {
  constexpr std::string_view kHead = "12345678 00000001 00000000";
  constexpr std::string_view kEnd = " 00000000";
  return {
      {"message", joined({kHead, kEnd, kCall}), {prototype}},
      {"message with a chunk", joined({kHead, kChunk, kEnd, kReply}), {prototype}},
      {"long message",
       joined({kHead, " 00000001 00000000 000005dc aabbcc04 00007f00 00060000", kEnd}),
       {prototype}},
      {"done", joined({"12345678 00000001 00000001"}), {prototype}},
  };
}

void expect_dialects(const std::vector<Sample>& samples) {
  for (const Sample& each : samples) {
    SCOPED_TRACE(each.what);
    const DialectSet found = dialects(each.octets);
    for (const Dialect dialect : kDialects) {
      SCOPED_TRACE(dialect_name(dialect));
      EXPECT_EQ(found.contains(dialect), each.dialects.contains(dialect));
    }
  }
}

TEST(Dialects, AreKnownByTheirWordsAndTheXidOfTheRpcMessage) {
  expect_dialects(samples_of_the_rfcs());
  expect_dialects(samples_of_the_prototype());
}

// A long message of one octet under handle 0 and address 1. For the RFCs it is RDMA_NOMSG without a
// read list. It has an empty write chunk (presence 1, count 0), the end of the write list, and an
// empty reply chunk (presence 1, count 0).
TEST(Dialects, AreSeveralWhereNoRpcMessageIsInSight) {
  const Bytes octets = from_hex(
      "12345678 00000001 00000000  00000001 00000000 00000001 00000000 00000000 00000001 00000000");
  EXPECT_EQ(dialects(octets), (DialectSet{rfc8166, rfc5666, prototype}));
}

// A reply with XID 0. Its words are an RFC message's lists: none, one empty chunk, none. Its
// results are a second XID and CALL.
TEST(Dialects, AreSeveralWhereAnXidIsLikeAPresenceWord) {
  const Bytes octets = from_hex(
      "00000000 00000001 00000000 00000000"
      "00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000");
  EXPECT_EQ(dialects(octets), (DialectSet{rfc8166, rfc5666, prototype}));
}

TEST(Dialects, OfAConnectionAreWhatAllItsMessagesCanBe) {
  DialectSet all{rfc8166, rfc5666, prototype};
  all &= dialects(msg("00000020", {kNoLists, kCall}));
  EXPECT_EQ(all, (DialectSet{rfc8166, rfc5666}));
  all &= dialects(from_hex("12345678 00000001 00000020 00000003"));
  EXPECT_EQ(all, DialectSet{rfc5666});
  all &= dialects(from_hex("12345678 00000001 00000001"));
  EXPECT_TRUE(all.empty());
}

TEST(Dialects, HaveNames) {
  for (const Dialect each : kDialects) EXPECT_EQ(dialect_named(dialect_name(each)), each);
  EXPECT_FALSE(dialect_named("rfc8267"));
}

TEST(Read, GoesByTheStatedDialect) {
  const Bytes octets = joined({"12345678 00000001 00000000 00000000", kCall});
  const auto as_prototype = read(octets, prototype);
  ASSERT_TRUE(as_prototype);
  EXPECT_EQ(std::get<PrototypeHeader>(as_prototype->header).xid, 0x12345678u);
  EXPECT_EQ(as_prototype->payload.size(), 12u);
  const auto as_later = read(octets, rfc8166);
  ASSERT_FALSE(as_later);
  EXPECT_EQ(as_later.error().field, "read list presence");
  EXPECT_EQ(as_later.error().code, FaultCode::bad_boolean);

  const Bytes done = from_hex("12345678 00000001 00000020 00000003");
  EXPECT_FALSE(read(done, rfc8166));
  const auto as_earlier = read(done, rfc5666);
  ASSERT_TRUE(as_earlier);
  EXPECT_EQ(std::get<Header>(as_earlier->header).proc, Procedure::done);
}

TEST(Describe, GoesByTheStatedDialect) {
  const Bytes done = from_hex("12345678 00000001 00000020 00000003");
  EXPECT_EQ(describe(done, rfc5666), "RDMA_DONE xid 0x12345678 vers 1 credit 32\n");
  EXPECT_EQ(describe(done, rfc8166), describe(done));
  EXPECT_NE(describe(done, prototype).find("prototype type: no such value"), std::string::npos);
}

RC_GTEST_PROP(DialectsProperty, OfAnyOctetsAreThoseThatRead, ()) {
  Bytes octets = testing::any_bytes(120);
  const DialectSet found = dialects(octets);
  for (const Dialect each : kDialects) {
    if (found.contains(each)) RC_ASSERT(read(octets, each).has_value());
  }
  RC_ASSERT(!found.contains(rfc8166) || found.contains(rfc5666));
}

}  // namespace
}  // namespace steertag::wire
