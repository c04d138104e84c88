// A read-only export: it promises no right that it does not give.
// It refuses every change as one of a read-only file system.
#include <sys/stat.h>

#include <fstream>

#include "server/testing/v4_fixture.h"

namespace steertag::peer::testing {
namespace {

using nfs4::Status;

class ReadOnlyTest : public Nfs4Test {
 protected:
  void SetUp() override {
    const std::string file = exported() + "/file";
    std::ofstream(file) << "content";
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    DirectoryOptions options;
    options.path = exported();
    options.key = {3, 4};
    options.read_only = true;
    auto made = DirectoryBackend::open(options, counting_clock(), seeded_random(8));
    ASSERT_TRUE(made) << made.error();
    storage = std::move(*made);
    Nfs4Test::SetUp();
    client3 = connect();
    client3->set_identity({true, 0, 0, "test"});
  }

  nfs3::FileHandle handle3(std::string_view name) {
    const auto found = client3->call<nfs3::LookupResult>(nfs3::Procedure::NFSPROC3_LOOKUP,
                                                         nfs3::LookupArgs{{root, name}});
    return found->ok.object;
  }
  std::uint32_t access3(const nfs3::FileHandle& object) {
    const auto result = client3->call<nfs3::AccessResult>(nfs3::Procedure::NFSPROC3_ACCESS,
                                                          nfs3::AccessArgs{object, 0x3f});
    return result->ok.access;
  }
  std::uint32_t access4(const nfs4::FileHandle& object) {
    Compound compound;
    compound.put(object).add(Opnum::OP_ACCESS, nfs4::AccessArgs{0x3f});
    Answer answer = call(compound);
    answer.skip(Opnum::OP_PUTFH);
    return answer.take<nfs4::AccessResult>(Opnum::OP_ACCESS).resok4.access;
  }
  template <class Args>
  Status on_root(Opnum number, const Args& args) {
    Compound compound;
    compound.root().add(Opnum::OP_SAVEFH).add(number, args);
    return status_of(compound);
  }
  /// A client of minor version 0 that may open files.
  std::uint64_t known() {
    nfs4::SetclientidArgs args;
    args.client.id = std::as_bytes(std::span("owner of the test"));
    Compound first;
    first.add(Opnum::OP_SETCLIENTID, args);
    Answer answer = call(first);
    const auto set = answer.take<nfs4::SetclientidResult>(Opnum::OP_SETCLIENTID).resok4;
    Compound second;
    second.add(Opnum::OP_SETCLIENTID_CONFIRM,
               nfs4::SetclientidConfirmArgs{set.clientid, set.setclientid_confirm});
    EXPECT_EQ(status_of(second), Status::NFS4_OK);
    return set.clientid;
  }

  std::unique_ptr<Nfs3Client> client3;
};
INSTANTIATE_TEST_SUITE_P(Storage, ReadOnlyTest, ::testing::Values(Keeper::directory), name_of);

TEST_P(ReadOnlyTest, AccessPromisesNoChange) {
  EXPECT_EQ(access3(handle3("file")), nfs3::ACCESS3_READ);
  EXPECT_EQ(access3(root), nfs3::ACCESS3_READ | nfs3::ACCESS3_LOOKUP);
  EXPECT_EQ(access4(handle_of("file")), nfs4::ACCESS4_READ);
  EXPECT_EQ(access4(root4()), nfs4::ACCESS4_READ | nfs4::ACCESS4_LOOKUP);
}

TEST_P(ReadOnlyTest, NothingIsMadeOrRemovedByWhomsoever) {
  // Also for a user whom the mode bits would refuse: it is not a matter of permissions.
  for (const std::uint32_t id : {0U, 4711U}) {
    client3->set_identity({true, id, id, "test"});
    uid = gid = id;
    nfs3::CreateArgs create;
    create.where = {root, "new"};
    const auto created =
        client3->call<nfs3::CreateResult>(nfs3::Procedure::NFSPROC3_CREATE, create);
    EXPECT_EQ(created->status, nfs3::Status::NFS3ERR_ROFS) << "uid " << id;
    const auto removed = client3->call<nfs3::RemoveResult>(nfs3::Procedure::NFSPROC3_REMOVE,
                                                           nfs3::RemoveArgs{{root, "file"}});
    EXPECT_EQ(removed->status, nfs3::Status::NFS3ERR_ROFS) << "uid " << id;
    const Fattr4 mode(with_mode(0755));
    EXPECT_EQ(on_root(Opnum::OP_CREATE, directory_args("new", mode)), Status::NFS4ERR_ROFS);
    EXPECT_EQ(on_root(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"}), Status::NFS4ERR_ROFS);
    EXPECT_EQ(on_root(Opnum::OP_RENAME, nfs4::RenameArgs{"file", "other"}), Status::NFS4ERR_ROFS);
    EXPECT_EQ(on_root(Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, mode}), Status::NFS4ERR_ROFS);
  }
}

TEST_P(ReadOnlyTest, NoStateidIsLookedAtForAWrite) {
  const Bytes data = pattern(1);
  nfs4::StateId unknown;
  unknown.seqid = 5;
  unknown.other.fill(std::byte{7});
  Compound compound;
  compound.put(handle_of("file")).add(Opnum::OP_WRITE, nfs4::WriteArgs{unknown, 0, {}, data});
  EXPECT_EQ(status_of(compound), Status::NFS4ERR_ROFS) << "a delegation may be recalled for it";
}

TEST_P(ReadOnlyTest, FilesAreOpenedForReadingOnly) {
  nfs4::OpenArgs args;
  const std::uint64_t id = known();
  const auto open = [&](std::string_view name, std::uint32_t access, bool create) {
    args.owner = {id, std::as_bytes(std::span("process"))};
    args.share_access = access;
    args.claim.file = name;
    args.openhow.opentype = create ? nfs4::OpenType::OPEN4_CREATE : nfs4::OpenType::OPEN4_NOCREATE;
    return on_root(Opnum::OP_OPEN, args);
  };
  EXPECT_EQ(open("file", nfs4::OPEN4_SHARE_ACCESS_WRITE, false), Status::NFS4ERR_ROFS);
  EXPECT_EQ(open("file", nfs4::OPEN4_SHARE_ACCESS_BOTH, true), Status::NFS4ERR_ROFS);
  EXPECT_EQ(open("new", nfs4::OPEN4_SHARE_ACCESS_READ, true), Status::NFS4ERR_ROFS);
  EXPECT_EQ(open("file", nfs4::OPEN4_SHARE_ACCESS_READ, false), Status::NFS4_OK);
}

}  // namespace
}  // namespace steertag::peer::testing
