// Tests of the upper-layer binding: the table, and the positions of eligible items.
#include "nfs/binding.h"

#include <gtest/gtest.h>

#include "nfs/nfs3_procedures.h"
#include "rpc/message.h"
#include "rpc/testing.h"

namespace steertag::nfs {
namespace {

using nfs3::FileHandle;
using rpc::testing::from_hex;
using rpc::testing::reply_of;

constexpr std::size_t kCallHeader = rpc::kSmallestCallHeader;
constexpr std::size_t kReplyHeader = rpc::kSmallestReplyHeader;

FileHandle handle(std::size_t size) {
  return FileHandle(Bytes(size, std::byte{1}));
}

template <class Args>
Bytes call_of(std::uint32_t procedure, const Args& args, std::uint32_t version = 3,
              std::uint32_t program = kNfsProgram) {
  Bytes octets = rpc::testing::call_header(program, version, procedure);
  wire::Writer writer(octets);
  args.encode(writer);
  return octets;
}

Bytes without_tail(Bytes octets, std::size_t tail) {
  octets.resize(octets.size() - tail);
  return octets;
}

TEST(Table, HoldsTheItemsOfRfc8267AndNoOthers) {
  std::vector<std::string> rows;
  for (const BindingRow& row : binding_table()) {
    rows.push_back(std::to_string(row.program) + " " + std::to_string(row.version) + " " +
                   std::to_string(row.procedure) +
                   (row.in == ItemIn::argument ? " argument" : " result"));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"100003 2 5 result", "100003 2 6 result",
                                            "100003 2 8 argument", "100003 2 13 argument",
                                            "100003 3 5 result", "100003 3 6 result",
                                            "100003 3 7 argument", "100003 3 10 argument"}));
  EXPECT_EQ(eligible_item(kNfsProgram, 3, 7, ItemIn::argument), "data");
  EXPECT_EQ(eligible_item(kNfsProgram, 3, 7, ItemIn::result), std::nullopt);
  EXPECT_EQ(eligible_item(100005, 3, 7, ItemIn::argument), std::nullopt) << "MOUNT";
  EXPECT_EQ(eligible_item(100227, 3, 2, ItemIn::argument), std::nullopt) << "NFSACL";
}

TEST(EligibleArgument, WriteOf4101OctetsIsAtPosition96) {
  const Bytes data(4101);
  nfs3::WriteArgs args{.file = handle(32), .count = 4101, .data = data};
  const Bytes call = call_of(7, args);
  const auto item = eligible_argument(call);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->position, 96u);
  EXPECT_EQ(item->length, 4101u);
  EXPECT_FALSE(item->reduced);

  const auto reduced = eligible_argument(without_tail(call, 4104));
  ASSERT_TRUE(reduced);
  EXPECT_EQ(reduced->position, 96u);
  EXPECT_EQ(reduced->length, 4101u);
  EXPECT_TRUE(reduced->reduced);
}

TEST(EligibleArgument, EmptyWriteIsNeverReduced) {
  const auto item = eligible_argument(call_of(7, nfs3::WriteArgs{.file = handle(32)}));
  ASSERT_TRUE(item);
  EXPECT_EQ(item->length, 0u);
  EXPECT_FALSE(item->reduced);
}

TEST(EligibleArgument, SymlinkPath) {
  nfs3::SymlinkArgs args;
  args.where = {handle(32), "name5"};
  args.symlink.symlink_attributes.mode = 0777;
  args.symlink.symlink_data = "target";
  const Bytes call = call_of(10, args);
  const auto item = eligible_argument(call);
  ASSERT_TRUE(item);
  // handle 36, name 12, attributes 28, count word 4
  EXPECT_EQ(item->position, kCallHeader + 80);
  EXPECT_EQ(item->length, 6u);
  EXPECT_FALSE(item->reduced);
  EXPECT_TRUE(eligible_argument(without_tail(call, 8))->reduced);
}

struct RawArgs {
  Bytes octets;
  void encode(wire::Writer& writer) const { writer.raw(octets); }
};

TEST(EligibleArgument, Version2WriteAndSymlink) {
  RawArgs write{Bytes(32 + 12)};
  for (const int octet : {0, 0, 0, 4, 1, 2, 3, 4}) write.octets.push_back(std::byte(octet));
  const auto data = eligible_argument(call_of(8, write, 2));
  ASSERT_TRUE(data);
  EXPECT_EQ(data->position, kCallHeader + 48);
  EXPECT_EQ(data->length, 4u);
  EXPECT_FALSE(data->reduced);

  RawArgs symlink{Bytes(32)};
  for (const int octet : {0, 0, 0, 1, 0x6e, 0, 0, 0, 0, 0, 0, 4}) {
    symlink.octets.push_back(std::byte(octet));
  }
  symlink.octets.resize(symlink.octets.size() + 32);  // sattr follows at once: the path is reduced
  const auto path = eligible_argument(call_of(13, symlink, 2));
  ASSERT_TRUE(path);
  EXPECT_EQ(path->position, kCallHeader + 44);
  EXPECT_EQ(path->length, 4u);
  EXPECT_TRUE(path->reduced);
  symlink.octets.resize(symlink.octets.size() + 4);
  EXPECT_FALSE(eligible_argument(call_of(13, symlink, 2))->reduced);
}

