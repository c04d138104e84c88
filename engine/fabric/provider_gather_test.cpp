// Every provider: RDMA Writes in parts.
#include <algorithm>
#include <array>

#include "fabric/testing/provider_suite.h"

namespace steertag::fabric {
namespace {

using namespace testing;  // NOLINT: the test endpoints

class ProviderGatherTest : public ProviderSuite {};

TEST_P(ProviderGatherTest, GathersPartsIntoOneWrite) {
  if (can().write_parts < 4) {
    GTEST_SKIP() << "an RDMA Write has one part";
  }
  auto region = pair.server_domain->allocate(200'000, {false, true});
  up();
  const Bytes whole = pattern(200'000);
  const std::array<View, 4> parts{View(whole).first(65'536), View{}, View(whole).subspan(65'536, 3),
                                  View(whole).subspan(65'539)};
  ASSERT_TRUE(ok(pair.client->rdma_write(parts, region->stag(), region->base(), 1)));
  ASSERT_TRUE(ok(pair.client->send({}, 2)));
  ASSERT_TRUE(pair.poll_until([&] {
    return pair.server_notices.received.size() == 1 && pair.client_notices.completed.size() == 2;
  }));
  EXPECT_TRUE(std::ranges::equal(whole, region->bytes())) << "octets differ";
  EXPECT_TRUE(pair.client_events.written == whole) << "observers of the writer see other octets";
  EXPECT_TRUE(pair.server_events.written == whole) << "observers of the memory see other octets";
}

STEERTAG_OVER_PROVIDERS(ProviderGatherTest);

}  // namespace
}  // namespace steertag::fabric
