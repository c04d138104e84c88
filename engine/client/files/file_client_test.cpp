// The client of files against the reference server, over both kinds of transport and both versions.
// It reads what it has written, also when connections are cut meanwhile.
#include "client/files/file_client.h"

#include <gmock/gmock.h>

#include <array>
#include <map>

#include "client/files/file_reader.h"
#include "client/files/file_writer.h"
#include "server/server_thread.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

struct Way {
  const char* provider;
  std::uint32_t version;
};

class FileClientTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    const std::array urls{*net::parse_url("iwarp://127.0.0.1:0"),
                          *net::parse_url("tcp://127.0.0.1:0")};
    auto storage = std::make_unique<MemoryBackend>(counting_clock(), seeded_random(8));
    server = *ServerThread::start(urls, {}, seeded_random(7), std::move(storage));
    client = connect();
  }

  net::Url url(std::string_view path = "/export") const {
    for (net::Url each : server->listening()) {
      each.path = path;
      if (each.provider == GetParam().provider) return each;
    }
    return {};
  }
  std::unique_ptr<FileClient> connect() const {
    FileClientOptions options;
    options.version = GetParam().version;
    options.identity.auth_sys = true;
    auto made = FileClient::open(url(), options, seeded_random(11));
    EXPECT_TRUE(made) << made.error().message();
    return made ? std::move(*made) : nullptr;
  }
  RemoteFiles& files() const { return client->files(); }
  RemoteHandle root() const { return files().find("/export", true)->handle; }

  /// Writes a file with these octets; `meanwhile` is called after every step.
  void store(std::string_view name, const Bytes& octets,
             const std::function<void(FileWriter&)>& meanwhile = {}) {
    const auto file = files().create(root(), name, 0644);
    ASSERT_TRUE(file) << file.error().message();
    const FileSource source = [&](std::uint64_t offset, MutableView into) {
      std::copy_n(octets.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
      return Expected<void, FileError>();
    };
    FileWriter writer(files(), *file, {{0, octets.size()}}, source);
    while (!writer.done()) {
      writer.step(10s);
      if (meanwhile) meanwhile(writer);
    }
    EXPECT_FALSE(writer.error()) << writer.error()->message();
    most_in_flight = writer.most_in_flight();
    const auto closed = files().close(*file);
    EXPECT_TRUE(closed) << closed.error().message();
  }
  Bytes fetch(std::string_view path, const std::function<void(FileReader&)>& meanwhile = {}) {
    const auto object = files().find(path, true);
    EXPECT_TRUE(object) << object.error().message();
    if (!object) return {};
    const auto file = files().open(object->handle);
    EXPECT_TRUE(file) << file.error().message();
    if (!file) return {};
    Bytes octets;
    const FileSink sink = [&](std::uint64_t offset, View data) {
      EXPECT_EQ(offset, octets.size());
      octets.insert(octets.end(), data.begin(), data.end());
      return Expected<void, FileError>();
    };
    FileReader reader(files(), *file, object->attributes.size, sink);
    while (!reader.done()) {
      reader.step(10s);
      if (meanwhile) meanwhile(reader);
    }
    EXPECT_FALSE(reader.error()) << reader.error()->message();
    most_in_flight = reader.most_in_flight();
    EXPECT_TRUE(files().close(*file));
    return octets;
  }

  std::unique_ptr<ServerThread> server;
  std::unique_ptr<FileClient> client;
  std::uint32_t most_in_flight = 0;
};

TEST_P(FileClientTest, WhatIsReadIsWhatWasWritten) {
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 1U << 20, (1U << 20) + 1, 5'000'003U}) {
    const Bytes octets = pattern(size, static_cast<std::uint32_t>(size));
    store("file" + std::to_string(size), octets);
    EXPECT_EQ(fetch("/export/file" + std::to_string(size)), octets) << size;
  }
  EXPECT_GT(most_in_flight, 1U) << "nothing was read ahead";
  EXPECT_TRUE(client->files().end());
}