TEST(EligibleArgument, OtherProceduresAndProgramsHaveNone) {
  wire::Fault fault{wire::FaultCode::truncated, 1, "stale"};
  EXPECT_FALSE(eligible_argument(call_of(6, nfs3::ReadArgs{}), &fault));
  EXPECT_FALSE(fault) << fault.message();
  EXPECT_FALSE(eligible_argument(call_of(8, nfs3::CreateArgs{}), &fault));
  EXPECT_FALSE(eligible_argument(call_of(7, nfs3::WriteArgs{}, 3, 100005), &fault)) << "MOUNT";
  EXPECT_FALSE(eligible_argument(call_of(7, nfs3::WriteArgs{}, 4), &fault)) << "version 4";
  EXPECT_FALSE(fault) << fault.message();
}

TEST(EligibleArgument, FaultsSayWhere) {
  const Bytes call = call_of(7, nfs3::WriteArgs{.file = handle(32)});
  wire::Fault fault;
  for (std::size_t length = 0; length < call.size(); ++length) {
    EXPECT_FALSE(eligible_argument(View{call}.first(length), &fault)) << length;
    EXPECT_EQ(fault.code, wire::FaultCode::truncated) << length;
    EXPECT_LE(fault.offset, length);
  }
  EXPECT_TRUE(eligible_argument(call, &fault));
  EXPECT_FALSE(fault);
}

TEST(EligibleArgument, HandleThatIsTooLongDoesNotHideTheItem) {
  const auto item = eligible_argument(call_of(7, nfs3::WriteArgs{.file = handle(68)}));
  ASSERT_TRUE(item);
  EXPECT_EQ(item->position, 96u + 36u);
}

TEST(Binding, AuxiliaryProgramsHaveNothingEligible) {
  for (const std::uint32_t program : {100005u, 100021u, 100024u, 100227u}) {
    EXPECT_TRUE(nothing_eligible(program)) << program;
  }
  EXPECT_FALSE(nothing_eligible(kNfsProgram));
  EXPECT_FALSE(nothing_eligible(0x40000000)) << "callbacks are not spoken of";
}

TEST(EligibleArgument, GssServices) {
  rpc::CallHeader header;
  header.program = kNfsProgram;
  header.version = 3;
  header.procedure = 7;
  for (const std::uint32_t service : {1u, 2u, 3u}) {
    Bytes credential;
    wire::Writer body(credential);
    for (const std::uint32_t word : {1u, 0u, 5u, service, 0u}) body.u32(word);
    header.credential = {rpc::AuthFlavor::RPCSEC_GSS, credential};
    Bytes call;
    wire::Writer writer(call);
    header.encode(writer);
    nfs3::WriteArgs{}.encode(writer);
    EXPECT_EQ(eligible_argument(call).has_value(), service == 1) << "service " << service;
  }
}

TEST(EligibleResult, ReadData) {
  const Bytes data(4101);
  nfs3::ReadResult result;
  result.ok = {.file_attributes = nfs3::Fattr{}, .count = 4101, .eof = true, .data = data};
  const Bytes reply = reply_of(result);
  const auto item = eligible_result(reply, kNfsProgram, 3, 6);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->position, kReplyHeader + 4 + 88 + 8 + 4);
  EXPECT_EQ(item->length, 4101u);
  EXPECT_FALSE(item->reduced);
  EXPECT_TRUE(eligible_result(without_tail(reply, 4104), kNfsProgram, 3, 6)->reduced);
  EXPECT_FALSE(eligible_result(reply, kNfsProgram, 3, 7)) << "WRITE has no eligible result";
}

TEST(EligibleResult, ReadlinkPath) {
  nfs3::ReadlinkResult result;
  result.ok.data = "elsewhere";
  const auto item = eligible_result(reply_of(result), kNfsProgram, 3, 5);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->position, kReplyHeader + 12);
  EXPECT_EQ(item->length, 9u);
}

TEST(EligibleResult, Version2) {
  RawArgs read{Bytes(4 + 68)};
  for (const int octet : {0, 0, 0, 4, 1, 2, 3, 4}) read.octets.push_back(std::byte(octet));
  const auto data = eligible_result(reply_of(read), kNfsProgram, 2, 6);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->position, kReplyHeader + 76);
  const RawArgs readlink{from_hex("00000000 00000004 2f746d70")};
  const auto path = eligible_result(reply_of(readlink), kNfsProgram, 2, 5);
  ASSERT_TRUE(path);
  EXPECT_EQ(path->position, kReplyHeader + 8);
}

TEST(EligibleResult, ErrorsHaveNone) {
  wire::Fault fault;
  nfs3::ReadResult failed;
  failed.status = nfs3::Status::NFS3ERR_IO;
  EXPECT_FALSE(eligible_result(reply_of(failed), kNfsProgram, 3, 6, &fault));
  EXPECT_FALSE(fault) << fault.message();
  Bytes denied;
  wire::Writer writer(denied);
  rpc::ReplyHeader::auth_error(1, rpc::AuthStatus::AUTH_TOOWEAK).encode(writer);
  EXPECT_FALSE(eligible_result(denied, kNfsProgram, 3, 6, &fault));
  EXPECT_FALSE(fault) << fault.message();
  EXPECT_FALSE(eligible_result(from_hex("00000001 00000001"), kNfsProgram, 3, 6, &fault));
  EXPECT_EQ(fault.code, wire::FaultCode::truncated);
}

}  // namespace
}  // namespace steertag::nfs
