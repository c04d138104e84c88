// What an idle connection costs the server besides its posted receives.
#include <malloc.h>

#include "server/testing/stream_fixture.h"
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Of the sanitizers' allocator; GCC 12 installs no header that declares it.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // NOLINT: their name
#endif

namespace steertag::peer::testing {
namespace {

// The limit that the server promises for 10,000 connections. Cost grows with their number only, so
// fewer tell the same.
constexpr std::size_t kMostIdleBytes = 65536;
constexpr std::size_t kConnections = 200;

/// Octets on the heap, as the allocator at work counts them.
std::size_t allocated() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

class IdleConnectionsTest : public StreamTest {};

TEST_F(IdleConnectionsTest, OverTcp) {
  serve_all();
  std::deque<RawStream> clients;
  for (std::size_t i = 0; i < kConnections; ++i) clients.emplace_back(tcp_url);
  const std::size_t before = allocated();
  ASSERT_GT(before, 0U) << "this allocator does not count";
  for (RawStream& client : clients) {
    client.send_record(rpc_call(1, 0));
    drive([&] {
      client.pump();
      return client.records.size() == 1;
    });
  }
  ASSERT_EQ(server->connection_count(), kConnections);
  const std::size_t each = (allocated() - before) / kConnections;
  RecordProperty("octets", static_cast<int>(each));
  EXPECT_LT(each, kMostIdleBytes);
}

// The clients are in this process too: what is measured is an upper bound.
TEST_F(IdleConnectionsTest, OverIwarp) {
  serve_all();
  const auto domain = provider->make_domain();
  std::deque<RawClient> clients;
  const std::size_t before = allocated();
  ASSERT_GT(before, 0U) << "this allocator does not count";
  for (std::size_t i = 0; i < kConnections; ++i) {
    RawClient& client = clients.emplace_back(*provider, *domain, url, Bytes(), 1, 64);
    drive([&] { return client.up; });
    client.send(draft_call(1, rpc_call(1, 0)));
    drive([&] { return client.received.size() == 1; });
  }
  ASSERT_EQ(server->connection_count(), kConnections);
  constexpr std::size_t kReceives =
      std::size_t{kDefaultCredits + kSpareReceives} * kDefaultAnnouncedBytes;
  const std::size_t each = (allocated() - before) / kConnections;
  ASSERT_GT(each, kReceives);
  RecordProperty("octets", static_cast<int>(each - kReceives));
  EXPECT_LT(each - kReceives, kMostIdleBytes);
}

}  // namespace
}  // namespace steertag::peer::testing
