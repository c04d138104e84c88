// Operations of NFSv4 on filehandles, attributes, data and names, to each storage.
#include <set>

#include "endpoint/limits.h"
#include "server/testing/v4_fixture.h"

namespace steertag::peer::testing {
namespace {

using nfs4::Status;

class Nfs4FileTest : public Nfs4Test {
 protected:
  Status create(Compound& compound, const nfs4::CreateArgs& args) {
    compound.root().add(Opnum::OP_CREATE, args);
    return status_of(compound);
  }
  Status in_root(Opnum number, const auto& args) {
    Compound compound;
    compound.root().add(number, args);
    return status_of(compound);
  }
  Status setattr(const nfs4::FileHandle& file, const nfs4::Attributes& attributes) {
    const Fattr4 fattr(attributes);
    Compound compound;
    compound.put(file).add(Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, fattr});
    return status_of(compound);
  }
  Status rename(std::string_view from, std::string_view to) {
    Compound compound;
    compound.root().add(Opnum::OP_SAVEFH).add(Opnum::OP_RENAME, nfs4::RenameArgs{from, to});
    return status_of(compound);
  }
  std::uint64_t change_of(const nfs4::FileHandle& object) {
    return attributes4(object, nfs4::Bitmap::of({nfs4::FATTR4_CHANGE})).change.value_or(0);
  }
};
INSTANTIATE_TEST_SUITE_P(Storage, Nfs4FileTest,
                         ::testing::Values(Keeper::memory, Keeper::directory), name_of);

TEST_P(Nfs4FileTest, ExportIsBelowThePseudoRootAndAnotherFileSystem) {
  const nfs4::Bitmap wanted = nfs4::Bitmap::of(
      {nfs4::FATTR4_TYPE, nfs4::FATTR4_FSID, nfs4::FATTR4_FILEID, nfs4::FATTR4_MOUNTED_ON_FILEID});
  Compound compound;
  compound.putroot().getattr(wanted).lookup("export").getattr(wanted).add(Opnum::OP_GETFH);
  Answer answer = call(compound);
  ASSERT_EQ(answer.status(), Status::NFS4_OK);
  answer.skip(Opnum::OP_PUTROOTFH);
  const auto above = answer.take<nfs4::GetattrResult>(Opnum::OP_GETATTR).resok4.obj_attributes;
  answer.skip(Opnum::OP_LOOKUP);
  const auto below = answer.take<nfs4::GetattrResult>(Opnum::OP_GETATTR).resok4.obj_attributes;
  EXPECT_EQ(answer.take<nfs4::GetfhResult>(Opnum::OP_GETFH).resok4.object, root4());
  const nfs4::Attributes pseudo = nfs4::decode_attributes(above)->known;
  const nfs4::Attributes exported = nfs4::decode_attributes(below)->known;
  EXPECT_EQ(pseudo.type, nfs4::FileType::NF4DIR);
  EXPECT_NE(pseudo.fsid, exported.fsid);
  EXPECT_EQ(pseudo.fileid, pseudo.mounted_on_fileid);
  EXPECT_NE(exported.fileid, exported.mounted_on_fileid)
      << "a client sees a mount point by these two";

  Compound up;
  up.root().add(Opnum::OP_LOOKUPP).lookup("export");
  EXPECT_EQ(status_of(up), Status::NFS4_OK) << "the export's parent is the pseudo root";
  Compound beyond;
  beyond.putroot().add(Opnum::OP_LOOKUPP);
  EXPECT_EQ(status_of(beyond), Status::NFS4ERR_NOENT);
}

TEST_P(Nfs4FileTest, PseudoRootCannotBeChanged) {
  const Fattr4 mode(with_mode(0755));
  Compound create;
  create.putroot().add(Opnum::OP_CREATE, directory_args("made", mode));
  EXPECT_EQ(status_of(create), Status::NFS4ERR_ROFS);
  Compound remove;
  remove.putroot().add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"export"});
  EXPECT_EQ(status_of(remove), Status::NFS4ERR_ROFS);
  Compound move;
  move.root().add(Opnum::OP_SAVEFH).putroot().add(Opnum::OP_RENAME, nfs4::RenameArgs{"a", "b"});
  EXPECT_EQ(status_of(move), Status::NFS4ERR_XDEV);
}

