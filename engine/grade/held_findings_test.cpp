// Over RoCE a finding that the order of packets may explain needs a proof.
#include "grade/held_findings.h"

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

/// A connection on which the server has just sent a reply that nobody asked for.
struct Orphan {
  Grader grader;
  Talk talk{grader, kRoce};
  Orphan() { talk.open().call(header(1)).reply(header(1)).reply(header(9)); }
};

TEST(HeldFindings, AnAcknowledgmentAndATurnInOrderProveIt) {
  Orphan orphan;
  EXPECT_THAT(rules(orphan.grader), IsEmpty()) << "a call may be missing, or misplaced";
  orphan.talk.received(Role::client).turn(Role::client).call(header(2));
  EXPECT_THAT(rules(orphan.grader), ElementsAre("reply_answers_a_call"));
  EXPECT_EQ(orphan.grader.report().findings[0].place.frame, 5u) << "that of the reply";
  EXPECT_EQ(undecided(orphan.grader), 0u);
}

TEST(HeldFindings, WhatIsUndecidedIsNoFindingHoweverMuchItIs) {
  Grader grader;
  Talk talk(grader, kRoce);
  talk.open().call(header(1)).reply(header(1));
  const std::uint32_t many = 3 * kMostFindingsHeld;
  for (std::uint32_t i = 0; i < many; ++i) talk.reply(header(100 + i));
  talk.end();
  EXPECT_THAT(rules(grader), IsEmpty());
  EXPECT_EQ(grader.report().findings_in_all, 0u);
  EXPECT_EQ(undecided(grader), many);
}

TEST(HeldFindings, WhatWasUndecidedTakesNoPlaceOfWhatIsProvenLater) {
  Grader grader;
  Talk talk(grader, kRoce);
  talk.open().call(header(1)).reply(header(1));
  for (std::uint32_t i = 0; i < 2 * kMostFindingsHeld; ++i) talk.reply(header(100 + i));
  wire::Header later = header(3);
  later.vers = 2;
  talk.turn(trace::Role::client)
      .call(header(2))
      .reply(header(2))
      .call(header(3))
      .reply(later)
      .end();
  EXPECT_THAT(rules(grader), ElementsAre("version_is_one"));
}

TEST(HeldFindings, ATurnBeforeTheAcknowledgmentMayExplainIt) {
  Orphan orphan;
  orphan.talk.turn(Role::client).call(header(9)).received(Role::client).turn(Role::client);
  orphan.talk.call(header(3)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(HeldFindings, AMessageThatCameLateMayExplainIt) {
  Orphan orphan;
  orphan.talk.received(Role::client).turn(Role::client, false).call(header(9)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(HeldFindings, ACallOfItsXidMayExplainIt) {
  Orphan orphan;
  orphan.talk.received(Role::client).turn(Role::client).call(header(9)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty()) << "each passed before what is recorded before it";
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(HeldFindings, ACallThatOffersTheMemoryMayExplainAWrite) {
  for (const std::uint32_t handle : {8u, 9u}) {
    Grader grader;
    Talk talk(grader, kRoce);
    talk.open().call(header(1)).reply(header(1));
    talk.event(Role::server, trace::RdmaWrite{8, 0x2000, 100, {}});
    talk.received(Role::client).turn(Role::client);
    const wire::Segment offered{handle, 100, 0x2000};
    talk.call(conformance::with_reply_chunk(header(2), offered));
    // Neither is the reply's length then to be compared with what was placed.
    talk.send(Role::server, conformance::with_reply_chunk(conformance::nomsg(2), offered), {});
    talk.end();
    const bool explains = handle == 8;
    EXPECT_EQ(undecided(grader), explains ? 1u : 0u) << "handle " << handle;
    EXPECT_EQ(rules(grader).empty(), explains) << "handle " << handle;
  }
}

TEST(HeldFindings, WhatFollowsFromACallAndItsAnswerNeedsNoAcknowledgment) {
  for (const bool turn : {false, true}) {
    Grader grader;
    Talk talk(grader, kRoce);
    wire::Header later = header(1);
    later.vers = 2;
    talk.open().call(header(1)).reply(later);
    EXPECT_THAT(rules(grader), IsEmpty()) << "what comes may show that the order is wrong";
    if (turn) talk.turn(Role::client).call(header(2));
    talk.end();
    EXPECT_THAT(rules(grader), ElementsAre("version_is_one"));
  }
}

TEST(HeldFindings, WhatIsMissingMayExplainIt) {
  Orphan orphan;
  orphan.talk.received(Role::client).loss(Role::client, LossKind::missing);
  orphan.talk.turn(Role::client).call(header(3)).end();
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(HeldFindings, TheEndOfTheCaptureDecidesNothing) {
  Orphan orphan;
  orphan.talk.received(Role::client).end(true);
  EXPECT_THAT(rules(orphan.grader), IsEmpty());
  EXPECT_EQ(undecided(orphan.grader), 1u);
}

TEST(HeldFindings, WhatNeedsNoPastIsToldAtOnce) {
  Grader grader;
  Talk talk(grader, kRoce);
  talk.open().call(header(1)).reply(header(1, 0));
  EXPECT_THAT(rules(grader), ElementsAre("grant_is_not_zero"));
}

TEST(HeldFindings, AFewResponsesBehindAReplyMayBeMisplaced) {
  for (const std::uint32_t responses : {0u, kMostMisplacedResponses, kMostMisplacedResponses + 1}) {
    Grader grader;
    Talk talk(grader, kRoce);
    talk.open();
    talk.call(conformance::with_read(header(1), 40, {8, 4000, 0x2000}));
    talk.event(Role::server, trace::RdmaRead{8, 0x2000, 2000});
    talk.event(Role::client, trace::RdmaReadResponse{0, 0x2000, 2000});
    talk.event(Role::server, trace::RdmaRead{8, 0x2000 + 2000, 2000});
    talk.reply(header(1));
    for (std::uint32_t i = 0; i < responses; ++i) {
      talk.event(Role::client, trace::RdmaReadResponse{0, 0x2000 + 2000 + i * 100, 100});
    }
    talk.received(Role::client).turn(Role::client).call(header(2));
    const bool believed = responses == 0 || responses > kMostMisplacedResponses;
    EXPECT_EQ(grader.report().findings.size(), believed ? 1u : 0u) << responses << " responses";
  }
}

TEST(HeldFindings, ACallThatCameLateIsNotOutstanding) {
  Grader grader;
  Talk talk(grader, kRoce);
  talk.open().loss(Role::client, LossKind::missing);
  talk.turn(Role::server).reply(header(1));
  talk.turn(Role::client, false).call(header(1)) /* which that answered */;
  talk.turn(Role::client).call(header(2, 1)).received(Role::server);
  talk.turn(Role::server).reply(header(2)).end();
  EXPECT_THAT(rules(grader), IsEmpty()) << "it asked for one credit and had one call outstanding";
}

TEST(HeldFindings, OverIwarpNothingIsHeld) {
  Grader grader;
  Talk talk(grader);
  talk.open().call(header(1)).reply(header(1)).reply(header(9));
  EXPECT_THAT(rules(grader), ElementsAre("reply_answers_a_call"));
}

}  // namespace
}  // namespace steertag::grade
