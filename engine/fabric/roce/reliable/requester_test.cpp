// The requester against a peer that loses packets, is not ready, or refuses.
#include "fabric/testing/requester_fixture.h"

namespace steertag::fabric::roce {
namespace {

using testing::pattern;
using Lines = std::vector<std::string>;

constexpr std::uint8_t kSequenceNak = 0x60;
constexpr std::uint8_t kRnrNak = 0x20;
constexpr std::uint8_t kAccessNak = 0x62;
constexpr Time kMillisecond = 1'000'000;

using RoceRequesterTest = testing::RequesterFixture;

TEST_F(RoceRequesterTest, OneAcknowledgementStandsForAllBefore) {
  for (WorkId id = 1; id <= 3; ++id) post_send(id);
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("SEND Only", 0), line("SEND Only", 1), line("SEND Only", 2)}));
  take_events();
  acknowledge(kAck, 1);
  EXPECT_EQ(take_events(), (Lines{"done 1", "done 2"}));
  acknowledge(kAck, 0);
  EXPECT_EQ(take_events(), Lines{}) << "of what was acknowledged before";
  acknowledge(kAck, 3);
  EXPECT_EQ(take_events(), Lines{}) << "of what was not sent";
  acknowledge(kAck, 2);
  EXPECT_EQ(take_events(), Lines{"done 3"});
  EXPECT_EQ(requester.deadline(), kNever);
}

TEST_F(RoceRequesterTest, ANakIsAnsweredFromItsPacketOn) {
  for (WorkId id = 1; id <= 3; ++id) post_send(id);
  requester.transmit(now);
  sent();
  take_events();
  acknowledge(kSequenceNak, 1);
  EXPECT_EQ(take_events(), Lines{"done 1"}) << "what is before a NAK has arrived";
  EXPECT_EQ(sent(), (Lines{line("SEND Only", 1), line("SEND Only", 2)}));
  acknowledge(kSequenceNak, 1);
  EXPECT_EQ(sent(), Lines{}) << "a second NAK of the same gap";
}

TEST_F(RoceRequesterTest, WhatWasNotReadyToBeReceivedMayHaveBeenByAnotherCopy) {
  post_send(1);
  requester.transmit(now);
  acknowledge(kRnrNak | 28, 0);
  acknowledge(kAck, 0);
  sent();
  post_send(2);
  requester.transmit(now);
  EXPECT_EQ(sent(), Lines{line("SEND Only", 1)}) << "nothing waits for a receive any more";
  EXPECT_NE(requester.deadline(), kNever);
}

TEST_F(RoceRequesterTest, SilenceRepeatsWithGrowingPauses) {
  post_send(1, pattern(300));
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("SEND First", 0), line("SEND Last", 1)}));
  EXPECT_EQ(take_events(), Lines{"300 from 0"});
  const Time first = requester.deadline() - now;
  wait(first);
  EXPECT_EQ(sent(), (Lines{line("SEND First", 0), line("SEND Last", 1)}));
  EXPECT_EQ(take_events(), Lines{}) << "a repetition gives no event";
  EXPECT_EQ(requester.deadline() - now, 2 * first);
  EXPECT_EQ(output.packets[0].payload, output.packets[2].payload);
  EXPECT_EQ(output.packets[1].payload, output.packets[3].payload);
}

TEST_F(RoceRequesterTest, SilenceHasALimit) {
  post_send(1);
  requester.transmit(now);
  for (int i = 0; i < 100 && !failed; ++i) {
    wait(requester.deadline() - now);
  }
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Errc::timed_out);
  EXPECT_GE(now, after(0, limits.unsent));
}

TEST_F(RoceRequesterTest, PacketsInFlightAreBounded) {
  post_send(1, Bytes(100 * kMtu));
  requester.transmit(now);
  const std::uint32_t first = limits.roce.first_window;
  EXPECT_EQ(output.packets.size(), first);
  EXPECT_TRUE(output.packets.back().packet.base.acknowledge)
      << "the last packet of a window asks for an acknowledgement";
  acknowledge(kAck, 9);
  EXPECT_EQ(output.packets.size(), first + 20) << "ten that arrived, and a window larger by ten";
}

TEST_F(RoceRequesterTest, TheWindowEndsAtItsMost) {
  const std::uint32_t most = limits.roce.most_window;
  post_send(1, Bytes(std::size_t{10} * most * kMtu));
  requester.transmit(now);
  for (std::uint32_t arrived = 0; arrived < 3 * most;) {
    arrived = static_cast<std::uint32_t>(output.packets.size());
    acknowledge(kAck, arrived - 1);
    EXPECT_LE(output.packets.size() - arrived, most);
  }
  const std::size_t before = output.packets.size();
  acknowledge(kAck, static_cast<std::uint32_t>(before) - 1);
  EXPECT_EQ(output.packets.size() - before, most) << "after slow start";
}

TEST_F(RoceRequesterTest, ALossHalvesTheWindow) {
  post_send(1, Bytes(100 * kMtu));
  requester.transmit(now);
  sent();
  acknowledge(kSequenceNak, 0);
  EXPECT_EQ(sent().size(), limits.roce.first_window / 2);
}

TEST_F(RoceRequesterTest, LossesOfOneFlightHalveTheWindowOnce) {
  const std::uint32_t first = limits.roce.first_window;
  post_send(1, Bytes(100 * kMtu));
  requester.transmit(now);
  acknowledge(kSequenceNak, 0);  // packet 4 has overtaken those before it ...
  acknowledge(kAck, 3);
  sent();
  acknowledge(kSequenceNak, 4);  // ... and was dropped
  EXPECT_EQ(sent().size(), first / 2);
  acknowledge(kAck, first - 1);
  sent();
  acknowledge(kSequenceNak, first);
  EXPECT_EQ(sent().size(), first / 4) << "a loss of the next flight";
}

