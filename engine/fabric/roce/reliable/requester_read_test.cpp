// The requester of RDMA Reads: parts, restarts, and the shape of responses.
#include "fabric/testing/requester_fixture.h"

namespace steertag::fabric::roce {
namespace {

using Lines = std::vector<std::string>;

using RoceRequesterReadTest = testing::RequesterFixture;

TEST_F(RoceRequesterReadTest, AReadRestartsWhereItsResponseBroke) {
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

TEST_F(RoceRequesterReadTest, ARestartedReadIsStillOneAtATime) {
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

TEST_F(RoceRequesterReadTest, AnAcknowledgementBehindAReadShowsThatItsResponseIsLost) {
  post_read(1, kMtu);
  post_send(2);
  requester.transmit(now);
  sent();
  take_events();
  acknowledge(kAck, 1);
  EXPECT_EQ(take_events(), Lines{}) << "a READ is done by its response alone";
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 0), line("SEND Only", 1)}));
}

TEST_F(RoceRequesterReadTest, ReadsAreAskedForInParts) {
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

TEST_F(RoceRequesterReadTest, OurSocketHoldsTheResponses) {
  start(2, 16, 36);
  post_read(1, 100 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), (Lines{line("RDMA READ Request", 0), line("RDMA READ Request", 16)}));
}

TEST_F(RoceRequesterReadTest, AReadGoesOnIfOurSocketHoldsNothing) {
  start(2, 16, 0);
  post_read(1, 100 * kMtu);
  requester.transmit(now);
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 0)});
  respond(0, Bytes(kMtu));
  EXPECT_EQ(sent(), Lines{line("RDMA READ Request", 1)});
}

