// Grading from events alone: counters, notes and limits.
#include "grade/grader.h"

#include <gmock/gmock.h>

#include <deque>

#include "conformance/trace_builder.h"
#include "grade/testing.h"
#include "nfs/direct/private_data.h"
#include "nfs/direct/procedures.h"

namespace steertag::grade {
namespace {

using capture::FrameStamp;
using capture::LossKind;
using conformance::header;
using conformance::rpc_call;
using conformance::rpc_reply;
using testing::ElementsAre;
using trace::Role;

/// Keeps every note, one line each.
class Notes : public NoteSink {
 public:
  void on_opening(const OpeningNote& note) override {
    openings.push_back(note);
    order += 'o';
  }
  void on_message(const MessageNote& note) override {
    messages.push_back(note);
    order += 'm';
  }
  void on_operation(const OperationNote& note) override {
    operations.push_back(note);
    order += 'r';
  }
  void on_loss(const LossNote& note) override {
    losses.push_back(note);
    order += 'l';
  }
  void on_finding(const FindingNote& note) override {
    findings.push_back({note.connection, note.stamp, *note.finding, note.event});
    order += 'f';
  }

  std::vector<OpeningNote> openings;  // their octets are gone
  std::vector<MessageNote> messages;
  std::vector<OperationNote> operations;
  std::vector<LossNote> losses;
  std::vector<PlacedFinding> findings;
  std::string order;
};

TEST(Grader, TellsOfConnectionsWithoutAMessageToJudge) {
  Grader grader;
  EventFeed judged(grader);
  judged.loss(Role::client, LossKind::joined).call(header(1)).end();
  EventFeed cut(grader);
  cut.open().loss(Role::client, LossKind::cut).end();
  EventFeed silent(grader);
  silent.open().end();
  EXPECT_EQ(grader.report().messages_judged, 1u);
  EXPECT_EQ(grader.report().connections_unjudged, 1u) << "nothing of the silent one was lost";
}

TEST(Grader, SegmentsBeyondThoseThatAreNotedAreCounted) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  const std::size_t many = kMostChunksNoted + 9;
  auto head = conformance::with_write(
      header(1), std::vector<wire::Segment>(many, wire::Segment{7, 4, 0x1000}));
  head = conformance::with_read(std::move(head), 40, {8, 512, 0x2000});
  talk.call(head).end();
  const MessageNote& call = notes.messages.at(0);
  EXPECT_EQ(call.chunks.size(), kMostChunksNoted);
  EXPECT_THAT(call.segments, ElementsAre(1u, many, 0u)) << "read, write and reply segments";
  EXPECT_EQ(call.segments_in_all(), many + 1);
}

TEST(Grader, WhatIsToldLaterMayHaveBeenEarlier) {
  Grader grader;
  EventFeed talk(grader);
  talk.at(6).loss(Role::server, LossKind::damaged).at(8).loss(Role::server, LossKind::cut);
  talk.at(4).loss(Role::client, LossKind::cut).end(true);
  const ConnectionSummary& summary = grader.report().connections.at(0);
  EXPECT_EQ(summary.first.frame, 1u);
  EXPECT_EQ(summary.last.frame, 8u);
  EXPECT_GE(summary.last.time_ns, summary.first.time_ns);
  const LossSummary& cut = summary.losses[static_cast<std::size_t>(LossKind::cut)];
  EXPECT_EQ(cut.first_frame, 4u);
  EXPECT_EQ(cut.last_frame, 8u);
}

TEST(Grader, SumsUpAConnection) {
  Grader grader;
  EventFeed talk(grader);
  auto read = conformance::with_read(header(2, 64), 40, {8, 512, 0x2000});
  talk.open({{true, 4096, 4096}}, {{false, 8192, 2048}});
  talk.call(conformance::with_write(header(1, 64), {{7, 100, 0x1000}}))
      .event(Role::server, trace::RdmaWrite{7, 0x1000, 100, {}})
      .reply(conformance::with_write(header(1, 8), {{7, 100, 0x1000}}))
      .call(read)
      .call(header(3, 64))
      .event(Role::server, trace::RdmaRead{8, 0x2000, 512})
      .event(Role::client, trace::RdmaReadResponse{1, 0, 512})
      .reply(header(2, 16))
      .event(Role::client, trace::Disconnect{true});
  talk.end();

  const Report& report = grader.report();
  ASSERT_EQ(report.connections.size(), 1u);
  const ConnectionSummary& summary = report.connections[0];
  EXPECT_EQ(summary.number, 1u);
  EXPECT_EQ(summary.name.ends.client, "192.0.2.1:700");
  EXPECT_EQ(summary.first.frame, 1u);
  EXPECT_EQ(summary.last.frame, 12u);
  ASSERT_TRUE(summary.negotiated);
  EXPECT_EQ(summary.negotiated->to_server_bytes, 2048u);
  EXPECT_EQ(summary.negotiated->to_client_bytes, 4096u);
  EXPECT_FALSE(summary.negotiated->remote_invalidation);
  EXPECT_TRUE(summary.side(Role::client).announced->remote_invalidation);
  const DirectionSummary& forward = summary.direction(Role::client);
  EXPECT_EQ(forward.calls, 3u);
  EXPECT_EQ(forward.replies, 2u);
  EXPECT_EQ(forward.unanswered, 1u);
  EXPECT_EQ(forward.most_in_flight, 2u);
  EXPECT_EQ(forward.largest_requested, 64u);
  EXPECT_EQ(forward.largest_granted, 16u);
  EXPECT_EQ(forward.last_granted, 16u);
  EXPECT_EQ(forward.read_segments, 1u);
  EXPECT_EQ(forward.write_chunks, 1u);
  EXPECT_EQ(summary.side(Role::server).placed_bytes, 100u);
  EXPECT_EQ(summary.side(Role::server).read_bytes, 512u);
  EXPECT_EQ(summary.side(Role::client).read_bytes, 0u);
  EXPECT_TRUE(summary.ended_clean);
  EXPECT_EQ(summary.findings_in_all, 0u);
  EXPECT_FALSE(summary.has_losses());
  EXPECT_EQ(report.findings_in_all, 0u);
}

TEST(Grader, NamesThePacketOfAFinding) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  talk.open().call(header(1)).reply(header(1, 0)).reply(header(1));
  talk.end(true);
  const Report& report = grader.report();
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].stamp.frame, 4u);
  EXPECT_EQ(report.findings[0].stamp.time_ns, 4'000'000);
  EXPECT_EQ(report.findings[0].finding.requirement->id, "RFC8166-3.3.1-5");
  EXPECT_EQ(report.findings[1].stamp.frame, 5u);
  EXPECT_EQ(report.findings[1].event.kind, "send");
  EXPECT_EQ(report.findings[1].event.number, 2u) << "the server's second Send";
  EXPECT_EQ(report.findings[1].finding.rule, "reply_answers_a_call");
  EXPECT_EQ(notes.order, "oommfmf") << "a packet's findings follow its note";
  ASSERT_EQ(notes.findings.size(), 2u);
  EXPECT_EQ(notes.findings[1].stamp.frame, 5u);
  const auto& counted = report.connections[0].findings;
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0].first_frame, 4u);
  EXPECT_FALSE(report.connections[0].ended) << "the capture ended first";
}

