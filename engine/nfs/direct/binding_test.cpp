// Tests of the binding of direct access: which items are eligible, and how large replies are.
#include "nfs/direct/binding.h"

#include <gtest/gtest.h>

#include "nfs/eligible_items.h"
#include "rpc/testing.h"

namespace steertag::direct {
namespace {

using nfs::EligibleItem;
using rpc::testing::encoded;
using rpc::testing::reply_of;

const Bytes kData(5, std::byte{0x61});

ReadResult read_of(View data, std::size_t references) {
  ReadResult result;
  result.resok4.data = data;
  result.resok4.refs.resize(references);
  return result;
}

ReadResult failed_read() {
  ReadResult result;
  result.status = Status::NFS4ERR_ACCESS;
  return result;
}

std::vector<EligibleItem> items_of(View reply, Procedure procedure,
                                   std::vector<std::uint32_t> lengths = {}) {
  wire::Fault fault;
  const auto items = nfs::eligible_results(reply, kProgram, kVersion,
                                           static_cast<std::uint32_t>(procedure), lengths, &fault);
  EXPECT_FALSE(fault) << fault.message();
  return items;
}

// The RPC header has 24 octets, what precedes the data of a READ another 28.
constexpr std::size_t kFirstData = 24 + 28;

TEST(DirectBinding, DataOfReadIsEligible) {
  const auto items = items_of(reply_of(read_of(kData, 2)), Procedure::DIRECTPROC1_READ);
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].position, kFirstData);
  EXPECT_EQ(items[0].length, 5U);
  EXPECT_FALSE(items[0].reduced);
}

TEST(DirectBinding, ReducedDataIsInItsWriteChunk) {
  Bytes reply = reply_of(read_of(kData, 2));
  const auto data = reply.begin() + kFirstData;
  reply.erase(data, data + 8);
  const auto items = items_of(reply, Procedure::DIRECTPROC1_READ, {5});
  ASSERT_EQ(items.size(), 1U);
  EXPECT_TRUE(items[0].reduced);
  EXPECT_EQ(items[0].length, 5U);
}

TEST(DirectBinding, ResultOfBatchWithAnErrorUsesUpItsChunk) {
  BatchResult batch;
  batch.results = {read_of(kData, 1), failed_read(), read_of(kData, 0)};
  const auto items = items_of(reply_of(batch), Procedure::DIRECTPROC1_BATCH);
  ASSERT_EQ(items.size(), 3U);
  EXPECT_FALSE(items[0].absent);
  EXPECT_TRUE(items[1].absent);
  EXPECT_FALSE(items[2].absent);
  EXPECT_EQ(items[2].position, items[0].position + 8 + 4 + 32 + 4 + 28);
}

TEST(DirectBinding, NothingElseIsEligible) {
  RefsResult refs;
  refs.resok4.refs.resize(3);
  EXPECT_TRUE(items_of(reply_of(refs), Procedure::DIRECTPROC1_REFS).empty());
  EXPECT_TRUE(items_of(reply_of(Counters{}), Procedure::DIRECTPROC1_COUNTERS).empty());
}

TEST(DirectReplySize, IsThatOfTheLargestReply) {
  ReadArgs read;
  read.count = 5;
  read.want_refs = 3;
  EXPECT_EQ(largest_reply(read).payload, reply_of(read_of(kData, 3)).size());
  EXPECT_EQ(largest_reply(read).eligible, 5U);
  RefsArgs refs;
  refs.want_refs = 7;
  RefsResult references;
  references.resok4.refs.resize(7);
  EXPECT_EQ(largest_reply(refs).payload, reply_of(references).size());
  HelloResult hello;
  const std::string text(nfs4::kMostNetaddrOctets, 'x');
  hello.resok4.netid = hello.resok4.address = text;
  EXPECT_EQ(largest_reply(HelloArgs{}).payload, reply_of(hello).size());
  EXPECT_EQ(largest_reply(ReturnArgs{}).payload, reply_of(ReturnResult{}).size());
  EXPECT_EQ(largest_reply(Void{}).payload, reply_of(Counters{}).size());
}

TEST(DirectReplySize, HasALimit) {
  RefsArgs refs;
  refs.want_refs = UINT32_MAX;
  RefsResult references;
  references.resok4.refs.resize(kMostReferences);
  EXPECT_EQ(largest_reply(refs).payload, reply_of(references).size());
}

}  // namespace
}  // namespace steertag::direct