TEST_P(Nfs4FileTest, HandlesAreOpaqueToClients) {
  const nfs4::FileHandle file = make_file4("file", {});
  for (std::size_t at = 0; at < file.size(); ++at) {
    Bytes octets = copy(file.view());
    octets[at] ^= std::byte{1};
    Compound compound;
    compound.put(nfs4::FileHandle(View(octets)));
    EXPECT_EQ(status_of(compound), Status::NFS4ERR_BADHANDLE) << "octet " << at;
  }
  EXPECT_EQ(storage->remove(storage->root(), "file"), peer::Status::ok);
  Compound stale;
  stale.put(file);
  EXPECT_EQ(status_of(stale), Status::NFS4ERR_STALE);
}

TEST_P(Nfs4FileTest, LookupNeedsADirectory) {
  make_file4("file", {});
  nfs4::CreateArgs link;
  link.objtype.type = nfs4::FileType::NF4LNK;
  link.objtype.linkdata = "file";
  link.objname = "link";
  Compound made;
  EXPECT_EQ(create(made, link), Status::NFS4_OK);
  Compound below_file;
  below_file.root().lookup("file").lookup("x");
  EXPECT_EQ(status_of(below_file), Status::NFS4ERR_NOTDIR);
  Compound below_link;
  below_link.root().lookup("link").lookup("x");
  EXPECT_EQ(status_of(below_link), Status::NFS4ERR_SYMLINK);
  // RFC 8881 15.2, RFC 7530 13.2: NFS4ERR_SYMLINK is of LOOKUP, and of the file that OPEN opens.
  Compound parent;
  parent.root().lookup("link").add(Opnum::OP_LOOKUPP);
  EXPECT_EQ(status_of(parent), Status::NFS4ERR_NOTDIR);
  Compound removed;
  removed.root().lookup("link").add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"x"});
  EXPECT_EQ(status_of(removed), Status::NFS4ERR_NOTDIR);
  Compound flavors;
  flavors.root().lookup("link").add(Opnum::OP_SECINFO, nfs4::SecinfoArgs{"x"});
  EXPECT_EQ(status_of(flavors), Status::NFS4ERR_NOTDIR);
}

TEST_P(Nfs4FileTest, GetattrGivesWhatIsSupportedAndNothingElse) {
  const nfs4::FileHandle file = make_file4("file", pattern(1000));
  nfs4::Bitmap all;
  for (std::uint32_t number = 0; number < nfs4::Bitmap::kNumbers; ++number) {
    if (number != nfs4::FATTR4_TIME_ACCESS_SET && number != nfs4::FATTR4_TIME_MODIFY_SET)
      all.set(number);
  }
  const nfs4::Attributes found = attributes4(file, all);
  nfs4::Bitmap expected = *found.supported_attrs;
  expected.reset(nfs4::FATTR4_TIME_ACCESS_SET);
  expected.reset(nfs4::FATTR4_TIME_MODIFY_SET);
  EXPECT_EQ(nfs4::present(found), expected);
  const nfs4::Bitmap required = nfs4::attributes_with(nfs4::kRequired, 0);
  EXPECT_TRUE(required.without(nfs4::present(found)).none()) << "a required attribute is missing";
  EXPECT_EQ(found.size, 1000U);
  EXPECT_EQ(found.type, nfs4::FileType::NF4REG);
  EXPECT_EQ(found.filehandle, file);
  EXPECT_EQ(found.mode, 0666U);
  EXPECT_EQ(found.numlinks, 1U);
  EXPECT_EQ(found.lease_time, 90U);
  EXPECT_EQ(found.maxread, kLargestTransfer);
  EXPECT_FALSE(found.fs_charset_cap) << "an attribute of minor version 1";
  for (const std::uint32_t number : {nfs4::FATTR4_TIME_ACCESS_SET, nfs4::FATTR4_TIME_MODIFY_SET}) {
    Compound compound;
    compound.put(file).getattr(nfs4::Bitmap::of({number}));
    EXPECT_EQ(status_of(compound), Status::NFS4ERR_INVAL) << "attribute " << number;
  }
}

