// Reduction under the bindings of NFS versions 2 and 3 and of the auxiliary programs.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;
constexpr std::uint32_t kNfs = 100003;
constexpr std::uint32_t kMount = 100005;
constexpr std::uint32_t kGetattr = 1;
constexpr std::uint32_t kRead = 6;
constexpr std::uint32_t kWrite = 7;
constexpr wire::Segment kSink{0x31, 8192, 0x4000};

/// WRITE3args for `count` octets with an empty handle, without the data.
Bytes write_arguments(std::uint32_t count) {
  return words({0, 0, 0, count, 2, count});
}
constexpr std::uint32_t kWritePosition = 40 + 24;

/// A WRITE whose data of `count` octets is in a read chunk of `length` at `position`.
TraceBuilder write_call(std::uint32_t count, std::uint32_t length,
                        std::uint32_t position = kWritePosition, Bytes left = {}) {
  TraceBuilder trace = opened();
  wire::Header head = header(kXid);
  head.read_list.push_back({position, {0x30, length, 0x1000}});
  Bytes arguments = write_arguments(count);
  arguments.insert(arguments.end(), left.begin(), left.end());
  trace.send(Role::client, head, rpc_call(kXid, kNfs, 3, kWrite, arguments));
  return trace;
}

TEST(BindingRules, AcceptReducedWriteData) {
  write_call(4096, 4096).expect_nothing();
  write_call(4097, 4097).expect_nothing();
}

TEST(BindingRules, FindRoundupInAReadChunk) {
  write_call(4097, 4100).expect("read_chunk_leaves_roundup_out", "RFC8166-3.4.5.2-1", Role::client);
}

TEST(BindingRules, FindAReadChunkOfAnotherLength) {
  write_call(4097, 4096)
      .expect("read_chunk_is_as_long_as_its_item", "RFC8166-3.4.5.2-4", Role::client);
}

/// A WRITE of 257 octets in the Send, with these octets behind them.
TraceBuilder inline_write(const Bytes& roundup) {
  constexpr std::uint32_t kCount = 257;
  TraceBuilder trace = opened();
  Bytes arguments = write_arguments(kCount);
  arguments.resize(arguments.size() + kCount, std::byte{0x5a});
  arguments.insert(arguments.end(), roundup.begin(), roundup.end());
  trace.send(Role::client, header(kXid), rpc_call(kXid, kNfs, 3, kWrite, arguments));
  return trace;
}

TEST(BindingRules, FindRoundupThatIsNotZero) {
  inline_write(Bytes(3)).expect_nothing();
  inline_write({std::byte{0}, std::byte{0}, std::byte{1}})
      .expect("argument_roundup_is_zero", "RFC8166-4-3", Role::client);
}

TEST(BindingRules, FindAnotherItemReduced) {
  write_call(4096, 4096, 60)
      .expect("only_eligible_nfs_items_are_reduced", "RFC8267-4-5", Role::client);
}

TEST(BindingRules, FindAnArgumentReducedInPart) {
  write_call(4096, 4096, kWritePosition, words({1}))
      .expect("argument_is_reduced_whole", "RFC8166-3.4.4.1-2", Role::client);
}

/// A call of `program` with a read list.
TraceBuilder reduced_call(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) {
  TraceBuilder trace = opened();
  wire::Header head = header(kXid);
  head.read_list.push_back({44, {0x30, 32, 0x1000}});
  trace.send(Role::client, head, rpc_call(kXid, program, version, procedure, words({32})));
  return trace;
}

TEST(BindingRules, FindIneligibleArguments) {
  reduced_call(kNfs, 3, kGetattr)
      .expect("only_eligible_nfs_items_are_reduced", "RFC8267-4-5", Role::client);
  reduced_call(kMount, 3, 1)
      .expect("only_eligible_items_are_reduced", "RFC8166-6.1-1", Role::client);
  reduced_call(400000, 1, 1).expect_nothing();
}

/// A reduced call under RPCSEC_GSS version 1 with a sequence number and an empty handle.
TraceBuilder gss_call(std::uint32_t procedure, std::uint32_t gss_proc, std::uint32_t service) {
  TraceBuilder trace = opened();
  wire::Header head = header(kXid);
  head.read_list.push_back({64, {0x30, 32, 0x1000}});
  const Bytes call =
      words({kXid, 0, 2, kNfs, 3, procedure, 6, 20, 1, gss_proc, 9, service, 0, 0, 0, 0});
  trace.send(Role::client, head, call);
  return trace;
}

TEST(BindingRules, FindReductionUnderIntegrityOrPrivacy) {
  for (const std::uint32_t service : {2u, 3u}) {
    gss_call(kWrite, 0, service)
        .expect("wrapped_payload_is_not_reduced", "RFC8166-8.2.2.3-1", Role::client);
  }
}

TEST(BindingRules, HoldNothingAgainstAWriteUnderAnUnknownService) {
  gss_call(kWrite, 0, 9).expect_nothing();
  gss_call(kWrite, 1, 3).expect_nothing();
}

