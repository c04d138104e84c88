// Tests of attributes: the table, worked octets, round trips, unknown numbers, truncation.
#include "nfs/v4/attribute_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::from_hex;
using rpc::testing::joined;
using rpc::testing::to_hex;
using wire::FaultCode;

Bitmap everything() {
  Bitmap all;
  for (const AttributeRow& row : attribute_rows()) all.set(row.number);
  return all;
}

TEST(Table, RequiredAreThoseOfRfc8881) {
  EXPECT_EQ(attributes_with(kRequired, 1),
            Bitmap::of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 19, 75}));
  EXPECT_EQ(attributes_with(kRequired, 0), Bitmap::of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 19}));
}

TEST(Table, WhatSetattrTakes) {
  EXPECT_EQ(attributes_with(kWrite, 0),
            Bitmap::of({4, 12, 14, 25, 32, 33, 36, 37, 46, 48, 49, 50, 54}));
  EXPECT_EQ(attributes_with(kWrite, 1), Bitmap::of({4,  12, 14, 25, 32, 33, 36, 37, 46, 48,
                                                    49, 50, 54, 58, 59, 63, 70, 72, 73, 74}));
}

TEST(Table, WhatALinuxClientReadsOfAFile) {
  // Type, change, size, fsid, fileid, mode, numlinks, owners, rawdev, space_used, times,
  // mounted_on_fileid.
  const Bitmap wanted = Bitmap::of({1, 3, 4, 8, 20, 33, 35, 36, 37, 41, 45, 47, 52, 53, 55});
  EXPECT_TRUE(wanted.without(attributes_with(kRead | kLinux, 0)).none());
}

TEST(Table, Names) {
  EXPECT_EQ(attribute_name(FATTR4_MOUNTED_ON_FILEID), "mounted_on_fileid");
  EXPECT_EQ(attribute_name(76), "fs_charset_cap");
  EXPECT_EQ(attribute_name(77), "");
}

TEST(EncodeAttributes, WorkedOctets) {
  Attributes attributes;
  attributes.type = FileType::NF4DIR;
  attributes.size = 0x100;
  attributes.mode = 0755;
  attributes.owner = "7";
  attributes.time_modify = Time{-1, 5};
  attributes.fileid = 9;
  Bytes octets;
  wire::Writer writer(octets);
  // Everything but fileid is wanted; numlinks is wanted and absent.
  const Bitmap encoded = encode_attributes(writer, attributes, Bitmap::of({1, 4, 33, 35, 36, 53}));
  EXPECT_EQ(encoded, Bitmap::of({1, 4, 33, 36, 53}));
  EXPECT_EQ(to_hex(octets), joined("00000002 00000012 00200012 00000024"
                                   "00000002 00000000 00000100 000001ed 00000001 37000000"
                                   "ffffffff ffffffff 00000005"));
}

TEST(Fattr, ValuesBeyondTheMessageAreTruncated) {
  const Bytes octets = from_hex("00000002 0008011a 00000030 00000058 00000001 00000000 00000007");
  wire::Reader reader(octets);
  Fattr fattr;
  fattr.decode(reader);
  EXPECT_EQ(reader.fault().code, FaultCode::truncated);
  EXPECT_EQ(reader.fault().offset, 16u);
  EXPECT_EQ(reader.fault().field, "attr_vals");
}

TEST(DecodeAttributes, EveryKindOfValue) {
  const Bytes values = from_hex(
      "00000002"                                                        // 1 type
      "00000000 00000007"                                               // 3 change
      "00000000 00000001 00000000 00000002"                             // 8 fsid
      "00000001 00000000 00000000 001200a9 00000006 4f574e45 52400000"  // 12 acl
      "00000004 fafafafa"                                               // 19 filehandle
      "00000001 00000000 00000005 00000006"                             // 48 time_access_set
      "00000000");                                                      // 54 time_modify_set
  const auto to = decode_attributes({Bitmap::of({1, 3, 8, 12, 19, 48, 54}), values}).value().known;
  EXPECT_EQ(to.type, FileType::NF4DIR);
  EXPECT_EQ(to.change, 7u);
  EXPECT_EQ(to.fsid, (Fsid{1, 2}));
  ASSERT_EQ(to.acl->size(), 1u);
  EXPECT_EQ(to.acl->front().access_mask, 0x1200a9u);
  EXPECT_EQ(to.acl->front().who, "OWNER@");
  EXPECT_EQ(to.filehandle->size(), 4u);
  EXPECT_EQ(to.time_access_set, (SetTime{TimeHow::SET_TO_CLIENT_TIME4, {5, 6}}));
  EXPECT_EQ(to.time_modify_set->set_it, TimeHow::SET_TO_SERVER_TIME4);
  EXPECT_FALSE(to.size);
}

