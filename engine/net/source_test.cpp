// Which addresses are one source.
#include <gtest/gtest.h>

#include "net/source.h"
#include "net/source_name.h"

namespace steertag::net {
namespace {

Source source(const std::string& host) {
  const auto addresses = resolve({"tcp", host, 2049, ""}, false);
  EXPECT_TRUE(addresses) << host << " is no address";
  return Source(addresses ? addresses->front() : Address{});
}

TEST(Source, AnAddressOfIpv4IsOne) {
  EXPECT_EQ(source("192.0.2.7"), source("192.0.2.7"));
  EXPECT_NE(source("192.0.2.7"), source("192.0.2.8"));
  EXPECT_EQ(source("192.0.2.7").text(), "192.0.2.7");
}

TEST(Source, AMappedAddressIsTheOneInIt) {
  EXPECT_EQ(source("::ffff:192.0.2.7"), source("192.0.2.7"));
  EXPECT_NE(source("::ffff:192.0.2.8"), source("192.0.2.7"));
}

TEST(Source, ANetworkOfIpv6IsOne) {
  EXPECT_EQ(source("2001:db8:0:1::7"), source("2001:db8:0:1:ffff:ffff:ffff:ffff"))
      << "a host can use every address of its /64 network";
  EXPECT_NE(source("2001:db8:0:1::7"), source("2001:db8:0:2::7"));
  EXPECT_EQ(source("2001:db8:0:1::7").text(), "2001:db8:0:1::/64");
}

TEST(Source, NeighboursOnTheLinkAreNotOne) {
  EXPECT_NE(source("fe80::1"), source("fe80::2"));
  EXPECT_EQ(source("fe80::1").text(), "fe80::1");
}

TEST(Source, ATextIsOfTheSourceOfItsAddress) {
  EXPECT_EQ(source_name("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(source_name("[::ffff:192.0.2.7]"), "192.0.2.7");
  EXPECT_EQ(source_name("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(source_name("[2001:db8:0:1::7]"), "2001:db8:0:1::/64");
  EXPECT_EQ(source_name("[2001:db8:0:1:8::9]"), "2001:db8:0:1::/64");
  EXPECT_EQ(source_name("[fe80::1%eth0]"), "fe80::1");
  EXPECT_EQ(source_name("a client"), "a client");
  EXPECT_EQ(source_name(""), "");
}

}  // namespace
}  // namespace steertag::net
