// Connections whose beginning is not, or only partly, in the capture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "capture/infiniband/pair_table.h"
#include "capture/infiniband/queue_pairs.h"
#include "capture/infiniband/testing.h"
#include "capture/infiniband/unmatched_flows.h"

namespace steertag::capture::infiniband {
namespace {

using namespace infiniband::testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr Side kClient = Side::a;
constexpr Side kServer = Side::b;
const std::string kJoined = " loss: the capture begins in the middle of the connection";
const std::string kMissing = " loss: packets are missing in the capture";

/// A call, the read of its data, and its reply.
void exchange(Conversation& talk, std::uint32_t xid) {
  talk.send(kClient, call(xid));
  talk.acknowledge(kServer);
  const std::uint32_t psn = talk.read(kServer, 0xabc, 0x1000, 700);
  talk.read_response(kClient, psn, 700);
  talk.send(kServer, reply(xid, 300));
  talk.acknowledge(kClient);
}

/// Interleaves the packets of several conversations.
std::vector<Carried> interleaved(std::initializer_list<const Conversation*> talks) {
  std::vector<Carried> packets;
  for (std::size_t i = 0; i < 100; ++i) {
    for (const Conversation* talk : talks) {
      if (i < talk->packets.size()) packets.push_back(talk->packets[i]);
    }
  }
  return packets;
}

TEST(QueuePairJoin, RepliesAreMatchedWithoutSetup) {
  Conversation talk;
  exchange(talk, 1);
  exchange(talk, 2);
  for (const Medium medium : {Medium::rocev2, Medium::rocev1, Medium::infiniband}) {
    const auto all = read_all(talk.packets, medium);
    ASSERT_EQ(all.connections.size(), 1u);
    const auto& one = all.connections[0];
    EXPECT_THAT(one.sends, ElementsAre(call(1), reply(1, 300), call(2), reply(2, 300)));
    ASSERT_GE(one.lines.size(), 4u);
    EXPECT_EQ(one.lines[0], "1 client" + kJoined);
    EXPECT_EQ(one.lines[1], "1 server" + kJoined);
    EXPECT_THAT(one.lines[2], HasSubstr("1 client send 52 octets"));
    EXPECT_THAT(one.lines[3], HasSubstr("3 server rdma_read 700 octets"));
    EXPECT_THAT(one.lines, Not(Contains(HasSubstr("missing"))));
    EXPECT_THAT(one.name.ends.client, ::testing::EndsWith("qp 0x000011"));
    EXPECT_THAT(one.name.ends.server, ::testing::EndsWith("qp 0x000022"));
  }
}

TEST(QueuePairJoin, ASetupThatWasCutIsNoBeginningInTheMiddle) {
  Conversation talk;
  talk.connect();
  const std::size_t setup = talk.packets.size();
  exchange(talk, 1);
  exchange(talk, 2);
  // Cut within the datagram's header, within the fields of the request, or with only the reply
  // left.
  for (const std::size_t captured : {8 + ib::kBaseBytes + 2, std::size_t{60}, std::size_t{110}}) {
    capture::testing::AllLines all;
    QueuePairs reader(all);
    for (std::size_t i = 0; i < talk.packets.size(); ++i) {
      hand_over(reader, Medium::rocev2, talk.packets[i], i + 1, i < setup ? captured : SIZE_MAX);
    }
    reader.finish();
    ASSERT_EQ(all.connections.size(), 1u) << captured << " octets";
    const auto& lines = all.connections[0].lines;
    EXPECT_THAT(lines, Contains(HasSubstr("loss: packets are cut"))) << captured << " octets";
    EXPECT_THAT(lines, Not(Contains(HasSubstr("begins in the middle")))) << captured << " octets";
  }
}

TEST(QueuePairJoin, CutSetupsOfOtherHostsSayNothing) {
  Conversation other;
  other.client.host = 3;
  other.connect();
  Conversation talk;
  exchange(talk, 1);
  exchange(talk, 2);
  capture::testing::AllLines all;
  QueuePairs reader(all);
  std::uint64_t frame = 0;
  for (const Carried& each : other.packets) hand_over(reader, Medium::rocev2, each, ++frame, 60);
  for (const Carried& each : talk.packets) hand_over(reader, Medium::rocev2, each, ++frame);
  reader.finish();
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].lines, Contains(HasSubstr("begins in the middle")));
}

