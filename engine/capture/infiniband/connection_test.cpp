// Packets that are reordered, retransmitted, refused or missing.
#include "capture/infiniband/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

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
constexpr std::uint8_t kRnrNak = 0x2e;
constexpr std::uint8_t kSequenceNak = 0x60;

/// Lines after the setup, shortened to frame, actor, kind, and length or loss.
std::vector<std::string> short_lines(const std::vector<Carried>& packets) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(packets)) {
    if (line.find(" connect ") != line.npos || line.find(" accept ") != line.npos) continue;
    const bool loss = line.find(" loss: ") != line.npos;
    lines.push_back(loss ? line : line.substr(0, line.find(" octets")));
  }
  return lines;
}

class QueuePairOrder : public ::testing::Test {
 protected:
  QueuePairOrder() { talk.connect(); }
  /// Gives one packet the frame number of another.
  void move(std::size_t from, std::size_t to) {
    const Carried packet = talk.packets[from - 1];
    talk.packets.erase(talk.packets.begin() + static_cast<std::ptrdiff_t>(from) - 1);
    talk.packets.insert(talk.packets.begin() + static_cast<std::ptrdiff_t>(to) - 1, packet);
  }
  void drop(std::size_t frame) {
    talk.packets.erase(talk.packets.begin() + static_cast<std::ptrdiff_t>(frame) - 1);
  }
  void again(std::size_t frame) { talk.packets.push_back(talk.packets[frame - 1]); }

  Conversation talk;
};

TEST_F(QueuePairOrder, DuplicatesAreIgnored) {
  talk.send(kClient, call(1));  // 4
  again(4);
  talk.acknowledge(kServer);
  again(4);
  talk.send(kClient, call(2));  // 8
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 client send 52", "8 client send 52", "0 end"));
}

TEST_F(QueuePairOrder, AMisplacedPacketIsWaitedFor) {
  talk.send(kClient, call(1, 500));  // 4, 5, 6
  talk.send(kClient, call(2));       // 7
  move(5, 7);
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("5 client send 552", "6 client send 52", "0 end"));
}

TEST_F(QueuePairOrder, AReplyBehindAnAcknowledgementWaitsForItsCall) {
  talk.send(kClient, call(1));   // 4
  talk.acknowledge(kServer);     // 5
  talk.send(kServer, reply(1));  // 6
  move(4, 6);
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("6 client send 52", "5 server send 52", "0 end"));
}

TEST_F(QueuePairOrder, WhatWasRefusedForLackOfAReceiveIsToldOnce) {
  talk.send(kClient, call(1));                              // 4
  talk.send(kClient, call(2));                              // 5
  talk.acknowledge(kServer, talk.client.psn - 2, kRnrNak);  // 6
  again(4);
  again(5);
  talk.acknowledge(kServer);
  talk.send(kServer, reply(1));  // 10
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 client send 52", "5 client send 52", "10 server send 52", "0 end"));
}

TEST_F(QueuePairOrder, TheAcceptedTransmissionCounts) {
  talk.send(kClient, call(1));  // 4
  talk.send(kClient, call(2));  // 5, lost in the network
  talk.send(kClient, call(3));  // 6
  const Carried lost = talk.packets[4];
  drop(5);                                                       // so 3 is frame 5
  talk.acknowledge(kServer, talk.client.psn - 2, kSequenceNak);  // 6
  talk.packets.push_back(lost);                                  // 7
  again(5);                                                      // 8
  talk.acknowledge(kServer);
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 client send 52", "7 client send 52", "8 client send 52", "0 end"));
}

TEST_F(QueuePairOrder, ARefusedPacketThatWasAcceptedLaterIsTold) {
  talk.send(kClient, call(1));  // 4
  talk.send(kClient, call(2));  // 5, lost in the network
  talk.send(kClient, call(3));  // 6
  const Carried lost = talk.packets[4];
  drop(5);                                                       // so 3 is frame 5
  talk.acknowledge(kServer, talk.client.psn - 2, kSequenceNak);  // 6
  talk.packets.push_back(lost);                                  // 7; 3 again is not in the capture
  talk.acknowledge(kServer);                                     // 8
  for (std::uint32_t i = 4; i < 14; ++i) talk.send(kClient, call(i));
  const auto lines = short_lines(talk.packets);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[1], "7 client send 52");
  EXPECT_EQ(lines[2], "5 client send 52");
  EXPECT_THAT(lines, Not(Contains(HasSubstr("loss"))));
}

