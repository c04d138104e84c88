// Tests of arguments and results of NFS version 3 against octets written by hand, and of limits.
#include <gtest/gtest.h>

#include "nfs/nfs3_procedures.h"
#include "rpc/testing.h"

namespace steertag::nfs3 {
namespace {

using rpc::testing::decoded;
using rpc::testing::encoded;
using rpc::testing::fault_of;
using rpc::testing::from_hex;
using rpc::testing::joined;
using rpc::testing::to_hex;
using wire::FaultCode;

FileHandle handle(std::size_t size) {
  return FileHandle(Bytes(size, std::byte{0xfa}));
}

TEST(WriteArgs, WorkedOctets) {
  const Bytes data = from_hex("0102030405");
  WriteArgs args{.file = handle(4),
                 .offset = 0x1'0000'0002,
                 .count = 5,
                 .stable = StableHow::FILE_SYNC,
                 .data = data};
  const Bytes octets = encoded(args);
  EXPECT_EQ(to_hex(octets), joined("00000004 fafafafa 00000001 00000002 00000005 00000002 00000005"
                                   "01020304 05000000"));
  const auto back = decoded<WriteArgs>(octets);
  EXPECT_EQ(back.offset, args.offset);
  EXPECT_EQ(back.stable, StableHow::FILE_SYNC);
  EXPECT_EQ(back.data.data(), octets.data() + 28) << "the data was copied";
}

TEST(SetattrArgs, WorkedOctets) {
  SetattrArgs args;
  args.object = handle(4);
  args.new_attributes.mode = 0640;
  args.new_attributes.size = 0x100;
  args.new_attributes.atime.set_it = TimeHow::SET_TO_SERVER_TIME;
  args.new_attributes.mtime = {TimeHow::SET_TO_CLIENT_TIME, {7, 8}};
  args.guard = Time{5, 6};
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000004 fafafafa 00000001 000001a0 00000000 00000000 00000001 00000000"
                   "00000100 00000001 00000002 00000007 00000008 00000001 00000005 00000006"));
  const auto back = decoded<SetattrArgs>(encoded(args));
  EXPECT_EQ(back.new_attributes, args.new_attributes);
  EXPECT_EQ(back.guard, args.guard);
}

TEST(CreateArgs, ExclusiveCarriesAVerifierOnly) {
  CreateArgs args;
  args.where = {handle(4), "new"};
  args.how.mode = CreateMode::EXCLUSIVE;
  args.how.verf.fill(std::byte{0xee});
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000004 fafafafa 00000003 6e657700 00000002 eeeeeeee eeeeeeee"));
}

TEST(MknodArgs, DevicesCarryNumbers) {
  MknodArgs args;
  args.where = {handle(4), "dev"};
  args.what.type = FileType::NF3CHR;
  args.what.spec = {1, 3};
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000004 fafafafa 00000003 64657600 00000004 00000000 00000000 00000000"
                   "00000000 00000000 00000000 00000001 00000003"));
  args.what.type = FileType::NF3REG;
  EXPECT_EQ(encoded(args).size(), 20u) << "NF3REG has a void arm";
}

TEST(ReadResult, WorkedOctets) {
  const Bytes octets = from_hex("00000000 00000000 00000003 00000001 00000003 61626300");
  const auto result = decoded<ReadResult>(octets);
  EXPECT_EQ(result.status, Status::NFS3_OK);
  EXPECT_FALSE(result.ok.file_attributes);
  EXPECT_EQ(result.ok.count, 3u);
  EXPECT_TRUE(result.ok.eof);
  EXPECT_EQ(to_hex(result.ok.data), "616263");
  EXPECT_EQ(result.ok.data.data(), octets.data() + 20) << "the data was copied";
}

TEST(GetattrResult, FieldsInTheirOrder) {
  const auto result = decoded<GetattrResult>(from_hex(
      "00000000 00000002 000001ed 00000003 00000004 00000005 00000000 00000006 00000000 00000007"
      "00000008 00000009 00000000 0000000a 00000000 0000000b 0000000c 0000000d 0000000e 0000000f"
      "00000010 00000011"));
  const Fattr expected{.type = FileType::NF3DIR,
                       .mode = 0755,
                       .nlink = 3,
                       .uid = 4,
                       .gid = 5,
                       .size = 6,
                       .used = 7,
                       .rdev = {8, 9},
                       .fsid = 10,
                       .fileid = 11,
                       .atime = {12, 13},
                       .mtime = {14, 15},
                       .ctime = {16, 17}};
  EXPECT_EQ(result.ok.obj_attributes, expected);
}