TEST(QueuePairJoin, ConnectionsBetweenTheSameHostsAreToldApart) {
  Conversation one;
  Conversation two;
  two.client = {1, 0x12, 5000};
  two.server = {2, 0x23, 99000};
  exchange(one, 1);
  exchange(one, 2);
  exchange(two, 101);
  exchange(two, 102);
  const auto all = read_all(interleaved({&one, &two}));
  ASSERT_EQ(all.connections.size(), 2u);
  EXPECT_THAT(all.connections[0].sends,
              ElementsAre(call(1), reply(1, 300), call(2), reply(2, 300)));
  EXPECT_THAT(all.connections[1].sends,
              ElementsAre(call(101), reply(101, 300), call(102), reply(102, 300)));
}

TEST(QueuePairJoin, ConnectionsWithTheSameNumbersAreToldApartByXids) {
  Conversation one;
  one.client.psn = one.server.psn = 0;
  Conversation two = one;
  two.client.queue_pair = 0x12;
  two.server.queue_pair = 0x23;
  exchange(one, 1);
  exchange(two, 101);
  const auto all = read_all(interleaved({&one, &two}));
  ASSERT_EQ(all.connections.size(), 2u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1), reply(1, 300)));
  EXPECT_THAT(all.connections[1].sends, ElementsAre(call(101), reply(101, 300)));
}

TEST(QueuePairJoin, WhatCannotBeToldApartIsLost) {
  // The same PSNs and the same XIDs, at the same time.
  Conversation one;
  one.client.psn = one.server.psn = 0;
  Conversation two = one;
  two.client.queue_pair = 0x12;
  two.server.queue_pair = 0x23;
  exchange(one, 1);
  exchange(two, 1);
  const auto all = read_all(interleaved({&one, &two}));
  for (const auto& connection : all.connections) {
    EXPECT_THAT(connection.lines, Contains("0 end"));
    EXPECT_THAT(connection.lines, Contains(HasSubstr(kMissing)));
    EXPECT_EQ(connection.sends.size(), 1u) << "each direction is reported by itself";
  }
}

TEST(QueuePairJoin, OneDirectionAloneIsMessagesWithLossesBetweenThem) {
  Conversation talk;
  exchange(talk, 1);
  exchange(talk, 2);
  talk.send(kClient, call(3, 300));
  talk.send(kClient, call(4, 300));
  std::erase_if(talk.packets, [](const Carried& each) { return each.source != 1; });
  talk.packets.pop_back();
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1), call(2), call(3, 300)));
  bool lost = true;
  for (const std::string& line : all.connections[0].lines) {
    const bool send = line.find(" send ") != line.npos;
    EXPECT_TRUE(lost || !send) << "between two messages nothing is known: " << line;
    lost = !send;
  }
  EXPECT_EQ(all.connections[0].name.ends.client, "192.0.2.1 qp unknown");
  EXPECT_EQ(all.connections[0].name.ends.server, "192.0.2.2 qp 0x000022");
  EXPECT_THAT(all.connections[0].lines,
              IsSupersetOf({"1 client" + kMissing, "1 server" + kMissing}));
}

TEST(QueuePairJoin, OtherTrafficIsNoConnection) {
  Conversation talk;
  for (int i = 0; i < 10; ++i) {
    talk.send(kClient, Bytes(64, std::byte{0x55}));
    talk.acknowledge(kServer);
    talk.send(kServer, Bytes(64, std::byte{0x66}));
    talk.acknowledge(kClient);
  }
  EXPECT_THAT(read_all(talk.packets).connections, IsEmpty());
}