// RFC 7530 16.7.4, RFC 8881 18.7.3: GETATTR leaves out what the server does not support.
// RFC 7530 16.32.5, RFC 8881 18.30.3: SETATTR refuses it.
TEST_P(Nfs4FileTest, AttributesOfAnyNumberMayBeAskedFor) {
  const nfs4::FileHandle file = make_file4("file", pattern(1000));
  for (const std::uint32_t words : {9U, 500U}) {
    Bytes octets(4 + 4 * std::size_t{words});
    wire::store_u32(octets.data(), words);
    wire::store_u32(octets.data() + 4, 1U << nfs4::FATTR4_SIZE);
    wire::store_u32(octets.data() + octets.size() - 4, 0xffffffff);
    nfs4::GetattrArgs args;
    wire::Reader reader(octets);
    args.decode(reader);
    ASSERT_TRUE(reader.ok()) << reader.fault().message();
    EXPECT_EQ(attributes4(file, args.attr_request).size, 1000U) << words << " words";
    Compound compound;
    compound.put(file).add(Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, {args.attr_request, {}}});
    EXPECT_EQ(status_of(compound), Status::NFS4ERR_ATTRNOTSUPP) << words << " words";
  }
}

TEST_P(Nfs4FileTest, SetattrSetsAndRefuses) {
  const nfs4::FileHandle file = make_file4("file", pattern(1000));
  nfs4::Attributes wanted = with_mode(0640);
  wanted.size = 10;
  wanted.time_modify_set = nfs4::SetTime{nfs4::TimeHow::SET_TO_CLIENT_TIME4, {5, 6}};
  if (has_root()) {
    wanted.owner = "12";
    wanted.owner_group = "13";
  }
  EXPECT_EQ(setattr(file, wanted), Status::NFS4_OK);
  const nfs4::Bitmap all =
      nfs4::Bitmap::of({nfs4::FATTR4_SIZE, nfs4::FATTR4_MODE, nfs4::FATTR4_OWNER,
                        nfs4::FATTR4_OWNER_GROUP, nfs4::FATTR4_TIME_MODIFY});
  const nfs4::Attributes found = attributes4(file, all);
  EXPECT_EQ(found.mode, 0640U);
  EXPECT_EQ(found.size, 10U);
  EXPECT_EQ(found.time_modify, (nfs4::Time{5, 6}));
  if (has_root()) {
    EXPECT_EQ(found.owner, "12");
    EXPECT_EQ(found.owner_group, "13");
  }

  nfs4::Attributes owner;
  for (const std::string_view text : {"nobody@example.org", "root@example.org"}) {
    owner.owner = text;
    if (has_root()) {
      EXPECT_EQ(setattr(file, owner), Status::NFS4_OK) << text;
    }
  }
  for (const std::string_view text : {"somebody@example.org", "012", "-1", "4294967295", "1 "}) {
    owner.owner = text;
    EXPECT_EQ(setattr(file, owner), Status::NFS4ERR_BADOWNER) << text;
  }
  EXPECT_EQ(setattr(file, with_mode(010000)), Status::NFS4ERR_INVAL);
  nfs4::Attributes time;
  time.time_access_set = nfs4::SetTime{nfs4::TimeHow::SET_TO_CLIENT_TIME4, {5, 1'000'000'000}};
  EXPECT_EQ(setattr(file, time), Status::NFS4ERR_INVAL);
  nfs4::Attributes read_only;
  read_only.fileid = 5;
  EXPECT_EQ(setattr(file, read_only), Status::NFS4ERR_INVAL);
  nfs4::Attributes hidden;
  hidden.hidden = true;
  EXPECT_EQ(setattr(file, hidden), Status::NFS4ERR_ATTRNOTSUPP);
  nfs4::Attributes size;
  size.size = 5;
  EXPECT_EQ(setattr(root4(), size), Status::NFS4ERR_ISDIR);
}

TEST_P(Nfs4FileTest, StrangersSetNothingNotEvenToWhatItIs) {
  const nfs4::FileHandle file = make_file4("file", pattern(10));
  const std::uint64_t before = change_of(file);
  const nfs4::Bitmap both = nfs4::Bitmap::of({nfs4::FATTR4_OWNER, nfs4::FATTR4_OWNER_GROUP});
  const nfs4::Attributes found = attributes4(file, both);
  const std::string names[] = {std::string(*found.owner), std::string(*found.owner_group)};
  nfs4::Attributes owner;
  owner.owner = names[0];
  nfs4::Attributes group;
  group.owner_group = names[1];
  uid = gid = 4711;
  EXPECT_EQ(setattr(file, owner), Status::NFS4ERR_PERM);
  EXPECT_EQ(setattr(file, group), Status::NFS4ERR_PERM);
  EXPECT_EQ(setattr(file, {}), Status::NFS4_OK);
  EXPECT_EQ(change_of(file), before);
}

TEST_P(Nfs4FileTest, ValuesThatEndTooEarlyAreBadxdr) {
  const nfs4::FileHandle file = make_file4("file", pattern(10));
  nfs4::Fattr fattr;
  fattr.attrmask = nfs4::Bitmap::of({nfs4::FATTR4_SIZE, nfs4::FATTR4_MODE});
  const Bytes eight(8);  // the size, and no mode
  fattr.attr_vals = eight;
  Compound compound;
  compound.put(file).add(Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, fattr});
  Answer answer = call(compound);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_BADXDR);
  answer.skip(Opnum::OP_PUTFH);
  EXPECT_TRUE(answer.take<nfs4::SetattrResult>(Opnum::OP_SETATTR).attrsset.none());
  EXPECT_EQ(content("file"), pattern(10)) << "the size was set although the mode was missing";
}

