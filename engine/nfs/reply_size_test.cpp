// Tests of reply size estimation: bounds counted by hand, and no reply above them.
#include "nfs/reply_size.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rpc/message.h"
#include "rpc/testing.h"

namespace steertag::nfs {
namespace {

using rpc::testing::encoded;

constexpr std::size_t kReplyHeader = rpc::kSmallestReplyHeader;

template <class Args>
Bytes call_of(std::uint32_t program, std::uint32_t procedure, const Args& args) {
  Bytes octets = rpc::testing::call_header(program, 3, procedure);
  wire::Writer writer(octets);
  args.encode(writer);
  return octets;
}

/// The largest reply to a call of NFS version 3, without the RPC header.
template <class Args>
std::size_t largest(std::uint32_t procedure, const Args& args) {
  const auto size = largest_reply(call_of(nfs3::kProgram, procedure, args));
  return size ? size->payload - kReplyHeader : 0;
}

TEST(LargestReply, ReadByItsCount) {
  const auto size = largest_reply(call_of(nfs3::kProgram, 6, nfs3::ReadArgs{.count = 4101}));
  ASSERT_TRUE(size);
  // status 4, attributes 88, count 4, eof 4, data 4 + 4104
  EXPECT_EQ(size->payload, kReplyHeader + 104 + 4104);
  EXPECT_EQ(size->eligible, 4101u);
  EXPECT_EQ(size->reduced(), kReplyHeader + 104);
}

TEST(LargestReply, FixedByTheProtocol) {
  EXPECT_EQ(largest(1, nfs3::GetattrArgs{}), 88u);
  EXPECT_EQ(largest(3, nfs3::LookupArgs{}), 4u + 68 + 88 + 88);
  EXPECT_EQ(largest(5, nfs3::ReadlinkArgs{}), 4u + 88 + 4 + 4096);
  EXPECT_EQ(largest(7, nfs3::WriteArgs{}), 4u + 28 + 88 + 4 + 4 + 8);
  EXPECT_EQ(largest(8, nfs3::CreateArgs{}), 4u + 72 + 88 + 28 + 88);
  EXPECT_EQ(largest(19, nfs3::FsinfoArgs{}), 4u + 88 + 48);
}

TEST(LargestReply, ListingsByTheirCount) {
  EXPECT_EQ(largest(16, nfs3::ReaddirArgs{.count = 8192}), 4u + 8192);
  EXPECT_EQ(largest(17, nfs3::ReaddirplusArgs{.dircount = 100, .maxcount = 32768}), 4u + 32768);
  EXPECT_EQ(largest(16, nfs3::ReaddirArgs{.count = 0}), 4u + 88 + 8 + 4 + 4);
}

TEST(LargestReply, AnErrorReplyFitsToo) {
  EXPECT_EQ(largest(0, rpc::Void{}), 8u) << "PROG_MISMATCH adds two words";
}

TEST(LargestReply, CountsTheVerifier) {
  const Bytes call = call_of(nfs3::kProgram, 1, nfs3::GetattrArgs{});
  EXPECT_EQ(largest_reply(call, 37)->payload, largest_reply(call)->payload + 40);
}

TEST(LargestReply, Mount) {
  const auto mnt = largest_reply(call_of(mount3::kProgram, 1, mount3::DirPath{"/"}));
  ASSERT_TRUE(mnt);
  EXPECT_EQ(mnt->payload, kReplyHeader + 4 + 68 + 4 + 4 * mount3::kMostFlavors);
  EXPECT_FALSE(largest_reply(call_of(mount3::kProgram, 5, rpc::Void{}))) << "EXPORT has no bound";
  EXPECT_FALSE(largest_reply(call_of(100021, 1, rpc::Void{}))) << "NLM is not known";
}

TEST(LargestReply, CutArgumentsAreAFault) {
  Bytes call = call_of(nfs3::kProgram, 6, nfs3::ReadArgs{});
  call.pop_back();
  wire::Fault fault;
  EXPECT_FALSE(largest_reply(call, 0, &fault));
  EXPECT_EQ(fault.code, wire::FaultCode::truncated);
  EXPECT_EQ(fault.offset, 52u);
}

TEST(LargestReply, ReducedWriteIsEnough) {
  const Bytes data(4096);
  Bytes call = call_of(nfs3::kProgram, 7, nfs3::WriteArgs{.count = 4096, .data = data});
  const std::size_t whole = largest_reply(call)->payload;
  call.resize(call.size() - data.size());
  const auto reduced = largest_reply(call);
  ASSERT_TRUE(reduced);
  EXPECT_EQ(reduced->payload, whole);
}

/// Listings are left out: their bound is a promise of the server, not of the type.
RC_GTEST_PROP(LargestReply, NoResultIsLarger, ()) {
  rpc::testing::Arena arena;
  const auto procedure = rpc::testing::any<nfs3::Procedure>(arena);
  nfs3::with_signature(procedure, [&]<class Args, class Result>(nfs3::Signature<Args, Result>) {
    if constexpr (!std::is_same_v<Args, nfs3::ReaddirArgs> &&
                  !std::is_same_v<Args, nfs3::ReaddirplusArgs>) {
      const auto args = rpc::testing::any<Args>(arena);
      auto result = rpc::testing::any<Result>(arena);
      if constexpr (std::is_same_v<Args, nfs3::ReadArgs>) {
        const auto most = std::min<std::size_t>(args.count, result.ok.data.size());
        result.ok.data = result.ok.data.first(most);
      }
      const auto bound = largest_result(procedure, encoded(args));
      RC_ASSERT(bound.has_value());
      RC_ASSERT(encoded(result).size() <= bound->payload);
    }
  });
}

}  // namespace
}  // namespace steertag::nfs
