// A connection of the provider under test whose client is a bare socket.
#pragma once

#include <gtest/gtest.h>

#include "fabric/iwarp/formats.h"
#include "fabric/testing/raw_peer.h"

namespace steertag::fabric::testing {

/// Established, with four receives of 64 octets. The server posted them, and its clock stands
/// still.
class RawConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    peer.emplace(RawPeer::to(pair.listener->port()));
    iwarp::StartupFrame request;
    request.crc = true;
    request.revision = 2;
    request.enhanced = iwarp::Enhanced{false, false, false, false, 16, 16};
    const Bytes octets = encode(request);
    std::size_t sent = 0;
    ASSERT_TRUE(pair.poll_until([&] {
      sent += peer->send(View(octets).subspan(sent));
      peer->read();
      const auto lacking = octets_lacking(iwarp::StartupKind::reply, peer->got);
      return pair.server_notices.established && lacking && *lacking == 0;
    }));
    before = peer->got.size();
    pair.post_receives(4, 64);
    writable = pair.server_domain->allocate(100, {false, true});
    readable = pair.server_domain->allocate(100, {true, false});
    foreign = pair.other_domain->allocate(100, {true, true});
  }

  void send(const Bytes& octets) { ASSERT_EQ(peer->send(octets), octets.size()); }
  Bytes message(std::uint32_t msn, std::size_t size) {
    return fpdu(untagged(iwarp::Opcode::send, iwarp::kSendQueue, msn), pattern(size));
  }
  Bytes write(std::uint32_t stag, std::uint64_t offset, std::size_t size) {
    return fpdu(tagged(iwarp::Opcode::rdma_write, stag, offset), Bytes(size, std::byte{0xee}));
  }
  Bytes read_request(std::uint32_t length, std::uint32_t stag, std::uint64_t offset,
                     std::uint32_t msn = 1) {
    Bytes content(iwarp::kReadRequestBytes);
    encode(iwarp::ReadRequest{0x501, 0, length, stag, offset}, content.data());
    return fpdu(untagged(iwarp::Opcode::read_request, iwarp::kReadRequestQueue, msn), content);
  }

  std::shared_ptr<std::int64_t> now = std::make_shared<std::int64_t>(1);
  Pair pair{iwarp_factory(), {}, [at = now] { return *at; }};
  std::optional<RawPeer> peer;
  std::size_t before = 0;
  std::unique_ptr<Region> writable;
  std::unique_ptr<Region> readable;
  std::unique_ptr<Region> foreign;
};

}  // namespace steertag::fabric::testing