TEST_F(QueuePairOrder, WhatWasAcknowledgedAndIsNotThereIsMissing) {
  talk.send(kClient, call(1));  // 4
  talk.send(kClient, call(2));  // 5
  talk.send(kClient, call(3));  // 6
  drop(5);
  talk.acknowledge(kServer);  // 6
  for (std::uint32_t i = 0; i < kMostReordering; ++i) talk.send(kServer, reply(1));
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].lines,
              Contains("5 client loss: packets are missing in the capture"));
  EXPECT_EQ(all.connections[0].sends.size(), 2 + kMostReordering);
}

TEST_F(QueuePairOrder, WhatIsMissingIsToldLongBeforeTheEnd) {
  talk.send(kClient, call(1));  // 4
  drop(4);
  talk.send(kClient, call(2));
  talk.acknowledge(kServer);
  for (std::uint32_t i = 0; i < kMostReordering; ++i) talk.acknowledge(kServer);
  capture::testing::AllLines all;
  QueuePairs reader(all);
  for (std::size_t i = 0; i < talk.packets.size(); ++i) {
    hand_over(reader, Medium::rocev2, talk.packets[i], i + 1);
  }
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].lines,
              Contains("4 client loss: packets are missing in the capture"));
  EXPECT_THAT(all.connections[0].sends, ElementsAre(call(2)));
}

TEST_F(QueuePairOrder, AMissingMessageIsMissingWhole) {
  talk.send(kClient, call(1, 500));  // 4, 5, 6
  talk.send(kClient, call(2));       // 7
  drop(4);
  talk.acknowledge(kServer);
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 client loss: packets are missing in the capture", "6 client send 52",
                          "0 end"));
}

TEST_F(QueuePairOrder, AGapWithoutProofIsKeptOpenWithinLimits) {
  talk.send(kClient, call(1));  // 4
  drop(4);
  for (std::uint32_t i = 2; i < kMostReorderedPackets + 20; ++i) talk.send(kClient, call(i));
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].lines,
              Contains("4 client loss: more would have to be kept than the limits allow"));
  EXPECT_EQ(all.connections[0].sends.size(), kMostReorderedPackets + 18);
}

TEST_F(QueuePairOrder, ResponsesAreWaitedForAndMissed) {
  const std::uint32_t psn = talk.read(kServer, 1, 0, 1024);  // 4
  talk.read_response(kClient, psn, 1024);                    // 5, 6, 7, 8
  talk.send(kServer, reply(1));                              // 9
  move(6, 8);
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 server rdma_read 1024", "5 client rdma_read_response 256",
                          "8 client rdma_read_response 256", "6 client rdma_read_response 256",
                          "7 client rdma_read_response 256", "9 server send 52", "0 end"));
  drop(8);
  const auto lines = lines_of(talk.packets);
  EXPECT_THAT(lines, Contains("6 client loss: packets are missing in the capture"));
  EXPECT_THAT(lines, Contains("7 client rdma_read_response 256 octets to STag 0x00000000 offset "
                              "0x0000000000000300"));
}

TEST_F(QueuePairOrder, AReadThatIsAskedForAgainIsAnsweredOnce) {
  const std::uint32_t psn = talk.read(kServer, 1, 0, 512);  // 4
  talk.read_response(kClient, psn, 512);                    // 5, 6
  const Carried lost = talk.packets[4];
  drop(5);
  talk.server.psn = psn;
  talk.read(kServer, 1, 0, 512);          // 6
  talk.read_response(kClient, psn, 512);  // 7, 8
  talk.send(kServer, reply(1));           // 9
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 server rdma_read 512", "7 client rdma_read_response 256",
                          "5 client rdma_read_response 256", "9 server send 52", "0 end"));
}

