// READDIR: whole directories, limits, cookies, attributes of entries.
#include <fstream>
#include <set>

#include "server/testing/v4_fixture.h"

namespace steertag::peer::testing {
namespace {

using nfs4::Status;

class ReaddirTest : public Nfs4Test {
 protected:
  nfs4::ReaddirArgs args(std::uint64_t cookie = 0, std::uint32_t maxcount = 32768) {
    return {cookie, verifier, 0, maxcount,
            nfs4::Bitmap::of({nfs4::FATTR4_FILEID, nfs4::FATTR4_RDATTR_ERROR})};
  }
  Answer list(const nfs4::ReaddirArgs& wanted) {
    Compound compound;
    compound.root().add(Opnum::OP_READDIR, wanted);
    Answer answer = call(compound);
    answer.skip_root();
    return answer;
  }
  Status status_of_list(const nfs4::ReaddirArgs& wanted) { return list(wanted).status(); }

  /// On the host without the storage, which makes every file permanent by itself.
  void make_entry(const std::string& name) {
    if (in_memory()) {
      EXPECT_TRUE(storage->create(storage->root(), name, {}).has_value()) << name;
    } else {
      EXPECT_TRUE(std::ofstream(exported() + "/" + name).good()) << name;
    }
  }

  struct Listed {
    std::vector<std::string> names;
    std::set<std::uint64_t> cookies;
    std::size_t calls = 0;
  };
  /// All entries, from one READDIR to the next.
  Listed list_all(std::uint32_t maxcount) {
    constexpr std::size_t kMostCalls = 20'000;
    Listed listed;
    std::uint64_t cookie = 0;
    for (bool eof = false; !eof && listed.calls < kMostCalls; ++listed.calls) {
      Answer answer = list(args(cookie, maxcount));
      EXPECT_EQ(answer.status(), Status::NFS4_OK) << rpc::name(answer.status());
      if (answer.status() != Status::NFS4_OK) break;
      const auto result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR).resok4;
      verifier = result.cookieverf;
      for (const nfs4::Entry& entry : result.entries.items) {
        listed.names.emplace_back(entry.name);
        EXPECT_TRUE(listed.cookies.insert(entry.cookie).second) << "a cookie came twice";
        EXPECT_GT(entry.cookie, 2U) << "cookies up to 2 are reserved";
        cookie = entry.cookie;
      }
      eof = result.eof;
      EXPECT_TRUE(eof || !result.entries.items.empty()) << "no entry and no end";
    }
    return listed;
  }

  nfs4::Verifier verifier{};
};
INSTANTIATE_TEST_SUITE_P(Storage, ReaddirTest, ::testing::Values(Keeper::memory, Keeper::directory),
                         name_of);

TEST_P(ReaddirTest, TenThousandEntriesComeCompletelyAndOnce) {
  constexpr std::size_t kEntries = 10'000;
  std::set<std::string> made;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const std::string name = "entry-" + std::to_string(i);
    make_entry(name);
    made.insert(name);
  }
  const Listed listed = list_all(32768);
  EXPECT_EQ(listed.names.size(), kEntries);
  EXPECT_EQ(std::set<std::string>(listed.names.begin(), listed.names.end()), made);
  EXPECT_GT(listed.calls, 10U) << "the limit of one READDIR was not kept";
}

TEST_P(ReaddirTest, WhateverIsListedIsFound) {
  // Latin-1, no first octet, a longer form of '/', a surrogate: none of them is UTF-8.
  const std::set<std::string> made{"plain", "caf\xe9", "\xff\xfe", "\xc0\xaf", "\xed\xa0\x80"};
  for (const std::string& name : made) make_entry(name);
  const Listed listed = list_all(4096);
  EXPECT_EQ(std::set<std::string>(listed.names.begin(), listed.names.end()), made);
  for (const std::string& name : listed.names) {
    Compound compound;
    compound.root().lookup(name);
    EXPECT_EQ(status_of(compound), Status::NFS4_OK)
        << "READDIR lists " << ::testing::PrintToString(name) << ", LOOKUP does not find it";
  }
}

