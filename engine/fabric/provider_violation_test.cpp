// Every provider with a peer that breaks a rule: memory stays unchanged, and both sides close.
//
// Each side is notified of the culprit.
#include <algorithm>
#include <array>

#include "fabric/testing/provider_suite.h"

namespace steertag::fabric {
namespace {

using namespace testing;  // NOLINT: the test endpoints

class ProviderViolationTest : public ProviderSuite {
 protected:
  /// The client's last operation broke a rule. `denied`: it is this one, whose work id is 1.
  void expect_the_clients_fault(std::optional<Operation> denied = {}) {
    ASSERT_TRUE(pair.poll_until_closed()) << (pair.client_notices.over() ? "server" : "client");
    if (can().sees_violations) {
      EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error)
          << pair.server_notices.closed->detail;
      EXPECT_EQ(pair.client_notices.closed->code, Errc::peer_terminated)
          << pair.client_notices.closed->detail;
      EXPECT_EQ(pair.server_events.lines.back(), "server Disconnect unclean");
      const std::optional<Denial>& denial = pair.client_notices.closed->denied;
      ASSERT_EQ(denial.has_value(), denied.has_value());
      if (denial) {
        EXPECT_EQ(denial->operation, *denied);
        EXPECT_EQ(denial->id.value_or(1), 1U);
      }
    }
    EXPECT_FALSE(pair.server_notices.closed->denied) << "it was an operation of the peer's";
    EXPECT_EQ(pair.client->send({}, 1).error().code, Errc::not_connected);
  }
  static bool untouched(Region& region) {
    return region.guards_intact() && std::ranges::all_of(region.bytes(), [](std::byte octet) {
             return octet == std::byte{0};
           });
  }
};

TEST_P(ProviderViolationTest, WriteBehindARegion) {
  up();
  auto region = pair.server_domain->allocate(100, {true, true});
  const Bytes data = pattern(8);
  ASSERT_TRUE(ok(pair.client->rdma_write(data, region->stag(), region->base() + 93, 1)));
  expect_the_clients_fault(Operation::rdma_write);
  EXPECT_TRUE(untouched(*region));
}

TEST_P(ProviderViolationTest, WriteWithoutTheRight) {
  up();
  auto region = pair.server_domain->allocate(100, {true, false});
  const Bytes data = pattern(8);
  ASSERT_TRUE(ok(pair.client->rdma_write(data, region->stag(), region->base(), 1)));
  expect_the_clients_fault(Operation::rdma_write);
  EXPECT_TRUE(untouched(*region));
}

TEST_P(ProviderViolationTest, WriteToAClosedRegion) {
  up();
  auto region = pair.server_domain->allocate(100, {true, true});
  const std::uint32_t stag = region->stag();
  EXPECT_TRUE(region->invalidate());
  const Bytes data = pattern(8);
  ASSERT_TRUE(ok(pair.client->rdma_write(data, stag, region->base(), 1)));
  expect_the_clients_fault(Operation::rdma_write);
  EXPECT_TRUE(untouched(*region));
}

TEST_P(ProviderViolationTest, WriteToAClosedWindow) {
  if (!can().windows) {
    GTEST_SKIP() << "no region that the peer can close";
  }
  up();
  notify(*pair.client, pair.server_notices);
  auto region = pair.server_domain->allocate(100, {});
  ASSERT_TRUE(ok(pair.server->open_window(*region, {true, true})));
  notify(*pair.server, pair.client_notices);
  const std::uint32_t stag = region->stag();
  EXPECT_TRUE(region->invalidate());
  const Bytes data = pattern(8);
  ASSERT_TRUE(ok(pair.client->rdma_write(data, stag, region->base(), 1)));
  expect_the_clients_fault(Operation::rdma_write);
  EXPECT_TRUE(untouched(*region));
}

TEST_P(ProviderViolationTest, ReadWithoutTheRight) {
  if (!can().sees_violations) {
    // Linux 6.1 sends the memory whatever its rights are (siw_qp_sq_proc_tx does not check them).
    GTEST_SKIP() << "siw does not look at the right to read";
  }
  up();
  ASSERT_TRUE(ok(pair.client->send({}, 2)));
  auto region = pair.server_domain->allocate(100, {false, true});
  auto sink = pair.client_domain->allocate(100, {});
  ASSERT_TRUE(ok(pair.client->rdma_read(*sink, 0, 100, region->stag(), region->base(), 1)));
  expect_the_clients_fault(Operation::rdma_read);
  EXPECT_TRUE(untouched(*sink));
}

TEST_P(ProviderViolationTest, AccessToAnotherDomainsRegion) {
  up();
  auto region = pair.other_domain->allocate(100, {true, true});
  const Bytes data = pattern(8);
  ASSERT_TRUE(ok(pair.client->rdma_write(data, region->stag(), region->base(), 1)));
  expect_the_clients_fault(Operation::rdma_write);
  EXPECT_TRUE(untouched(*region));
}

TEST_P(ProviderViolationTest, SendLongerThanItsReceive) {
  up(1, 100);
  const Bytes message = pattern(101);
  ASSERT_TRUE(ok(send(*pair.client, message)));
  expect_the_clients_fault();
  EXPECT_TRUE(pair.server_notices.received.empty());
}

TEST_P(ProviderViolationTest, SendWithoutAReceive) {
  up(1, 100);
  ASSERT_TRUE(ok(pair.client->send({}, 1)));
  ASSERT_TRUE(ok(pair.client->send({}, 2)));
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.server_notices.received.size(), 1U);
  if (can().sees_violations) {
    // A device that repeats such a Send (RNR) ends the connection itself.
    const Errc code = pair.client_notices.closed->code;
    EXPECT_TRUE(code == Errc::peer_terminated || code == Errc::timed_out)
        << pair.client_notices.closed->detail;
  }
}