TEST_F(RoceRequesterReadTest, ALossOfResponsesHalvesTheirWindow) {
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
TEST_F(RoceRequesterReadTest, ARepeatedReadEndsWhereItsPartDid) {
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

TEST_F(RoceRequesterReadTest, AResponseFromBeforeARepetitionIsTaken) {
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

TEST_F(RoceRequesterReadTest, AResponseOfTheWrongSizeIsAViolation) {
  post_read(1, 4 * kMtu);
  requester.transmit(now);
  respond(0, Bytes(kMtu + 4));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Errc::protocol_error) << failed->detail;
}

TEST_F(RoceRequesterReadTest, APolicyPlacesWhatFitsOfAResponseOfAnySize) {
  policy.checks_response_lengths = false;
  post_read(1, 2 * kMtu);
  requester.transmit(now);
  respond(0, Bytes(kMtu - 4, std::byte{1}));
  take_events();
  respond(1, Bytes(kMtu + 8, std::byte{2}));
  ASSERT_FALSE(failed) << failed->detail;
  EXPECT_EQ(take_events(), (Lines{"response 256 at 256", "done 1"}));
  EXPECT_EQ(messages[0]->at(kMtu - 5), std::byte{1});
  EXPECT_EQ(messages[0]->at(kMtu - 4), std::byte{0});
  EXPECT_EQ(messages[0]->at(2 * kMtu - 1), std::byte{2});
}

TEST_F(RoceRequesterReadTest, APolicyTakesAResponseWithAnyPsnForTheNext) {
  policy.checks_response_psn = false;
  post_read(1, 3 * kMtu);
  requester.transmit(now);
  sent();
  respond(0, Bytes(kMtu));
  take_response(Opcode::read_response_middle, 1000, Bytes(kMtu, std::byte{1}));
  EXPECT_EQ(messages[0]->at(kMtu), std::byte{1});
  take_response(Opcode::read_response_last, 0, Bytes(kMtu));
  EXPECT_EQ(events.back(), "done 1");
  take_response(Opcode::read_response_only, 0, Bytes(kMtu));
  EXPECT_FALSE(failed) << "nothing is in flight";
  EXPECT_EQ(sent(), Lines{});
}

// A packet of a response to an RDMA Read, in the place of a right one.
struct Response {
  const char* name;
  std::uint32_t packets;  // of the RDMA Read
  std::uint32_t number;
  Opcode opcode;
  bool restarted = false;  // the Read was requested again from this packet on
  std::uint8_t syndrome = 0x1f;
};
std::string name_of(const ::testing::TestParamInfo<Response>& info) {
  return info.param.name;
}

class RoceResponseTest : public testing::RequesterFixture,
                         public ::testing::WithParamInterface<Response> {
 protected:
  void take() {
    const Response& response = GetParam();
    post_read(1, std::size_t{response.packets} * kMtu);
    requester.transmit(now);
    for (std::uint32_t i = 0; i < response.number; ++i) {
      respond(i, Bytes(kMtu));
    }
    if (response.restarted) {
      wait(requester.deadline() - now);
    }
    ASSERT_FALSE(failed) << failed->detail;
    take_response(response.opcode, response.number, Bytes(kMtu, std::byte{1}), response.syndrome);
  }
  std::byte placed() const { return messages[0]->at(std::size_t{GetParam().number} * kMtu); }
};
using RoceWrongResponseTest = RoceResponseTest;
using RoceRightResponseTest = RoceResponseTest;

constexpr Opcode kResponseFirst = Opcode::read_response_first;
constexpr Opcode kResponseMiddle = Opcode::read_response_middle;
constexpr Opcode kResponseLast = Opcode::read_response_last;
constexpr Opcode kResponseOnly = Opcode::read_response_only;

TEST_P(RoceWrongResponseTest, IsAViolationAndNothingIsPlaced) {
  take();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->code, Errc::protocol_error) << failed->detail;
  EXPECT_EQ(placed(), std::byte{0});
}

INSTANTIATE_TEST_SUITE_P(
    , RoceWrongResponseTest,
    ::testing::Values(Response{"FirstForOnly", 1, 0, kResponseFirst},
                      Response{"MiddleForOnly", 1, 0, kResponseMiddle},
                      Response{"LastForOnly", 1, 0, kResponseLast},
                      Response{"MiddleForFirst", 3, 0, kResponseMiddle},
                      Response{"LastForFirst", 3, 0, kResponseLast},
                      Response{"OnlyForFirst", 3, 0, kResponseOnly},
                      Response{"FirstForMiddle", 3, 1, kResponseFirst},
                      Response{"LastForMiddle", 3, 1, kResponseLast},
                      Response{"OnlyForMiddle", 3, 1, kResponseOnly},
                      Response{"FirstForLast", 3, 2, kResponseFirst},
                      Response{"MiddleForLast", 3, 2, kResponseMiddle},
                      Response{"OnlyForLast", 3, 2, kResponseOnly},
                      Response{"MiddleForFirstOfAPart", 66, 64, kResponseMiddle},
                      Response{"LastForLastOfAPartOfOne", 65, 64, kResponseLast},
                      Response{"LastInsideARestart", 3, 1, kResponseLast, true},
                      Response{"OnlyInsideARestart", 3, 1, kResponseOnly, true},
                      Response{"FirstAtTheEndOfARestart", 3, 2, kResponseFirst, true},
                      Response{"MiddleAtTheEndOfARestart", 3, 2, kResponseMiddle, true},
                      Response{"RnrNak", 1, 0, kResponseOnly, false, 0x20},
                      Response{"SequenceNak", 1, 0, kResponseOnly, false, 0x60},
                      Response{"AccessNakInFirst", 3, 0, kResponseFirst, false, 0x62},
                      Response{"AccessNakInLast", 3, 2, kResponseLast, false, 0x62},
                      Response{"ReservedSyndrome", 1, 0, kResponseOnly, false, 0x40}),
    name_of);

TEST_P(RoceRightResponseTest, IsPlaced) {
  take();
  EXPECT_FALSE(failed) << failed->detail;
  EXPECT_EQ(placed(), std::byte{1});
}

// After a restart a device begins a new response, and Linux continues the old one.
INSTANTIATE_TEST_SUITE_P(
    , RoceRightResponseTest,
    ::testing::Values(Response{"Only", 1, 0, kResponseOnly},
                      Response{"OnlyWithCredits", 1, 0, kResponseOnly, false, 0},
                      Response{"First", 3, 0, kResponseFirst},
                      Response{"Middle", 3, 1, kResponseMiddle},
                      Response{"MiddleHasNoSyndrome", 3, 1, kResponseMiddle, false, 0x62},
                      Response{"Last", 3, 2, kResponseLast},
                      Response{"LastOfAPart", 66, 63, kResponseLast},
                      Response{"FirstOfAPart", 66, 64, kResponseFirst},
                      Response{"RestartedAtItsBegin", 3, 0, kResponseFirst, true},
                      Response{"RestartedAnew", 3, 1, kResponseFirst, true},
                      Response{"RestartedAndContinued", 3, 1, kResponseMiddle, true},
                      Response{"RestartedAnewAtItsEnd", 3, 2, kResponseOnly, true},
                      Response{"RestartedAndContinuedAtItsEnd", 3, 2, kResponseLast, true}),
    name_of);

TEST_F(RoceRequesterReadTest, AWrongOpcodeIsNamed) {
  post_read(1, 2 * kMtu);
  requester.transmit(now);
  respond(0, Bytes(kMtu));
  take_response(kResponseMiddle, 1, Bytes(kMtu));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->detail,
            "READ response with PSN 0xffffff is RDMA READ Response Middle where the response "
            "continues and ends");
}

TEST_F(RoceRequesterReadTest, AWrongSyndromeIsNamed) {
  post_read(1, kMtu);
  requester.transmit(now);
  take_response(kResponseOnly, 0, Bytes(kMtu), 0x62);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->detail,
            "READ response with PSN 0xfffffe has the syndrome 0x62, which is no ACK");
}

TEST_F(RoceRequesterReadTest, ANewResponseBeginsOnlyWhereItWasRequested) {
  post_read(1, 4 * kMtu);
  requester.transmit(now);
  respond(0, Bytes(kMtu));
  wait(requester.deadline() - now);
  respond(1, Bytes(kMtu));
  take_response(kResponseFirst, 2, Bytes(kMtu));
  EXPECT_TRUE(failed);
}

}  // namespace
}  // namespace steertag::fabric::roce
