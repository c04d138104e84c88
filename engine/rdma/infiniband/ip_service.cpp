// Encoding and decoding of the header of connection setup by IP address.
#include "rdma/infiniband/ip_service.h"

#include <algorithm>

#include "rdma/octets.h"

namespace steertag::rdma::infiniband {

IpHeader decode_ip_header(const std::byte* from) {
  IpHeader header;
  header.major = static_cast<std::uint8_t>(load8(from) >> 4);
  header.minor = load8(from) & 15;
  header.version = static_cast<std::uint8_t>(load8(from + 1) >> 4);
  header.source_port = load16(from + 2);
  std::copy_n(from + 4, header.source.size(), header.source.begin());
  std::copy_n(from + 20, header.destination.size(), header.destination.begin());
  return header;
}

void encode(const IpHeader& header, std::byte* to) {
  store8(to, static_cast<std::uint8_t>(header.major << 4 | (header.minor & 15)));
  store8(to + 1, static_cast<std::uint8_t>(header.version << 4));
  store16(to + 2, header.source_port);
  std::ranges::copy(header.source, to + 4);
  std::ranges::copy(header.destination, to + 20);
}

View consumer_data(std::uint64_t service, View private_data) {
  if (!is_ip_service(service)) return private_data;
  return private_data.subspan(std::min(kIpHeaderBytes, private_data.size()));
}

}  // namespace steertag::rdma::infiniband