TEST(QueuePairJoin, CallsThatAreSentAgainOnAnotherConnectionDoNotJoinIt) {
  Conversation before;
  Conversation after;
  after.client = {1, 0x33, 500000};
  after.server = {2, 0x44, 900000};
  // The capture has only the server's packets of the first connection, and only the client's of the
  // second. The client retransmits calls that got no reply on the first.
  for (std::uint32_t xid = 1; xid < 4; ++xid) before.send(kServer, reply(xid));
  for (std::uint32_t xid = 1; xid < 4; ++xid) after.send(kClient, call(xid));
  const auto all = read_all(interleaved({&before, &after}));
  EXPECT_EQ(all.connections.size(), 2u);
  for (const auto& one : all.connections) {
    EXPECT_THAT(one.name.ends.client + one.name.ends.server, HasSubstr("qp unknown"));
  }
}

TEST(QueuePairJoin, CutMessagesShowWhatIsSpoken) {
  Conversation talk;
  talk.connect();
  exchange(talk, 1);
  exchange(talk, 2);
  capture::testing::AllLines all;
  QueuePairs reader(all);
  std::uint64_t frame = 0;
  for (const Carried& each : talk.packets) {
    hand_over(reader, Medium::rocev2, each, ++frame, 8 + 12 + 30);
  }
  reader.finish();
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, IsEmpty());
  EXPECT_EQ(all.connections[0].name.ends.client, "192.0.2.1 qp 0x000011");
  EXPECT_THAT(all.connections[0].lines,
              Contains(HasSubstr("loss: packets are cut in the capture")));
}

TEST(QueuePairJoin, ACallbackShowsTheServerWhereMessagesAreCut) {
  constexpr std::uint32_t kFirstTransient = 0x40000000;  // RFC 5531 8.2: a callback program
  Conversation talk;
  for (std::uint32_t xid = 7; xid < 9; ++xid) {
    talk.send(kServer, reply(xid, 150));
    talk.acknowledge(kClient);
  }
  Bytes callback = call(1);
  rdma::store32(callback.data() + 40, kFirstTransient);
  talk.send(kServer, callback);
  std::rotate(talk.packets.begin(), talk.packets.end() - 1, talk.packets.end());
  capture::testing::AllLines all;
  QueuePairs reader(all);
  std::uint64_t frame = 0;
  for (const Carried& each : talk.packets) {
    hand_over(reader, Medium::rocev2, each, ++frame, 8 + 12 + callback.size() + 4);
  }
  reader.finish();
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_EQ(all.connections[0].name.ends.client, "192.0.2.1 qp 0x000011");
}

TEST(QueuePairJoin, AtEveryPacket) {
  Conversation talk;
  talk.connect(call(1), reply(1));
  for (std::uint32_t i = 1; i < 4; ++i) exchange(talk, i);
  talk.disconnect(kClient);
  const auto whole = read_all(talk.packets);
  std::multiset<Bytes> sends(whole.connections[0].sends.begin(), whole.connections[0].sends.end());
  const std::size_t last_exchange = talk.packets.size() - 2 - 8;
  for (std::size_t start = 1; start < talk.packets.size(); ++start) {
    std::vector<Carried> packets = talk.packets;
    packets.erase(packets.begin(), packets.begin() + static_cast<std::ptrdiff_t>(start));
    const auto all = read_all(packets);
    if (start > last_exchange) continue;  // possibly no evidence is left
    ASSERT_EQ(all.connections.size(), 1u) << "from packet " << start + 1;
    const auto& one = all.connections[0];
    EXPECT_EQ(one.lines[0].substr(one.lines[0].find(" loss")), kJoined) << start + 1;
    for (const Bytes& each : one.sends) EXPECT_TRUE(sends.contains(each));
    EXPECT_THAT(one.sends, Contains(reply(3, 300))) << "from packet " << start + 1;
    EXPECT_THAT(one.lines, Not(Contains(HasSubstr("missing"))));
    EXPECT_THAT(one.lines, Contains(HasSubstr("client disconnect clean")));
  }
}

