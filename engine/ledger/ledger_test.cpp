// The generated table: complete, in order, and found by id at run time and compile time.
#include "ledger/ledger.h"
#include "ledger/unbroken.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace steertag::ledger {
namespace {

TEST(Ledger, HoldsEveryRequirement) {
  EXPECT_EQ(requirements().size(), kIds.size());
}

TEST(Ledger, IsSortedById) {
  const auto rows = requirements();
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i - 1].id, rows[i].id);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].id, kIds[i]);
}

TEST(Ledger, FindsEveryIdAndOnlyThose) {
  for (const Requirement& row : requirements()) EXPECT_EQ(find(row.id), &row) << row.id;
  for (const char* id : {"", "RFC8166", "RFC8166-4.2.1-0", "RFC8166-4.2.1-1 ", "ZZZ", "\xff"}) {
    EXPECT_EQ(find(id), nullptr) << '"' << id << '"';
  }
}

TEST(Ledger, SplitsTheIdAndKeepsTheWords) {
  const Requirement* row = find("RFC8166-4.2.1-1");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->document, "RFC8166");
  EXPECT_EQ(row->section, "4.2.1");
  EXPECT_EQ(row->level, Level::must);
  EXPECT_EQ(row->role, "sender");
  EXPECT_EQ(row->subject, "xid");
  EXPECT_EQ(find("RFC8166-A.2-1")->section, "A.2");
  EXPECT_EQ(find("CALLAGHAN2003-4.4-1")->document, "CALLAGHAN2003");
}

TEST(Ledger, EveryRowIsWholeAndItsDocumentHasATitle) {
  for (const Requirement& row : requirements()) {
    EXPECT_FALSE(row.statement.empty()) << row.id;
    EXPECT_FALSE(row.observable.empty()) << row.id;
    EXPECT_FALSE(row.test.empty()) << row.id;
    EXPECT_TRUE(std::any_of(documents().begin(), documents().end(), [&](const Document& document) {
      return document.name == row.document && !document.title.empty();
    })) << row.id;
  }
}

TEST(Ledger, RefIsTheRowOfItsId) {
  constexpr Ref requirement = ref("RFC8166-4.2.1-1");
  static_assert(requirement.id() == "RFC8166-4.2.1-1");
  EXPECT_EQ(requirement.get(), find("RFC8166-4.2.1-1"));
  EXPECT_EQ(requirement->section, "4.2.1");
  constexpr Ref first = ref(kIds.front());
  constexpr Ref last = ref(kIds.back());
  EXPECT_EQ(first.get(), &requirements().front());
  EXPECT_EQ(last.get(), &requirements().back());
}

TEST(Ledger, SaysWhyARowIsUnbroken) {
  const Unbroken* found = unbroken("RFC8166-8.1.1-1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->id, "RFC8166-8.1.1-1");
  EXPECT_FALSE(found->server.empty());
  EXPECT_EQ(unbroken("RFC8166-4.2.1-1"), nullptr);
  EXPECT_EQ(unbroken("RFC9999-1-1"), nullptr);
  for (const Requirement& row : requirements()) {
    if (const Unbroken* one = unbroken(row.id)) {
      EXPECT_FALSE(one->server.empty() && one->client.empty()) << row.id;
    }
  }
}

TEST(Ledger, NamesLevelsAsRfc2119Does) {
  EXPECT_EQ(name(Level::must), "MUST");
  EXPECT_EQ(name(Level::must_not), "MUST NOT");
  EXPECT_EQ(name(Level::should), "SHOULD");
  EXPECT_EQ(name(Level::should_not), "SHOULD NOT");
  EXPECT_EQ(name(Level::may), "MAY");
  EXPECT_EQ(name(Level::required), "REQUIRED");
  EXPECT_EQ(name(Level::optional), "OPTIONAL");
  EXPECT_EQ(name(Level::not_recommended), "NOT RECOMMENDED");
  EXPECT_EQ(name(Level::def), "DEF");
}

}  // namespace
}  // namespace steertag::ledger
