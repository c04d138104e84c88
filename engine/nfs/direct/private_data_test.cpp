// Tests of the private data of an optimistic connection: octets, padding, and what is none.
#include "nfs/direct/private_data.h"

#include <gtest/gtest.h>

#include "rpc/testing.h"
#include "wire/private_data.h"

namespace steertag::direct {
namespace {

using rpc::testing::from_hex;
using rpc::testing::joined;
using rpc::testing::to_hex;

constexpr const char* kWorked = "6f646166 01 00 0000 000102030405060708090a0b0c0d0e0f";

Ticket ticket() {
  Ticket ticket;
  for (std::size_t i = 0; i < ticket.size(); ++i) ticket[i] = static_cast<std::byte>(i);
  return ticket;
}

TEST(OptimisticPrivateData, WorkedOctets) {
  Bytes octets;
  encode(ticket(), octets);
  EXPECT_EQ(to_hex(octets), joined(kWorked));
  EXPECT_EQ(find_ticket(octets), ticket());
  octets.resize(56);  // as a connection manager pads it
  EXPECT_EQ(find_ticket(octets), ticket());
  EXPECT_FALSE(wire::find_private_data(octets)) << "taken for RPC-over-RDMA";
}

TEST(OptimisticPrivateData, AnswerIsTheHeader) {
  Bytes octets;
  encode_answer(octets);
  EXPECT_EQ(to_hex(octets), joined("6f646166 01000000"));
  EXPECT_TRUE(is_optimistic(octets));
}

TEST(OptimisticPrivateData, RecoverableRefusalsHaveAFlag) {
  Bytes octets;
  encode_answer(octets, true);
  EXPECT_EQ(to_hex(octets), joined("6f646166 01 01 0000"));
  EXPECT_TRUE(is_recoverable(octets));
  octets.clear();
  encode(ticket(), octets, true);
  EXPECT_TRUE(is_recoverable(octets));
  EXPECT_EQ(find_ticket(octets), ticket());
  octets[5] = std::byte{0xfe};
  EXPECT_FALSE(is_recoverable(octets)) << "other flags";
  octets[5] = std::byte{1};
  octets[4] = std::byte{2};
  EXPECT_FALSE(is_recoverable(octets)) << "another version";
  EXPECT_FALSE(is_recoverable(View(octets).first(5))) << "cut";
}

TEST(OptimisticPrivateData, WhatHasNoTicket) {
  const Bytes whole = from_hex(kWorked);
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(find_ticket(View(whole).first(length))) << length;
  Bytes later = whole;
  later[4] = std::byte{2};
  EXPECT_FALSE(find_ticket(later)) << "another version";
  EXPECT_TRUE(is_optimistic(later)) << "not to be taken for RPC-over-RDMA";
  Bytes other = whole;
  other[0] = std::byte{0xf6};
  EXPECT_FALSE(is_optimistic(other));
  Bytes announced;
  wire::encode(wire::PrivateData{}, announced);
  EXPECT_FALSE(is_optimistic(announced));
}

}  // namespace
}  // namespace steertag::direct
