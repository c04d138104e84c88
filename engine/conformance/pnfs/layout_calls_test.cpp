// What is kept of layouts, devices and octets, and its limits.
#include "conformance/pnfs/layout_calls.h"

#include <gtest/gtest.h>

#include "conformance/pnfs/server_end.h"
#include "conformance/pnfs/testing.h"

namespace steertag::conformance {
namespace {

TEST(LayoutCalls, AFileHasItsLayoutAndItsOctets) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout(nfs4::kDense).get_device();
  client.ds[0]->write("ds0").read("ds0", 0).read_done();
  client.ds[2]->read("ds2", 0).read_done();
  client.mds.read("file", 0).read_done().write("file");
  ASSERT_EQ(scene.layouts.files().size(), 1u);
  const StripedFile& file = scene.layouts.files().front();
  EXPECT_EQ(file.handle, "file");
  ASSERT_EQ(file.ranges.size(), 1u);
  EXPECT_EQ(file.ranges[0].length, kWholeFile);
  EXPECT_EQ(file.ranges[0].granted.connection, 1u);
  EXPECT_EQ(nfs4::stripe_unit(file.ranges[0].pattern->nfl_util), kTestUnit);
  EXPECT_EQ(file.at_data_servers.read, 16u);
  EXPECT_EQ(file.at_data_servers.written, 8u);
  EXPECT_EQ(file.at_metadata_server.read, 8u);
  EXPECT_EQ(file.at_metadata_server.written, 8u);
  client.call_return().take_return();
  EXPECT_TRUE(file.ranges[0].returned);
}

const std::vector<wire::Segment> kLongReply{{70, 36, 0x1000}, {71, 400, 0x2000}, {72, 4096, 0}};

TEST(LayoutCalls, ALayoutMayComeInTheReplyChunk) {
  PnfsScene scene;
  StripedClient client(scene);
  client.mds.reply_chunk = kLongReply;
  client.get_layout().get_device().expect_nothing();
  ASSERT_EQ(scene.layouts.files().size(), 1u);
  const StripedFile& file = scene.layouts.files().front();
  EXPECT_TRUE(file.complete);
  ASSERT_EQ(file.ranges.size(), 1u);
  client.ds[0]->read("ds0", 0).read_done();
  EXPECT_TRUE(file.ranges[0].usable) << "the device came in a reply chunk, too";
  client.call_return().take_return();
  EXPECT_TRUE(file.ranges[0].returned);
  client.expect_nothing();
}

TEST(LayoutCalls, AReplyChunkThatWasNotSeenMayHoldALayout) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout();
  client.mds.reply_chunk = kLongReply;
  client.mds.payload_seen = false;
  client.get_layout();
  EXPECT_FALSE(scene.layouts.files().front().complete);
}

TEST(ReplyChunk, KeepsABoundedNumberOfOctets) {
  const Bytes octets(4096);
  ReplyChunk chunk(std::array{wire::Segment{1, UINT32_MAX, 0}, wire::Segment{2, 8, 100}});
  EXPECT_TRUE(chunk.take({1, kMostReplyChunkOctets - 1, octets.size(), octets}));
  EXPECT_FALSE(chunk.message(std::array{wire::Segment{1, 4096, 0}})) << "too far behind";
  EXPECT_TRUE(chunk.take({1, 0, octets.size(), octets}));
  EXPECT_TRUE(chunk.message(std::array{wire::Segment{1, 4096, 0}}));
  EXPECT_FALSE(chunk.take({2, 99, 1, View(octets).first(1)})) << "before the segment";
  EXPECT_FALSE(chunk.take({3, 0, octets.size(), octets})) << "of another chunk";
  EXPECT_FALSE(chunk.message(std::array{wire::Segment{1, 4097, 0}})) << "not all was seen";
}

TEST(LayoutCalls, AFailedLayoutgetGrantsNothing) {
  PnfsScene scene;
  StripedClient client(scene);
  client.mds.call("file", Opnum::OP_LAYOUTGET, nfs4::LayoutgetArgs{});
  nfs4::LayoutgetResult result;
  result.status = Status::NFS4ERR_LAYOUTUNAVAILABLE;
  client.mds.reply(Opnum::OP_LAYOUTGET, result);
  EXPECT_FALSE(scene.layouts.has_files());
}

TEST(LayoutCalls, AServerWithoutPnfsHasNoLayouts) {
  PnfsScene scene;
  PnfsTrace plain(scene, 1, nfs4::EXCHGID4_FLAG_USE_NON_PNFS, "192.0.2.1:20049");
  plain.call("file", Opnum::OP_GETATTR, nfs4::GetattrArgs{});
  plain.read("file", 0, stateid_of(5, 1)).read_done().expect_nothing();
  EXPECT_EQ(scene.layouts.find_session(plain.session()), nullptr);
}

TEST(LayoutCalls, SessionsOfTwoServersMayHaveOneId) {
  PnfsScene scene;
  PnfsTrace mds(scene, 1, kMdsRole, "");
  PnfsSession other = *scene.layouts.find_session(mds.session());
  other.server = 99;
  scene.layouts.add_session(other);
  EXPECT_EQ(scene.layouts.find_session(mds.session()), nullptr);
}

TEST(LayoutCalls, ALossLeavesFilesIncomplete) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout();
  EXPECT_TRUE(scene.layouts.files().front().complete);
  client.ds[0]->judge().forget_history();
  EXPECT_FALSE(scene.layouts.files().front().complete);
  client.call_return().take_return(true);
  EXPECT_FALSE(scene.layouts.files().front().complete);
  client.call_return().take_return(false);
  EXPECT_TRUE(scene.layouts.files().front().complete) << "the server said that nothing is left";
}

TEST(LayoutCalls, KeepsABoundedNumberOfFilesAndRanges) {
  PnfsScene scene;
  StripedClient client(scene);
  for (std::size_t i = 0; i <= kMostStripedFiles; ++i) {
    client.get_layout(0, 1, "file" + std::to_string(i));
  }
  EXPECT_EQ(scene.layouts.files().size(), kMostStripedFiles);
  EXPECT_FALSE(scene.layouts.sees_all());
}

TEST(ServerEnd, IsComparedWithUniversalAddresses) {
  nfs4::FileLayoutDevice device;
  device.nflda_multipath_ds_list = {{{{"rdma", "192.0.2.1.78.81"}}},
                                    {{{"rdma", "192.0.2.1.78.82"}, {"tcp", "192.0.2.3.8.1"}}},
                                    {{{"rdma6", "2001:db8::1.78.81"}}}};
  const auto lists = [&](std::string_view end) { return lists_with(end, device); };
  EXPECT_THAT(lists("192.0.2.1:20049"), testing::ElementsAre(0));
  EXPECT_THAT(lists("192.0.2.1:20050"), testing::ElementsAre(1));
  EXPECT_THAT(lists("192.0.2.3:2049"), testing::ElementsAre(1));
  EXPECT_THAT(lists("[2001:db8::1]:20049"), testing::ElementsAre(2));
  EXPECT_THAT(lists("192.0.2.3 qp 0x000011"), testing::ElementsAre(1));
  EXPECT_THAT(lists("192.0.2.1 qp 0x000011"), testing::IsEmpty()) << "two servers have it";
  EXPECT_THAT(lists(""), testing::IsEmpty());
  EXPECT_EQ(readable_address("192.0.2.1.78.81"), "192.0.2.1:20049");
  EXPECT_EQ(readable_address("somewhere"), "somewhere");
}

}  // namespace
}  // namespace steertag::conformance