TEST_P(Nfs4FileTest, VerifyAndNverifyCompare) {
  const nfs4::FileHandle file = make_file4("file", pattern(10));
  nfs4::Attributes values;
  values.size = 10;
  values.type = nfs4::FileType::NF4REG;
  nfs4::Attributes other = values;
  other.size = 11;
  nfs4::Attributes error;
  error.rdattr_error = Status::NFS4_OK;
  nfs4::Attributes unsupported;
  unsupported.hidden = false;
  const auto compare = [&](Opnum number, const nfs4::Attributes& attributes) {
    const Fattr4 fattr(attributes);
    Compound compound;
    compound.put(file).add(number, nfs4::VerifyArgs{fattr});
    return status_of(compound);
  };
  EXPECT_EQ(compare(Opnum::OP_VERIFY, values), Status::NFS4_OK);
  EXPECT_EQ(compare(Opnum::OP_VERIFY, other), Status::NFS4ERR_NOT_SAME);
  EXPECT_EQ(compare(Opnum::OP_NVERIFY, values), Status::NFS4ERR_SAME);
  EXPECT_EQ(compare(Opnum::OP_NVERIFY, other), Status::NFS4_OK);
  EXPECT_EQ(compare(Opnum::OP_VERIFY, error), Status::NFS4ERR_INVAL);
  EXPECT_EQ(compare(Opnum::OP_NVERIFY, unsupported), Status::NFS4ERR_ATTRNOTSUPP);
}

TEST_P(Nfs4FileTest, AccessGrantsWhatTheModeDoes) {
  const nfs4::FileHandle file = make_file4("file", {});
  EXPECT_EQ(setattr(file, with_mode(0604)), Status::NFS4_OK);
  uid = gid = 4711;  // neither owner nor group
  Compound compound;
  compound.put(file).add(Opnum::OP_ACCESS, nfs4::AccessArgs{0x3f});
  Answer answer = call(compound);
  answer.skip(Opnum::OP_PUTFH);
  const auto result = answer.take<nfs4::AccessResult>(Opnum::OP_ACCESS);
  EXPECT_EQ(result.resok4.supported, nfs4::ACCESS4_READ | nfs4::ACCESS4_MODIFY |
                                         nfs4::ACCESS4_EXTEND | nfs4::ACCESS4_EXECUTE);
  EXPECT_EQ(result.resok4.access, nfs4::ACCESS4_READ);
}

