// Matches responses to requests by their PSNs.
#include "capture/infiniband/reads.h"

#include "rdma/infiniband/psn.h"

namespace steertag::capture::infiniband {

using rdma::infiniband::psn_after;
using rdma::infiniband::psn_distance;

void Reads::add(std::uint32_t psn, const rdma::infiniband::RdmaHeader& request) {
  if (pending_.size() == kMostReads) pending_.pop_front();
  pending_.push_back({psn, psn, psn, request.address, request.length, 0});
}

void Reads::set_last_end(std::uint32_t end) {
  if (!pending_.empty()) pending_.back().end = end;
}

Order Reads::order_of_response(std::uint32_t psn) const {
  if (pending_.empty()) return Order::due;
  const std::int32_t distance = psn_distance(next(), psn);
  if (distance == 0) return Order::due;
  return distance < 0 ? Order::behind : Order::ahead;
}

Order Reads::order_of_acknowledgement(std::uint32_t psn) const {
  return pending_.empty() || psn_distance(next(), psn) < 0 ? Order::due : Order::ahead;
}

std::optional<trace::RdmaReadResponse> Reads::take(const TransportPacket& response) {
  if (pending_.empty()) return std::nullopt;
  Pending& read = pending_.front();
  const std::uint64_t length = response.payload_length;
  // The last response has a known place even if others are missing.
  if (response.traits().last && length <= read.length) read.answered = read.length - length;
  const View payload = response.payload_cut() ? View{} : response.payload;
  const trace::RdmaReadResponse event{0, read.offset + read.answered, length, payload};
  read.answered += length;
  read.next = psn_after(read.next);
  if (response.traits().last || read.next == read.end) pending_.pop_front();
  return event;
}

void Reads::skip_to(std::uint32_t psn, std::uint32_t mtu) {
  while (!pending_.empty() && psn_distance(pending_.front().end, psn) >= 0) pending_.pop_front();
  if (pending_.empty() || psn_distance(next(), psn) <= 0) return;
  Pending& read = pending_.front();
  const auto packets = static_cast<std::uint64_t>(psn_distance(read.start, psn));
  if (mtu != 0) read.answered = packets * mtu;
  read.next = psn;
}

}  // namespace steertag::capture::infiniband
