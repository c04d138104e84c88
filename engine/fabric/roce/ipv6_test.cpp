// IPv6: addresses, the choice of a port towards a peer, and what a request says of both ends.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cstring>

#include "fabric/roce/packets/cm_wire.h"
#include "fabric/roce/packets/gid.h"
#include "fabric/roce/provider.h"
#include "fabric/testing/endpoint.h"
#include "fabric/testing/ipv6_roce.h"

namespace steertag::fabric::roce {
namespace {

using testing::numeric;
using testing::octets;
using testing::Pair;
using Texts = std::vector<std::string>;

/// Of a request, from its base header on.
constexpr std::size_t kPrivateDataAt =
    wire::kBaseBytes + wire::kDatagramBytes + wire::kMadHeaderBytes + 140;

Texts texts(const std::vector<Address>& addresses) {
  Texts all;
  for (const Address& each : addresses) {
    all.push_back(each.text());
  }
  return all;
}

std::vector<Address> addresses(const Texts& hosts) {
  std::vector<Address> all;
  for (const std::string& each : hosts) {
    all.push_back(numeric(each, 7));
  }
  return all;
}

TEST(Ipv6Gid, IsTheAddress) {
  Bytes expected = testing::hex("20010db8 00000000 00000000 00000007");
  EXPECT_TRUE(std::ranges::equal(gid_of(numeric("2001:db8::7")), expected));
  expected = testing::hex("00000000 00000000 0000ffff c0000201");
  EXPECT_TRUE(std::ranges::equal(gid_of(numeric("192.0.2.1")), expected));
}

TEST(Ipv6Gid, OneLinkLocalAddressIsOfTwoHostsAtTwoInterfaces) {
  EXPECT_NE(host_of(numeric("fe80::1%1")), host_of(numeric("fe80::1%2")));
  Address other = numeric("2001:db8::7");
  sockaddr_in6 six{};
  std::memcpy(&six, &other.storage, sizeof six);
  six.sin6_scope_id = 2;
  std::memcpy(&other.storage, &six, sizeof six);
  EXPECT_EQ(host_of(numeric("2001:db8::7")), host_of(other)) << "a global address is everywhere";
}

TEST(Ipv6Gid, MappedAddressesAreOfIpv4AndThatComesFirst) {
  EXPECT_EQ(texts(ipv4_first(addresses({"2001:db8::2", "::ffff:192.0.2.1", "::1", "192.0.2.9"}))),
            (Texts{"192.0.2.1:7", "192.0.2.9:7", "[2001:db8::2]:7", "[::1]:7"}));
}

TEST(Ipv6Gid, RouteHasBothAddressesAndPorts) {
  const auto route = route_of(numeric("2001:db8::7", 51000), numeric("::1", 4791));
  const auto* const six = std::get_if<wire::Ipv6Route>(&route);
  ASSERT_NE(six, nullptr) << "a route of IPv4";
  EXPECT_EQ(Bytes(six->source.begin(), six->source.end()),
            testing::hex("20010db8 00000000 00000000 00000007"));
  EXPECT_EQ(Bytes(six->destination.begin(), six->destination.end()),
            testing::hex("00000000 00000000 00000000 00000001"));
  EXPECT_EQ(six->source_port, 51000);
  EXPECT_EQ(six->destination_port, 4791);
}

TEST(Ipv6Gid, IpHeaderHasTheVersionAndTheAddresses) {
  wire::IpHeader header = ip_header_of(numeric("::1"), numeric("2001:db8::7"), 50123);
  EXPECT_EQ(header.version, 6);
  EXPECT_EQ(header.source_port, 50123);
  EXPECT_EQ(Bytes(header.source.begin(), header.source.end()),
            testing::hex("00000000 00000000 00000000 00000001"));
  EXPECT_EQ(Bytes(header.destination.begin(), header.destination.end()),
            testing::hex("20010db8 00000000 00000000 00000007"));
  header = ip_header_of(numeric("127.0.0.1"), numeric("192.0.2.1"), 1);
  EXPECT_EQ(header.version, 4);
  EXPECT_EQ(Bytes(header.destination.begin(), header.destination.end()),
            testing::hex("00000000 00000000 00000000 c0000201"));
}

TEST(Ipv6Route, LinkLocalAndLoopbackAddressesStayAtTheirInterface) {
  const std::vector<Address> all =
      addresses({"::1", "2001:db8::2", "2001:db8::3", "fe80::1%1", "fe80::2%1", "fe80::3%2"});
  const auto beside = [&](const std::string& peer) {
    return texts(sources_beside(numeric(peer, 9), all));
  };
  EXPECT_EQ(beside("::1"), (Texts{"[2001:db8::2]:7", "[2001:db8::3]:7"}));
  EXPECT_EQ(beside("2001:db8::2"), (Texts{"[::1]:7", "[2001:db8::3]:7"}));
  const std::string same_interface = numeric("fe80::2%1", 7).text();
  EXPECT_EQ(beside("fe80::1%1"), (Texts{"[2001:db8::2]:7", "[2001:db8::3]:7", same_interface}));
}

/// A provider whose machine has these addresses, each in use by another process.
class Ipv6PortsTest : public ::testing::Test {
 protected:
  Ipv6PortsTest() {
    const auto open = [this](const Address& local,
                             int /*buffer_bytes*/) -> Expected<std::unique_ptr<Datagrams>, Error> {
      tried.push_back(local.text());
      return tl::unexpected(Error{Errc::cannot_listen, local.text() + ": in use"});
    };
    const auto find_route = [this](const Address& /*peer*/) -> Expected<Route, Error> {
      return Route{1500, sources};
    };
    provider = *make_provider([] { return 7U; }, {}, system_clock(), open, find_route);
    domain = provider->make_domain();
  }