TEST_F(QueuePairOrder, AReadThatIsAskedForAgainMayTakeItsTime) {
  const std::uint32_t psn = talk.read(kServer, 1, 0, 512);
  talk.read_response(kClient, psn, 512);
  drop(5);
  talk.server.psn = psn;
  talk.read(kServer, 1, 0, 512);
  for (std::uint32_t i = 0; i < 2 * kMostResponseReordering; ++i) talk.send(kClient, call(i));
  talk.read_response(kClient, psn, 512);
  EXPECT_THAT(short_lines(talk.packets), Not(Contains(HasSubstr("loss"))));
}

TEST_F(QueuePairOrder, AnAcknowledgementBehindAReadWaitsForItsResponses) {
  const std::uint32_t psn = talk.read(kServer, 1, 0, 512);  // 4
  talk.send(kServer, reply(1));                             // 5
  talk.read_response(kClient, psn, 512);                    // 6, 7
  talk.acknowledge(kClient);                                // 8
  talk.send(kClient, call(2));                              // 9
  move(7, 9);
  EXPECT_THAT(
      short_lines(talk.packets),
      ElementsAre("4 server rdma_read 512", "5 server send 52", "6 client rdma_read_response 256",
                  "9 client rdma_read_response 256", "8 client send 52", "0 end"));
}

TEST_F(QueuePairOrder, AnUnknownReadsResponsesAreOneLoss) {
  const std::uint32_t psn = talk.read(kServer, 1, 0, 256 * 40);  // 4
  drop(4);
  talk.read_response(kClient, psn, 256 * 40);
  talk.send(kServer, reply(1));  // 44
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 server loss: packets are missing in the capture", "44 server send 52",
                          "0 end"));
}

TEST_F(QueuePairOrder, AMessageThatGoesOnWithoutBeginningIsDamaged) {
  talk.request(kClient, ib::Opcode::send_last, {}, call(1));      // 4
  talk.request(kClient, ib::Opcode::send_first, {}, Bytes(256));  // 5
  talk.send(kClient, call(2));                                    // 6
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 client loss: octets that are no frame of the protocol",
                          "6 client loss: octets that are no frame of the protocol",
                          "6 client send 52", "0 end"));
}

TEST_F(QueuePairOrder, AcknowledgmentsAndTurnsAreTold) {
  talk.send(kClient, call(1));   // 4
  talk.acknowledge(kServer);     // 5
  talk.send(kServer, reply(1));  // 6
  talk.acknowledge(kClient);     // 7
  talk.send(kClient, call(2));   // 8
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].turns,
              ElementsAre("4 client turn", "5 server received up to 4", "6 server turn",
                          "7 client received up to 6", "8 client turn"));
}

TEST_F(QueuePairOrder, WhatWaitedHasALateTurn) {
  talk.send(kClient, call(1));   // 4
  talk.acknowledge(kServer);     // 5
  talk.send(kServer, reply(1));  // 6
  move(4, 6);
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].turns, ElementsAre("6 client late turn", "5 server late turn"));
}

TEST_F(QueuePairOrder, TheFirstTurnOfASideThatWasJoinedProvesNothing) {
  talk.packets.clear();
  for (std::uint32_t xid = 1; xid < 3; ++xid) {
    talk.send(kClient, call(xid));
    talk.acknowledge(kServer);
    talk.send(kServer, reply(xid));
    talk.acknowledge(kClient);
  }
  talk.send(kClient, call(3));
  talk.send(kServer, reply(3));
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  std::vector<std::string> turns;
  for (const std::string& each : all.connections[0].turns) {
    if (each.ends_with("turn")) turns.push_back(each);
  }
  EXPECT_THAT(turns, ElementsAre("3 server late turn", "5 client turn", "7 server turn",
                                 "9 client turn", "10 server turn"))
      << "whether frame 1 has a turn is unknown: the connection is not reported yet";
}