TEST(DecodeAttributes, FaultsCountFromTheMessage) {
  const Bytes values = from_hex("00000000 00000009 0000000a");
  // fattr4 at 100, mask of two words, values at 116; type follows size.
  const auto to =
      decode_attributes({Bitmap::of({4, 33, 11}), values}, UnknownAttributes::refuse, 100);
  ASSERT_FALSE(to);
  EXPECT_EQ(to.error().code, FaultCode::bad_enum) << "rdattr_error 10";
  EXPECT_EQ(to.error().field, "rdattr_error");
  EXPECT_EQ(to.error().offset, 124u);
}

TEST(DecodeAttributes, UnknownNumberIsRefusedAtItsWord) {
  const auto to = decode_attributes({Bitmap::of({4, 81}), from_hex("00000000 00000009 00000000")},
                                    UnknownAttributes::refuse, 40);
  ASSERT_FALSE(to);
  EXPECT_EQ(to.error().code, FaultCode::bad_enum);
  EXPECT_EQ(to.error().field, "attrmask");
  EXPECT_EQ(to.error().offset, 40u + 4 + 8);
}

TEST(DecodeAttributes, UnknownNumberAndWhatFollowsAreKept) {
  const Bytes values = from_hex("00000000 00000009 aaaaaaaa bbbbbbbb");
  const auto to = decode_attributes({Bitmap::of({4, 80, 81}), values}, UnknownAttributes::keep);
  ASSERT_TRUE(to);
  EXPECT_EQ(to->known.size, 9u);
  EXPECT_EQ(to->rest_mask, Bitmap::of({80, 81}));
  EXPECT_EQ(to_hex(to->rest), "aaaaaaaa bbbbbbbb");
}

TEST(DecodeAttributes, OctetsAfterTheLastValueAreTrailing) {
  const auto to = decode_attributes({Bitmap::of({4}), from_hex("00000000 00000009 00000000")});
  ASSERT_FALSE(to);
  EXPECT_EQ(to.error().code, FaultCode::trailing_bytes);
  EXPECT_EQ(to.error().offset, 4u + 4 + 4 + 8);
  EXPECT_EQ(to.error().field, "attr_vals");
}

/// Attributes with a random half of the table set to random values.
Attributes any_attributes(rpc::testing::Arena& arena) {
  Attributes made;
  kAttributes.for_each([&]<class Value>(const Attribute<Value>& row) {
    made.*row.member = rpc::testing::any<std::optional<Value>>(arena, row.limit);
  });
  return made;
}

RC_GTEST_PROP(Attributes, RoundTripAndFaultWhenCut, ()) {
  rpc::testing::Arena arena;
  const Attributes attributes = any_attributes(arena);
  Bytes storage;
  const Fattr fattr = fattr_of(attributes, everything(), storage);
  const auto to = decode_attributes(fattr);
  RC_ASSERT(to.has_value());
  RC_ASSERT(present(to->known) == present(attributes));
  Bytes whole;
  wire::Writer writer(whole);
  encode_attributes(writer, to->known, everything());
  RC_ASSERT(whole == rpc::testing::encoded(fattr));
  for (std::size_t length = 0; length < storage.size(); ++length) {
    const auto cut = decode_attributes({fattr.attrmask, View{storage}.first(length)});
    RC_ASSERT(!cut.has_value());
    RC_ASSERT(!cut.error().field.empty());
  }
}

}  // namespace
}  // namespace steertag::nfs4
