// All 22 procedures of NFS version 3, and MOUNT, on each storage.
// The reference client calls them through loopback iWARP.
#include <unistd.h>

#include <set>

#include "server/testing/nfs3_fixture.h"

namespace steertag::peer::testing {
namespace {

TEST_P(Nfs3Test, MountKnowsItsExports) {
  const nfs3::FileHandle directory = mkdir("directory");
  for (const char* path : {"/", "/export", "/export/", "//export//"}) {
    const auto mounted = client->mount(path);
    ASSERT_TRUE(mounted) << mounted.error().message();
    if (std::string_view(path) == "//export//") {
      EXPECT_EQ(mounted->status, mount3::Status::MNT3ERR_NOENT);
      continue;
    }
    EXPECT_EQ(mounted->status, mount3::Status::MNT3_OK) << path;
    EXPECT_EQ(mounted->fhandle, root) << path;
    EXPECT_EQ(mounted->auth_flavors.size(), 2U);
  }
  const auto below = client->mount("/export/directory");
  ASSERT_TRUE(below);
  EXPECT_EQ(below->fhandle, directory);
  EXPECT_EQ(client->mount("/elsewhere")->status, mount3::Status::MNT3ERR_NOENT);
  EXPECT_EQ(client->mount("")->status, mount3::Status::MNT3ERR_NOENT);
}

TEST_P(Nfs3Test, MountGoesThroughNoDirectoryThatTheCallerMayNotSearch) {
  NewNode directory;
  directory.type = FileType::directory;
  directory.change.mode = 0700;
  const auto closed = storage->create(storage->root(), "closed", directory);
  ASSERT_TRUE(closed);
  ASSERT_TRUE(storage->create(*closed, "below", directory));
  const auto mount = [&](const char* path) { return client->mount(path)->status; };
  EXPECT_EQ(mount("/export/closed/below"), mount3::Status::MNT3_OK);
  client->set_identity(stranger_to(lookup(root, "closed").ok.object));
  EXPECT_EQ(mount("/export/closed/below"), mount3::Status::MNT3ERR_ACCES);
  EXPECT_EQ(mount("/export/closed/nothing"), mount3::Status::MNT3ERR_ACCES)
      << "it told what is there";
  EXPECT_EQ(mount("/export/closed"), mount3::Status::MNT3_OK)
      << "LOOKUP would give this handle too";
}

TEST_P(Nfs3Test, HandlesCannotBeForgedAndGoStale) {
  const nfs3::FileHandle file = made(create("file"));
  for (std::size_t at = 0; at < file.size(); ++at) {
    Bytes octets = copy(file.view());
    octets[at] ^= std::byte{1};
    EXPECT_EQ(call<nfs3::GetattrResult>(Procedure::NFSPROC3_GETATTR,
                                        nfs3::GetattrArgs{nfs3::FileHandle(View(octets))})
                  .status,
              Status::NFS3ERR_BADHANDLE)
        << "octet " << at << " may be changed";
  }
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "file"), Status::NFS3_OK);
  create("file");
  EXPECT_EQ(call<nfs3::GetattrResult>(Procedure::NFSPROC3_GETATTR, nfs3::GetattrArgs{file}).status,
            Status::NFS3ERR_STALE);
}

TEST_P(Nfs3Test, SetattrChangesAndGuards) {
  const nfs3::FileHandle file = made(create("file"));
  write(file, 0, pattern(70000), nfs3::StableHow::FILE_SYNC);
  nfs3::Sattr sattr;
  sattr.mode = 0600;
  if (has_root()) {
    sattr.uid = 12;
    sattr.gid = 13;
  }
  sattr.size = 65537;
  sattr.atime = {nfs3::TimeHow::SET_TO_CLIENT_TIME, {1, 2}};
  EXPECT_EQ(setattr(file, sattr), Status::NFS3_OK);
  const nfs3::Fattr found = attributes(file);
  EXPECT_EQ(found.mode & 07777, 0600U);
  if (has_root()) {
    EXPECT_EQ(found.uid, 12U);
    EXPECT_EQ(found.gid, 13U);
  }
  EXPECT_EQ(found.size, 65537U);
  EXPECT_EQ(found.atime, (nfs3::Time{1, 2}));
  EXPECT_EQ(setattr(file, {}, nfs3::Time{7, 7}), Status::NFS3ERR_NOT_SYNC);
  EXPECT_EQ(setattr(file, {}, attributes(file).ctime), Status::NFS3_OK);
  nfs3::Sattr size;
  size.size = 5;
  EXPECT_EQ(setattr(root, size), Status::NFS3ERR_ISDIR);
  // What was cut off reads as zeros when the file grows again.
  EXPECT_EQ(setattr(file, size), Status::NFS3_OK);
  size.size = 100;
  EXPECT_EQ(setattr(file, size), Status::NFS3_OK);
  Bytes expected = pattern(70000);
  expected.resize(5);
  expected.resize(100);
  EXPECT_EQ(content("file"), expected);
}

