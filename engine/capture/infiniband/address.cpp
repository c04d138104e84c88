// Addresses as text and as keys.
#include "capture/infiniband/address.h"

#include <string_view>

#include "rdma/octets.h"

namespace steertag::capture::infiniband {

std::string Address::text() const {
  if (kind == Kind::lid) return "lid " + std::to_string(rdma::load16(octets.data() + 14));
  return IpAddress{octets}.text();
}

Address of_ip(const IpAddress& address) {
  return {Address::Kind::ip, address.octets};
}

Address of_gid(const std::array<std::byte, 16>& gid) {
  return {Address::Kind::gid, gid};
}

Address of_lid(std::uint16_t lid) {
  Address address{Address::Kind::lid, {}};
  rdma::store16(address.octets.data() + 14, lid);
  return address;
}

Fabric fabric_of(const Address& address) {
  return address.kind == Address::Kind::ip ? Fabric::rocev2 : Fabric::infiniband;
}

std::string end_text(const Address& address, std::uint32_t queue_pair) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = end_text(address);
  text.resize(text.size() - std::string_view("unknown").size());
  text += "0x";
  for (int shift = 20; shift >= 0; shift -= 4) text += kDigits[queue_pair >> shift & 15];
  return text;
}

std::string end_text(const Address& address) {
  return address.text() + " qp unknown";
}

}  // namespace steertag::capture::infiniband

std::size_t std::hash<steertag::capture::infiniband::FlowKey>::operator()(
    const steertag::capture::infiniband::FlowKey& key) const noexcept {
  const auto part = [](const auto& address) {
    const std::uint64_t high = steertag::rdma::load64(address.octets.data());
    return high * 0x9e3779b97f4a7c15u ^ steertag::rdma::load64(address.octets.data() + 8);
  };
  std::uint64_t mixed = part(key.source) * 0xff51afd7ed558ccdu + part(key.destination);
  mixed = (mixed ^ key.queue_pair) * 0xc4ceb9fe1a85ec53u;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}
