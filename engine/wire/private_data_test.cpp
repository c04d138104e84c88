// CM private data: the worked examples, the search, other octets, and negotiation.
#include "wire/private_data.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::from_hex;
using testing::to_hex;

std::string built(const PrivateData& data) {
  Bytes out;
  encode(data, out);
  return to_hex(out);
}

TEST(PrivateDataEncode, WorkedExamples) {
  EXPECT_EQ(built({true, 4096, 4096}), "f6ab0e18 01010303");
  EXPECT_EQ(built({false, 4096, 4096}), "f6ab0e18 01000303");
  EXPECT_EQ(built({}), "f6ab0e18 01000000");
  EXPECT_EQ(built({false, 262144, 1024}), "f6ab0e18 0100ff00");
}

TEST(PrivateDataEncode, DraftHoldsAnyOctets) {
  Bytes out;
  encode(PrivateDataDraft{0x180eabf6, 255, 0xfe, 0xff, 0x00}, out);
  EXPECT_EQ(to_hex(out), "180eabf6 fffeff00");
}

TEST(PrivateDataFind, WorkedExamples) {
  const auto client = find_private_data(from_hex("f6ab0e18 01010303"));
  ASSERT_TRUE(client);
  EXPECT_EQ(client->offset, 0u);
  EXPECT_EQ(client->data, (PrivateData{true, 4096, 4096}));
  const auto behind_ird = find_private_data(from_hex("00100010 f6ab0e18 01000303"));
  ASSERT_TRUE(behind_ird);
  EXPECT_EQ(behind_ird->offset, 4u);
  EXPECT_EQ(behind_ird->data, (PrivateData{false, 4096, 4096}));
}

TEST(PrivateDataFind, ReservedBitsAreIgnored) {
  const auto found = find_private_data(from_hex("f6ab0e18 01fe0003"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->raw_flags, 0xfe);
  EXPECT_EQ(found->data, (PrivateData{false, 1024, 4096}));
}

TEST(PrivateDataFind, NothingInWhatIsNoPrivateData) {
  for (const char* hex : {"", "f6ab0e18", "f6ab0e18 010103", "180eabf6 01010303",
                          "f6ab0e19 01010303", "f6ab0e18 00010303", "f6ab0e18 02010303",
                          "f6ab0e18 ff010303", "00000000 00000000 f6ab0e18"}) {
    EXPECT_FALSE(find_private_data(from_hex(hex))) << hex;
  }
}

TEST(PrivateDataFind, AnIdentifierOfAnotherVersionDoesNotHideALaterOne) {
  const auto found = find_private_data(from_hex("f6ab0e18 02010303 f6ab0e18 01000707"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 8u);
  EXPECT_EQ(found->data.send_bytes, 8192u);
}

TEST(PrivateDataFind, TheFirstOfTwoCounts) {
  const auto found = find_private_data(from_hex("f6ab0e18 01000303 f6ab0e18 01000707"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offset, 0u);
}

TEST(PrivateDataFind, AnIdentifierIsFoundWhateverFollows) {
  const Bytes buffer = from_hex("00 f6ab0e18 02010303 f6ab0e18");
  EXPECT_EQ(find_private_data_identifier(buffer), 1u);
  EXPECT_EQ(find_private_data_identifier(buffer, 2), 9u);
  EXPECT_EQ(find_private_data_identifier(buffer, 10), std::nullopt);
  EXPECT_EQ(find_private_data_identifier(buffer, 100), std::nullopt);
  EXPECT_EQ(find_private_data_identifier(from_hex("f6ab0e")), std::nullopt);
}

TEST(PrivateDataSize, EncodingRoundsDownAndStaysInRange) {
  EXPECT_EQ(encode_size(0), 0);
  EXPECT_EQ(encode_size(1023), 0);
  EXPECT_EQ(encode_size(1500), 0);
  EXPECT_EQ(encode_size(2047), 0);
  EXPECT_EQ(encode_size(2048), 1);
  EXPECT_EQ(encode_size(262144), 255);
  EXPECT_EQ(encode_size(0xffffffff), 255);
  EXPECT_EQ(decode_size(255), 262144u);
}

TEST(PrivateDataNegotiate, TakesTheSmallerOfEachDirection) {
  const Negotiated result =
      negotiate(PrivateData{true, 4096, 8192}, PrivateData{true, 16384, 2048});
  EXPECT_EQ(result.to_server_bytes, 2048u);
  EXPECT_EQ(result.to_client_bytes, 8192u);
  EXPECT_TRUE(result.remote_invalidation);
}

TEST(PrivateDataNegotiate, SilenceMeansTheDefaults) {
  for (const auto& [client, server] :
       {std::pair<std::optional<PrivateData>, std::optional<PrivateData>>{},
        {PrivateData{true, 4096, 4096}, std::nullopt},
        {std::nullopt, PrivateData{true, 4096, 4096}}}) {
    const Negotiated result = negotiate(client, server);
    EXPECT_EQ(result.to_server_bytes, 1024u);
    EXPECT_EQ(result.to_client_bytes, 1024u);
    EXPECT_FALSE(result.remote_invalidation);
  }
}

RC_GTEST_PROP(PrivateDataProperty, FoundAtAnyOffset, ()) {
  const auto prefix = *rc::gen::inRange<std::size_t>(0, 40);
  const auto suffix = *rc::gen::inRange<std::size_t>(0, 40);
  PrivateData data;
  data.remote_invalidation = *rc::gen::arbitrary<bool>();
  data.send_bytes = decode_size(*rc::gen::arbitrary<std::uint8_t>());
  data.receive_bytes = decode_size(*rc::gen::arbitrary<std::uint8_t>());
  Bytes buffer(prefix, std::byte{0xf6});
  encode(data, buffer);
  buffer.resize(buffer.size() + suffix);
  const auto found = find_private_data(buffer);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->offset == prefix);
  RC_ASSERT(found->data == data);
}

RC_GTEST_PROP(PrivateDataProperty, NeverFoundWhenCut, ()) {
  const auto prefix = *rc::gen::inRange<std::size_t>(0, 40);
  Bytes buffer(prefix, std::byte{0});
  encode(PrivateData{}, buffer);
  buffer.resize(prefix + *rc::gen::inRange<std::size_t>(0, kPrivateDataBytes));
  RC_ASSERT(!find_private_data(buffer));
}

}  // namespace
}  // namespace steertag::wire
