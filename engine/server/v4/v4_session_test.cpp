// COMPOUNDs in a session: order, limits of the channel, and retries that run nothing twice.
#include "server/testing/v4_fixture.h"
#include "server/v4/state/records.h"

namespace steertag::peer::testing {
namespace {

using nfs4::Status;

class SessionCompoundTest : public Nfs4Test {
 protected:
  void SetUp() override {
    Nfs4Test::SetUp();
    open_session({});
  }

  static nfs4::ChannelAttrs channel() {
    nfs4::ChannelAttrs attributes;
    attributes.ca_maxrequestsize = 1U << 20;
    attributes.ca_maxresponsesize = 1U << 20;
    attributes.ca_maxresponsesize_cached = 4096;
    attributes.ca_maxoperations = 16;
    attributes.ca_maxrequests = 4;
    return attributes;
  }
  void open_session(std::optional<nfs4::ChannelAttrs> fore) {
    nfs4::ExchangeIdArgs exchange;
    exchange.eia_clientowner.co_ownerid = std::as_bytes(std::span("owner of the test"));
    Compound first(1);
    first.add(Opnum::OP_EXCHANGE_ID, exchange);
    Answer answer = call(first);
    const auto client_id = answer.take<nfs4::ExchangeIdResult>(Opnum::OP_EXCHANGE_ID).resok4;
    nfs4::CreateSessionArgs create;
    create.csa_clientid = client_id.eir_clientid;
    create.csa_sequence = client_id.eir_sequenceid;
    create.csa_fore_chan_attrs = fore.value_or(channel());
    create.csa_back_chan_attrs = channel();
    Compound second(1);
    second.add(Opnum::OP_CREATE_SESSION, create);
    answer = call(second);
    ASSERT_EQ(answer.status(), Status::NFS4_OK) << rpc::name(answer.status());
    session = answer.take<nfs4::CreateSessionResult>(Opnum::OP_CREATE_SESSION).resok4.csr_sessionid;
    sequence = 0;
  }
  nfs4::SequenceArgs next(bool cachethis = false) { return {session, ++sequence, 0, 0, cachethis}; }

