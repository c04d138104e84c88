// The fixture of the tests that every provider must pass.
#pragma once

#include <gtest/gtest.h>

#include "fabric/testing/endpoint.h"
#include "fabric/testing/faulty_roce.h"
#include "fabric/testing/ipv6_roce.h"

namespace steertag::fabric::testing {

class ProviderSuite : public ::testing::TestWithParam<Factory> {
 protected:
  void up(std::size_t receives = 8, std::size_t size = 4096) {
    ASSERT_NO_FATAL_FAILURE(pair.connect());
    ASSERT_FALSE(pair.client_notices.refused) << pair.client_notices.refused->message();
    ASSERT_TRUE(pair.server);
    pair.post_receives(receives, size);
  }
  Capabilities can() const { return pair.provider->capabilities(); }
  static Expected<void, Error> send(Connection& connection, const Bytes& bytes, WorkId id = 0,
                                    std::optional<std::uint32_t> invalidate = {}) {
    const View part(bytes);
    return connection.send({&part, 1}, id, invalidate);
  }
  /// Shows the error's message on failure.
  static ::testing::AssertionResult ok(const Expected<void, Error>& result) {
    if (result) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << result.error().message();
  }
  /// The peer receives a Send, and with it everything that was posted before.
  void notify(Connection& connection, Notices& peer) {
    const std::size_t before = peer.received.size();
    ASSERT_TRUE(connection.send({}, 0));
    ASSERT_TRUE(pair.poll_until([&] { return peer.received.size() > before; }));
  }

  Pair pair{GetParam()};
};

}  // namespace steertag::fabric::testing

/// Runs a suite over the providers of this run, on addresses that other processes reach. The
/// default is iwarp,roce. STEERTAG_PROVIDERS=verbs (or iwarp,verbs) selects others.
/// STEERTAG_VERBS_HOST is then the address of an RDMA device.
#define STEERTAG_BETWEEN_PROCESSES(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(Iwarp, suite,                                                         \
                           ::testing::ValuesIn(::steertag::fabric::testing::if_chosen("iwarp")), \
                           [](const auto& each) { return each.param.name; });                    \
  INSTANTIATE_TEST_SUITE_P(Roce, suite,                                                          \
                           ::testing::ValuesIn(::steertag::fabric::testing::if_chosen("roce")),  \
                           [](const auto& each) { return each.param.name; });                    \
  INSTANTIATE_TEST_SUITE_P(FaultyRoce, suite,                                                    \
                           ::testing::ValuesIn(::steertag::fabric::testing::faulty_if_chosen()), \
                           [](const auto& each) { return each.param.name; });                    \
  INSTANTIATE_TEST_SUITE_P(Verbs, suite,                                                         \
                           ::testing::ValuesIn(::steertag::fabric::testing::if_chosen("verbs")), \
                           [](const auto& each) { return each.param.name; })

/// The same, and over IPv6 in one process.
#define STEERTAG_OVER_PROVIDERS(suite)                                                         \
  STEERTAG_BETWEEN_PROCESSES(suite);                                                           \
  INSTANTIATE_TEST_SUITE_P(RoceIpv6, suite,                                                    \
                           ::testing::ValuesIn(::steertag::fabric::testing::ipv6_if_chosen()), \
                           [](const auto& each) { return each.param.name; })
