// Tests of nfsstat4: every value has a name and a sentence.
#include "nfs/v4/status.h"

#include <gtest/gtest.h>

#include <set>

namespace steertag::nfs4 {
namespace {

TEST(Status, NamesAreTheRfcs) {
  EXPECT_EQ(rpc::name(Status::NFS4_OK), "NFS4_OK");
  EXPECT_EQ(rpc::name(Status::NFS4ERR_BADXDR), "NFS4ERR_BADXDR");
  EXPECT_EQ(static_cast<std::uint32_t>(Status::NFS4ERR_BADXDR), 10036u);
  EXPECT_EQ(static_cast<std::uint32_t>(Status::NFS4ERR_DELEG_REVOKED), 10087u);
  EXPECT_EQ(rpc::name(static_cast<Status>(10073)), "") << "unused (RFC 5662)";
}

TEST(Status, EveryValueHasASentenceOfItsOwn) {
  std::set<std::string_view> sentences;
  for (const auto& entry : names_of(Status{})) {
    const std::string_view text = sentence(entry.value);
    EXPECT_TRUE(text.ends_with('.')) << entry.name;
    EXPECT_TRUE(sentences.insert(text).second) << entry.name;
  }
  EXPECT_EQ(sentences.size(), 104u);
  EXPECT_EQ(sentence(static_cast<Status>(10073)), "");
}

}  // namespace
}  // namespace steertag::nfs4
