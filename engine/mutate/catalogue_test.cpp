// The catalogue of variants: the promise of every group, checked with the strict decoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "mutate/catalogue.h"
#include "mutate/flood.h"
#include "mutate/truncation.h"
#include "wire/describe.h"
#include "wire/testing.h"

namespace steertag::mutate {
namespace {

using wire::testing::encoded;
using wire::testing::from_hex;
using wire::testing::to_hex;

/// A call with every list: two read chunks, two write chunks, a reply chunk, an RPC call header.
wire::Draft full_call() {
  wire::Header header;
  header.xid = 0x12345678;
  header.credit = 32;
  header.read_list = {{0x60, {0xaabbcc01, 4096, 0x00007f0000001000}},
                      {0x60, {0xaabbcc02, 5, 0x00007f0000055003}},
                      {0x107c, {0xaabbcc03, 9, 0x00007f0000070000}}};
  header.write_list.add(std::vector<wire::Segment>{{0xaabbcc11, 4096, 0x00007f0000100000},
                                                   {0xaabbcc12, 2048, 0x00007f0000200000}});
  header.write_list.add(std::vector<wire::Segment>{{0xaabbcc13, 1024, 0x00007f0000300000}});
  header.has_reply_chunk = true;
  header.reply_chunk = {{0xaabbcc14, 8192, 0x00007f0000400000}};
  return wire::Draft::from(header, from_hex("12345678 00000000 00000002 000186a3"));
}

const Variant* find(const std::vector<Variant>& variants, std::string_view name) {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& each) { return each.name == name; });
  return found == variants.end() ? nullptr : &*found;
}

wire::FaultCode fault_code(const wire::Draft& draft) {
  wire::Header header;
  const Bytes message = encoded(draft);
  const Expected<View, wire::Fault> decoded = wire::decode(message, header);
  return decoded ? wire::FaultCode::none : decoded.error().code;
}

TEST(Catalogue, NamesAreUniqueAndEveryVariantDiffersFromTheLegalMessage) {
  const wire::Draft draft = full_call();
  const Bytes legal = encoded(draft);
  std::set<std::string> names;
  for (const Variant& each : generate_all(draft)) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name << " is there twice";
    if (!each.name.starts_with("credit.")) {
      EXPECT_NE(to_hex(encoded(each.draft)), to_hex(legal)) << each.name << " changes nothing";
    }
  }
  EXPECT_GT(names.size(), 300u);
}

TEST(Catalogue, IsDeterministic) {
  const std::vector<Variant> first = generate_all(full_call());
  const std::vector<Variant> second = generate_all(full_call());
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_EQ(first[i].draft, second[i].draft) << first[i].name;
  }
}

