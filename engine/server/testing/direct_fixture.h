// What tests of direct access share: a server with a clock, and users with connections.
#pragma once

#include "client/rdma/call_builder.h"
#include "endpoint/block_frame.h"
#include "fabric/testing/provider_suite.h"
#include "nfs/direct/binding.h"
#include "nfs/direct/private_data.h"
#include "server/direct/direct_access.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {

/// An end of an optimistic connection, which may break every rule.
class OptimisticEnd {
 public:
  OptimisticEnd(fabric::Provider& provider, const fabric::Url& url, View private_data)
      : domain(provider.make_domain()) {
    fabric::ConnectionOptions options;
    options.private_data = copy(private_data);
    options.ird = 0;
    auto started = provider.connect(url, *domain, options, notices);
    EXPECT_TRUE(started) << started.error().message();
    if (started) connection = std::move(*started);
  }
  ~OptimisticEnd() {
    if (!connection) return;
    connection->set_handler(nullptr);
    connection->abort();
  }
  OptimisticEnd(const OptimisticEnd&) = delete;
  OptimisticEnd& operator=(const OptimisticEnd&) = delete;

  /// Starts an RDMA Read of `length` octets from `shift` octets behind the reference's base on.
  void start_read(const direct::Reference& reference, std::size_t length, std::int64_t shift = 0) {
    sink = domain->allocate(length, {});
    EXPECT_TRUE(connection->rdma_read(*sink, 0, static_cast<std::uint32_t>(length), reference.stag,
                                      reference.base + static_cast<std::uint64_t>(shift), 0));
  }
  bool is_over() const { return notices.over(); }

  fabric::testing::Notices notices;
  std::unique_ptr<fabric::Domain> domain;
  std::unique_ptr<fabric::Region> sink;
  std::unique_ptr<fabric::Connection> connection;
};

class DirectTest : public PeerTest, public ::testing::WithParamInterface<fabric::testing::Factory> {
 protected:
  static constexpr std::uint32_t kBlock = kDirectBlockBytes;
  using Procedure = direct::Procedure;
  using References = std::vector<direct::Reference>;

  /// A client: its RPC connection, and its optimistic connection once it is open.
  struct User {
    std::unique_ptr<RpcClient> rpc;
    std::unique_ptr<OptimisticEnd> optimistic;
    Identity identity;
  };

  DirectTest() {
    provider = GetParam().make({}, {});
    origin = GetParam().name + "://" + GetParam().host;
  }
  void SetUp() override { begin({}); }
  void begin(const DirectLimits& limits, const DirectPolicy& policy = {},
             const DeadlineClock& clock = ServerOptions().clock) {
    server.reset();
    access = std::make_shared<DirectAccess>(
        limits, seeded_random(++starts), [this] { return now; }, policy);
    ServerOptions options;
    options.direct = access;
    options.clock = clock;
    serve(options);
  }

  User connect_user(std::uint32_t uid = 1000) {
    User user;
    user.rpc = std::make_unique<RpcClient>(*provider, url, RequesterOptions{}, next_xid);
    next_xid += 0x01000000;
    user.identity = {true, uid, uid, "test", {}};
    return user;
  }
  template <class Result, class Args>
  Result call(User& user, Procedure procedure, const Args& args, nfs::ReplySize reply) {
    Request request = inline_call(direct::kProgram, direct::kVersion,
                                  static_cast<std::uint32_t>(procedure), args, user.identity);
    request.reply = reply;
    request.wish.write_chunk = Use::never;  // RpcClient puts an item back at the end only
    const auto octets = user.rpc->round_trip(std::move(request));
    EXPECT_TRUE(octets) << rpc::name(procedure) << ": " << octets.error().message();
    if (!octets) return {};
    wire::Reader reader(*octets);
    rpc::ReplyHeader header;
    header.decode(reader);
    auto result = decode_results<Result>(reader.rest());
    EXPECT_TRUE(result) << rpc::name(procedure) << ": " << result.error().message();
    return result ? std::move(*result) : Result{};
  }
  template <class Result, class Args>
  Result call(User& user, Procedure procedure, const Args& args) {
    return call<Result>(user, procedure, args, direct::largest_reply(args));
  }

  direct::HelloResult hello(User& user, std::uint64_t verifier = 0, std::uint64_t clientid = 0) {
    direct::HelloArgs args;
    args.clientid = clientid;
    wire::store_u64(args.verifier.data(), verifier == 0 ? next_xid : verifier);
    return call<direct::HelloResult>(user, Procedure::DIRECTPROC1_HELLO, args);
  }
  /// Whether the ticket opened an optimistic connection.
  bool open(User& user, const direct::Ticket& ticket) {
    Bytes data;
    direct::encode(ticket, data);
    user.optimistic = std::make_unique<OptimisticEnd>(*provider, url, data);
    drive([&] { return user.optimistic->notices.established || user.optimistic->is_over(); });
    return user.optimistic->notices.established;
  }
  /// A user that said HELLO and has its optimistic connection.
  User make_user(std::uint32_t uid = 1000) {
    User user = connect_user(uid);
    EXPECT_TRUE(open(user, hello(user).resok4.ticket));
    return user;
  }

  direct::RefsResult refs(User& user, const nfs3::FileHandle& file, std::uint32_t most = 64,
                          std::uint64_t offset = 0) {
    direct::RefsArgs args;
    args.file = direct::FileHandle(file.view());
    args.offset = offset;
    args.count = UINT64_MAX;
    args.want_refs = most;
    return call<direct::RefsResult>(user, Procedure::DIRECTPROC1_REFS, args);
  }
  direct::ReadArgs read_args(const nfs3::FileHandle& file, std::uint64_t offset,
                             std::uint32_t count, std::uint32_t most = 0) {
    return {direct::FileHandle(file.view()), {}, offset, count, most};
  }
  /// What an RDMA Read gives; none if it ends the connection.
  std::optional<Bytes> read_memory(User& user, const direct::Reference& reference,
                                   std::size_t length, std::int64_t shift = 0) {
    OptimisticEnd& end = *user.optimistic;
    const std::size_t before = end.notices.completed.size();
    end.start_read(reference, length, shift);
    drive([&] { return end.notices.completed.size() > before || end.is_over(); });
    if (end.notices.completed.size() == before) return std::nullopt;
    return copy(end.sink->bytes());
  }
  Bytes read_frame(User& user, const direct::Reference& reference) {
    const auto frame = read_memory(user, reference, reference.length + kFrameOctets);
    EXPECT_TRUE(frame) << "the Read of a frame ended the connection";
    return frame.value_or(Bytes{});
  }
  /// The block behind a reference; none if its frame is invalid.
  std::optional<Bytes> read_block(User& user, const direct::Reference& reference) {
    const Bytes frame = read_frame(user, reference);
    const auto data = open_frame(frame, reference.generation);
    return data ? std::optional(copy(*data)) : std::nullopt;
  }
  NodeId node_of(const nfs3::FileHandle& file) { return *storage->resolve(file.view()); }

  std::uint64_t starts = 12;  // the server chooses at random, otherwise in each of its runs
  std::shared_ptr<DirectAccess> access;
  std::chrono::steady_clock::time_point now{};
};

}  // namespace steertag::peer::testing