TEST_P(ReaddirTest, OneEntryAtATimeGivesTheSame) {
  for (const char* name : {"a", "b", "c"}) make_file4(name, {});
  // Room for one entry with its fileid and not for two.
  const Listed listed = list_all(70);
  EXPECT_EQ(std::set<std::string>(listed.names.begin(), listed.names.end()),
            (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(listed.names.size(), 3U);
  EXPECT_GE(listed.calls, 3U);
}

TEST_P(ReaddirTest, ReplyIsNeverLargerThanMaxcount) {
  for (int i = 0; i < 100; ++i) make_file4("file" + std::to_string(i), {});
  for (std::uint32_t maxcount = 64; maxcount < 256; maxcount += 4) {
    Answer answer = list(args(0, maxcount));
    ASSERT_EQ(answer.status(), Status::NFS4_OK);
    const auto result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR);
    EXPECT_LE(encoded_size(result.resok4), maxcount);
    EXPECT_GE(result.resok4.entries.items.size(), maxcount / 64) << "less than would have fitted";
  }
}

TEST_P(ReaddirTest, EmptyDirectoryEndsAtOnce) {
  const Listed listed = list_all(4096);
  EXPECT_TRUE(listed.names.empty()) << "'.' and '..' are not listed";
  EXPECT_EQ(listed.calls, 1U);
}

TEST_P(ReaddirTest, LimitsAndCookiesAreChecked) {
  make_file4("file", {});
  EXPECT_EQ(status_of_list(args(0, 15)), Status::NFS4ERR_TOOSMALL);
  EXPECT_EQ(status_of_list(args(0, 20)), Status::NFS4ERR_TOOSMALL);
  EXPECT_EQ(status_of_list(args(1)), Status::NFS4ERR_BAD_COOKIE);
  EXPECT_EQ(status_of_list(args(2)), Status::NFS4ERR_BAD_COOKIE);
  verifier.fill(std::byte{0xee});
  EXPECT_EQ(status_of_list(args(77)), Status::NFS4ERR_NOT_SAME);
  nfs4::ReaddirArgs unreadable = args();
  unreadable.attr_request.set(nfs4::FATTR4_TIME_MODIFY_SET);
  EXPECT_EQ(status_of_list(unreadable), Status::NFS4ERR_INVAL);
  Compound file;
  file.root().lookup("file").add(Opnum::OP_READDIR, args());
  EXPECT_EQ(status_of(file), Status::NFS4ERR_NOTDIR);
}

// RFC 7530 16.24.4, RFC 8881 18.23.3: a server refuses a verifier that is no longer valid.
TEST_P(ReaddirTest, AVerifierOfZerosIsNone) {
  constexpr std::size_t kEntries = 30;
  for (std::size_t i = 0; i < kEntries; ++i) make_entry("entry-" + std::to_string(i));
  std::size_t listed = 0;
  std::uint64_t cookie = 0;
  for (std::size_t calls = 0; calls < kEntries; ++calls) {
    verifier = {};
    Answer answer = list(args(cookie, 300));
    ASSERT_EQ(answer.status(), Status::NFS4_OK) << rpc::name(answer.status());
    const auto result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR).resok4;
    EXPECT_NE(result.cookieverf, nfs4::Verifier{});
    listed += result.entries.items.size();
    if (result.eof) break;
    cookie = result.entries.items.back().cookie;
  }
  EXPECT_EQ(listed, kEntries);
}

class RestartedReaddirTest : public ReaddirTest {
 protected:
  /// The server with the same key, and nothing else as it was.
  void restart() {
    client.reset();
    server.reset();
    DirectoryOptions options;
    options.path = exported();
    options.key = {3, 4};
    auto made = DirectoryBackend::open(options, counting_clock(), seeded_random(9));
    ASSERT_TRUE(made) << made.error();
    storage = std::move(*made);
    Nfs4Test::SetUp();
  }
};
INSTANTIATE_TEST_SUITE_P(Storage, RestartedReaddirTest, ::testing::Values(Keeper::directory),
                         name_of);

TEST_P(RestartedReaddirTest, ListingsGoOnOverARestart) {
  constexpr std::size_t kEntries = 20;
  for (std::size_t i = 0; i < kEntries; ++i) make_entry("file " + std::to_string(i));
  Answer answer = list(args(0, 200));
  auto result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR).resok4;
  const std::size_t before = result.entries.items.size();
  ASSERT_GT(before, 0U);
  ASSERT_FALSE(result.eof);
  verifier = result.cookieverf;
  auto client3 = connect();
  nfs3::ReaddirArgs args3{root, 0, {}, 300};
  const auto first =
      client3->call<nfs3::ReaddirResult>(nfs3::Procedure::NFSPROC3_READDIR, args3)->ok;
  args3.cookie = first.entries.items.back().cookie;
  args3.cookieverf = first.cookieverf;
  client3.reset();
  const std::uint64_t cookie = result.entries.items.back().cookie;

  restart();
  answer = list(args(cookie));
  ASSERT_EQ(answer.status(), Status::NFS4_OK) << rpc::name(answer.status());
  result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR).resok4;
  EXPECT_EQ(before + result.entries.items.size(), kEntries);
  EXPECT_TRUE(result.eof);
  client3 = connect();
  EXPECT_EQ(client3->call<nfs3::ReaddirResult>(nfs3::Procedure::NFSPROC3_READDIR, args3)->status,
            nfs3::Status::NFS3_OK);
}

