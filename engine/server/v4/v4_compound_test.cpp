// COMPOUND itself: tag, minor version, order, malformed arguments, sessions' rules of place.
#include "server/testing/v4_fixture.h"

namespace steertag::peer::testing {
namespace {

using nfs4::Status;

class CompoundTest : public Nfs4Test {};
INSTANTIATE_TEST_SUITE_P(Storage, CompoundTest, ::testing::Values(Keeper::memory), name_of);

TEST_P(CompoundTest, NullAnswersAndOtherProceduresDoNotExist) {
  EXPECT_TRUE(client->round_trip(request({}, nfs4::NFSPROC4_NULL)).has_value());
  const auto reply = client->round_trip(request({}, 2));
  ASSERT_FALSE(reply.has_value());
  EXPECT_NE(reply.error().message().find("PROC_UNAVAIL"), std::string::npos)
      << reply.error().message();
}

TEST_P(CompoundTest, TagComesBackAndNoOperationIsNoError) {
  const Answer answer = call(Compound(0, "tag of a client"));
  EXPECT_EQ(answer.status(), Status::NFS4_OK);
  EXPECT_EQ(answer.tag(), "tag of a client");
  EXPECT_EQ(answer.count(), 0U);
}

TEST_P(CompoundTest, TagThatIsNotUtf8IsInvalComesBackAndNothingRuns) {
  make_file4("file", pattern(10));
  // No first octet, a sequence that ends too early, a surrogate, a longer form of '/', and what is
  // above U+10FFFF.
  const std::string_view tags[] = {"\xff\xfe", "caf\xc3",  "\xed\xa0\x80",    "\xc0\xaf",
                                   "\x80",     "\xe2\x82", "\xf4\x90\x80\x80"};
  for (const std::string_view tag : tags) {
    Compound compound(0, tag);
    compound.root().add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
    const Answer answer = call(compound);
    EXPECT_EQ(answer.status(), Status::NFS4ERR_INVAL);
    EXPECT_EQ(answer.tag(), tag);
    EXPECT_EQ(answer.count(), 0U) << "an operation has a result";
    EXPECT_EQ(content("file"), pattern(10)) << "an operation was executed";
  }
  nfs4::ExchangeIdArgs args;
  Compound second(1, "\xff\xfe");
  second.add(Opnum::OP_EXCHANGE_ID, args);
  EXPECT_EQ(status_of(second), Status::NFS4ERR_INVAL) << "minor version 1";
  EXPECT_EQ(call(Compound(0, "caf\xc3\xa9")).status(), Status::NFS4_OK) << "that is UTF-8";
}

TEST_P(CompoundTest, UnknownMinorVersionHasNoResults) {
  Compound compound(2, "two");
  compound.putroot();
  const Answer answer = call(compound);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_MINOR_VERS_MISMATCH);
  EXPECT_EQ(answer.tag(), "two");
  EXPECT_EQ(answer.count(), 0U);
}

TEST_P(CompoundTest, StopsAtTheFirstErrorAndTellsItTwice) {
  Compound compound;
  compound.putroot().lookup("nothing").add(Opnum::OP_GETFH);
  Answer answer = call(compound);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_NOENT);
  EXPECT_EQ(answer.count(), 2U);
  EXPECT_EQ(answer.skip(Opnum::OP_PUTROOTFH), Status::NFS4_OK);
  EXPECT_EQ(answer.skip(Opnum::OP_LOOKUP), Status::NFS4ERR_NOENT);
  EXPECT_TRUE(answer.at_end());
}

TEST_P(CompoundTest, NumberWithoutOperationIsOpIllegal) {
  // The last is an operation of minor version 1.
  for (const std::uint32_t number : {0U, 2U, 59U, 10044U, 0xffffffffU, 53U}) {
    Compound compound;
    compound.putroot().add(static_cast<Opnum>(number)).add(Opnum::OP_GETFH);
    Answer answer = call(compound);
    EXPECT_EQ(answer.status(), Status::NFS4ERR_OP_ILLEGAL) << number;
    EXPECT_EQ(answer.count(), 2U) << number;
    answer.skip(Opnum::OP_PUTROOTFH);
    EXPECT_EQ(answer.skip(Opnum::OP_ILLEGAL), Status::NFS4ERR_OP_ILLEGAL) << number;
  }
}

TEST_P(CompoundTest, OperationsWithoutFilehandleSaySo) {
  const Opnum without_arguments[] = {Opnum::OP_GETFH, Opnum::OP_SAVEFH, Opnum::OP_LOOKUPP,
                                     Opnum::OP_READLINK};
  for (const Opnum number : without_arguments) {
    Compound compound;
    compound.add(number);
    EXPECT_EQ(status_of(compound), Status::NFS4ERR_NOFILEHANDLE) << rpc::name(number);
  }
  Compound restore;
  restore.putroot().add(Opnum::OP_RESTOREFH);
  EXPECT_EQ(status_of(restore), Status::NFS4ERR_RESTOREFH);
  Compound rename;
  rename.putroot().add(Opnum::OP_RENAME, nfs4::RenameArgs{"a", "b"});
  EXPECT_EQ(status_of(rename), Status::NFS4ERR_NOFILEHANDLE) << "there is no saved filehandle";
}

