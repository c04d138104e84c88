// Optimistic reads of our client from our server over every provider, and each way back to RPC.
#include "client/direct/optimistic_files.h"

#include "client/testing/direct_files_fixture.h"

namespace steertag::peer::testing {
namespace {

/// Files of an NFS client whose delegations a test recalls.
class RecalledFiles final : public ForwardedFiles {
 public:
  explicit RecalledFiles(std::unique_ptr<RemoteFiles> files) : ForwardedFiles(std::move(files)) {}
  void read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) override {
    files_->read(file, offset, count, std::move(done));
  }
  void keep_delegations(std::function<void(RemoteFile)> recalled) override {
    recall = std::move(recalled);
  }
  void return_delegation(RemoteFile file) override { returned(file); }

  std::function<void(RemoteFile)> recall;
  std::function<void(RemoteFile)> returned;
};

class OptimisticFilesTest : public DirectFilesTest<OptimisticFiles> {
 protected:
  void SetUp() override {
    DirectTest::SetUp();
    start();
  }
  /// A client of this version of NFS.
  void start(std::uint32_t version = 3) { start(connect_files(version, {})); }
  void start(std::unique_ptr<RemoteFiles> inner) {
    OptimisticOptions options;
    options.identity = identity;
    wire::store_u64(options.verifier.data(), next_xid);
    options.recoverable = recoverable;
    files = std::make_unique<OptimisticFiles>(std::move(inner), *schedule, *provider, url, options);
    files->start();
  }
  /// One read; its data, and whether they end the file.
  std::pair<Bytes, bool> read(RemoteFile file, std::uint64_t offset, std::uint32_t count) {
    std::optional<std::pair<Bytes, bool>> result;
    files->read(file, offset, count, [&](const Expected<ReadOutcome, FileError>& outcome) {
      EXPECT_TRUE(outcome) << outcome.error().message();
      result = outcome ? std::pair(copy(outcome->data), outcome->eof) : std::pair(Bytes(), false);
    });
    step_until([&] { return result.has_value(); });
    return result.value_or(std::pair(Bytes(), false));
  }
  /// The server ends the optimistic connection.
  void cut() {
    access->leave(*provider);
    step_until([&] { return !files->is_up(); });
  }

  /// Three blocks in flight at once, after the middle one has changed: all come right, and
  /// one of them by RPC. The optimistic connection stays.
  void read_around_a_change(bool server_recovers) {
    stop();
    DirectPolicy policy;
    policy.recoverable_faults = server_recovers;
    begin({}, policy);
    start();
    Bytes data = pattern(3 * kBlock);
    const std::string name = server_recovers ? "asked" : "unasked";
    const nfs3::FileHandle handle = make_file(name, data);
    const RemoteFile file = open("/export/" + name);
    const Bytes changed = pattern(kBlock, 7);
    ASSERT_EQ(storage->write(node_of(handle), kBlock, changed), Status::ok);
    frames_after_change = access->frames();
    std::ranges::copy(changed, data.begin() + kBlock);
    std::size_t done = 0;
    for (std::uint64_t offset = 0; offset < data.size(); offset += kBlock) {
      files->read(
          file, offset, kBlock, [&, offset](const Expected<ReadOutcome, FileError>& outcome) {
            ++done;
            ASSERT_TRUE(outcome) << outcome.error().message();
            EXPECT_TRUE(std::ranges::equal(outcome->data, View(data).subspan(offset, kBlock)))
                << "at " << offset;
          });
    }
    step_until([&] { return done == 3; });
    EXPECT_EQ(files->statistics().failed, 1U);
    EXPECT_EQ(files->statistics().valid, 2U);
    EXPECT_EQ(files->statistics().rpc_reads, 1U);
    EXPECT_TRUE(files->is_up());
    EXPECT_EQ(access->users(), 1U);
    EXPECT_EQ(read(file, kBlock, kBlock).first, changed);
    EXPECT_EQ(files->statistics().valid, 3U) << "by the reference that came with the data";
  }

