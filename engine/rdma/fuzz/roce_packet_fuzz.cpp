// Any octets as a packet of RoCEv2, and its payload as a message of the connection manager.
//
// What decodes encodes to the same octets, reserved bits excepted. Every fault has a description.
#include <algorithm>

#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/packet.h"
#include "rdma/octets.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::rdma::infiniband;

bool same(View a, View b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool inside(View part, View whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_management(View payload) {
  if (payload.size() < kMadHeaderBytes) return;
  const MadHeader header = decode_mad_header(payload.data());
  Bytes mad(kMadBytes);
  encode(header, mad.data());
  fuzz::check(decode_mad_header(mad.data()) == header);
  const View data = payload.subspan(kMadHeaderBytes);
  const auto message = decode_cm(header.attribute, data);
  if (!message) return;
  fuzz::check(name(message->kind) != "other message");
  fuzz::check(inside(message->private_data, data) && inside(message->additional, data));
  Bytes once(kMadDataBytes);
  encode(*message, once.data());
  const auto again = decode_cm(header.attribute, once);
  fuzz::check(again && again->private_data.size() == layout(message->kind).private_data);
  Bytes twice(kMadDataBytes);
  encode(*again, twice.data());
  fuzz::check(same(once, twice));
}

void check_packet(const Packet& packet, View octets, const InvariantCrc& crc) {
  const Bytes whole = whole_packet(packet.headers, packet.payload, crc);
  fuzz::check(whole.size() == octets.size());
  fuzz::check(inside(packet.payload, octets) && inside(packet.pad, octets));
  fuzz::check(decode_headers(whole.data()) == packet.headers);
  fuzz::check(crc.check(whole) && crc.identification_of(whole) == 0);

  Bytes expected(octets.begin(), octets.end());
  expected[4] = std::byte{0};  // reserved and congestion bits
  expected[8] &= std::byte{0x80};
  if (packet.headers.traits().datagram) expected[kBaseBytes + 4] = std::byte{0};
  const View tail = View(whole).last(pad_bytes(packet.payload.size()) + kInvariantCrcBytes);
  std::ranges::copy(tail, expected.end() - static_cast<std::ptrdiff_t>(tail.size()));
  fuzz::check(same(whole, expected));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View octets = fuzz::view_of(data, size);
  Ipv4Route route;
  route.source_port = 0xc000;
  const InvariantCrc crc(route);
  const auto identification = crc.identification_of(octets);
  fuzz::check(!identification || crc.check(octets, *identification));
  const auto packet = parse_packet(octets);
  if (!packet) {
    fuzz::check(!describe(packet.error()).empty());
    return 0;
  }
  check_packet(*packet, octets, crc);
  if (packet->headers.traits().datagram) check_management(packet->payload);
  return 0;
}