  /// Why no connection to this URL comes up.
  std::string refusal(const std::string& url) {
    testing::Notices notices;
    const auto connection = provider->connect(*parse_url(url), *domain, {}, notices);
    EXPECT_TRUE(connection) << connection.error().message();
    provider->poll(std::chrono::milliseconds(0));
    return notices.refused ? notices.refused->message() : "not refused";
  }
  std::string listen(const std::string& url) {
    const auto listener = provider->listen(*parse_url(url), [](auto) {});
    return listener ? "it listens" : listener.error().message();
  }

  std::vector<Address> sources;
  Texts tried;
  std::unique_ptr<Provider> provider;
  std::unique_ptr<Domain> domain;
};

TEST_F(Ipv6PortsTest, TheSystemChoosesTheAddressTowardsOthers) {
  sources = addresses({"2001:db8::2"});
  EXPECT_NE(refusal("roce://[2001:db8::7]").find("in use"), std::string::npos);
  EXPECT_EQ(tried, Texts{"[2001:db8::2]:4791"});
}

TEST_F(Ipv6PortsTest, TowardsAnotherEndOfTheMachineItsOtherAddressesAreTried) {
  sources = addresses({"::1", "2001:db8::2", "2001:db8::3"});
  EXPECT_NE(refusal("roce://[::1]").find("[2001:db8::3]:4791: in use"), std::string::npos);
  EXPECT_EQ(tried, (Texts{"[2001:db8::2]:4791", "[2001:db8::3]:4791"}));
}

TEST_F(Ipv6PortsTest, WithoutAnotherAddressOneSentenceSaysSo) {
  sources = addresses({"::1"});
  const std::string message = refusal("roce://[::1]");
  EXPECT_NE(message.find("[::1]:20049: two RoCE ends cannot share an address"), std::string::npos)
      << message;
  EXPECT_EQ(tried, Texts{});
}

TEST_F(Ipv6PortsTest, TowardsAnotherEndAtOurIpv4AddressALoopbackAddressIsTaken) {
  sources = addresses({"192.0.2.1"});
  refusal("roce://192.0.2.1");
  ASSERT_FALSE(tried.empty());
  EXPECT_TRUE(std::ranges::all_of(tried, [](const auto& each) { return each.starts_with("127."); }))
      << tried.front();
}

TEST_F(Ipv6PortsTest, AnEndHasOneAddress) {
  for (const char* host : {"[::]", "0.0.0.0", "[::ffff:0.0.0.0]"}) {
    const std::string url = "roce://" + std::string(host);
    EXPECT_NE(listen(url).find("the address of one interface"), std::string::npos) << host;
    EXPECT_NE(refusal(url).find("the address of one interface"), std::string::npos) << host;
  }
  EXPECT_NE(listen("roce://[fe80::1]").find("needs its interface"), std::string::npos);
  EXPECT_NE(refusal("roce://[fe80::1]").find("needs its interface"), std::string::npos);
  EXPECT_EQ(tried, Texts{});
}

TEST(Ipv4Mapped, AddressesReachAnIpv4Listener) {
  Pair pair(testing::roce_factory());
  const Url four = *parse_url(pair.url());
  testing::Notices notices;
  const auto client = pair.provider->connect({"roce", "::ffff:" + four.host, four.port, ""},
                                             *pair.client_domain, {}, notices);
  ASSERT_TRUE(client) << client.error().message();
  ASSERT_TRUE(pair.poll_until([&] { return notices.established || notices.refused; }));
  ASSERT_TRUE(notices.established) << notices.refused->message();
  EXPECT_TRUE((*client)->peer_name().starts_with("127.")) << (*client)->peer_name();
}

/// Over sockets of IPv6.
class Ipv6Test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::machine_has_ipv6()) {
      GTEST_SKIP() << "this machine has no ::1, so nothing runs over IPv6";
    }
    pair = std::make_unique<Pair>(testing::ipv6_roce_factory());
  }

  /// The IP header in the private data of the client's request.
  wire::IpHeader requested() {
    for (const auto& [sender, datagram] : pair->client_bytes.datagrams.datagrams()) {
      const auto packet = wire::parse_packet(datagram);
      const auto mad = packet ? decode_mad(packet->payload) : std::nullopt;
      if (mad && mad->message.kind == CmKind::connect_request) {
        return wire::decode_ip_header(mad->message.private_data.data());
      }
    }
    ADD_FAILURE() << "there is no request";
    return {};
  }
  /// The server's name of a client whose request has these octets in its IP header.
  std::string name_after(std::size_t offset, const Bytes& octets) {
    BentPacket request;
    request.patches = {{kPrivateDataAt + offset, octets}};
    request.every_time = true;
    pair->client_options.bent_startup = std::make_shared<const BentPacket>(request);
    pair->client_options.private_data = testing::octets("from the client");
    pair->connect();
    if (!pair->server || !pair->client_notices.established) {
      return "no connection";
    }
    const Bytes got = pair->server_notices.peer_private_data;
    EXPECT_TRUE(std::ranges::equal(View(got).first(15), testing::octets("from the client")));
    std::string name = pair->server->peer_name();
    pair->drop_client();
    pair->drop_server();
    return name;
  }

  std::unique_ptr<Pair> pair;
};