  nfs4::SessionId session{};
  std::uint32_t sequence = 0;
};
INSTANTIATE_TEST_SUITE_P(Storage, SessionCompoundTest, ::testing::Values(Keeper::memory), name_of);

TEST_P(SessionCompoundTest, OperationsHaveTheirPlace) {
  Compound twice(1);
  twice.add(Opnum::OP_SEQUENCE, next()).add(Opnum::OP_SEQUENCE, nfs4::SequenceArgs{session, 9});
  EXPECT_EQ(status_of(twice), Status::NFS4ERR_SEQUENCE_POS);
  Compound bind(1);
  nfs4::BindConnToSessionArgs args;
  args.bctsa_sessid = session;
  bind.add(Opnum::OP_SEQUENCE, next()).add(Opnum::OP_BIND_CONN_TO_SESSION, args);
  EXPECT_EQ(status_of(bind), Status::NFS4ERR_NOT_ONLY_OP);
  Compound old(1);
  old.add(Opnum::OP_SEQUENCE, next()).add(Opnum::OP_RENEW, nfs4::RenewArgs{});
  EXPECT_EQ(status_of(old), Status::NFS4ERR_NOTSUPP) << "an operation of minor version 0";
  Compound layout(1);
  layout.add(Opnum::OP_SEQUENCE, next()).putroot().add(Opnum::OP_LAYOUTGET, nfs4::LayoutgetArgs{});
  EXPECT_EQ(status_of(layout), Status::NFS4ERR_NOTSUPP);
  Compound openattr(1);
  openattr.add(Opnum::OP_SEQUENCE, next()).putroot().add(Opnum::OP_OPENATTR, nfs4::OpenattrArgs{});
  EXPECT_EQ(status_of(openattr), Status::NFS4ERR_NOTSUPP);
}

TEST_P(SessionCompoundTest, FileSystemSaysThatNamesNeedNotBeUtf8) {
  const auto wanted = nfs4::Bitmap::of({nfs4::FATTR4_SUPPORTED_ATTRS, nfs4::FATTR4_FS_CHARSET_CAP});
  Compound compound(1);
  compound.add(Opnum::OP_SEQUENCE, next()).put(root4()).getattr(wanted);
  Answer answer = call(compound);
  ASSERT_EQ(answer.status(), Status::NFS4_OK);
  answer.skip(Opnum::OP_SEQUENCE);
  answer.skip(Opnum::OP_PUTFH);
  const auto result = answer.take<nfs4::GetattrResult>(Opnum::OP_GETATTR).resok4;
  const auto decoded = nfs4::decode_attributes(result.obj_attributes);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_TRUE(decoded->known.supported_attrs->test(nfs4::FATTR4_FS_CHARSET_CAP));
  EXPECT_EQ(decoded->known.fs_charset_cap, 1U)
      << "RFC 8881 14.4: FSCHARSET_CAP4_CONTAINS_NON_UTF8 alone";
}

TEST_P(SessionCompoundTest, RetryGetsTheCachedAnswerAndRunsNothing) {
  make_file4("file", pattern(10));
  Compound remove(1);
  remove.add(Opnum::OP_SEQUENCE, next(true)).root().add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
  const Answer first = call(remove);
  EXPECT_EQ(first.status(), Status::NFS4_OK) << rpc::name(first.status());
  make_file4("file", pattern(20));
  const Answer again = call(remove);
  EXPECT_EQ(again.status(), Status::NFS4_OK);
  // Behind the XID, which differs.
  EXPECT_EQ(copy(again.octets().subspan(4)), copy(first.octets().subspan(4)));
  EXPECT_EQ(content("file"), pattern(20)) << "the retried REMOVE was executed again";
}

TEST_P(SessionCompoundTest, RetryOfACachedReadHasItsData) {
  const nfs4::FileHandle file = make_file4("file", pattern(100));
  Compound read(1);
  read.add(Opnum::OP_SEQUENCE, next(true))
      .put(file)
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, 100});
  call(read);
  // What would be read now.
  EXPECT_EQ(storage->write(*storage->resolve(file.view()), 0, pattern(100, 2)), peer::Status::ok);
  Answer again = call(read);
  again.skip(Opnum::OP_SEQUENCE);
  again.skip(Opnum::OP_PUTFH);
  EXPECT_EQ(copy(again.take<nfs4::ReadResult>(Opnum::OP_READ).resok4.data), pattern(100));
}

TEST_P(SessionCompoundTest, RetryOfAnIllegalOperationMissesNoReply) {
  // With such a tag no reply is small enough to be cached unasked.
  Compound old(1, std::string(600, 't'));
  old.add(Opnum::OP_SEQUENCE, next()).add(Opnum::OP_RENEW, nfs4::RenewArgs{});
  EXPECT_EQ(status_of(old), Status::NFS4ERR_NOTSUPP);
  EXPECT_EQ(status_of(old), Status::NFS4ERR_NOTSUPP) << "RFC 8881 2.10.6.1.3";
  Compound good(1, std::string(600, 't'));
  good.add(Opnum::OP_SEQUENCE, next()).putroot();
  EXPECT_EQ(status_of(good), Status::NFS4_OK);
  EXPECT_EQ(status_of(good), Status::NFS4ERR_RETRY_UNCACHED_REP);
}

TEST_P(SessionCompoundTest, ItsOwnSessionIsDestroyedByTheLastOperationOnly) {
  const nfs4::DestroySessionArgs own{session};
  make_file4("file", {});
  Compound early(1);
  early.add(Opnum::OP_SEQUENCE, next())
      .put(root4())
      .add(Opnum::OP_DESTROY_SESSION, own)
      .add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
  EXPECT_EQ(status_of(early), Status::NFS4ERR_NOT_ONLY_OP) << "RFC 8881 18.37.3";
  EXPECT_TRUE(storage->lookup(storage->root(), "file")) << "removed without a reply cache";
  Compound last(1);
  last.add(Opnum::OP_SEQUENCE, next()).add(Opnum::OP_DESTROY_SESSION, own);
  EXPECT_EQ(status_of(last), Status::NFS4_OK);
}

