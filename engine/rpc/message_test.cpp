// Tests of call and reply headers: worked octets, round trips, faults and their place.
#include "rpc/message.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rpc/testing.h"

namespace steertag::rpc {
namespace {

using testing::encoded;
using testing::fault_of;
using testing::from_hex;
using testing::to_hex;
using wire::FaultCode;

constexpr std::string_view kNullCall =
    "12345678 00000000 00000002 000186a3 00000003 00000000 00000000 00000000 00000000 00000000";

TEST(CallHeader, WorkedOctets) {
  const Bytes octets = from_hex(kNullCall);
  wire::Reader reader(octets);
  CallHeader call;
  call.decode(reader);
  ASSERT_TRUE(reader.ok()) << reader.fault().message();
  EXPECT_EQ(call.xid, 0x12345678u);
  EXPECT_EQ(call.program, 100003u);
  EXPECT_EQ(call.version, 3u);
  EXPECT_EQ(call.procedure, 0u);
  EXPECT_EQ(call.credential.flavor, AuthFlavor::AUTH_NONE);
  EXPECT_EQ(reader.offset(), kSmallestCallHeader);
  EXPECT_EQ(to_hex(encoded(call)), kNullCall);
}

TEST(CallHeader, AnotherRpcVersionIsLeftToTheServer) {
  Bytes octets = from_hex("00000001 00000000 00000003");
  wire::Reader reader(octets);
  CallHeader call;
  call.program = 7;
  call.decode(reader);
  EXPECT_TRUE(reader.ok()) << reader.fault().message();
  EXPECT_EQ(call.rpcvers, 3u);
  EXPECT_EQ(call.program, 0u) << "members of an earlier call stay";
}

TEST(CallHeader, ReplyIsNoCall) {
  const wire::Fault fault = fault_of<CallHeader>(from_hex("00000001 00000001 00000000"));
  EXPECT_EQ(fault.code, FaultCode::bad_enum);
  EXPECT_EQ(fault.offset, 4u);
  EXPECT_EQ(fault.field, "msg_type");
}

TEST(CallHeader, AuthBodyLimit) {
  CallHeader call;
  const Bytes body(kMostAuthOctets + 1);
  call.credential = {AuthFlavor::AUTH_SYS, View{body}.first(kMostAuthOctets)};
  EXPECT_FALSE(fault_of<CallHeader>(encoded(call)));
  call.credential.body = body;
  const wire::Fault fault = fault_of<CallHeader>(encoded(call));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 28u);
}

RC_GTEST_PROP(CallHeader, RoundTrip, ()) {
  testing::Arena arena;
  CallHeader call;
  call.xid = *rc::gen::arbitrary<std::uint32_t>();
  call.program = *rc::gen::arbitrary<std::uint32_t>();
  call.version = *rc::gen::arbitrary<std::uint32_t>();
  call.procedure = *rc::gen::arbitrary<std::uint32_t>();
  call.credential = {testing::any<AuthFlavor>(arena), testing::any_octets(arena, kMostAuthOctets)};
  call.verifier = {testing::any<AuthFlavor>(arena), testing::any_octets(arena, kMostAuthOctets)};
  testing::check_codec<CallHeader>(encoded(call));
}

struct ReplyExample {
  const char* name;
  ReplyHeader header;
  const char* octets;
};

class ReplyExamples : public ::testing::TestWithParam<ReplyExample> {};

TEST_P(ReplyExamples, EncodesAndDecodes) {
  const ReplyExample& example = GetParam();
  EXPECT_EQ(to_hex(encoded(example.header)), example.octets);
  const Bytes octets = from_hex(example.octets);
  wire::Reader reader(octets);
  ReplyHeader back;
  back.decode(reader);
  ASSERT_TRUE(reader.ok()) << reader.fault().message();
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_EQ(back.xid, 9u);
  EXPECT_EQ(back.status, example.header.status);
  EXPECT_EQ(back.accept_status, example.header.accept_status);
  EXPECT_EQ(back.reject_status, example.header.reject_status);
  EXPECT_EQ(back.auth_status, example.header.auth_status);
  EXPECT_EQ(back.mismatch.low, example.header.mismatch.low);
  EXPECT_EQ(back.mismatch.high, example.header.mismatch.high);
}

INSTANTIATE_TEST_SUITE_P(
    Rfc5531, ReplyExamples,
    ::testing::Values(
        ReplyExample{"SUCCESS", ReplyHeader::accepted(9, AcceptStatus::SUCCESS),
                     "00000009 00000001 00000000 00000000 00000000 00000000"},
        ReplyExample{"GARBAGE_ARGS", ReplyHeader::accepted(9, AcceptStatus::GARBAGE_ARGS),
                     "00000009 00000001 00000000 00000000 00000000 00000004"},
        ReplyExample{"PROG_MISMATCH", ReplyHeader::program_mismatch(9, {2, 4}),
                     "00000009 00000001 00000000 00000000 00000000 00000002 00000002 00000004"},
        ReplyExample{"RPC_MISMATCH", ReplyHeader::rpc_mismatch(9, {2, 2}),
                     "00000009 00000001 00000001 00000000 00000002 00000002"},
        ReplyExample{"AUTH_ERROR", ReplyHeader::auth_error(9, AuthStatus::AUTH_TOOWEAK),
                     "00000009 00000001 00000001 00000001 00000005"}),
    [](const auto& test) { return std::string(test.param.name); });

struct ReplyFault {
  const char* name;
  const char* octets;
  std::size_t offset;
  const char* field;
};

class ReplyFaults : public ::testing::TestWithParam<ReplyFault> {};

TEST_P(ReplyFaults, BadEnumAtItsPlace) {
  const wire::Fault fault = fault_of<ReplyHeader>(from_hex(GetParam().octets));
  EXPECT_EQ(fault.code, FaultCode::bad_enum);
  EXPECT_EQ(fault.offset, GetParam().offset);
  EXPECT_EQ(fault.field, GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Rfc5531, ReplyFaults,
    ::testing::Values(
        ReplyFault{"call", "00000009 00000000 00000000 00000000 00000000 00000000", 4, "msg_type"},
        ReplyFault{"reply_stat", "00000009 00000001 00000002", 8, "reply_stat"},
        ReplyFault{"accept_stat", "00000009 00000001 00000000 00000000 00000000 00000006", 20,
                   "accept_stat"},
        ReplyFault{"reject_stat", "00000009 00000001 00000001 00000002", 12, "reject_stat"},
        ReplyFault{"auth_stat", "00000009 00000001 00000001 00000001 0000000f", 16, "auth_stat"}),
    [](const auto& test) { return std::string(test.param.name); });

RC_GTEST_PROP(ReplyHeader, RoundTrip, ()) {
  testing::Arena arena;
  ReplyHeader reply;
  reply.xid = *rc::gen::arbitrary<std::uint32_t>();
  reply.status = testing::any<ReplyStatus>(arena);
  reply.verifier = {testing::any<AuthFlavor>(arena), testing::any_octets(arena, kMostAuthOctets)};
  reply.accept_status = testing::any<AcceptStatus>(arena);
  reply.reject_status = testing::any<RejectStatus>(arena);
  reply.auth_status = testing::any<AuthStatus>(arena);
  reply.mismatch = {*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint32_t>()};
  testing::check_codec<ReplyHeader>(encoded(reply));
}

TEST(ReplyHeader, OnlySuccessHasResults) {
  EXPECT_TRUE(ReplyHeader::accepted(1, AcceptStatus::SUCCESS).success());
  EXPECT_FALSE(ReplyHeader::accepted(1, AcceptStatus::SYSTEM_ERR).success());
  EXPECT_FALSE(ReplyHeader::auth_error(1, AuthStatus::AUTH_BADCRED).success());
}

}  // namespace
}  // namespace steertag::rpc