TEST_P(Nfs4FileTest, DataIsWrittenCommittedAndRead) {
  const nfs4::FileHandle file = make_file4("file", {});
  const Bytes data = pattern(100'001);
  Compound write;
  write.put(file)
      .add(Opnum::OP_WRITE, nfs4::WriteArgs{{}, 5, nfs4::StableHow::UNSTABLE4, data})
      .add(Opnum::OP_COMMIT, nfs4::CommitArgs{~std::uint64_t{0}, 5});  // no range is too large
  Answer answer = call(write);
  ASSERT_EQ(answer.status(), Status::NFS4_OK) << rpc::name(answer.status());
  answer.skip(Opnum::OP_PUTFH);
  const auto written = answer.take<nfs4::WriteResult>(Opnum::OP_WRITE).resok4;
  EXPECT_EQ(written.count, data.size());
  EXPECT_EQ(written.committed, nfs4::StableHow::UNSTABLE4);
  EXPECT_EQ(answer.take<nfs4::CommitResult>(Opnum::OP_COMMIT).resok4.writeverf, written.writeverf);

  Compound read;
  read.put(file)
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 5, 3})
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 8, 200'000})
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 1'000'000, 10});
  answer = call(read);
  ASSERT_EQ(answer.status(), Status::NFS4_OK);
  answer.skip(Opnum::OP_PUTFH);
  const auto first = answer.take<nfs4::ReadResult>(Opnum::OP_READ).resok4;
  const auto second = answer.take<nfs4::ReadResult>(Opnum::OP_READ).resok4;
  const auto third = answer.take<nfs4::ReadResult>(Opnum::OP_READ).resok4;
  Bytes found = copy(first.data);
  found.insert(found.end(), second.data.begin(), second.data.end());
  EXPECT_EQ(found, data);
  EXPECT_FALSE(first.eof);
  EXPECT_TRUE(second.eof);
  EXPECT_TRUE(third.eof);
  EXPECT_TRUE(third.data.empty());
}

TEST_P(Nfs4FileTest, DataIsForRegularFiles) {
  const auto transfer = [&](Opnum number, const auto& args) {
    Compound compound;
    compound.root().add(number, args);
    return status_of(compound);
  };
  EXPECT_EQ(transfer(Opnum::OP_READ, nfs4::ReadArgs{}), Status::NFS4ERR_ISDIR);
  EXPECT_EQ(transfer(Opnum::OP_WRITE, nfs4::WriteArgs{}), Status::NFS4ERR_ISDIR);
  EXPECT_EQ(transfer(Opnum::OP_COMMIT, nfs4::CommitArgs{}), Status::NFS4ERR_ISDIR);
  EXPECT_EQ(transfer(Opnum::OP_READLINK, nfs4::Void{}), Status::NFS4ERR_INVAL);
  make_file4("file", {});
  EXPECT_EQ(setattr(handle_of("file"), with_mode(0600)), Status::NFS4_OK);
  uid = gid = 4711;
  Compound read;
  read.root().lookup("file").add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, 1});
  EXPECT_EQ(status_of(read), Status::NFS4ERR_ACCESS);
}

TEST_P(Nfs4FileTest, LinkTextComesBack) {
  nfs4::CreateArgs link;
  link.objtype.type = nfs4::FileType::NF4LNK;
  link.objtype.linkdata = "where/it/leads";
  link.objname = "link";
  Compound compound;
  compound.root().add(Opnum::OP_CREATE, link).add(Opnum::OP_READLINK).add(Opnum::OP_GETFH);
  Answer answer = call(compound);
  ASSERT_EQ(answer.status(), Status::NFS4_OK);
  answer.skip_root();
  const auto created = answer.take<nfs4::CreateResult>(Opnum::OP_CREATE).resok4;
  EXPECT_TRUE(created.cinfo.atomic);
  EXPECT_EQ(answer.take<nfs4::ReadlinkResult>(Opnum::OP_READLINK).resok4.link, "where/it/leads");
  EXPECT_EQ(answer.take<nfs4::GetfhResult>(Opnum::OP_GETFH).resok4.object, handle_of("link"));
}

