// Test support: passes Sends to a judge of a superseded dialect, and checks its findings.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "conformance/trace_builder.h"
#include "wire/testing.h"

namespace steertag::conformance {

/// One message of a conversation, as hexadecimal text.
struct LegacySend {
  Role actor = Role::client;
  std::string hex;
};

/// A conversation whose last message breaks one rule.
struct Breach {
  std::string_view rule;
  std::string_view id;
  std::vector<LegacySend> sends;
};

template <class AnyJudge>
void play(AnyJudge& judge, const std::vector<LegacySend>& sends) {
  std::uint64_t index = 0;
  for (const LegacySend& each : sends) {
    const Bytes octets = wire::testing::from_hex(each.hex);
    judge.on_event({index++, 0, each.actor, trace::Send{octets, {}}});
  }
}

template <class AnyJudge>
void expect_breach(AnyJudge judge, const Breach& breach) {
  SCOPED_TRACE(breach.rule);
  play(judge, breach.sends);
  ASSERT_THAT(judge.findings(), testing::SizeIs(1));
  const Finding& finding = judge.findings().front();
  EXPECT_EQ(finding.rule, breach.rule) << testing::PrintToString(finding);
  EXPECT_EQ(finding.requirement->id, breach.id) << testing::PrintToString(finding);
  EXPECT_EQ(finding.culprit, breach.sends.back().actor) << testing::PrintToString(finding);
  EXPECT_EQ(finding.event, breach.sends.size() - 1) << testing::PrintToString(finding);
  EXPECT_FALSE(finding.expected.empty());
  EXPECT_FALSE(finding.observed.empty());
}

/// Checks that the conversations break every rule of the family.
template <class Family>
void expect_all_broken(const Family& family, const std::vector<Breach>& breaches) {
  std::set<std::string_view> broken;
  for (const Breach& each : breaches) broken.insert(each.rule);
  std::set<std::string_view> names;
  for (const Rule& rule : family) names.insert(rule.name);
  EXPECT_THAT(broken, testing::ContainerEq(names));
}

}  // namespace steertag::conformance
