// A client for tests that sends any octets.
// It has a connection of the fabric, what it received, and calls made of drafts.
#pragma once

#include <deque>

#include "server/testing/peer_fixture.h"
#include "wire/draft.h"

namespace steertag::peer::testing {

struct Received {
  Bytes octets;
  std::optional<std::uint32_t> invalidated;
};

class RawClient final : public fabric::Handler {
 public:
  RawClient(fabric::Provider& its_provider, fabric::Domain& domain, const fabric::Url& url,
            Bytes announced, std::size_t receives = 64, std::size_t receive_bytes = 4096,
            trace::EventSink* events = nullptr, std::uint16_t ird = 16)
      : provider(its_provider), slab(receives * receive_bytes) {
    fabric::ConnectionOptions options;
    options.private_data = std::move(announced);
    options.ird = ird;
    auto started = provider.connect(url, domain, options, *this, events);
    EXPECT_TRUE(started) << started.error().message();
    connection = std::move(*started);
    for (std::size_t i = 0; i < receives; ++i)
      connection->post_receive(MutableView(slab).subspan(i * receive_bytes, receive_bytes), i);
  }
  ~RawClient() override {
    connection->set_handler(nullptr);
    connection->abort();
    provider.retire(std::move(connection));
  }

  void send(Bytes octets) {
    sent.push_back(std::move(octets));
    const View part = sent.back();
    (void)connection->send({&part, 1}, 0);
  }
  void send(const wire::Draft& draft) {
    Bytes octets;
    wire::encode(draft, octets);
    send(std::move(octets));
  }

  void on_established(fabric::Connection&, View data) override {
    up = true;
    private_data.assign(data.begin(), data.end());
  }
  void on_refused(fabric::Connection&, const fabric::Error& error, View) override {
    closed = true;
    reason.code = error.code;
  }
  void on_received(fabric::Connection&, fabric::WorkId, MutableView buffer,
                   std::optional<std::uint32_t> invalidated) override {
    received.push_back({Bytes(buffer.begin(), buffer.end()), invalidated});
  }
  void on_completed(fabric::Connection&, fabric::WorkId, fabric::Operation) override {}
  void on_closed(fabric::Connection&, const fabric::CloseReason& why) override {
    closed = true;
    reason = why;
  }

  fabric::Provider& provider;
  Bytes slab;
  std::unique_ptr<fabric::Connection> connection;
  std::deque<Bytes> sent;
  std::vector<Received> received;
  Bytes private_data;
  bool up = false;
  bool closed = false;
  fabric::CloseReason reason;
};

/// An RPC call with AUTH_NONE, and these arguments behind its header.
inline Bytes rpc_call(std::uint32_t xid, std::uint32_t procedure, View arguments = {},
                      std::uint32_t program = nfs3::kProgram, std::uint32_t version = 3) {
  Bytes octets;
  wire::Writer writer(octets);
  rpc::CallHeader header;
  header.xid = xid;
  header.program = program;
  header.version = version;
  header.procedure = procedure;
  header.encode(writer);
  writer.raw(arguments);
  return octets;
}

inline wire::Draft draft_call(std::uint32_t xid, Bytes payload) {
  wire::Draft draft;
  draft.xid = xid;
  draft.credit = 32;
  draft.payload = std::move(payload);
  return draft;
}

template <class Args>
Bytes encoded(const Args& args) {
  Bytes octets;
  wire::Writer writer(octets);
  args.encode(writer);
  return octets;
}

inline constexpr std::uint32_t kGreedyWriteOctets = 1 << 20;
inline constexpr std::uint32_t kGreedyWrites = 100;
/// A server that answers so many of them has taken far more calls than credits.
inline constexpr std::size_t kTooManyReplies = 60;

/// Sends kGreedyWrites long calls of NFSPROC3_WRITE without a look at credits. The server can pull
/// each from `region`, of kGreedyWriteOctets.
inline void send_greedy_writes(RawClient& client, const nfs3::FileHandle& file,
                               const fabric::Region& region) {
  nfs3::WriteArgs args;
  args.file = file;
  args.count = kGreedyWriteOctets;
  Bytes arguments = encoded(args);
  wire::store_u32(arguments.data() + arguments.size() - 4, kGreedyWriteOctets);
  for (std::uint32_t xid = 1; xid <= kGreedyWrites; ++xid) {
    const Bytes payload = rpc_call(xid, 7, arguments);
    wire::Draft draft = draft_call(xid, payload);
    const auto position = static_cast<std::uint32_t>(payload.size());
    draft.read_list.push_back(
        {1, {position, {region.stag(), kGreedyWriteOctets, region.base()}}, false});
    client.send(draft);
  }
}

}  // namespace steertag::peer::testing
