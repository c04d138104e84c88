// Attempts to leave a directory export, or to make the server open what it must not.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <atomic>
#include <thread>

#include "server/testing/directory_fixture.h"

namespace steertag::peer::testing {
namespace {

namespace fs = std::filesystem;

/// By each of the means that a host may allow.
class ByEachMeansTest : public DirectoryTest,
                        public ::testing::WithParamInterface<ConfinedOpen::Means> {
 protected:
  ByEachMeansTest() { options.means = GetParam(); }
};

class DirectoryEscapeTest : public ByEachMeansTest {};

TEST_P(DirectoryEscapeTest, LinksAreShownAndNeverFollowed) {
  fs::create_symlink(place / "outside", in_export("absolute"));
  fs::create_symlink("../outside", in_export("relative"));
  fs::create_symlink("../outside/secret", in_export("file"));
  fs::create_symlink("/proc/self/root", in_export("magic"));
  for (const char* name : {"absolute", "relative", "file", "magic"}) {
    const auto link = look(name);
    ASSERT_TRUE(link) << name;
    EXPECT_EQ(storage->attributes(*link)->type, FileType::link) << name;
    EXPECT_EQ(storage->lookup(*link, "secret").error(), Status::not_directory) << name;
    EXPECT_EQ(make(*link, "made").error(), Status::not_directory) << name;
    EXPECT_EQ(read(*link), "status 22") << name;
    EXPECT_EQ(write(*link, "x"), Status::invalid) << name;
    AttributeChange change;
    change.size_bytes = 0;
    EXPECT_EQ(storage->change(*link, change), Status::invalid) << name;
    change = {};
    change.mode = 0777;
    EXPECT_EQ(storage->change(*link, change), Status::ok) << name;
  }
  const auto text = storage->read_link(*look("relative"));
  EXPECT_EQ(copy(text->bytes), copy(std::as_bytes(std::span(std::string_view("../outside")))));
  EXPECT_EQ(host_file(place / "outside/secret"), kSecret);
  EXPECT_EQ(fs::status(place / "outside/secret").permissions() & fs::perms::others_write,
            fs::perms::none);
}

TEST_P(DirectoryEscapeTest, NamesAreSingleComponents) {
  ASSERT_TRUE(make(storage->root(), "directory", FileType::directory));
  ASSERT_TRUE(make(storage->root(), "file"));
  const NodeId root = storage->root();
  EXPECT_EQ(look("..").value_or(0), root);
  const std::string too_long(256, 'n');
  const std::string_view nul("file\0x", 6);
  for (const std::string_view name :
       {std::string_view("../outside"), std::string_view("directory/.."), std::string_view("/etc"),
        std::string_view("a/b"), nul, std::string_view(), std::string_view(too_long)}) {
    EXPECT_FALSE(look(name)) << name;
    EXPECT_FALSE(make(root, name)) << name;
    EXPECT_FALSE(make(root, name, FileType::directory)) << name;
    EXPECT_FALSE(make(root, name, FileType::link)) << name;
    EXPECT_NE(storage->remove(root, name), Status::ok) << name;
    EXPECT_NE(storage->remove_directory(root, name), Status::ok) << name;
    EXPECT_NE(storage->rename(root, "file", root, name), Status::ok) << name;
    EXPECT_NE(storage->rename(root, name, root, "other"), Status::ok) << name;
    EXPECT_NE(storage->link(*look("file"), root, name), Status::ok) << name;
  }
  for (const std::string_view dots : {".", ".."}) {
    EXPECT_EQ(make(root, dots, FileType::directory).error(), Status::exists);
    EXPECT_NE(storage->remove_directory(root, dots), Status::ok);
    EXPECT_NE(storage->rename(root, dots, root, "other"), Status::ok);
    EXPECT_NE(storage->rename(root, "file", root, dots), Status::ok);
  }
  EXPECT_TRUE(fs::exists(place / "outside/secret"));
  EXPECT_EQ(std::distance(fs::directory_iterator(exported()), fs::directory_iterator()), 2);
}

TEST_P(DirectoryEscapeTest, WhatWasMovedOutIsGone) {
  const NodeId directory = *make(storage->root(), "directory", FileType::directory);
  const NodeId below = *make(directory, "below", FileType::directory);
  const NodeId file = *make(below, "file");
  ASSERT_EQ(write(file, "inside"), Status::ok);
  const Handle handles[] = {storage->handle(directory), storage->handle(below),
                            storage->handle(file)};
  fs::rename(in_export("directory"), place / "outside/directory");
  EXPECT_EQ(storage->lookup(below, "file").error(), Status::stale);
  EXPECT_EQ(storage->lookup(below, "..").error(), Status::stale);
  EXPECT_EQ(make(below, "made").error(), Status::stale);
  EXPECT_EQ(read(file), "status 70") << "a descriptor that was kept open still reads";
  EXPECT_EQ(write(file, "changed"), Status::stale);
  for (const Handle& handle : handles) EXPECT_EQ(resolve(handle), Status::stale);
  open();
  for (const Handle& handle : handles) EXPECT_EQ(resolve(handle), Status::stale);
  EXPECT_EQ(host_file(place / "outside/directory/below/file"), "inside");
  // And back again, which is the host's right.
  fs::rename(place / "outside/directory", in_export("back"));
  open();
  for (const Handle& handle : handles) EXPECT_EQ(resolve(handle), Status::ok);
}

TEST_P(DirectoryEscapeTest, DirectoriesThatBecameLinksLeadNowhere) {
  const NodeId directory = *make(storage->root(), "directory", FileType::directory);
  const NodeId below = *make(directory, "below", FileType::directory);
  const NodeId file = *make(below, "file");
  ASSERT_EQ(write(file, "inside"), Status::ok);
  // The link leads to the very same objects, and still out of the export.
  fs::rename(in_export("directory"), place / "outside/directory");
  fs::create_symlink("../outside/directory", in_export("directory"));
  EXPECT_EQ(read(file), "status 70");
  EXPECT_EQ(write(file, "changed"), Status::stale);
  EXPECT_EQ(storage->lookup(below, "file").error(), Status::stale);
  EXPECT_EQ(storage->remove(below, "file"), Status::stale);
  EXPECT_EQ(storage->rename(below, "file", storage->root(), "file"), Status::stale);
  EXPECT_EQ(storage->link(file, storage->root(), "link"), Status::stale);
  EXPECT_EQ(storage->lookup(*look("directory"), "below").error(), Status::not_directory);
  EXPECT_EQ(host_file(place / "outside/directory/below/file"), "inside");
}

TEST_P(DirectoryEscapeTest, HandlesOfOtherExportsAndKeysAreNotTaken) {
  ASSERT_TRUE(make(storage->root(), "file"));
  const Handle handle = handle_of("file");
  const Handle root = storage->handle(storage->root());
  DirectoryOptions other = options;
  other.path = place / "outside";
  const auto beside = *DirectoryBackend::open(other, clock(), seeded_random(9));
  EXPECT_EQ(beside->resolve(View(root)).error(), Status::bad_handle);
  EXPECT_EQ(beside->resolve(View(handle)).error(), Status::bad_handle);
  const Handle secret = beside->handle(*beside->lookup(beside->root(), "secret"));
  EXPECT_EQ(resolve(secret), Status::bad_handle);
  options.key = {3, 5};
  open();
  EXPECT_EQ(resolve(handle), Status::bad_handle);
  EXPECT_EQ(resolve(root), Status::bad_handle);
  EXPECT_EQ(storage->resolve(View(handle).first(31)).error(), Status::bad_handle);
}

TEST_P(DirectoryEscapeTest, NamesThatBecomeLinksMeanwhileLeadNowhere) {
  const NodeId directory = *make(storage->root(), "directory", FileType::directory);
  const NodeId file = *make(directory, "secret");
  ASSERT_EQ(write(file, "inside"), Status::ok);
  fs::create_symlink("../outside", in_export("link"));
  const std::string one = in_export("directory");
  const std::string two = in_export("link");
  std::atomic<bool> end = false;
  std::thread host([&] {
    while (!end) ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(), RENAME_EXCHANGE);
  });
  std::size_t reads = 0;
  constexpr std::size_t kRounds = 3000;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const auto found = look("directory");
    if (!found) continue;
    if (const auto below = storage->lookup(*found, "secret")) {
      EXPECT_NE(read(*below), kSecret);
      ++reads;
    }
    (void)write(file, "inside");
    if (i % 16 == 0) {
      (void)make(*found, "made");
      (void)storage->remove(*found, "made");
    }
  }
  end = true;
  host.join();
  EXPECT_GT(reads, 0U);
  EXPECT_EQ(host_file(place / "outside/secret"), kSecret);
  EXPECT_FALSE(fs::exists(place / "outside/made"));
}

