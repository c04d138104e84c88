// NFSv3 in the grace period of NFSv4: it takes nothing away that a client may reclaim.
#include <fstream>

#include "server/testing/peer_fixture.h"
#include "server/testing/program_calls_fixture.h"
#include "server/testing/temporary_directory.h"

namespace steertag::peer::testing {
namespace {

using nfs3::Procedure;
using nfs3::Status;

class Nfs3GraceTest : public ::testing::Test {
 protected:
  Nfs3GraceTest() : file(make("file")) { make("other"); }

  Handle make(std::string_view name) {
    return storage.handle(*storage.create(storage.root(), name, {}));
  }
  /// Starts the programs as after a restart, with these clients in the recovery file.
  void start(std::string_view clients) {
    const std::string path = directory.path() + "/clients";
    std::ofstream(path) << clients;
    Nfs4StateOptions options;
    options.clock = [this] { return now; };
    options.random = seeded_random(8);
    options.recovery_path = path;
    programs.emplace(storage, options);
  }
  nfs3::FileHandle root() { return nfs3::FileHandle(View(storage.handle(storage.root()))); }
  nfs3::FileHandle handle() { return nfs3::FileHandle(View(file)); }

  Status write() {
    nfs3::WriteArgs args;
    args.file = handle();
    args.count = 1;
    args.data = octet;
    return programs->run3(Procedure::NFSPROC3_WRITE, args);
  }
  Status resize() {
    nfs3::SetattrArgs args;
    args.object = handle();
    args.new_attributes.size = 0;
    return programs->run3(Procedure::NFSPROC3_SETATTR, args);
  }
  Status create(std::string_view name) {
    nfs3::CreateArgs args;
    args.where = {root(), name};
    args.how.obj_attributes.size = 0;
    return programs->run3(Procedure::NFSPROC3_CREATE, args);
  }
  Status link() {
    return programs->run3(Procedure::NFSPROC3_LINK, nfs3::LinkArgs{handle(), {root(), "link"}});
  }
  Status rename(std::string_view from, std::string_view to) {
    return programs->run3(Procedure::NFSPROC3_RENAME,
                          nfs3::RenameArgs{{root(), from}, {root(), to}});
  }
  Status remove(std::string_view name) {
    return programs->run3(Procedure::NFSPROC3_REMOVE, nfs3::RemoveArgs{{root(), name}});
  }

  TemporaryDirectory directory;
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
  MemoryBackend storage{counting_clock(), seeded_random(8)};
  Handle file{};
  const Bytes octet = pattern(1);
  std::optional<ProgramCalls> programs;
};

TEST_F(Nfs3GraceTest, ChangesOfFilesAreJukeboxUntilGraceIsOver) {
  start("1 6162\n");
  const std::uint64_t before = storage.attributes(*storage.resolve(file))->change;
  EXPECT_EQ(write(), Status::NFS3ERR_JUKEBOX) << "WRITE";
  EXPECT_EQ(resize(), Status::NFS3ERR_JUKEBOX) << "SETATTR of the size";
  EXPECT_EQ(create("file"), Status::NFS3ERR_JUKEBOX) << "CREATE with a size";
  EXPECT_EQ(link(), Status::NFS3ERR_JUKEBOX) << "LINK";
  EXPECT_EQ(rename("other", "file"), Status::NFS3ERR_JUKEBOX) << "RENAME over it";
  EXPECT_EQ(rename("file", "moved"), Status::NFS3ERR_JUKEBOX) << "RENAME of it";
  EXPECT_EQ(remove("file"), Status::NFS3ERR_JUKEBOX) << "REMOVE";
  EXPECT_EQ(storage.attributes(*storage.resolve(file))->change, before) << "something was changed";
  now += kLeaseTime;
  programs->tend();
  EXPECT_EQ(write(), Status::NFS3_OK);
  EXPECT_EQ(rename("file", "moved"), Status::NFS3_OK);
  EXPECT_EQ(remove("moved"), Status::NFS3_OK);
}

TEST_F(Nfs3GraceTest, ReadersAndNewObjectsDoNotWait) {
  start("1 6162\n");
  EXPECT_EQ(programs->run3(Procedure::NFSPROC3_READ, nfs3::ReadArgs{handle(), 0, 10}),
            Status::NFS3_OK);
  EXPECT_EQ(create("new"), Status::NFS3_OK);
  EXPECT_EQ(programs->run3(Procedure::NFSPROC3_MKDIR, nfs3::MkdirArgs{{root(), "directory"}, {}}),
            Status::NFS3_OK);
  EXPECT_EQ(rename("directory", "moved"), Status::NFS3_OK);
  EXPECT_EQ(programs->run3(Procedure::NFSPROC3_RMDIR, nfs3::RmdirArgs{{root(), "moved"}}),
            Status::NFS3_OK);
}

TEST_F(Nfs3GraceTest, WithoutRecordedClientsThereIsNoGrace) {
  start("");
  EXPECT_EQ(write(), Status::NFS3_OK);
  EXPECT_EQ(remove("file"), Status::NFS3_OK);
}

}  // namespace
}  // namespace steertag::peer::testing
