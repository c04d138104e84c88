// Checks that datagrams are kept whole, with their addresses, within the limit.
#include "trace/datagram_capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "trace/stream_capture.h"
#include "trace/testing.h"

namespace steertag::trace {
namespace {

const Endpoint kClient = endpoint("192.0.2.1", 51000);
const Endpoint kServer = endpoint("192.0.2.2", 4791);

void pass(DatagramCapture& capture, std::int64_t time_ns, Role sender, const Bytes& octets) {
  const bool from_client = sender == Role::client;
  capture.on_datagram(
      time_ns, {sender, from_client ? kClient : kServer, from_client ? kServer : kClient, octets});
}

Bytes payload(const CapturedPacket& packet) {
  const View octets = packet.datagram().payload;
  return {octets.begin(), octets.end()};
}

TEST(DatagramCapture, NothingPassedMeansNoPackets) {
  EXPECT_TRUE(DatagramCapture().packets().empty());
}

TEST(DatagramCapture, EachDatagramIsOnePacketWithItsAddresses) {
  DatagramCapture capture;
  const Bytes first(7, std::byte{'a'});
  const Bytes second(9, std::byte{'b'});
  pass(capture, 1, Role::client, first);
  pass(capture, 2, Role::server, second);
  pass(capture, 3, Role::server, second);
  EXPECT_EQ(capture.kept_bytes(), 25u);
  const std::vector<CapturedPacket> packets = capture.packets();
  ASSERT_EQ(packets.size(), 3u) << "a repeated datagram is a packet of its own";
  EXPECT_EQ(payload(packets[0]), first);
  EXPECT_EQ(packets[0].from.port, 51000u);
  EXPECT_EQ(packets[0].to.port, 4791u);
  EXPECT_EQ(payload(packets[1]), second);
  EXPECT_EQ(packets[1].from.address, kServer.address);
  EXPECT_EQ(packets[1].to.address, kClient.address);
  EXPECT_EQ(packets[2].time_ns, 3);
}

TEST(DatagramCapture, IdentificationIsKept) {
  DatagramCapture capture;
  capture.on_datagram(1, {Role::client, kClient, kServer, {}, 0xbeef});
  EXPECT_EQ(capture.packets().at(0).datagram().identification, 0xbeefu);
}

TEST(DatagramCapture, OctetsOfAStreamAreNone) {
  DatagramCapture capture;
  capture.on_bytes(1, Role::client, Bytes(3));
  capture.on_end(2, Role::client, true);
  EXPECT_TRUE(capture.packets().empty());
}

TEST(DatagramCapture, LimitHoldsAndIsSaid) {
  DatagramCapture capture(1000);
  pass(capture, 1, Role::client, Bytes(600));
  pass(capture, 2, Role::client, Bytes(600));
  pass(capture, 3, Role::server, Bytes(1));
  EXPECT_EQ(capture.kept_bytes(), 600u);
  EXPECT_EQ(capture.dropped_bytes(), 601u) << "nothing is kept after the first gap";
  ASSERT_EQ(capture.packets().back().comments.size(), 1u);
  EXPECT_EQ(capture.packets().back().comments[0],
            "Capture ends here: its limit of 1000 octets was reached, 601 octets were not kept.");
}

TEST(DatagramCapture, LimitHoldsForEmptyDatagrams) {
  DatagramCapture capture(10'000);
  for (int i = 0; i < 10'000; ++i) pass(capture, i, Role::client, {});
  EXPECT_LT(capture.packets().size(), 200u);
}

TEST(DatagramCapture, NotesAndTimesAreThoseOfEveryCapture) {
  DatagramCapture capture;
  pass(capture, 10, Role::client, Bytes(1));
  pass(capture, 5, Role::server, Bytes(1));
  capture.annotate(10, Role::server, "the note");
  const std::vector<CapturedPacket> packets = capture.packets();
  EXPECT_EQ(packets[1].time_ns, 10) << "times never go back";
  EXPECT_EQ(packets[1].comments, std::vector<std::string>{"the note"});
}

TEST(WriteCaptures, DatagramsAndAStreamAreOneFile) {
  DatagramCapture datagrams;
  StreamCapture stream({kClient, kServer});
  pass(datagrams, 1, Role::client, Bytes(4, std::byte{'A'}));
  stream.on_bytes(2, Role::client, Bytes(4, std::byte{'B'}));
  pass(datagrams, 3, Role::client, Bytes(4, std::byte{'C'}));
  std::ostringstream out;
  const std::array<const Capture*, 2> both = {&stream, &datagrams};
  write_captures(out, both, {});
  const std::string file = out.str();
  EXPECT_LT(file.find("AAAA"), file.find("BBBB"));
  EXPECT_LT(file.find("BBBB"), file.find("CCCC"));
  EXPECT_NE(file.find("CCCC"), std::string::npos);
}

}  // namespace
}  // namespace steertag::trace