TEST(ReaddirResult, WorkedOctets) {
  // Names are views of the octets, so these must stay.
  const auto octets = from_hex(
      "00000000 00000000 0000000000000009"
      "00000001 0000000000000005 00000001 2e000000 0000000000000001"
      "00000001 0000000000000006 00000002 2e2e0000 0000000000000002"
      "00000000 00000001");
  const auto result = decoded<ReaddirResult>(octets);
  ASSERT_EQ(result.ok.entries.items.size(), 2u);
  EXPECT_EQ(result.ok.entries.items[0].name, ".");
  EXPECT_EQ(result.ok.entries.items[1].name, "..");
  EXPECT_EQ(result.ok.entries.items[1].fileid, 6u);
  EXPECT_EQ(result.ok.entries.items[1].cookie, 2u);
  EXPECT_TRUE(result.ok.eof);
}

TEST(Result, ArmOfAnEarlierMessageDoesNotStay) {
  const Bytes ok = from_hex("00000000 00000000 00000003 00000001 00000003 61626300");
  const Bytes fail = from_hex("00000005 00000000");
  ReadResult result;
  wire::Reader first(ok);
  result.decode(first);
  wire::Reader second(fail);
  result.decode(second);
  EXPECT_EQ(result.status, Status::NFS3ERR_IO);
  EXPECT_EQ(result.ok.count, 0u);
  EXPECT_TRUE(result.ok.data.empty());
}

TEST(FileHandle, ProtocolLimit) {
  EXPECT_FALSE(fault_of<GetattrArgs>(encoded(GetattrArgs{handle(64)})));
  const wire::Fault fault = fault_of<GetattrArgs>(encoded(GetattrArgs{handle(65)}));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 0u);
  EXPECT_EQ(fault.field, "object");
}

TEST(FileHandle, KeepsItsOctetsWhenTooMany) {
  FileHandle one = handle(8);
  EXPECT_FALSE(one.assign(Bytes(FileHandle::kCapacity + 1)));
  EXPECT_EQ(one, handle(8));
  EXPECT_NE(one, handle(9));
}

TEST(Names, Limit) {
  const std::string name(kMostNameArgumentOctets + 1, 'n');
  LookupArgs args;
  args.what.dir = handle(8);
  args.what.name = std::string_view(name).substr(1);
  EXPECT_FALSE(fault_of<LookupArgs>(encoded(args)));
  args.what.name = name;
  const wire::Fault fault = fault_of<LookupArgs>(encoded(args));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 12u);
  EXPECT_EQ(fault.field, "name");
}

TEST(Paths, Limit) {
  const std::string path(kMostPathArgumentOctets + 1, 'p');
  SymlinkArgs args;
  args.symlink.symlink_data = std::string_view(path).substr(1);
  EXPECT_FALSE(fault_of<SymlinkArgs>(encoded(args)));
  args.symlink.symlink_data = path;
  const wire::Fault fault = fault_of<SymlinkArgs>(encoded(args));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 32u);
  EXPECT_EQ(fault.field, "symlink_data");
}

TEST(Data, Limit) {
  const Bytes data(kMostDataOctets + 1);
  WriteArgs args;
  args.data = View{data}.subspan(1);
  EXPECT_FALSE(fault_of<WriteArgs>(encoded(args)));
  args.data = data;
  EXPECT_EQ(fault_of<WriteArgs>(encoded(args)).code, FaultCode::bad_count);
}

TEST(Entries, Limit) {
  constexpr std::size_t kHeader = 16;            // status, no attributes, cookieverf
  constexpr std::size_t kEntry = 4 + 8 + 8 + 8;  // marker, fileid, name of one octet, cookie
  ReaddirResult result;
  result.ok.entries.items.resize(kMostEntries, Entry{.fileid = 1, .name = "e", .cookie = 1});
  EXPECT_FALSE(fault_of<ReaddirResult>(encoded(result)));
  result.ok.entries.items.push_back(result.ok.entries.items.front());
  const wire::Fault fault = fault_of<ReaddirResult>(encoded(result));
  EXPECT_EQ(fault.code, FaultCode::limit_exceeded);
  EXPECT_EQ(fault.offset, kHeader + kMostEntries * kEntry);
  EXPECT_EQ(fault.field, "entries");
}

TEST(Enumerations, UnknownValuesHaveAPlace) {
  WriteArgs args;
  args.stable = static_cast<StableHow>(3);
  const wire::Fault fault = fault_of<WriteArgs>(encoded(args));
  EXPECT_EQ(fault.code, FaultCode::bad_enum);
  EXPECT_EQ(fault.offset, 16u);
  EXPECT_EQ(fault.field, "stable");
}

}  // namespace
}  // namespace steertag::nfs3