TEST_P(SessionCompoundTest, TooManyOperationsAndTooBigRequestsAreRefusedBySequence) {
  Compound many(1);
  many.add(Opnum::OP_SEQUENCE, next());
  for (std::uint32_t i = 0; i < 16; ++i) many.putroot();
  Answer answer = call(many);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_TOO_MANY_OPS);
  EXPECT_EQ(answer.count(), 1U);
  --sequence;
  nfs4::ChannelAttrs small = channel();
  small.ca_maxrequestsize = 1024;
  open_session(small);
  const Bytes data = pattern(1024);
  Compound big(1);
  big.add(Opnum::OP_SEQUENCE, next()).root().add(Opnum::OP_WRITE, nfs4::WriteArgs{{}, 0, {}, data});
  answer = call(big);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_REQ_TOO_BIG);
}

TEST_P(SessionCompoundTest, ReplyAboveTheChannelIsRepTooBigAndKeepsTheResultsBefore) {
  const nfs4::FileHandle file = make_file4("file", pattern(8192));
  nfs4::ChannelAttrs small = channel();
  small.ca_maxresponsesize = 4096;
  small.ca_maxresponsesize_cached = 2048;
  open_session(small);
  const nfs4::ReadArgs whole{{}, 0, 8192};
  Compound read(1);
  read.add(Opnum::OP_SEQUENCE, next()).put(file).add(Opnum::OP_READ, whole);
  Answer answer = call(read);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_REP_TOO_BIG);
  EXPECT_EQ(answer.count(), 3U);
  answer.skip(Opnum::OP_SEQUENCE);
  answer.skip(Opnum::OP_PUTFH);
  EXPECT_EQ(answer.skip(Opnum::OP_READ), Status::NFS4ERR_REP_TOO_BIG);
  EXPECT_TRUE(answer.at_end()) << "data was left behind the result";

  Compound cached(1);
  cached.add(Opnum::OP_SEQUENCE, next(true))
      .put(file)
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, 3000});
  EXPECT_EQ(status_of(cached), Status::NFS4ERR_REP_TOO_BIG_TO_CACHE);
  Compound uncached(1);
  uncached.add(Opnum::OP_SEQUENCE, next())
      .put(file)
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, 3000});
  EXPECT_EQ(status_of(uncached), Status::NFS4_OK);
}

TEST_P(SessionCompoundTest, ALargestReplyOf400OctetsIsEnoughForASession) {
  constexpr std::uint32_t kLargestReply = 400;
  const nfs4::FileHandle file = make_file4("file", pattern(8192));
  nfs4::ChannelAttrs small = channel();
  small.ca_maxresponsesize = small.ca_maxresponsesize_cached = kLargestReply;
  open_session(small);
  const auto read = [&](std::uint32_t octets, bool cachethis) {
    Compound compound(1);
    compound.add(Opnum::OP_SEQUENCE, next(cachethis))
        .put(file)
        .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, octets});
    return status_of(compound);
  };
  for (const bool cachethis : {false, true}) {
    EXPECT_EQ(read(200, cachethis), Status::NFS4_OK);
    EXPECT_EQ(read(kLargestReply, cachethis), Status::NFS4ERR_REP_TOO_BIG);
  }
  Compound look(1);
  look.add(Opnum::OP_SEQUENCE, next(true)).root().add(Opnum::OP_GETFH);
  EXPECT_EQ(status_of(look), Status::NFS4_OK);
}

TEST_P(SessionCompoundTest, ReadBeforeAResultThatIsTooBigKeepsItsData) {
  const nfs4::FileHandle file = make_file4("file", pattern(8192));
  nfs4::ChannelAttrs small = channel();
  small.ca_maxresponsesize = 4096;
  open_session(small);
  Compound reads(1);
  reads.add(Opnum::OP_SEQUENCE, next())
      .put(file)
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, 1000})
      .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, 8192});
  Answer answer = call(reads);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_REP_TOO_BIG);
  answer.skip(Opnum::OP_SEQUENCE);
  answer.skip(Opnum::OP_PUTFH);
  const auto first = answer.take<nfs4::ReadResult>(Opnum::OP_READ);
  ASSERT_EQ(first.status, Status::NFS4_OK);
  EXPECT_EQ(copy(first.resok4.data), pattern(1000)) << "its data was taken back with the second's";
  EXPECT_EQ(answer.skip(Opnum::OP_READ), Status::NFS4ERR_REP_TOO_BIG);
  EXPECT_TRUE(answer.at_end());
}