  bool recoverable = false;
  std::size_t frames_after_change = 0;
};

TEST_P(OptimisticFilesTest, CopiesAreEqual) {
  for (const std::uint32_t version : {3U, 4U}) {
    start(version);
    ASSERT_TRUE(files->is_up());
    for (const std::size_t size : {0U, 1U, kBlock - 1, kBlock, 3 * kBlock, 10 * kBlock + 17}) {
      const std::string name = "v" + std::to_string(version) + "-" + std::to_string(size);
      const Bytes data = pattern(size, static_cast<std::uint32_t>(size));
      make_file(name, data);
      EXPECT_EQ(fetch("/export/" + name, size), data) << name;
    }
    EXPECT_GE(files->statistics().valid, 16U) << "whole blocks were read by RPC";
    EXPECT_EQ(files->statistics().failed, 0U);
    EXPECT_EQ(files->statistics().nfs_reads, 0U);
  }
}

TEST_P(OptimisticFilesTest, ReadsWithinABlock) {
  const Bytes data = pattern(kBlock + 100);
  make_file("file", data);
  const RemoteFile file = open("/export/file");
  EXPECT_EQ(read(file, 10, 20), std::pair(copy(View(data).subspan(10, 20)), false));
  EXPECT_EQ(read(file, kBlock + 50, 20).second, false);
  EXPECT_EQ(read(file, kBlock + 50, 50), std::pair(copy(View(data).subspan(kBlock + 50)), true));
  EXPECT_EQ(read(file, kBlock + 99, 500), std::pair(copy(View(data).subspan(kBlock + 99)), true));
  EXPECT_EQ(read(file, kBlock + 100, 5), std::pair(Bytes(), true)) << "at the end";
  EXPECT_EQ(read(file, kBlock + 500, 5), std::pair(Bytes(), true)) << "behind the end";
  EXPECT_EQ(read(file, kBlock - 5, 50), std::pair(copy(View(data).subspan(kBlock - 5, 5)), false))
      << "up to the end of the block";
  EXPECT_EQ(files->statistics().valid, 7U);
}

TEST_P(OptimisticFilesTest, BlocksOfAFewOctetsAreReadByNfs) {
  stop();
  begin({.block_bytes = kSmallestOptimisticBlock / 2});
  start();
  EXPECT_FALSE(files->is_up());
  const Bytes data = pattern(kBlock);
  make_file("file", data);
  EXPECT_EQ(fetch("/export/file", kBlock), data);
  EXPECT_LE(files->statistics().nfs_reads, 2U) << "READs of a block each";
}

TEST_P(OptimisticFilesTest, ChangedBlockIsReadByRpc) {
  const nfs3::FileHandle handle = make_file("file", pattern(3 * kBlock));
  const RemoteFile file = open("/export/file");
  const Bytes changed = pattern(kBlock, 7);
  ASSERT_EQ(storage->write(node_of(handle), kBlock, changed), Status::ok);
  EXPECT_EQ(read(file, kBlock, kBlock).first, changed);
  EXPECT_EQ(files->statistics().failed, 1U);
  EXPECT_EQ(files->statistics().rpc_reads, 1U) << "once";
  EXPECT_EQ(read(file, kBlock, kBlock).first, changed);
  EXPECT_EQ(files->statistics().valid, 1U) << "by the reference that came with the data";
  EXPECT_TRUE(files->is_up());
}

TEST_P(OptimisticFilesTest, CloseGivesReferencesBack) {
  const Bytes data = pattern(3 * kBlock);
  make_file("file", data);
  EXPECT_EQ(fetch("/export/file", data.size()), data);
  drive([&] {
    files->step(0ms);
    return access->frames() == 0;
  });
  EXPECT_EQ(files->statistics().returned, 3U);
  EXPECT_EQ(fetch("/export/file", data.size()), data);
  EXPECT_EQ(files->statistics().valid, 6U) << "by new references";
  EXPECT_TRUE(files->is_up());
}

TEST_P(OptimisticFilesTest, CloseKeepsReferencesOfAnotherOpen) {
  const Bytes data = pattern(kBlock);
  make_file("file", data);
  const RemoteFile first = open("/export/file");
  const RemoteFile second = open("/export/file");
  ASSERT_TRUE(files->close(first));
  EXPECT_EQ(read(second, 0, kBlock).first, data);
  EXPECT_EQ(files->statistics().valid, 1U);
  EXPECT_EQ(files->statistics().returned, 0U);
  ASSERT_TRUE(files->close(second));
  EXPECT_EQ(files->statistics().returned, 1U);
}

TEST_P(OptimisticFilesTest, SequentialReaderHasReferencesBeforeItNeedsThem) {
  stop();
  DirectLimits limits;
  limits.frames_of_user = 2 * kEagerReferences;
  begin(limits);
  start();
  constexpr std::size_t kBlocks = 5 * kEagerReferences;
  const Bytes data = pattern(kBlocks * kBlock);
  make_file("long", data);
  EXPECT_EQ(fetch("/export/long", data.size()), data);
  EXPECT_LE(files->statistics().rpc_reads, kBlocks / 20) << "of " << kBlocks << " blocks";
  EXPECT_EQ(files->statistics().nfs_reads, 0U);
  EXPECT_GE(files->statistics().returned, kBlocks - limits.frames_of_user);
}

TEST_P(OptimisticFilesTest, RecoverableFaultIsOfOneReadAlone) {
  const bool possible = provider->capabilities().recoverable_read_faults;
  recoverable = true;
  read_around_a_change(true);
  EXPECT_EQ(frames_after_change, possible ? 2U : 3U) << "memory of what was revoked";
  EXPECT_EQ(access->counters().faults, possible ? 1U : 0U);
}

TEST_P(OptimisticFilesTest, WithoutTheWordOfBothNothingFaults) {
  for (const bool client : {false, true}) {
    recoverable = client;
    read_around_a_change(!client);
    EXPECT_EQ(frames_after_change, 3U) << "a revoked frame was closed";
    EXPECT_EQ(access->counters().faults, 0U);
  }
}

TEST_P(OptimisticFilesTest, ReadsInFlightAtTheEndAreDoneByRpc) {
  const Bytes data = pattern(16 * kBlock);
  make_file("file", data);
  const RemoteFile file = open("/export/file");
  std::size_t right = 0;
  std::size_t done = 0;
  for (std::uint64_t offset = 0; offset < data.size(); offset += kBlock) {
    files->read(file, offset, kBlock, [&, offset](const Expected<ReadOutcome, FileError>& outcome) {
      ++done;
      right += outcome && std::ranges::equal(outcome->data, View(data).subspan(offset, kBlock));
    });
  }
  access->leave(*provider);
  step_until([&] { return done == 16; });
  EXPECT_EQ(right, 16U);
  EXPECT_EQ(files->statistics().valid, 0U);
  EXPECT_EQ(files->statistics().failed, 16U);
  EXPECT_EQ(requester->statistics().connections, 1U) << "the RPC connection was touched";
}

TEST_P(OptimisticFilesTest, HelloFollowsTheEndAfterAPause) {
  const Bytes data = pattern(2 * kBlock);
  make_file("file", data);
  const RemoteFile file = open("/export/file");
  cut();
  EXPECT_EQ(read(file, 0, kBlock).first, copy(View(data).first(kBlock))) << "meanwhile by RPC";
  EXPECT_FALSE(files->is_up());
  EXPECT_EQ(access->users(), 0U) << "no HELLO yet";
  now += kHelloPause;
  step_until([&] { return files->is_up(); });
  EXPECT_EQ(files->directory().size(), 0U) << "references of the lost connection";
  EXPECT_EQ(read(file, 0, kBlock).first, copy(View(data).first(kBlock)));
  EXPECT_EQ(read(file, kBlock, kBlock).first, copy(View(data).subspan(kBlock)));
  EXPECT_EQ(files->statistics().valid, 1U);
}

TEST_P(OptimisticFilesTest, EndsAreBounded) {
  for (std::size_t i = 1; i < kMostEnds; ++i) {
    cut();
    files->step(0ms);
    now += kHelloPause;
    step_until([&] { return files->is_up(); });
  }
  cut();
  files->step(0ms);
  now += kEndsInterval - 1ms;
  files->step(0ms);
  server->poll(1ms);
  EXPECT_EQ(access->users(), 0U);
  now += 1ms;
  step_until([&] { return files->is_up(); });
}

TEST_P(OptimisticFilesTest, LostRpcConnectionEndsTheOptimisticOne) {
  const Bytes data = pattern(kBlock);
  make_file("file", data);
  const RemoteFile file = open("/export/file");
  requester->abort_connection();
  step_until([&] { return !files->is_up(); });
  EXPECT_EQ(read(file, 0, kBlock).first, data);
  now += kHelloPause;
  step_until([&] { return files->is_up(); });
}

TEST_P(OptimisticFilesTest, ReferencesAreNotUsedBeyondTheirLease) {
  const Bytes data = pattern(kBlock);
  make_file("file", data);
  const RemoteFile file = open("/export/file");
  now += access->limits().lease * 9 / 10;
  EXPECT_EQ(read(file, 0, kBlock).first, data);
  EXPECT_EQ(files->statistics().valid, 0U);
  EXPECT_EQ(files->statistics().rpc_reads, 1U);
  EXPECT_EQ(read(file, 0, kBlock).first, data);
  EXPECT_EQ(files->statistics().valid, 1U) << "the next reference";
}

TEST_P(OptimisticFilesTest, FileThatMayNotBeReadGivesTheErrorOfNfs) {
  const nfs3::FileHandle handle = make_file("file", pattern(kBlock));
  const RemoteFile file = open("/export/file");
  AttributeChange no_access;
  no_access.mode = 0;
  ASSERT_EQ(storage->change(node_of(handle), no_access), Status::ok);
  std::optional<FileError> error;
  bool done = false;
  files->read(file, 0, kBlock, [&](const Expected<ReadOutcome, FileError>& outcome) {
    done = true;
    if (!outcome) error = outcome.error();
  });
  step_until([&] { return done; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status_name, "NFS3ERR_ACCES");
}

TEST_P(OptimisticFilesTest, RecallEndsTheUseOfReferences) {
  start(4);
  const Bytes data = pattern(4 * kBlock);
  const nfs3::FileHandle handle = make_file("file", data);
  const auto block = [&](std::uint64_t number) {
    return copy(View(data).subspan(number * kBlock, kBlock));
  };
  RemoteFile file = open("/export/file");
  EXPECT_EQ(read(file, 0, kBlock).first, block(0));
  EXPECT_EQ(files->statistics().valid, 1U);
  const auto writer = connect();
  nfs3::WriteArgs args;
  args.file = handle;
  const Bytes octet(1, View(data)[0]);
  args.count = 1;
  args.data = octet;
  const auto write = [&] {
    return writer->call<nfs3::WriteResult>(nfs3::Procedure::NFSPROC3_WRITE, args)->status;
  };
  EXPECT_EQ(write(), nfs3::Status::NFS3ERR_JUKEBOX) << "no delegation was kept";
  step_until([&] { return write() == nfs3::Status::NFS3_OK; });
  EXPECT_EQ(read(file, kBlock, kBlock).first, block(1));
  EXPECT_EQ(read(file, 2 * kBlock, kBlock).first, block(2));
  EXPECT_EQ(files->statistics().valid, 1U) << "by a reference of before the recall";
  EXPECT_EQ(files->statistics().rpc_reads, 2U);
  EXPECT_TRUE(files->close(file));
  file = open("/export/file");
  EXPECT_EQ(read(file, kBlock, kBlock).first, block(1));
  EXPECT_EQ(files->statistics().valid, 2U) << "the next OPEN has references of its own";
}

TEST_P(OptimisticFilesTest, DelegationGoesBackOnceWithNoReadInFlight) {
  constexpr std::size_t kReads = 8;
  auto inner = std::make_unique<RecalledFiles>(connect_files(3, {}));
  RecalledFiles& nfs = *inner;
  start(std::move(inner));
  make_file("file", pattern(kReads * kBlock));
  const RemoteFile file = open("/export/file");
  std::size_t done = 0;
  std::vector<std::size_t> done_at_return;
  nfs.returned = [&](RemoteFile) { done_at_return.push_back(done); };
  for (std::size_t i = 0; i < kReads; ++i)
    files->read(file, i * kBlock, kBlock, [&](const Expected<ReadOutcome, FileError>&) { ++done; });
  nfs.recall(file);
  step_until([&] { return done == kReads && !done_at_return.empty(); });
  EXPECT_EQ(done_at_return, std::vector{kReads});
  EXPECT_EQ(files->statistics().valid, kReads) << "none was in flight at the recall";
}

TEST_P(OptimisticFilesTest, ServerWithoutTheProgramMakesNoDifference) {
  stop();
  server.reset();
  serve();
  start();
  EXPECT_FALSE(files->is_up());
  const Bytes data = pattern(3 * kBlock + 5);
  make_file("file", data);
  EXPECT_EQ(fetch("/export/file", data.size()), data);
  EXPECT_EQ(files->statistics().valid, 0U);
  EXPECT_EQ(files->statistics().rpc_reads, 0U);
}

STEERTAG_OVER_PROVIDERS(OptimisticFilesTest);

}  // namespace
}  // namespace steertag::peer::testing
