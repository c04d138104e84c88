// Every provider: memory that the peer closes by Send with Invalidate.
#include <algorithm>

#include "fabric/testing/provider_suite.h"

namespace steertag::fabric {
namespace {

using namespace testing;  // NOLINT: the test endpoints

class ProviderWindowTest : public ProviderSuite {};

TEST_P(ProviderWindowTest, SendWithInvalidateClosesAWindow) {
  if (!can().windows) {
    GTEST_SKIP() << "no region that the peer can close";
  }
  up();
  notify(*pair.client, pair.server_notices);
  auto region = pair.server_domain->allocate(64, {});
  ASSERT_TRUE(ok(pair.server->open_window(*region, {true, true})));
  notify(*pair.server, pair.client_notices);
  const std::uint32_t stag = region->stag();
  const Bytes message = pattern(9);
  ASSERT_TRUE(ok(pair.client->rdma_write(message, stag, region->base(), 1)));
  ASSERT_TRUE(ok(send(*pair.client, message, 1, stag)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 2; }));
  EXPECT_EQ(pair.server_notices.received[1].invalidated, stag);
  EXPECT_TRUE(std::equal(message.begin(), message.end(), region->bytes().begin()));
  EXPECT_FALSE(region->valid());
  region->open({false, true});
  EXPECT_TRUE(region->valid());
  EXPECT_NE(region->stag(), stag);
}

TEST_P(ProviderWindowTest, SendWithInvalidateClosesAnyRegion) {
  if (!can().remote_invalidation) {
    GTEST_SKIP() << "only windows can be closed by the peer";
  }
  auto region = pair.server_domain->allocate(64, {true, true});
  up();
  ASSERT_TRUE(ok(pair.client->send({}, 1, region->stag())));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_FALSE(region->valid());
}

TEST_P(ProviderWindowTest, WindowsOpenAndCloseInAnyOrder) {
  if (!can().windows) {
    GTEST_SKIP() << "no region that the peer can close";
  }
  up();
  notify(*pair.client, pair.server_notices);
  auto first = pair.server_domain->allocate(64, {});
  auto second = pair.server_domain->allocate(64, {});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(ok(pair.server->open_window(*first, {true, true})));
    if (i % 3 == 0) {
      pair.provider->poll(std::chrono::milliseconds(0));
    }
    ASSERT_TRUE(ok(pair.server->open_window(*second, {false, true})));
    EXPECT_TRUE(first->invalidate());
  }
  notify(*pair.server, pair.client_notices);
  const Bytes data = pattern(64);
  ASSERT_TRUE(ok(pair.client->rdma_write(data, second->stag(), second->base(), 1)));
  notify(*pair.client, pair.server_notices);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), second->bytes().begin()));
  pair.client->disconnect();
  ASSERT_TRUE(pair.poll_until_closed());
}

STEERTAG_OVER_PROVIDERS(ProviderWindowTest);

}  // namespace
}  // namespace steertag::fabric
