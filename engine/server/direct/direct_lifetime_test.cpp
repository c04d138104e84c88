// Tickets that are late or foreign, and users whose lease of NFSv4 ends.
#include "client/v4/nfs4_files.h"
#include "fabric/testing/raw_peer.h"
#include "fabric/testing/startup_frames.h"
#include "server/testing/direct_fixture.h"
#include "server/v4/state/limits.h"

namespace steertag::peer::testing {
namespace {

class DirectTicketTest : public DirectTest {
 protected:
  /// Whether the ticket opens a connection from another address of this host.
  bool opens_from_elsewhere(const direct::Ticket& ticket) {
    Bytes data;
    direct::encode(ticket, data);
    return GetParam().name == "iwarp" ? opens_over_iwarp(data) : opens_over_roce(data);
  }

 private:
  bool opens_over_iwarp(const Bytes& private_data) {
    fabric::testing::RawPeer peer = fabric::testing::RawPeer::to(url.port, "127.0.0.2");
    auto frame = fabric::testing::request();
    frame.private_data = private_data;
    const Bytes request = encode(frame);
    EXPECT_EQ(peer.send(request), request.size());
    constexpr auto kReply = fabric::iwarp::StartupKind::reply;
    drive([&] {
      return !peer.read() || fabric::iwarp::octets_lacking(kReply, peer.got) == std::size_t{0};
    });
    const auto reply = fabric::iwarp::decode_startup(kReply, peer.got);
    EXPECT_TRUE(reply) << "no reply to the MPA request";
    return reply && !reply->rejected;
  }
  // Another provider of this host has another address of 127/8.
  bool opens_over_roce(const Bytes& private_data) {
    const auto other = GetParam().make({}, {});
    const OptimisticEnd end(*other, url, private_data);
    drive([&] {
      other->poll(0ms);
      return end.notices.established || end.is_over();
    });
    return end.notices.established;
  }
};

TEST_P(DirectTicketTest, IsGoodForALease) {
  User user = connect_user();
  const direct::Ticket ticket = hello(user).resok4.ticket;
  now += access->limits().lease - 1ms;
  EXPECT_TRUE(open(user, ticket));
}

TEST_P(DirectTicketTest, IsVoidAfterALease) {
  User user = connect_user();
  const direct::Ticket ticket = hello(user).resok4.ticket;
  now += access->limits().lease;
  EXPECT_FALSE(open(user, ticket));
  drive([&] { return access->users() == 0; });
}

TEST_P(DirectTicketTest, IsVoidAfterARestart) {
  const auto file = make_file("file", pattern(2 * kBlock));
  User reader = make_user();
  const References before = refs(reader, file).resok4.refs;
  ASSERT_EQ(before.size(), 2U);
  User late = connect_user();
  const direct::Ticket ticket = hello(late).resok4.ticket;
  reader = {};
  late = {};
  begin({});
  User user = connect_user();
  EXPECT_FALSE(open(user, ticket));
  user = make_user();
  const References after = refs(user, file).resok4.refs;
  ASSERT_EQ(after.size(), 2U);
  for (const direct::Reference& old : before) {
    for (const direct::Reference& each : after) EXPECT_NE(old.generation, each.generation);
    // Its STag may name a frame again: then the generation is another one.
    const auto frame = read_memory(user, old, old.length + kFrameOctets);
    EXPECT_FALSE(frame && open_frame(*frame, old.generation)) << "block at " << old.offset;
    if (!frame) user = make_user();
  }
}

TEST_P(DirectTicketTest, IsForTheHostThatSaidHello) {
  if (GetParam().host.rfind("127.", 0) != 0) GTEST_SKIP() << "the host has no other address";
  User user = connect_user();
  const direct::Ticket ticket = hello(user).resok4.ticket;
  EXPECT_FALSE(opens_from_elsewhere(ticket));
  EXPECT_TRUE(open(user, ticket)) << "the attempt used it up";
}

STEERTAG_OVER_PROVIDERS(DirectTicketTest);

/// The clock of the server is that of the test.
class DirectLeaseTest : public DirectTest {
 protected:
  void SetUp() override {
    DirectLimits limits;
    limits.lease = 10 * kLeaseTime;  // of references: these do not end here
    begin(limits, {}, [this] { return now; });
  }
};

// Optimistic Reads do not renew the lease.
TEST_P(DirectLeaseTest, EndOfTheLeaseVoidsReferences) {
  const nfs3::FileHandle file = make_file("file", pattern(1000));
  User other = make_user();
  User user = connect_user();
  CallSchedule schedule(
      user.rpc->requester(), [this] { return now; }, 10s);
  SessionOptions session;
  session.owner = "test";
  Nfs4Files files(schedule, std::move(session));
  ASSERT_TRUE(files.start());
  ASSERT_TRUE(open(user, hello(user, 0, files.client_id()).resok4.ticket));
  const References mine = refs(user, file).resok4.refs;
  const References others = refs(other, file).resok4.refs;
  ASSERT_EQ(mine.size(), 1U);
  ASSERT_EQ(others.size(), 1U);
  for (int half = 0; half < 2; ++half) {
    EXPECT_TRUE(read_block(user, mine[0])) << half << " halves of a lease have passed";
    now += kLeaseTime / 2;
    server->poll(0ms);
  }
  now += 1s;
  drive([&] { return user.optimistic->is_over(); });
  EXPECT_EQ(access->users(), 1U);
  EXPECT_TRUE(read_block(other, others[0])) << "of a user without a lease";
}

STEERTAG_OVER_PROVIDERS(DirectLeaseTest);

}  // namespace
}  // namespace steertag::peer::testing
