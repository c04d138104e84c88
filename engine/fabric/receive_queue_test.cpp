// Every provider: connections that share their receives.
#include "fabric/receive_queue.h"

#include <poll.h>

#include <algorithm>
#include <deque>

#include "fabric/testing/provider_suite.h"

namespace steertag::fabric {
namespace {

using namespace testing;  // NOLINT: the test endpoints

constexpr std::size_t kSize = 64;

class ReceiveQueueTest : public ProviderSuite {
 protected:
  /// A connection between the provider and itself.
  struct Ends {
    Notices client_notices;
    Notices server_notices;
    EventLines events;
    std::unique_ptr<Connection> client;
    std::unique_ptr<Connection> server;
    bool over() const { return client_notices.over() && server_notices.over(); }
  };

  ~ReceiveQueueTest() override { ends.clear(); }

  /// So many connections, and a queue of so many receives.
  void up(std::size_t connections, std::size_t receives) {
    auto made = pair.provider->make_receive_queue(*pair.server_domain);
    if (!made) {
      EXPECT_EQ(made.error().code, Errc::unsupported);
      GTEST_SKIP() << made.error().message();
    }
    queue = std::move(*made);
    pair.server_options.receives = queue.get();
    for (WorkId id = 0; id < receives; ++id) post(id);
    pair.answer = [this](std::unique_ptr<ConnectionRequest> request) {
      Ends& last = ends.back();
      auto accepted = request->accept(*pair.server_domain, pair.server_options, last.server_notices,
                                      &last.events);
      ASSERT_TRUE(accepted) << accepted.error().message();
      last.server = std::move(*accepted);
    };
    for (std::size_t i = 0; i < connections; ++i) ASSERT_NO_FATAL_FAILURE(connect());
  }
  void connect() {
    Ends& made = ends.emplace_back();
    const std::size_t number = ends.size() - 1;
    made.server_notices.when_received = [this, number](Connection&, const Received& received) {
      order.push_back(number);
      if (reposts) post(received.id);
    };
    auto connected = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain,
                                            pair.client_options, made.client_notices);
    ASSERT_TRUE(connected) << connected.error().message();
    made.client = std::move(*connected);
    ASSERT_TRUE(pair.poll_until(
        [&] { return made.client_notices.established && made.server_notices.established; }));
  }
  void post(WorkId id) {
    buffers.resize(std::max<std::size_t>(buffers.size(), id + 1));
    buffers[id].resize(kSize);
    queue->post(buffers[id], id);
  }
  void send_from(std::size_t connection, std::uint8_t first) {
    sent.push_back(pattern(kSize / 2, first));
    ASSERT_TRUE(ok(send(*ends[connection].client, sent.back())));
  }
  ::testing::AssertionResult come(std::size_t messages) {
    if (pair.poll_until([&] { return order.size() >= messages; })) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << order.size() << " of " << messages << " messages came";
  }
  ::testing::AssertionResult wait(std::size_t connections) {
    if (pair.poll_until([&] { return queue->waiting() == connections; })) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure()
           << queue->waiting() << " connections wait, and not " << connections;
  }

