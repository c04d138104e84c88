// READs that share a call, of our client from our server over every provider.
#include "client/direct/batch_files.h"

#include "client/testing/direct_files_fixture.h"

namespace steertag::peer::testing {
namespace {

class BatchFilesTest : public DirectFilesTest<BatchFiles> {
 protected:
  void SetUp() override {
    DirectTest::SetUp();
    start();
  }
  /// A client of this version of NFS, whose READs have write chunks.
  void start(std::uint32_t version = 3) {
    RequesterOptions options;
    options.form.emplace();
    options.form->chunk_from = 1;
    auto inner = connect_files(version, options);
    files = std::make_unique<BatchFiles>(std::move(inner), *schedule, identity);
  }
};

TEST_P(BatchFilesTest, CopiesAreEqual) {
  for (const std::uint32_t version : {3U, 4U}) {
    start(version);
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{kMostBatchedRead} + 1, std::size_t{1'500'003}}) {
      const std::string name = "v" + std::to_string(version) + "-" + std::to_string(size);
      const Bytes data = pattern(size, static_cast<std::uint32_t>(size));
      make_file(name, data);
      EXPECT_EQ(fetch("/export/" + name, size), data) << name;
    }
    const BatchStatistics& counts = files->statistics();
    EXPECT_EQ(counts.nfs_reads, 0U) << "with version " << version;
    EXPECT_GE(counts.reads, 24U) << "with version " << version;
    EXPECT_LT(counts.batches, counts.reads) << "READs shared no call";
  }
}

TEST_P(BatchFilesTest, SixteenReadsAreOneCall) {
  const Bytes data = pattern(direct::kMostReads * 1001);
  make_file("file", data);
  const RemoteFile file = open("/export/file");
  const std::uint64_t before = requester->statistics().calls;
  std::size_t right = 0;
  std::size_t done = 0;
  for (std::uint64_t offset = 0; offset < data.size(); offset += 1001) {
    files->read(file, offset, 1001, [&, offset](const Expected<ReadOutcome, FileError>& outcome) {
      ++done;
      right += outcome && std::ranges::equal(outcome->data, View(data).subspan(offset, 1001));
    });
  }
  step_until([&] { return done == direct::kMostReads; });
  EXPECT_EQ(right, direct::kMostReads);
  EXPECT_EQ(requester->statistics().calls, before + 1);
}

TEST_P(BatchFilesTest, ReadThatFailsGivesTheErrorOfNfsAlone) {
  const Bytes data = pattern(1000);
  const nfs3::FileHandle handle = make_file("private", data);
  make_file("file", data);
  const RemoteFile closed = open("/export/private");
  const RemoteFile file = open("/export/file");
  AttributeChange no_access;
  no_access.mode = 0;
  ASSERT_EQ(storage->change(node_of(handle), no_access), Status::ok);
  std::vector<std::string> outcomes;
  for (const RemoteFile each : {file, closed, file}) {
    files->read(each, 0, 1000, [&](const Expected<ReadOutcome, FileError>& outcome) {
      const bool right = outcome && copy(outcome->data) == data && outcome->eof;
      outcomes.push_back(right ? "data" : outcome ? "other data" : outcome.error().status_name);
    });
  }
  step_until([&] { return outcomes.size() == 3; });
  EXPECT_EQ(outcomes, (std::vector<std::string>{"data", "data", "NFS3ERR_ACCES"}));
}

TEST_P(BatchFilesTest, ServerWithoutTheProgramIsReadByNfs) {
  stop();
  server.reset();
  serve();
  start();
  const Bytes data = pattern(200'000);
  make_file("file", data);
  EXPECT_EQ(fetch("/export/file", data.size()), data);
  EXPECT_EQ(files->statistics().reads, 0U);
}

STEERTAG_OVER_PROVIDERS(BatchFilesTest);

}  // namespace
}  // namespace steertag::peer::testing
