// The addresses of a data server, one after the other.
#include "client/v4/pnfs/data_server.h"

#include "client/testing/client_session_fixture.h"

namespace steertag::peer::testing {
namespace {

class DataServerTest : public ClientSessionTest {
 protected:
  DataServerTest()
      : servers(
            schedule, [this](const auto& path) { return way(path); }, options()) {}

  Expected<CallWay, FileError> way(const DataServerPath& path) {
    asked.push_back(path.netid);
    if (path.netid == "unknown")
      return tl::unexpected(FileError{FileErrc::call_failed, "unknown", 0, {}});
    CallWay made_path;
    made_path.transport = std::make_unique<FakeTransport>([](View) { return std::nullopt; });
    made_path.schedule = std::make_unique<CallSchedule>(
        *made_path.transport, [this] { return transport.now; }, 10s);
    return made_path;
  }
  DataServer* find(std::initializer_list<std::string_view> netids) {
    nfs4::MultipathList list;
    for (const std::string_view netid : netids) list.addresses.push_back({netid, "192.0.2.1.8.1"});
    return servers.find(list);
  }

  std::vector<std::string> asked;
  DataServerSet servers;
};

TEST_F(DataServerTest, ListsOfTheSameAddressesAreOneServer) {
  DataServer* const server = find({"rdma", "tcp"});
  EXPECT_EQ(find({"rdma", "tcp"}), server);
  EXPECT_NE(find({"tcp", "rdma"}), server) << "the order is that of preference";
  EXPECT_EQ(find({}), nullptr);
  EXPECT_TRUE(asked.empty()) << "before there is something to send";
}

TEST_F(DataServerTest, AddressesAreUsedInTheirOrder) {
  DataServer& server = *find({"unknown", "rdma", "tcp"});
  ClientSession* const first = server.session();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(server.session(), first);
  EXPECT_EQ(asked, (std::vector<std::string>{"unknown", "rdma"}));
  server.failed(first);
  ClientSession* const second = server.session();
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  server.failed(first);  // a late failure of the same
  EXPECT_EQ(server.session(), second);
  server.failed(second);
  EXPECT_EQ(server.session(), nullptr) << "none is left";
  transport.now += DataServerPolicy{}.pause;
  EXPECT_EQ(server.session(), first);
}

TEST_F(DataServerTest, ServerWithoutAUsableAddressIsLeftAlone) {
  DataServer& server = *find({"unknown"});
  EXPECT_EQ(server.session(), nullptr);
  EXPECT_EQ(server.session(), nullptr);
  EXPECT_EQ(asked.size(), 1U) << "within the pause";
}

TEST_F(DataServerTest, CallsAreSteppedWithThoseOfTheMetadataServer) {
  DataServer& server = *find({"rdma"});
  std::optional<FileError> error;
  server.session()->call(null_call(), [&](Expected<CompoundReply, FileError> reply) {
    if (!reply) error = std::move(reply.error());
  });
  schedule.run_until([&] { return error.has_value(); });
  EXPECT_EQ(error->code, FileErrc::call_failed);
}

}  // namespace
}  // namespace steertag::peer::testing
