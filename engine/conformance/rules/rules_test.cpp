// The list of rules: names are unique, the list is complete, and a test expects every rule.
#include "conformance/rules/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace steertag::conformance {
namespace {

/// The text of all files with this suffix, of this folder and of those of extensions.
std::string sources(std::string_view ending) {
  const std::filesystem::path own(STEERTAG_CONFORMANCE_SOURCES);
  std::ostringstream text;
  for (const auto& folder : {own, own / "rules", own / "direct", own / "pnfs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().ends_with(ending)) {
        text << std::ifstream(entry.path()).rdbuf();
      }
    }
  }
  return text.str();
}

/// The group's text of every match.
std::set<std::string> matches(const std::string& text, const std::string& expression) {
  const std::regex pattern(expression);
  std::set<std::string> found;
  for (std::sregex_iterator each(text.begin(), text.end(), pattern), end; each != end; ++each) {
    found.insert(each->str(1));
  }
  return found;
}

std::set<std::string> names() {
  std::set<std::string> all;
  for (const Rule& rule : rules()) all.emplace(rule.name);
  return all;
}

TEST(Rules, HaveUniqueNamesAndSentences) {
  std::set<std::string_view> seen;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(seen.insert(rule.name).second) << rule.name << " appears twice";
    EXPECT_TRUE(rule.sentence.ends_with('.')) << rule.name;
    EXPECT_NE(ledger::find(rule.requirement.id()), nullptr) << rule.name;
  }
}

// A rule is an object of its own. Its family's table could lack it, and the compiler would not
// notice.
TEST(Rules, AreAllInTheTablesOfTheirFamilies) {
  EXPECT_THAT(names(),
              testing::ContainerEq(matches(sources("_rules.h"), R"re(\bRule k\w+\{\s*"(\w+)")re")));
  EXPECT_THAT(matches(sources(".cpp"), R"(\bRule (k\w+)\{)"), testing::IsEmpty())
      << "rules are defined in their family's header";
}

TEST(Rules, AreEachExpectedByATest) {
  const std::set<std::string> expected = matches(sources("_test.cpp"), R"re("(\w+)")re");
  for (const std::string& name : names()) {
    EXPECT_TRUE(expected.contains(name)) << name << " is in no test's expectation";
  }
}

}  // namespace
}  // namespace steertag::conformance