TEST_P(CompoundTest, ArgumentsThatDoNotDecodeAreBadxdrAndChangeNothing) {
  make_file4("file", pattern(10));
  // REMOVE whose name is longer than what remains: it cannot have been meant.
  Compound compound;
  compound.root().add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
  Bytes octets = compound.octets();
  wire::store_u32(octets.data() + octets.size() - 8, 9);
  Answer answer = call(octets);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_BADXDR);
  EXPECT_EQ(answer.count(), 3U);
  answer.skip_root();
  EXPECT_EQ(answer.skip(Opnum::OP_REMOVE), Status::NFS4ERR_BADXDR);
  EXPECT_EQ(content("file"), pattern(10)) << "a malformed REMOVE was executed";
}

TEST_P(CompoundTest, EveryCutCompoundIsRefusedOrAnsweredAndChangesNothing) {
  Compound compound;
  compound.root().add(Opnum::OP_SAVEFH).add(Opnum::OP_LINK, nfs4::LinkArgs{"made"});
  make_file4("file", pattern(10));
  Compound whole;
  whole.root()
      .lookup("file")
      .add(Opnum::OP_SAVEFH)
      .root()
      .add(Opnum::OP_LINK, nfs4::LinkArgs{"made"});
  const Bytes octets = whole.octets();
  for (std::size_t length = 0; length < octets.size(); length += 4) {
    const auto reply = client->round_trip(request(View(octets).first(length)));
    if (reply) {
      EXPECT_NE(Answer(copy(*reply)).status(), Status::NFS4_OK) << length << " octets";
    } else {
      EXPECT_NE(reply.error().message().find("GARBAGE_ARGS"), std::string::npos)
          << length << " octets: " << reply.error().message();
    }
    EXPECT_FALSE(storage->lookup(storage->root(), "made").has_value())
        << "executed from " << length << " octets";
  }
  EXPECT_EQ(status_of(whole), Status::NFS4_OK) << "the whole COMPOUND works";
}

TEST_P(CompoundTest, OctetsBehindTheLastOperationAreGarbage) {
  make_file4("file", pattern(10));
  Compound compound;
  compound.root().add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
  Bytes octets = compound.octets();
  octets.resize(octets.size() + 4);
  EXPECT_NE(refusal(octets).find("GARBAGE_ARGS"), std::string::npos);
  EXPECT_EQ(content("file"), pattern(10)) << "executed although the arguments had no end";
}

TEST_P(CompoundTest, MoreOperationsThanTheLimitAreResourceAndNoneRuns) {
  Compound compound;
  for (std::size_t i = 0; i < nfs4::kMostOperations + 1; ++i) compound.putroot();
  const Answer answer = call(compound);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_RESOURCE);
  EXPECT_EQ(answer.count(), 0U);
  Compound most;
  for (std::size_t i = 0; i < nfs4::kMostOperations; ++i) most.putroot();
  EXPECT_EQ(status_of(most), Status::NFS4_OK);
}

TEST_P(CompoundTest, RepliesOfMinorVersion0EndWithTheLargestTransfer) {
  const nfs4::FileHandle file = make_file4("file", pattern(1000));
  Compound grow;
  nfs4::Attributes size;
  size.size = kLargestTransfer;
  const Fattr4 change(size);
  grow.put(file).add(Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, change});
  ASSERT_EQ(status_of(grow), Status::NFS4_OK);
  Compound reads;
  reads.put(file);
  for (int i = 0; i < 3; ++i) reads.add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, kLargestTransfer});
  reads.add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
  const Answer answer = call(reads);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_RESOURCE);
  EXPECT_EQ(answer.count(), 3U);
}

TEST_P(CompoundTest, MinorVersion1NeedsASession) {
  Compound outside(1);
  outside.putroot();
  Answer answer = call(outside);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_OP_NOT_IN_SESSION);
  EXPECT_EQ(answer.count(), 1U);
  EXPECT_EQ(answer.skip(Opnum::OP_PUTROOTFH), Status::NFS4ERR_OP_NOT_IN_SESSION);

  Compound two(1);
  nfs4::DestroySessionArgs destroy;
  two.add(Opnum::OP_DESTROY_SESSION, destroy).putroot();
  EXPECT_EQ(status_of(two), Status::NFS4ERR_NOT_ONLY_OP);
  Compound alone(1);
  alone.add(Opnum::OP_DESTROY_SESSION, destroy);
  EXPECT_EQ(status_of(alone), Status::NFS4ERR_BADSESSION) << "alone it is looked at";

  Compound unknown(1);
  unknown.add(Opnum::OP_SEQUENCE, nfs4::SequenceArgs{}).putroot();
  EXPECT_EQ(status_of(unknown), Status::NFS4ERR_BADSESSION);
}

}  // namespace
}  // namespace steertag::peer::testing