TEST_P(Nfs3Test, LookupAndAccess) {
  const nfs3::FileHandle directory = mkdir("directory");
  EXPECT_EQ(lookup(root, "directory").ok.object, directory);
  EXPECT_EQ(lookup(directory, "..").ok.object, root);
  EXPECT_EQ(lookup(directory, ".").ok.object, directory);
  EXPECT_EQ(lookup(root, "..").ok.object, root);
  EXPECT_EQ(lookup(root, "nothing").status, Status::NFS3ERR_NOENT);
  const nfs3::FileHandle file = made(create("file"));
  EXPECT_EQ(lookup(file, "name").status, Status::NFS3ERR_NOTDIR);
  const auto access = [&](std::uint32_t wanted) {
    return call<nfs3::AccessResult>(Procedure::NFSPROC3_ACCESS, nfs3::AccessArgs{file, wanted})
        .ok.access;
  };
  EXPECT_EQ(access(0x3f), nfs3::ACCESS3_READ | nfs3::ACCESS3_MODIFY | nfs3::ACCESS3_EXTEND);
  const std::uint32_t other = ::geteuid() + 1;  // not who owns the file in a directory of the host
  client->set_identity({true, other, other, "test"});
  EXPECT_EQ(access(0x3f), nfs3::ACCESS3_READ);
  EXPECT_EQ(access(nfs3::ACCESS3_MODIFY), 0U);
}

TEST_P(Nfs3Test, CreateModes) {
  using nfs3::CreateMode;
  const nfs3::FileHandle file = made(create("file", CreateMode::GUARDED));
  EXPECT_EQ(create("file", CreateMode::GUARDED).status, Status::NFS3ERR_EXIST);
  EXPECT_EQ(made(create("file", CreateMode::UNCHECKED)), file);
  nfs3::CreateArgs args;
  args.where = {root, "once"};
  args.how.mode = CreateMode::EXCLUSIVE;
  args.how.verf[0] = std::byte{0x80};
  args.how.verf[7] = std::byte{9};
  const auto again = [&] { return call<nfs3::CreateResult>(Procedure::NFSPROC3_CREATE, args); };
  const nfs3::FileHandle once = made(again());
  EXPECT_EQ(made(again()), once) << "the same verifier must find its own file";
  EXPECT_LT(attributes(once).atime.seconds, 0x80000000U)
      << "file systems that keep 31 bits of a time would cut the verifier";
  args.how.verf[7] = std::byte{8};
  EXPECT_EQ(again().status, Status::NFS3ERR_EXIST);
  EXPECT_EQ(create(std::string(255, 'n')).status, Status::NFS3_OK);
  EXPECT_EQ(create("a/b").status, Status::NFS3ERR_INVAL);
  EXPECT_EQ(create("").status, Status::NFS3ERR_INVAL);
  EXPECT_EQ(create("..").status, Status::NFS3ERR_EXIST);
}

TEST_P(Nfs3Test, UnstableWritesAndCommit) {
  const nfs3::FileHandle file = made(create("file"));
  const auto unstable = write(file, 10, pattern(50), nfs3::StableHow::UNSTABLE);
  EXPECT_EQ(unstable.status, Status::NFS3_OK);
  EXPECT_EQ(unstable.ok.committed, nfs3::StableHow::UNSTABLE);
  EXPECT_EQ(unstable.ok.file_wcc.before->size, 0U);
  EXPECT_EQ(unstable.ok.file_wcc.after->size, 60U);
  const auto stable = write(file, 60, pattern(4), nfs3::StableHow::DATA_SYNC);
  EXPECT_NE(stable.ok.committed, nfs3::StableHow::UNSTABLE);
  const auto committed =
      call<nfs3::CommitResult>(Procedure::NFSPROC3_COMMIT, nfs3::CommitArgs{file, 0, 0});
  EXPECT_EQ(committed.status, Status::NFS3_OK);
  EXPECT_EQ(committed.ok.verf, unstable.ok.verf);
  EXPECT_EQ(write(root, 0, pattern(4), nfs3::StableHow::UNSTABLE).status, Status::NFS3ERR_ISDIR);
  nfs3::WriteArgs lie;
  const Bytes data = pattern(8);
  lie.file = file;
  lie.count = 7;
  lie.data = data;
  EXPECT_EQ(call<nfs3::WriteResult>(Procedure::NFSPROC3_WRITE, lie).status, Status::NFS3ERR_INVAL);
  EXPECT_EQ(write(file, storage->largest_file_bytes(), data, nfs3::StableHow::UNSTABLE).status,
            Status::NFS3ERR_FBIG);
  EXPECT_EQ(write(file, ~0ULL, data, nfs3::StableHow::UNSTABLE).status, Status::NFS3ERR_FBIG);
}

