// Tests of MOUNT version 3: worked octets, round trips, limits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "nfs/mount3_procedures.h"
#include "rpc/testing.h"

namespace steertag::mount3 {
namespace {

using rpc::testing::encoded;
using rpc::testing::fault_of;
using rpc::testing::from_hex;
using rpc::testing::to_hex;
using wire::FaultCode;

TEST(DirPath, WorkedOctetsAndLimit) {
  EXPECT_EQ(to_hex(encoded(DirPath{"/srv"})), "00000004 2f737276");
  const std::string path(kMostPathOctets + 1, '/');
  EXPECT_FALSE(fault_of<DirPath>(encoded(DirPath{std::string_view(path).substr(1)})));
  const wire::Fault fault = fault_of<DirPath>(encoded(DirPath{path}));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 0u);
}

TEST(MntResult, WorkedOctets) {
  const Bytes octets = from_hex("00000000 00000002 aabb0000 00000002 00000001 00000000");
  wire::Reader reader(octets);
  MntResult result;
  result.decode(reader);
  ASSERT_TRUE(reader.ok()) << reader.fault().message();
  EXPECT_EQ(to_hex(result.fhandle.view()), "aabb");
  EXPECT_EQ(result.auth_flavors,
            (std::vector<rpc::AuthFlavor>{rpc::AuthFlavor::AUTH_SYS, rpc::AuthFlavor::AUTH_NONE}));
  EXPECT_EQ(encoded(result), octets);
}

TEST(MntResult, FailureIsAStatusOnly) {
  MntResult result;
  result.status = Status::MNT3ERR_ACCES;
  result.auth_flavors.resize(3);
  EXPECT_EQ(to_hex(encoded(result)), "0000000d");
  EXPECT_EQ(fault_of<MntResult>(from_hex("00000003")).code, FaultCode::bad_enum);
}

TEST(MntResult, FlavorLimitAndPseudoFlavors) {
  MntResult result;
  result.auth_flavors.resize(kMostFlavors, static_cast<rpc::AuthFlavor>(390003));
  EXPECT_FALSE(fault_of<MntResult>(encoded(result))) << "a pseudo-flavour was refused";
  result.auth_flavors.resize(kMostFlavors + 1);
  const wire::Fault fault = fault_of<MntResult>(encoded(result));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 8u);
}

TEST(ExportList, WorkedOctets) {
  ExportList list;
  list.exports.items = {{"/a", {{{"net"}}}}, {"/b", {}}};
  EXPECT_EQ(to_hex(encoded(list)),
            "00000001 00000002 2f610000 00000001 00000003 6e657400 00000000 "
            "00000001 00000002 2f620000 00000000 00000000");
}

TEST(ExportList, GroupLimit) {
  ExportList list;
  list.exports.items.resize(1);
  list.exports.items[0].groups.items.resize(kMostGroups + 1);
  EXPECT_EQ(fault_of<ExportList>(encoded(list)).code, FaultCode::limit_exceeded);
}

template <class T>
class EveryMessage : public ::testing::Test {};
using Messages = ::testing::Types<DirPath, MntResult, MountList, ExportList>;
TYPED_TEST_SUITE(EveryMessage, Messages);

TYPED_TEST(EveryMessage, RoundTripsAndFaultsWhenCut) {
  EXPECT_TRUE(rc::check([] {
    rpc::testing::Arena arena;
    rpc::testing::check_codec<TypeParam>(encoded(rpc::testing::any<TypeParam>(arena)));
  }));
}

TEST(Procedures, AreSix) {
  EXPECT_EQ(rpc::value_named<Procedure>("EXPORT"), Procedure::MOUNTPROC3_EXPORT);
  EXPECT_EQ(rpc::value_numbered<Procedure>(5), Procedure::MOUNTPROC3_EXPORT);
  EXPECT_FALSE(rpc::value_numbered<Procedure>(6));
}

}  // namespace
}  // namespace steertag::mount3
