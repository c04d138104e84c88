// Changes of a directory export are on the host's disk before they are acknowledged.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "server/testing/directory_fixture.h"
#include "server/testing/somebody_fixture.h"

namespace {

/// The calls of this program that force something to the disk.
struct Syncs {
  std::atomic<int> objects{0};
  std::atomic<int> file_systems{0};
  std::atomic<bool> fails{false};
};
Syncs syncs;

}  // namespace

// These take the place of the C library's.
extern "C" int fsync(int file) {
  ++syncs.objects;
  return static_cast<int>(::syscall(SYS_fsync, file));
}

extern "C" int syncfs(int file) noexcept {
  ++syncs.file_systems;
  if (!syncs.fails) return static_cast<int>(::syscall(SYS_syncfs, file));
  errno = EIO;
  return -1;
}

namespace steertag::peer::testing {
namespace {

class DirectorySyncTest : public DirectoryTest {
 protected:
  DirectorySyncTest() {
    std::filesystem::permissions(exported(), std::filesystem::perms::all);
    somebody.emplace();
    forced();  // by other tests
  }
  ~DirectorySyncTest() override {
    syncs.fails = false;
    storage.reset();
    somebody.reset();
  }
  Status set_mode(NodeId node, std::uint32_t mode) {
    AttributeChange change;
    change.mode = mode;
    return storage->change(node, change);
  }
  Status touch(NodeId node) {
    AttributeChange change;
    change.mtime.to = Time{1, 0};
    return storage->change(node, change);
  }
  /// (objects, file systems) that were forced since the last question.
  std::pair<int, int> forced() {
    return {syncs.objects.exchange(0), syncs.file_systems.exchange(0)};
  }

  using Forced = std::pair<int, int>;
  std::optional<AsSomebody> somebody;
};

TEST_F(DirectorySyncTest, WhatTheServersUserMayReadIsForcedAlone) {
  const NodeId file = *make(storage->root(), "file");
  EXPECT_EQ(forced(), Forced(2, 0)) << "the file and its directory";
  EXPECT_EQ(set_mode(file, 0600), Status::ok);
  EXPECT_EQ(forced(), Forced(1, 0));
}

TEST_F(DirectorySyncTest, WhatTheServersUserMayNotReadIsForcedWithTheFileSystem) {
  const NodeId file = *make(storage->root(), "file");
  forced();
  EXPECT_EQ(set_mode(file, 0), Status::ok);
  EXPECT_EQ(forced(), Forced(0, 1)) << "SETATTR was acknowledged, and is not on the disk";
  ASSERT_TRUE(make(storage->root(), "closed", FileType::regular, 0));
  EXPECT_EQ(forced(), Forced(1, 1)) << "CREATE was acknowledged, and is not on the disk";
  const NodeId directory = *make(storage->root(), "directory", FileType::directory, 0300);
  EXPECT_EQ(forced(), Forced(1, 1));
  ASSERT_TRUE(make(directory, "inside"));
  EXPECT_EQ(forced(), Forced(1, 1)) << "the name is not on the disk";
  EXPECT_EQ(storage->remove(directory, "inside"), Status::ok);
  EXPECT_EQ(forced(), Forced(0, 1)) << "REMOVE was acknowledged, and is not on the disk";
}

TEST_F(DirectorySyncTest, WhatIsNeverOpenedIsForcedWithTheFileSystem) {
  for (const FileType type : {FileType::link, FileType::fifo, FileType::socket}) {
    const std::string name = std::to_string(static_cast<int>(type));
    const NodeId node = *make(storage->root(), name, type);
    EXPECT_EQ(forced(), Forced(1, 1)) << name;
    EXPECT_EQ(touch(node), Status::ok);
    EXPECT_EQ(forced(), Forced(0, 1)) << name;
  }
}

TEST_F(DirectorySyncTest, WhatTheHostCannotWriteIsNotAcknowledged) {
  const NodeId link = *make(storage->root(), "link", FileType::link);
  syncs.fails = true;
  EXPECT_EQ(touch(link), Status::io);
}

TEST_F(DirectorySyncTest, AnExportThatTheServersUserMayReadNoMore) {
  const NodeId file = *make(storage->root(), "file");
  somebody.reset();
  std::filesystem::permissions(exported(), std::filesystem::perms::owner_exec |
                                               std::filesystem::perms::group_exec |
                                               std::filesystem::perms::others_exec);
  somebody.emplace();
  forced();
  EXPECT_EQ(set_mode(file, 0), Status::ok);
  EXPECT_EQ(forced(), Forced(0, 1));
}

}  // namespace
}  // namespace steertag::peer::testing