TEST(BindingRules, FindAReducedNullProcedureThatInitialisesAContext) {
  gss_call(0, 1, 3).expect("only_eligible_nfs_items_are_reduced", "RFC8267-4-5", Role::client);
}

TraceBuilder offering_call(std::uint32_t procedure, std::size_t chunks) {
  TraceBuilder trace = opened();
  wire::Header head = header(kXid);
  for (std::size_t i = 0; i < chunks; ++i) head.write_list.add(std::vector{kSink});
  trace.send(Role::client, head, rpc_call(kXid, kNfs, 3, procedure, words({0, 0, 0, 0})));
  return trace;
}

TEST(BindingRules, FindUselessWriteChunks) {
  offering_call(kRead, 1).expect_nothing();
  offering_call(kGetattr, 1)
      .expect("write_list_only_for_eligible_results", "RFC8166-4.3.2-2", Role::client);
  offering_call(kRead, 2).expect("one_write_chunk_for_one_result", "RFC8166-4.3.2.1-1",
                                 Role::client);
}

/// READ3resok without attributes: count, eof, and data of `count` octets with `left` still to come.
Bytes read_result(std::uint32_t count, Bytes left = {}) {
  Bytes out = words({0, 0, count, 1, count});
  out.insert(out.end(), left.begin(), left.end());
  return out;
}

/// A READ that offers `offered` segments, and a reply that returns `length` octets in the first.
class ReadExchange {
 public:
  enum class Chunk : std::uint8_t { usable, without_segments, without_octets };
  explicit ReadExchange(bool offers_list = true, Chunk chunk = Chunk::usable) : chunk_(chunk) {
    trace.open();
    wire::Header head = header(kXid);
    offers_ = offers_list;
    if (offers_list) head.write_list.add(segments(kSink.length));
    trace.send(Role::client, head, rpc_call(kXid, kNfs, 3, kRead, words({0, 0, 0, 0})));
  }
  void reply(std::uint32_t length, const Bytes& results) {
    if (length > 0) trace.write(kSink.handle, kSink.offset, length);
    wire::Header head = header(kXid);
    if (offers_) head.write_list.add(segments(length));
    trace.send(Role::server, head, rpc_reply(kXid, results));
  }

  TraceBuilder trace;

 private:
  std::vector<wire::Segment> segments(std::uint32_t length) const {
    if (chunk_ == Chunk::without_segments) return {};
    const std::uint32_t room = chunk_ == Chunk::without_octets ? 0 : length;
    return {{kSink.handle, room, kSink.offset}};
  }
  bool offers_ = false;
  Chunk chunk_;
};

TEST(BindingRules, AcceptResultsInTheirPlaces) {
  ReadExchange reduced;
  reduced.reply(4097, read_result(4097));
  reduced.trace.expect_nothing();
  ReadExchange no_list(false);
  no_list.reply(0, read_result(4, words({1})));
  no_list.trace.expect_nothing();
  for (const auto chunk :
       {ReadExchange::Chunk::without_segments, ReadExchange::Chunk::without_octets}) {
    ReadExchange empty(true, chunk);
    empty.reply(0, read_result(4, words({1})));
    empty.trace.expect_nothing();
  }
  ReadExchange end_of_file;
  end_of_file.reply(0, read_result(0));
  end_of_file.trace.expect_nothing();
  ReadExchange failed;
  failed.reply(0, words({5, 0}));
  failed.trace.expect_nothing();
}

TEST(BindingRules, FindAnEligibleResultInline) {
  ReadExchange read;
  read.reply(0, read_result(4, words({1})));
  read.trace.expect("eligible_result_is_in_its_chunk", "RFC8166-4.3.2-3", Role::server);
}

TEST(BindingRules, FindAReducedResultForAnEmptyChunk) {
  ReadExchange read(true, ReadExchange::Chunk::without_segments);
  read.reply(0, read_result(4096));
  read.trace.expect("empty_chunk_gets_its_result_inline", "RFC8166-4.3.2.3-2", Role::server);
}

TEST(BindingRules, FindAReducedResultWithoutAnyChunk) {
  ReadExchange read(false);
  read.reply(0, read_result(4096));
  read.trace.expect("write_chunk_is_as_long_as_its_item", "RFC8166-3.4.6.2-3", Role::server);
}

TEST(BindingRules, FindAReturnedLengthWithRoundup) {
  ReadExchange read;
  read.reply(4100, read_result(4097));
  read.trace.expect("write_chunk_is_as_long_as_its_item", "RFC8166-3.4.6.2-3", Role::server);
}

TEST(BindingRules, FindAUsedChunkWithoutAResult) {
  ReadExchange read;
  read.reply(100, words({5, 0}));
  read.trace.expect("chunk_without_result_is_unused", "RFC8166-4.3.2.2-4", Role::server);
}

}  // namespace
}  // namespace steertag::conformance
