// The port mapper and rpcbind, asked over TCP by who does not know where NFS and MOUNT are.
#include <set>

#include "rpc/portmap.h"
#include "rpc/rpcbind.h"
#include "server/testing/stream_fixture.h"

namespace steertag::peer::testing {
namespace {

class PortMapperTest : public StreamTest {
 protected:
  void SetUp() override {
    serve_all();
    client = std::make_unique<RawStream>(tcp_url);
  }

  /// The results of a call, and the status of its reply.
  template <class Args>
  wire::Reader ask(std::uint32_t version, std::uint32_t procedure, const Args& args) {
    client->records.clear();
    client->send_record(rpc_call(1, procedure, encoded(args), portmap::kProgram, version));
    drive([&] {
      client->pump();
      return client->records.size() == 1 || client->closed;
    });
    EXPECT_FALSE(client->closed) << "the server closed the connection";
    reply = client->closed ? Bytes() : client->records.front();
    wire::Reader reader(reply);
    rpc::ReplyHeader header;
    header.decode(reader);
    status = header.accept_status;
    return reader;
  }
  std::uint32_t port_of(std::uint32_t program, std::uint32_t version, std::uint32_t protocol) {
    wire::Reader reader = ask(2, 3, portmap::Mapping{program, version, protocol, 0});
    portmap::Port port;
    port.decode(reader);
    EXPECT_TRUE(reader.ok());
    return port.port;
  }
  std::string address_of(std::uint32_t version, std::uint32_t procedure,
                         const rpcbind::Service& wanted) {
    wire::Reader reader = ask(version, procedure, wanted);
    rpcbind::UniversalAddress address;
    address.decode(reader);
    EXPECT_TRUE(reader.ok());
    return std::string(address.text);
  }

  std::unique_ptr<RawStream> client;
  Bytes reply;
  rpc::AcceptStatus status{};
};

TEST_F(PortMapperTest, GetportFindsNfsAndMountOverTcpOnly) {
  EXPECT_EQ(port_of(nfs3::kProgram, 3, portmap::kTcp), tcp_url.port);
  EXPECT_EQ(port_of(mount3::kProgram, 3, portmap::kTcp), tcp_url.port);
  EXPECT_EQ(port_of(nfs3::kProgram, 3, portmap::kUdp), 0U);
  EXPECT_EQ(port_of(100024, 1, portmap::kTcp), 0U);
}

TEST_F(PortMapperTest, GetportOfAnotherVersionLeadsToTheProgram) {
  EXPECT_EQ(port_of(mount3::kProgram, 1, portmap::kTcp), tcp_url.port);
}

TEST_F(PortMapperTest, DumpListsEveryProgram) {
  wire::Reader reader = ask(2, 4, rpc::Void{});
  portmap::MappingList list;
  list.decode(reader);
  ASSERT_TRUE(reader.ok());
  std::set<std::pair<std::uint32_t, std::uint32_t>> listed;
  for (const portmap::Mapping& mapping : list.mappings.items) {
    EXPECT_EQ(mapping.port, tcp_url.port);
    EXPECT_TRUE(listed.emplace(mapping.program, mapping.version).second) << "listed twice";
  }
  EXPECT_EQ(listed, (std::set<std::pair<std::uint32_t, std::uint32_t>>{
                        {nfs3::kProgram, 3}, {nfs3::kProgram, 4}, {mount3::kProgram, 3}}));
}

TEST_F(PortMapperTest, GetaddrKnowsTheNetidsOfBothTransports) {
  for (const std::uint32_t version : {3U, 4U}) {
    EXPECT_EQ(address_of(version, 3, {nfs3::kProgram, 3, "tcp", "", ""}),
              rpcbind::universal_address("127.0.0.1", tcp_url.port));
    EXPECT_EQ(address_of(version, 3, {nfs3::kProgram, 3, "rdma", "", ""}),
              rpcbind::universal_address("127.0.0.1", url.port));
    EXPECT_EQ(address_of(version, 3, {nfs3::kProgram, 3, "udp", "", ""}), "");
  }
}

TEST_F(PortMapperTest, OnlyGetversaddrInsistsOnTheVersion) {
  EXPECT_NE(address_of(4, 3, {nfs3::kProgram, 9, "tcp", "", ""}), "");
  EXPECT_EQ(address_of(4, 9, {nfs3::kProgram, 9, "tcp", "", ""}), "");
  ask(3, 9, rpcbind::Service{nfs3::kProgram, 3, "tcp", "", ""});
  EXPECT_EQ(status, rpc::AcceptStatus::PROC_UNAVAIL) << "version 3 has no GETVERSADDR";
}

TEST_F(PortMapperTest, UnknownProceduresAndBadArgumentsAreRefused) {
  ask(2, 1, portmap::Mapping{7, 7, portmap::kTcp, 7});
  EXPECT_EQ(status, rpc::AcceptStatus::PROC_UNAVAIL);
  ask(2, 3, rpc::Void{});
  EXPECT_EQ(status, rpc::AcceptStatus::GARBAGE_ARGS) << "GETPORT without arguments";
}

TEST(UniversalAddressTest, PortIsTheLastTwoNumbers) {
  EXPECT_EQ(rpcbind::universal_address("192.0.2.1", 20049), "192.0.2.1.78.81");
  EXPECT_EQ(rpcbind::host_of("192.0.2.1.78.81"), "192.0.2.1");
  EXPECT_EQ(rpcbind::host_of("::1.8.1"), "::1");
  EXPECT_EQ(rpcbind::port_of("192.0.2.1.78.81"), 20049);
  EXPECT_EQ(rpcbind::port_of("::1.8.1"), 2049);
  for (const char* bad : {"", ".", "1.2", "a.b.c", "192.0.2.1.78.256", "h.1.", "..1.1x"})
    EXPECT_FALSE(rpcbind::host_of(bad) || rpcbind::port_of(bad)) << bad;
}

}  // namespace
}  // namespace steertag::peer::testing
