// READs that share a call, of our client from our server over every provider.
#include "client/direct/batch_files.h"

#include "client/files/file_reader.h"
#include "client/nfs3/nfs3_files.h"
#include "client/v4/nfs4_files.h"
#include "server/testing/direct_fixture.h"

namespace steertag::peer::testing {
namespace {

class BatchFilesTest : public DirectTest {
 protected:
  void SetUp() override {
    DirectTest::SetUp();
    start();
  }
  void TearDown() override { stop(); }
  void stop() {
    files.reset();
    schedule.reset();
    requester.reset();
  }
  /// A client of this version of NFS, whose READs have write chunks.
  void start(std::uint32_t version = 3) {
    stop();
    RequesterOptions options;
    options.form.emplace();
    options.form->chunk_from = 1;
    requester = std::make_unique<Requester>(*provider, url, options, next_xid);
    next_xid += 0x01000000;
    schedule = std::make_unique<CallSchedule>(
        *requester, [this] { return now; }, 10s);
    const Identity identity{true, 1000, 1000, "test", {}};
    std::unique_ptr<RemoteFiles> inner;
    if (version == 3) {
      auto version3 = std::make_unique<Nfs3Files>(*schedule, identity);
      EXPECT_TRUE(version3->mount("/export"));
      inner = std::move(version3);
    } else {
      SessionOptions session;
      session.identity = identity;
      session.owner = "test";
      auto version4 = std::make_unique<Nfs4Files>(*schedule, std::move(session));
      EXPECT_TRUE(version4->start());
      inner = std::move(version4);
    }
    files = std::make_unique<BatchFiles>(std::move(inner), *schedule, identity);
  }
  RemoteFile open(std::string_view name) {
    const auto object = files->find("/export/" + std::string(name), true);
    EXPECT_TRUE(object) << object.error().message();
    const auto file = files->open(object->handle);
    EXPECT_TRUE(file) << file.error().message();
    return file.value_or(0);
  }
  template <class Done>
  void step_until(Done&& done) {
    drive([&] {
      files->step(0ms);
      return done();
    });
  }
  Bytes fetch(std::string_view name, std::uint64_t size) {
    const RemoteFile file = open(name);
    Bytes octets;
    FileReader reader(*files, file, size,
                      [&](std::uint64_t, View data) -> Expected<void, FileError> {
                        octets.insert(octets.end(), data.begin(), data.end());
                        return {};
                      });
    step_until([&] {
      reader.step(0ms);
      return reader.done();
    });
    EXPECT_FALSE(reader.error()) << reader.error()->message();
    EXPECT_TRUE(files->close(file));
    return octets;
  }

  std::unique_ptr<Requester> requester;
  std::unique_ptr<CallSchedule> schedule;
  std::unique_ptr<BatchFiles> files;
};

TEST_P(BatchFilesTest, CopiesAreEqual) {
  for (const std::uint32_t version : {3U, 4U}) {
    start(version);
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{kMostBatchedRead} + 1, std::size_t{1'500'003}}) {
      const std::string name = "v" + std::to_string(version) + "-" + std::to_string(size);
      const Bytes data = pattern(size, static_cast<std::uint32_t>(size));
      make_file(name, data);
      EXPECT_EQ(fetch(name, size), data) << name;
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
  const RemoteFile file = open("file");
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
  const RemoteFile closed = open("private");
  const RemoteFile file = open("file");
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
  EXPECT_EQ(fetch("file", data.size()), data);
  EXPECT_EQ(files->statistics().reads, 0U);
}

STEERTAG_OVER_PROVIDERS(BatchFilesTest);

}  // namespace
}  // namespace steertag::peer::testing