TEST(Catalogue, NamesArePermanent) {
  std::vector<std::string> names;
  for (const Variant& each : generate_all(full_call())) names.push_back(each.name);
  for (const char* name : {"cut-before.rdma_credit",
                           "cut-inside.write-list-offset.2",
                           "cut-at.27",
                           "without.read-list-position",
                           "twice.rdma_xid",
                           "version.2",
                           "version.0xffffffff",
                           "version.2-garbage-body",
                           "procedure.5",
                           "procedure.0x7fffffff",
                           "procedure.msgp",
                           "procedure.done",
                           "procedure.error-err-vers",
                           "procedure.nomsg-no-chunk",
                           "credit.0",
                           "xid.differs-from-rpc",
                           "read-list.presence-2",
                           "write-list.end-presence-0xffffffff",
                           "reply-chunk.presence-2",
                           "write-chunk.count-0x10000000",
                           "write-chunk-2.count-plus-1",
                           "reply-chunk.count-0xffffffff",
                           "write-chunk.count-minus-1",
                           "read-list.missing-body",
                           "read-list.interleaved",
                           "read-list.position-plus-1",
                           "read-list.positions-advance",
                           "read-list.length-0xffffffff",
                           "write-chunk.offset-wraps"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

TEST(Catalogue, KnowsItsGroupsByName) {
  EXPECT_TRUE(generate("no such group", full_call()).empty());
  for (const Group& each : groups()) {
    EXPECT_FALSE(generate(each.name, full_call()).empty()) << each.name;
  }
}

TEST(Catalogue, ExpectationsFollowTheErrorRules) {
  const std::vector<Variant> all = generate_all(full_call());
  const std::pair<const char*, const char*> expected[] = {
      {"cut-inside.rdma_xid", "discard"},
      {"cut-at.27", "discard"},
      {"cut-before.write-list-count", "ERR_CHUNK"},
      {"version.0", "ERR_VERS"},
      {"version.2-garbage-body", "ERR_VERS"},
      {"version.2-short", "discard"},
      {"procedure.5", "ERR_CHUNK"},
      {"procedure.msgp", "ERR_CHUNK"},
      {"procedure.done", "discard"},
      {"procedure.done-28-octets", "discard"},
      {"procedure.error-err-chunk", "discard"},
      {"procedure.error-unknown-code", "discard"},
      {"procedure.nomsg-no-chunk", "ERR_CHUNK"},
      {"credit.0xffffffff", "reply"},
      {"read-list.position-plus-2", "ERR_CHUNK"},
      {"read-list.position-plus-4", "refuse"},
      {"reply-chunk.presence-2", "ERR_CHUNK"},
  };
  for (const auto& [name, hint] : expected) {
    const Variant* const found = find(all, name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(mutate::name(found->expectation), hint) << name;
  }
}

TEST(Presence, EveryVariantIsABadBoolean) {
  for (const Variant& each : generate("presence", full_call())) {
    EXPECT_EQ(fault_code(each.draft), wire::FaultCode::bad_boolean)
        << each.name << "\n"
        << wire::describe(encoded(each.draft));
  }
}

TEST(Count, HugeCountsAreBadCounts) {
  for (const Variant& each : generate("count", full_call())) {
    if (each.name.find("count-0x") == std::string::npos) continue;
    EXPECT_EQ(fault_code(each.draft), wire::FaultCode::bad_count) << each.name;
  }
}

TEST(Position, UnalignedOnesAreBadPositions) {
  for (const char* name : {"read-list.position-plus-1", "read-list.position-plus-2",
                           "read-list.position-plus-3", "read-list.position-0xffffffff"}) {
    const std::vector<Variant> variants = generate("position", full_call());
    const Variant* const found = find(variants, name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(fault_code(found->draft), wire::FaultCode::bad_position) << name;
  }
}

TEST(Field, WithoutAWordIsShorterByIt) {
  const wire::Draft draft = full_call();
  const std::vector<Variant> variants = generate("field", draft);
  const Variant* const without = find(variants, "without.read-list-offset.2");
  ASSERT_NE(without, nullptr);
  EXPECT_EQ(encoded(without->draft).size() + 8, encoded(draft).size());
  const Variant* const twice = find(variants, "twice.rdma_xid");
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(to_hex(View(encoded(twice->draft)).first(12)), "12345678 12345678 00000001");
}

TEST(Flood, FillsTheThresholdAndStillDecodes) {
  constexpr std::size_t kInlineBytes = 4096;
  const std::vector<Variant> variants = floods(full_call(), kInlineBytes);
  ASSERT_EQ(variants.size(), 5u);
  for (const Variant& each : variants) {
    const std::size_t size = encoded(each.draft).size();
    EXPECT_LE(size, kInlineBytes) << each.name;
    EXPECT_GT(size + 24, kInlineBytes) << each.name;
    EXPECT_EQ(fault_code(each.draft), wire::FaultCode::none) << each.name;
  }
  EXPECT_TRUE(floods(full_call(), 100).empty());
}

RC_GTEST_PROP(TruncationProperty, EveryCutOfTheHeaderIsAFault, (const wire::Header& header)) {
  const wire::Draft draft = wire::Draft::from(header, {});
  for (const Variant& each : truncations_everywhere(draft)) {
    RC_ASSERT(fault_code(each.draft) != wire::FaultCode::none);
  }
}

RC_GTEST_PROP(CatalogueProperty, AnyLegalMessageCanBeMutated, (const wire::Header& header)) {
  const wire::Draft draft = wire::Draft::from(header, wire::testing::any_payload(header));
  std::set<std::string> names;
  for (const Variant& each : generate_all(draft)) RC_ASSERT(names.insert(each.name).second);
}

}  // namespace
}  // namespace steertag::mutate
