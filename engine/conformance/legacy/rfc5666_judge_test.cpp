// The judge of RFC 5666: a conversation that RFC 8166 forbids, and one for each rule.
#include "conformance/legacy/rfc5666_judge.h"

#include <array>

#include "conformance/legacy/prototype_rules.h"
#include "conformance/legacy/rfc5666_rules.h"
#include "conformance/legacy/testing.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 0x1234;
constexpr wire::Segment kOffered{0xaabbcc01, 5, 0x1000};
constexpr wire::Segment kSecond{0xaabbcc02, 8, 0x2000};

using Segments = std::vector<wire::Segment>;

LegacySend send(Role actor, const wire::Header& head, const Bytes& payload = {}) {
  Bytes octets;
  wire::encode(head, octets);
  octets.insert(octets.end(), payload.begin(), payload.end());
  return {actor, wire::testing::to_hex(octets)};
}

LegacySend call(const wire::Header& head) {
  const bool inlined = head.proc != wire::Procedure::nomsg;
  return send(Role::client, head, inlined ? rpc_call(head.xid) : Bytes{});
}
LegacySend reply(const wire::Header& head) {
  const bool inlined = head.proc != wire::Procedure::nomsg;
  return send(Role::server, head, inlined ? rpc_reply(head.xid) : Bytes{});
}
LegacySend done(Role actor = Role::client, std::uint32_t xid = kXid) {
  wire::Header head = header(xid);
  head.proc = wire::Procedure::done;
  return send(actor, head);
}
LegacySend fixed(std::string rest) {
  return {Role::client, "00001234 00000001 00000020 " + std::move(rest)};
}
/// An error with an unknown code and this many words after it.
LegacySend other_error(int extra) {
  std::string hex = "00001234 00000001 00000020 00000004 00000003";
  for (int i = 0; i < extra; ++i) hex += " 00000000";
  return {Role::server, hex};
}

wire::Header with_reads(wire::Header head, std::vector<std::uint32_t> positions) {
  for (const std::uint32_t each : positions) head = with_read(head, each, {1, 2, 3});
  return head;
}
/// A conversation with this returned write chunk.
std::vector<LegacySend> returned(const Segments& offered, const Segments& back) {
  return {call(with_write(header(kXid), offered)), reply(with_write(header(kXid), back))};
}
wire::Segment of_length(wire::Segment segment, std::uint32_t length) {
  return with_length(segment, length);
}

LegacySend configure(std::initializer_list<std::uint32_t> arguments) {
  return send(Role::client, header(kXid), rpc_call(kXid, 100417, 1, 1, words(arguments)));
}
LegacySend configured(std::initializer_list<std::uint32_t> results) {
  return send(Role::server, header(kXid), rpc_reply(kXid, words(results)));
}

std::vector<Breach> header_breaches() {
  return {
      {"rfc5666_header_is_xdr", "RFC5666-4.3-2", {fixed("00000000 00000002")}},
      {"rfc5666_header_is_xdr", "RFC5666-4.3-2", {fixed("00000005 00000000 00000000 00000000")}},
      {"rfc5666_header_is_xdr", "RFC5666-4.3-2", {fixed("00000000 00000000")}},
      {"rfc5666_header_is_xdr", "RFC5666-4.3-2", {{Role::server, "00001234 00000001"}}},
      {"rfc5666_version_is_one",
       "RFC5666-4.1-1",
       {{Role::client, "00001234 00000002 00000020 00000000 00000000 00000000 00000000"}}},
      {"rfc5666_done_and_error_end",
       "RFC5666-4.1-3",
       {call(header(kXid)), reply(with_reads(header(kXid), {96})), fixed("00000003 00000000")}},
      {"rfc5666_done_and_error_end", "RFC5666-4.1-3", {fixed("00000004 00000002 00000000")}},
      {"rfc5666_other_error_has_eight_words", "RFC5666-4.3-1", {other_error(7)}},
      {"rfc5666_other_error_has_eight_words", "RFC5666-4.3-1", {other_error(9)}},
      {"rfc5666_rpc_message_has_the_xid",
       "RFC5666-4.1-5",
       {send(Role::client, header(kXid), rpc_call(kXid + 1))}},
      {"rfc5666_rpc_message_has_the_xid",
       "RFC5666-4.1-5",
       {send(Role::client, header(kXid), words({kXid}))}},
      {"rfc5666_long_message_comes_first", "RFC5666-5.1-1", {call(nomsg(kXid))}},
      {"rfc5666_long_message_comes_first", "RFC5666-5.1-1", {call(with_reads(nomsg(kXid), {96}))}},
      {"rfc5666_long_message_comes_first",
       "RFC5666-5.1-1",
       {call(with_reads(header(kXid), {96, 0}))}},
      {"rfc5666_no_chunk_of_roundup", "RFC5666-3.7-1", {call(with_reads(header(kXid), {96, 101}))}},
  };
}

