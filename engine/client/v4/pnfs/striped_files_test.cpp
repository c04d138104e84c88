// The client of layouts against the reference server and its data servers, over real sockets.
#include "client/v4/pnfs/striped_files.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "client/files/file_client.h"
#include "client/files/file_reader.h"
#include "client/files/file_writer.h"
#include "client/stream/stream_requester.h"
#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/attribute_numbers.h"
#include "server/striped_server.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kServers = 3;
constexpr std::uint32_t kUnit = 4096;
constexpr std::size_t kStripes = 20;
/// A whole number of stripes, and a part of a unit.
constexpr std::size_t kSize = kStripes * kServers * kUnit + 100;

/// A metadata server and its data servers in a thread of their own.
class Servers {
 public:
  Servers(std::string_view url, const StripePattern& pattern,
          std::uint32_t credits = kDefaultCredits, std::uint32_t slots = 0)
      : storage_(counting_clock(), seeded_random(8)) {
    const net::Url urls[] = {*net::parse_url(url)};
    Nfs4StateOptions state;
    state.clock = std::chrono::steady_clock::now;
    state.random = seeded_random(9);
    state.slots = slots;
    ServerOptions how;
    how.credits = credits;
    auto started = StripedServer::start(urls, storage_, state, pattern, how);
    EXPECT_TRUE(started) << started.error().message();
    server_ = std::move(*started);
    url_ = server_->metadata_server().listening().front();
    url_.path = "/export";
    thread_ = std::thread([this] { run(); });
  }
  ~Servers() {
    ended_ = true;
    thread_.join();
  }

  const net::Url& url() const { return url_; }
  /// What is done between two polls of the servers.
  template <class Action>
  auto locked(Action&& action) {
    ++waiting_;
    const std::lock_guard lock(mutex_);
    --waiting_;
    return action(*server_);
  }
  /// Connections that a data server has had.
  std::uint64_t connections(std::size_t index) {
    return locked(
        [&](StripedServer& server) { return server.data_server(index).statistics().connections; });
  }
  /// Octets of RDMA Reads and Writes of a data server.
  std::uint64_t carried(std::size_t index) {
    return locked([&](StripedServer& server) {
      const ServerStatistics& counts = server.data_server(index).statistics();
      return counts.pulled_bytes + counts.pushed_bytes;
    });
  }

 private:
  void run() {
    while (!ended_) {
      while (waiting_ > 0) std::this_thread::yield();  // the mutex is not fair
      const std::lock_guard lock(mutex_);
      server_->poll(std::chrono::milliseconds{5});
    }
  }

  MemoryBackend storage_;
  std::unique_ptr<StripedServer> server_;
  net::Url url_;
  std::mutex mutex_;
  std::atomic<int> waiting_ = 0;  // for the mutex
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

/// Each is a client of its own.
std::unique_ptr<FileClient> connect(const Servers& servers, FileClientOptions options = {}) {
  static std::uint64_t seed = 100;
  options.version = 4;
  options.identity.auth_sys = true;
  auto made = FileClient::open(servers.url(), options, seeded_random(++seed));
  EXPECT_TRUE(made) << made.error().message();
  return made ? std::move(*made) : nullptr;
}

/// Writes a file; `meanwhile` is called after every step.
void store(FileClient& client, const Bytes& octets,
           const std::function<void(FileWriter&)>& meanwhile = {}) {
  RemoteFiles& files = client.files();
  const auto file = files.create(files.find("/export", true)->handle, "file", 0644);
  ASSERT_TRUE(file) << file.error().message();
  const FileSource source = [&](std::uint64_t offset, MutableView into) {
    std::ranges::copy(View(octets).subspan(offset, into.size()), into.begin());
    return Expected<void, FileError>();
  };
  TransferWish wish;
  if (meanwhile) wish.calls = 8;  // so that there is something to come
  FileWriter writer(files, *file, {{0, octets.size()}}, source, wish);
  while (!writer.done()) {
    writer.step(10s);
    if (meanwhile) meanwhile(writer);
  }
  EXPECT_FALSE(writer.error()) << writer.error()->message();
  const auto closed = files.close(*file);
  EXPECT_TRUE(closed) << closed.error().message();
}

Bytes fetch(FileClient& client) {
  RemoteFiles& files = client.files();
  const auto object = files.find("/export/file", true);
  EXPECT_TRUE(object) << object.error().message();
  if (!object) return {};
  const auto file = files.open(object->handle);
  EXPECT_TRUE(file) << file.error().message();
  Bytes octets;
  const FileSink sink = [&](std::uint64_t, View data) {
    octets.insert(octets.end(), data.begin(), data.end());
    return Expected<void, FileError>();
  };
  FileReader reader(files, *file, object->attributes.size, sink);
  while (!reader.done()) reader.step(10s);
  EXPECT_FALSE(reader.error()) << reader.error()->message();
  EXPECT_TRUE(files.close(*file));
  return octets;
}

struct StripedWay {
  const char* provider;
  bool dense;
  bool commit_through_server;
  std::uint32_t turns = 1;
};

class StripedFilesTest : public ::testing::TestWithParam<StripedWay> {
 protected:
  StripedFilesTest()
      : servers(GetParam().provider, {kServers, kUnit, GetParam().dense,
                                      GetParam().commit_through_server, GetParam().turns}) {}