TEST_P(SessionCompoundTest, ChangeThatCannotBeAnsweredIsNotMade) {
  const nfs4::FileHandle file = make_file4("file", pattern(4096));
  nfs4::ChannelAttrs small = channel();
  small.ca_maxresponsesize = 1024;
  open_session(small);
  // The READ before leaves no room for the result of REMOVE.
  std::uint32_t count = 1024;
  for (;; count -= 4) {
    ASSERT_GT(count, 700U) << "no READ is followed by a REMOVE that is refused";
    Compound compound(1);
    compound.add(Opnum::OP_SEQUENCE, next())
        .put(file)
        .add(Opnum::OP_READ, nfs4::ReadArgs{{}, 0, count})
        .put(root4())
        .add(Opnum::OP_REMOVE, nfs4::RemoveArgs{"file"});
    const Answer answer = call(compound);
    ASSERT_EQ(answer.status(), Status::NFS4ERR_REP_TOO_BIG);
    EXPECT_LE(answer.octets().size(), 1024U) << "not even the error has room";
    EXPECT_EQ(content("file"), pattern(4096)) << "removed although the answer said otherwise";
    if (answer.count() == 5) break;
  }
}

TEST_P(SessionCompoundTest, WordsOfABitmapThatAreZeroDoNotMakeAChangeUnanswerable) {
  const nfs4::FileHandle file = make_file4("file", {});
  nfs4::ChannelAttrs small = channel();
  small.ca_maxresponsesize = 512;
  open_session(small);
  const Fattr4 mode(with_mode(0604));
  nfs4::Fattr padded = mode;
  while (padded.attrmask.push_back(0)) continue;
  AttributeChange other;
  other.mode = 0600;
  // Less and less room, until SETATTR is refused.
  for (std::size_t octets = 340;; octets += 4) {
    ASSERT_LT(octets, 440U) << "SETATTR always has room";
    const std::string tag(octets, 't');
    ASSERT_EQ(storage->change(*storage->lookup(storage->root(), "file"), other), peer::Status::ok);
    Compound compound(1, tag);
    compound.add(Opnum::OP_SEQUENCE, next())
        .put(file)
        .add(Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, padded});
    const Answer answer = call(compound);
    const auto found = storage->attributes(*storage->lookup(storage->root(), "file"))->mode;
    if (answer.status() == Status::NFS4_OK) {
      EXPECT_EQ(found, 0604U);
      continue;
    }
    EXPECT_EQ(answer.status(), Status::NFS4ERR_REP_TOO_BIG);
    EXPECT_EQ(found, 0600U) << "changed although the answer says otherwise";
    break;
  }
}

TEST_P(SessionCompoundTest, ListingWithoutRoomNamesTheLimitThatIsInTheWay) {
  make_file4(std::string(255, 'n'), {});
  nfs4::ChannelAttrs small = channel();
  small.ca_maxresponsesize = 1024;
  small.ca_maxresponsesize_cached = 512;
  open_session(small);
  const auto list = [&](std::uint32_t maxcount, std::size_t tag_octets, bool cachethis = false) {
    const std::string tag(tag_octets, 't');
    Compound compound(1, tag);
    compound.add(Opnum::OP_SEQUENCE, next(cachethis))
        .put(root4())
        .add(Opnum::OP_READDIR, nfs4::ReaddirArgs{0, {}, 0, maxcount, {}});
    return status_of(compound);
  };
  EXPECT_EQ(list(32768, 0), Status::NFS4_OK);
  EXPECT_EQ(list(100, 0), Status::NFS4ERR_TOOSMALL) << "RFC 8881 18.23.3: maxcount";
  EXPECT_EQ(list(32768, 700), Status::NFS4ERR_REP_TOO_BIG) << "RFC 8881 2.10.6.4: the channel";
  EXPECT_EQ(list(32768, 200, true), Status::NFS4ERR_REP_TOO_BIG_TO_CACHE);
  EXPECT_EQ(list(100, 700), Status::NFS4ERR_TOOSMALL) << "a larger channel would not help";
}