TEST_P(ProviderViolationTest, RegionsOutliveAConnectionAndWindowsDoNot) {
  up();
  notify(*pair.client, pair.server_notices);
  auto plain = pair.server_domain->allocate(100, {true, true});
  auto window = pair.server_domain->allocate(100, {});
  if (can().windows) {
    ASSERT_TRUE(ok(pair.server->open_window(*window, {true, true})));
  }
  notify(*pair.server, pair.client_notices);
  pair.client->abort();
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_TRUE(plain->valid());
  EXPECT_TRUE(plain->invalidate());
  EXPECT_TRUE(window->invalidate());
}

TEST_P(ProviderViolationTest, FaultsThatAProviderLacksAreErrors) {
  if (can().fault_hooks) {
    GTEST_SKIP() << "it has them";
  }
  up();
  const Fault fault;
  const Bytes data = pattern(8);
  EXPECT_EQ(pair.client->send({}, 1, {}, &fault).error().code, Errc::unsupported);
  EXPECT_EQ(pair.client->rdma_write(data, 1, 1, 1, &fault).error().code, Errc::unsupported);
  if (!can().bent_packets) {
    EXPECT_EQ(pair.client->send_raw(data).error().code, Errc::unsupported);
  }
  EXPECT_EQ(pair.client->terminate({}).error().code, Errc::unsupported);
  for (int i = 0; i < 3; ++i) {
    ConnectionOptions options;
    options.crc = i != 0;
    options.mpa_revision = i == 1 ? 1 : 2;
    options.raw_startup = i == 2 ? std::optional<Bytes>(data) : std::nullopt;
    const auto refused = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain,
                                                options, pair.client_notices);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unsupported);
  }
  if (!can().chosen_port) {
    ConnectionOptions options;
    options.local_port = 50123;
    const auto refused = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain,
                                                options, pair.client_notices);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unsupported);
  }
  EXPECT_TRUE(pair.client->established());
}

STEERTAG_OVER_PROVIDERS(ProviderViolationTest);

}  // namespace
}  // namespace steertag::fabric