std::vector<Breach> exchange_breaches() {
  return {
      {"rfc5666_grant_while_idle", "RFC5666-3.3-2", {call(header(kXid)), reply(header(kXid, 0))}},
      {"rfc5666_grant_while_idle",
       "RFC5666-3.3-2",
       {call(header(kXid)), {Role::server, "00001234 00000001 00000000 00000004 00000002"}}},
      {"rfc5666_done_answers_read_chunks",
       "RFC5666-3.5-1",
       {call(header(kXid)), reply(header(kXid)), done()}},
      {"rfc5666_done_answers_read_chunks", "RFC5666-3.5-1", {call(header(kXid)), done()}},
      {"rfc5666_done_answers_read_chunks",
       "RFC5666-3.5-1",
       {call(header(kXid)), reply(with_reads(header(kXid), {96})), done(), done()}},
      {"rfc5666_write_list_is_returned", "RFC5666-3.6-1",
       returned({kOffered}, {{0xaabbcc09, 5, 0x1000}})},
      {"rfc5666_write_list_is_returned", "RFC5666-3.6-1",
       returned({kOffered}, {kOffered, kSecond})},
      {"rfc5666_write_list_is_returned",
       "RFC5666-3.6-1",
       {call(header(kXid)), reply(with_write(header(kXid), {kOffered}))}},
      {"rfc5666_returned_length_is_in_reach", "RFC5666-3.7-3",
       returned({kOffered}, {of_length(kOffered, 9)})},
      {"rfc5666_returned_length_is_in_reach", "RFC5666-3.7-3",
       returned({kOffered, kSecond}, {of_length(kOffered, 8), of_length(kSecond, 4)})},
      {"rfc5667_segments_are_filled_in_order", "RFC5667-3-3",
       returned({kOffered, kSecond}, {of_length(kOffered, 4), of_length(kSecond, 4)})},
      {"rfc5667_empty_chunk_means_inline", "RFC5667-5-7",
       returned({of_length(kOffered, 0)}, {of_length(kOffered, 3)})},
      {"rfc5666_configuration_is_xdr", "RFC5666-6.2-5", {configure({4096, 4096})}},
      {"rfc5666_configuration_is_xdr",
       "RFC5666-6.2-5",
       {configure({4096, 4096, 8}), configured({4096, 64, 8, 0})}},
      {"rfc5666_call_fits_configuration",
       "RFC5666-6.2-1",
       {configure({4096, 4096, 8}), configured({44, 64, 8}),
        send(Role::client, header(kXid), rpc_call(kXid, 400000, 1, 1, words({1, 2})))}},
  };
}

std::vector<Breach> breaches() {
  std::vector<Breach> all = header_breaches();
  for (Breach& each : exchange_breaches()) all.push_back(std::move(each));
  return all;
}

