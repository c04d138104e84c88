// The judge of the prototype: a conversation without findings, and one for each rule.
#include "conformance/legacy/prototype_judge.h"

#include "conformance/legacy/prototype_rules.h"
#include "conformance/legacy/testing.h"

namespace steertag::conformance {
namespace {

// The parts of an exchange's RPC messages that rules read.
constexpr std::string_view kCall = " 00001234 00000000 00000002";
constexpr std::string_view kReply = " 00001234 00000001 00000000";
constexpr std::string_view kItem = " 00000001 00000060 00001000 aabbcc01 00007f00 00001000";
constexpr std::string_view kWhole = " 00000001 00000000 000005dc aabbcc04 00007f00 00060000";

std::string message(std::string_view chunks, std::string_view rpc, std::uint32_t xid = 0x1234) {
  Bytes head;
  wire::Writer writer(head);
  writer.u32(xid);
  writer.u32(1);
  writer.u32(0);
  return wire::testing::to_hex(head) + std::string(chunks) + " 00000000" + std::string(rpc);
}

LegacySend call(std::string_view chunks = {}, std::uint32_t xid = 0x1234) {
  return {Role::client, message(chunks, kCall, xid)};
}
LegacySend reply(std::string_view chunks = {}, std::uint32_t xid = 0x1234) {
  return {Role::server, message(chunks, kReply, xid)};
}
LegacySend done(Role actor = Role::client) {
  return {actor, "00001234 00000001 00000001"};
}

std::vector<Breach> breaches() {
  const auto client = [](std::string hex) { return std::vector<LegacySend>{{Role::client, hex}}; };
  const std::string item(kItem);
  const std::string empty = " 00000001 00000060 00000000 aabbcc01 00007f00 00001000";
  const std::string lower = " 00000001 0000005c 00001000 aabbcc01 00007f00 00001000";
  std::string large = message({}, kCall);
  for (int i = 0; i < 256; ++i) large += " 00000000";
  return {
      {"prototype_header_is_whole", "CALLAGHAN2003-4.4-1", client("00001234 00000001")},
      {"prototype_type_is_known", "CALLAGHAN2003-4.4-2", client("00001234 00000001 00000020")},
      {"prototype_done_is_empty",
       "CALLAGHAN2003-4.4-2",
       {call(), reply(kItem), {Role::client, "00001234 00000001 00000001 00000003"}}},
      {"prototype_list_is_xdr", "CALLAGHAN2003-4.4-3",
       client("00001234 00000001 00000000 00000002")},
      {"prototype_list_is_xdr", "CALLAGHAN2003-4.4-3",
       client("00001234 00000001 00000000" + item.substr(0, 40))},
      {"prototype_offsets_ascend", "CALLAGHAN2003-4-1", {call(item + lower)}},
      {"prototype_offsets_ascend", "CALLAGHAN2003-4-1", {call(), reply(item + lower)}},
      {"prototype_offset_zero_is_first", "CALLAGHAN2003-4.6.2-1",
       client(message(item + std::string(kWhole), {}))},
      {"prototype_long_message_is_not_inline", "CALLAGHAN2003-4.6.2-1", {call(kWhole)}},
      {"prototype_rpc_message_follows", "CALLAGHAN2003-4.4-4", client(message({}, {}))},
      {"prototype_rpc_message_follows", "CALLAGHAN2003-4.4-4",
       client(message(item, " 00001234 00000002"))},
      {"prototype_message_fits_receive", "CALLAGHAN2003-9.4-1", client(large)},
      {"prototype_calls_have_receives",
       "CALLAGHAN2003-9.4-1",
       {call({}, 1), call({}, 2), call({}, 3), reply({}, 2), call({}, 4), call({}, 5)}},
      {"prototype_chunk_has_least_size", "CALLAGHAN2003-3.4-1", {call(empty)}},
      {"prototype_done_answers_chunks", "CALLAGHAN2003-4.3.1-1", {call(), reply(), done()}},
      {"prototype_done_answers_chunks", "CALLAGHAN2003-4.3.1-1", {call(), done()}},
      {"prototype_done_answers_chunks",
       "CALLAGHAN2003-4.3.1-1",
       {call(), reply(kItem), done(), done()}},
      {"prototype_done_answers_chunks", "CALLAGHAN2003-4.3.1-1", {call(), done(Role::server)}},
  };
}

TEST(PrototypeJudge, AcceptsAConversation) {
  PrototypeJudge judge;
  play(judge, {call(),
               reply(),
               call(kItem),
               reply(),
               call(kItem),
               reply(kItem),
               done(),
               {Role::client, message(kWhole, {})},
               {Role::server, message(kWhole, {})},
               done()});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(PrototypeJudge, FindsEachBreach) {
  for (const Breach& each : breaches()) expect_breach(PrototypeJudge{}, each);
  expect_all_broken(kPrototypeRules, breaches());
}

TEST(PrototypeJudge, GoesByTheLeastSizeThatItIsTold) {
  const std::string small = " 00000001 00000060 000003ff aabbcc01 00007f00 00001000";
  expect_breach(PrototypeJudge(1024),
                {"prototype_chunk_has_least_size", "CALLAGHAN2003-3.4-1", {call(small)}});
  PrototypeJudge lenient(1023);
  play(lenient, {call(small)});
  // The receives make a message long, whatever its length.
  play(lenient,
       {{Role::client, message(" 00000001 00000000 00000028 aabbcc04 00007f00 00060000", {})}});
  EXPECT_THAT(lenient.findings(), testing::IsEmpty());
}

TEST(PrototypeJudge, NothingFromBeforeTheCaptureIsAFinding) {
  PrototypeJudge judge;
  play(judge, {done(), reply(), reply(kItem, 7)});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(PrototypeJudge, CountsARepeatedCallOnce) {
  PrototypeJudge judge;
  play(judge, {call({}, 1), call({}, 1), call({}, 2), call({}, 3), call({}, 3)});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(PrototypeJudge, SeesAsWellAfterAnyNumberOfExchanges) {
  PrototypeJudge judge;
  const std::uint32_t most = kMostLegacyExchanges;
  for (std::uint32_t i = 0; i <= most; ++i) play(judge, {call({}, i), reply({}, i)});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
  EXPECT_EQ(judge.forgotten_calls(), 0u);
  play(judge, {call(), reply(), done()});
  EXPECT_THAT(judge.findings(), testing::SizeIs(1));
}

TEST(PrototypeJudge, CountsTheCallsThatItForgets) {
  PrototypeJudge judge;
  const std::uint32_t most = kMostLegacyExchanges;
  for (std::uint32_t i = 0; i < most + 2; ++i) play(judge, {call({}, i)});
  EXPECT_EQ(judge.forgotten_calls(), 2u);
  EXPECT_THAT(judge.findings(), testing::SizeIs(kMostFindings));
}

TEST(PrototypeJudge, LooksAtSendsOnly) {
  PrototypeJudge judge;
  judge.on_event({0, 0, Role::server, trace::RdmaRead{1, 2, 3}});
  judge.on_event({1, 0, Role::client, trace::Disconnect{false}});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

}  // namespace
}  // namespace steertag::conformance
