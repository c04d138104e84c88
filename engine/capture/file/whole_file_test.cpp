// The file appears once it is complete; until then the old one stays.
#include "capture/file/whole_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/file/testing.h"

namespace steertag::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TemporaryFolder;

const Bytes kOld = {std::byte{'o'}, std::byte{'l'}, std::byte{'d'}};

TEST(WholeFile, ReplacesWhatWasThereAtTheEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", kOld);
  auto file = WholeFile::create(path);
  ASSERT_TRUE(file) << file.error().message();
  file->out() << "new";
  EXPECT_EQ(folder.read("a"), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WholeFile, LeavesNothingOfWhatWasNotCommitted) {
  const TemporaryFolder folder;
  {
    auto file = WholeFile::create(folder.path("a"));
    ASSERT_TRUE(file) << file.error().message();
    file->out() << "half";
    EXPECT_EQ(folder.names().size(), 1u);
  }
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(WholeFile, GoesPastUnfinishedFilesOfOthers) {
  const TemporaryFolder folder;
  folder.write("a.part0", kOld);
  auto file = WholeFile::create(folder.path("a"));
  ASSERT_TRUE(file && file->commit());
  EXPECT_THAT(folder.names(), ElementsAre("a", "a.part0"));
}

TEST(WholeFile, ALinkKeepsLeadingToTheFile) {
  const TemporaryFolder folder;
  folder.write("a", kOld);
  std::filesystem::create_symlink("a", folder.path("link"));
  auto file = WholeFile::create(folder.path("link"));
  ASSERT_TRUE(file) << file.error().message();
  file->out() << "new";
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
}

TEST(WholeFile, ADeviceIsNotReplaced) {
  auto file = WholeFile::create("/dev/null");
  ASSERT_TRUE(file) << file.error().message();
  file->out() << "gone";
  EXPECT_TRUE(file->commit());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WholeFile, SaysWhatItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_THAT(WholeFile::create(folder.path(".")).error().message(),
              HasSubstr("cannot be written: it is a directory"));
  EXPECT_THAT(WholeFile::create(folder.path("none/a")).error().message(),
              HasSubstr("cannot be written: No such file or directory"));
}

TEST(WholeFile, AFullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  auto file = WholeFile::create("/dev/full");
  ASSERT_TRUE(file) << file.error().message();
  file->out() << "too much";
  const auto committed = file->commit();
  ASSERT_FALSE(committed);
  EXPECT_THAT(committed.error().message(), HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace steertag::capture
