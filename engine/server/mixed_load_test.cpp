// Many clients at a time in threads of their own, over every transport and version.
// They do mixed work and check its results. The sanitizers see what clients do to each other and to
// the server.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <random>
#include <set>
#include <thread>

#include "client/files/file_client.h"
#include "client/files/file_reader.h"
#include "client/files/file_writer.h"
#include "server/server_thread.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kClients = 64;
/// Rounds of each client. They are enough that all clients work at the same time. They take a
/// minute at most under a sanitizer that makes everything ten times slower.
constexpr std::uint32_t kRounds = 12;
constexpr std::size_t kLargestFile = 200'000;

/// What one client does. It says what was wrong instead of asserting: it has a thread of its own.
class LoadClient {
 public:
  LoadClient(net::Url url, std::uint32_t version, std::uint32_t number)
      : number_(number), random_(number) {
    url.path = "/export";
    FileClientOptions options;
    options.version = version;
    options.identity.auth_sys = true;
    auto made = FileClient::open(url, options, seeded_random(number + 1));
    if (!made) {
      wrong = made.error().message();
      return;
    }
    client_ = std::move(*made);
  }

  void work() {
    if (client_) root_ = checked(files().find("/export", true)).handle;
    for (std::uint32_t round = 0; round < kRounds && wrong.empty(); ++round) {
      switch (random_() % 4) {
        case 0:
          write(round);
          break;
        case 1:
          read();
          break;
        case 2:
          look();
          break;
        default:
          list();
          break;
      }
      ++rounds;
    }
    if (wrong.empty()) check(files().end());
  }

  std::string wrong;
  std::uint32_t rounds = 0;

 private:
  RemoteFiles& files() { return client_->files(); }
  void check(const Expected<void, FileError>& result) {
    if (!result && wrong.empty()) wrong = result.error().message();
  }
  template <class Value>
  Value checked(Expected<Value, FileError> result) {
    if (result) return std::move(*result);
    if (wrong.empty()) wrong = result.error().message();
    return Value{};
  }

  void write(std::uint32_t round) {
    const std::string name = "client" + std::to_string(number_) + "-" + std::to_string(round);
    const Bytes octets = pattern(random_() % kLargestFile, number_ * 1000 + round);
    const RemoteFile file = checked(files().create(root_, name, 0644));
    if (!wrong.empty()) return;
    FileWriter writer(files(), file, {{0, octets.size()}},
                      [&](std::uint64_t offset, MutableView into) {
                        std::copy_n(octets.begin() + static_cast<std::ptrdiff_t>(offset),
                                    into.size(), into.begin());
                        return Expected<void, FileError>();
                      });
    while (!writer.done()) writer.step(10s);
    if (writer.error()) wrong = writer.error()->message();
    check(files().close(file));
    if (wrong.empty()) own_[name] = octets;
  }

  void read() {
    if (own_.empty()) return write(kRounds);
    const auto& [name, octets] =
        *std::next(own_.begin(), static_cast<std::ptrdiff_t>(random_() % own_.size()));
    const RemoteObject object = checked(files().find("/export/" + name, true));
    const RemoteFile file = checked(files().open(object.handle));
    if (!wrong.empty()) return;
    Bytes got;
    FileReader reader(files(), file, object.attributes.size, [&](std::uint64_t, View data) {
      got.insert(got.end(), data.begin(), data.end());
      return Expected<void, FileError>();
    });
    while (!reader.done()) reader.step(10s);
    if (reader.error()) wrong = reader.error()->message();
    check(files().close(file));
    if (wrong.empty() && got != octets) wrong = name + " has other octets";
  }

  void look() {
    for (const auto& [name, octets] : own_) {
      const RemoteObject object = checked(files().find("/export/" + name, true));
      if (wrong.empty() && object.attributes.size != octets.size())
        wrong = name + " has another size";
    }
    if (files().find("/export/none" + std::to_string(number_), true))
      wrong = "a name that was never made";
  }

  void list() {
    std::set<std::string> names;
    check(files().list(root_, [&](const RemoteEntry& entry) {
      if (!names.emplace(entry.name).second) wrong = "a name twice: " + std::string(entry.name);
      return true;
    }));
    for (const auto& [name, octets] : own_) {
      if (wrong.empty() && !names.contains(name)) wrong = name + " is not in the listing";
    }
  }

  std::uint32_t number_;
  std::mt19937 random_;
  std::unique_ptr<FileClient> client_;
  RemoteHandle root_;
  std::map<std::string, Bytes> own_;
};

TEST(MixedLoadTest, ClientsDoNotDisturbEachOther) {
  const std::array urls{*net::parse_url("iwarp://127.0.0.1:0"),
                        *net::parse_url("tcp://127.0.0.1:0")};
  auto server = ServerThread::start(
      urls, {}, seeded_random(7),
      std::make_unique<MemoryBackend>(counting_clock(), seeded_random(8), MemoryLimits{}));
  ASSERT_TRUE(server) << server.error().message();
  std::array<std::string, kClients> wrong;
  std::array<std::uint32_t, kClients> rounds{};
  std::barrier all_connected(kClients);
  std::vector<std::thread> threads;
  for (std::uint32_t number = 0; number < kClients; ++number) {
    threads.emplace_back([&, number] {
      LoadClient client((*server)->listening()[number % 2], number % 4 < 2 ? 3 : 4, number);
      all_connected.arrive_and_wait();
      client.work();
      wrong[number] = client.wrong;
      rounds[number] = client.rounds;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t number = 0; number < kClients; ++number) {
    EXPECT_EQ(wrong[number], "") << "client " << number;
    EXPECT_EQ(rounds[number], kRounds) << "client " << number;
  }
  EXPECT_GE((*server)->statistics().connections, kClients);
}

}  // namespace
}  // namespace steertag::peer::testing