TEST_F(QueuePairOrder, WhatIsOlderThanAPacketBeforeItHasALateTurn) {
  talk.send(kServer, reply(1));
  talk.acknowledge(kClient);
  talk.send(kClient, call(1));
  capture::testing::AllLines all;
  QueuePairs reader(all);
  const std::uint64_t frames_and_times[] = {1, 2, 3, 6, 7, 5};
  for (std::size_t i = 0; i < talk.packets.size(); ++i) {
    hand_over(reader, Medium::rocev2, talk.packets[i], frames_and_times[i]);
  }
  reader.finish();
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].turns,
              ElementsAre("6 server turn", "7 client received up to 6", "5 client late turn"));
}

TEST_F(QueuePairOrder, ATooLongSendIsNotKept) {
  talk.mtu = 4096;
  talk.send(kClient, Bytes(kMostSendBytes + 1));
  talk.send(kClient, call(1));
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1)));
  EXPECT_THAT(all.connections[0].lines, Contains(HasSubstr("more would have to be kept")));
}

TEST_F(QueuePairOrder, TheMtuOfPacketsGoesBeforeTheAnnouncedOne) {
  talk.mtu = 1024;  // 256 was announced
  const std::uint32_t psn = talk.read(kServer, 1, 0, 3000);
  talk.read_response(kClient, psn, 3000);
  talk.send(kServer, reply(1));
  EXPECT_THAT(short_lines(talk.packets), Not(Contains(HasSubstr("loss"))));
}

TEST_F(QueuePairOrder, AnAcknowledgementOfWhatCannotHaveBeenSentIsIgnored) {
  talk.send(kClient, call(1));  // 4
  talk.acknowledge(kServer, talk.client.psn + 0x200000);
  talk.send(kServer, reply(1));  // 6
  talk.send(kClient, call(2));   // 7
  EXPECT_THAT(short_lines(talk.packets),
              ElementsAre("4 client send 52", "6 server send 52", "7 client send 52", "0 end"));
}

// What one side tells in one order: its requests, and its responses.
using Sequences = std::map<std::string, std::vector<std::string>>;

Sequences sequences(const std::vector<std::string>& lines) {
  Sequences all;
  for (const std::string& line : lines) {
    const std::string text = line.substr(line.find(' ') + 1);
    if (text == "end") continue;
    const bool response = text.find("rdma_read_response") != text.npos;
    const bool loss = text.find("loss:") != text.npos;
    const std::string actor = text.substr(0, text.find(' '));
    all[loss ? "loss" : actor + (response ? " responses" : " requests")].push_back(text);
  }
  return all;
}

bool is_part(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  std::size_t at = 0;
  for (const std::string& line : part) {
    while (at < whole.size() && whole[at] != line) ++at;
    if (at++ >= whole.size()) return false;
  }
  return true;
}

/// No new event and no other order. If events are missing, a loss says so.
void expect_part(const Sequences& whole, std::vector<std::string> lines, const std::string& what) {
  Sequences part = sequences(lines);
  bool less = false;
  for (const auto& [name, texts] : whole) {
    EXPECT_TRUE(is_part(part[name], texts)) << what << ", " << name << ":\n"
                                            << ::testing::PrintToString(lines);
    less |= part[name].size() < texts.size();
  }
  EXPECT_TRUE(!less || !part["loss"].empty()) << what << ": a silent loss:\n"
                                              << ::testing::PrintToString(lines);
}

/// A conversation with every operation of NFS/RDMA. It has the data packets from `first` up to, but
/// not including, `last`, counted from 0.
struct Everything {
  explicit Everything(std::uint32_t rounds = 4) {
    talk.connect(call(1), reply(1));
    first = talk.packets.size();
    for (std::uint32_t i = 1; i <= rounds; ++i) {
      talk.send(kClient, call(i, 300 * i));
      talk.acknowledge(kServer);
      const std::uint32_t psn = talk.read(kServer, i, 0x1000 * i, 700);
      talk.read_response(kClient, psn, 700);
      talk.write(kServer, 0x100 + i, 0x77000 + 0x1000 * i, Bytes(300 * i));
      talk.send(kServer, reply(i, 100 * i), 0x100 + i);
      talk.acknowledge(kClient);
      talk.send(kClient, call(0x100 + i));
      talk.send(kServer, reply(0x100 + i));
      talk.acknowledge(kServer);
      talk.acknowledge(kClient);
    }
    last = talk.packets.size();
    talk.disconnect(kClient);
    whole = sequences(lines_of(talk.packets));
  }
  Conversation talk;
  std::size_t first = 0;
  std::size_t last = 0;
  Sequences whole;
};

