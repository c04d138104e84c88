// DREQs and DREPs that end a connection, and those that do not fit it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/infiniband/queue_pairs.h"
#include "capture/infiniband/testing.h"

namespace steertag::capture::infiniband {
namespace {

using namespace infiniband::testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Side kClient = Side::a;
constexpr Side kServer = Side::b;
constexpr Side kSides[] = {kClient, kServer};

std::string clean_end(Side sender) {
  return sender == kClient ? "client disconnect clean" : "server disconnect clean";
}

struct Disconnection {
  Disconnection() {
    talk.connect();
    exchange(1);
  }
  void exchange(std::uint32_t xid) {
    talk.send(kClient, call(xid));
    talk.acknowledge(kServer);
    talk.send(kServer, reply(xid));
    talk.acknowledge(kClient);
  }
  void request(Side from, std::uint32_t queue_pair) {
    ib::CmMessage message = Conversation::of_kind(ib::CmKind::disconnect_request);
    message.queue_pair = queue_pair;
    talk.cm(from, message);
  }
  void request(Side from) { request(from, talk.party(other(from)).queue_pair); }
  void answer(Side from) { talk.cm(from, Conversation::of_kind(ib::CmKind::disconnect_reply)); }
  void expect_one_connection(const std::string& last) const {
    const auto all = read_all(talk.packets);
    ASSERT_EQ(all.connections.size(), 1u);
    EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1), reply(1), call(2), reply(2)));
    EXPECT_THAT(all.connections[0].lines, Not(Contains(HasSubstr("loss"))));
    EXPECT_THAT(all.connections[0].lines[all.connections[0].lines.size() - 2], HasSubstr(last));
  }

  Conversation talk;
};

TEST(QueuePairDisconnect, ARequestForAnotherQueuePairEndsNothing) {
  for (const Side from : kSides) {
    for (const std::uint32_t pair : {0u, 0x23u, 0xffffffu}) {
      Disconnection test;
      test.request(from, pair);
      test.exchange(2);
      test.request(from);
      test.answer(other(from));
      test.expect_one_connection(clean_end(from));
    }
  }
}

TEST(QueuePairDisconnect, ARequestForTheSendersOwnQueuePairEndsNothing) {
  for (const Side from : kSides) {
    Disconnection test;
    test.request(from, test.talk.party(from).queue_pair);
    test.exchange(2);
    test.request(other(from));
    test.expect_one_connection(clean_end(other(from)));
  }
}

TEST(QueuePairDisconnect, ARequestOfOtherCommunicationIdsEndsNothing) {
  for (const std::uint32_t id : {0u, 0x77u}) {
    Disconnection test;
    const std::uint32_t own = std::exchange(test.talk.server_id, id);
    test.request(kClient);
    test.talk.server_id = own;
    test.exchange(2);
    test.request(kServer);
    test.expect_one_connection(clean_end(kServer));
  }
}

TEST(QueuePairDisconnect, AnUnaskedReplyEndsNothing) {
  for (const Side from : kSides) {
    Disconnection test;
    test.answer(from);
    test.exchange(2);
    test.request(from);
    test.answer(other(from));
    test.expect_one_connection(clean_end(from));
  }
}

TEST(QueuePairDisconnect, ARejectionOfAUsedConnectionEndsNothing) {
  for (const Side from : kSides) {
    Disconnection test;
    test.talk.cm(from, Conversation::of_kind(ib::CmKind::connect_reject));
    test.exchange(2);
    test.request(from);
    test.answer(other(from));
    test.expect_one_connection(clean_end(from));
  }
}

TEST(QueuePairDisconnect, TheSidesOwnRequestAsksForNoReplyOfIt) {
  Disconnection test;
  test.request(kClient, 0);
  test.answer(kClient);
  test.exchange(2);
  test.request(kServer);
  test.expect_one_connection(clean_end(kServer));
}

TEST(QueuePairDisconnect, AReplyToARequestForAnotherQueuePairEndsTheConnection) {
  Disconnection test;
  test.exchange(2);
  test.request(kServer, 0);
  test.answer(kClient);
  const std::string frame = std::to_string(test.talk.packets.size()) + " ";
  test.expect_one_connection(frame + clean_end(kServer));
}

TEST(QueuePairDisconnect, WithoutTheReplyOfTheSetupAnUnaskedReplyEndsTheConnection) {
  Disconnection test;
  test.answer(kServer);
  test.talk.packets.erase(test.talk.packets.begin() + 1);
  EXPECT_THAT(lines_of(test.talk.packets), Contains(HasSubstr(clean_end(kClient))));
}

TEST(QueuePairDisconnect, WithoutTheSetupARequestForAnotherQueuePairEndsNothing) {
  Disconnection test;
  test.request(kClient, 0x23);
  test.request(kServer);
  test.talk.packets.erase(test.talk.packets.begin(), test.talk.packets.begin() + 3);
  EXPECT_THAT(lines_of(test.talk.packets), Contains(HasSubstr(clean_end(kServer))));
}

}  // namespace
}  // namespace steertag::capture::infiniband
