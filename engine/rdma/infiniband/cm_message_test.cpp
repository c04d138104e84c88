// Messages of connection managers: fields, private data, and truncated messages.
#include "rdma/infiniband/cm_message.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rdma/infiniband/ip_service.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/reject_reason.h"
#include "rdma/octets.h"
#include "wire/testing.h"

namespace steertag::rdma::infiniband {
namespace {

using wire::testing::from_hex;
using wire::testing::to_hex;

constexpr CmKind kKinds[] = {CmKind::connect_request, CmKind::message_receipt_ack,
                             CmKind::connect_reject,  CmKind::connect_reply,
                             CmKind::ready_to_use,    CmKind::disconnect_request,
                             CmKind::disconnect_reply};

/// The octets of a message after a round trip.
Bytes encoded_again(CmKind kind, View octets) {
  const auto message = decode_cm(static_cast<std::uint16_t>(kind), octets);
  if (!message) return {};
  Bytes again(kMadDataBytes, std::byte{0x55});
  encode(*message, again.data());
  return again;
}

/// Octets of a message with all ones, as far as its fields carry them: zero where it is reserved.
Bytes carried_bits(CmKind kind) {
  return encoded_again(kind, Bytes(kMadDataBytes, std::byte{0xff}));
}

TEST(CmMessage, TheHeaderOfItsDatagram) {
  const Bytes octets = from_hex("01070203 00000000 00000003 1a2b3c4d 00100000 00000000");
  MadHeader header = decode_mad_header(octets.data());
  EXPECT_TRUE(header.is_communication());
  EXPECT_EQ(header.transaction, 0x31a2b3c4du);
  EXPECT_EQ(header.attribute, 0x10);
  Bytes again(kMadHeaderBytes);
  encode(header, again.data());
  EXPECT_EQ(to_hex(again), to_hex(octets));
  header.management_class = 0x04;
  EXPECT_FALSE(header.is_communication());
}

TEST(CmMessage, ARequestsFields) {
  Bytes data(kMadDataBytes);
  store32(data.data(), 0x01020304);
  store64(data.data() + 8, 0x0000000001064e51);
  store32(data.data() + 32, 0x00001104);   // queue pair, responder resources
  store32(data.data() + 40, 0x000000a1);   // time-out 20, reliable connection, flow control
  store32(data.data() + 44, 0xabcdef97);   // starting PSN, time-outs
  store32(data.data() + 48, 0xffff37f0);   // partition, path MTU 3
  store32(data.data() + 52, 0x00040007);   // LIDs
  store32(data.data() + 140, 0xf6ab0e18);  // private data
  const auto request = decode_cm(0x0010, data);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->responder_resources, 4);
  EXPECT_EQ(request->remote_response_timeout, 20);
  EXPECT_TRUE(request->flow_control);
  EXPECT_EQ(request->local_response_timeout, 0x12);
  EXPECT_EQ(request->retry_count, 7);
  EXPECT_EQ(request->partition, 0xffff);
  EXPECT_EQ(request->rnr_retry_count, 7);
  EXPECT_EQ(request->max_cm_retries, 15);
  EXPECT_EQ(request->local_id, 0x01020304u);
  EXPECT_EQ(request->service, 0x01064e51u);
  EXPECT_EQ(request->queue_pair, 0x11u);
  EXPECT_EQ(request->starting_psn, 0xabcdefu);
  EXPECT_EQ(path_mtu_bytes(request->path_mtu), 1024u);
  EXPECT_TRUE(request->reliable());
  EXPECT_EQ(request->primary.local_lid, 4);
  EXPECT_EQ(request->primary.remote_lid, 7);
  EXPECT_EQ(request->private_data.size(), kRequestPrivateBytes);
  EXPECT_EQ(load32(request->private_data.data()), 0xf6ab0e18u);
  data[43] = std::byte{0xa3};  // unreliable connection
  EXPECT_FALSE(decode_cm(0x0010, data)->reliable());
}

TEST(CmMessage, AReplysFields) {
  Bytes data(kMadDataBytes);
  store32(data.data(), 5);
  store32(data.data() + 4, 6);
  store32(data.data() + 12, 0x00002200);
  store32(data.data() + 20, 0xabcdef00);
  const auto reply = decode_cm(0x0013, data);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->local_id, 5u);
  EXPECT_EQ(reply->remote_id, 6u);
  EXPECT_EQ(reply->queue_pair, 0x22u);
  EXPECT_EQ(reply->starting_psn, 0xabcdefu);
  EXPECT_EQ(reply->private_data.size(), kReplyPrivateBytes);
}

