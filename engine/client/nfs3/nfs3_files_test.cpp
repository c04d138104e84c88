// Files over version 3 against a scripted server: what no server of ours does on purpose.
#include "client/nfs3/nfs3_files.h"

#include <gmock/gmock.h>

#include <array>

#include "client/files/cookie_watch.h"
#include "client/testing/fake_transport.h"

namespace steertag::peer::testing {
namespace {

using nfs3::Procedure;
using ::testing::HasSubstr;

TEST(CookieWatchTest, RoundIsNoticedWhereverItBegins) {
  for (const std::uint64_t before : {0U, 1U, 7U, 100U}) {
    for (const std::uint64_t length : {1U, 2U, 9U, 100U}) {
      CookieWatch watch;
      std::uint64_t calls = 1;
      while (calls < 2000 && watch.goes_on(calls <= before ? calls : 1000 + calls % length))
        ++calls;
      EXPECT_LE(calls, 3 * (before + length) + 1) << before << " cookies, then " << length;
    }
  }
}

TEST(CookieWatchTest, CookiesThatDifferGoOn) {
  CookieWatch watch;
  for (std::uint64_t cookie = 1; cookie < 10'000; ++cookie) ASSERT_TRUE(watch.goes_on(cookie));
}

/// "/export" has "file" and the symbolic link "link".
class Nfs3FilesTest : public ::testing::Test {
 protected:
  static constexpr std::array kRoot{std::byte{1}};
  static constexpr std::array kFile{std::byte{2}};
  static constexpr std::array kLink{std::byte{3}};

  void SetUp() override {
    const auto mounted = files.mount("/export");
    ASSERT_TRUE(mounted) << mounted.error().message();
  }

  std::optional<Bytes> answer(View call) {
    wire::Reader reader(call);
    rpc::CallHeader header;
    header.decode(reader);
    Bytes out;
    wire::Writer writer(out);
    if (header.program == mount3::kProgram) {
      answer_mount(static_cast<mount3::Procedure>(header.procedure), writer);
    } else {
      answer_nfs(static_cast<Procedure>(header.procedure), reader, writer);
    }
    return out;
  }
  static void answer_mount(mount3::Procedure procedure, wire::Writer& writer) {
    if (procedure == mount3::Procedure::MOUNTPROC3_EXPORT) {
      mount3::ExportList list;
      list.exports.items.push_back({"/export", {}});
      return list.encode(writer);
    }
    mount3::MntResult result;
    result.fhandle = mount3::FileHandle(kRoot);
    result.encode(writer);
  }
  void answer_nfs(Procedure procedure, wire::Reader& reader, wire::Writer& writer) {
    switch (procedure) {
      case Procedure::NFSPROC3_GETATTR: {
        nfs3::GetattrResult result;
        result.ok.obj_attributes.type = nfs3::FileType::NF3DIR;
        return result.encode(writer);
      }
      case Procedure::NFSPROC3_FSINFO: {
        nfs3::FsinfoResult result;
        result.ok.rtmax = result.ok.wtmax = 4096;
        return result.encode(writer);
      }
      case Procedure::NFSPROC3_LOOKUP:
        return answer_lookup(reader, writer);
      case Procedure::NFSPROC3_READLINK: {
        nfs3::ReadlinkResult result;
        result.ok.data = link_text;
        return result.encode(writer);
      }
      case Procedure::NFSPROC3_RENAME: {
        nfs3::RenameResult result;
        result.status = nfs3::Status::NFS3ERR_NOENT;
        file_name = name_after_rename;
        return result.encode(writer);
      }
      case Procedure::NFSPROC3_READDIR:
        return answer_listing<nfs3::ReaddirArgs, nfs3::ReaddirResult, nfs3::Entry>(reader, writer);
      default:
        return answer_listing<nfs3::ReaddirplusArgs, nfs3::ReaddirplusResult, nfs3::EntryPlus>(
            reader, writer);
    }
  }
  void answer_lookup(wire::Reader& reader, wire::Writer& writer) const {
    nfs3::LookupArgs args;
    args.decode(reader);
    nfs3::LookupResult result;
    nfs3::Fattr attributes;
    attributes.type = args.what.name == "link" ? nfs3::FileType::NF3LNK : nfs3::FileType::NF3REG;
    result.ok.object = nfs3::FileHandle(args.what.name == "link" ? kLink : kFile);
    result.ok.obj_attributes = attributes;
    if (args.what.name != "link" && args.what.name != file_name)
      result.status = nfs3::Status::NFS3ERR_NOENT;
    result.encode(writer);
  }
  /// One entry for each call; the cookies are 1, 2, 3, 1 ...
  template <class Args, class Result, class Entry>
  void answer_listing(wire::Reader& reader, wire::Writer& writer) {
    Args args;
    args.decode(reader);
    ++listings;
    Result result;
    Entry entry;
    entry.name = "name";
    entry.cookie = args.cookie % 3 + 1;
    result.ok.entries.items.push_back(entry);
    result.ok.eof = listings == 1000;  // so that the test ends in any case
    result.encode(writer);
  }
  Expected<RemoteObject, FileError> find(std::string_view path) { return files.find(path, true); }

  FakeTransport transport{[this](View call) { return answer(call); }};
  CallSchedule schedule{transport, [this] { return transport.now; }, 10s};
  Nfs3Files files{schedule, {}};
  std::string link_text;
  std::string file_name = "file";
  std::string name_after_rename = "file";
  int listings = 0;
};

TEST_F(Nfs3FilesTest, AbsoluteLinkIsAPathOfTheServer) {
  for (const char* text : {"/export/file", "//export/./file", "file"}) {
    link_text = text;
    const auto found = find("/export/link");
    ASSERT_TRUE(found) << text << ": " << found.error().message();
    EXPECT_EQ(found->handle, RemoteHandle(kFile));
  }
}

TEST_F(Nfs3FilesTest, PathsOutsideOfTheExportAreTold) {
  for (const char* text : {"/file", "/", "/exported/file"}) {
    link_text = text;
    const auto found = find("/export/link");
    ASSERT_FALSE(found) << text << " is not in the export";
    EXPECT_EQ(found.error().code, FileErrc::outside_export) << found.error().message();
    EXPECT_FALSE(find(text)) << text << " is not in the export";
  }
}

TEST_F(Nfs3FilesTest, CookiesThatGoRoundEndTheListing) {
  const auto listed = files.list(RemoteHandle(kRoot), [](const RemoteEntry&) { return true; });
  ASSERT_FALSE(listed) << "after " << listings << " calls";
  EXPECT_THAT(listed.error().message(), HasSubstr("READDIRPLUS: the cookies go round"));
  EXPECT_LE(listings, 10);
  listings = 0;
  const auto named = files.list_names(RemoteHandle(kRoot), [](std::string_view) { return true; });
  ASSERT_FALSE(named) << "after " << listings << " calls";
  EXPECT_THAT(named.error().message(), HasSubstr("READDIR: the cookies go round"));
  EXPECT_LE(listings, 10);
}

TEST_F(Nfs3FilesTest, RenameThatWasExecutedBeforeIsDone) {
  name_after_rename = "new";
  const auto renamed = files.rename(RemoteHandle(kRoot), "file", "new");
  EXPECT_TRUE(renamed) << renamed.error().message();
}

TEST_F(Nfs3FilesTest, RenameOfWhatIsNotThereIsNot) {
  EXPECT_FALSE(files.rename(RemoteHandle(kRoot), "none", "new")) << "there never was one";
  EXPECT_FALSE(files.rename(RemoteHandle(kRoot), "file", "new")) << "nothing has the new name";
}

}  // namespace
}  // namespace steertag::peer::testing
