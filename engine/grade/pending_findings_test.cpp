// On RoCE, a finding that the order of packets may explain needs confirmation.
#include "grade/pending_findings.h"

#include <gmock/gmock.h>

#include "grade/testing.h"

namespace steertag::grade {
namespace {

using conformance::header;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const capture::ConnectionName kRoce{capture::Fabric::rocev2,
                                    {"192.0.2.1 qp 0x000011", "192.0.2.2 qp 0x000012"}};

std::vector<std::string> rules(const Grader& grader) {
  std::vector<std::string> found;
  for (const PlacedFinding& each : grader.report().findings) found.emplace_back(each.finding.rule);
  return found;
}

std::uint64_t undecided(const Grader& grader) {
  return grader.report().connections.at(0).findings_undecided;
}

/// A connection whose server has just sent a reply without a call.
struct Orphan {
  Grader grader;
  EventFeed talk{grader, kRoce};
  Orphan() { talk.open().call(header(1)).reply(header(1)).reply(header(9)); }
};

TEST(PendingFindings, AnAcknowledgmentAndATurnInOrderProveIt) {
  Orphan orphan;
  EXPECT_THAT(rules(orphan.grader), IsEmpty()) << "a call may be missing, or misplaced";
  orphan.talk.received(Role::client).message_packet(Role::client).call(header(2));
  EXPECT_THAT(rules(orphan.grader), ElementsAre("reply_answers_a_call"));
  EXPECT_EQ(orphan.grader.report().findings[0].stamp.frame, 5u) << "that of the reply";
  EXPECT_EQ(undecided(orphan.grader), 0u);
}

TEST(PendingFindings, TheOrderThatAnEndRecordedNeedsNoProof) {
  Grader grader;
  EventFeed talk(grader, kRoce, true);
  talk.open().call(header(1)).reply(header(1)).reply(header(9));
  EXPECT_THAT(rules(grader), ElementsAre("reply_answers_a_call"));
  talk.end();
  EXPECT_EQ(undecided(grader), 0u);
}

TEST(PendingFindings, TheOrderThatAnEndRecordedIsDoubtfulOnceAPacketIsLate) {
  Grader grader;
  EventFeed talk(grader, kRoce, true);
  talk.open().call(header(1)).message_packet(Role::server, false).reply(header(9));
  EXPECT_THAT(rules(grader), IsEmpty());
  talk.end();
  EXPECT_EQ(undecided(grader), 1u);
}

TEST(PendingFindings, WhatIsUndecidedIsNoFindingHoweverMuchItIs) {
  Grader grader;
  EventFeed talk(grader, kRoce);
  talk.open().call(header(1)).reply(header(1));
  const std::uint32_t many = 3 * kMostPendingFindings;
  for (std::uint32_t i = 0; i < many; ++i) talk.reply(header(100 + i));
  talk.end();
  EXPECT_THAT(rules(grader), IsEmpty());
  EXPECT_EQ(grader.report().findings_in_all, 0u);
  EXPECT_EQ(undecided(grader), many);
}

TEST(PendingFindings, WhatWasUndecidedTakesNoPlaceOfWhatIsProvenLater) {
  Grader grader;
  EventFeed talk(grader, kRoce);
  talk.open().call(header(1)).reply(header(1));
  for (std::uint32_t i = 0; i < 2 * kMostPendingFindings; ++i) talk.reply(header(100 + i));
  wire::Header later = header(3);
  later.vers = 2;
  talk.message_packet(trace::Role::client)
      .call(header(2))
      .reply(header(2))
      .call(header(3))
      .reply(later)
      .end();
  EXPECT_THAT(rules(grader), ElementsAre("version_is_one"));
}

TEST(PendingFindings, ATurnBeforeTheAcknowledgmentMayExplainIt) {
  Orphan orphan;
  orphan.talk.message_packet(Role::client)
      .call(header(9))
      .received(Role::client)
      .message_packet(Role::client);
  orphan.talk.call(header(3)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(PendingFindings, AMessageThatCameLateMayExplainIt) {
  Orphan orphan;
  orphan.talk.received(Role::client).message_packet(Role::client, false).call(header(9)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(PendingFindings, ACallOfItsXidMayExplainIt) {
  Orphan orphan;
  orphan.talk.received(Role::client).message_packet(Role::client).call(header(9)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty()) << "each passed before what is recorded before it";
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(PendingFindings, ACallThatOffersTheMemoryMayExplainAWrite) {
  for (const std::uint32_t handle : {8u, 9u}) {
    Grader grader;
    EventFeed talk(grader, kRoce);
    talk.open().call(header(1)).reply(header(1));
    talk.event(Role::server, trace::RdmaWrite{8, 0x2000, 100, {}});
    talk.received(Role::client).message_packet(Role::client);
    const wire::Segment offered{handle, 100, 0x2000};
    talk.call(conformance::with_reply_chunk(header(2), offered));
    // The reply's length is not compared with the placed octets either.
    talk.send(Role::server, conformance::with_reply_chunk(conformance::nomsg(2), offered), {});
    talk.end();
    const bool explains = handle == 8;
    EXPECT_EQ(undecided(grader), explains ? 1u : 0u) << "handle " << handle;
    EXPECT_EQ(rules(grader).empty(), explains) << "handle " << handle;
  }
}

TEST(PendingFindings, WhatFollowsFromACallAndItsAnswerNeedsNoAcknowledgment) {
  for (const bool message_packet : {false, true}) {
    Grader grader;
    EventFeed talk(grader, kRoce);
    wire::Header later = header(1);
    later.vers = 2;
    talk.open().call(header(1)).reply(later);
    EXPECT_THAT(rules(grader), IsEmpty()) << "what comes may show that the order is wrong";
    if (message_packet) talk.message_packet(Role::client).call(header(2));
    talk.end();
    EXPECT_THAT(rules(grader), ElementsAre("version_is_one"));
  }
}

TEST(PendingFindings, WhatIsMissingMayExplainIt) {
  Orphan orphan;
  orphan.talk.received(Role::client).loss(Role::client, LossKind::missing);
  orphan.talk.message_packet(Role::client).call(header(3)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(PendingFindings, TheEndOfTheCaptureDecidesNothing) {
  Orphan orphan;
  orphan.talk.received(Role::client).end(true);
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(PendingFindings, WhatNeedsNoPastIsToldAtOnce) {
  Grader grader;
  EventFeed talk(grader, kRoce);
  talk.open().call(header(1)).reply(header(1, 0));
  EXPECT_THAT(rules(grader), ElementsAre("grant_is_not_zero"));
}

TEST(PendingFindings, AFewResponsesBehindAReplyMayBeMisplaced) {
  for (const std::uint32_t responses : {0u, kMostReorderedResponses, kMostReorderedResponses + 1}) {
    Grader grader;
    EventFeed talk(grader, kRoce);
    talk.open();
    talk.call(conformance::with_read(header(1), 40, {8, 4000, 0x2000}));
    talk.event(Role::server, trace::RdmaRead{8, 0x2000, 2000});
    talk.event(Role::client, trace::RdmaReadResponse{0, 0x2000, 2000});
    talk.event(Role::server, trace::RdmaRead{8, 0x2000 + 2000, 2000});
    talk.reply(header(1));
    for (std::uint32_t i = 0; i < responses; ++i) {
      talk.event(Role::client, trace::RdmaReadResponse{0, 0x2000 + 2000 + i * 100, 100});
    }
    talk.received(Role::client).message_packet(Role::client).call(header(2));
    const bool confirmed = responses == 0 || responses > kMostReorderedResponses;
    EXPECT_EQ(grader.report().findings.size(), confirmed ? 1u : 0u) << responses << " responses";
  }
}

TEST(PendingFindings, ACallThatCameLateIsNotOutstanding) {
  Grader grader;
  EventFeed talk(grader, kRoce);
  talk.open().loss(Role::client, LossKind::missing);
  talk.message_packet(Role::server).reply(header(1));
  talk.message_packet(Role::client, false).call(header(1)) /* which that answered */;
  talk.message_packet(Role::client).call(header(2, 1)).received(Role::server);
  talk.message_packet(Role::server).reply(header(2)).end();
  EXPECT_THAT(rules(grader), IsEmpty()) << "it asked for one credit and had one call outstanding";
}

TEST(PendingFindings, OverIwarpNothingIsHeld) {
  Grader grader;
  EventFeed talk(grader);
  talk.open().call(header(1)).reply(header(1)).reply(header(9));
  EXPECT_THAT(rules(grader), ElementsAre("reply_answers_a_call"));
}

}  // namespace
}  // namespace steertag::grade