TEST_P(SessionCompoundTest, SequenceWithoutRoomForItsResultLeavesItsSlotAlone) {
  nfs4::ChannelAttrs small = channel();
  small.ca_maxresponsesize = 512;
  small.ca_maxresponsesize_cached = 512;
  open_session(small);
  // RFC 8881 2.10.6.1.2; the last tag leaves room for SEQUENCE, but not for what follows.
  for (const std::size_t octets : {500U, 440U, 428U}) {
    const std::string tag(octets, 't');
    Compound compound(1, tag);
    compound.add(Opnum::OP_SEQUENCE, next()).putroot();
    const Answer answer = call(compound);
    EXPECT_EQ(answer.status(), Status::NFS4ERR_REP_TOO_BIG) << octets;
    EXPECT_EQ(answer.count(), 1U) << octets;
    --sequence;
  }
  Compound compound(1);
  compound.add(Opnum::OP_SEQUENCE, next()).putroot();
  EXPECT_EQ(status_of(compound), Status::NFS4_OK) << "its slot was used up";
}

TEST_P(SessionCompoundTest, ADirectoryHasNoSizeToSet) {
  nfs4::Attributes size;
  size.size = 5;
  const Fattr4 fattr(size);
  Compound compound(1);
  compound.add(Opnum::OP_SEQUENCE, next())
      .put(root4())
      .add(Opnum::OP_SETATTR, nfs4::SetattrArgs{{}, fattr});
  EXPECT_EQ(status_of(compound), Status::NFS4ERR_INVAL) << "RFC 8881 15.2";
}

TEST_P(SessionCompoundTest, CurrentStateidNeedsOne) {
  const nfs4::FileHandle file = make_file4("file", pattern(10));
  Compound read(1);
  read.add(Opnum::OP_SEQUENCE, next())
      .put(file)
      .add(Opnum::OP_READ, nfs4::ReadArgs{{1, {}}, 0, 10});
  EXPECT_EQ(status_of(read), Status::NFS4ERR_BAD_STATEID);
}

TEST_P(SessionCompoundTest, SecinfoConsumesTheCurrentFilehandle) {
  make_file4("file", {});
  Compound by_name(1);
  by_name.add(Opnum::OP_SEQUENCE, next())
      .root()
      .add(Opnum::OP_SECINFO, nfs4::SecinfoArgs{"file"})
      .add(Opnum::OP_GETFH);
  Answer answer = call(by_name);
  EXPECT_EQ(answer.status(), Status::NFS4ERR_NOFILEHANDLE);
  answer.skip(Opnum::OP_SEQUENCE);
  answer.skip_root();
  const auto offer = answer.take<nfs4::SecinfoResult>(Opnum::OP_SECINFO).resok4.resok4;
  ASSERT_EQ(offer.size(), 2U);
  EXPECT_EQ(offer[0].flavor, rpc::AuthFlavor::AUTH_SYS);
  Compound current(1);
  current.add(Opnum::OP_SEQUENCE, next())
      .root()
      .add(Opnum::OP_SECINFO_NO_NAME, nfs4::SecinfoNoNameArgs{})
      .add(Opnum::OP_GETFH);
  EXPECT_EQ(status_of(current), Status::NFS4ERR_NOFILEHANDLE);
  Compound parent(1);
  parent.add(Opnum::OP_SEQUENCE, next())
      .putroot()
      .add(Opnum::OP_SECINFO_NO_NAME,
           nfs4::SecinfoNoNameArgs{nfs4::SecinfoStyle::SECINFO_STYLE4_PARENT});
  EXPECT_EQ(status_of(parent), Status::NFS4ERR_NOENT) << "the root has no parent";
}