TEST_P(FileClientTest, CutConnectionsDoNotMatter) {
  const Bytes octets = pattern(20'000'000);
  std::uint64_t cuts = 0;
  // A step moves any number of octets, but fewer than the file has: there is one cut at least. Two
  // at most, so that no call is cut more often than it is tried.
  const auto cut_every = [&](std::uint64_t distance) {
    cuts = 0;
    return [&, distance, next = distance](const auto& transfer) mutable {
      std::uint64_t done = 0;
      if constexpr (requires { transfer.delivered_bytes(); }) {
        done = transfer.delivered_bytes();
      } else {
        done = transfer.written_bytes();
      }
      if (done < next || transfer.done() || cuts == 2) return;
      next = done + distance;
      ++cuts;
      client->transport().abort_connection();
    };
  };
  store("file", octets, cut_every(2'000'000));
  EXPECT_GE(cuts, 1U) << "while writing";
  EXPECT_EQ(fetch("/export/file", cut_every(2'000'000)), octets);
  EXPECT_GE(cuts, 1U) << "while reading";
}

TEST_P(FileClientTest, ServerThatIsStartedAgainIsWaitedFor) {
  const std::vector<net::Url> urls = server->listening();
  server->stop();
  int replies = 0;
  std::optional<CallError> error;
  ClientTransport& transport = client->transport();
  ASSERT_TRUE(transport.submit(nfs3_call(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}, {}),
                               [&](const Expected<CallReply, CallError>& reply) {
                                 if (reply) ++replies;
                                 if (!reply) error = reply.error();
                               }));
  // More than it takes to be refused as often as a call is tried.
  for (int i = 0; i < 1000; ++i) transport.step(0ms);
  EXPECT_FALSE(error) << error.value_or(CallError{}).message();
  server = *ServerThread::start(
      urls, {}, seeded_random(7),
      std::make_unique<MemoryBackend>(counting_clock(), seeded_random(8), MemoryLimits{}));
  while (transport.pending() > 0) transport.step(10s);
  EXPECT_EQ(replies, 1) << error.value_or(CallError{}).message();
}

TEST_P(FileClientTest, ListingHasEveryNameOnce) {
  const RemoteHandle directory = root();
  std::map<std::string, int> wanted;
  for (int i = 0; i < 700; ++i) {
    const std::string name = "a name with some length " + std::to_string(i);
    const auto file = files().create(directory, name, 0600);
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_TRUE(files().close(*file));
    ++wanted[name];
  }
  std::map<std::string, int> seen;
  const auto listed = files().list(directory, [&](const RemoteEntry& entry) {
    ++seen[std::string(entry.name)];
    EXPECT_TRUE(entry.attributes && entry.attributes->type == RemoteType::regular);
    EXPECT_EQ(entry.attributes.value_or(RemoteAttributes{}).mode, 0600U) << entry.name;
    return true;
  });
  EXPECT_TRUE(listed) << listed.error().message();
  EXPECT_EQ(seen, wanted);
  seen.clear();
  const auto named = files().list_names(directory, [&](std::string_view name) {
    ++seen[std::string(name)];
    return true;
  });
  EXPECT_TRUE(named) << named.error().message();
  EXPECT_EQ(seen, wanted);
}

TEST_P(FileClientTest, NamesCanBeMovedAndRemoved) {
  store("old", pattern(10));
  ASSERT_TRUE(files().rename(root(), "old", "new"));
  const auto gone = files().find("/export/old", true);
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message(), ::testing::HasSubstr("ERR_NOENT (2)"));
  EXPECT_EQ(fetch("/export/new"), pattern(10));
  ASSERT_TRUE(files().remove(root(), "new"));
  EXPECT_FALSE(files().find("/export/new", true));
}

TEST_P(FileClientTest, ExistingFileIsNotMadeAgain) {
  store("file", pattern(10));
  const auto again = files().create(root(), "file", 0644);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), ::testing::HasSubstr("ERR_EXIST (17)"));
}

TEST_P(FileClientTest, SizeCanBeSet) {
  const auto file = files().create(root(), "file", 0644);
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_TRUE(files().set_size(*file, 10'000));
  ASSERT_TRUE(files().close(*file));
  EXPECT_EQ(fetch("/export/file"), Bytes(10'000));
}

INSTANTIATE_TEST_SUITE_P(All, FileClientTest,
                         ::testing::Values(Way{"iwarp", 3}, Way{"tcp", 3}, Way{"iwarp", 4},
                                           Way{"tcp", 4}),
                         [](const auto& row) {
                           return row.param.provider + std::to_string(row.param.version);
                         });

}  // namespace
}  // namespace steertag::peer::testing