TEST(Grader, TextsNameFrames) {
  Grader grader;
  EventFeed talk(grader);
  talk.open().call(header(1)).reply(header(1)).call(header(2)).call(header(2));
  talk.end();
  ASSERT_EQ(grader.report().findings.size(), 1u);
  EXPECT_EQ(grader.report().findings[0].finding.observed,
            "rdma_xid 0x00000002, outstanding since frame 5");
}

TEST(Grader, NotesPairCallsAndAnswers) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  talk.open()
      .call(conformance::with_write(header(1), {{7, 100, 0x1000}}))
      .event(Role::server, trace::RdmaWrite{7, 0x1010, 10, {}})
      .reply(conformance::with_write(header(1, 5), {{7, 26, 0x1000}}));
  talk.end();
  ASSERT_EQ(notes.openings.size(), 2u);
  EXPECT_FALSE(notes.openings[0].negotiated);
  EXPECT_TRUE(notes.openings[1].negotiated);
  EXPECT_TRUE(notes.openings[1].found);
  ASSERT_EQ(notes.messages.size(), 2u);
  const MessageNote& call = notes.messages[0];
  EXPECT_EQ(call.kind, conformance::Kind::call);
  EXPECT_EQ(call.calls_in_flight, 1u);
  EXPECT_EQ(call.granted, std::nullopt);
  EXPECT_EQ(call.threshold_bytes, 4096u);
  ASSERT_EQ(call.chunks.size(), 1u);
  EXPECT_EQ(call.chunks[0].segment.length, 100u);
  const MessageNote& reply = notes.messages[1];
  EXPECT_EQ(reply.call_frame, 3u);
  EXPECT_EQ(reply.answered_after_ns, 2'000'000);
  EXPECT_EQ(reply.calls_in_flight, 0u);
  EXPECT_EQ(reply.granted, 5u);
  EXPECT_FALSE(reply.reverse);
  ASSERT_EQ(notes.operations.size(), 1u);
  EXPECT_EQ(notes.operations[0].call_frame, 3u);
  EXPECT_EQ(notes.operations[0].call_xid, 1u);
  EXPECT_EQ(notes.order, "oomrmf") << "a gap in the write chunk";
}

