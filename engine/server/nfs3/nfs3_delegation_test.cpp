// NFSv3 beside delegations of NFSv4: what changes a delegated file has to wait.
#include <gtest/gtest.h>

#include "server/directory/directory_backend.h"
#include "server/nfs3/nfs3_program.h"
#include "server/testing/peer_fixture.h"
#include "server/testing/temporary_directory.h"

namespace steertag::peer::testing {
namespace {

using nfs3::Procedure;

class Nfs3DelegationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file = make("file");
    make("other");
  }
  Handle make(std::string_view name) {
    return storage.handle(*storage.create(storage.root(), name, {}));
  }
  nfs3::FileHandle root() { return nfs3::FileHandle(View(served->handle(served->root()))); }

  /// The status of a procedure that root calls.
  template <class Args>
  nfs3::Status run(Procedure procedure, const Args& args) {
    Nfs3Program program(*served, [this](const Handle& asked) {
      ++questions;
      return delegated && asked == file;
    });
    Bytes octets;
    wire::Writer writer(octets);
    args.encode(writer);
    wire::Reader arguments(octets);
    const Caller caller{0, 0, {}};
    const ConnectionInfo info;
    ReplyPayload reply;
    EXPECT_EQ(program.call(static_cast<std::uint32_t>(procedure), arguments, {caller, info}, reply),
              rpc::AcceptStatus::SUCCESS);
    return static_cast<nfs3::Status>(wire::load_u32(reply.stream().data()));
  }
  nfs3::Status write() {
    nfs3::WriteArgs args;
    args.file = nfs3::FileHandle(View(file));
    args.count = 1;
    args.data = octet;
    return run(Procedure::NFSPROC3_WRITE, args);
  }
  nfs3::Status setattr() {
    nfs3::SetattrArgs args;
    args.object = nfs3::FileHandle(View(file));
    args.new_attributes.mode = 0600;
    return run(Procedure::NFSPROC3_SETATTR, args);
  }
  nfs3::Status truncate() {
    nfs3::CreateArgs args;
    args.where = {root(), "file"};
    args.how.obj_attributes.size = 0;
    return run(Procedure::NFSPROC3_CREATE, args);
  }
  nfs3::Status link() {
    return run(Procedure::NFSPROC3_LINK,
               nfs3::LinkArgs{nfs3::FileHandle(View(file)), {root(), "link"}});
  }
  nfs3::Status replace() {
    return run(Procedure::NFSPROC3_RENAME, nfs3::RenameArgs{{root(), "other"}, {root(), "file"}});
  }
  nfs3::Status move() {
    return run(Procedure::NFSPROC3_RENAME, nfs3::RenameArgs{{root(), "file"}, {root(), "moved"}});
  }
  nfs3::Status remove() {
    return run(Procedure::NFSPROC3_REMOVE, nfs3::RemoveArgs{{root(), "file"}});
  }

  MemoryBackend storage{counting_clock(), seeded_random(8)};
  Backend* served = &storage;
  Handle file{};
  const Bytes octet = pattern(1);
  bool delegated = true;
  int questions = 0;
};

TEST_F(Nfs3DelegationTest, ChangesOfADelegatedFileAreJukeboxAndAreNotMade) {
  const std::uint64_t before = storage.attributes(*storage.resolve(file))->change;
  EXPECT_EQ(write(), nfs3::Status::NFS3ERR_JUKEBOX) << "WRITE";
  EXPECT_EQ(setattr(), nfs3::Status::NFS3ERR_JUKEBOX) << "SETATTR";
  EXPECT_EQ(truncate(), nfs3::Status::NFS3ERR_JUKEBOX) << "CREATE with a size";
  EXPECT_EQ(link(), nfs3::Status::NFS3ERR_JUKEBOX) << "LINK";
  EXPECT_EQ(replace(), nfs3::Status::NFS3ERR_JUKEBOX) << "RENAME over it";
  EXPECT_EQ(move(), nfs3::Status::NFS3ERR_JUKEBOX) << "RENAME of it";
  EXPECT_EQ(remove(), nfs3::Status::NFS3ERR_JUKEBOX) << "REMOVE";
  EXPECT_EQ(storage.attributes(*storage.resolve(file))->change, before) << "something was changed";
  EXPECT_TRUE(storage.lookup(storage.root(), "file").has_value());
}

TEST_F(Nfs3DelegationTest, ReturnedDelegationIsNoObstacle) {
  delegated = false;
  EXPECT_EQ(write(), nfs3::Status::NFS3_OK);
  EXPECT_EQ(setattr(), nfs3::Status::NFS3_OK);
  EXPECT_EQ(truncate(), nfs3::Status::NFS3_OK);
  EXPECT_EQ(link(), nfs3::Status::NFS3_OK);
  EXPECT_EQ(remove(), nfs3::Status::NFS3_OK);
  EXPECT_GT(questions, 4) << "nothing was recalled";
}

TEST_F(Nfs3DelegationTest, AReadOnlyExportRecallsNothing) {
  TemporaryDirectory place;
  write_host_file(place / "file", "text");
  DirectoryOptions options;
  options.path = place.path();
  options.read_only = true;
  const auto exported = DirectoryBackend::open(options, counting_clock(), seeded_random(8));
  ASSERT_TRUE(exported) << exported.error();
  served = exported->get();
  file = served->handle(*served->lookup(served->root(), "file"));
  EXPECT_EQ(write(), nfs3::Status::NFS3ERR_ROFS);
  EXPECT_EQ(setattr(), nfs3::Status::NFS3ERR_ROFS);
  EXPECT_EQ(truncate(), nfs3::Status::NFS3ERR_ROFS);
  EXPECT_EQ(link(), nfs3::Status::NFS3ERR_ROFS);
  EXPECT_EQ(remove(), nfs3::Status::NFS3ERR_ROFS);
  EXPECT_EQ(questions, 0) << "a delegation was recalled for nothing";
}

TEST_F(Nfs3DelegationTest, ReadersAreNotAsked) {
  EXPECT_EQ(run(Procedure::NFSPROC3_READ, nfs3::ReadArgs{nfs3::FileHandle(View(file)), 0, 10}),
            nfs3::Status::NFS3_OK);
  EXPECT_EQ(run(Procedure::NFSPROC3_GETATTR, nfs3::GetattrArgs{nfs3::FileHandle(View(file))}),
            nfs3::Status::NFS3_OK);
  EXPECT_EQ(questions, 0);
}

}  // namespace
}  // namespace steertag::peer::testing