TEST(CmMessage, EveryKindFillsItsDatagram) {
  for (const CmKind kind : kKinds) {
    EXPECT_EQ(layout(kind).fields + layout(kind).private_data, kMadDataBytes) << name(kind);
    CmMessage message;
    message.kind = kind;
    message.local_id = 1;
    if (kind != CmKind::connect_request) message.remote_id = 2;
    if (kind == CmKind::connect_reject) message.reason = 28;
    const Bytes data(500, std::byte{7});
    message.private_data = data;
    Bytes octets(kMadDataBytes);
    encode(message, octets.data());
    const auto attribute = static_cast<std::uint16_t>(kind);
    const auto again = decode_cm(attribute, octets);
    ASSERT_TRUE(again) << name(kind);
    EXPECT_EQ(again->kind, kind);
    EXPECT_EQ(again->local_id, 1u);
    EXPECT_EQ(again->remote_id, message.remote_id);
    EXPECT_EQ(again->reason, message.reason);
    EXPECT_EQ(again->private_data.size(), layout(kind).private_data);
    EXPECT_EQ(again->private_data.back(), std::byte{7});
    for (std::size_t cut = 0; cut < octets.size(); ++cut) {
      const auto part = decode_cm(attribute, View(octets).first(cut));
      EXPECT_EQ(part.has_value(), cut >= layout(kind).needed) << cut;
      if (part) {
        EXPECT_LT(part->private_data.size(), layout(kind).private_data);
      }
    }
  }
  EXPECT_FALSE(decode_cm(0x0017, Bytes(kMadDataBytes))) << "service id resolution";
}

TEST(CmMessage, APathsFields) {
  CmMessage request;
  request.primary = {0x0102, 0x0304, {}, {}, 0xacc89, 0x2a, 0x60, 64, 5, true, 19};
  request.primary.local_gid.fill(std::byte{0xaa});
  request.primary.remote_gid.fill(std::byte{0xbb});
  Bytes data(kMadDataBytes);
  encode(request, data.data());
  const char* const path =
      "01020304 aaaaaaaa aaaaaaaa aaaaaaaa aaaaaaaa bbbbbbbb bbbbbbbb bbbbbbbb bbbbbbbb"
      " acc8902a 60405898";
  EXPECT_EQ(to_hex(View(data).subspan(52, 44)), path);
  std::swap(request.primary, request.alternate);
  encode(request, data.data());
  EXPECT_EQ(to_hex(View(data).subspan(96, 44)), path);
}

TEST(CmMessage, AReceiptsFields) {
  CmMessage receipt;
  receipt.kind = CmKind::message_receipt_ack;
  receipt.local_id = 5;
  receipt.remote_id = 6;
  receipt.subject = CmSubject::reply;
  receipt.service_timeout = 20;
  Bytes data(kMadDataBytes);
  encode(receipt, data.data());
  EXPECT_EQ(to_hex(View(data).first(12)), "00000005 00000006 40a00000");
}

TEST(CmMessage, ARejectsAdditionalInformation) {
  const Bytes information = from_hex("02000000 11223344");
  CmMessage reject;
  reject.kind = CmKind::connect_reject;
  reject.subject = CmSubject::other;
  reject.reason = kRejectedForMtu;
  reject.additional_bytes = 8;
  reject.additional = information;
  Bytes data(kMadDataBytes);
  encode(reject, data.data());
  EXPECT_EQ(to_hex(View(data).subspan(8, 16)), "8010001a 02000000 11223344 00000000");
  const auto again = decode_cm(0x0012, data);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->subject, CmSubject::other);
  EXPECT_EQ(to_hex(again->additional), "02000000 11223344");
  EXPECT_EQ(to_hex(decode_cm(0x0012, View(data).first(16))->additional), "02000000");
  data[9] = std::byte{0xfe};  // 127 octets
  EXPECT_EQ(decode_cm(0x0012, data)->additional_bytes, 127);
  EXPECT_EQ(decode_cm(0x0012, data)->additional.size(), kMostAdditionalBytes);
  EXPECT_EQ(reject_reason(kRejectedForMtu), "the path MTU is rejected");
  EXPECT_EQ(reject_reason(0xffff), "another reason");
}

