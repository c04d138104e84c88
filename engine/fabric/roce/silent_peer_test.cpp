// A peer that never answers, or only repeats itself: what it costs, and when it ends.
#include "fabric/testing/roce_startup_fixture.h"

namespace steertag::fabric::roce {
namespace {

using testing::octets;

class RoceSilentPeerTest : public RoceStartupTest {
 protected:
  static constexpr std::chrono::milliseconds kStep{100};

  /// Lets time pass, and calls `each` in every step of it. Returns all that the peer received.
  Kinds pass(
      std::chrono::milliseconds time, const std::function<void()>& each = [] {}) {
    Kinds all;
    for (std::chrono::milliseconds gone{0}; gone < time; gone += kStep) {
      now += std::chrono::nanoseconds(kStep).count();
      each();
      const Kinds kinds = turn();
      all.insert(all.end(), kinds.begin(), kinds.end());
    }
    return all;
  }
};

TEST_F(RoceSilentPeerTest, ARequestWithoutAnEndDrawsFewDatagrams) {
  constexpr std::size_t kMost = 14;
  end.say(end.request(pair.listener->port()));
  ASSERT_EQ(turn(), Kinds{"ConnectReply"});
  const Kinds all = pass(std::chrono::seconds(30));
  EXPECT_LE(all.size(), kMost) << "datagrams of 284 octets, to whom the request names";
  EXPECT_TRUE(pair.server_notices.closed || !pair.server_notices.established);
}

TEST_F(RoceSilentPeerTest, RepeatedPacketsDoNotKeepHalfAMessageOpen) {
  ASSERT_NO_FATAL_FAILURE(establish());
  Bytes buffer(4096);
  pair.server->post_receive(buffer, 1);
  const Bytes payload(1024, std::byte{1});
  const auto repeat = [&] { end.send(packet(Opcode::send_first, 0), payload); };
  repeat();
  pass(fabric::Limits{}.mid_message + 2 * kStep, repeat);
  ASSERT_TRUE(pair.server_notices.closed);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
}

TEST_F(RoceSilentPeerTest, PacketsOfAMessageKeepItOpen) {
  ASSERT_NO_FATAL_FAILURE(establish());
  Bytes buffer(1 << 20);
  pair.server->post_receive(buffer, 1);
  const Bytes payload(1024, std::byte{1});
  std::uint32_t number = 0;
  const auto go_on = [&] {
    end.send(packet(number == 0 ? Opcode::send_first : Opcode::send_middle, number), payload);
    ++number;
  };
  pass(2 * fabric::Limits{}.mid_message, go_on);
  EXPECT_FALSE(pair.server_notices.closed);
}

}  // namespace
}  // namespace steertag::fabric::roce