TEST(Grader, NotesNameTheCallOfAnRdmaRead) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  talk.open()
      .call(conformance::with_read(header(1), 40, {8, 512, 0x2000}))
      .event(Role::server, trace::RdmaRead{8, 0x2000, 512})
      .event(Role::client, trace::RdmaReadResponse{1, 0, 512})
      .event(Role::server, trace::RdmaRead{9, 0x2000, 512});
  talk.end();
  ASSERT_EQ(notes.operations.size(), 3u);
  EXPECT_EQ(notes.operations[0].call_frame, 3u);
  EXPECT_EQ(notes.operations[1].kind, OperationNote::Kind::read_response);
  EXPECT_EQ(notes.operations[1].call_frame, 3u);
  EXPECT_EQ(notes.operations[2].call_frame, 0u) << "no call offers this";
}

TEST(Grader, NotesReverseTransactions) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  talk.open()
      .send(Role::server, header(1), rpc_call(1, 0x40000000))
      .send(Role::client, header(1, 3), rpc_reply(1));
  talk.end();
  ASSERT_EQ(notes.messages.size(), 2u);
  EXPECT_TRUE(notes.messages[0].reverse);
  EXPECT_TRUE(notes.messages[1].reverse);
  EXPECT_EQ(notes.messages[1].call_frame, 3u);
  EXPECT_EQ(notes.messages[1].granted, 3u);
  EXPECT_EQ(grader.report().connections[0].direction(Role::server).calls, 1u);
}

TEST(Grader, ALossIsToldAndIsNoFinding) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  talk.open()
      .call(header(1))
      .reply(header(1))
      .loss(Role::client, LossKind::missing)
      .loss(Role::server, LossKind::missing)
      .reply(header(2));
  talk.end();
  EXPECT_EQ(grader.report().findings_in_all, 0u);
  const ConnectionSummary& summary = grader.report().connections[0];
  const LossSummary& missing = summary.losses[static_cast<std::size_t>(LossKind::missing)];
  EXPECT_EQ(missing.count, 2u);
  EXPECT_EQ(missing.first_frame, 5u);
  EXPECT_EQ(missing.last_frame, 6u);
  EXPECT_EQ(notes.order, "oommllm");
}

TEST(Grader, AJoinedConnectionHasNoThresholds) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  talk.loss(Role::client, LossKind::joined).call(header(1));
  talk.end(true);
  EXPECT_FALSE(grader.report().connections[0].negotiated);
  EXPECT_EQ(notes.messages.at(0).threshold_bytes, std::nullopt);
}

TEST(Grader, ListsSoManyFindingsOfAConnectionAndCountsAllByRule) {
  Notes notes;
  Grader grader(&notes);
  EventFeed talk(grader);
  talk.open();
  for (std::uint32_t i = 0; i < kMostFindingsListed + 10; ++i) talk.reply(header(i));
  talk.end();
  const Report& report = grader.report();
  const ConnectionSummary& summary = report.connections[0];
  EXPECT_EQ(report.findings.size(), kMostFindingsListed);
  EXPECT_EQ(summary.findings_dropped, 10u);
  EXPECT_EQ(notes.findings.size(), kMostFindingsListed + 10) << "notes are of every packet";
  EXPECT_EQ(summary.findings_in_all, kMostFindingsListed + 10);
  EXPECT_EQ(report.findings_in_all, kMostFindingsListed + 10);
  for (const auto& counts : {summary.findings, report.findings_by_rule}) {
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_EQ(counts[0].rule, "reply_answers_a_call");
    EXPECT_EQ(counts[0].count, kMostFindingsListed + 10);
  }
}

