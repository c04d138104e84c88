// Checks the line of text of every kind of event.
#include "trace/describe.h"

#include <gtest/gtest.h>

#include <vector>

namespace steertag::trace {
namespace {

std::string text(Body body, Role actor = Role::client) {
  return describe({7, 0, actor, std::move(body)});
}

TEST(Describe, SendShowsItsFirstWords) {
  const Bytes octets(29, std::byte{0xab});
  EXPECT_EQ(text(Send{View(octets).first(6), std::nullopt}),
            "#7 client send 6 octets [abababab abab]");
  EXPECT_EQ(text(Send{octets, 0x1234u}, Role::server),
            "#7 server send 29 octets [abababab abababab abababab abababab abababab abababab "
            "abababab ...] invalidates STag 0x00001234");
  EXPECT_EQ(text(Send{}), "#7 client send 0 octets");
}

TEST(Describe, ConnectionEventsShowPrivateData) {
  const Bytes octets(2, std::byte{1});
  EXPECT_EQ(text(Connect{octets}), "#7 client connect with private data [0101]");
  EXPECT_EQ(text(Accept{}), "#7 client accept without private data");
  EXPECT_EQ(text(Reject{}), "#7 client reject without private data");
  EXPECT_EQ(text(Disconnect{true}), "#7 client disconnect clean");
  EXPECT_EQ(text(Disconnect{false}), "#7 client disconnect abrupt");
  EXPECT_EQ(text(Terminate{1, 2, 3}), "#7 client terminate layer 1 type 2 code 3");
}

TEST(Describe, RdmaShowsLengthAndPlace) {
  EXPECT_EQ(text(RdmaWrite{0xabcd, 0x7f0000001000, 1, {}}),
            "#7 client rdma_write 1 octet to STag 0x0000abcd offset 0x00007f0000001000");
  EXPECT_EQ(text(RdmaRead{0xabcd, 16, 4096}),
            "#7 client rdma_read 4096 octets from STag 0x0000abcd offset 0x0000000000000010");
  EXPECT_EQ(text(RdmaReadResponse{1, 0, 5}),
            "#7 client rdma_read_response 5 octets to STag 0x00000001 offset 0x0000000000000000");
}

TEST(Describe, MemoryShowsRightsAndGuards) {
  EXPECT_EQ(text(MemoryOffered{1, 0, 8, true, true}),
            "#7 client memory_offered 8 octets at STag 0x00000001 offset 0x0000000000000000 for "
            "remote read for remote write");
  EXPECT_EQ(text(MemoryInvalidated{1, false}),
            "#7 client memory_invalidated STag 0x00000001, guard broken");
  EXPECT_EQ(text(ReceivePosted{2, 1024}), "#7 client receive_posted 2 of 1024 octets");
}

}  // namespace
}  // namespace steertag::trace