TEST_P(DirectoryEscapeTest, FifosAndSocketsAreNeverOpened) {
  ASSERT_TRUE(make(storage->root(), "fifo", FileType::fifo));
  ASSERT_TRUE(make(storage->root(), "socket", FileType::socket));
  ASSERT_EQ(::mkfifo(in_export("host").c_str(), 0666), 0);
  for (const char* name : {"fifo", "socket", "host"}) {
    const auto node = look(name);
    ASSERT_TRUE(node) << name;
    EXPECT_EQ(read(*node), "status 22") << name;  // an open would wait for the other end
    EXPECT_EQ(write(*node, "x"), Status::invalid) << name;
    EXPECT_EQ(storage->commit(*node), Status::invalid) << name;
    AttributeChange change;
    change.mode = 0640;
    change.mtime.to = Time{5, 6};
    EXPECT_EQ(storage->change(*node, change), Status::ok) << name;
    EXPECT_EQ(storage->attributes(*node)->mtime, (Time{5, 6})) << name;
    EXPECT_EQ(resolve(handle_of(name)), Status::ok);
  }
}

/// With a mount namespace of its own; only root can have one.
class MountTest : public ByEachMeansTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can mount";
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      GTEST_SKIP() << "mounting is not allowed here";
    fs::create_directory(in_export("mounted"));
    DirectoryTest::SetUp();
  }
  void TearDown() override {
    storage.reset();
    for (const std::string& path : mounts) ::umount2(path.c_str(), MNT_DETACH);
  }
  void mount(const fs::path& path, const char* data) {
    ASSERT_EQ(::mount("tmpfs", path.c_str(), "tmpfs", 0, data), 0);
    mounts.push_back(path);
  }
  std::vector<std::string> mounts;
};