/// A user of direct access with a reference to a block of four octets; an optimistic connection.
struct DirectUser {
  explicit DirectUser(Grader& grader, bool recoverable = false) : rpc(grader), optimistic(grader) {
    direct::HelloResult hello;
    hello.resok4.block_bytes = 4096;
    hello.resok4.most_references = 8;
    hello.resok4.lease_seconds = 60;
    rpc.open();
    exchange(1, direct::Procedure::DIRECTPROC1_HELLO, direct::HelloArgs{}, hello);
    Bytes octets;
    direct::encode(direct::Ticket{}, octets, recoverable);
    optimistic.at(20).event(Role::client, trace::Connect{octets});
    octets.clear();
    direct::encode_answer(octets, recoverable);
    optimistic.event(Role::server, trace::Accept{octets});
    direct::RefsArgs args;
    args.file = direct::FileHandle(std::as_bytes(std::span(std::string_view("file"))));
    args.want_refs = 1;
    direct::RefsResult result;
    result.resok4.refs = {{7, 0x1000, 9, 0, 4}};
    rpc.at(30);
    exchange(2, direct::Procedure::DIRECTPROC1_REFS, args, result);
  }
  template <class Args, class Result>
  void exchange(std::uint32_t xid, direct::Procedure procedure, const Args& args,
                const Result& result) {
    Bytes octets;
    wire::Writer arguments(octets);
    args.encode(arguments);
    rpc.send(Role::client, header(xid),
             rpc_call(xid, direct::kProgram, direct::kVersion,
                      static_cast<std::uint32_t>(procedure), octets));
    octets.clear();
    wire::Writer results(octets);
    result.encode(results);
    rpc.send(Role::server, header(xid), rpc_reply(xid, octets));
  }

  EventFeed rpc;
  EventFeed optimistic;
};

TEST(Grader, NamesARecoverableRefusal) {
  for (const bool agreed : {true, false}) {
    Notes notes;
    Grader grader(&notes);
    DirectUser user(grader, agreed);
    user.optimistic.at(40)
        .event(Role::client, trace::RdmaRead{7, 0x1000, 4 + conformance::kFrameBytes})
        .event(Role::server, trace::RdmaReadRefused{1, {0, 1, 0}})
        .end();
    user.rpc.end();
    EXPECT_EQ(grader.report().findings_in_all, agreed ? 0u : 1u);
    ASSERT_EQ(notes.operations.size(), agreed ? 2u : 1u);
    if (!agreed) continue;
    EXPECT_EQ(notes.operations[1].kind, OperationNote::Kind::refusal);
    ASSERT_TRUE(notes.operations[1].block);
    EXPECT_EQ(notes.operations[1].block->state, conformance::ReadState::faulted);
    EXPECT_EQ(notes.operations[1].block->grant_frame, 31u);
  }
}

TEST(Grader, TellsWhichBlocksOptimisticReadsHit) {
  Notes notes;
  Grader grader(&notes);
  DirectUser user(grader);
  const Bytes wiped(4 + conformance::kFrameBytes);
  const trace::RdmaRead read{7, 0x1000, wiped.size()};
  user.optimistic.at(40)
      .event(Role::client, read)
      .event(Role::server, trace::RdmaReadResponse{0, 0, wiped.size(), wiped})
      .event(Role::client, read)
      .event(Role::server, trace::Terminate{0, 2, 6});  // of memory it would be a finding
  direct::ReadArgs args;
  args.file = direct::FileHandle(std::as_bytes(std::span(std::string_view("file"))));
  args.count = 4;
  user.rpc.at(50);
  user.exchange(3, direct::Procedure::DIRECTPROC1_READ, args, direct::ReadResult{});
  user.optimistic.at(60).end();
  user.rpc.end();

  ASSERT_EQ(notes.operations.size(), 4u);
  EXPECT_EQ(notes.operations[3].kind, OperationNote::Kind::fault);
  for (const OperationNote& each : notes.operations) {
    ASSERT_TRUE(each.block);
    EXPECT_EQ(each.block->grant_frame, 31u) << "that of REFS's reply";
    EXPECT_EQ(each.block->length, 4u);
  }
  EXPECT_EQ(notes.operations[1].block->state, conformance::ReadState::revoked);
  EXPECT_EQ(notes.operations[1].block->request_frame, 40u);
  EXPECT_EQ(notes.messages[4].direct.procedure, "READ");
  EXPECT_EQ(notes.messages[4].direct.fallback, 41u) << "the Read that showed a revoked frame";
  const Report& report = grader.report();
  EXPECT_EQ(report.findings_in_all, 0u);
  EXPECT_EQ(report.connections[0].references, 1u);
  EXPECT_EQ(report.connections[0].fallbacks, 1u);
  EXPECT_FALSE(report.connections[0].optimistic);
  ASSERT_TRUE(report.connections[1].optimistic);
  EXPECT_EQ(report.connections[1].optimistic->hello_frame, 4u);
  EXPECT_THAT(report.connections[1].optimistic->reads, ElementsAre(0, 0, 1, 0, 0, 0, 0, 1));
}