TEST_F(RoceRequesterTest, ASendDoesNotWaitForResponses) {
  post_read(1, std::size_t{limits.roce.first_window} * kMtu);
  post_send(2);
  requester.transmit(now);
  EXPECT_EQ(sent(),
            (Lines{line("RDMA READ Request", 0), line("SEND Only", limits.roce.first_window)}));
}

TEST_F(RoceRequesterTest, NoReceiveIsWaitedForAndThenFatal) {
  post_send(1);
  requester.transmit(now);
  sent();
  constexpr std::uint8_t kTenMilliseconds = 20;
  for (int i = 0; i < 2; ++i) {
    acknowledge(kRnrNak | kTenMilliseconds, 0);
    EXPECT_EQ(sent(), Lines{});
    wait(10 * kMillisecond);
    EXPECT_EQ(sent(), Lines{}) << "before its time";
    wait(kMillisecond);
    EXPECT_EQ(sent(), Lines{line("SEND Only", 0)});
  }
  acknowledge(kRnrNak | kTenMilliseconds, 0);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Errc::timed_out) << failed->detail;
}

TEST_F(RoceRequesterTest, ProgressGivesAllRepetitionsBack) {
  post_send(1);
  post_send(2);
  requester.transmit(now);
  constexpr std::uint8_t kTenMilliseconds = 20;
  for (std::uint32_t message = 0; message < 2; ++message) {
    for (int i = 0; i < 2; ++i) {
      acknowledge(kRnrNak | kTenMilliseconds, message);
      wait(11 * kMillisecond);
    }
    EXPECT_FALSE(failed) << "two repetitions of message " << message << " were settled";
    acknowledge(kAck, message);
  }
  EXPECT_EQ(events.back(), "done 2");
}

TEST_F(RoceRequesterTest, APeerThatAsksForEverHasTheRepetitionsOfThePolicy) {
  start(7);
  post_send(1);
  requester.transmit(now);
  constexpr std::uint8_t kTenMilliseconds = 20;
  for (int i = 0; i < kConformingPolicy.most_rnr_repetitions; ++i) {
    acknowledge(kRnrNak | kTenMilliseconds, 0);
    wait(11 * kMillisecond);
    EXPECT_FALSE(failed) << failed->detail << " (repetition " << i << ")";
  }
  acknowledge(kRnrNak | kTenMilliseconds, 0);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Errc::timed_out) << failed->detail;
}

TEST_F(RoceRequesterTest, APolicyWithoutRepetitionsEndsAtTheFirstRnrNak) {
  Policy without_repetitions;
  without_repetitions.most_rnr_repetitions = 0;
  Requester hasty{*this, output, limits, without_repetitions};
  hasty.start({kFirst, kMtu, 2, 6});
  hasty.post(Operation::send, 1);
  hasty.transmit(now);
  Packet nak;
  nak.headers.base.opcode = Opcode::acknowledge;
  nak.headers.base.psn = kFirst;
  nak.headers.ack.syndrome = kRnrNak;
  hasty.take_acknowledge(nak, now);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->detail, "the peer has posted no receive after 0 repetitions (RNR)");
}

TEST_F(RoceRequesterTest, AFatalNakEndsIt) {
  post_send(1);
  post_send(2);
  requester.transmit(now);
  take_events();
  acknowledge(kAccessNak, 1);
  EXPECT_EQ(take_events(), Lines{"done 1"});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Errc::peer_terminated);
  EXPECT_EQ(failed->detail, "PSN 0xffffff: NAK: remote access error");
}

TEST_F(RoceRequesterTest, ASendIsNotDeniedByMemory) {
  post_send(1);
  requester.transmit(now);
  acknowledge(kAccessNak, 0);
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->denied);
}

TEST_F(RoceRequesterTest, ADeniedReadIsNamed) {
  post_send(1);
  post_read(2, 3 * kMtu);
  requester.transmit(now);
  acknowledge(kAccessNak, 3);
  ASSERT_TRUE(failed && failed->denied);
  EXPECT_EQ(failed->denied->operation, Operation::rdma_read);
  EXPECT_EQ(failed->denied->id, 2U);
}

TEST_F(RoceRequesterTest, ADeniedWriteIsNamedThoughAReadBeforeItLacksItsResponse) {
  post_read(1, kMtu);
  requester.post(Operation::rdma_write, 2);
  requester.transmit(now);
  acknowledge(kAccessNak, 1);
  ASSERT_TRUE(failed && failed->denied);
  EXPECT_EQ(failed->denied->operation, Operation::rdma_write);
  EXPECT_EQ(failed->denied->id, 2U);
}

TEST_F(RoceRequesterTest, PartsAreGatheredAlsoWhenRepeated) {
  const Bytes whole = pattern(1000);
  Outgoing& operation = requester.post(Operation::send, 1);
  operation.parts = {View(whole).first(1), View{}, View(whole).subspan(1, 300),
                     View(whole).subspan(301)};
  operation.length = whole.size();
  requester.transmit(now);
  acknowledge(kAck, 0);
  acknowledge(kSequenceNak, 2);
  Bytes got;
  for (const std::size_t i : {0U, 1U, 4U, 5U}) {
    const Bytes& payload = output.packets[i].payload;
    got.insert(got.end(), payload.begin(), payload.end());
  }
  ASSERT_EQ(output.packets.size(), 6U);
  EXPECT_TRUE(got == whole) << "octets differ";
}

}  // namespace
}  // namespace steertag::fabric::roce
