// The requester against a peer that loses packets, is not ready, or refuses.
#include "fabric/roce/reliable/requester.h"

#include <gtest/gtest.h>

#include "fabric/testing/endpoint.h"
#include "fabric/testing/packet_log.h"

namespace steertag::fabric::roce {
namespace {

using testing::PacketLog;
using testing::pattern;
using Lines = std::vector<std::string>;

constexpr std::uint32_t kMtu = 256;
constexpr std::uint32_t kFirst = 0xfffffe;  // PSNs wrap soon
constexpr std::uint8_t kAck = 0x1f;
constexpr std::uint8_t kSequenceNak = 0x60;
constexpr std::uint8_t kRnrNak = 0x20;
constexpr std::uint8_t kAccessNak = 0x62;
constexpr Time kMillisecond = 1'000'000;

class RoceRequesterTest : public ::testing::Test, protected RequesterOwner {
 protected:
  RoceRequesterTest() { start(2); }
  void start(std::uint8_t rnr_retries, std::uint16_t reads = 2, std::uint32_t held = 256) {
    requester.start({kFirst, kMtu, reads, rnr_retries, held});
  }

  void on_sending(const Outgoing& /*operation*/, std::uint64_t offset,
                  std::uint64_t length) override {
    events.push_back(std::to_string(length) + " from " + std::to_string(offset));
  }
  void on_response(const Outgoing& /*operation*/, std::uint64_t offset, View payload) override {
    events.push_back("response " + std::to_string(payload.size()) + " at " +
                     std::to_string(offset));
  }
  void on_done(Operation /*kind*/, WorkId id) override {
    events.push_back("done " + std::to_string(id));
  }
  void on_requester_failed(CloseReason reason) override {
    failed = reason;
    requester.stop();
  }

  void post_send(WorkId id, const Bytes& message = {}) {
    messages.push_back(std::make_unique<Bytes>(message));
    Outgoing& operation = requester.post(Operation::send, id);
    operation.parts.assign(1, View(*messages.back()));
    operation.length = message.size();
  }
  void post_read(WorkId id, std::size_t length) {
    messages.push_back(std::make_unique<Bytes>(length));
    Outgoing& operation = requester.post(Operation::rdma_read, id);
    operation.length = length;
    operation.sink = messages.back()->data();
    operation.stag = 7;
    operation.offset = 1000;
  }
  void acknowledge(std::uint8_t syndrome, std::uint32_t number) {
    Packet packet;
    packet.headers.base.opcode = Opcode::acknowledge;
    packet.headers.base.psn = psn(number);
    packet.headers.ack.syndrome = syndrome;
    requester.take_acknowledge(packet, now);
    requester.transmit(now);
  }
  void respond(std::uint32_t number, const Bytes& payload) {
    take_response(number, payload);
    requester.transmit(now);
  }
  void take_response(std::uint32_t number, const Bytes& payload) {
    Packet packet;
    packet.headers.base.opcode = Opcode::read_response_middle;
    packet.headers.base.psn = psn(number);
    packet.payload = payload;
    requester.take_response(packet, now);
  }
  void wait(Time time) {
    now += time;
    requester.on_deadline(now);
  }
  static std::uint32_t psn(std::uint32_t number) { return psn_after(kFirst, number); }
  static std::string line(const std::string& what, std::uint32_t number) {
    return what + " " + std::to_string(psn(number));
  }
  Lines sent() { return output.take_lines(); }
  Lines take_events() { return std::exchange(events, {}); }

  Time now = 1;
  fabric::Limits limits;
  PacketLog output;
  Requester requester{*this, output, limits};
  std::vector<std::unique_ptr<Bytes>> messages;
  Lines events;
  std::optional<CloseReason> failed;
};

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
  Policy policy;
  policy.most_rnr_repetitions = 0;
  Requester hasty{*this, output, limits, policy};
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

TEST_F(RoceRequesterTest, AReadRestartsWhereItsResponseBroke) {
  post_read(1, 4 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 0)});
  respond(0, Bytes(kMtu, std::byte{1}));
  respond(2, Bytes(kMtu, std::byte{3}));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 1)});
  const RdmaHeader& again = output.packets.back().packet.rdma;
  EXPECT_EQ(again.address, 1000 + kMtu);
  EXPECT_EQ(again.length, 3 * kMtu);
  for (std::uint32_t i = 1; i < 4; ++i) {
    respond(i, Bytes(kMtu, static_cast<std::byte>(i + 1)));
  }
  EXPECT_EQ(events.back(), "done 1");
  EXPECT_EQ(messages[0]->at(0), std::byte{1});
  EXPECT_EQ(messages[0]->at(2 * kMtu), std::byte{3});
  EXPECT_EQ(messages[0]->at(4 * kMtu - 1), std::byte{4});
}