/// A client that opens files over the wire.
class OpenFilesTest : public SessionCompoundTest {
 protected:
  void SetUp() override {
    SessionCompoundTest::SetUp();
    Compound compound(1);
    compound.add(Opnum::OP_SEQUENCE, next())
        .add(Opnum::OP_RECLAIM_COMPLETE, nfs4::ReclaimCompleteArgs{});
    ASSERT_EQ(status_of(compound), Status::NFS4_OK);
  }
  nfs4::OpenResult open(const std::string& name, const std::string& owner) {
    nfs4::OpenArgs args;
    args.share_access = nfs4::OPEN4_SHARE_ACCESS_READ;
    args.owner.owner = octets_of(owner);
    args.claim.file = name;
    Compound compound(1);
    compound.add(Opnum::OP_SEQUENCE, next()).put(root4()).add(Opnum::OP_OPEN, args);
    answer = call(compound);
    answer.skip(Opnum::OP_SEQUENCE);
    answer.skip(Opnum::OP_PUTFH);
    return answer.take<nfs4::OpenResult>(Opnum::OP_OPEN);
  }
  Bytes read(const nfs4::FileHandle& file, const nfs4::StateId& stateid) {
    Compound compound(1);
    compound.add(Opnum::OP_SEQUENCE, next())
        .put(file)
        .add(Opnum::OP_READ, nfs4::ReadArgs{stateid, 0, 100});
    answer = call(compound);
    answer.skip(Opnum::OP_SEQUENCE);
    answer.skip(Opnum::OP_PUTFH);
    return copy(answer.take<nfs4::ReadResult>(Opnum::OP_READ).resok4.data);
  }
  Status close(const nfs4::FileHandle& file, const nfs4::StateId& stateid) {
    Compound compound(1);
    compound.add(Opnum::OP_SEQUENCE, next())
        .put(file)
        .add(Opnum::OP_CLOSE, nfs4::CloseArgs{0, stateid});
    return status_of(compound);
  }

  Answer answer;
};
INSTANTIATE_TEST_SUITE_P(Storage, OpenFilesTest, ::testing::Values(Keeper::memory), name_of);

TEST_P(OpenFilesTest, FilesOfNamesThatAreNotUtf8AreOpened) {
  const nfs4::FileHandle file = make_file4("caf\xe9", pattern(10));
  const auto opened = open("caf\xe9", "process");
  ASSERT_EQ(opened.status, Status::NFS4_OK);
  EXPECT_EQ(read(file, opened.resok4.stateid), pattern(10));
}

TEST_P(OpenFilesTest, OneClientHasAThousandFilesOpenUntilALegalErrorEndsIt) {
  constexpr std::uint64_t kFiles = 1000;
  struct Opened {
    nfs4::FileHandle file;
    nfs4::StateId stateid;
    Bytes content;
  };
  std::vector<Opened> files;
  for (std::uint64_t i = 0; i < kFiles; ++i) {
    const std::string name = "file " + std::to_string(i);
    Bytes content = pattern(i % 90 + 1);
    const nfs4::FileHandle file = make_file4(name, content);
    const auto opened = open(name, "process");
    ASSERT_EQ(opened.status, Status::NFS4_OK) << name;
    files.push_back({file, opened.resok4.stateid, std::move(content)});
  }
  for (const Opened& each : files) ASSERT_EQ(read(each.file, each.stateid), each.content);
  // Further opens of one of them, by other processes, up to the limit.
  Status last = Status::NFS4_OK;
  std::size_t opens = kFiles;
  for (; last == Status::NFS4_OK && opens <= 2 * kMostOpensPerClient; ++opens)
    last = open("file 0", "process " + std::to_string(opens)).status;
  EXPECT_EQ(last, Status::NFS4ERR_NOSPC) << "RFC 8881 15.2 has it for OPEN";
  EXPECT_EQ(opens, kMostOpensPerClient + 1);
  for (const Opened& each : files) ASSERT_EQ(close(each.file, each.stateid), Status::NFS4_OK);
  EXPECT_EQ(open("file 0", "one more").status, Status::NFS4_OK) << "what was closed is not free";
}

}  // namespace
}  // namespace steertag::peer::testing