TEST_P(MountTest, WhatIsMountedBelowIsNotPartOfTheExport) {
  const Handle before = handle_of("mounted");
  mount(in_export("mounted"), "size=1m");
  write_host_file(in_export("mounted/file"), "other");
  EXPECT_EQ(look("mounted").error(), Status::access);
  EXPECT_EQ(resolve(before), Status::stale);
  EXPECT_EQ(resolve(before), Status::stale) << "a search for it was under way";
  const auto visit = [&](const DirectoryEntry& entry) {
    if (entry.name != "mounted") return true;
    const auto attributes = storage->attributes(entry.node);
    EXPECT_FALSE(attributes);
    EXPECT_EQ(attributes.error(), Status::stale) << "a listing has to wait for a search";
    return true;
  };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(storage->list(storage->root(), 0, visit));
  EXPECT_EQ(storage->remove_directory(storage->root(), "mounted"), Status::access);
  ASSERT_TRUE(make(storage->root(), "file"));
  EXPECT_EQ(storage->rename(storage->root(), "mounted", storage->root(), "x"),
            Status::cross_device);
  // Where two mounts show the same file system, names of one do not lead into the other.
  fs::create_directory(in_export("bound"));
  ASSERT_EQ(
      ::mount((place / "outside").c_str(), in_export("bound").c_str(), nullptr, MS_BIND, nullptr),
      0);
  mounts.push_back(in_export("bound"));
  EXPECT_EQ(look("bound").error(), Status::access);
}

TEST_P(MountTest, FullAndReadOnlyFileSystems) {
  mount(exported(), "size=256k,nr_inodes=8");
  open();
  const NodeId file = *make(storage->root(), "file");
  ASSERT_EQ(write(file, "kept"), Status::ok);
  const std::string large(512 << 10, 'x');
  EXPECT_EQ(write(file, large, 4096), Status::no_space);
  EXPECT_EQ(read(file, 0, 4), "kept");
  AttributeChange change;
  change.size_bytes = 4;
  EXPECT_EQ(storage->change(file, change), Status::ok);
  Result<NodeId> made = file;
  for (int i = 0; i < 16 && made; ++i) made = make(storage->root(), "n" + std::to_string(i));
  EXPECT_EQ(made.error(), Status::no_space);
  ASSERT_EQ(::mount(nullptr, exported().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), -1)
      << "descriptors that are open for writing keep it writable";
  open();
  ASSERT_EQ(::mount(nullptr, exported().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_EQ(read(*look("file")), "kept");
  EXPECT_EQ(write(*look("file"), "x"), Status::read_only);
  EXPECT_EQ(make(storage->root(), "more").error(), Status::read_only);
  EXPECT_EQ(storage->remove(storage->root(), "file"), Status::read_only);
  EXPECT_EQ(storage->rename(storage->root(), "file", storage->root(), "x"), Status::read_only);
}

TEST_P(MountTest, DevicesAreNeverOpened) {
  // Read by mistake, this one would give octets.
  ASSERT_EQ(::mknod(in_export("zero").c_str(), S_IFCHR | 0666, ::makedev(1, 5)), 0);
  const NodeId zero = *look("zero");
  EXPECT_EQ(storage->attributes(zero)->type, FileType::character);
  EXPECT_EQ(read(zero), "status 22");
  EXPECT_EQ(write(zero, "x"), Status::invalid);
}

constexpr ConfinedOpen::Means kMeans[] = {ConfinedOpen::Means::openat2,
                                          ConfinedOpen::Means::each_step};
std::string name_of(const ::testing::TestParamInfo<ConfinedOpen::Means>& info) {
  return info.param == ConfinedOpen::Means::openat2 ? "Openat2" : "EachStep";
}
INSTANTIATE_TEST_SUITE_P(By, DirectoryEscapeTest, ::testing::ValuesIn(kMeans), name_of);
INSTANTIATE_TEST_SUITE_P(By, MountTest, ::testing::ValuesIn(kMeans), name_of);

}  // namespace
}  // namespace steertag::peer::testing