TEST_F(Ipv6Test, ARequestNamesBothEndsWhole) {
  pair->client_options.local_port = 50123;
  ASSERT_NO_FATAL_FAILURE(pair->connect());
  ASSERT_TRUE(pair->server);
  const std::string host = parse_url(pair->url())->host;
  const wire::IpHeader header = requested();
  EXPECT_EQ(header, ip_header_of(numeric(host), numeric(host), 50123));
  EXPECT_EQ(header.version, 6);
  EXPECT_EQ(pair->server->peer_name(), "[" + host + "]:50123");
}

TEST_F(Ipv6Test, APeerIsAtTheAddressOfItsPacketsWhateverItsRequestSays) {
  pair->client_options.local_port = 50123;
  const std::string right = "[" + parse_url(pair->url())->host + "]:50123";
  for (const unsigned version : {0U, 4U, 15U}) {
    const Bytes octet{static_cast<std::byte>(version << 4)};
    EXPECT_EQ(name_after(1, octet), right) << "IP version " << version;
  }
  EXPECT_EQ(name_after(4, Bytes(16, std::byte{0xff})), right) << "another source";
  EXPECT_EQ(name_after(20, Bytes(16)), right) << "another destination";
}

TEST_F(Ipv6Test, AnAddressWithoutAnEndRefuses) {
  testing::Ipv6Network network;
  const auto socket = network.open(network.another_address(), 1 << 16);
  ASSERT_TRUE(socket) << socket.error().message();
  const Address unused = network.another_address();
  const Bytes octets(64);
  const Outbound out{octets, &unused};
  ASSERT_EQ((*socket)->send({&out, 1}), 1U);
  const std::chrono::milliseconds patience = testing::kPatience;
  pollfd error{(*socket)->descriptor(), 0, 0};
  ASSERT_EQ(::poll(&error, 1, static_cast<int>(patience.count())), 1) << "no ICMP message came";
  const auto refused = (*socket)->refusal();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->text(), unused.text());
}

TEST_F(Ipv6Test, EndsAtTwoInterfacesMayHaveOneLinkLocalAddress) {
  const auto listen = [&](const char* host) {
    return pair->provider->listen({"roce", host, 20049, ""}, [](auto) {});
  };
  const auto first = listen("fe80::1%1");
  ASSERT_TRUE(first) << first.error().message();
  const auto second = listen("fe80::1%2");
  EXPECT_TRUE(second) << second.error().message();
}

}  // namespace
}  // namespace steertag::fabric::roce
