// Private data variants: our own receiver finds the stated meaning in each.
#include "mutate/private_data_mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "wire/testing.h"

namespace steertag::mutate {
namespace {

TEST(PrivateDataVariants, MeanWhatTheSearchFinds) {
  for (const wire::PrivateData& legal :
       {wire::PrivateData{true, 4096, 4096}, wire::PrivateData{false, 262144, 1024}}) {
    for (const PrivateDataVariant& each : private_data(legal)) {
      const auto found = wire::find_private_data(each.bytes);
      const auto text = each.name + ": " + wire::testing::to_hex(each.bytes);
      ASSERT_EQ(found.has_value(), each.meaning.has_value()) << text;
      if (found) {
        EXPECT_EQ(found->data, *each.meaning) << text;
      }
    }
  }
}

TEST(PrivateDataVariants, HaveUniquePermanentNamesAndFit) {
  std::set<std::string> names;
  for (const PrivateDataVariant& each : private_data({})) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name << " is there twice";
    EXPECT_LE(each.bytes.size(), kMostPrivateDataBytes) << each.name;
  }
  for (const char* name :
       {"private-data.absent", "private-data.short-by-1", "private-data.short-by-7",
        "private-data.identifier-one-bit-flipped", "private-data.unaligned-1",
        "private-data.unaligned-7", "private-data.at-the-end", "private-data.version-255",
        "private-data.reserved-bit-7", "private-data.trailing-junk",
        "private-data.two-announcements", "private-data.send-0xff-receive-0x00"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

}  // namespace
}  // namespace steertag::mutate