  Servers servers;
};

TEST_P(StripedFilesTest, OctetsGoToTheDataServersAndComeBack) {
  const Bytes octets = pattern(kSize);
  const auto writer = connect(servers);
  store(*writer, octets);
  ASSERT_NE(writer->striped(), nullptr);
  const StripedFiles& written = *writer->striped();
  EXPECT_EQ(written.at_metadata_server().writes, 0U);
  ASSERT_EQ(written.data_servers().all().size(), kServers);
  std::uint64_t total = 0;
  for (const auto& server : written.data_servers().all()) {
    EXPECT_GE(server->counts().written_bytes, kStripes * kUnit);
    // RFC 8881 13.7.
    EXPECT_EQ(server->counts().commits > 0, !GetParam().commit_through_server);
    total += server->counts().written_bytes;
  }
  EXPECT_EQ(total, kSize);
  EXPECT_GE(written.layouts().commits, 1U);
  EXPECT_EQ(written.layouts().returns, 1U);
  EXPECT_TRUE(writer->files().end());
  const auto reader = connect(servers);
  EXPECT_EQ(fetch(*reader), octets);
  EXPECT_EQ(reader->striped()->at_metadata_server().reads, 0U);
  total = 0;
  for (const auto& server : reader->striped()->data_servers().all())
    total += server->counts().read_bytes;
  EXPECT_EQ(total, kSize);
  if (servers.url().provider == "tcp") return;
  for (std::size_t index = 0; index < kServers; ++index)
    EXPECT_GE(servers.carried(index), 2 * kStripes * kUnit);
}

TEST_P(StripedFilesTest, CallsWithASlotWaitForCredits) {
  constexpr std::uint32_t kCredits = 4, kSlots = 16;
  Servers many(GetParam().provider, {kServers, kUnit, GetParam().dense}, kCredits, kSlots);
  FileClientOptions options;
  options.credits = kCredits;
  options.slots = kSlots;
  const Bytes octets = pattern(kSize);
  for (const bool layouts : {true, false}) {
    options.layouts = layouts;
    const auto client = connect(many, options);
    store(*client, octets);
    EXPECT_EQ(fetch(*client), octets);
    if (const StripedFiles* striped = client->striped()) {
      EXPECT_EQ(striped->slots(), kSlots);
      for (const auto& server : striped->data_servers().all()) EXPECT_EQ(server->slots(), kSlots);
    }
    if (const auto* requester = dynamic_cast<Requester*>(&client->transport())) {
      EXPECT_LE(requester->statistics().most_in_flight, kCredits);
      EXPECT_EQ(requester->statistics().connections, 1U) << "beyond its credits it loses this one";
    }
    EXPECT_TRUE(client->files().remove(client->files().find("/export", true)->handle, "file"));
    EXPECT_TRUE(client->files().end());
  }
  for (std::size_t index = 0; index < kServers; ++index)
    EXPECT_EQ(many.connections(index), 1U) << index;
}

TEST_P(StripedFilesTest, ClientWithoutLayoutsSeesTheSameOctets) {
  const Bytes octets = pattern(kSize, 2);
  store(*connect(servers), octets);
  FileClientOptions options;
  options.layouts = false;
  const auto other = connect(servers, options);
  EXPECT_EQ(fetch(*other), octets);
  EXPECT_EQ(other->striped(), nullptr);
}

TEST_P(StripedFilesTest, HolesAreZeros) {
  const auto client = connect(servers);
  RemoteFiles& files = client->files();
  const auto file = files.create(files.find("/export", true)->handle, "file", 0644);
  ASSERT_TRUE(file);
  const Bytes end = pattern(10);
  const FileSource source = [&](std::uint64_t, MutableView into) {
    std::ranges::copy(View(end).first(into.size()), into.begin());
    return Expected<void, FileError>();
  };
  FileWriter writer(files, *file, {{kSize - end.size(), end.size()}}, source);
  while (!writer.done()) writer.step(10s);
  EXPECT_FALSE(writer.error());
  EXPECT_TRUE(files.close(*file));
  Bytes expected(kSize);
  std::ranges::copy(end, expected.end() - static_cast<std::ptrdiff_t>(end.size()));
  EXPECT_EQ(fetch(*client), expected);
  EXPECT_EQ(client->striped()->at_metadata_server().reads, 0U);
}

/// Asks once for the size of the file to become less, and never again.
class Truncater {
 public:
  explicit Truncater(const net::Url& url) {
    if (url.provider == "tcp") {
      transport_ = *StreamRequester::open(url, {}, 1);
    } else {
      provider_ = *fabric::make_provider(url.provider, seeded_random(50));
      transport_ = std::make_unique<Requester>(*provider_, url, RequesterOptions{}, 1);
    }
    schedule_ = std::make_unique<CallSchedule>(*transport_, std::chrono::steady_clock::now, 10s);
    SessionOptions options;
    options.owner = "truncater";
    options.identity.auth_sys = true;
    files_ = std::make_unique<Nfs4Files>(*schedule_, options);
    EXPECT_TRUE(files_->start());
  }
  /// Returns with the answer NFS4ERR_DELAY, when the server has sent its recall.
  void ask() {
    const auto object = files_->find("/export/file", true);
    ASSERT_TRUE(object);
    nfs4::Attributes wished;
    wished.size = 1;
    Bytes storage;
    nfs4::SetattrArgs args;
    args.obj_attributes = nfs4::fattr_of(wished, nfs4::Bitmap::of({nfs4::FATTR4_SIZE}), storage);
    ClientCompound call;
    call.add_handle(object->handle);
    call.add(nfs4::Opnum::OP_SETATTR, args);
    files_->session().call(std::move(call), [](const Expected<CompoundReply, FileError>&) {});
    while (transport_->pending() > 0) schedule_->step(10s);
  }