TEST_P(Nfs3Test, SpecialFiles) {
  nfs3::MknodArgs args;
  args.where = {root, "fifo"};
  args.what.type = nfs3::FileType::NF3FIFO;
  EXPECT_EQ(attributes(made(call<nfs3::MknodResult>(Procedure::NFSPROC3_MKNOD, args))).type,
            nfs3::FileType::NF3FIFO);
  args.where.name = "device";
  args.what.type = nfs3::FileType::NF3CHR;
  args.what.spec = {1, 3};
  if (has_root()) {
    EXPECT_EQ(attributes(made(call<nfs3::MknodResult>(Procedure::NFSPROC3_MKNOD, args))).rdev,
              (nfs3::SpecData{1, 3}));
  } else {
    EXPECT_EQ(call<nfs3::MknodResult>(Procedure::NFSPROC3_MKNOD, args).status,
              Status::NFS3ERR_PERM);
  }
  args.where.name = "file";
  args.what.type = nfs3::FileType::NF3REG;
  EXPECT_EQ(call<nfs3::MknodResult>(Procedure::NFSPROC3_MKNOD, args).status,
            Status::NFS3ERR_BADTYPE);
}

TEST_P(Nfs3Test, NamesThatAreTooLongAreToldSo) {
  const std::string name(256, 'n');
  EXPECT_EQ(lookup(root, name).status, Status::NFS3ERR_NAMETOOLONG);
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, name), Status::NFS3ERR_NAMETOOLONG);
  EXPECT_EQ(remove(Procedure::NFSPROC3_RMDIR, name), Status::NFS3ERR_NAMETOOLONG);
  EXPECT_EQ(rename(name, "short"), Status::NFS3ERR_NAMETOOLONG);
  EXPECT_EQ(rename("short", name), Status::NFS3ERR_NAMETOOLONG);
}

TEST_P(Nfs3Test, WriteOfNothingChangesNothing) {
  const nfs3::FileHandle file = made(create("file"));
  const nfs3::Fattr before = attributes(file);
  const auto written = write(file, std::uint64_t{1} << 62, {}, nfs3::StableHow::FILE_SYNC);
  EXPECT_EQ(written.status, Status::NFS3_OK);
  EXPECT_EQ(written.ok.count, 0U);
  EXPECT_EQ(attributes(file).mtime, before.mtime);
  EXPECT_EQ(attributes(file).size, 0U);
}

TEST_P(Nfs3Test, TimesHaveLessThanASecondOfNanoseconds) {
  nfs3::Sattr times;
  times.mtime.set_it = nfs3::TimeHow::SET_TO_CLIENT_TIME;
  times.mtime.time = {1, 1'000'000'000};
  EXPECT_EQ(setattr(made(create("file")), times), Status::NFS3ERR_INVAL);
}

TEST_P(Nfs3Test, RemoveAndRmdir) {
  create("file");
  mkdir("directory");
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "directory"), Status::NFS3ERR_ISDIR);
  EXPECT_EQ(remove(Procedure::NFSPROC3_RMDIR, "file"), Status::NFS3ERR_NOTDIR);
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "nothing"), Status::NFS3ERR_NOENT);
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "file"), Status::NFS3_OK);
  EXPECT_EQ(remove(Procedure::NFSPROC3_RMDIR, "directory"), Status::NFS3_OK);
  EXPECT_EQ(attributes(root).nlink, 2U);
  if (!in_memory()) return;  // a file system of the host is used by others too
  EXPECT_EQ(storage->space().free_files, storage->space().total_files - 1);
  EXPECT_EQ(storage->space().free_bytes, storage->space().total_bytes);
}

