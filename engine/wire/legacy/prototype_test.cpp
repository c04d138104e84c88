// The prototype's header: octets worked by hand, each fault, and round trips.
#include "wire/legacy/prototype.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/legacy/dialect.h"
#include "wire/testing.h"

namespace steertag::wire {
namespace {

using testing::from_hex;
using testing::to_hex;

/// One example: the header's octets, the RPC message after it, and their meaning.
struct Example {
  std::string_view name;
  std::string_view header_hex;
  std::string_view payload_hex;
  PrototypeHeader header;
};

PrototypeHeader message(std::vector<PrototypeChunk> chunks) {
  return {.xid = 0x12345678, .chunks = std::move(chunks)};
}

std::vector<Example> examples() {
  PrototypeHeader done = message({});
  done.type = PrototypeType::done;
  return {
      // xid, version, type 0; no list
      {"NoChunks", "12345678 00000001 00000000  00000000", "12345678 00000000 00000002",
       message({})},
      // presence, offset 96, 4101 octets, handle, address; the end
      {"OneChunk",
       "12345678 00000001 00000000  00000001 00000060 00001005 aabbcc01 00007f00 00001000  "
       "00000000",
       "12345678 00000000 00000002", message({{96, 4101, 0xaabbcc01, 0x00007f0000001000}})},
      // two parts of one item at 96, then one after it: 96 + 4104 + 20
      {"ThreeChunks",
       "12345678 00000001 00000000"
       "00000001 00000060 00001000 aabbcc01 00007f00 00001000"
       "00000001 00000060 00000005 aabbcc02 00007f00 00055003"
       "00000001 0000107c 00000009 aabbcc03 00007f00 00070000 00000000",
       "12345678 00000001",
       message({{96, 4096, 0xaabbcc01, 0x00007f0000001000},
                {96, 5, 0xaabbcc02, 0x00007f0000055003},
                {0x107c, 9, 0xaabbcc03, 0x00007f0000070000}})},
      // offset zero first: the RPC message of 1500 octets, and a chunk of it
      {"LongMessage",
       "12345678 00000001 00000000"
       "00000001 00000000 000005dc aabbcc04 00007f00 00060000"
       "00000001 00000060 00001000 aabbcc01 00007f00 00001000 00000000",
       "",
       message({{0, 1500, 0xaabbcc04, 0x00007f0000060000},
                {96, 4096, 0xaabbcc01, 0x00007f0000001000}})},
      {"Done", "12345678 00000001 00000001", "", done},
  };
}

void PrintTo(const Example& example, std::ostream* out) {
  *out << example.name;
}

class PrototypeExamples : public ::testing::TestWithParam<Example> {};

TEST_P(PrototypeExamples, DecodeGivesTheHeaderAndTheRpcMessage) {
  const Example& example = GetParam();
  const Bytes octets = from_hex(std::string(example.header_hex) + std::string(example.payload_hex));
  PrototypeHeader header;
  header.chunks.resize(3);  // nothing of an earlier message stays
  const auto payload = decode(octets, header);
  ASSERT_TRUE(payload) << payload.error().message();
  EXPECT_EQ(header, example.header);
  EXPECT_EQ(to_hex(*payload), to_hex(from_hex(example.payload_hex)));
}

TEST_P(PrototypeExamples, EncodeGivesTheOctets) {
  const Example& example = GetParam();
  Bytes out = from_hex("ffffffff");
  encode(example.header, out);
  EXPECT_EQ(to_hex(View(out).subspan(4)), to_hex(from_hex(example.header_hex)));
  EXPECT_EQ(encoded_size(example.header), out.size() - 4);
}

INSTANTIATE_TEST_SUITE_P(Wire, PrototypeExamples, ::testing::ValuesIn(examples()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Prototype, IsLongByTheOffsetOfItsFirstChunk) {
  EXPECT_FALSE(message({}).is_long());
  EXPECT_FALSE((message({{4, 1, 2, 3}}).is_long()));
  EXPECT_TRUE((message({{0, 1, 2, 3}, {4, 1, 2, 3}}).is_long()));
}

struct Faulty {
  std::string_view hex;
  FaultCode code;
  std::size_t offset;
  std::string_view field;
};

TEST(Prototype, NamesEachFaultWithItsPlace) {
  const std::vector<Faulty> all = {
      {"", FaultCode::truncated, 0, "prototype xid"},
      {"12345678 000000", FaultCode::truncated, 4, "prototype version"},
      {"12345678 00000001", FaultCode::truncated, 8, "prototype type"},
      // RFC 8166's credit word at the place of the type
      {"12345678 00000001 00000020 00000000", FaultCode::bad_enum, 8, "prototype type"},
      {"12345678 00000001 00000000", FaultCode::truncated, 12, "chunk list presence"},
      {"12345678 00000001 00000000 00000002", FaultCode::bad_boolean, 12, "chunk list presence"},
      {"12345678 00000001 00000000 00000001 00000060 00001000 aabbcc01 00007f00",
       FaultCode::truncated, 28, "chunk list address"},
      // 96, then 92
      {"12345678 00000001 00000000 00000001 00000060 00001000 aabbcc01 00007f00 00001000"
       "00000001 0000005c 00001000 aabbcc01 00007f00 00001000 00000000",
       FaultCode::bad_order, 40, "chunk list XDR offset"},
      // 96, then 0
      {"12345678 00000001 00000000 00000001 00000060 00001000 aabbcc01 00007f00 00001000"
       "00000001 00000000 00001000 aabbcc01 00007f00 00001000 00000000",
       FaultCode::position_zero_not_first, 40, "chunk list XDR offset"},
      // an RPC message after a long message's list
      {"12345678 00000001 00000000 00000001 00000000 000005dc aabbcc04 00007f00 00060000"
       "00000000 12345678 00000000",
       FaultCode::trailing_bytes, 40, "payload stream"},
      // a done message of RFC 5666's length
      {"12345678 00000001 00000001 00000000", FaultCode::trailing_bytes, 12, "payload stream"},
  };
  for (const Faulty& each : all) {
    SCOPED_TRACE(each.hex);
    const Bytes octets = from_hex(each.hex);
    PrototypeHeader header;
    const auto payload = decode(octets, header);
    ASSERT_FALSE(payload);
    EXPECT_EQ(code_name(payload.error().code), code_name(each.code));
    EXPECT_EQ(payload.error().offset, each.offset);
    EXPECT_EQ(payload.error().field, each.field);
  }
}

TEST(Prototype, TakesNoMoreChunksThanTheLimit) {
  PrototypeHeader header = message(std::vector<PrototypeChunk>(kMostPrototypeChunks + 1, {4, 1}));
  Bytes octets;
  encode(header, octets);
  const auto payload = decode(octets, header);
  ASSERT_FALSE(payload);
  EXPECT_EQ(payload.error().code, FaultCode::limit_exceeded);
  EXPECT_EQ(header.chunks.size(), kMostPrototypeChunks);
}

TEST(PrototypeText, NamesEveryField) {
  EXPECT_EQ(describe(from_hex("12345678 00000001 00000000 00000001 00000060 00001000 aabbcc01"
                              "00007f00 00001000 00000000 12345678"),
                     Dialect::prototype),
            "prototype message xid 0x12345678 version 1\n"
            "chunk list\n"
            "  offset 96: length 4096 handle 0xaabbcc01 address 0x00007f0000001000\n"
            "payload stream 4 octets\n"
            "  0x0028  12345678\n");
  EXPECT_EQ(describe(from_hex("12345678 00000001 00000001"), Dialect::prototype),
            "prototype done xid 0x12345678 version 1\n");
  EXPECT_EQ(describe(from_hex("12345678 00000001"), Dialect::prototype),
            "no prototype header in 8 octets\n  0x0000  12345678 00000001\n");
}

TEST(PrototypeText, ShowsTheFaultAndTheRest) {
  EXPECT_EQ(describe(from_hex("12345678 00000001 00000000 00000001 00000000 000005dc aabbcc04"
                              "00007f00 00060000 00000000 12345678"),
                     Dialect::prototype),
            "prototype long message xid 0x12345678 version 1\n"
            "chunk list\n"
            "  offset 0: length 1500 handle 0xaabbcc04 address 0x00007f0000060000\n"
            "fault at offset 40, payload stream: octets follow where the message must end\n"
            "not decoded 4 octets\n"
            "  0x0028  12345678\n");
}

/// A legal message: offsets ascend, and only the first may be zero.
PrototypeHeader any_prototype_header() {
  PrototypeHeader header;
  header.xid = *rc::gen::arbitrary<std::uint32_t>();
  header.vers = *rc::gen::arbitrary<std::uint32_t>();
  if (*rc::gen::arbitrary<bool>()) {
    header.type = PrototypeType::done;
    return header;
  }
  std::uint32_t offset = 0;
  for (const Segment& each : testing::any_chunk()) {
    offset += *rc::gen::inRange<std::uint32_t>(header.chunks.empty() ? 0 : 1, 1u << 20);
    header.chunks.push_back({offset, each.length, each.handle, each.offset});
  }
  return header;
}

RC_GTEST_PROP(PrototypeProperty, LegalMessagesSurviveARoundTrip, ()) {
  const PrototypeHeader header = any_prototype_header();
  const bool carries = header.type == PrototypeType::message && !header.is_long();
  const Bytes payload = carries ? testing::any_bytes(60) : Bytes{};
  Bytes octets;
  encode(header, octets);
  RC_ASSERT(octets.size() == encoded_size(header));
  octets.insert(octets.end(), payload.begin(), payload.end());
  PrototypeHeader again;
  const auto rest = decode(octets, again);
  RC_ASSERT(rest.has_value());
  RC_ASSERT(again == header);
  RC_ASSERT(to_hex(*rest) == to_hex(payload));
}

RC_GTEST_PROP(PrototypeProperty, AnyCutInTheHeaderIsAFaultAtTheCut, ()) {
  const PrototypeHeader header = any_prototype_header();
  Bytes octets;
  encode(header, octets);
  const auto length = *rc::gen::inRange<std::size_t>(0, octets.size());
  PrototypeHeader again;
  const auto payload = decode(View(octets).first(length), again);
  RC_ASSERT(!payload.has_value());
  RC_ASSERT(payload.error().code == FaultCode::truncated);
  RC_ASSERT(payload.error().offset <= length);
}

}  // namespace
}  // namespace steertag::wire
