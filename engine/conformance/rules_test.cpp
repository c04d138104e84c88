// The list of rules: whole, unique, and no rule without a test by its name.
#include "conformance/rule.h"

#include <gtest/gtest.h>

#include <set>

namespace steertag::conformance {
namespace {

TEST(Rules, HaveUniqueNamesAndSentences) {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name << " appears twice";
    EXPECT_TRUE(rule.sentence.ends_with('.')) << rule.name;
    EXPECT_NE(ledger::find(rule.requirement.id()), nullptr) << rule.name;
  }
  EXPECT_GE(names.size(), 60u);
}

}  // namespace
}  // namespace steertag::conformance