TEST_P(Nfs3Test, RenameReplacesAndRefuses) {
  const nfs3::FileHandle file = made(create("file"));
  create("other");
  const nfs3::FileHandle directory = mkdir("directory");
  EXPECT_EQ(rename("file", "other"), Status::NFS3_OK);
  EXPECT_EQ(lookup(root, "other").ok.object, file);
  EXPECT_EQ(lookup(root, "file").status, Status::NFS3ERR_NOENT);
  EXPECT_EQ(rename("other", "directory"), Status::NFS3ERR_EXIST);
  EXPECT_EQ(rename("directory", "other"), Status::NFS3ERR_EXIST);
  EXPECT_EQ(rename("other", "other"), Status::NFS3_OK);
  const auto into_itself = call<nfs3::RenameResult>(
      Procedure::NFSPROC3_RENAME, nfs3::RenameArgs{{root, "directory"}, {directory, "below"}});
  EXPECT_EQ(into_itself.status, Status::NFS3ERR_INVAL);
  const auto moved = call<nfs3::RenameResult>(
      Procedure::NFSPROC3_RENAME, nfs3::RenameArgs{{root, "other"}, {directory, "moved"}});
  EXPECT_EQ(moved.status, Status::NFS3_OK);
  EXPECT_EQ(lookup(directory, "moved").ok.object, file);
  EXPECT_EQ(remove(Procedure::NFSPROC3_RMDIR, "directory"), Status::NFS3ERR_NOTEMPTY);
}

TEST_P(Nfs3Test, LinksShareTheFile) {
  const nfs3::FileHandle file = made(create("file"));
  const auto linked =
      call<nfs3::LinkResult>(Procedure::NFSPROC3_LINK, nfs3::LinkArgs{file, {root, "second"}});
  EXPECT_EQ(linked.status, Status::NFS3_OK);
  EXPECT_EQ(linked.ok.file_attributes->nlink, 2U);
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "file"), Status::NFS3_OK);
  EXPECT_EQ(attributes(file).nlink, 1U);
  EXPECT_EQ(call<nfs3::LinkResult>(Procedure::NFSPROC3_LINK, nfs3::LinkArgs{file, {root, "second"}})
                .status,
            Status::NFS3ERR_EXIST);
  EXPECT_EQ(
      call<nfs3::LinkResult>(Procedure::NFSPROC3_LINK, nfs3::LinkArgs{root, {root, "x"}}).status,
      Status::NFS3ERR_ISDIR);
}

TEST_P(Nfs3Test, ListingsContinueWhereTheyStoppedThoughNamesGo) {
  constexpr int kNames = 50;
  for (int i = 0; i < kNames; ++i) make_file("name" + std::to_string(i), {});
  std::vector<std::string> names;
  std::uint64_t cookie = 0;
  nfs3::Verifier verifier{};
  bool eof = false;
  for (int rounds = 0; !eof && rounds < kNames; ++rounds) {
    const auto listed = call<nfs3::ReaddirResult>(Procedure::NFSPROC3_READDIR,
                                                  nfs3::ReaddirArgs{root, cookie, verifier, 512});
    ASSERT_EQ(listed.status, Status::NFS3_OK);
    ASSERT_FALSE(listed.ok.entries.items.empty());
    ASSERT_LE(encoded_size(listed), 512U + 4) << "more than count octets";
    for (const nfs3::Entry& entry : listed.ok.entries.items) {
      names.emplace_back(entry.name);
      cookie = entry.cookie;
    }
    verifier = listed.ok.cookieverf;
    eof = listed.ok.eof;
    // The entry that the cookie came from disappears.
    if (names.back().starts_with("name")) {
      EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, names.back()), Status::NFS3_OK);
    }
  }
  EXPECT_TRUE(eof);
  EXPECT_EQ(names.size(), kNames + 2U);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size())
      << "a name was listed twice";
  EXPECT_NE(verifier, nfs3::Verifier{});
  EXPECT_EQ(call<nfs3::ReaddirResult>(Procedure::NFSPROC3_READDIR,
                                      nfs3::ReaddirArgs{root, cookie, {}, 512})
                .status,
            Status::NFS3_OK)
      << "RFC 1813 3.3.16: a verifier of zeros is that of a first call, which no later one breaks";
  verifier[0] ^= std::byte{1};
  EXPECT_EQ(call<nfs3::ReaddirResult>(Procedure::NFSPROC3_READDIR,
                                      nfs3::ReaddirArgs{root, cookie, verifier, 512})
                .status,
            Status::NFS3ERR_BAD_COOKIE);
  EXPECT_EQ(
      call<nfs3::ReaddirResult>(Procedure::NFSPROC3_READDIR, nfs3::ReaddirArgs{root, 0, {}, 100})
          .status,
      Status::NFS3ERR_TOOSMALL);
}

