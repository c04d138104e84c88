// Tests of the connection configuration protocol: worked octets, and truncation.
#include "rpc/configuration.h"

#include <gtest/gtest.h>

#include "rpc/testing.h"

namespace steertag::configuration {
namespace {

using rpc::testing::encoded;
using rpc::testing::from_hex;
using rpc::testing::to_hex;

template <class T>
T decoded(std::string_view hex) {
  const Bytes octets = from_hex(hex);
  wire::Reader reader(octets);
  T value;
  value.decode(reader);
  EXPECT_TRUE(reader.ok()) << reader.fault().message();
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_EQ(to_hex(encoded(value)), hex);
  return value;
}

TEST(Configuration, RequestIsCallSizeReplySizeReads) {
  const auto request = decoded<Request>("00001000 00002000 00000008");
  EXPECT_EQ(request.maxcall_sendsize, 4096u);
  EXPECT_EQ(request.maxreply_sendsize, 8192u);
  EXPECT_EQ(request.maxrdmaread, 8u);
}

TEST(Configuration, ReplyIsCallSizeAlignmentReads) {
  const auto reply = decoded<Reply>("00001000 00000040 00000000");
  EXPECT_EQ(reply.maxcall_sendsize, 4096u);
  EXPECT_EQ(reply.align, 64u);
  EXPECT_EQ(reply.maxrdmaread, 0u);
}

TEST(Configuration, NamesTheFieldThatIsCut) {
  const Bytes octets = from_hex("00001000 00000040 0000");
  wire::Reader reader(octets);
  Reply reply;
  reply.decode(reader);
  EXPECT_EQ(reader.fault().code, wire::FaultCode::truncated);
  EXPECT_EQ(reader.fault().offset, 8u);
  EXPECT_EQ(reader.fault().field, "maxrdmaread");
}

}  // namespace
}  // namespace steertag::configuration
