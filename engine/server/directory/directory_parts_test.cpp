// The parts of the directory export that know nothing of the host.
#include <gtest/gtest.h>

#include <cerrno>

#include "nfs/nfs3_types.h"
#include "server/directory/host_error.h"
#include "server/directory/inode_path_cache.h"

namespace steertag::peer::testing {
namespace {

TEST(RecentMapTest, TheLeastRecentlyUsedMakesRoom) {
  LruMap<int, int> map(2);
  map.put(1) = 10;
  map.put(2) = 20;
  ASSERT_NE(map.find(1), nullptr);
  map.put(3) = 30;
  EXPECT_EQ(map.find(2), nullptr);
  EXPECT_EQ(*map.find(1), 10);
  EXPECT_EQ(*map.find(3), 30);
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map.dropped(), 1U);
  map.erase(1);
  map.erase(1);
  EXPECT_EQ(map.size(), 1U);
  map.clear();
  EXPECT_EQ(map.find(3), nullptr);
  EXPECT_EQ(map.dropped(), 0U);
}

TEST(PlaceIndexTest, PathsFollowTheDirectories) {
  InodePathCache index(1);
  index.learn(2, 1, "a");
  index.learn(3, 2, "b");
  index.learn(4, 3, "file");
  EXPECT_EQ(index.path(index.places(4).front()), "a/b/file");
  index.learn(2, 1, "moved");
  EXPECT_EQ(index.path(index.places(4).front()), "moved/b/file");
  index.learn(4, 1, "link");
  ASSERT_EQ(index.places(4).size(), 2U);
  EXPECT_EQ(index.path(index.places(4).front()), "link");
  index.forget(4, 1, "link");
  EXPECT_EQ(index.places(4).size(), 1U);
  index.bury(4);
  EXPECT_TRUE(index.is_buried(4));
  index.learn(4, 1, "again");
  EXPECT_FALSE(index.is_buried(4));
}

TEST(PlaceIndexTest, OutdatedPlacesAreNoPath) {
  InodePathCache index(1);
  index.learn(2, 3, "a");
  EXPECT_FALSE(index.path({2, "b"})) << "the directory above is not known";
  index.learn(3, 2, "b");
  EXPECT_FALSE(index.path({2, "c"})) << "a circle";
  for (std::size_t i = 0; i < 2 * kMostPlacesPerObject; ++i) index.learn(5, 1, std::to_string(i));
  EXPECT_EQ(index.places(5).size(), kMostPlacesPerObject);
}

TEST(HostErrorTest, EveryErrorIsOneOfNfs) {
  EXPECT_EQ(from_errno(ENOENT), Status::no_entry);
  EXPECT_EQ(from_errno(ENOSPC), Status::no_space);
  EXPECT_EQ(from_errno(EDQUOT), Status::over_quota);
  EXPECT_EQ(from_errno(EROFS), Status::read_only);
  EXPECT_EQ(from_errno(EMFILE), Status::jukebox);
  EXPECT_EQ(from_errno(ENOTRECOVERABLE), Status::io);
  // Wherever NFS has the host's number it means the same (RFC 1813 2.6).
  for (const int error : {EPERM, ENOENT, EIO, EACCES, EEXIST, EXDEV, ENOTDIR, EISDIR, EINVAL, EFBIG,
                          ENOSPC, EROFS, EMLINK})
    EXPECT_EQ(static_cast<int>(from_errno(error)), error);
  EXPECT_EQ(static_cast<nfs3::Status>(Status::over_quota), nfs3::Status::NFS3ERR_DQUOT);
  EXPECT_EQ(static_cast<nfs3::Status>(Status::jukebox), nfs3::Status::NFS3ERR_JUKEBOX);
}

}  // namespace
}  // namespace steertag::peer::testing