TEST_P(Nfs3Test, ListingsHaveALargestSizeWhateverIsAskedFor) {
  for (int i = 0; i < 500; ++i) make_file(std::string(200, 'n') + std::to_string(i), {});
  const auto listed = call<nfs3::ReaddirResult>(Procedure::NFSPROC3_READDIR,
                                                nfs3::ReaddirArgs{root, 0, {}, kLargestTransfer});
  EXPECT_LE(encoded_size(listed), kLargestListing + 4);
  EXPECT_GT(encoded_size(listed), kLargestListing / 2);
  EXPECT_FALSE(listed.ok.eof);
  const auto plus = call<nfs3::ReaddirplusResult>(
      Procedure::NFSPROC3_READDIRPLUS,
      nfs3::ReaddirplusArgs{root, 0, {}, kLargestTransfer, kLargestTransfer});
  EXPECT_LE(encoded_size(plus), kLargestListing + 4);
  EXPECT_FALSE(plus.ok.eof);
}

TEST_P(Nfs3Test, FileSystemProcedures) {
  write(made(create("file")), 0, pattern(5000), nfs3::StableHow::FILE_SYNC);
  const auto stat = call<nfs3::FsstatResult>(Procedure::NFSPROC3_FSSTAT, nfs3::FsstatArgs{root});
  EXPECT_GE(stat.ok.tbytes - stat.ok.fbytes, 8192U);
  EXPECT_GE(stat.ok.tfiles - stat.ok.ffiles, 2U);
  if (in_memory()) {
    EXPECT_EQ(stat.ok.tbytes - stat.ok.fbytes, 8192U);
    EXPECT_EQ(stat.ok.tfiles - stat.ok.ffiles, 2U);
  }
  const auto info = call<nfs3::FsinfoResult>(Procedure::NFSPROC3_FSINFO, nfs3::FsinfoArgs{root});
  EXPECT_EQ(info.ok.rtmax, kLargestTransfer);
  EXPECT_EQ(info.ok.wtmax, kLargestTransfer);
  const auto conf =
      call<nfs3::PathconfResult>(Procedure::NFSPROC3_PATHCONF, nfs3::PathconfArgs{root});
  EXPECT_EQ(conf.ok.name_max, kLongestName);
  EXPECT_TRUE(conf.ok.no_trunc);
}

TEST_P(Nfs3Test, PermissionsFollowTheModeBits) {
  const nfs3::FileHandle file = made(create("file"));
  nfs3::Sattr sattr;
  sattr.mode = 0600;
  EXPECT_EQ(setattr(file, sattr), Status::NFS3_OK);
  client->set_identity(stranger_to(file));
  EXPECT_EQ(call<nfs3::ReadResult>(Procedure::NFSPROC3_READ, nfs3::ReadArgs{file, 0, 10}).status,
            Status::NFS3ERR_ACCES);
  EXPECT_EQ(write(file, 0, pattern(3), nfs3::StableHow::UNSTABLE).status, Status::NFS3ERR_ACCES);
  EXPECT_EQ(setattr(file, sattr), Status::NFS3ERR_PERM);
  EXPECT_EQ(create("anyone").status, Status::NFS3_OK) << "the root is writable for everyone";
}