TEST(Rfc5666Judge, AcceptsWhatRfc8166Forbids) {
  wire::Header padded = header(kXid);
  padded.proc = wire::Procedure::msgp;
  padded.align = 4096;
  padded.thresh = 1024;
  Rfc5666Judge judge;
  play(judge, {
                  call(header(kXid)),
                  reply(with_reads(header(kXid), {96})),
                  done(),
                  call(with_reads(nomsg(kXid), {0, 96})),
                  reply(with_reads(nomsg(kXid), {0})),
                  done(),
                  call(padded),
                  other_error(8),
                  // another call waits, so a grant of zero is wrong
                  call(header(1)),
                  call(header(2)),
                  reply(header(2, 0)),
                  reply(header(1, 1)),
              });
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(Rfc5666Judge, AcceptsRoundupInReturnedLengths) {
  for (const std::uint32_t length : {0u, 3u, 5u, 8u}) {
    SCOPED_TRACE(length);
    Rfc5666Judge judge;
    play(judge, returned({kOffered}, {of_length(kOffered, length)}));
    EXPECT_THAT(judge.findings(), testing::IsEmpty());
  }
}

TEST(Rfc5666Judge, AcceptsAListThatLacksWhatTheServerIgnored) {
  Rfc5666Judge judge;
  play(judge, {call(with_write(header(kXid), {kOffered})), reply(header(kXid))});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(Rfc5666Judge, AcceptsAConfiguration) {
  Rfc5666Judge judge;
  play(judge, {configure({4096, 4096, 8}), configured({44, 64, 8}),
               send(Role::client, header(kXid), rpc_call(kXid, 400000, 1, 1, words({1}))),
               reply(header(kXid))});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(Rfc5666Judge, FindsEachBreach) {
  for (const Breach& each : breaches()) expect_breach(Rfc5666Judge(true), each);
  expect_all_broken(kRfc5666Rules, breaches());
}

TEST(Rfc5666Judge, NothingFromBeforeTheCaptureIsAFinding) {
  Rfc5666Judge judge;
  play(judge, {done(), reply(with_write(header(7), {kOffered})), other_error(8)});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(Rfc5666Judge, KnowsThatNothingWaitsOnlyFromTheStart) {
  const std::vector<LegacySend> sends{call(header(kXid)), reply(header(kXid, 0))};
  for (const bool calls_seen : {false, true}) {
    SCOPED_TRACE(calls_seen);
    Rfc5666Judge joined;  // earlier calls may wait
    play(joined, calls_seen ? sends : std::vector<LegacySend>{sends.back()});
    EXPECT_THAT(joined.findings(), testing::IsEmpty());
  }
  for (const trace::Body& body : {trace::Body(trace::Connect{}), trace::Body(trace::Accept{})}) {
    Rfc5666Judge judge;
    judge.on_event({0, 0, Role::client, body});
    play(judge, sends);
    EXPECT_THAT(judge.findings(), testing::SizeIs(1));
  }
  Rfc5666Judge unasked(true);
  play(unasked, {sends.back()});
  EXPECT_THAT(unasked.findings(), testing::IsEmpty());
}

TEST(Rfc5666Judge, MayHaveMissedACallThatWaits) {
  wire::Header other = header(kXid + 1);
  other.vers = 2;
  for (const LegacySend& unclear :
       {call(other), send(Role::client, header(kXid + 1), words({kXid + 1, 7})),
        call(header(kXid))}) {
    Rfc5666Judge judge(true);
    play(judge, {call(header(kXid)), unclear, reply(header(kXid, 0))});
    for (const Finding& each : judge.findings()) EXPECT_NE(each.rule, "rfc5666_grant_while_idle");
  }
}

TEST(Rfc5666Judge, TakesARdmaDoneForEachReplyWithReadChunks) {
  Rfc5666Judge judge;
  const LegacySend pulled = reply(with_reads(header(kXid), {96}));
  play(judge, {call(header(kXid)), pulled, pulled, reply(header(kXid)), done(), done()});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
  play(judge, {done()});
  EXPECT_THAT(judge.findings(), testing::SizeIs(1));
}

/// Passes calls of the client to a judge, with XIDs from `first` on.
void play_calls(Rfc5666Judge& judge, std::uint32_t first, std::size_t count,
                const wire::WriteList& list = {}) {
  for (std::uint32_t i = 0; i < count; ++i) {
    wire::Header head = header(first + i);
    head.write_list = list;
    play(judge, {call(head)});
  }
}

TEST(Rfc5666Judge, ForgetsAnsweredExchangesBeforeOthers) {
  Rfc5666Judge judge(true);
  play(judge, {call(header(kXid)), reply(header(kXid))});
  play_calls(judge, 1u << 20, kMostLegacyExchanges);
  EXPECT_EQ(judge.forgotten_calls(), 0u);
  play(judge, {done()});  // of an evicted exchange
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
  play(judge, {reply(header(1u << 20)), call(header(kXid)), reply(header(kXid)), done()});
  EXPECT_THAT(judge.findings(), testing::SizeIs(1)) << "it sees as well as before";
}

TEST(Rfc5666Judge, EvictedCallsGiveNoFindings) {
  Rfc5666Judge judge(true);
  play_calls(judge, 0, kMostLegacyExchanges + 1);
  EXPECT_EQ(judge.forgotten_calls(), 1u);
  for (std::uint32_t i = 1; i <= kMostLegacyExchanges; ++i) play(judge, {reply(header(i, 0))});
  EXPECT_THAT(judge.findings(), testing::IsEmpty()) << "call 0 may still be in progress";
  play(judge, {done(Role::client, 1)});
  EXPECT_THAT(judge.findings(), testing::SizeIs(1));
}

TEST(Rfc5666Judge, KeepsWriteListsWithinALimit) {
  constexpr std::size_t kChunks = 1 << 13;  // of one segment each
  constexpr std::size_t kCalls = kMostRfc5666Offers / (2 * kChunks);
  wire::WriteList list;
  for (std::size_t i = 0; i < kChunks; ++i) list.add(std::array{kOffered});
  Rfc5666Judge judge;
  play_calls(judge, 0, kCalls, list);
  EXPECT_EQ(judge.forgotten_calls(), 0u);
  play_calls(judge, kCalls, 1, list);
  EXPECT_EQ(judge.forgotten_calls(), 1u);
  const Segments wrong{{0xaabbcc09, 5, 0x1000}};
  play(judge, {reply(with_write(header(kCalls), wrong))});
  EXPECT_THAT(judge.findings(), testing::IsEmpty()) << "its list is not known";
  play(judge, {reply(with_write(header(0), wrong)), reply(with_write(header(0), wrong))});
  EXPECT_THAT(judge.findings(), testing::SizeIs(1)) << "of the first answer";
  play_calls(judge, kCalls + 1, 1, list);
  EXPECT_EQ(judge.forgotten_calls(), 1u) << "an answer gives room back";
}

TEST(Rfc5666Judge, ReadsCallsOfTheServerAsItsOwn) {
  Rfc5666Judge judge;
  play(judge, {call(header(kXid)), send(Role::server, header(kXid), rpc_call(kXid)),
               send(Role::client, header(kXid), rpc_reply(kXid)), reply(header(kXid))});
  EXPECT_THAT(judge.findings(), testing::IsEmpty());
}

TEST(LegacyRules, HaveUniqueNamesThatJudgeHasNot) {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) names.insert(rule.name);
  for (const Rule& rule : legacy_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_TRUE(rule.sentence.ends_with('.')) << rule.name;
  }
  EXPECT_EQ(legacy_rules().size(), kPrototypeRules.size() + kRfc5666Rules.size());
}

}  // namespace
}  // namespace steertag::conformance
