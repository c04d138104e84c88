// The additions of RFC 5666 and RFC 5667: hand-written octets and arithmetic.
//
// RFC 8166 refuses them.
#include "wire/legacy/rfc5666.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/describe.h"
#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::encoded;
using testing::from_hex;
using testing::to_hex;

Header decoded(std::string_view hex, std::string_view payload_hex = {}) {
  const Bytes octets = from_hex(hex);
  Header header;
  const auto payload = decode(octets, header, Document::rfc5666);
  EXPECT_TRUE(payload) << payload.error().message();
  if (!payload) return header;
  EXPECT_EQ(to_hex(*payload), to_hex(from_hex(payload_hex)));
  // A payload stream after it is no part of the header.
  const View head = View(octets).first(octets.size() - from_hex(payload_hex).size());
  EXPECT_EQ(to_hex(encoded(header)), to_hex(head));
  EXPECT_EQ(encoded_size(header), head.size());
  return header;
}

FaultCode fault_of(std::string_view hex, Document document) {
  const Bytes octets = from_hex(hex);
  Header header;
  const auto payload = decode(octets, header, document);
  return payload ? FaultCode::none : payload.error().code;
}

TEST(Rfc5666, DoneHasTheFixedWordsAlone) {
  constexpr std::string_view kDone = "12345678 00000001 00000020 00000003";
  EXPECT_EQ(decoded(kDone).proc, Procedure::done);
  EXPECT_EQ(from_hex(kDone).size(), kDoneBytes);
  EXPECT_EQ(fault_of(kDone, Document::rfc8166), FaultCode::too_short);
  constexpr std::string_view kLonger = "12345678 00000001 00000020 00000003 00000000";
  EXPECT_EQ(fault_of(kLonger, Document::rfc5666), FaultCode::trailing_bytes);
}

// RFC 5666 4.3: eight words after an undefined code.
constexpr std::string_view kOtherError =
    "12345678 00000001 00000020 00000004 00000003"
    "00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008";