TEST_P(Nfs4FileTest, CreateMakesEveryTypeButFiles) {
  const Fattr4 mode(with_mode(0700));
  for (const nfs4::FileType type : {nfs4::FileType::NF4DIR, nfs4::FileType::NF4SOCK,
                                    nfs4::FileType::NF4FIFO, nfs4::FileType::NF4CHR}) {
    if (type == nfs4::FileType::NF4CHR && !has_root()) continue;
    const std::string name(rpc::name(type));
    nfs4::CreateArgs args = directory_args(name, mode);
    args.objtype.type = type;
    args.objtype.devdata = {1, 3};
    Compound compound;
    EXPECT_EQ(create(compound, args), Status::NFS4_OK) << name;
    Compound again;
    EXPECT_EQ(create(again, args), Status::NFS4ERR_EXIST) << name;
    const auto found =
        attributes4(handle_of(name), nfs4::Bitmap::of({nfs4::FATTR4_TYPE, nfs4::FATTR4_MODE}));
    EXPECT_EQ(found.type, type);
    EXPECT_EQ(found.mode, 0700U);
  }
  nfs4::CreateArgs file = directory_args("file", mode);
  file.objtype.type = nfs4::FileType::NF4REG;
  Compound regular;
  EXPECT_EQ(create(regular, file), Status::NFS4ERR_BADTYPE);
  nfs4::Attributes size;
  size.size = 0;
  const Fattr4 sized(size);
  Compound with_size;
  EXPECT_EQ(create(with_size, directory_args("directory", sized)), Status::NFS4ERR_INVAL);
  uid = gid = 4711;
  nfs4::CreateArgs device = directory_args("device", mode);
  device.objtype.type = nfs4::FileType::NF4BLK;
  Compound by_stranger;
  EXPECT_EQ(create(by_stranger, device), Status::NFS4ERR_PERM);
}

TEST_P(Nfs4FileTest, CreateTellsWhatItHasNotSet) {
  EXPECT_EQ(setattr(root4(), with_mode(0777)), Status::NFS4_OK);
  uid = gid = 4711;
  nfs4::Attributes wanted = with_mode(0755);
  wanted.owner = wanted.owner_group = "12";
  const Fattr4 attributes(wanted);
  Compound compound;
  compound.root().add(Opnum::OP_CREATE, directory_args("d", attributes));
  Answer answer = call(compound);
  ASSERT_EQ(answer.status(), Status::NFS4_OK);
  answer.skip_root();
  EXPECT_EQ(answer.take<nfs4::CreateResult>(Opnum::OP_CREATE).resok4.attrset,
            nfs4::Bitmap::of({nfs4::FATTR4_MODE}));
}