TEST_F(RoceRequesterTest, ARestartedReadIsStillOneAtATime) {
  start(2, 1);
  post_read(1, 4 * kMtu);
  post_read(2, kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 0)}) << "one at a time was settled";
  respond(1, Bytes(kMtu));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 0)});
  for (std::uint32_t i = 0; i < 4; ++i) {
    respond(i, Bytes(kMtu));
  }
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 4)});
}

TEST_F(RoceRequesterTest, AnAcknowledgementBehindAReadShowsThatItsResponseIsLost) {
  post_read(1, kMtu);
  post_send(2);
  requester.transmit(now);
  sent();
  take_events();
  acknowledge(kAck, 1);
  EXPECT_EQ(take_events(), Lines{}) << "a READ is done by its response alone";
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 0), line("SEND Only", 1)}));
}

TEST_F(RoceRequesterTest, ReadsAreAskedForInParts) {
  const std::uint32_t burst = limits.roce.read_burst;
  start(2, 2, 2 * burst);
  post_read(1, std::size_t{5} * burst * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 0), line("RDMA READ Request", burst)}))
      << "two at a time were settled";
  for (std::uint32_t i = 0; i < burst; ++i) {
    respond(i, Bytes(kMtu));
  }
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 2 * burst)});
}

TEST_F(RoceRequesterTest, OurSocketHoldsTheResponses) {
  start(2, 16, 36);
  post_read(1, 100 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 0), line("RDMA READ Request", 16)}));
}

TEST_F(RoceRequesterTest, AReadGoesOnIfOurSocketHoldsNothing) {
  start(2, 16, 0);
  post_read(1, 100 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 0)});
  respond(0, Bytes(kMtu));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 1)});
}

TEST_F(RoceRequesterTest, ALossOfResponsesHalvesTheirWindow) {
  start(2, 16, 64);
  post_read(1, 200 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 0), line("RDMA READ Request", 32)}));
  respond(1, Bytes(kMtu));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 0)});
  for (std::uint32_t i = 0; i < 32; ++i) respond(i, Bytes(kMtu));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 32)});
}

// What a responder of Linux keeps of a READ does not answer a request beyond its end.
TEST_F(RoceRequesterTest, ARepeatedReadEndsWhereItsPartDid) {
  start(2, 16, 8);
  post_read(1, 16 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 0), line("RDMA READ Request", 4)}));
  respond(0, Bytes(kMtu));
  respond(2, Bytes(kMtu));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 1)});
  EXPECT_EQ(output.packets.back().packet.rdma.length, 3 * kMtu);
  for (std::uint32_t i = 1; i < 4; ++i) respond(i, Bytes(kMtu));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 4)});
  EXPECT_EQ(output.packets.back().packet.rdma.length, 4 * kMtu);
}

TEST_F(RoceRequesterTest, AResponseFromBeforeARepetitionIsTaken) {
  start(2, 16, 8);
  post_read(1, 8 * kMtu);
  requester.transmit(now);
  wait(requester.deadline() - now);
  sent();
  for (std::uint32_t i = 0; i < 8; ++i) take_response(i, Bytes(kMtu));
  EXPECT_EQ(events.back(), "done 1");
  post_read(2, 100 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 8)})) << "the window was halved";
}

TEST_F(RoceRequesterTest, AResponseOfTheWrongSizeIsAViolation) {
  post_read(1, 4 * kMtu);
  requester.transmit(now);
  respond(0, Bytes(kMtu + 4));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Errc::protocol_error) << failed->detail;
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
