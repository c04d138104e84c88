// What policies of connection management change.
#include "fabric/testing/roce_startup_fixture.h"

namespace steertag::fabric::roce {
namespace {

using testing::Notices;

void expect_ended(const Notices& notices) {
  ASSERT_TRUE(notices.closed);
  EXPECT_EQ(notices.closed->code, Errc::peer_closed);
}

// Messages that do not fit an established connection.
class RoceResponderPolicyTest : public RoceStartupTest {
 protected:
  void take(CmKind kind, const Policy& policy) {
    pair.server_options.roce = policy;
    ASSERT_NO_FATAL_FAILURE(establish());
    end.say(RawEnd::answer(kind, reply));
    EXPECT_EQ(turn(), Kinds{});
  }
};

constexpr CmKind kSetup[] = {CmKind::ready_to_use, CmKind::connect_reply,
                             CmKind::message_receipt_ack};

class RoceMisplacedTest : public RoceResponderPolicyTest,
                          public ::testing::WithParamInterface<CmKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RoceMisplacedTest, ::testing::ValuesIn(kSetup),
                         [](const auto& kind) { return std::string(wire::name(kind.param)); });

TEST_P(RoceMisplacedTest, ChangesNothing) {
  take(GetParam(), {});
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_P(RoceMisplacedTest, EndsTheConnectionByPolicy) {
  Policy policy;
  policy.ignores_misplaced = false;
  take(GetParam(), policy);
  expect_ended(pair.server_notices);
}

TEST_P(RoceMisplacedTest, IsNoMatterOfThePolicyForDisconnectReplies) {
  Policy policy;
  policy.expects_disconnect_reply = false;
  take(GetParam(), policy);
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(RoceResponderPolicyTest, ADisconnectReplyIsNoMatterOfThePolicyForOtherMessages) {
  Policy policy;
  policy.ignores_misplaced = false;
  take(CmKind::disconnect_reply, policy);
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(RoceResponderPolicyTest, AnUnaskedDisconnectReplyEndsTheConnectionByPolicy) {
  Policy policy;
  policy.expects_disconnect_reply = false;
  take(CmKind::disconnect_reply, policy);
  expect_ended(pair.server_notices);
}

TEST_F(RoceResponderPolicyTest, ALostReadyToUseIsNotMadeGoodByPolicy) {
  pair.server_options.roce.repairs_startup = false;
  end.say(end.request(pair.listener->port()));
  ASSERT_EQ(turn(), Kinds{"ConnectReply"});
  reply = end.mads.back();
  end.send(packet(Opcode::send_only, 0), testing::octets("call"));
  now += std::chrono::nanoseconds(Limits{}.cm_response).count();
  EXPECT_EQ(turn(), Kinds{}) << "neither an acknowledgement nor the reply again";
  EXPECT_FALSE(pair.server_notices.established);
}

TEST_F(RoceInitiatorTest, MisplacedMessagesChangeNothing) {
  ASSERT_NO_FATAL_FAILURE(establish());
  for (const CmKind kind : {CmKind::ready_to_use, CmKind::message_receipt_ack}) {
    end.say(message(kind));
    EXPECT_EQ(turn(), Kinds{});
  }
  EXPECT_FALSE(notices.closed);
}

TEST_F(RoceInitiatorTest, MisplacedMessagesEndTheConnectionByPolicy) {
  ConnectionOptions options;
  options.roce.ignores_misplaced = false;
  for (const CmKind kind : {CmKind::ready_to_use, CmKind::message_receipt_ack}) {
    notices = {};
    ASSERT_NO_FATAL_FAILURE(establish(options));
    end.say(message(kind));
    EXPECT_EQ(turn(), Kinds{});
    expect_ended(notices);
  }
}

TEST_F(RoceInitiatorTest, ARepeatedAcceptanceEndsTheConnectionByPolicy) {
  ConnectionOptions options;
  options.roce.takes_repeated_request = false;
  ASSERT_NO_FATAL_FAILURE(establish(options));
  end.say(acceptance);
  EXPECT_EQ(turn(), Kinds{});
  expect_ended(notices);
}

// A listener beside that of the pair.
class RoceListenPolicyTest : public RoceStartupTest {
 protected:
  void listen(const StartupPolicy& policy) {
    auto opened =
        pair.provider->listen(*parse_url(pair.url().substr(0, pair.url().rfind(':')) + ":0"),
                              [this](auto request) { pair.answer(std::move(request)); }, {},
                              {.iwarp = {}, .roce = policy});
    ASSERT_TRUE(opened) << opened.error().message();
    listener = std::move(*opened);
  }
  /// Another request: its id and its queue pair are new.
  Mad request(std::uint16_t port) {
    Mad mad = end.request(port);
    mad.message.local_id += ++requests;
    mad.message.queue_pair += requests;
    return mad;
  }
  Kinds answer_to(const Mad& mad) {
    end.say(mad);
    Kinds kinds = turn();
    pair.drop_server();
    turn();  // its DREQ
    return kinds;
  }

  std::unique_ptr<Listener> listener;
  std::uint32_t requests = 0;
};

TEST_F(RoceListenPolicyTest, AnyServiceIsTakenByPolicy) {
  ASSERT_NO_FATAL_FAILURE(listen({.checks_service = false}));
  Mad foreign = request(0);
  foreign.message.service = 0;
  end.say(foreign);
  EXPECT_EQ(turn(), Kinds{"ConnectReply"});
}

class RoceNamelessRequestTest : public RoceListenPolicyTest {
 protected:
  /// Two requests, the first with zeros in place of the addresses of its ends.
  void ask(const StartupPolicy& policy) {
    ASSERT_NO_FATAL_FAILURE(listen(policy));
    first = answer_to(request(listener->port()));
    Mad named = request(listener->port());
    Bytes data(named.message.private_data.begin(), named.message.private_data.end());
    wire::encode(wire::IpHeader{.source_port = 50000}, data.data());
    named.message.private_data = data;
    second = answer_to(named);
    named.message.local_id += 100;
    named.message.queue_pair += 100;
    third = answer_to(named);
  }

  Kinds first, second, third;
};

class RoceStaleRequestTest : public RoceListenPolicyTest {
 protected:
  /// A second request by the queue pair of the first, and one by another.
  void ask(const StartupPolicy& policy) {
    ASSERT_NO_FATAL_FAILURE(listen(policy));
    Mad first = request(listener->port());
    end.say(first);
    EXPECT_EQ(turn(), Kinds{"ConnectReply"});
    first.message.local_id += 100;
    end.say(first);
    stale = turn();
    pair.drop_server();
    turn();
    later = answer_to(request(listener->port()));
  }

  Kinds stale, later;
};

TEST_F(RoceStaleRequestTest, HarmsNoOther) {
  ASSERT_NO_FATAL_FAILURE(ask({}));
  EXPECT_EQ(stale, Kinds{"ConnectReject"});
  EXPECT_EQ(later, Kinds{"ConnectReply"});
}

TEST_F(RoceStaleRequestTest, HasTheNextOneRejectedByPolicy) {
  ASSERT_NO_FATAL_FAILURE(ask({.forgets_stale = false}));
  EXPECT_EQ(stale, Kinds{"ConnectReject"});
  EXPECT_EQ(later, Kinds{"ConnectReject"});
}

TEST_F(RoceNamelessRequestTest, HarmsNoOther) {
  ASSERT_NO_FATAL_FAILURE(ask({}));
  EXPECT_EQ(first, Kinds{"ConnectReply"});
  EXPECT_EQ(second, Kinds{"ConnectReply"});
}

TEST_F(RoceNamelessRequestTest, HasTheNextOneRejectedByPolicy) {
  ASSERT_NO_FATAL_FAILURE(ask({.forgets_requests = false}));
  EXPECT_EQ(first, Kinds{"ConnectReply"});
  EXPECT_EQ(second, Kinds{"ConnectReject"});
  EXPECT_EQ(third, Kinds{"ConnectReply"});
}

}  // namespace
}  // namespace steertag::fabric::roce