TEST(QueuePairJoin, TheReplyOfTheSetupIsNotThere) {
  Conversation talk;
  talk.connect(call(1), reply(1));
  exchange(talk, 1);
  exchange(talk, 2);
  talk.packets.erase(talk.packets.begin() + 1);
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  const auto& one = all.connections[0];
  EXPECT_THAT(one.lines[0], HasSubstr("1 client connect"));
  EXPECT_EQ(one.lines[1], "3 server" + kMissing);
  EXPECT_THAT(one.sends, ElementsAre(call(1), reply(1, 300), call(2), reply(2, 300)));
  EXPECT_EQ(one.name.ends.server, "192.0.2.2 qp 0x000022");
}

TEST(QueuePairJoin, TheRequestOfTheSetupIsNotThere) {
  Conversation talk;
  talk.connect(call(1), reply(1));
  exchange(talk, 1);
  exchange(talk, 2);
  talk.packets.erase(talk.packets.begin());
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_EQ(all.connections[0].lines[0], "3 client" + kJoined);
  EXPECT_THAT(all.connections[0].sends,
              ElementsAre(call(1), reply(1, 300), call(2), reply(2, 300)));
  EXPECT_EQ(all.connections[0].name.ends.client, "192.0.2.1 qp 0x000011");
}

TEST(QueuePairJoin, ARequestWithoutAnAnswerIsTold) {
  Conversation talk;
  talk.connect_request();
  EXPECT_THAT(lines_of(talk.packets), ElementsAre(HasSubstr("1 client connect"), "0 end"));
}

TEST(QueuePairJoin, APathMtuThatNothingAnnouncedIsFound) {
  for (const std::uint32_t mtu : {256u, 512u, 1024u, 2048u, 4096u}) {
    Conversation talk;
    talk.mtu = mtu;
    talk.send(kClient, call(1));
    talk.acknowledge(kServer);
    const std::uint32_t one = talk.read(kServer, 1, 0, 5000);
    const std::uint32_t two = talk.read(kServer, 1, 0x10000, 9000);
    talk.read_response(kClient, one, 5000);
    talk.read_response(kClient, two, 9000);
    talk.send(kServer, reply(1));
    talk.acknowledge(kClient);
    talk.send(kClient, call(2));
    const auto all = read_all(talk.packets);
    ASSERT_EQ(all.connections.size(), 1u) << mtu;
    EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1), reply(1), call(2))) << mtu;
    EXPECT_THAT(all.connections[0].lines, Not(Contains(HasSubstr("missing")))) << mtu;
  }
}

TEST(QueuePairJoin, AResponseThatIsMissingIsTheRespondersWithoutMtuToo) {
  Conversation talk;
  talk.mtu = 1024;
  for (std::uint32_t i = 1; i < 3; ++i) {
    talk.send(kClient, call(i));
    talk.acknowledge(kServer);
    talk.send(kServer, reply(i));
    talk.acknowledge(kClient);
  }
  const std::uint32_t psn = talk.read(kServer, 1, 0, 2000);  // 9
  talk.read_response(kClient, psn, 2000);
  talk.packets.erase(talk.packets.begin() + 9);
  talk.send(kServer, reply(3));
  const auto lines = lines_of(talk.packets);
  EXPECT_THAT(lines, Contains("10 client" + kMissing)) << "of two responses one is there";
  EXPECT_THAT(lines, Contains("10 client rdma_read_response 976 octets to STag 0x00000000 offset "
                              "0x0000000000000400"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("server" + kMissing))));
}

TEST(QueuePairJoin, WhatComesTwiceProvesNothingNew) {
  Conversation talk;
  talk.send(kClient, call(1));
  talk.acknowledge(kServer);
  talk.packets.push_back(talk.packets.back());
  EXPECT_THAT(lines_of(talk.packets), Contains("1 server" + kMissing)) << "no partner is proven";
  talk.send(kClient, call(2));
  talk.acknowledge(kServer);
  EXPECT_THAT(lines_of(talk.packets), Not(Contains(HasSubstr(kMissing)))) << "now one is";
}