TEST_P(Nfs4FileTest, NamesAreRemovedMovedAndLinked) {
  make_file4("a", pattern(10));
  make_file4("b", pattern(20));
  const Fattr4 mode(with_mode(0755));
  Compound made;
  EXPECT_EQ(create(made, directory_args("d", mode)), Status::NFS4_OK);
  EXPECT_EQ(rename("a", "b"), Status::NFS4_OK);
  EXPECT_EQ(content("b"), pattern(10));
  EXPECT_EQ(rename("a", "b"), Status::NFS4ERR_NOENT);
  EXPECT_EQ(rename("b", "b"), Status::NFS4_OK);
  EXPECT_EQ(rename("b", "d"), Status::NFS4ERR_EXIST);
  Compound link;
  link.root()
      .lookup("b")
      .add(Opnum::OP_SAVEFH)
      .root()
      .add(Opnum::OP_LINK, nfs4::LinkArgs{"c"})
      .add(Opnum::OP_RESTOREFH)
      .getattr(nfs4::Bitmap::of({nfs4::FATTR4_NUMLINKS}));
  EXPECT_EQ(status_of(link), Status::NFS4_OK);
  EXPECT_EQ(attributes4(handle_of("c"), nfs4::Bitmap::of({nfs4::FATTR4_NUMLINKS})).numlinks, 2U);
  EXPECT_EQ(status_of(link), Status::NFS4ERR_EXIST);
  Compound directory_link;
  directory_link.root().add(Opnum::OP_SAVEFH).add(Opnum::OP_LINK, nfs4::LinkArgs{"e"});
  EXPECT_EQ(status_of(directory_link), Status::NFS4ERR_ISDIR);

  make_file4("f", {});
  Compound moved;
  moved.root().add(Opnum::OP_SAVEFH).lookup("d").add(Opnum::OP_RENAME, nfs4::RenameArgs{"f", "g"});
  Answer answer = call(moved);
  EXPECT_EQ(answer.status(), Status::NFS4_OK);
  EXPECT_EQ(in_root(Opnum::OP_REMOVE, nfs4::RemoveArgs{"d"}), Status::NFS4ERR_NOTEMPTY);
  Compound inside;
  inside.root().lookup("d").add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"g"});
  EXPECT_EQ(status_of(inside), Status::NFS4_OK);
  EXPECT_EQ(in_root(Opnum::OP_REMOVE, nfs4::RemoveArgs{"d"}), Status::NFS4_OK);
  EXPECT_EQ(in_root(Opnum::OP_REMOVE, nfs4::RemoveArgs{"d"}), Status::NFS4ERR_NOENT);
}

TEST_P(Nfs4FileTest, ChangeChangesWithEveryChangeAndChangeInfoTellsIt) {
  const nfs4::FileHandle file = make_file4("file", {});
  std::set<std::uint64_t> seen{change_of(file)};
  for (std::uint32_t i = 0; i < 50; ++i) {
    const Bytes octet = pattern(1, i);
    Compound write;
    write.put(file).add(Opnum::OP_WRITE, nfs4::WriteArgs{{}, 0, nfs4::StableHow::UNSTABLE4, octet});
    EXPECT_EQ(status_of(write), Status::NFS4_OK);
    EXPECT_TRUE(seen.insert(change_of(file)).second) << "WRITE " << i << " cannot be seen";
    EXPECT_EQ(setattr(file, with_mode(0600 + i % 2)), Status::NFS4_OK);
    EXPECT_TRUE(seen.insert(change_of(file)).second) << "SETATTR " << i << " cannot be seen";
  }
  const std::uint64_t before = change_of(root4());
  Compound remove;
  remove.root().add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
  Answer answer = call(remove);
  answer.skip_root();
  const auto cinfo = answer.take<nfs4::RemoveResult>(Opnum::OP_REMOVE).resok4.cinfo;
  EXPECT_EQ(cinfo.before, before);
  EXPECT_NE(cinfo.after, before);
  EXPECT_EQ(cinfo.after, change_of(root4()));
}

TEST_P(Nfs4FileTest, StrangersMayNotWhatTheModeForbids) {
  const Fattr4 mode(with_mode(0755));
  Compound made;
  EXPECT_EQ(create(made, directory_args("d", mode)), Status::NFS4_OK);
  EXPECT_EQ(setattr(handle_of("d"), with_mode(0750)), Status::NFS4_OK);
  uid = gid = 4711;
  Compound lookup;
  lookup.root().lookup("d").lookup("x");
  EXPECT_EQ(status_of(lookup), Status::NFS4ERR_ACCESS);
  Compound list;
  list.root().lookup("d").add(Opnum::OP_READDIR, nfs4::ReaddirArgs{0, {}, 0, 4096, {}});
  EXPECT_EQ(status_of(list), Status::NFS4ERR_ACCESS);
  Compound make;
  make.root().lookup("d").add(Opnum::OP_CREATE, directory_args("e", mode));
  EXPECT_EQ(status_of(make), Status::NFS4ERR_ACCESS);
  EXPECT_EQ(setattr(handle_of("d"), with_mode(0777)), Status::NFS4ERR_PERM);
}

}  // namespace
}  // namespace steertag::peer::testing