TEST_P(ReaddirTest, EntriesHaveTheAttributesThatGetattrGives) {
  make_file4("file", pattern(123));
  nfs4::ReaddirArgs wanted = args();
  wanted.attr_request =
      nfs4::Bitmap::of({nfs4::FATTR4_TYPE, nfs4::FATTR4_CHANGE, nfs4::FATTR4_SIZE,
                        nfs4::FATTR4_FSID, nfs4::FATTR4_FILEHANDLE, nfs4::FATTR4_FILEID,
                        nfs4::FATTR4_MODE, nfs4::FATTR4_OWNER, nfs4::FATTR4_MOUNTED_ON_FILEID});
  Answer answer = list(wanted);
  const auto result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR).resok4;
  ASSERT_EQ(result.entries.items.size(), 1U);
  Compound compound;
  compound.root().lookup("file").getattr(wanted.attr_request);
  Answer single = call(compound);
  single.skip_root();
  single.skip(Opnum::OP_LOOKUP);
  const auto expected = single.take<nfs4::GetattrResult>(Opnum::OP_GETATTR).resok4.obj_attributes;
  EXPECT_EQ(result.entries.items[0].attrs.attrmask, expected.attrmask);
  EXPECT_EQ(copy(result.entries.items[0].attrs.attr_vals), copy(expected.attr_vals));
}

TEST_P(ReaddirTest, ListingsGiveNothingButNamesToWhomLookupRefusesThem) {
  Compound make;
  make.root().add(Opnum::OP_CREATE, directory_args("directory", Fattr4(with_mode(0744))));
  ASSERT_EQ(call(make).status(), Status::NFS4_OK);
  const NodeId directory = *storage->lookup(storage->root(), "directory");
  ASSERT_TRUE(storage->create(directory, "file", {}));
  uid = gid = 4711;
  Compound look;
  look.root().lookup("directory").lookup("file");
  ASSERT_EQ(status_of(look), Status::NFS4ERR_ACCESS);
  const auto list_as_stranger = [&](const nfs4::Bitmap& wanted) {
    nfs4::ReaddirArgs asked = args();
    asked.attr_request = wanted;
    Compound compound;
    compound.root().lookup("directory").add(Opnum::OP_READDIR, asked);
    Answer answer = call(compound);
    answer.skip_root();
    answer.skip(Opnum::OP_LOOKUP);
    return answer;
  };
  using nfs4::Bitmap;
  EXPECT_EQ(list_as_stranger(Bitmap::of({nfs4::FATTR4_FILEHANDLE})).status(),
            Status::NFS4ERR_ACCESS);
  Answer answer =
      list_as_stranger(Bitmap::of({nfs4::FATTR4_FILEHANDLE, nfs4::FATTR4_RDATTR_ERROR}));
  auto result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR);
  ASSERT_EQ(result.resok4.entries.items.size(), 1U);
  const auto values = nfs4::decode_attributes(result.resok4.entries.items[0].attrs)->known;
  EXPECT_FALSE(values.filehandle) << "a handle by which the file can be read";
  EXPECT_EQ(values.rdattr_error, Status::NFS4ERR_ACCESS);
  answer = list_as_stranger({});
  result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR);
  ASSERT_EQ(result.resok4.entries.items.size(), 1U) << "names are for everybody who may read it";
  EXPECT_EQ(result.resok4.entries.items[0].name, "file");
}

TEST_P(ReaddirTest, PseudoRootListsTheExportAsAMountPoint) {
  nfs4::ReaddirArgs wanted = args();
  wanted.attr_request =
      nfs4::Bitmap::of({nfs4::FATTR4_FSID, nfs4::FATTR4_FILEID, nfs4::FATTR4_MOUNTED_ON_FILEID});
  Compound compound;
  compound.putroot().add(Opnum::OP_READDIR, wanted);
  Answer answer = call(compound);
  answer.skip(Opnum::OP_PUTROOTFH);
  const auto result = answer.take<nfs4::ReaddirResult>(Opnum::OP_READDIR).resok4;
  ASSERT_EQ(result.entries.items.size(), 1U);
  EXPECT_TRUE(result.eof);
  EXPECT_EQ(result.entries.items[0].name, "export");
  const auto values = nfs4::decode_attributes(result.entries.items[0].attrs)->known;
  EXPECT_NE(values.fileid, values.mounted_on_fileid);
}

}  // namespace
}  // namespace steertag::peer::testing
