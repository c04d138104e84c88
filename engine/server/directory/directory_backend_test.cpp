// The directory export by itself: restarts, the host's own changes, limits and owners.
// nfs3_test.cpp has what it has in common with other storages.
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <set>

#include "server/testing/directory_fixture.h"
#include "server/testing/somebody_fixture.h"

namespace steertag::peer::testing {
namespace {

namespace fs = std::filesystem;

class DirectoryBackendTest : public DirectoryTest {
 protected:
  struct stat host_status(std::string_view name) {
    struct stat status {};
    EXPECT_EQ(::lstat(in_export(name).c_str(), &status), 0) << name;
    return status;
  }
  /// A search took some nanoseconds of the test's clock; the rest after it is over.
  void rest() { ++time.seconds; }
};

TEST_F(DirectoryBackendTest, ExportsOnlyDirectories) {
  const auto sentence = [&](const fs::path& path) {
    options.path = path;
    const auto made = DirectoryBackend::open(options, clock(), seeded_random(1));
    return made ? std::string() : made.error();
  };
  EXPECT_EQ(sentence(place / "missing"),
            "cannot export " + (place / "missing").string() + ": No such file or directory");
  EXPECT_EQ(sentence(place / "outside/secret"),
            "cannot export " + (place / "outside/secret").string() + ": Not a directory");
  if (::geteuid() == 0) return;
  fs::permissions(place / "outside", fs::perms::none);
  EXPECT_EQ(sentence(place / "outside"),
            "cannot export " + (place / "outside").string() + ": Permission denied");
  fs::permissions(place / "outside", fs::perms::owner_all);
}

TEST_F(DirectoryBackendTest, HandlesSurviveARestartWithTheirKey) {
  const NodeId directory = *make(storage->root(), "directory", FileType::directory);
  const NodeId deep = *make(directory, "deep", FileType::directory);
  const NodeId file = *make(deep, "file");
  const NodeId link = *make(deep, "link", FileType::link);
  const NodeId gone = *make(deep, "gone");
  std::vector<Handle> handles;
  for (const NodeId node : {storage->root(), directory, deep, file, link})
    handles.push_back(storage->handle(node));
  const Handle of_gone = storage->handle(gone);
  const std::uint64_t verifier = storage->write_verifier();
  const std::uint64_t filesystem_id = storage->attributes(file)->filesystem_id;
  storage.reset();
  fs::rename(in_export("directory/deep"), in_export("elsewhere"));
  fs::remove(in_export("elsewhere/gone"));
  open();
  EXPECT_NE(storage->write_verifier(), verifier);
  for (const Handle& handle : handles) EXPECT_EQ(resolve(handle), Status::ok);
  EXPECT_EQ(resolve(of_gone), Status::stale);
  EXPECT_EQ(storage->attributes(file)->filesystem_id, filesystem_id);
  EXPECT_EQ(storage->lookup(deep, "..").value_or(0), storage->root());
  EXPECT_EQ(storage->handle(file), handles[3]);
}

TEST_F(DirectoryBackendTest, AHandleOfWhatWentMeanwhileIsStale) {
  const NodeId gone = *make(storage->root(), "gone");
  fs::remove(in_export("gone"));
  EXPECT_EQ(resolve(storage->handle(gone)), Status::stale)
      << "the file went between its creation and the question for its handle";
  const NodeId stays = *make(storage->root(), "stays");
  const Handle before = storage->handle(stays);
  fs::rename(in_export("stays"), place / "outside/stays");
  rest();
  const Handle meanwhile = storage->handle(stays);
  EXPECT_EQ(resolve(meanwhile), Status::stale);
  fs::rename(place / "outside/stays", in_export("stays"));
  rest();
  EXPECT_EQ(resolve(before), Status::ok);
  EXPECT_EQ(resolve(meanwhile), Status::stale) << "made while the file was away";
}

TEST_F(DirectoryBackendTest, RenamesOfTheHostAreFound) {
  const NodeId directory = *make(storage->root(), "directory", FileType::directory);
  const NodeId file = *make(directory, "file");
  const Handle handle = storage->handle(file);
  fs::rename(in_export("directory"), in_export("renamed"));
  EXPECT_EQ(resolve(handle), Status::ok);
  rest();
  fs::rename(in_export("renamed/file"), in_export("up"));
  EXPECT_EQ(resolve(handle), Status::ok);
  EXPECT_EQ(write(file, "text"), Status::ok);
  EXPECT_EQ(host_file(in_export("up")), "text");
  // The directory is replaced by another with the same name and file name.
  rest();
  fs::create_directory(in_export("up.d"));
  fs::rename(in_export("up"), in_export("up.d/file"));
  EXPECT_EQ(storage->lookup(directory, "..").value_or(0), storage->root());
  EXPECT_EQ(resolve(handle), Status::ok);
  rest();
  fs::rename(in_export("up.d"), in_export("old"));
  fs::create_directory(in_export("up.d"));
  write_host_file(in_export("up.d/file"), "another");
  EXPECT_EQ(read(*storage->resolve(View(handle))), "text");
}

TEST_F(DirectoryBackendTest, AHandleOfAnotherServerIsSearchedForAtOnce) {
  for (const bool shares_handles : {false, true}) {
    options.shares_handles = shares_handles;
    auto other = DirectoryBackend::open(options, clock(), seeded_random(++starts));
    ASSERT_TRUE(other) << other.error();
    const auto resolves = [&](std::string_view name) {
      const NodeId node = *make(storage->root(), name);
      const auto found = (*other)->resolve(View(storage->handle(node)));
      return found ? Status::ok : found.error();
    };
    const std::string name = shares_handles ? "shared" : "own";
    EXPECT_EQ(resolves(name + ".one"), Status::ok);
    EXPECT_EQ(resolves(name + ".two"), shares_handles ? Status::ok : Status::stale)
        << "it was made behind the last search";
  }
}

TEST_F(DirectoryBackendTest, SearchesRest) {
  const NodeId one = *make(storage->root(), "one");
  const NodeId two = *make(storage->root(), "two");
  const Handle of_one = storage->handle(one);
  const Handle of_two = storage->handle(two);
  fs::rename(in_export("one"), in_export("one.moved"));
  EXPECT_EQ(resolve(of_one), Status::ok);
  time.nanoseconds = 0;  // a clock that is set back is no reason to wait
  fs::rename(in_export("two"), in_export("two.moved"));
  EXPECT_EQ(resolve(of_two), Status::ok);
  fs::rename(in_export("two.moved"), in_export("two"));
  EXPECT_EQ(resolve(of_two), Status::jukebox) << "it is there, but was not looked for";
  rest();
  EXPECT_EQ(resolve(of_two), Status::ok);
  fs::remove(in_export("one.moved"));
  fs::remove(in_export("two"));
  rest();
  EXPECT_EQ(resolve(of_one), Status::stale);
  EXPECT_EQ(resolve(of_two), Status::stale) << "the search for the other one saw it gone";
}

TEST_F(DirectoryBackendTest, TreesLargerThanTheMemoryOfPlaces) {
  options.most_placed_objects = 8;
  open();
  std::vector<Handle> handles;
  NodeId at = storage->root();
  for (int depth = 0; depth < 4; ++depth) {
    at = *make(at, "d", FileType::directory);
    handles.push_back(storage->handle(at));
    for (int i = 0; i < 8; ++i)
      handles.push_back(storage->handle(*make(at, "f" + std::to_string(i))));
  }
  for (const Handle& handle : handles) {
    rest();
    EXPECT_EQ(resolve(handle), Status::ok);
  }
}

TEST_F(DirectoryBackendTest, UsedInodeNumbersAreNotTheOldObject) {
  std::size_t reused = 0;
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    const NodeId node = *make(storage->root(), "file");
    const Handle handle = storage->handle(node);
    fs::remove(in_export("file"));
    write_host_file(in_export("file"), "another");
    reused += host_status("file").st_ino == node ? 1 : 0;
    rest();
    EXPECT_EQ(resolve(handle), Status::stale) << "round " << i;
    fs::remove(in_export("file"));
  }
  RecordProperty("reused", static_cast<int>(reused));
}

TEST_F(DirectoryBackendTest, HardLinksKeepTheirHandle) {
  const NodeId file = *make(storage->root(), "one");
  const Handle handle = storage->handle(file);
  ASSERT_EQ(storage->link(file, storage->root(), "two"), Status::ok);
  ASSERT_EQ(storage->remove(storage->root(), "two"), Status::ok);
  EXPECT_EQ(resolve(handle), Status::ok);
  fs::create_hard_link(in_export("one"), in_export("three"));
  ASSERT_EQ(storage->remove(storage->root(), "one"), Status::ok);
  EXPECT_EQ(resolve(handle), Status::ok) << "a name that the host made is found";
  EXPECT_EQ(storage->attributes(file)->link_count, 1U);
  ASSERT_EQ(storage->remove(storage->root(), "three"), Status::ok);
  EXPECT_EQ(resolve(handle), Status::stale);
}

TEST_F(DirectoryBackendTest, SparseFilesAndFarOffsets) {
  const NodeId file = *make(storage->root(), "file");
  const std::uint64_t largest = storage->largest_file_bytes();
  ASSERT_GE(largest, 1ULL << 40);
  EXPECT_EQ(write(file, "end", largest - 3), Status::ok);
  EXPECT_EQ(read(file, largest - 5), std::string("\0\0end", 5));
  EXPECT_EQ(read(file, largest), "");
  EXPECT_EQ(read(file, ~0ULL), "");
  EXPECT_EQ(read(file, 1 << 20, 3), std::string(3, '\0'));
  EXPECT_LT(storage->attributes(file)->used_bytes, 1U << 20);
  for (const std::uint64_t offset :
       {largest - 2, largest, std::uint64_t{1} << 63, ~std::uint64_t{0}})
    EXPECT_EQ(write(file, "end", offset), Status::too_big) << offset;
  AttributeChange change;
  for (const std::uint64_t size : {largest + 1, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    change.size_bytes = size;
    EXPECT_EQ(storage->change(file, change), Status::too_big) << size;
  }
}

TEST_F(DirectoryBackendTest, TenThousandEntriesInOneDirectory) {
  constexpr std::size_t kNames = 10'000;
  for (std::size_t i = 0; i < kNames; ++i)
    ASSERT_EQ(::mkfifo(in_export("name" + std::to_string(i)).c_str(), 0600), 0);
  std::set<std::string> seen;
  std::string last;
  std::uint64_t cookie = 0;
  std::size_t pages = 0;
  for (bool end = false; !end && pages <= kNames; ++pages) {
    std::size_t count = 0;
    const auto listed = storage->list(storage->root(), cookie, [&](const DirectoryEntry& entry) {
      if (++count > 150) return false;
      EXPECT_GT(entry.cookie, cookie);
      cookie = entry.cookie;
      last = entry.name;
      EXPECT_TRUE(seen.emplace(entry.name).second) << entry.name << " was listed twice";
      return true;
    });
    ASSERT_TRUE(listed);
    end = *listed;
    if (pages % 10 == 5) open();  // cookies outlive the server, too
    if (pages % 10 == 7) {
      // Behind the cookie and before it, names come and go.
      ASSERT_TRUE(make(storage->root(), "new" + std::to_string(pages), FileType::fifo));
      ASSERT_EQ(storage->remove(storage->root(), "new" + std::to_string(pages)), Status::ok);
      ASSERT_EQ(storage->remove(storage->root(), last), Status::ok);
    }
  }
  EXPECT_EQ(seen.size(), kNames + 2);
  EXPECT_GE(pages, kNames / 150);
}

TEST_F(DirectoryBackendTest, ListingsLongerThanAWindow) {
  options.listing_window_entries = 16;
  open();
  constexpr std::size_t kNames = 100;
  for (std::size_t i = 0; i < kNames; ++i)
    ASSERT_EQ(::mkfifo(in_export(std::to_string(i)).c_str(), 0600), 0);
  std::uint64_t last = 0;
  std::size_t count = 0;
  const auto listed = storage->list(storage->root(), 0, [&](const DirectoryEntry& entry) {
    EXPECT_GT(entry.cookie, last);
    last = entry.cookie;
    ++count;
    return true;
  });
  EXPECT_TRUE(listed.value_or(false));
  EXPECT_EQ(count, kNames + 2);
}

TEST_F(DirectoryBackendTest, DescriptorsAreBoundedAndGivenBack) {
  constexpr std::size_t kFiles = 64;
  std::vector<NodeId> files;
  for (std::size_t i = 0; i < kFiles; ++i) {
    files.push_back(*make(storage->root(), std::to_string(i)));
    ASSERT_EQ(write(files.back(), std::to_string(i)), Status::ok);
  }
  const auto open_descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  EXPECT_GE(open_descriptors(), static_cast<std::ptrdiff_t>(kFiles));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // Nothing more can be opened, so the kept ones have to go.
  rlimit none = before;
  none.rlim_cur = 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string starved = read(files[0]);
  none.rlim_cur = static_cast<rlim_t>(kFiles);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::vector<std::string> texts;
  for (const NodeId file : files) texts.push_back(read(file));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(starved, "status 10008");
  for (std::size_t i = 0; i < kFiles; ++i) EXPECT_EQ(texts[i], std::to_string(i));
  options.most_open_files = 4;
  open();
  const auto idle = open_descriptors();
  for (std::size_t i = 0; i < kFiles; ++i) EXPECT_EQ(read(*look(std::to_string(i))), texts[i]);
  EXPECT_LE(open_descriptors(), idle + 4);
}

TEST_F(DirectoryBackendTest, FilesThatAreNotUsedAreClosed) {
  const auto open_descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto pass = [&](std::chrono::seconds time_passed) {
    time.seconds += time_passed.count();
    storage->tend();
  };
  const auto before = open_descriptors();
  const NodeId unused = *make(storage->root(), "unused");
  const NodeId used = *make(storage->root(), "used");
  ASSERT_EQ(write(unused, "text"), Status::ok);
  ASSERT_EQ(write(used, "text"), Status::ok);
  pass(kOpenFileIdle - std::chrono::seconds(1));
  EXPECT_EQ(open_descriptors(), before + 2);
  EXPECT_EQ(read(used), "text");
  pass(std::chrono::seconds(1));
  EXPECT_EQ(open_descriptors(), before + 1);
  pass(kOpenFileIdle);
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(read(unused), "text");
}

TEST_F(DirectoryBackendTest, FilesThatTheHostChanges) {
  const NodeId file = *make(storage->root(), "file");
  ASSERT_EQ(write(file, "0123456789"), Status::ok);
  std::vector<Slice> slices;
  ASSERT_EQ(storage->read(file, 0, 10, slices).value_or(0), 10U);
  ASSERT_EQ(::truncate(in_export("file").c_str(), 3), 0);
  EXPECT_EQ(slices[0].bytes[9], std::byte{'9'}) << "a reply under way changed with the file";
  EXPECT_EQ(read(file), "012");
  EXPECT_EQ(storage->attributes(file)->size_bytes, 3U);
  write_host_file(in_export("aside"), "replaced");
  fs::rename(in_export("aside"), in_export("file"));
  EXPECT_EQ(read(*look("file")), "replaced");
  EXPECT_EQ(read(file), "status 70");
  fs::remove(in_export("file"));
  fs::create_directory(in_export("file"));
  EXPECT_EQ(storage->attributes(*look("file"))->type, FileType::directory);
}

TEST_F(DirectoryBackendTest, ReadOnlyExportsRefuseEveryChange) {
  const NodeId kept = *make(storage->root(), "kept");
  ASSERT_EQ(write(kept, "text"), Status::ok);
  options.read_only = true;
  open();
  const NodeId root = storage->root();
  const NodeId file = *look("kept");
  EXPECT_EQ(read(file), "text");
  EXPECT_EQ(write(file, "x"), Status::read_only);
  EXPECT_EQ(storage->change(file, {}), Status::read_only);
  for (const FileType type :
       {FileType::regular, FileType::directory, FileType::link, FileType::fifo})
    EXPECT_EQ(make(root, "new", type).error(), Status::read_only);
  EXPECT_EQ(storage->remove(root, "kept"), Status::read_only);
  EXPECT_EQ(storage->remove_directory(root, "kept"), Status::read_only);
  EXPECT_EQ(storage->rename(root, "kept", root, "x"), Status::read_only);
  EXPECT_EQ(storage->link(file, root, "x"), Status::read_only);
  EXPECT_EQ(storage->commit(file), Status::ok);
}

TEST_F(DirectoryBackendTest, WhatTheHostForbidsTheServer) {
  ASSERT_TRUE(make(storage->root(), "directory", FileType::directory));
  write_host_file(in_export("directory/file"), "text");
  const NodeId directory = *look("directory");
  const Handle handle = storage->handle(*storage->lookup(directory, "file"));
  fs::permissions(in_export("directory"), fs::perms::none);
  const Status expected = ::geteuid() == 0 ? Status::ok : Status::access;
  EXPECT_EQ(resolve(handle), expected);
  const auto found = storage->lookup(directory, "file");
  EXPECT_EQ(found ? Status::ok : found.error(), expected);
  const auto listed = storage->list(directory, 0, [](const DirectoryEntry&) { return true; });
  EXPECT_EQ(listed ? Status::ok : listed.error(), expected);
  fs::permissions(in_export("directory"), fs::perms::owner_all);
  EXPECT_EQ(resolve(handle), Status::ok);
}

TEST_F(DirectoryBackendTest, LimitOfTheProcessOnFileSizes) {
  const NodeId file = *make(storage->root(), "file");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // as steertag-serve does
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write(file, "x", 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status, Status::too_big);
}

TEST_F(DirectoryBackendTest, ObjectsBelongToTheCallerOrToTheServer) {
  for (const FileType type :
       {FileType::regular, FileType::directory, FileType::link, FileType::fifo}) {
    NewNode node;
    node.type = type;
    node.uid = 1001;
    node.gid = 1002;
    node.link_text = "text";
    node.change.mode = 0751;
    const std::string name = "object" + std::to_string(static_cast<int>(type));
    ASSERT_TRUE(storage->create(storage->root(), name, node));
    const struct stat status = host_status(name);
    const bool gives_away = ::geteuid() == 0;
    EXPECT_EQ(status.st_uid, gives_away ? 1001 : ::geteuid());
    EXPECT_EQ(status.st_gid, gives_away ? 1002 : ::getegid());
    if (type != FileType::link) {
      EXPECT_EQ(status.st_mode & 07777, 0751U);
    }
  }
  if (::geteuid() == 0) return;
  AttributeChange change;
  change.uid = 1001;
  EXPECT_EQ(storage->change(*look("object1"), change), Status::not_owner);
}

TEST_F(DirectoryBackendTest, SetIdBitsAreDroppedForOtherUsers) {
  fs::permissions(exported(), fs::perms::all);
  const AsSomebody somebody;
  open();
  NewNode node;
  node.uid = ::geteuid() + 1;
  node.gid = ::getegid() + 1;
  node.change.mode = 06755;
  ASSERT_TRUE(storage->create(storage->root(), "program", node));
  EXPECT_EQ(host_status("program").st_uid, ::geteuid());
  EXPECT_EQ(host_status("program").st_mode & 07777, 0755U)
      << "it would run as the server's user, who has not made it";
  storage.reset();
}

TEST_F(DirectoryBackendTest, SetIdBits) {
  ASSERT_EQ(::chmod(exported().c_str(), 02777), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(exported().c_str(), 0, 1002), 0);
  }
  const gid_t group = host_status("").st_gid;
  ASSERT_TRUE(make(storage->root(), "directory", FileType::directory));
  ASSERT_TRUE(make(storage->root(), "program", FileType::regular, 06755));
  EXPECT_EQ(host_status("directory").st_gid, group);
  EXPECT_EQ(host_status("directory").st_mode & 07777, 02755U);
  EXPECT_EQ(host_status("program").st_gid, group);
  EXPECT_EQ(host_status("program").st_mode & 07777, ::geteuid() == 0 ? 04755U : 06755U)
      << "the group is the directory's, not the caller's";
  ASSERT_EQ(write(*look("program"), "x"), Status::ok);
  EXPECT_EQ(host_status("program").st_mode & 07777, 0755U) << "written with its set-id bits";
}

}  // namespace
}  // namespace steertag::peer::testing
