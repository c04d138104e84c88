// Control messages: what is written is read, and nothing else is.
#include "server/v4/pnfs/control/messages.h"

#include <gtest/gtest.h>

#include "server/v4/pnfs/control/grants.h"
#include "wire/xdr.h"

namespace steertag::peer::control {
namespace {

std::vector<Message> one_of_each() {
  Ask ask{7, {}, "client", {}, Deed::write, true, 4096, 8191};
  ask.file.fill(std::byte{3});
  ask.stateid.other.fill(std::byte{9});
  Revoke revoke{4, {}};
  revoke.file.fill(std::byte{5});
  return {Hello{kVersion, 2, {{"rdma", "192.0.2.1.78.81"}, {"tcp", "192.0.2.1.8.1"}}},
          ask,
          Acknowledgement{4},
          Ping{11},
          Welcome{{{1, 2}}, {3, 65536, true, true, 7}, 90'000, 77},
          Refusal{"there are 3 data servers"},
          Answer{7, nfs4::Status::NFS4_OK, 0, 9999},
          revoke,
          Pong{11},
          NewVerifier{5}};
}

Bytes body_of(const Message& message) {
  Bytes octets;
  append(message, octets);
  EXPECT_EQ(wire::load_u32(octets.data()), octets.size() - kLengthOctets);
  octets.erase(octets.begin(), octets.begin() + kLengthOctets);
  return octets;
}

TEST(ControlMessages, WhatIsWrittenIsRead) {
  for (const Message& message : one_of_each()) {
    const Bytes octets = body_of(message);
    const auto found = read(octets);
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(found->index(), message.index());
    EXPECT_EQ(body_of(*found), octets);
  }
}

TEST(ControlMessages, EveryCutIsAFault) {
  for (const Message& message : one_of_each()) {
    const Bytes octets = body_of(message);
    for (std::size_t size = 0; size < octets.size(); ++size)
      EXPECT_FALSE(read(View(octets).first(size))) << "kind " << message.index() << " at " << size;
    Bytes longer = octets;
    longer.resize(octets.size() + 4);
    EXPECT_EQ(read(longer).error(), "a message that is too long");
  }
}

TEST(ControlMessages, ValuesThatCannotBeAreFaults) {
  Ask ask;
  ask.first = 2;
  ask.last = 1;
  EXPECT_FALSE(read(body_of(ask)));
  ask = {};
  ask.deed = static_cast<Deed>(3);
  EXPECT_FALSE(read(body_of(ask)));
  EXPECT_FALSE(read(body_of(Welcome{{}, {0, 65536, false, false}, 90'000, 0})));
  EXPECT_FALSE(read(body_of(Welcome{{}, {3, 100, false, false}, 90'000, 0})));
  EXPECT_FALSE(read(body_of(Welcome{{}, {3, 65536, false, false}, 0, 0})));
  EXPECT_FALSE(read(body_of(Welcome{{}, {3, 65536, false, false, 2}, 90'000, 0})));
  Bytes unknown;
  wire::Writer(unknown).u32(std::variant_size_v<Message>);
  EXPECT_EQ(read(unknown).error(), "a message of the unknown kind 10");
}

TEST(ControlMessages, TheLargestFits) {
  Hello hello;
  const std::string longest(kMostAddressOctets, 'a');
  hello.addresses.assign(kMostAddresses, {longest, longest});
  EXPECT_LE(body_of(hello).size(), kMostMessageOctets);
  EXPECT_TRUE(read(body_of(hello)));
  hello.addresses.push_back({"tcp", "192.0.2.1.8.1"});
  EXPECT_FALSE(read(body_of(hello)));
}

TEST(Grants, AreOfAFileAClientADeedAndARange) {
  Grants grants;
  LayoutWish wish{{}, "client", AccessMode::write, {}, ByteRange{10, 20}};
  wish.file.fill(std::byte{1});
  const Grants::Key key = Grants::key_of(wish);
  EXPECT_FALSE(grants.allows(key, wish));
  grants.add(key, {0, 20});
  EXPECT_TRUE(grants.allows(key, wish));
  wish.range = ByteRange{20, 21};
  EXPECT_FALSE(grants.allows(key, wish));
  wish.range.reset();
  EXPECT_TRUE(grants.allows(key, wish));
  std::vector<LayoutWish> others(4, wish);
  others[0].owner = "another";
  others[1].want = AccessMode::read;
  others[2].want.reset();
  others[3].stateid.other[0] = std::byte{1};
  for (const LayoutWish& other : others) EXPECT_FALSE(grants.allows(Grants::key_of(other), other));
}

TEST(Grants, EndWithTheirFileAndWithTooMany) {
  Grants grants;
  std::vector<LayoutWish> wishes(3, LayoutWish{{}, "client", AccessMode::read, {}, {}});
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    wishes[i].file.fill(static_cast<std::byte>(i + 0xfd));
    grants.add(Grants::key_of(wishes[i]), {0, 1});
  }
  grants.forget(wishes[1].file);
  EXPECT_TRUE(grants.allows(Grants::key_of(wishes[0]), wishes[0]));
  EXPECT_FALSE(grants.allows(Grants::key_of(wishes[1]), wishes[1]));
  EXPECT_TRUE(grants.allows(Grants::key_of(wishes[2]), wishes[2]));
  grants.forget(wishes[2].file);
  EXPECT_EQ(grants.size(), 1U);
  for (std::size_t i = 0; i < kMostGrants; ++i) grants.add(std::to_string(i), {0, 1});
  EXPECT_LE(grants.size(), kMostGrants);
}

}  // namespace
}  // namespace steertag::peer::control