TEST(Grader, ASendOnAnOptimisticConnectionIsNoMessage) {
  Notes notes;
  Grader grader(&notes);
  DirectUser user(grader);
  const std::size_t messages = notes.messages.size();
  user.optimistic.at(40).call(header(1)).end();
  EXPECT_EQ(notes.messages.size(), messages);
  EXPECT_EQ(grader.report().connections[1].side(Role::client).sends, 1u);
}

TEST(Grader, ASupersededProfileHasItsOwnFindingsAndNoneOfTheOthers) {
  wire::Header done = header(1);
  done.proc = wire::Procedure::done;
  for (const Profile profile : {Profile::rfc8166, Profile::rfc5666}) {
    Grader grader(nullptr, profile);
    EventFeed talk(grader);
    talk.open().call(header(1)).reply(header(1)).loss(Role::client, LossKind::missing);
    talk.send(Role::client, done, {}).end();
    const std::size_t found = grader.report().findings_in_all;
    EXPECT_EQ(found, profile == Profile::rfc8166 ? 1u : 0u) << "RFC 5666 3.2 has RDMA_DONE";
  }
}

TEST(Grader, OfASupersededProfileJudgesFewConnectionsAtATime) {
  Grader grader(nullptr, Profile::prototype);
  std::deque<EventFeed> talks;
  for (std::size_t i = 0; i < kMostLegacyConnectionsOpen + 1; ++i)
    talks.emplace_back(grader).open();
  EXPECT_EQ(grader.report().connections_refused, 1u);
}

TEST(Grader, KeepsABoundedReport) {
  Grader grader;
  const std::size_t connections = kMostConnectionsKept + 100;
  for (std::size_t i = 0; i < connections; ++i) {
    EventFeed talk(grader);
    talk.open();
    for (std::uint32_t xid = 0; xid < 5; ++xid) talk.reply(header(xid));
    talk.end();
  }
  EXPECT_EQ(grader.report().connections.size(), kMostConnectionsKept);
  EXPECT_EQ(grader.report().connections_in_all, connections);
  EXPECT_EQ(grader.report().findings.size(), kMostFindingsKept);
  EXPECT_EQ(grader.report().findings_in_all, connections * 5);
}

TEST(Grader, KeepsABoundedPast) {
  Grader grader;
  const std::vector<wire::Segment> chunk(8000, {7, 0, 0x1000});
  wire::Header large = conformance::with_write(header(1), chunk);
  std::deque<EventFeed> talks;
  talks.emplace_back(grader).open();
  while (grader.kept_bytes() < kMostKeptBytesInAll - (std::size_t{2} << 20)) {
    ASSERT_LT(++large.xid, 1000u);
    talks.front().call(large);
  }
  // Many small ones: the largest one drops its history.
  const auto& report = grader.report();
  while (!report.connections.front().has_losses()) {
    ASSERT_LT(talks.size(), 1000u);
    EventFeed& small = talks.emplace_back(grader);
    for (std::uint32_t xid = 1; xid < 60; ++xid) small.call(header(xid));
  }
  EXPECT_LT(grader.kept_bytes(), std::size_t{4} << 20);
  for (std::size_t i = 1; i < report.connections.size(); ++i) {
    EXPECT_FALSE(report.connections[i].has_losses());
  }
  for (EventFeed& each : talks) each.end();
  EXPECT_EQ(grader.kept_bytes(), 0u);
}

TEST(Grader, JudgesNoMoreThanItsLimitAtATime) {
  Grader grader;
  std::vector<EventFeed> talks;
  for (std::size_t i = 0; i < kMostConnectionsOpen + 2; ++i) talks.emplace_back(grader);
  talks.back().reply(header(1, 0)).end();
  EXPECT_EQ(grader.report().connections_refused, 2u);
  EXPECT_EQ(grader.report().findings_in_all, 0u);
  for (std::size_t i = 0; i < kMostConnectionsOpen; ++i) talks[i].end();
  EventFeed again(grader);
  again.reply(header(1, 0)).end();
  EXPECT_EQ(grader.report().connections_refused, 2u);
  EXPECT_EQ(grader.report().findings_in_all, 1u);
}

}  // namespace
}  // namespace steertag::grade
