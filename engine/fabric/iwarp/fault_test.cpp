// The fault hooks: each alters the wire as stated, and our receiver answers as the RFCs require.
#include <gtest/gtest.h>

#include "fabric/iwarp/formats.h"
#include "fabric/testing/endpoint.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

class FaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(pair.connect());
    ASSERT_TRUE(pair.server);
    pair.post_receives(4, 64);
  }
  Pair pair{iwarp_factory()};
};

// The effect of a fault on one Send, and the receiver's description.
struct Bend {
  const char* name;
  void (*set)(Fault&);
  trace::Terminate cause;
};

class BentSend : public FaultTest, public ::testing::WithParamInterface<Bend> {};

TEST_P(BentSend, IsAnsweredWithItsTerminate) {
  Fault fault;
  GetParam().set(fault);
  const Bytes message = pattern(20);
  const View part(message);
  ASSERT_TRUE(pair.client->send({&part, 1}, 1, {}, &fault));
  ASSERT_TRUE(pair.poll_until_closed());
  const CloseReason& reason = *pair.client_notices.closed;
  EXPECT_EQ(reason.code, Errc::peer_terminated) << Error{reason.code, reason.detail}.message();
  EXPECT_EQ(reason.detail, describe(GetParam().cause));
  EXPECT_TRUE(reason.terminate_from_peer);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error);
  EXPECT_TRUE(pair.server_notices.received.empty());
  for (const std::string& line : pair.client_events.lines) {
    EXPECT_NE(line, "client Send 20") << "a bent message is no Send";
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BentSend,
    ::testing::Values(
        Bend{"BadCrc", [](Fault& fault) { fault.bad_crc = true; }, cause::kMpaCrc},
        Bend{"Msn", [](Fault& fault) { fault.msn = 9; }, cause::kInvalidMsn},
        Bend{"Mo", [](Fault& fault) { fault.mo = 4; }, cause::kInvalidMo},
        Bend{"Qn", [](Fault& fault) { fault.qn = 7; }, cause::kInvalidQn},
        Bend{"Opcode", [](Fault& fault) { fault.opcode = 15; }, cause::kUnexpectedOpcode},
        Bend{"DdpVersion", [](Fault& fault) { fault.ddp_version = 3; }, cause::kUntaggedVersion},
        Bend{"RdmapVersion", [](Fault& fault) { fault.rdmap_version = 2; }, cause::kRdmapVersion},
        Bend{"UlpduLength", [](Fault& fault) { fault.ulpdu_length = 2; }, cause::kMpaLength}),
    [](const auto& each) { return each.param.name; });

TEST_F(FaultTest, FaultOfAWrite) {
  auto region = pair.server_domain->allocate(100, {false, true});
  Fault fault;
  fault.bad_crc = true;
  const Bytes data = pattern(100);
  ASSERT_TRUE(pair.client->rdma_write(data, region->stag(), region->base(), 1, &fault));
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.client_notices.closed->detail, describe(cause::kMpaCrc));
}

TEST_F(FaultTest, TerminateOnRequest) {
  ASSERT_TRUE(pair.client->terminate({0, 2, 8}));
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.client_notices.closed->code, Errc::local_close);
  ASSERT_TRUE(pair.server_notices.closed->terminate);
  EXPECT_EQ(pair.server_notices.closed->terminate->code, 8);
  EXPECT_EQ(pair.server_events.lines.back(), "client Disconnect clean");
}

TEST_F(FaultTest, RawOctetsFollowWhatIsQueued) {
  ASSERT_TRUE(pair.client->send({}, 1));
  ASSERT_TRUE(pair.client->send_raw(hex("0002 0000")));
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.server_notices.received.size(), 1U);
  EXPECT_EQ(pair.server_notices.closed->detail.substr(0, 6), "FPDU 2");
}

TEST_F(FaultTest, NothingFollowsATerminate) {
  const Bytes message = pattern(8);
  const View part(message);
  ASSERT_TRUE(pair.client->send({}, 1));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  ASSERT_TRUE(pair.server->send({&part, 1}, 1));
  ASSERT_TRUE(pair.server->terminate({0, 2, 8}));
  EXPECT_EQ(pair.server->send({&part, 1}, 1).error().code, Errc::not_connected);
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_TRUE(pair.client_notices.received.empty()) << "what was queued is dropped";
}

TEST(Cut, EveryPlaceOfASend) {
  const Bytes message = pattern(21);
  const View part(message);
  constexpr std::size_t kWhole = 2 + 18 + 21 + 3 + 4;
  for (std::size_t cut = 0; cut <= kWhole; ++cut) {
    Pair pair(iwarp_factory());
    ASSERT_NO_FATAL_FAILURE(pair.connect());
    pair.post_receives(1, 64);
    Fault fault;
    fault.cut_after = cut;
    ASSERT_TRUE(pair.client->send({&part, 1}, 1, {}, &fault));
    ASSERT_TRUE(pair.client->send({&part, 1}, 2));
    ASSERT_TRUE(pair.poll_until_closed()) << "cut at " << cut;
    EXPECT_EQ(pair.client_notices.closed->code, Errc::local_close);
    const bool whole = cut == kWhole;
    EXPECT_EQ(pair.server_notices.received.size(), whole ? 1U : 0U) << "cut at " << cut;
    EXPECT_EQ(pair.server_notices.closed->code,
              whole || cut == 0 ? Errc::peer_closed : Errc::peer_reset)
        << "cut at " << cut;
  }
}

TEST(Cut, InTheMiddleOfALargeWrite) {
  Pair pair(iwarp_factory());
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  auto region = pair.server_domain->allocate(1 << 20, {false, true});
  const Bytes data(1 << 20, std::byte{0x77});
  Fault fault;
  fault.cut_after = 300000;
  ASSERT_TRUE(pair.client->rdma_write(data, region->stag(), region->base(), 1, &fault));
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_reset);
  EXPECT_EQ(region->bytes()[400000], std::byte{0});
  EXPECT_TRUE(region->guards_intact());
}

}  // namespace
}  // namespace steertag::fabric::iwarp