TEST(QueuePairDisorder, EachPacketDropped) {
  const Everything all;
  ASSERT_TRUE(all.whole.find("loss") == all.whole.end());
  for (std::size_t i = all.first; i < all.last; ++i) {
    std::vector<Carried> packets = all.talk.packets;
    packets.erase(packets.begin() + static_cast<std::ptrdiff_t>(i));
    expect_part(all.whole, lines_of(packets), "without packet " + std::to_string(i + 1));
  }
}

TEST(QueuePairDisorder, EachPacketTwice) {
  const Everything all;
  for (std::size_t i = 0; i < all.talk.packets.size(); ++i) {
    for (std::size_t distance = 1; distance <= 3; ++distance) {
      std::vector<Carried> packets = all.talk.packets;
      const std::size_t to = std::min(i + distance, packets.size());
      packets.insert(packets.begin() + static_cast<std::ptrdiff_t>(to), packets[i]);
      EXPECT_EQ(sequences(lines_of(packets)), all.whole)
          << "packet " << i + 1 << " again " << distance << " later";
    }
  }
}

TEST(QueuePairDisorder, EachPacketMisplaced) {
  const Everything all;
  for (std::size_t i = all.first; i < all.last; ++i) {
    for (std::size_t distance = 1; distance <= 3 && i + distance < all.last; ++distance) {
      std::vector<Carried> packets = all.talk.packets;
      std::swap(packets[i], packets[i + distance]);
      EXPECT_EQ(sequences(lines_of(packets)), all.whole)
          << "packets " << i + 1 << " and " << i + distance + 1 << " swapped";
      packets = all.talk.packets;
      const auto at = packets.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(at, at + 1, at + static_cast<std::ptrdiff_t>(distance) + 1);
      EXPECT_EQ(sequences(lines_of(packets)), all.whole)
          << "packet " << i + 1 << " " << distance << " later";
    }
  }
}

TEST(QueuePairDisorder, SetupMisplaced) {
  const Everything all;
  for (std::size_t i = 0; i < all.first; ++i) {
    for (std::size_t distance = 1; distance <= 3; ++distance) {
      std::vector<Carried> packets = all.talk.packets;
      std::swap(packets[i], packets[i + distance]);
      EXPECT_EQ(sequences(lines_of(packets)), all.whole)
          << "packets " << i + 1 << " and " << i + distance + 1 << " swapped";
    }
  }
}

TEST(QueuePairDisorder, EachPacketCutAnywhere) {
  const Everything all(1);
  for (std::size_t i = 0; i < all.talk.packets.size(); ++i) {
    const std::size_t length = all.talk.packets[i].octets.size() + 8;
    for (std::size_t cut = 0; cut < length; cut += cut < 48 ? 1 : 41) {
      capture::testing::AllLines sinks;
      QueuePairs reader(sinks);
      for (std::size_t j = 0; j < all.talk.packets.size(); ++j) {
        hand_over(reader, Medium::rocev2, all.talk.packets[j], j + 1, i == j ? cut : SIZE_MAX);
      }
      reader.finish();
      const std::string what = "packet " + std::to_string(i + 1) + " cut to " + std::to_string(cut);
      const bool setup = i < all.first;
      if (setup && sinks.connections.size() != 1) continue;
      ASSERT_EQ(sinks.connections.size(), 1u) << what;
      if (i < all.last) expect_part(all.whole, sinks.connections[0].lines, what);
    }
  }
}

}  // namespace
}  // namespace steertag::capture::infiniband
