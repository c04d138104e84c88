// The path MTU towards addresses of this machine.
#include "fabric/roce/network/route.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>

namespace steertag::fabric::roce {
namespace {

// Their packets go over the loopback interface, but the peer goes by the MTU of its own.
TEST(SystemRoute, HasTheMtuOfThePeersInterfaceOnThisMachine) {
  ifaddrs* first = nullptr;
  ASSERT_EQ(::getifaddrs(&first), 0);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
  const Socket probe(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  int seen = 0;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    Address peer;
    peer.length = sizeof(sockaddr_in);
    std::memcpy(&peer.storage, each->ifa_addr, peer.length);
    const auto own = interface_mtu(peer, probe);
    const auto route = system_route(peer);
    ASSERT_TRUE(own) << peer.text();
    ASSERT_TRUE(route) << route.error().message();
    EXPECT_LE(route->mtu, *own) << "towards " << peer.text();
    ++seen;
  }
  EXPECT_GT(seen, 0) << "not even the loopback interface has an address";
}

}  // namespace
}  // namespace steertag::fabric::roce