 private:
  std::unique_ptr<fabric::Provider> provider_;
  std::unique_ptr<ClientTransport> transport_;
  std::unique_ptr<CallSchedule> schedule_;
  std::unique_ptr<Nfs4Files> files_;
};

TEST_P(StripedFilesTest, RecallWhileWritingTurnsToTheMetadataServer) {
  const Bytes octets = pattern(kSize, 3);
  const auto client = connect(servers);
  Truncater other(servers.url());
  bool asked = false;
  store(*client, octets, [&](const FileWriter& writer) {
    if (asked || writer.written_bytes() < kSize / 4) return;
    asked = true;
    other.ask();
  });
  ASSERT_TRUE(asked);
  const StripedFiles& files = *client->striped();
  EXPECT_EQ(files.layouts().recalled, 1U);
  EXPECT_EQ(files.layouts().returns, 1U);
  EXPECT_GT(files.at_metadata_server().written_bytes, 0U);
  EXPECT_LT(files.at_metadata_server().written_bytes, kSize);
  EXPECT_EQ(fetch(*client), octets);
}

TEST_P(StripedFilesTest, OctetsOfALostDataServerGoToTheMetadataServer) {
  const Bytes octets = pattern(kSize, 4);
  const auto client = connect(servers);
  bool stopped = false;
  store(*client, octets, [&](const FileWriter& writer) {
    if (stopped || writer.written_bytes() < kSize / 4) return;
    stopped = true;
    servers.locked([](StripedServer& server) { server.stop_last_data_server(); });
  });
  ASSERT_TRUE(stopped);
  const StripedFiles& files = *client->striped();
  EXPECT_GT(files.at_metadata_server().written_bytes, 0U);
  EXPECT_GT(files.data_servers().all()[0]->counts().written_bytes, kSize / 4);
  EXPECT_EQ(files.data_servers().all()[2]->session(), nullptr) << "it is not tried at every call";
  EXPECT_EQ(fetch(*client), octets);
  // One that was never seen there.
  const auto other = connect(servers);
  EXPECT_EQ(fetch(*other), octets);
  EXPECT_GT(other->striped()->at_metadata_server().read_bytes, kSize / 4);
  EXPECT_EQ(other->striped()->data_servers().all()[2]->counts().reads, 0U);
}

INSTANTIATE_TEST_SUITE_P(Ways, StripedFilesTest,
                         ::testing::Values(StripedWay{"iwarp://127.0.0.1:0", false, false},
                                           StripedWay{"iwarp://127.0.0.1:0", true, true},
                                           StripedWay{"iwarp://127.0.0.1:0", true, false, 2},
                                           StripedWay{"tcp://127.0.0.1:0", false, true},
                                           StripedWay{"tcp://127.0.0.1:0", true, false}));

}  // namespace
}  // namespace steertag::peer::testing
