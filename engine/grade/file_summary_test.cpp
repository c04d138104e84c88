// Files with layouts, over the connections of a capture.
#include "grade/file_summary.h"

#include <gtest/gtest.h>

#include "conformance/pnfs/testing.h"

namespace steertag::grade {
namespace {

using conformance::PnfsScene;
using conformance::StripedClient;

TEST(FileSummary, HasThePatternTheServersAndTheOctets) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout(nfs4::kDense | nfs4::kCommitThroughServer).get_device();
  client.ds[1]->write("ds1");
  client.mds.read("file", 0).read_done();
  client.call_return().take_return();
  const std::vector<FileSummary> files = summaries_of(scene.layouts);
  ASSERT_EQ(files.size(), 1u);
  const FileSummary& file = files[0];
  EXPECT_EQ(file.handle, "file");
  EXPECT_TRUE(file.dense);
  EXPECT_TRUE(file.commits_through_server);
  EXPECT_EQ(file.stripe_unit_bytes, conformance::kTestUnit);
  ASSERT_EQ(file.data_servers.size(), conformance::kTestServers);
  EXPECT_EQ(file.data_servers[0], std::vector<std::string>{"192.0.2.2:20049 (rdma)"});
  ASSERT_EQ(file.ranges.size(), 1u);
  EXPECT_TRUE(file.ranges[0].writable);
  EXPECT_TRUE(file.ranges[0].returned);
  EXPECT_EQ(file.at_data_servers.written, 8u);
  EXPECT_EQ(file.at_metadata_server.read, 8u);
}

TEST(FileSummary, LacksServersWhoseDeviceWasNotSeen) {
  PnfsScene scene;
  StripedClient client(scene);
  EXPECT_TRUE(summaries_of(scene.layouts).empty());
  client.get_layout();
  ASSERT_EQ(summaries_of(scene.layouts).size(), 1u);
  EXPECT_TRUE(summaries_of(scene.layouts)[0].data_servers.empty());
}

}  // namespace
}  // namespace steertag::grade