TEST_P(Nfs3Test, NothingIsChangedWithATimeThatIsNone) {
  const nfs3::FileHandle file = made(create("file"));
  const nfs3::Fattr before = attributes(file);
  // The last two are UTIME_OMIT and UTIME_NOW of the host.
  for (const std::uint32_t nanoseconds : {1'000'000'000U, 0x3ffffffeU, 0x3fffffffU}) {
    nfs3::Sattr wanted;
    wanted.mode = 0600;
    wanted.size = 10;
    wanted.mtime = {nfs3::TimeHow::SET_TO_CLIENT_TIME, {5, nanoseconds}};
    EXPECT_EQ(setattr(file, wanted), Status::NFS3ERR_INVAL) << nanoseconds;
    const nfs3::Fattr after = attributes(file);
    EXPECT_EQ(after.mode, before.mode) << nanoseconds;
    EXPECT_EQ(after.size, before.size) << nanoseconds;
    EXPECT_EQ(after.mtime, before.mtime) << nanoseconds;
  }
}

TEST_P(Nfs3Test, ListingsGiveNoHandlesToWhomLookupRefusesThem) {
  const nfs3::FileHandle directory = mkdir("directory");
  nfs3::CreateArgs inside;
  inside.where = {directory, "file"};
  inside.how.obj_attributes.mode = 0644;
  made(call<nfs3::CreateResult>(Procedure::NFSPROC3_CREATE, inside));
  nfs3::Sattr readable;
  readable.mode = 0744;
  ASSERT_EQ(setattr(directory, readable), Status::NFS3_OK);
  client->set_identity(stranger_to(directory));
  ASSERT_EQ(lookup(directory, "file").status, Status::NFS3ERR_ACCES);
  const auto listed = call<nfs3::ReaddirplusResult>(
      Procedure::NFSPROC3_READDIRPLUS, nfs3::ReaddirplusArgs{directory, 0, {}, 4096, 4096});
  ASSERT_EQ(listed.status, Status::NFS3_OK);
  ASSERT_EQ(listed.ok.entries.items.size(), 3U) << "names are for everybody who may read it";
  for (const auto& entry : listed.ok.entries.items) {
    EXPECT_FALSE(entry.name_handle) << entry.name;
    EXPECT_FALSE(entry.name_attributes) << entry.name;
  }
}

TEST_P(Nfs3Test, StickyDirectoriesProtectNames) {
  const nfs3::FileHandle file = made(create("file"));
  create("other");
  nfs3::Sattr sattr;
  sattr.mode = 01777;
  EXPECT_EQ(setattr(root, sattr), Status::NFS3_OK);
  client->set_identity(stranger_to(file));
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "file"), Status::NFS3ERR_ACCES);
  EXPECT_EQ(rename("file", "moved"), Status::NFS3ERR_ACCES);
  EXPECT_EQ(create("own").status, Status::NFS3_OK);
  EXPECT_EQ(rename("own", "file"), Status::NFS3ERR_ACCES);
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "nothing"), Status::NFS3ERR_NOENT);
  if (!has_root()) return;  // there all objects belong to the server's user
  EXPECT_EQ(rename("own", "mine"), Status::NFS3_OK);
  EXPECT_EQ(remove(Procedure::NFSPROC3_REMOVE, "mine"), Status::NFS3_OK);
}

TEST_P(Nfs3Test, SetGidNeedsTheGroup) {
  if (!has_root()) GTEST_SKIP() << "only root gives files to others";
  const nfs3::FileHandle file = made(create("file"));
  nfs3::Sattr sattr;
  sattr.uid = 12;
  sattr.gid = 13;
  EXPECT_EQ(setattr(file, sattr), Status::NFS3_OK);
  nfs3::Sattr mode;
  mode.mode = 02755;
  client->set_identity({true, 12, 14, "test"});
  EXPECT_EQ(setattr(file, mode), Status::NFS3_OK);
  EXPECT_EQ(attributes(file).mode & 07777, 0755U);
  client->set_identity({true, 12, 13, "test"});
  EXPECT_EQ(setattr(file, mode), Status::NFS3_OK);
  EXPECT_EQ(attributes(file).mode & 07777, 02755U);
}

INSTANTIATE_TEST_SUITE_P(Storage, Nfs3Test, ::testing::Values(Keeper::memory, Keeper::directory),
                         name_of);

/// Only the memory has limits of its own.
class SmallStorageTest : public Nfs3Test {
 protected:
  SmallStorageTest() : Nfs3Test({128 << 10, 4, 1 << 20}) {}
};

TEST_P(SmallStorageTest, LimitsGiveNoSpaceAndChangeNothing) {
  const nfs3::FileHandle file = made(create("file"));
  EXPECT_EQ(write(file, 0, pattern(100 << 10), nfs3::StableHow::UNSTABLE).status, Status::NFS3_OK);
  EXPECT_EQ(write(file, 100 << 10, pattern(100 << 10), nfs3::StableHow::UNSTABLE).status,
            Status::NFS3ERR_NOSPC);
  EXPECT_EQ(attributes(file).size, 100U << 10) << "a failed WRITE changed the file";
  create("second");
  create("third");
  EXPECT_EQ(create("fourth").status, Status::NFS3ERR_NOSPC);
}

INSTANTIATE_TEST_SUITE_P(Storage, SmallStorageTest, ::testing::Values(Keeper::memory), name_of);

}  // namespace
}  // namespace steertag::peer::testing
