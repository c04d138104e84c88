// What an idle connection costs the server.
#include <malloc.h>
#include <unistd.h>

#include <fstream>

#include "server/testing/stream_fixture.h"
#include "wire/sanitized.h"

// Of the sanitizers' allocator; GCC 12 installs no header that declares it.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // NOLINT: their name

namespace steertag::peer::testing {
namespace {

// The limit that the server promises for 10,000 connections. Cost grows with their number only, so
// fewer tell the same.
constexpr std::size_t kMostIdleBytes = 65536;
constexpr std::size_t kConnections = 200;
// Of a connection of the server, for the calls of a client.
constexpr std::size_t kReceives = kDefaultCredits + kSpareReceives;

/// Octets on the heap, as the allocator at work counts them.
std::size_t allocated() {
  if constexpr (kSanitized) {
    return __sanitizer_get_current_allocated_bytes();
  } else {
    const struct mallinfo2 info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
  }
}

/// Octets of this process in memory.
std::size_t resident() {
  std::ifstream numbers("/proc/self/statm");
  std::size_t all = 0, pages = 0;
  numbers >> all >> pages;
  EXPECT_GT(pages, 0U) << "/proc/self/statm cannot be read";
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
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
  const std::size_t each = (allocated() - before) / kConnections;
  RecordProperty("octets", static_cast<int>(each));
  EXPECT_LT(each, kMostIdleBytes);
}

// Receives are no part of the heap: the system provides their pages.
TEST_F(IdleConnectionsTest, GiveTheMemoryOfTheirReceivesBack) {
  serve_all();
  const auto domain = provider->make_domain();
  std::deque<RawClient> clients;
  for (std::size_t i = 0; i < kConnections; ++i) {
    RawClient& client = clients.emplace_back(*provider, *domain, url, Bytes(), 1, 64);
    drive([&] { return client.up; });
    for (std::uint32_t xid = 1; xid <= kReceives; ++xid) {
      client.connection->post_receive(client.slab, 0);
      client.send(draft_call(xid, rpc_call(xid, 0)));
      drive([&] { return client.received.size() == xid; });
    }
  }
  const std::size_t busy = resident();
  for (int look = 0; look < 2; ++look) {
    now += kIdlenessInterval;
    server->poll(0ms);
  }
  const std::size_t idle = resident();
  ASSERT_LT(idle, busy);
  EXPECT_GT((busy - idle) / kConnections, kReceives * kDefaultAnnouncedBytes * 9 / 10)
      << "octets that an idle connection gives back";
  // They work on.
  RawClient& client = clients.front();
  client.connection->post_receive(client.slab, 0);
  client.send(draft_call(99, rpc_call(99, 0)));
  drive([&] { return client.received.size() == kReceives + 1; });
}

}  // namespace
}  // namespace steertag::peer::testing