TEST(QueuePairJoin, QueuePairsUsedAgainWithoutSetupAreAnotherConnection) {
  Conversation talk;
  talk.connect(call(1), reply(1));
  exchange(talk, 1);
  talk.disconnect(kClient);
  talk.client.psn = 0x300000;
  talk.server.psn = 0x400000;
  for (std::uint32_t i = 0; i < 20; ++i) exchange(talk, 100 + i);
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 2u);
  EXPECT_THAT(all.connections[1].lines[0], HasSubstr(kJoined));
  EXPECT_THAT(all.connections[1].sends, Contains(reply(119, 300)));
}

TEST(QueuePairLimits, ConnectionsUsedLeastLatelyAreForgotten) {
  capture::testing::AllLines all;
  QueuePairs reader(all);
  std::uint64_t frame = 0;
  for (std::uint32_t i = 0; i < kMostConnections + 10; ++i) {
    Conversation talk;
    talk.client.queue_pair = 100 + i;
    talk.server.queue_pair = 100000 + i;
    talk.client_id = talk.server_id = i + 1;
    talk.connect();
    talk.send(kClient, call(1));
    for (const Carried& each : talk.packets) hand_over(reader, Medium::rocev2, each, ++frame);
  }
  EXPECT_EQ(reader.forgotten(), 10u);
  EXPECT_TRUE(all.connections[9].ended);
  EXPECT_FALSE(all.connections[10].ended);
  EXPECT_THAT(all.connections[0].lines, Contains(HasSubstr("loss: more would have to be kept")));
}

TEST(QueuePairLimits, FlowsWithoutPartnerAreForgotten) {
  capture::testing::AllLines all;
  QueuePairs reader(all);
  std::uint64_t frame = 0;
  for (std::uint32_t i = 0; i < 2 * kMostUnmatchedFlows; ++i) {
    Conversation talk;
    talk.client = {static_cast<std::uint8_t>(i % 251), i, 0};
    talk.server = {static_cast<std::uint8_t>(i % 241 + 1), i + 1, 0};
    talk.send(kClient, call(i));
    hand_over(reader, Medium::rocev2, talk.packets[0], ++frame);
  }
  EXPECT_GE(reader.forgotten(), kMostUnmatchedFlows);
}

TEST(QueuePairLimits, WhatAFlowWithoutPartnerKeepsIsLimited) {
  UnmatchedFlows unmatched;
  Bytes octets = call(1, 8000);
  TransportPacket packet;
  packet.payload = octets;
  packet.payload_length = octets.size();
  for (std::uint32_t psn = 0; psn < 2 * kMostUnmatchedPackets; ++psn) {
    packet.base.psn = psn;
    EXPECT_FALSE(unmatched.read(packet));
    EXPECT_LE(unmatched.bytes(), kMostUnmatchedBytes);
  }
  EXPECT_EQ(unmatched.take(packet.flow()).back().packet.base.psn, 2 * kMostUnmatchedPackets - 1);
  EXPECT_EQ(unmatched.bytes(), 0u);
  EXPECT_TRUE(unmatched.empty());
}

TEST(QueuePairLimits, WhatConnectionsHoldBackIsLimited) {
  capture::testing::AllLines all;
  QueuePairs reader(all);
  std::uint64_t frame = 0;
  for (std::uint32_t i = 0; i < 40; ++i) {
    Conversation talk;
    talk.mtu = 4096;
    talk.client.queue_pair = 100 + i;
    talk.server.queue_pair = 1000 + i;
    talk.client_id = talk.server_id = i + 1;
    talk.connect();
    talk.send(kClient, Bytes(kMostSendBytes));
    talk.packets.pop_back();
    for (const Carried& each : talk.packets) hand_over(reader, Medium::rocev2, each, ++frame);
  }
  EXPECT_GT(reader.forgotten(), 10u);
  EXPECT_LT(reader.forgotten(), 40u);
}

}  // namespace
}  // namespace steertag::capture::infiniband