  std::deque<Bytes> buffers;
  std::unique_ptr<ReceiveQueue> queue;
  std::deque<Ends> ends;
  std::deque<Bytes> sent;
  std::vector<std::size_t> order;  // connections whose messages came
  bool reposts = false;
};

TEST_P(ReceiveQueueTest, OneReceiveServesSeveralConnections) {
  constexpr std::size_t kConnections = 3, kMessages = 10;
  ASSERT_NO_FATAL_FAILURE(up(kConnections, 1));
  if (IsSkipped()) return;
  reposts = true;
  for (std::uint8_t i = 0; i < kMessages; ++i) {
    for (std::size_t each = 0; each < kConnections; ++each) {
      ASSERT_NO_FATAL_FAILURE(send_from(each, static_cast<std::uint8_t>(kMessages * each + i)));
    }
  }
  ASSERT_TRUE(come(kConnections * kMessages));
  for (std::size_t each = 0; each < kConnections; ++each) {
    const auto& received = ends[each].server_notices.received;
    ASSERT_EQ(received.size(), kMessages);
    for (std::uint8_t i = 0; i < kMessages; ++i) {
      EXPECT_EQ(received[i].bytes,
                pattern(kSize / 2, static_cast<std::uint8_t>(kMessages * each + i)))
          << "message " << int{i} << " of connection " << each;
    }
  }
  EXPECT_EQ(queue->posted(), 1U);
  EXPECT_EQ(queue->waiting(), 0U);
}

TEST_P(ReceiveQueueTest, ReceivesAreUsedInPostingOrder) {
  ASSERT_NO_FATAL_FAILURE(up(2, 3));
  if (IsSkipped()) return;
  for (const std::size_t each : {1U, 0U, 1U}) {
    ASSERT_NO_FATAL_FAILURE(send_from(each, 1));
    ASSERT_TRUE(come(order.size() + 1));
  }
  EXPECT_EQ(ends[1].server_notices.received[0].id, 0U);
  EXPECT_EQ(ends[0].server_notices.received[0].id, 1U);
  EXPECT_EQ(ends[1].server_notices.received[1].id, 2U);
  EXPECT_EQ(queue->posted(), 0U);
}

TEST_P(ReceiveQueueTest, ConnectionsWithoutAReceiveHaveTheirTurns) {
  ASSERT_NO_FATAL_FAILURE(up(3, 0));
  if (IsSkipped()) return;
  for (const std::size_t each : {2U, 0U, 1U}) {
    const std::size_t before = queue->waiting();
    ASSERT_NO_FATAL_FAILURE(send_from(each, 1));
    ASSERT_NO_FATAL_FAILURE(send_from(each, 2));
    ASSERT_TRUE(wait(before + 1));
  }
  EXPECT_TRUE(order.empty()) << "a message came without a receive";
  reposts = true;
  post(0);
  ASSERT_TRUE(come(6));
  EXPECT_EQ(order, (std::vector<std::size_t>{2, 0, 1, 2, 0, 1}))
      << "a connection that has had its turn goes behind those that wait";
}

TEST_P(ReceiveQueueTest, AConnectionThatEndsLeavesItsTurnToTheNext) {
  ASSERT_NO_FATAL_FAILURE(up(3, 0));
  if (IsSkipped()) return;
  for (std::size_t each = 0; each < 3; ++each) {
    ASSERT_NO_FATAL_FAILURE(send_from(each, 1));
    ASSERT_TRUE(wait(each + 1));
  }
  ends[0].client->abort();
  ASSERT_TRUE(wait(2)) << "the peer's end was not seen";
  ends[1].server->abort();
  EXPECT_EQ(queue->waiting(), 1U);
  post(0);
  ASSERT_TRUE(come(1));
  EXPECT_EQ(order, std::vector<std::size_t>{2});
  ASSERT_TRUE(pair.poll_until([&] { return ends[0].over() && ends[1].over(); }));
}

TEST_P(ReceiveQueueTest, AReceiveThatAConnectionHasNotUsedIsForTheNext) {
  ASSERT_NO_FATAL_FAILURE(up(2, 0));
  if (IsSkipped()) return;
  for (std::size_t each = 0; each < 2; ++each) {
    ASSERT_NO_FATAL_FAILURE(send_from(each, 1));
    ASSERT_TRUE(wait(each + 1));
  }
  post(0);  // the first one has it, and its message in the next poll at the earliest
  ASSERT_EQ(queue->waiting(), 1U);
  ends[0].server->abort();
  EXPECT_EQ(queue->waiting(), 0U);
  ASSERT_TRUE(come(1));
  EXPECT_EQ(order, std::vector<std::size_t>{1});
  EXPECT_EQ(ends[1].server_notices.received[0].id, 0U);
}

TEST_P(ReceiveQueueTest, AMessageThatBreaksOffGivesItsReceiveBack) {
  ASSERT_NO_FATAL_FAILURE(up(2, 1));
  if (IsSkipped()) return;
  if (!can().fault_hooks) GTEST_SKIP() << "the provider cannot break a message off";
  Fault fault;
  fault.cut_after = 30;
  const Bytes message = pattern(kSize);
  const View part(message);
  ASSERT_TRUE(ok(ends[0].client->send({&part, 1}, 0, {}, &fault)));
  ASSERT_TRUE(pair.poll_until([&] { return ends[0].server_notices.over(); }));
  EXPECT_EQ(queue->posted(), 1U);
  ASSERT_NO_FATAL_FAILURE(send_from(1, 1));
  ASSERT_TRUE(come(1));
}

TEST_P(ReceiveQueueTest, ReceivesOfAQueueAreNoEventsOfAConnection) {
  ASSERT_NO_FATAL_FAILURE(up(1, 2));
  if (IsSkipped()) return;
  reposts = true;
  ASSERT_NO_FATAL_FAILURE(send_from(0, 1));
  ASSERT_TRUE(come(1));
  for (const std::string& line : ends[0].events.lines) {
    EXPECT_EQ(line.find("ReceivePosted"), std::string::npos) << line;
  }
}

TEST_P(ReceiveQueueTest, WhoWaitsCostsNoTime) {
  ASSERT_NO_FATAL_FAILURE(up(2, 0));
  if (IsSkipped()) return;
  for (std::size_t each = 0; each < 2; ++each) {
    ASSERT_NO_FATAL_FAILURE(send_from(each, 1));
    ASSERT_TRUE(wait(each + 1));
  }
  const auto quiet = [&] {
    pollfd work{pair.provider->descriptor(), POLLIN, 0};
    return ::poll(&work, 1, 0) == 0 &&
           pair.provider->idle_for(std::chrono::milliseconds(1000)).count() > 0;
  };
  EXPECT_TRUE(pair.poll_until(quiet)) << "the provider has work although nothing can happen";
}

STEERTAG_OVER_PROVIDERS(ReceiveQueueTest);

}  // namespace
}  // namespace steertag::fabric
