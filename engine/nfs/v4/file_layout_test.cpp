// Bodies of the file layout type: octets by hand from RFC 5662, limits, round trips.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "nfs/v4/file_layout.h"
#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::decoded;
using rpc::testing::encoded;
using rpc::testing::fault_of;
using rpc::testing::from_hex;
using rpc::testing::joined;
using rpc::testing::to_hex;
using wire::FaultCode;

constexpr const char* kLayoutHex =
    "dddddddddddddddddddddddddddddddd 00010003 00000002 0000000000001000"
    "00000002 00000001 36000000 00000001 87000000";

TEST(FileLayout, WorkedOctets) {
  FileLayout layout{.nfl_util = 65536 | kDense | kCommitThroughServer,
                    .nfl_first_stripe_index = 2,
                    .nfl_pattern_offset = 4096};
  layout.nfl_deviceid.fill(std::byte{0xdd});
  layout.nfl_fh_list = {FileHandle(from_hex("36")), FileHandle(from_hex("87"))};
  EXPECT_EQ(to_hex(encoded(layout)), joined(kLayoutHex));
  const auto back = decoded<FileLayout>(from_hex(joined(kLayoutHex)));
  EXPECT_EQ(back.nfl_fh_list, layout.nfl_fh_list);
  EXPECT_TRUE(is_dense(back.nfl_util));
  EXPECT_TRUE(commits_through_server(back.nfl_util));
  EXPECT_EQ(stripe_unit(back.nfl_util), 65536u);
}

TEST(FileLayout, UnknownFlagsAreNoPartOfTheStripeUnit) {
  EXPECT_EQ(stripe_unit(kLeastStripeUnit | kLayoutFlags), kLeastStripeUnit);
  EXPECT_EQ(stripe_unit(0xffffffff), 0xffffffc0u);
  EXPECT_FALSE(is_dense(kLayoutFlags & ~kDense));
}

TEST(FileLayoutDevice, WorkedOctets) {
  FileLayoutDevice device;
  device.nflda_stripe_indices = {1, 0};
  device.nflda_multipath_ds_list = {{{{"rdma", "192.0.2.1.78.81"}, {"tcp", "192.0.2.1.8.1"}}},
                                    {{{"rdma6", "2001:db8::7.78.81"}}}};
  EXPECT_EQ(to_hex(encoded(device)),
            joined("00000002 00000001 00000000 00000002"
                   "00000002 00000004 72646d61 0000000f 3139322e302e322e312e37382e383100"
                   "00000003 74637000 0000000d 3139322e302e322e312e382e31000000"
                   "00000001 00000005 72646d6136000000 00000011"
                   "323030313a6462383a3a372e37382e3831000000"));
}

TEST(FileLayoutHint, WorkedOctets) {
  const FileLayoutHint hint{kCareStripeUnit | kCareStripeCount, 4096, 3};
  EXPECT_EQ(to_hex(encoded(hint)), joined("000000c0 00001000 00000003"));
}

TEST(Limits, OfStripesAndPaths) {
  FileLayoutDevice device;
  device.nflda_stripe_indices.resize(kMostStripes);
  EXPECT_FALSE(fault_of<FileLayoutDevice>(encoded(device)));
  device.nflda_stripe_indices.resize(kMostStripes + 1);
  EXPECT_EQ(fault_of<FileLayoutDevice>(encoded(device)).code, FaultCode::bad_count);
  MultipathList list;
  list.addresses.resize(kMostPaths);
  EXPECT_FALSE(fault_of<MultipathList>(encoded(list)));
  list.addresses.resize(kMostPaths + 1);
  EXPECT_EQ(fault_of<MultipathList>(encoded(list)).code, FaultCode::bad_count);
}

template <class T>
class EveryBody : public ::testing::Test {};
using Bodies = ::testing::Types<FileLayout, MultipathList, FileLayoutDevice, FileLayoutHint>;
TYPED_TEST_SUITE(EveryBody, Bodies);

TYPED_TEST(EveryBody, RoundTripsAndFaultsWhenCut) {
  EXPECT_TRUE(rc::check([] {
    rpc::testing::Arena arena;
    rpc::testing::check_codec<TypeParam>(encoded(rpc::testing::any<TypeParam>(arena)));
  }));
}

}  // namespace
}  // namespace steertag::nfs4