TEST(Rfc5666, OtherErrorsBringEightWords) {
  const Header header = decoded(kOtherError);
  EXPECT_EQ(header.proc, Procedure::error);
  EXPECT_EQ(static_cast<std::uint32_t>(header.error), 3u);
  EXPECT_EQ(header.extra, (std::array<std::uint32_t, 8>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(from_hex(kOtherError).size(), kOtherErrorBytes);
  EXPECT_EQ(kOtherErrorBytes, 52u);
  EXPECT_EQ(fault_of(kOtherError, Document::rfc8166), FaultCode::bad_error_code);
}

TEST(Rfc5666, OtherErrorsWithAnotherNumberOfWordsAreFaulty) {
  const std::string text(kOtherError);
  const std::string_view shorter = std::string_view(text).substr(0, text.size() - 9);
  EXPECT_EQ(fault_of(shorter, Document::rfc5666), FaultCode::truncated);
  EXPECT_EQ(fault_of(text + " 00000009", Document::rfc5666), FaultCode::trailing_bytes);
}

TEST(Rfc5666, DraftsKeepTheEightWords) {
  const Bytes octets = from_hex(kOtherError);
  EXPECT_EQ(to_hex(encoded(draft_of(octets))), to_hex(octets));
  EXPECT_EQ(to_hex(encoded(Draft::from(decoded(kOtherError), {}))), to_hex(octets));
}

TEST(Rfc5666, DescribesTheEightWords) {
  const std::string text = describe(from_hex(kOtherError), Document::rfc5666);
  EXPECT_EQ(text,
            "RDMA_ERROR xid 0x12345678 vers 1 credit 32\n"
            "rdma_err 3\n"
            "rdma_extra 32 octets\n"
            "  0x0014  00000001 00000002 00000003 00000004\n"
            "  0x0024  00000005 00000006 00000007 00000008\n");
  EXPECT_NE(describe(from_hex(kOtherError)).find("fault at offset 16"), std::string::npos);
}

TEST(Rfc5666, ErrVersHasAnyVersionAndOtherErrorsVersionOne) {
  EXPECT_EQ(decoded("12345678 00000007 00000020 00000004 00000001 00000001 00000001").vers, 7u);
  EXPECT_EQ(
      fault_of("12345678 00000007 00000020 00000004 00000002 00000000 00000000", Document::rfc5666),
      FaultCode::bad_version);
}

TEST(Rfc5666, RepliesMayHaveReadChunks) {
  const Header header = decoded(
      "12345678 00000001 00000000 00000000"
      "00000001 00000020 aabbcc01 00001000 00007f00 00001000 00000000 00000000 00000000"
      "12345678 00000001",
      "12345678 00000001");
  ASSERT_EQ(header.read_list.size(), 1u);
  EXPECT_EQ(header.credit, 0u);
}

TEST(Rfc5666, PositionsOfRoundupAreNotAligned) {
  // The three octets of roundup after an item of 5 at 96, as a chunk of their own.
  constexpr std::string_view kRoundup =
      "12345678 00000001 00000020 00000000"
      "00000001 00000060 aabbcc01 00000005 00007f00 00001000"
      "00000001 00000065 aabbcc02 00000003 00007f00 00002000 00000000 00000000 00000000";
  EXPECT_EQ(decoded(kRoundup).read_list.back().position, 101u);
  EXPECT_EQ(fault_of(kRoundup, Document::rfc8166), FaultCode::bad_position);
}

TEST(Rfc5666, ShortMessagesAreFaultyWhereTheyEnd) {
  EXPECT_EQ(fault_of("12345678 00000001 00000020 00000000 00000000", Document::rfc5666),
            FaultCode::truncated);
  EXPECT_EQ(fault_of("12345678 00000001 00000020", Document::rfc5666), FaultCode::too_short);
}

RC_GTEST_PROP(Rfc5666Property, HasEveryMessageOfRfc8166, ()) {
  const Header header = testing::any_legal_header();
  const Bytes octets = testing::joined(encoded(header), testing::any_payload(header));
  Header first;
  Header second;
  const auto later = decode(octets, first);
  const auto earlier = decode(octets, second, Document::rfc5666);
  RC_ASSERT(later.has_value() && earlier.has_value());
  RC_ASSERT(first == second);
  RC_ASSERT(to_hex(*later) == to_hex(*earlier));
}

TEST(MsgpPadding, MovesTheDataToTheNextBoundary) {
  EXPECT_EQ(msgp_padding(4096, 1024, 136, 8192), 3960u);
  EXPECT_EQ(msgp_padding(64, 32, 128, 64), 0u);
  EXPECT_EQ(msgp_padding(64, 32, 132, 64), 60u);
  EXPECT_EQ(msgp_padding(3, 1, 100, 5), 2u);  // no power of two: taken as it is
}

TEST(MsgpPadding, BeginsAtTheThreshold) {
  EXPECT_EQ(msgp_padding(64, 32, 100, 31), 0u);
  EXPECT_EQ(msgp_padding(64, 32, 100, 32), 28u);
}

TEST(MsgpPadding, OfNoAlignmentIsNothing) {
  EXPECT_EQ(msgp_padding(0, 0, 100, 1000), 0u);
}

TEST(ReturnedLength, IsTheItemsOrHasItsRoundup) {
  EXPECT_TRUE(is_returned_length(5, 5));
  EXPECT_TRUE(is_returned_length(8, 5));
  EXPECT_FALSE(is_returned_length(6, 5));
  EXPECT_FALSE(is_returned_length(4, 5));
  EXPECT_FALSE(is_returned_length(12, 8));
}

TEST(AsksForInline, WithoutAnySegmentOrOctet) {
  EXPECT_TRUE(asks_for_inline({}));
  EXPECT_TRUE(asks_for_inline(std::vector<Segment>{{1, 0, 3}, {2, 0, 4}}));
  EXPECT_FALSE(asks_for_inline(std::vector<Segment>{{1, 0, 3}, {2, 1, 4}}));
}

}  // namespace
}  // namespace steertag::wire
