// The mapping from Wireshark's encapsulations to link types.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/link_type.h"

namespace steertag::dissector {

namespace {

using capture::LinkType;

// Types of ERF records. Wireshark removes the record header. The highest bit announces extension
// headers, which it removes too.
constexpr unsigned kErfTypeBits = 0x7f;
constexpr unsigned kErfEthernet = 2;
constexpr unsigned kErfInfiniband = 21;
constexpr unsigned kErfIpv4 = 22;
constexpr unsigned kErfIpv6 = 23;

std::optional<LinkType> erf_link_type(unsigned type) {
  switch (type & kErfTypeBits) {
    case kErfEthernet:
      return LinkType::ethernet;
    case kErfInfiniband:
      return LinkType::infiniband;
    case kErfIpv4:
      return LinkType::ipv4;
    case kErfIpv6:
      return LinkType::ipv6;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<LinkType> link_type(const wtap_rec& record) {
  if (record.rec_type != REC_TYPE_PACKET) return std::nullopt;
  const wtap_packet_header& header = record.rec_header.packet_header;
  switch (header.pkt_encap) {
    case WTAP_ENCAP_NULL:
      return LinkType::null_loopback;
    case WTAP_ENCAP_LOOP:
      return LinkType::openbsd_loopback;
    case WTAP_ENCAP_ETHERNET:
      return LinkType::ethernet;
    case WTAP_ENCAP_RAW_IP:
      return LinkType::raw_ip;
    case WTAP_ENCAP_RAW_IP4:
      return LinkType::ipv4;
    case WTAP_ENCAP_RAW_IP6:
      return LinkType::ipv6;
    case WTAP_ENCAP_SLL:
      return LinkType::linux_cooked;
    case WTAP_ENCAP_SLL2:
      return LinkType::linux_cooked_2;
    case WTAP_ENCAP_INFINIBAND:
      return LinkType::infiniband;
    case WTAP_ENCAP_ERF:
      return erf_link_type(header.pseudo_header.erf.phdr.type);
    default:
      return std::nullopt;
  }
}

}  // namespace steertag::dissector