TEST(CmMessage, OnlyReservedFieldsAreLost) {
  const auto first = [](CmKind kind) {
    return to_hex(View(carried_bits(kind)).first(layout(kind).fields));
  };
  const std::string path =
      "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff"
      " fffff03f fffff8f8";
  EXPECT_EQ(first(CmKind::connect_request),
            "ffffffff 00000000 ffffffff ffffffff ffffffff ffffffff 00000000 ffffffff ffffffff"
            " 000000ff 000000ff ffffffff fffff7f8 " +
                path + " " + path);
  EXPECT_EQ(first(CmKind::message_receipt_ack), "ffffffff ffffffff c0f8");
  EXPECT_EQ(first(CmKind::connect_reply),
            "ffffffff ffffffff ffffffff ffffff00 00000000 ffffff00 fffffff0 ffffffff ffffffff");
  EXPECT_EQ(first(CmKind::disconnect_request), "ffffffff ffffffff ffffff00");
  EXPECT_EQ(to_hex(View(carried_bits(CmKind::connect_reject)).first(12)),
            "ffffffff ffffffff c0feffff");
}

RC_GTEST_PROP(CmMessage, RoundTripsAllButReservedFields, ()) {
  const CmKind kind =
      *rc::gen::elementOf(std::vector<CmKind>(std::begin(kKinds), std::end(kKinds)));
  const auto drawn = *rc::gen::container<std::vector<std::uint8_t>>(
      kMadDataBytes, rc::gen::arbitrary<std::uint8_t>());
  Bytes octets(kMadDataBytes);
  std::ranges::transform(drawn, octets.begin(), [](std::uint8_t each) { return std::byte{each}; });
  if (kind == CmKind::connect_reject) octets[9] = std::byte{2 * kMostAdditionalBytes};
  const Bytes again = encoded_again(kind, octets);
  const Bytes carried = carried_bits(kind);
  for (std::size_t i = 0; i < octets.size(); ++i) {
    RC_LOG() << name(kind) << ", octet " << i << '\n';
    RC_ASSERT(again[i] == (octets[i] & carried[i]));
  }
}

TEST(CmMessage, SetupByIpAddress) {
  EXPECT_EQ(tcp_port(0x0000000001064e51), 20049);
  EXPECT_EQ(tcp_service(20049), 0x0000000001064e51u);
  EXPECT_EQ(tcp_port(0x0000000001114e51), std::nullopt) << "UDP's port space";
  EXPECT_EQ(tcp_port(0x1000000001064e51), std::nullopt);
  const Bytes octets = from_hex(
      "0040c350 00000000 00000000 00000000 c0000201 00000000 00000000 00000000 c0000202 f6ab0e18");
  const IpHeader header = decode_ip_header(octets.data());
  EXPECT_EQ(header.version, 4);
  EXPECT_EQ(header.source_port, 50000);
  EXPECT_EQ(header.destination[15], std::byte{2});
  Bytes again(kIpHeaderBytes);
  encode(header, again.data());
  EXPECT_EQ(to_hex(again), to_hex(View(octets).first(kIpHeaderBytes)));
  EXPECT_EQ(to_hex(consumer_data(tcp_service(1), octets)), "f6ab0e18");
  EXPECT_EQ(consumer_data(0x1234567800000000, octets).size(), octets.size());
  EXPECT_TRUE(consumer_data(tcp_service(1), View(octets).first(20)).empty());
}

}  // namespace
}  // namespace steertag::rdma::infiniband
