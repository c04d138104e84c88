// Encoding and decoding of route headers.
#include "rdma/infiniband/routing.h"

#include <algorithm>

#include "rdma/octets.h"

namespace steertag::rdma::infiniband {

LocalRoute decode_local_route(const std::byte* from) {
  LocalRoute route;
  route.virtual_lane = static_cast<std::uint8_t>(load8(from) >> 4);
  route.version = load8(from) & 15;
  route.service_level = static_cast<std::uint8_t>(load8(from + 1) >> 4);
  route.next = static_cast<LinkNext>(load8(from + 1) & 3);
  route.destination_lid = load16(from + 2);
  route.words = load16(from + 4) & 0x7ff;
  route.source_lid = load16(from + 6);
  return route;
}

void encode(const LocalRoute& route, std::byte* to) {
  store8(to, static_cast<std::uint8_t>(route.virtual_lane << 4 | (route.version & 15)));
  store8(to + 1, static_cast<std::uint8_t>(route.service_level << 4 |
                                           (static_cast<std::uint8_t>(route.next) & 3)));
  store16(to + 2, route.destination_lid);
  store16(to + 4, route.words & 0x7ff);
  store16(to + 6, route.source_lid);
}

GlobalRoute decode_global_route(const std::byte* from) {
  GlobalRoute route;
  const std::uint32_t first = load32(from);
  route.version = static_cast<std::uint8_t>(first >> 28);
  route.traffic_class = static_cast<std::uint8_t>(first >> 20);
  route.flow_label = first & 0xfffff;
  route.payload_length = load16(from + 4);
  route.next_header = load8(from + 6);
  route.hop_limit = load8(from + 7);
  std::copy_n(from + 8, route.source.size(), route.source.begin());
  std::copy_n(from + 24, route.destination.size(), route.destination.begin());
  return route;
}

void encode(const GlobalRoute& route, std::byte* to) {
  store32(to, static_cast<std::uint32_t>(route.version & 15) << 28 |
                  static_cast<std::uint32_t>(route.traffic_class) << 20 |
                  (route.flow_label & 0xfffff));
  store16(to + 4, route.payload_length);
  store8(to + 6, route.next_header);
  store8(to + 7, route.hop_limit);
  std::ranges::copy(route.source, to + 8);
  std::ranges::copy(route.destination, to + 24);
}

}  // namespace steertag::rdma::infiniband
